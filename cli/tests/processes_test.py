"""Several processes started by mpirun, and points read in blocks: the same bits, one message, and all processes end."""

import json
import os
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

from support import COMMAND, default_interrupt, run, short

MPIRUN = shutil.which("mpirun")
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
# A process that waits for a message yields the processor.
START = [MPIRUN, "--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader", "--mca", "mpi_yield_when_idle", "1"]
needs_mpi = pytest.mark.skipif(MPIRUN is None, reason="mpirun is not installed")


def many(processes, *words, code=0):
    done = subprocess.run([*START, "-n", str(processes), COMMAND, *map(str, words)], env=ENVIRONMENT, capture_output=True,
                          text=True, timeout=300)
    done.out, done.err = done.stdout, done.stderr
    assert done.returncode == code, f"exit {done.returncode}, not {code}\n{done.out}\n{done.err}"
    return done


def start_in_processes(count, words):
    """Starts the command in several processes. Returns mpirun and the process ids."""
    process = subprocess.Popen([*START, "-n", str(count), COMMAND, *map(str, words)], env=ENVIRONMENT, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    workers = []
    while len(workers) < count:
        time.sleep(0.2)
        workers = [int(line) for line in subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True,
                                                        text=True).stdout.split()]
        assert process.poll() is None
    return process, workers


def killed(process, worker):
    """Kills one of the processes. All must end within 30 seconds. Returns stderr."""
    began = time.monotonic()
    os.kill(worker, signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert time.monotonic() - began < 30
    assert process.returncode != 0
    return err


@pytest.fixture(scope="session")
def shards(tmp_path_factory):
    """30,000 rows in four files: ten rows, none, nearly all, the rest."""
    folder = tmp_path_factory.mktemp("shards")
    random = np.random.default_rng(3)
    points = (random.normal(size=(30000, 6)) + 3 * random.normal(size=(7, 6))[random.integers(7, size=30000)]).astype(np.float32)
    for number, (begin, end) in enumerate([(0, 10), (10, 10), (10, 29000), (29000, 30000)], start=1):
        np.save(folder / f"part-{number}.npy", points[begin:end])
    np.save(folder / "whole.npy", points)
    return folder


FITS = {
    "kmeans": ["kmeans", "-k", 7, "--restarts", 2],
    "kmeans of scaled points": ["kmeans", "-k", 7, "--scale", "zscore"],
    "soft-kmeans": ["soft-kmeans", "-k", 4, "--max-iterations", 10],
    "kmeans of bounded sizes": ["kmeans", "-k", 5, "--sizes", "5000:7000", "--max-iterations", 3],
    "subspace": ["subspace", "-k", 5, "--max-iterations", 4],
    "soft subspace": ["subspace", "-k", 4, "--assignment", "soft", "--max-iterations", 3],
    "entropy": ["entropy", "-k", 5, "--epochs", 2, "--learning-rate", 0.01],
    "ae-kmeans": ["ae-kmeans", "-k", 5, "--widths", 8, "--embedding", 2, "--pretrain-epochs", 1, "--kmeans-restarts", 1],
}


def told(document):
    """The parts of the document that do not depend on how the work was divided."""
    out = json.loads(document)
    for way in ("seconds", "threads", "points", "warnings", "notes", "command", "date"):
        out.pop(way, None)
    return out


def fitted(folder, fit, points, start=run, *more):
    short(fit[0])  # skips networks without LibTorch
    result = start("fit", fit[0], points, *fit[1:], "--labels-out", folder / "l.npy", "--model-out", folder / "m.safetensors",
                   "--json", "--quiet", *more)
    out = told(result.out), (folder / "l.npy").read_bytes(), (folder / "m.safetensors").read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == ["l.npy", "m.safetensors"]
    return out


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_fit_of_files_in_blocks_is_bit_identical(shards, tmp_path, fit):
    whole = fitted(tmp_path, fit, shards / "whole.npy")
    assert fitted(tmp_path, fit, shards / "part-*.npy") == whole
    # The points take 720,000 bytes, more than half of 1 MB, so they are read in blocks.
    assert fitted(tmp_path, fit, shards / "part-*.npy", run, "--memory", "1M") == whole
    assert fitted(tmp_path, fit, shards / "whole.npy", run, "--memory", "1M", "--threads", 1) == whole


@needs_mpi
@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_fit_in_processes_is_bit_identical(shards, tmp_path, fit):
    whole = fitted(tmp_path, fit, shards / "whole.npy")
    for processes in (3,) if fit[0] == "ae-kmeans" else (1, 2, 3):  # fits of networks take seconds
        start = lambda *words: many(processes, *words)
        assert fitted(tmp_path, fit, shards / "part-*.npy", start, "--threads", 1) == whole
    assert fitted(tmp_path, fit, shards / "part-*.npy", lambda *words: many(2, *words), "--memory", "1M") == whole


@needs_mpi
@pytest.mark.parametrize("fit", [["iic", "--epochs", 2, "--batch-size", 75],
                                 pytest.param(["idec", "--pretrain-epochs", 1, "--max-iterations", 4], marks=pytest.mark.slow)], ids=["iic", "idec"])
def test_convolutional_fit_in_processes_is_bit_identical(tmp_path, fit):
    images, out = tmp_path / "images.npy", tmp_path / "out"
    out.mkdir()
    np.save(images, np.random.default_rng(3).normal(size=(150, 64)) + 2 * (np.arange(150) % 3)[:, None])
    fit = [*fit, "-k", 3, "--image", "8x8"]
    whole = fitted(out, fit, images)
    for processes in (2, 5):
        assert fitted(out, fit, images, lambda *words: many(processes, *words), "--threads", 1) == whole


@needs_mpi
def test_labels_written_per_process(shards, tmp_path):
    fit = FITS["kmeans"]
    whole = fitted(tmp_path, fit, shards / "whole.npy")[1]
    result = many(3, "fit", fit[0], shards / "part-*.npy", *fit[1:], "--labels-out", tmp_path / "p-{rank}.npy", "--quiet")
    parts = np.concatenate([np.load(tmp_path / f"p-{rank}.npy") for rank in range(3)])
    (tmp_path / "whole.npy").write_bytes(whole)
    assert np.array_equal(parts, np.load(tmp_path / "whole.npy"))
    model = tmp_path / "m.safetensors"
    result = many(2, "predict", model, shards / "part-*.npy", "--labels-out", tmp_path / "again.npy", "--quiet")
    assert np.array_equal(np.load(tmp_path / "again.npy"), parts)


OUTPUTS = ["--distances-out", "distances", "--memberships-out", "memberships"]


@pytest.fixture(scope="session")
def soft_model(shards, tmp_path_factory):
    model = tmp_path_factory.mktemp("model") / "soft.safetensors"
    run("fit", "soft-kmeans", shards / "whole.npy", "-k", 4, "--max-iterations", 10, "--scale", "zscore", "--model-out", model, "--quiet")
    return model


@pytest.mark.parametrize("ending", [".npy", ".csv"])
def test_predict_writes_block_by_block(shards, soft_model, tmp_path, ending):
    written = {}
    for name, points, more in [("whole", "whole.npy", []), ("blocks", "part-*.npy", ["--memory", "1M"])]:
        folder = tmp_path / name
        folder.mkdir()
        files = [word if word.startswith("-") else folder / (word + ending) for word in OUTPUTS]
        said = run("predict", soft_model, shards / points, "--labels-out", folder / ("labels" + ending), *files, "--json", "--quiet", *more)
        value = told(said.out)
        value.pop("written")
        assert sorted(path.name for path in folder.iterdir()) == sorted(word + ending for word in ["labels", "distances", "memberships"])
        written[name] = value, [path.read_bytes() for path in sorted(folder.iterdir())]
    assert written["whole"] == written["blocks"]


def test_predict_scores_rows_in_blocks(shards, soft_model, tmp_path):
    run("predict", soft_model, shards / "whole.npy", "--labels-out", tmp_path / "l.csv", "--quiet")
    value = json.loads(run("predict", soft_model, shards / "part-*.npy", "--memory", "1M", "--truth", tmp_path / "l.csv", "--json").out)
    assert value["scores"]["acc"] == 1 and value["n"] == 30000
    run("transform", soft_model, shards / "whole.npy", "--points-out", tmp_path / "x.npy", code=2)  # the model has no embedding


@needs_mpi
def test_predict_in_processes(shards, soft_model, tmp_path):
    run("predict", soft_model, shards / "whole.npy", "--labels-out", tmp_path / "whole.csv", "--distances-out", tmp_path / "whole.npy",
        "--quiet")
    said = many(3, "predict", soft_model, shards / "part-*.npy", "--labels-out", tmp_path / "labels.csv", "--distances-out",
                tmp_path / "part-{rank}.npy", "--truth", tmp_path / "whole.csv", "--json")
    assert json.loads(said.out)["scores"]["acc"] == 1
    assert (tmp_path / "labels.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert np.array_equal(np.concatenate([np.load(tmp_path / f"part-{rank}.npy") for rank in range(3)]), np.load(tmp_path / "whole.npy"))
    result = many(2, "predict", soft_model, shards / "part-*.npy", "--distances-out", tmp_path / "d.npy", code=2)
    assert "such as part-{rank}.npy" in result.err


def writes_in(number, folder):
    """Whether the process is writing a file there. An unfinished file has no name, and its link begins with #."""
    try:
        return any(os.readlink(link).startswith(f"{folder}/#") for link in os.scandir(f"/proc/{number}/fd"))
    except OSError:  # the file was closed meanwhile
        return False


def test_failed_predict_leaves_no_files(shards, soft_model, tmp_path):
    points = np.load(shards / "whole.npy")
    points[29990, 2] = np.nan
    np.save(tmp_path / "bad.npy", points)
    result = run("predict", soft_model, tmp_path / "bad.npy", "--memory", "1M", "--labels-out", tmp_path / "l.csv", code=3)
    assert "column 3, row 29991: the value is NaN, which stands for a missing value" in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["bad.npy"]
    np.save(tmp_path / "long.npy", np.tile(np.load(shards / "whole.npy"), (100, 1)))
    process = subprocess.Popen([COMMAND, "predict", soft_model, tmp_path / "long.npy", "--memory", "20M", "--distances-out", tmp_path / "d.csv"],
                               stderr=subprocess.PIPE, preexec_fn=default_interrupt)
    while process.poll() is None and not writes_in(process.pid, tmp_path):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and b"interrupted" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.npy", "long.npy"]


@needs_mpi
def test_kernel_model_predicts_in_processes(shards, tmp_path):
    model = tmp_path / "m.safetensors"
    run("fit", "kernel-kmeans", "data:moons", "-k", 2, "--model-out", model, "--quiet")
    np.save(tmp_path / "points.npy", np.random.default_rng(5).normal(size=(2000, 2)))
    run("predict", model, tmp_path / "points.npy", "--labels-out", tmp_path / "one.npy", "--quiet")
    many(3, "predict", model, tmp_path / "points.npy", "--labels-out", tmp_path / "three.npy", "--quiet")
    assert (tmp_path / "one.npy").read_bytes() == (tmp_path / "three.npy").read_bytes()


@needs_mpi
@pytest.mark.parametrize("method", [["kmeans"], ["subspace"], ["soft-kmeans", "--scale", "zscore"]], ids=lambda fit: fit[0])
def test_processes_without_rows(tmp_path, method):
    """60 rows are one block, which one process holds. The other processes have no rows."""
    few, out = tmp_path / "few.npy", tmp_path / "out"
    out.mkdir()
    np.save(few, np.random.default_rng(3).normal(size=(60, 3)) + 5 * (np.arange(60) % 2)[:, None])
    fit = [*method, "-k", 2]
    assert fitted(out, fit, few, lambda *words: many(3, *words)) == fitted(out, fit, few)


@needs_mpi
def test_error_in_processes_prints_one_message_and_writes_nothing(shards, tmp_path):
    points = np.load(shards / "whole.npy")
    points[29990, 2] = np.nan
    np.save(tmp_path / "bad.npy", points)
    result = many(3, "fit", "kmeans", tmp_path / "bad.npy", "-k", 3, "--labels-out", tmp_path / "l.npy", code=3)
    assert result.err.count("column 3, row 29991: the value is NaN, which stands for a missing value") == 1
    result = many(3, "fit", "ward", shards / "whole.npy", "-k", 3, "--labels-out", tmp_path / "l.npy", code=2)
    assert result.err.count("method ward works in one process only; there are 3 processes") == 1
    result = many(2, "evaluate", shards / "whole.npy", shards / "whole.npy", code=2)
    assert result.err.count("works in one process, but 2 were started") == 1
    assert many(2, "fit", "kmeans", shards / "whole.npy", "-k", "none", code=2).err.count("coterie:") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["bad.npy"]


@needs_mpi
def test_killed_process_ends_all(shards, tmp_path):
    words = ["fit", "kmeans", shards / "whole.npy", "-k", "50", "--restarts", "100000", "--tolerance", "0", "--labels-out",
             tmp_path / "l.npy"]
    process, workers = start_in_processes(3, words)
    time.sleep(2)
    assert "signal 9" in killed(process, workers[1])
    assert list(tmp_path.iterdir()) == []


@needs_mpi
def test_killed_fit_resumes_from_checkpoint(shards, tmp_path):
    fit = ["kmeans", "-k", 50, "--restarts", 3, "--tolerance", 0]
    out = tmp_path / "out"
    out.mkdir()
    whole = fitted(out, fit, shards / "whole.npy")
    for path in out.iterdir():
        path.unlink()
    checkpoint = tmp_path / "fit.checkpoint"
    process, workers = start_in_processes(3, ["fit", fit[0], shards / "part-*.npy", *fit[1:], "--checkpoint", checkpoint,
                                              "--labels-out", out / "l.npy", "--model-out", out / "m.safetensors",
                                              "--threads", 1])
    while not checkpoint.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    assert killed(process, workers[2]).count("signal 9") == 1
    assert list(out.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"out", "fit.checkpoint"}
    gone_on = lambda *words: many(2, *words)
    assert fitted(out, fit, shards / "part-*.npy", gone_on, "--checkpoint", checkpoint) == whole
    refused = many(2, "fit", "kmeans", shards / "part-*.npy", "-k", 49, "--checkpoint", checkpoint, code=3)
    assert refused.err.count("fit.checkpoint: the checkpoint is from a fit with other options") == 1


@needs_mpi
def test_interrupted_processes_write_results_so_far(shards, tmp_path):
    words = ["fit", "kmeans", shards / "whole.npy", "-k", "50", "--restarts", "100000", "--tolerance", "0", "--labels-out",
             tmp_path / "l.npy", "--json", "--checkpoint", tmp_path / "state"]
    process, workers = start_in_processes(2, words)
    while not (tmp_path / "state").exists():  # written after the first iteration
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    os.kill(workers[1], signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(out)["stopped"] == "interrupted"
    assert len(np.load(tmp_path / "l.npy")) == 30000


@pytest.mark.parametrize("criterion", ["silhouette", "ratio", "knncut"])
def test_tune_scores_rows_in_blocks(shards, tmp_path, criterion):
    np.save(tmp_path / "some.npy", np.load(shards / "whole.npy")[:8000])
    def cells(*more):
        value = json.loads(run("tune", "kmeans", tmp_path / "some.npy", "--grid", "clusters=2,7", "--select", criterion, "--json", *more).out)
        return [(cell["options"], cell["criterion"]) for cell in value["cells"]]
    whole = cells()
    assert len(whole) == 2 and cells("--memory", "1M", "--threads", 1) == whole


def test_weights_and_labels_per_process(shards, tmp_path):
    random = np.random.default_rng(5)
    weights, truth = random.integers(0, 4, size=30000), random.integers(7, size=30000)
    known = np.where(random.random(30000) < 0.01, truth, -1).astype(np.int64)
    names = np.array(["seven", "six", "9", "10", "five", "two", "one"])
    np.save(tmp_path / "weights.npy", weights.astype(float))
    np.save(tmp_path / "known.npy", known)
    (tmp_path / "truth.csv").write_text("label\n" + "".join(names[t] + "\n" for t in truth))
    for number, (begin, end) in enumerate([(0, 10), (10, 10), (10, 29000), (29000, 30000)], start=1):
        np.save(tmp_path / f"weights-{number}.npy", weights[begin:end].astype(float))
        np.save(tmp_path / f"known-{number}.npy", known[begin:end])
        np.save(tmp_path / f"truth-{number}.npy", names[truth[begin:end]])
    def fit(points, *words):
        value = told(run("fit", "kmeans", shards / points, "-k", 7, *words, "--labels-out", tmp_path / "l.npy", "--json", "--quiet").out)
        value.pop("truth", None)
        value.pop("confusion", None)
        return value, (tmp_path / "l.npy").read_bytes()
    whole = fit("whole.npy", "--weights", tmp_path / "weights.npy", "--truth", tmp_path / "truth.csv")
    parts = ["--weights", tmp_path / "weights-*.npy", "--truth", tmp_path / "truth-*.npy"]
    assert fit("part-*.npy", *parts) == whole
    assert fit("part-*.npy", *parts, "--memory", "1M") == whole
    assert fit("whole.npy", *parts) == whole  # in the order of the file names
    assert fit("part-*.npy", "--partial-labels", tmp_path / "known-*.npy") == fit("whole.npy", "--partial-labels", tmp_path / "known.npy")
    # Each file has as many rows as the points file in the same position.
    np.save(tmp_path / "weights-3.npy", np.ones(28989))
    np.save(tmp_path / "weights-4.npy", np.ones(1001))
    result = run("fit", "kmeans", shards / "part-*.npy", "-k", 7, "--weights", tmp_path / "weights-*.npy", code=3)
    assert "weights-3.npy: 28989 rows, but" in result.err and "part-3.npy, has 28990" in result.err
    os.remove(tmp_path / "truth-4.npy")
    result = run("fit", "kmeans", shards / "part-*.npy", "-k", 7, "--truth", tmp_path / "truth-*.npy", code=3)
    assert "3 files match, but the points are in 4 files. Give one file for each of them, or one for all" in result.err


def test_input_files_are_not_overwritten(shards):
    result = run("fit", "kmeans", shards / "part-*.npy", "-k", 7, "--labels-out", shards / "part-3.npy", code=2)
    assert "is an input, and would be overwritten" in result.err


SAMPLED = {"spectral": ["-k", 7, "--scale", "zscore"], "ward": ["-k", 7], "cpd": ["-k", 3], "wmc": ["-k", 3], "ssc": ["-k", 3]}


@pytest.mark.parametrize("method", SAMPLED)
def test_sample_of_rows_in_blocks(shards, tmp_path, method):
    fit = [method, *SAMPLED[method], "--sample", 200]
    whole = fitted(tmp_path, fit, shards / "whole.npy")
    assert whole[0]["n"] == 30000 == sum(whole[0]["sizes"]) and whole[0]["details"]["sample"] == 200
    assert fitted(tmp_path, fit, shards / "part-*.npy", run, "--memory", "1M", "--threads", 1) == whole
    if MPIRUN is not None:
        assert fitted(tmp_path, fit, shards / "part-*.npy", lambda *words: many(2, *words)) == whole


def test_sample_is_reported_and_scored_on_all_rows(shards, tmp_path):
    run("fit", "kmeans", shards / "whole.npy", "-k", 7, "--restarts", 5, "--labels-out", tmp_path / "all.csv", "--quiet")
    words = ["fit", "kmeans", shards / "whole.npy", "-k", 7, "--restarts", 5, "--truth", tmp_path / "all.csv", "--quiet"]
    said = run(*words, "--sample", 3000, "--model-out", tmp_path / "m.safetensors", "--labels-out", tmp_path / "some.csv",
               "--report", tmp_path / "page.html")
    assert "fitted on 3,000 of 30,000 rows" in " ".join(said.out.split())
    assert "rows, fitted on 3,000" in (tmp_path / "page.html").read_text()
    value = json.loads(run(*words, "--sample", 3000, "--json").out)
    assert value["scored"] == 30000 and value["scores"]["acc"] > 0.95
    facts = json.loads(run("info", tmp_path / "m.safetensors", "--json").out)["facts"]
    assert facts["points"] == "30000" and facts["sample"] == "3000"
    assert told(run(*words, "--json", "--sample", 30000).out) == told(run(*words, "--json").out)
    assert "--sample: 0 is not accepted" in run(*words, "--sample", 0, code=2).err
    result = run("fit", "kmeans", shards / "whole.npy", "-k", 7, "--sample", 20, "--partial-labels", tmp_path / "all.csv", code=2)
    assert "--sample cannot be combined with --partial-labels, --label-share or --sizes" in result.err


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    """30,000 rows as text, whole and in parts, with a column of names."""
    folder = tmp_path_factory.mktemp("tables")
    random = np.random.default_rng(3)
    truth = random.integers(4, size=30000)
    points = (random.normal(size=(30000, 5)) + 6 * random.normal(size=(4, 5))[truth]).round(4)
    lines = [",".join(map(str, row)) + f",kind {which}\n" for row, which in zip(points.tolist(), truth)]
    header = "a,b,c,d,e,kind\n"
    (folder / "whole.csv").write_text(header + "".join(lines))
    for number, (begin, end) in enumerate([(0, 10), (10, 29000), (29000, 30000)], start=9):
        (folder / f"part-{number}.csv").write_text(header + "".join(lines[begin:end]))
    (folder / "bad.csv").write_text(header + "".join(lines[:25000]) + "1,2,3,oak,5,kind 1\n" + "".join(lines[25000:]))
    return folder


def test_text_larger_than_memory(tables, tmp_path):
    def fit(points, *more):
        result = run("fit", "kmeans", tables / points, "-k", 4, "--label-column", "kind", "--scale", "zscore", "--labels-out", tmp_path / "l.npy",
                     "--model-out", tmp_path / "m.safetensors", "--json", *more)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["l.npy", "m.safetensors"]
        value = told(result.out)
        value.pop("truth")
        return result.err, (value, (tmp_path / "l.npy").read_bytes(), (tmp_path / "m.safetensors").read_bytes())
    _, whole = fit("whole.csv")
    assert whole[0]["scores"]["acc"] > 0.9
    err, read = fit("whole.csv", "--memory", "1M")
    assert read == whole
    assert f"converted once, to a temporary file in {tmp_path}, and read in blocks" in err
    err, read = fit("part-*.csv")
    assert read == whole and "3 files are read as one" in err and "converted" not in err
    _, read = fit("part-*.csv", "--memory", "1M", "--threads", 1)
    assert read == whole
    # Columns are found by name.
    swapped = tmp_path / "swapped.csv"
    rows = [line.split(",") for line in (tables / "whole.csv").read_text().splitlines()]
    swapped.write_text("\n".join(",".join([row[4], row[5], *row[:4]]) for row in rows) + "\n")
    run("predict", tmp_path / "m.safetensors", swapped, "--memory", "1M", "--labels-out", tmp_path / "again.npy", "--quiet")
    assert (tmp_path / "again.npy").read_bytes() == whole[1]


def test_invalid_number_in_large_text(tables, tmp_path):
    for more in [], ["--memory", "1M"]:
        result = run("fit", "kmeans", tables / "bad.csv", "-k", 4, "--label-column", "kind", "--labels-out", tmp_path / "l.npy", *more, code=3)
        assert "bad.csv: column 'd', line 25002: 'oak' is not a number" in result.err
    assert list(tmp_path.iterdir()) == []
    np.save(tmp_path / "a.npy", np.zeros((3, 2)))
    (tmp_path / "Z.csv").write_text("1,2\n")
    assert "a.npy: the file cannot be read as one with" in run("fit", "kmeans", tmp_path / "[aZ].*", "-k", 2, code=3).err


@needs_mpi
def test_text_tables_in_processes(tables, tmp_path):
    words = ["fit", "kmeans", tables / "part-*.csv", "-k", 4, "--label-column", "kind", "--json", "--quiet"]
    assert told(many(2, *words).out) == told(run(*words).out)
    # Larger than memory: each process converts the text itself.
    assert told(many(2, *words, "--memory", "1M").out) == told(run(*words).out)
    result = many(2, *words[:-1], "--memory", "1M")
    assert result.err.count("each process converts them once, to a temporary file") == 1


def test_inputs_that_cannot_be_read_in_blocks(shards, tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((5, 2), np.float32))
    np.save(tmp_path / "b.npy", np.zeros((5, 3), np.float32))
    (tmp_path / "c.csv").write_text("1,2\n")
    for pattern, message in [("[ab].npy", "b.npy: 3 columns of float32, but"), ("[ac].*", "c.csv: the file cannot be read as one with"),
                             ("x*.npy", "no file matches")]:
        result = run("fit", "kmeans", tmp_path / pattern, "-k", 2, code=3)
        assert message in result.err
    result = run("fit", "kmeans", shards / "whole.npy", "-k", 2, "--memory", "1M", "--picture", tmp_path / "p.svg", code=2)
    assert "--picture: needs all rows in memory, but they are read in blocks" in result.err
    result = run("fit", "kmeans", shards / "whole.npy", "-k", 2, "--memory", "lots", code=2)
    assert "a size from 1M on" in result.err
    np.save(tmp_path / "large.npy", np.zeros((1000000, 6), np.float32))
    result = run("fit", "ward", tmp_path / "large.npy", "-k", 2, "--memory", "20M", code=1)
    assert "needs all rows in memory" in result.err and "Use --sample to fit on some of the rows" in result.err


@needs_mpi
@pytest.mark.parametrize("missing", ["drop", "mean", "median"])
def test_missing_values_in_processes(missing, tmp_path):
    draw = np.random.default_rng(5)
    with open(tmp_path / "a.csv", "w") as file:
        file.write("id,a,b,c,colour\n")
        for i in range(3000):
            fields = [f"{value:.3f}" for value in draw.normal(9 * (i % 2), 1, 3)]
            if i % 17 == 0:
                fields[i % 3] = "NA"
            file.write(f"r{i}," + ",".join(fields) + "," + ["red", "blue", "", "green"][draw.integers(4)] + "\n")
    words = ["fit", "kmeans", tmp_path / "a.csv", "-k", 2, "--id-column", "id", "--missing", missing, "--categorical", "one-hot", "--quiet"]
    run(*words, "--labels-out", tmp_path / "one.csv", "--model-out", tmp_path / "one")
    many(3, *words, "--labels-out", tmp_path / "three.csv", "--model-out", tmp_path / "three")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "three.csv").read_bytes()
    assert (tmp_path / "one").read_bytes() == (tmp_path / "three").read_bytes()
    words = ["predict", tmp_path / "one", tmp_path / "a.csv", "--id-column", "id", "--quiet"]
    run(*words, "--distances-out", tmp_path / "d.csv")
    many(3, *words, "--labels-out", tmp_path / "p.csv", "--distances-out", tmp_path / "d-{rank}.csv")
    assert (tmp_path / "p.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()
    parts = [(tmp_path / f"d-{rank}.csv").read_text().splitlines()[1:] for rank in range(3)]
    assert sum(parts, []) == (tmp_path / "d.csv").read_text().splitlines()[1:]


def in_two_ways(first, second, code=3):
    """Starts rank 0 and rank 1 with different arguments. Both must end within ten seconds, with one message. Returns it."""
    began = time.monotonic()
    done = subprocess.run([*START, "-n", "1", COMMAND, *map(str, first), ":", "-n", "1", COMMAND, *map(str, second)],
                          env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    assert time.monotonic() - began < 10
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    said = [line for line in done.stderr.splitlines() if "coterie: " in line or line.startswith("process ")]
    assert len(said) == 1 and "interrupted" not in done.stderr, done.stderr
    assert done.stdout.strip() == "" or "MPI_ABORT" in done.stdout
    return said[0]


@pytest.fixture(scope="session")
def different(tmp_path_factory):
    folder = tmp_path_factory.mktemp("different")
    points = np.random.default_rng(0).normal(size=(400, 4))
    np.save(folder / "points.npy", points)
    np.save(folder / "fewer.npy", points[:300])
    np.save(folder / "narrower.npy", points[:, :3])
    np.save(folder / "float.npy", points.astype(np.float32))
    np.save(folder / "weights.npy", np.ones(400))
    run("fit", "kmeans", folder / "points.npy", "-k", 3, "--model-out", folder / "model", "--quiet")
    run("fit", "kmeans", folder / "points.npy", "-k", 4, "--model-out", folder / "other-model", "--quiet")
    return folder


DIFFERENCES = {
    "rows": (["fit", "kmeans", "points.npy", "-k", 3], ["fit", "kmeans", "fewer.npy", "-k", 3], "rows: 400 on process 0; 300 on process 1"),
    "columns": (["fit", "kmeans", "points.npy", "-k", 3], ["fit", "kmeans", "narrower.npy", "-k", 3], "columns: 4 on process 0; 3 on process 1"),
    "type": (["fit", "kmeans", "points.npy", "-k", 3], ["fit", "kmeans", "float.npy", "-k", 3], "type: float64 on process 0; float32 on process 1"),
    "clusters": (["fit", "kmeans", "points.npy", "-k", 3], ["fit", "kmeans", "points.npy", "-k", 4], "--clusters: 3 on process 0; 4 on process 1"),
    "seed": (["fit", "kmeans", "points.npy", "-k", 3], ["fit", "kmeans", "points.npy", "-k", 3, "--seed", 1], "seed: 0 on process 0; 1 on process 1"),
    "scale": (["fit", "kmeans", "points.npy", "-k", 3], ["fit", "kmeans", "points.npy", "-k", 3, "--scale", "zscore"], "--scale: none on process 0; zscore on process 1"),
    "method": (["fit", "kmeans", "points.npy", "-k", 3], ["fit", "soft-kmeans", "points.npy", "-k", 3], "fit kmeans on process 0; fit soft-kmeans on process 1"),
    "weights": (["fit", "kmeans", "points.npy", "-k", 3], ["fit", "kmeans", "points.npy", "-k", 3, "--weights", "weights.npy"], "weights: not given on process 0; 400 on process 1"),
    "command": (["fit", "kmeans", "points.npy", "-k", 3], ["predict", "model", "points.npy"], "fit kmeans on process 0; apply a model of kmeans on process 1"),
    "rows to predict": (["predict", "model", "points.npy"], ["predict", "model", "fewer.npy"], "rows: 400 on process 0; 300 on process 1"),
    "model": (["predict", "model", "points.npy"], ["predict", "other-model", "points.npy"], "clusters: 3 on process 0; 4 on process 1"),
    "rows to describe": (["describe", "model", "points.npy"], ["describe", "model", "fewer.npy"], "rows: 400 on process 0; 300 on process 1"),
    "a missing file": (["fit", "kmeans", "points.npy", "-k", 3], ["fit", "kmeans", "nothing.npy", "-k", 3], "process 1 failed: "),
    "a missing model": (["predict", "model", "points.npy"], ["predict", "nothing", "points.npy"], "process 1 failed: "),
    "a missing file at rank 0": (["fit", "kmeans", "nothing.npy", "-k", 3], ["fit", "kmeans", "points.npy", "-k", 3], "nothing.npy"),
}


@needs_mpi
@pytest.mark.parametrize("difference", DIFFERENCES)
def test_different_commands_end_with_one_message(different, difference):
    *commands, expected = DIFFERENCES[difference]
    words = [[different / word if (different / str(word)).exists() or "nothing" in str(word) else word for word in command] for command in commands]
    assert expected in in_two_ways(*[[*command, "--quiet"] for command in words])


@needs_mpi
def test_error_in_one_process_command_line(different):
    words = ["fit", "kmeans", different / "points.npy", "-k"]
    message = in_two_ways([*words, 3], [*words, 0], code=2)
    assert "process 1: " in message and "--clusters" in message
