"""Several processes started by mpirun, and points that are read in blocks: the same bits, one voice, one end."""

import json
import os
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

from support import COMMAND, run

MPIRUN = shutil.which("mpirun")
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
START = [MPIRUN, "--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader"]
needs_mpi = pytest.mark.skipif(MPIRUN is None, reason="mpirun is not installed")


def many(processes, *words, code=0):
    done = subprocess.run([*START, "-n", str(processes), COMMAND, *map(str, words)], env=ENVIRONMENT, capture_output=True,
                          text=True, timeout=300)
    done.out, done.err = done.stdout, done.stderr
    assert done.returncode == code, f"exit {done.returncode}, not {code}\n{done.out}\n{done.err}"
    return done


def start_in_processes(count, words):
    """The command in several processes, and their numbers."""
    process = subprocess.Popen([*START, "-n", str(count), COMMAND, *map(str, words)], env=ENVIRONMENT, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    workers = []
    while len(workers) < count:
        time.sleep(0.2)
        workers = [int(line) for line in subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True,
                                                        text=True).stdout.split()]
        assert process.poll() is None
    return process, workers


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
}


def told(document):
    """What must not depend on how the work was shared out."""
    out = json.loads(document)
    for way in ("seconds", "threads", "points", "warnings", "notes"):
        out.pop(way, None)
    return out


def fitted(folder, fit, points, start=run, *more):
    result = start("fit", fit[0], points, *fit[1:], "--labels-out", folder / "l.npy", "--model-out", folder / "m.safetensors",
                   "--json", "--quiet", *more)
    out = told(result.out), (folder / "l.npy").read_bytes(), (folder / "m.safetensors").read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == ["l.npy", "m.safetensors"]
    return out


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_files_read_in_blocks_give_the_same_bits(shards, tmp_path, fit):
    whole = fitted(tmp_path, fit, shards / "whole.npy")
    assert fitted(tmp_path, fit, shards / "part-*.npy") == whole
    # 720,000 bytes are more than half of the megabyte that is left of this.
    assert fitted(tmp_path, fit, shards / "part-*.npy", run, "--memory", "1M") == whole
    assert fitted(tmp_path, fit, shards / "whole.npy", run, "--memory", "1M", "--threads", 1) == whole


@needs_mpi
@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_processes_give_the_same_bits(shards, tmp_path, fit):
    whole = fitted(tmp_path, fit, shards / "whole.npy")
    for processes in (1, 2, 3):
        start = lambda *words: many(processes, *words)
        assert fitted(tmp_path, fit, shards / "part-*.npy", start, "--threads", 1) == whole
    assert fitted(tmp_path, fit, shards / "part-*.npy", lambda *words: many(2, *words), "--memory", "1M") == whole


@needs_mpi
def test_labels_in_parts(shards, tmp_path):
    fit = FITS["kmeans"]
    whole = fitted(tmp_path, fit, shards / "whole.npy")[1]
    result = many(3, "fit", fit[0], shards / "part-*.npy", *fit[1:], "--labels-out", tmp_path / "p-{rank}.npy", "--quiet")
    parts = np.concatenate([np.load(tmp_path / f"p-{rank}.npy") for rank in range(3)])
    (tmp_path / "whole.npy").write_bytes(whole)
    assert np.array_equal(parts, np.load(tmp_path / "whole.npy"))
    model = tmp_path / "m.safetensors"
    result = many(2, "predict", model, shards / "part-*.npy", "--labels-out", tmp_path / "again.npy", "--quiet")
    assert np.array_equal(np.load(tmp_path / "again.npy"), parts)


@needs_mpi
def test_any_model_predicts_in_several_processes(shards, tmp_path):
    model = tmp_path / "m.safetensors"
    run("fit", "kernel-kmeans", "data:moons", "-k", 2, "--model-out", model, "--quiet")
    np.save(tmp_path / "points.npy", np.random.default_rng(5).normal(size=(2000, 2)))
    run("predict", model, tmp_path / "points.npy", "--labels-out", tmp_path / "one.npy", "--quiet")
    many(3, "predict", model, tmp_path / "points.npy", "--labels-out", tmp_path / "three.npy", "--quiet")
    assert (tmp_path / "one.npy").read_bytes() == (tmp_path / "three.npy").read_bytes()


@needs_mpi
def test_one_message_and_nothing_written(shards, tmp_path):
    points = np.load(shards / "whole.npy")
    points[29990, 2] = np.nan
    np.save(tmp_path / "bad.npy", points)
    result = many(3, "fit", "kmeans", tmp_path / "bad.npy", "-k", 3, "--labels-out", tmp_path / "l.npy", code=3)
    assert result.err.count("row 29991, column 3: value NaN") == 1
    result = many(3, "fit", "ward", shards / "whole.npy", "-k", 3, "--labels-out", tmp_path / "l.npy", code=2)
    assert result.err.count("method ward works in one process, not in 3") == 1
    result = many(2, "evaluate", shards / "whole.npy", shards / "whole.npy", code=2)
    assert result.err.count("works in one process; 2 were started") == 1
    assert many(2, "fit", "kmeans", shards / "whole.npy", "-k", "none", code=2).err.count("coterie:") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["bad.npy"]


@needs_mpi
def test_a_killed_process_ends_all(shards, tmp_path):
    words = ["fit", "kmeans", shards / "whole.npy", "-k", "50", "--restarts", "100000", "--tolerance", "0", "--labels-out",
             tmp_path / "l.npy"]
    process, workers = start_in_processes(3, words)
    time.sleep(2)
    began = time.monotonic()
    os.kill(workers[1], signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert time.monotonic() - began < 30
    assert process.returncode != 0 and "signal 9" in err
    assert list(tmp_path.iterdir()) == []


@needs_mpi
def test_a_killed_fit_goes_on_from_its_checkpoint(shards, tmp_path):
    fit = ["kmeans", "-k", 50, "--restarts", 30, "--tolerance", 0]
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
    began = time.monotonic()
    os.kill(workers[2], signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert time.monotonic() - began < 30
    assert process.returncode != 0 and err.count("signal 9") == 1
    assert list(out.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"out", "fit.checkpoint"}
    gone_on = lambda *words: many(2, *words)
    assert fitted(out, fit, shards / "part-*.npy", gone_on, "--checkpoint", checkpoint) == whole
    refused = many(2, "fit", "kmeans", shards / "part-*.npy", "-k", 49, "--checkpoint", checkpoint, code=3)
    assert refused.err.count("fit.checkpoint: this checkpoint is of a fit with other options") == 1


@needs_mpi
def test_an_interrupt_ends_with_what_was_found(shards, tmp_path):
    words = ["fit", "kmeans", shards / "whole.npy", "-k", "50", "--restarts", "100000", "--tolerance", "0", "--labels-out",
             tmp_path / "l.npy", "--json"]
    process = subprocess.Popen([*START, "-n", "2", COMMAND, *map(str, words)], env=ENVIRONMENT, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    time.sleep(4)
    workers = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
    assert len(workers) == 2, process.communicate()
    os.kill(int(workers[1]), signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(out)["stopped"] == "interrupted"
    assert len(np.load(tmp_path / "l.npy")) == 30000


def test_what_cannot_be_read_in_blocks(shards, tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((5, 2), np.float32))
    np.save(tmp_path / "b.npy", np.zeros((5, 3), np.float32))
    (tmp_path / "c.csv").write_text("1,2\n")
    for pattern, message in [("[ab].npy", "b.npy: 3 columns of float32, but"), ("[ac].*", "c.csv: only .npy and idx files"),
                             ("x*.npy", "no file matches")]:
        result = run("fit", "kmeans", tmp_path / pattern, "-k", 2, code=3)
        assert message in result.err
    result = run("fit", "kmeans", shards / "whole.npy", "-k", 2, "--memory", "1M", "--picture", tmp_path / "p.svg", code=2)
    assert "option --picture" in result.err
    result = run("fit", "kmeans", shards / "whole.npy", "-k", 2, "--memory", "lots", code=2)
    assert "a size from 1M on" in result.err
    np.save(tmp_path / "large.npy", np.zeros((1000000, 6), np.float32))
    result = run("fit", "ward", tmp_path / "large.npy", "-k", 2, "--memory", "20M", code=1)
    assert "needs all points in memory" in result.err
