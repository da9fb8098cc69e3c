"""Drives the command as a user would. COTERIE_COMMAND names the program."""

import csv
import gzip
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

COMMAND = os.environ["COTERIE_COMMAND"]
SCORES = ["acc", "nmi", "ari", "purity", "homogeneity", "completeness"]


def default_interrupt():
    # A test run in the background is started with SIGINT ignored, and so would be what it starts.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run(*words, code=0, input=None, env=None, cwd=None):
    environment = dict(os.environ)
    environment.update(env or {})
    done = subprocess.run([COMMAND, *map(str, words)], input=input, capture_output=True, env=environment, cwd=cwd,
                          timeout=300, preexec_fn=default_interrupt)
    done.out = done.stdout.decode("utf-8")
    done.err = done.stderr.decode("utf-8")
    assert done.returncode == code, f"exit {done.returncode}, not {code}\n{done.out}\n{done.err}"
    return done


def document(*words, **options):
    done = run(*words, "--json", **options)
    value = json.loads(done.out)
    assert value["schema"] == 1
    return value


def write_csv(path, rows, header=None):
    with open(path, "w") as file:
        if header:
            file.write(",".join(header) + "\n")
        for row in rows:
            file.write(",".join(str(field) for field in row) + "\n")


def write_labels(path, labels):
    write_csv(path, [['"' + str(label).replace('"', '""') + '"'] for label in labels], ["label"])


def read_words(path):
    with open(path, newline="") as file:
        rows = [row[0] for row in csv.reader(file)]
    assert rows[0] == "label"
    return rows[1:]


def blobs(n=300, d=3, k=3, seed=1):
    random = np.random.default_rng(seed)
    truth = np.arange(n) % k
    centers = np.arange(k)[:, None] * 20.0 + np.arange(d)[None, :]
    return centers[truth] + random.normal(size=(n, d)), truth


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """A folder of sound and unsound inputs, never written to by a test."""
    folder = tmp_path_factory.mktemp("files")
    points, truth = blobs()
    np.save(folder / "points.npy", points)
    np.save(folder / "points32.npy", points.astype(np.float32))
    np.save(folder / "truth.npy", truth.astype(np.int32))
    np.save(folder / "weights.npy", np.ones(len(points)))
    np.savez(folder / "two.npz", a=points, b=points * 2)
    write_csv(folder / "points.csv", points, ["x", "y", "z"])
    write_csv(folder / "points-bare.csv", points)
    names = ["ash", "birch", "cedar"]
    write_csv(folder / "labelled.csv", [list(row) + [names[t]] for row, t in zip(points, truth)], ["x", "y", "z", "tree"])
    write_csv(folder / "truth.csv", [[names[t]] for t in truth], ["label"])
    (folder / "points.csv.gz").write_bytes(gzip.compress((folder / "points.csv").read_bytes()))
    write_csv(folder / "centroids.csv", points[:3])
    # Ten points of each label are known, in the order ash, birch, cedar.
    known = [names[t] if i < 30 else "" for i, t in enumerate(truth)]
    write_labels(folder / "partial.csv", known)
    write_csv(folder / "partial-of-two.csv", [[i, f'"{label}"'] for i, label in enumerate(known)], ["row", "tree"])
    np.save(folder / "partial.npy", np.where(np.arange(len(truth)) < 30, truth, -1))
    run("fit", "kmeans", folder / "points.npy", "-k", 3, "--model-out", folder / "model.safetensors", "--quiet")

    # Unsound ones.
    whole = (folder / "points.npy").read_bytes()
    (folder / "truncated.npy").write_bytes(whole[: len(whole) // 2])
    (folder / "lying.npy").write_bytes(whole.replace(b"(300, 3)", b"(900, 3)"))
    (folder / "huge.npy").write_bytes(whole.replace(b"(300, 3), }    ", b"(9300000000, 3), }")[: len(whole)])
    (folder / "noise.npy").write_bytes(b"this is no array" * 8)
    (folder / "ragged.csv").write_text("1,2,3\n4,5,6\n7,8\n9,1,2\n")
    (folder / "word.csv").write_text("1,2\n3,oak\n5,6\n")
    (folder / "blank-field.csv").write_text("1,2\n3,\n5,6\n")
    (folder / "empty.csv").write_text("")
    (folder / "header-only.csv").write_text("x,y,z\n")
    (folder / "nan.csv").write_text("1,2\n3,nan\n5,6\n")
    (folder / "inf.csv").write_text("1,2\n3,4\ninf,6\n")
    (folder / "big.csv").write_text("1e30,2\n3,4\n5,1e30\n")
    (folder / "same.csv").write_text("1,2\n" * 20)
    bad = points.copy()
    bad[7, 1] = np.nan
    np.save(folder / "nan.npy", bad)
    np.save(folder / "number.npy", np.zeros(()))
    np.save(folder / "complex.npy", points.astype(complex))
    (folder / "truncated.csv.gz").write_bytes((folder / "points.csv.gz").read_bytes()[:200])
    (folder / "points.parquet").write_bytes(b"PAR1")
    (folder / "not.h5").write_bytes(b"nothing hierarchical")
    (folder / "not.mat").write_bytes(b"no matrix here" * 20)
    (folder / "not.npz").write_bytes(b"PK no zip")
    (folder / "two-columns.csv").write_text("1,2\n3,4\n5,6\n")
    (folder / "weights-short.csv").write_text("1\n2\n3\n")
    (folder / "weights-negative.csv").write_text("1\n" * 298 + "-1\n1\n")
    (folder / "weights-nan.csv").write_text("1\n" * 299 + "nan\n")
    (folder / "weights-zero.csv").write_text("0\n" * 300)
    (folder / "centroids-narrow.csv").write_text("1,2\n3,4\n5,6\n")
    (folder / "centroids-few.csv").write_text("1,2,3\n4,5,6\n")
    write_labels(folder / "partial-blank.csv", [""] * 300)
    write_labels(folder / "partial-short.csv", ["ash", "", "birch"])
    (folder / "truth-short.csv").write_text("label\n0\n1\n2\n")
    (folder / "truth-blank.csv").write_text("label\n" + '""\n' * 300)
    model = (folder / "model.safetensors").read_bytes()
    flipped = bytearray(model)
    flipped[-5] ^= 0xFF
    (folder / "flipped.safetensors").write_bytes(flipped)
    flipped = bytearray(model)
    flipped[20] ^= 0xFF
    (folder / "flipped-header.safetensors").write_bytes(flipped)
    (folder / "short.safetensors").write_bytes(model[:-9])
    (folder / "tiny.safetensors").write_bytes(model[:5])
    (folder / "text.safetensors").write_text("not a model, just some text that is long enough\n")
    (folder / "version.safetensors").write_bytes(other_version(model))
    (folder / "method.safetensors").write_bytes(model.replace(b"kmeans", b"kmoans"))
    return folder


def other_version(model):
    length = int.from_bytes(model[:8], "little")
    header = json.loads(model[8 : 8 + length])
    key = next(key for key in header["__metadata__"] if "format" in key)
    header["__metadata__"][key] = "999"
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + model[8 + length :]


# ---------------------------------------------------------------- what works

def test_version_is_quick():
    best = 1.0
    for _ in range(15):
        start = time.perf_counter()
        assert re.fullmatch(r"coterie \d+\.\d+\.\d+\n", run("--version").out)
        best = min(best, time.perf_counter() - start)
    if "asan" not in COMMAND and "tsan" not in COMMAND:
        assert best < 0.05  # the start-up itself is measured at some 5 ms; python's own share is in here too


COMMANDS = [[], ["fit"], ["fit", "kmeans"], ["tune"], ["tune", "kmeans"], ["predict"], ["evaluate"], ["geometry"], ["methods"], ["info"], ["data"], ["data", "list"],
            ["data", "show"], ["data", "get"], ["completion"], ["completion", "bash"], ["man"], ["reproduce"], ["reproduce", "trefoil-lambda"], ["reproduce", "trefoil-n"]]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words) or "coterie")
def test_help_everywhere(words):
    done = run(*words, "--help")
    assert done.err == ""
    assert "Usage: " + " ".join(["coterie", *words]) in done.out
    if words not in (["completion"], ["data"]):
        assert "Examples:" in done.out
    assert done.out == run("help", *words).out == run(*words, "-h").out
    assert all(len(line) <= 100 for line in done.out.splitlines())


def test_help_of_every_method_says_defaults_and_ranges():
    for method in document("methods")["methods"]:
        text = re.sub(r"\s+", " ", run("fit", method["name"], "--help").out)
        for option in method["options"]:
            assert option["flag"] in text
            if option["kind"] in ("integer", "real"):
                assert option["accepted"] in text
            for choice in option.get("choices", []):
                assert choice in text


def test_fit_json_schema(files):
    value = document("fit", "kmeans", "data:digits", "-k", 10, "--seed", 3, "--threads", 2)
    assert value["method"] == "kmeans" and value["options"]["clusters"] == 10
    assert (value["n"], value["d"], value["clusters_found"]) == (1797, 64, 10)
    assert sum(value["sizes"]) == 1797 and len(value["sizes"]) == 10
    assert value["objective"] > 1e6 and value["iterations"] >= 1
    assert value["stopped"] in ("converged", "iteration-limit", "completed", "interrupted", "exact")
    assert value["seconds"]["read"] >= 0 and value["seconds"]["fit"] > 0
    assert value["seed"] == 3 and value["threads"] == 2
    assert value["warnings"] == [] and isinstance(value["details"], dict)
    assert set(value["scores"]) == set(SCORES)
    assert all(0 <= value["scores"][name] <= 1 for name in SCORES) and value["scores"]["acc"] > 0.6
    assert "scores" not in document("fit", "kmeans", "data:digits", "-k", 10, "--truth", "none")


def test_stdout_holds_the_result_only(files, tmp_path):
    done = run("fit", "kmeans", files / "points.csv", "-k", 3, "--labels-out", tmp_path / "l.csv")
    assert done.err == "" and "300 points, 3 dimensions, 3 clusters" in done.out
    done = run("fit", "kmeans", files / "points.csv", "-k", 3, "--labels-out", "-")
    assert done.out.splitlines()[0] == "label" and len(done.out.splitlines()) == 301
    assert "objective" in done.err


def test_fit_and_predict_agree_and_files_are_what_they_say(files, tmp_path):
    run("fit", "kmeans", files / "points.npy", "-k", 3, "--labels-out", tmp_path / "l.csv", "--model-out", tmp_path / "m.safetensors",
        "--picture", tmp_path / "p.svg", "--report", tmp_path / "r.html", "--truth", files / "truth.npy")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["l.csv", "m.safetensors", "p.svg", "r.html"]
    run("predict", tmp_path / "m.safetensors", files / "points.npy", "--labels-out", tmp_path / "l2.csv")
    assert (tmp_path / "l.csv").read_bytes() == (tmp_path / "l2.csv").read_bytes()
    run("predict", tmp_path / "m.safetensors", files / "points.csv", "--labels-out", tmp_path / "l3.npy")
    labels = np.load(tmp_path / "l3.npy")
    assert labels.dtype == np.int32 and list(labels) == [int(x) for x in (tmp_path / "l.csv").read_text().split()[1:]]
    value = document("predict", tmp_path / "m.safetensors", files / "points.npy")
    assert value["n"] == 300 and value["sizes"] == list(np.bincount(labels)) and "predict" in value["seconds"]

    root = ElementTree.fromstring((tmp_path / "p.svg").read_text())
    assert root.tag.endswith("svg")
    text = "".join(root.itertext())
    assert "kmeans" in text and "n = 300, d = 3, k = 3" in text and "principal axis" in text
    page = (tmp_path / "r.html").read_text()
    assert page.count("<svg") >= 1 and "ACC" in page and "--max-iterations" in page
    assert not re.search(r'(src|href)="', page)  # nothing from outside


@pytest.mark.parametrize("columns", [1, 2, 3, 1500])
def test_pictures_of_every_dimension(tmp_path, columns):
    points, _ = blobs(n=60, d=columns)
    np.save(tmp_path / "p.npy", points)
    run("fit", "kmeans", tmp_path / "p.npy", "-k", 3, "--picture", tmp_path / "p.svg")
    text = (tmp_path / "p.svg").read_text()
    assert "nan" not in text.lower().replace("principal", "") and "All 60 points drawn" in text


def test_a_large_picture_says_what_it_leaves_out(tmp_path):
    points, _ = blobs(n=12001, d=2)
    np.save(tmp_path / "p.npy", points)
    run("fit", "kmeans", tmp_path / "p.npy", "-k", 12, "--picture", tmp_path / "p.svg")
    assert "4,001 of 12,001 points drawn, every 3rd" in (tmp_path / "p.svg").read_text()


def test_text_in_reports_is_escaped(files, tmp_path):
    name = tmp_path / "a<b>&'c\".csv"
    shutil.copy(files / "points.csv", name)
    run("fit", "kmeans", name, "-k", 3, "--report", tmp_path / "r.html", "--picture", tmp_path / "p.svg")
    for file in ("r.html", "p.svg"):
        text = (tmp_path / file).read_text()
        assert "a<b>" not in text and "a&lt;b&gt;&amp;&#39;c&quot;" in text


def test_same_seed_same_bytes_at_any_number_of_threads(files, tmp_path):
    for threads in (1, 2, 8):
        run("fit", "kmeans", "data:digits", "-k", 10, "--seed", 5, "--threads", threads, "--scale", "zscore",
            "--labels-out", tmp_path / f"l{threads}.csv", "--model-out", tmp_path / f"m{threads}.safetensors")
    for threads in (2, 8):
        assert (tmp_path / "l1.csv").read_bytes() == (tmp_path / f"l{threads}.csv").read_bytes()
        assert (tmp_path / "m1.safetensors").read_bytes() == (tmp_path / f"m{threads}.safetensors").read_bytes()
    first = document("fit", "kmeans", "data:digits", "-k", 10, "--seed", 5)
    again = document("fit", "kmeans", "data:digits", "-k", 10, "--seed", 5)
    other = document("fit", "kmeans", "data:digits", "-k", 10, "--seed", 6)
    assert first["objective"] == again["objective"] and first["sizes"] == again["sizes"]
    assert first["objective"] != other["objective"]


def test_points_from_everywhere(files):
    expected = sorted(document("fit", "kmeans", files / "points.npy", "-k", 3)["sizes"])
    for name in ("points.csv", "points-bare.csv", "points.csv.gz", "points32.npy", "two.npz:a"):
        assert sorted(document("fit", "kmeans", files / name, "-k", 3)["sizes"]) == expected, name
    assert sorted(document("fit", "kmeans", "-", "-k", 3, input=(files / "points.csv").read_bytes())["sizes"]) == expected
    assert document("fit", "kmeans", files / "points.npy", "-k", 3, "--precision", "float32")["precision"] == "float32"
    value = document("fit", "kmeans", files / "points.csv", "-k", 3, "--columns", "x,3")
    assert value["d"] == 2
    assert document("fit", "kmeans", files / "points-bare.csv", "-k", 3, "--header", "yes")["n"] == 299


def test_truth_from_file_and_column(files):
    for words in (["--truth", files / "truth.npy"], ["--truth", files / "truth.csv"],
                  ["--truth", files / "labelled.csv", "--truth-column", "tree"]):
        assert document("fit", "kmeans", files / "points.npy", "-k", 3, *words)["scores"]["acc"] == 1.0
    for column in ("tree", "4", "-1"):
        value = document("fit", "kmeans", files / "labelled.csv", "-k", 3, "--label-column", column)
        assert value["d"] == 3 and value["scores"]["ari"] == 1.0
        assert value["confusion"]["classes"] == ["ash", "birch", "cedar"]


def test_evaluate(files, tmp_path):
    (tmp_path / "l.csv").write_text("label\n0\n0\n1\n1\n2\n2\n")
    (tmp_path / "t.csv").write_text("class\nb\nb\na\na\na\nc\n")
    value = document("evaluate", tmp_path / "l.csv", tmp_path / "t.csv")
    assert value["n"] == 6 and value["acc"] == pytest.approx(5 / 6) and value["purity"] == pytest.approx(5 / 6)
    confusion = value["confusion"]
    assert sum(map(sum, confusion["counts"])) == 6
    diagonal = sum(confusion["counts"][i][i] for i in range(3))
    assert diagonal == 5 and confusion["matched"] == confusion["classes"]
    text = run("evaluate", tmp_path / "l.csv", tmp_path / "t.csv").out
    assert "ACC" in text and "0.8333" in text and "class \\ cluster" in text
    (tmp_path / "t.csv").write_text('class\nb\nb\na\na\na\n""\n')
    done = run("evaluate", tmp_path / "l.csv", tmp_path / "t.csv", "--json")
    assert json.loads(done.out)["n"] == 5 and "1 of 6" in done.err
    # More clusters than classes, and the other way round.
    (tmp_path / "t.csv").write_text("class\nb\nb\na\na\na\na\n")
    assert document("evaluate", tmp_path / "l.csv", tmp_path / "t.csv")["confusion"]["matched"][-1] is None
    value = document("evaluate", tmp_path / "t.csv", tmp_path / "l.csv")
    assert len(value["confusion"]["classes"]) == 3 and len(value["confusion"]["clusters"]) == 2


def test_scores_agree_with_scikit_learn(tmp_path):
    metrics = pytest.importorskip("sklearn.metrics")
    run("fit", "kmeans", "data:wine", "-k", 3, "--labels-out", tmp_path / "l.npy")
    value = document("evaluate", tmp_path / "l.npy", "data:wine")
    labels = np.load(tmp_path / "l.npy")
    counts = np.array(value["confusion"]["counts"])
    truth = np.repeat(np.arange(counts.shape[0]), counts.sum(axis=1))
    predicted = np.concatenate([np.repeat(np.arange(counts.shape[1]), row) for row in counts])
    assert len(labels) == len(truth)
    assert value["nmi"] == pytest.approx(metrics.normalized_mutual_info_score(truth, predicted), abs=1e-12)
    assert value["ari"] == pytest.approx(metrics.adjusted_rand_score(truth, predicted), abs=1e-12)
    assert value["homogeneity"] == pytest.approx(metrics.homogeneity_score(truth, predicted), abs=1e-12)
    assert value["completeness"] == pytest.approx(metrics.completeness_score(truth, predicted), abs=1e-12)


@pytest.mark.parametrize("words", [["--center"], ["--scale", "minmax"], ["--scale", "zscore"], ["--scale", "unit"],
                                   ["--center", "--scale", "unit"], ["--center", "--scale", "minmax"]], ids=" ".join)
def test_preparation_travels_with_the_model(files, tmp_path, words):
    run("fit", "kmeans", "data:wine", "-k", 3, *words, "--labels-out", tmp_path / "l.csv", "--model-out", tmp_path / "m.st")
    run("predict", tmp_path / "m.st", "data:wine", "--labels-out", tmp_path / "p.csv")
    assert (tmp_path / "l.csv").read_bytes() == (tmp_path / "p.csv").read_bytes()
    value = document("info", tmp_path / "m.st")
    assert "preprocess.offset" in [tensor["name"] for tensor in value["tensors"]]
    assert value["facts"]["preprocess"].replace("scale ", "").split(", ") == [w for w in " ".join(words).replace("--scale ", "").replace("--", "").split()]


def test_scaling_changes_the_result_for_the_better(files):
    plain = document("fit", "kmeans", "data:wine", "-k", 3, "--restarts", 5)["scores"]["acc"]
    scaled = document("fit", "kmeans", "data:wine", "-k", 3, "--restarts", 5, "--scale", "zscore")["scores"]["acc"]
    assert scaled > 0.9 > plain


def test_weights_act_as_copies(tmp_path):
    random = np.random.default_rng(3)
    points = random.normal(size=(80, 2)) + 8 * (np.arange(80) % 4)[:, None]
    weights = random.integers(0, 4, size=80)
    start = points[weights > 0][:4]
    write_csv(tmp_path / "p.csv", points)
    write_csv(tmp_path / "w.csv", weights[:, None])
    write_csv(tmp_path / "copies.csv", np.repeat(points, weights, axis=0))
    write_csv(tmp_path / "start.csv", start)
    common = ["-k", 4, "--initial-centroids", tmp_path / "start.csv", "--scale", "zscore"]
    weighted = document("fit", "kmeans", tmp_path / "p.csv", "--weights", tmp_path / "w.csv", *common)
    copied = document("fit", "kmeans", tmp_path / "copies.csv", *common)
    assert weighted["objective"] == pytest.approx(copied["objective"], rel=1e-9)


def test_initial_centroids_are_where_it_starts(files):
    value = document("fit", "kmeans", files / "points.npy", "-k", 3, "--initial-centroids", files / "centroids.csv")
    assert value["clusters_found"] == 3 and value["iterations"] <= 10


def test_all_rows_equal_is_a_result_with_a_warning(files, tmp_path):
    done = run("fit", "kmeans", files / "same.csv", "-k", 3, "--json", "--labels-out", tmp_path / "l.csv")
    value = json.loads(done.out)
    assert value["clusters_found"] == 1 and value["warnings"] and "warning" in done.err
    assert run("fit", "kmeans", files / "same.csv", "-k", 3, "--quiet").err == ""
    assert "constant" in run("fit", "kmeans", files / "same.csv", "-k", 1, "--scale", "zscore").err


def test_strict_tells_what_did_not_converge(files, tmp_path):
    words = ["fit", "kmeans", "data:digits", "-k", 10, "--max-iterations", 1, "--labels-out", tmp_path / "l.csv"]
    assert "iteration-limit" in run(*words).out
    assert "not converged" in run(*words, "--strict", code=4).err
    assert (tmp_path / "l.csv").exists()


def test_methods_and_info(files, tmp_path):
    value = document("methods")
    assert [m["name"] for m in value["methods"]][0] == "kmeans" and "kmeans" in run("methods").out
    one = document("methods", "kmeans")["methods"][0]
    clusters = one["options"][0]
    assert clusters["flag"] == "--clusters" and clusters["letter"] == "k" and clusters["low"] == 0 and clusters["default"] == 8
    assert "--max-iterations" in run("methods", "kmeans").out
    value = document("info", files / "model.safetensors")
    assert value["method"] == "kmeans" and value["clusters"] == 3 and value["dimensions"] == 3
    assert value["options"]["clusters"] == 3 and value["tensors"]
    fitted = document("fit", "kmeans", files / "points.npy", "-k", 3, "--seed", 7, "--model-out", tmp_path / "m.st")
    facts = document("info", tmp_path / "m.st")["facts"]
    assert float(facts["objective"]) == fitted["objective"] and facts["stopped"] == fitted["stopped"]
    assert (facts["points"], facts["seed"], facts["iterations"]) == (str(fitted["n"]), "7", str(fitted["iterations"]))
    assert "centroids" in run("info", files / "model.safetensors").out


METHODS = [method["name"] for method in json.loads(subprocess.run([COMMAND, "methods", "--json"], capture_output=True).stdout)["methods"]]


def short(method):
    """What makes a fit a matter of seconds; skips the test of a method that is not here."""
    if method in ("entropy-net", "imsat", "iic", "sela-net", "miadm-net"):
        words = ["--scale", "minmax", "--widths", 16, "--epochs", 12, "--batch-size", 25, "--learning-rate", 0.01, "--threads", 1]
    elif method in ("ae-kmeans", "dekm", "dec", "idec", "dcn"):
        words = ["--scale", "minmax", "--widths", 16, "--embedding", 2, "--pretrain-epochs", 10, "--pretrain-batch-size", 16, "--restarts", 5]
        if method != "ae-kmeans":
            words += ["--max-iterations", 10, "--update-interval", 5]
    else:
        return []
    if b"libtorch-dev" in subprocess.run([COMMAND, "fit", method, "data:iris", "-k", "3", *map(str, words), "--quiet"], capture_output=True).stderr:
        pytest.skip("LibTorch is not here")
    return words


@pytest.mark.parametrize("method", METHODS)
def test_every_method_goes_the_whole_way(files, tmp_path, method):
    value = document("fit", method, files / "points.npy", "-k", 3, "--truth", files / "truth.npy", "--model-out", tmp_path / "m.st",
                     "--labels-out", tmp_path / "l.csv", "--report", tmp_path / "r.html", "--picture", tmp_path / "p.svg", *short(method))
    assert value["method"] == method and value["clusters_found"] == 3 and sum(value["sizes"]) == 300
    again = document("predict", tmp_path / "m.st", files / "points.npy")
    assert again["method"] == method and sum(again["sizes"]) == 300
    assert document("info", tmp_path / "m.st")["method"] == method
    assert f"coterie fit {method}" in run("fit", method, "--help").out


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_tuned(files, tmp_path, method):
    value = document("tune", method, files / "points.npy", "--grid", "k=2:4", "--folds", 2, "--truth", files / "truth.npy",
                     "--model-out", tmp_path / "m.st", *short(method))
    assert value["method"] == method == value["best_method"] and len(value["cells"]) == 3
    assert all(cell["error"] is None and cell["unseen"]["acc"] > 0.3 for cell in value["cells"])
    assert document("info", tmp_path / "m.st")["clusters"] == value["best_options"]["clusters"] == value["best"] + 2


# ---------------------------------------------------------------- tune

def test_tune_finds_three_blobs_and_writes_what_fit_writes(files, tmp_path):
    words = ["--truth", files / "truth.csv", "--seed", 4, "--scale", "zscore"]
    value = document("tune", "kmeans", files / "points.npy", "--grid", "k=2:5", *words, "--labels-out", tmp_path / "l.csv",
                     "--model-out", tmp_path / "m.st", "--report", tmp_path / "r.html", "--picture", tmp_path / "p.svg")
    assert value["best"] == 1 and value["best_options"] == {"clusters": 3}
    run("fit", "kmeans", files / "points.npy", "-k", 3, *words, "--labels-out", tmp_path / "l2.csv", "--model-out", tmp_path / "m2.st")
    assert (tmp_path / "l.csv").read_bytes() == (tmp_path / "l2.csv").read_bytes()
    assert (tmp_path / "m.st").read_bytes() == (tmp_path / "m2.st").read_bytes()
    run("predict", tmp_path / "m.st", files / "points.npy", "--labels-out", tmp_path / "p.csv")
    assert (tmp_path / "l.csv").read_bytes() == (tmp_path / "p.csv").read_bytes()
    assert value["fit"]["scores"]["acc"] == 1 and value["fit"]["preprocessing"] == "scale zscore"
    assert set(value["fit"]["written"]) == {"labels", "model", "report", "picture"}


def test_tune_json_schema(files):
    value = document("tune", "kmeans", files / "labelled.csv", "--label-column", "tree", "--grid", "clusters=2,400,3", "--grid",
                     "restarts=1:2", "--tolerance", 0.01, "--folds", 3, "--select", "ratio", "--seed", 6, "--threads", 2)
    assert (value["method"], value["select"], value["folds"], value["n"]) == ("kmeans", "ratio", 3, 300)
    assert not value["larger_is_better"] and not value["oracle"] and not value["interrupted"] and value["folds_done"] == 3
    assert value["grid"] == {"clusters": [2, 400, 3], "restarts": [1, 2]}
    assert [list(cell["options"].values()) for cell in value["cells"]] == [[k, r] for k in (2, 400, 3) for r in (1, 2)]
    for cell in value["cells"]:
        assert set(cell) == {"method", "options", "criterion", "seen", "unseen", "seconds", "error"}
        if cell["options"]["clusters"] == 400:
            assert "400" in cell["error"] and cell["criterion"] is cell["seen"] is cell["unseen"] is None
        else:
            assert cell["error"] is None and 0 < cell["criterion"] < 1 and cell["seconds"] >= 0
            assert set(cell["seen"]) == set(cell["unseen"]) == set(SCORES)
    assert value["best"] == 4 and value["best_options"] == {"clusters": 3, "restarts": 1, "tolerance": 0.01}
    assert value["seed"] == 6 and value["threads"] == 2 and set(value["seconds"]) == {"read", "tune"}
    assert value["fit"]["n"] == 300 and value["fit"]["options"]["clusters"] == 3
    plain = document("tune", "kmeans", files / "points.npy", "--grid", "k=3")
    assert plain["folds"] == 0 and plain["cells"][0]["seen"] is plain["cells"][0]["unseen"] is None and "scores" not in plain["fit"]


def test_tune_criteria_against_plain_computations(files, tmp_path):
    metrics = pytest.importorskip("sklearn.metrics")
    neighbors = pytest.importorskip("sklearn.neighbors")
    points = np.load(files / "points.npy")
    for k in (3, 4):
        run("fit", "kmeans", files / "points.npy", "-k", k, "--tolerance", 0, "--labels-out", tmp_path / "l.npy")
        labels = np.load(tmp_path / "l.npy")
        within = sum(((points[labels == c] - points[labels == c].mean(axis=0)) ** 2).sum() for c in set(labels))
        graph = neighbors.kneighbors_graph(points, 10).toarray()
        graph = (graph + graph.T) / 2
        cut = sum(graph[labels == c][:, labels != c].sum() / graph[labels == c].sum() for c in set(labels))
        expected = {"silhouette": metrics.silhouette_score(points, labels), "ratio": within / ((points - points.mean(axis=0)) ** 2).sum(),
                    "knncut": cut, "objective": within}
        for select, number in expected.items():
            value = document("tune", "kmeans", files / "points.npy", "--grid", f"k={k}", "--select", select, "--tolerance", 0)
            assert value["cells"][0]["criterion"] == pytest.approx(number, rel=1e-9, abs=1e-12), select
    for select in ("acc", "nmi", "ari"):
        done = run("tune", "kmeans", files / "points.npy", "--grid", "k=2:4", "--select", select, "--truth", files / "truth.npy")
        assert "oracle" in done.out and re.search(r"^\* +3 +1 ", done.out, re.MULTILINE)


def test_tune_is_the_same_at_any_number_of_threads(tmp_path):
    documents = []
    for threads in (1, 2, 8):
        value = document("tune", "kmeans", "data:digits", "--grid", "k=8,10", "--folds", 2, "--select", "knncut", "--threads", threads,
                         "--model-out", tmp_path / f"m{threads}.st")
        documents.append([(cell["criterion"], cell["seen"], cell["unseen"]) for cell in value["cells"]])
    assert documents[0] == documents[1] == documents[2]
    assert (tmp_path / "m1.st").read_bytes() == (tmp_path / "m2.st").read_bytes() == (tmp_path / "m8.st").read_bytes()


def test_tune_table(files):
    out = run("tune", "kmeans", files / "points.npy", "--grid", "k=2,3,400", "--truth", files / "truth.npy", "--folds", 2).out
    lines = out.splitlines()
    assert "300 points, 3 cells, 2 folds, by the largest silhouette" in lines[0]
    assert lines[1].split()[:3] == ["clusters", "silhouette", "seen"] and "unseen ACC" in lines[1]
    assert lines[3].startswith("*") and lines[3].split()[1] == "3" and "refused" in lines[4]
    assert "chosen (*)" in out and "clusters=3" in out and "1 cell; clusters=400: " in out and "kmeans on " in out
    out = run("tune", "kmeans", files / "points.npy", "--grid", "k=2:6", "--grid", "restarts=1:7").out
    assert "the best 20 of 35 cells" in out and len([line for line in out.splitlines() if re.match(r"[* ] +\d+ +\d+ +0\.", line)]) == 20
    done = run("tune", "kmeans", files / "points.npy", "--grid", "k=2:4", "--labels-out", "-")
    assert done.out.splitlines()[0] == "label" and len(done.out.splitlines()) == 301 and "chosen" in done.err


def test_plain_kmeans_may_win(files, tmp_path):
    # Two clouds in one direction: cosines see one.
    random = np.random.default_rng(5)
    points = np.repeat([[5.0, 5.0], [50.0, 50.0]], 100, axis=0) + random.normal(size=(200, 2))
    np.save(tmp_path / "p.npy", points)
    words = ["tune", "spherical-kmeans", tmp_path / "p.npy", "-k", 2, "--grid", "restarts=1:2", "--select", "knncut", "--with-kmeans",
             "--model-out", tmp_path / "m.st"]
    value = document(*words)
    assert value["method"] == "spherical-kmeans" and value["best_method"] == "kmeans" and value["best"] == 2
    assert value["cells"][2]["method"] == "kmeans" and value["cells"][2]["criterion"] == 0 and value["fit"]["method"] == "kmeans"
    assert document("info", tmp_path / "m.st")["method"] == "kmeans"
    assert "plain kmeans, better than every cell of spherical-kmeans" in run(*words).out


def test_tune_with_partial_labels(files, tmp_path):
    words = ["tune", "kmeans", "points.npy", "--partial-labels", "partial.csv", "--truth", "truth.csv", "--folds", 2]
    value = document(*words, "--grid", "k=3:5", "--labels-out", tmp_path / "l.csv", cwd=files)
    assert value["best_options"]["clusters"] == 3 and value["fit"]["scored"] == 270 and value["cells"][0]["unseen"]["acc"] == 1
    assert read_words(tmp_path / "l.csv") == read_words(files / "truth.csv")
    # Where nothing is said of the clusters the labels say it.
    value = document(*words, "--grid", "restarts=1", cwd=files)
    assert value["best_options"]["clusters"] == 0 and value["fit"]["options"]["clusters"] == 3


def test_a_search_is_not_lost_with_its_last_fit(files, tmp_path):
    # Halves of the points have room for three clusters of half 101, rounded down; all of them have none for 101.
    words = ["tune", "kmeans", files / "points.npy", "-k", 3, "--grid", "restarts=1:2", "--folds", 2, "--sizes", "101:", "--labels-out",
             tmp_path / "l.csv"]
    done = run(*words, code=2)
    assert "--sizes" in done.err and "chosen (*)" in done.out and "objective" not in done.out
    assert "fit" not in json.loads(run(*words, "--json", code=2).out) and list(tmp_path.iterdir()) == []


PARTIAL = ["--partial-labels", "partial.csv"]


def test_partial_labels_name_what_is_written(files, tmp_path):
    value = document("fit", "kmeans", "points.npy", "-k", 3, *PARTIAL, "--truth", "truth.csv", "--labels-out", tmp_path / "l.csv",
                     "--model-out", tmp_path / "m.st", "--report", tmp_path / "r.html", cwd=files)
    labels = value["labels"]
    assert [label["name"] for label in labels] == ["ash", "birch", "cedar"]
    assert [label["clusters"] for label in labels] == [[0], [1], [2]]
    for label in labels:
        assert (label["points"], label["labelled"], label["share"]) == (100, 10, pytest.approx(1 / 3))
    assert value["sizes"] == [100, 100, 100] and value["scored"] == 270
    assert set(value["scores"]) == {*SCORES, "label_accuracy"} and value["scores"]["label_accuracy"] == 1
    assert value["confusion"]["clusters"] == ["ash", "birch", "cedar"] and sum(map(sum, value["confusion"]["counts"])) == 270
    assert read_words(tmp_path / "l.csv") == read_words(files / "truth.csv")
    page = (tmp_path / "r.html").read_text()
    assert "<h2>Labels</h2>" in page and "label accuracy" in page and "cedar" in page

    # New points are named the same way, and all of them are scored.
    again = document("predict", tmp_path / "m.st", files / "points.npy", "--truth", files / "truth.csv", "--labels-out", tmp_path / "p.csv")
    assert again["scored"] == 300 and again["scores"]["label_accuracy"] == 1
    assert [(label["name"], label["points"]) for label in again["labels"]] == [("ash", 100), ("birch", 100), ("cedar", 100)]
    assert (tmp_path / "p.csv").read_bytes() == (tmp_path / "l.csv").read_bytes()
    assert "ash 100, birch 100, cedar 100" in run("predict", tmp_path / "m.st", files / "points.npy", "--labels-out", tmp_path / "p.npy").out
    numbers = np.load(tmp_path / "p.npy")
    assert numbers.dtype == np.int32 and list(numbers) == list(np.load(files / "truth.npy"))
    assert document("info", tmp_path / "m.st")["labels"] == [{"name": name, "clusters": [i]} for i, name in enumerate(["ash", "birch", "cedar"])]
    assert re.search(r"label birch +cluster 1", run("info", tmp_path / "m.st").out)

    text = run("fit", "kmeans", "points.npy", "-k", 3, *PARTIAL, "--truth", "truth.csv", cwd=files).out
    assert "ash 100, birch 100, cedar 100" in text and "scored on the 270 points that had no label" in text and "label accuracy 1.0000" in text


def test_partial_labels_from_any_format(files):
    column = ["--partial-labels", "partial-of-two.csv", "--partial-labels-column", "tree"]
    numbers = ["--partial-labels", "partial.npy"]
    for words, names in ((PARTIAL, ["ash", "birch", "cedar"]), (column, ["ash", "birch", "cedar"]), (numbers, ["0", "1", "2"])):
        value = document("fit", "kmeans", "points.npy", "-k", 3, *words, cwd=files)
        assert [label["name"] for label in value["labels"]] == names and [label["labelled"] for label in value["labels"]] == [10] * 3
        assert "scores" not in value


def test_a_labelled_point_goes_to_its_label_whatever_the_distances(files, tmp_path):
    known = read_words(files / "partial.csv")
    known[0], known[1] = "cedar", "ash"  # they lie with ash and birch
    write_labels(tmp_path / "partial.csv", known)
    value = document("fit", "kmeans", files / "points.npy", "-k", 3, "--partial-labels", tmp_path / "partial.csv", "--truth", files / "truth.csv",
                     "--labels-out", tmp_path / "l.csv")
    assert read_words(tmp_path / "l.csv")[:4] == ["cedar", "ash", "cedar", "ash"]
    # What the fit was told is not scored, so that it can neither help nor harm.
    assert value["scored"] == 270 and value["scores"]["label_accuracy"] == 1 and value["scores"]["acc"] == 1


def test_free_clusters_and_clusters_of_labels(files, tmp_path):
    known = [label if label == "ash" else "" for label in read_words(files / "partial.csv")]
    write_labels(tmp_path / "partial.csv", known)
    words = ["fit", "kmeans", files / "points.npy", "-k", 4, "--partial-labels", tmp_path / "partial.csv", "--clusters-per-label", "ash=2",
             "--truth", files / "truth.csv"]
    value = document(*words, "--labels-out", tmp_path / "l.csv", "--model-out", tmp_path / "m.st")
    (ash,) = value["labels"]
    assert ash["name"] == "ash" and ash["clusters"] == [0, 1] and ash["points"] == sum(value["sizes"][:2])
    written = read_words(tmp_path / "l.csv")
    assert set(written) <= {"ash", "cluster-2", "cluster-3"} and written.count("ash") == ash["points"]
    assert set(value["confusion"]["clusters"]) <= {"ash", "cluster-2", "cluster-3"}
    assert len(document("fit", "kmeans", "points.npy", "-k", 0, *PARTIAL, "--clusters-per-label", "cedar=4", cwd=files)["sizes"]) == 6
    free = sum(value["sizes"][2:])
    assert f"ash {ash['points']} in 2 clusters; {free} in 2 free clusters" in run(*words).out
    run("predict", tmp_path / "m.st", files / "points.npy", "--labels-out", tmp_path / "p.npy")
    assert set(np.load(tmp_path / "p.npy")) <= {0, 1, 2}


@pytest.mark.parametrize("shares, low, high", [
    (["--group-share", "ash=0.5"], {"ash": 150}, {"ash": 150}),
    (["--group-share", "ash=0.501"], {"ash": 150}, {"ash": 150}),
    (["--group-share", "ash=0.4:0.6"], {"ash": 120}, {"ash": 180}),
    (["--group-share", "ash=0.4:"], {"ash": 120}, {}),
    (["--group-share", "ash=:0.2"], {}, {"ash": 60}),
    (["--group-share", "ash=0.5,birch=0.2"], {"ash": 150, "birch": 60}, {"ash": 150, "birch": 60}),
    (["--group-share", "ash=0.5", "--group-share", "birch=:0.1"], {"ash": 150}, {"ash": 150, "birch": 30}),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_group_shares(files, shares, low, high):
    value = document("fit", "kmeans", "points.npy", "-k", 3, *PARTIAL, *shares, cwd=files)
    points = {label["name"]: label["points"] for label in value["labels"]}
    assert sum(points.values()) == 300
    for name, count in points.items():
        assert low.get(name, 0) <= count <= high.get(name, 300)


@pytest.mark.parametrize("sizes, low, high", [("110:", 110, 300), (":60", 0, 60), ("70:80", 70, 80), ("75", 75, 75)])
def test_sizes(files, sizes, low, high):
    k = 2 if sizes == "110:" else 4 if "7" in sizes else 6
    value = document("fit", "kmeans", files / "points.npy", "-k", k, "--sizes", sizes)
    assert len(value["sizes"]) == k and sum(value["sizes"]) == 300 and all(low <= size <= high for size in value["sizes"])
    assert "labels" not in value


def test_labels_with_commas_and_equals_signs(files, tmp_path):
    other = {"ash": "a=b", "birch": "x, y", "cedar": "1:2", "": ""}
    write_labels(tmp_path / "partial.csv", [other[label] for label in read_words(files / "partial.csv")])
    value = document("fit", "kmeans", files / "points.npy", "-k", 4, "--partial-labels", tmp_path / "partial.csv", "--group-share", "x, y=0.3:0.4",
                     "--group-share", "a=b=0.25:0.5,1:2=:0.5", "--clusters-per-label", "a=b=1,1:2=1", "--clusters-per-label", "x, y=2",
                     "--labels-out", tmp_path / "l.csv")
    assert [(label["name"], label["clusters"]) for label in value["labels"]] == [("a=b", [0]), ("x, y", [1, 2]), ("1:2", [3])]
    assert set(read_words(tmp_path / "l.csv")) == {"a=b", "x, y", "1:2"}


def test_scores_of_labels(files, tmp_path):
    known = [label.replace("ash", "ash, white") for label in read_words(files / "partial.csv")]
    write_labels(tmp_path / "partial.csv", known)
    run("fit", "subspace", files / "points.npy", "-k", 4, "--partial-labels", tmp_path / "partial.csv", "--clusters-per-label", "birch=2",
        "--scale", "zscore", "--model-out", tmp_path / "m.st")
    words = ["predict", tmp_path / "m.st", files / "points.npy"]
    done = run(*words, "--scores-out", tmp_path / "s.npy", "--labels-out", tmp_path / "l.npy")
    assert "label scores" in done.out
    scores = np.load(tmp_path / "s.npy")
    assert scores.dtype == np.float64 and scores.shape == (300, 3)
    assert list(scores.argmax(axis=1)) == list(np.load(tmp_path / "l.npy"))
    with open(tmp_path / "s.csv", "w") as file:
        file.write(run(*words, "--scores-out", "-").out)
    run(*words, "--scores-out", tmp_path / "t.csv")
    assert (tmp_path / "s.csv").read_bytes() == (tmp_path / "t.csv").read_bytes()
    with open(tmp_path / "s.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["ash, white", "birch", "cedar"] and np.array_equal(np.array(rows[1:], dtype=float), scores)
    assert "standard output" in run(*words, "--scores-out", "-", "--labels-out", "-", code=2).err
    assert "same file" in run(*words, "--scores-out", tmp_path / "s.csv", "--labels-out", tmp_path / "s.csv", code=2).err


def test_scores_are_left_out_where_there_is_nothing_to_score(files, tmp_path):
    words = ["fit", "kmeans", "points.npy", "-k", 3]
    done = run(*words, "--partial-labels", "truth.csv", "--truth", "truth.csv", "--json", cwd=files)
    assert "scores" not in json.loads(done.out) and "nothing is left to score" in done.err
    # A truth of other words: scores by alignment only.
    run(*words, *PARTIAL, "--model-out", tmp_path / "m.st", cwd=files)
    for other in (words + PARTIAL, ["predict", tmp_path / "m.st", "points.npy"]):
        done = run(*other, "--truth", "truth.npy", "--json", cwd=files)
        value = json.loads(done.out)
        assert set(value["scores"]) == set(SCORES) and value["scores"]["acc"] == 1
        assert "truth.npy names none of the labels" in done.err and any("label accuracy" in warning for warning in value["warnings"])
    # A truth that is known for some of the points only.
    truth = read_words(files / "truth.csv")
    write_labels(tmp_path / "truth.csv", truth[:100] + [""] * 200)
    done = run(*words, *PARTIAL, "--truth", tmp_path / "truth.csv", "--json", cwd=files)
    assert json.loads(done.out)["scored"] == 70 and "200 of 300 points have no truth" in done.err


def test_without_partial_labels_nothing_is_named(files, tmp_path):
    value = document("fit", "kmeans", files / "points.npy", "-k", 3, "--truth", files / "truth.csv", "--model-out", tmp_path / "m.st")
    assert "labels" not in value and set(value["scores"]) == set(SCORES)
    assert "labels" not in document("info", tmp_path / "m.st") and "labels" not in document("predict", tmp_path / "m.st", files / "points.npy")


def test_methods_say_what_they_take():
    for method in document("methods")["methods"]:
        text = run("fit", method["name"], "--help").out
        for flag, part in (("--weights", "weights"), ("--partial-labels", "partial_labels"), ("--group-share", "group_shares"),
                           ("--clusters-per-label", "partial_labels"), ("--sizes", "sizes")):
            assert (f" {flag} " in text) == method["honours"][part], (method["name"], flag)
        takes = run("methods", method["name"]).out
        assert ("partial labels" in takes) == method["honours"]["partial_labels"] and ("size bounds" in takes) == method["honours"]["sizes"]
    text = re.sub(r"\s+", " ", run("fit", "kmeans", "--help").out)
    assert re.search(r"--group-share [^-]*\(may be repeated\)", text)


def test_data(tmp_path):
    names = [entry["name"] for entry in document("data", "list")["data"]]
    assert {"digits", "iris", "wine", "breast-cancer", "mnist"} <= set(names) and "data:digits" in run("data", "list").out
    value = document("data", "show", "digits")
    assert value["rows"] == 1797 and value["shipped"] and value["here"] and value["citation"]
    assert "1,797" in run("data", "show", "digits").out and run("data", "show", "data:digits").out
    assert "did you mean iris" in run("data", "show", "irris", code=2).err


def test_completion(files):
    script = run("completion", "bash").out
    assert subprocess.run(["bash", "-n"], input=script.encode()).returncode == 0

    def complete(line):
        driver = script + f"\nCOMP_LINE={line!r}\nCOMP_POINT=${{#COMP_LINE}}\n_coterie 2>/dev/null\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
        done = subprocess.run(["bash", "--norc", "-s"], input=driver.encode(), capture_output=True, cwd=files)
        return done.stdout.decode().split()

    assert set(complete("coterie ")) >= {"fit", "predict", "evaluate", "geometry", "transform", "methods", "info", "data", "man", "completion"}
    assert complete("coterie pre") == ["predict"]
    assert complete("coterie fit km") == ["kmeans"]
    assert complete("coterie methods km") == ["kmeans"]
    assert complete("coterie fit kmeans --max") == ["--max-iterations"]
    assert complete("coterie fit kmeans x.csv -k 3 --scale z") == ["zscore"]
    assert complete("coterie fit kmeans x.csv --scale=mi") == ["minmax"]
    assert "digits" in complete("coterie data show di") and "iris" in complete("coterie fit kmeans data:ir")
    assert complete("coterie fit kmeans points.n") == ["points.npy"]
    assert complete("coterie predict model.s") == ["model.safetensors"]
    assert complete("coterie fit kmeans points.npy --partial-labels partial-b") == ["partial-blank.csv"]
    assert complete("coterie fit kmeans points.npy --group-share a=1 --group-s") == ["--group-share"]


def test_man_page():
    page = run("man").out
    for needed in (".TH COTERIE 1", ".SH EXIT STATUS", "\\-\\-partial\\-labels", "may be repeated", "\\-\\-max\\-iterations", "coterie fit kmeans".replace("-", "\\-"), "NO_COLOR"):
        assert needed in page
    if not shutil.which("mandoc"):
        pytest.skip("mandoc is not installed")
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=page.encode(), capture_output=True)
    assert lint.returncode == 0, lint.stdout.decode()
    shown = subprocess.run(["mandoc", "-T", "utf8"], input=page.encode(), capture_output=True).stdout.decode()
    shown = re.sub(".\\x08", "", shown)  # bold is struck twice
    assert "130" in shown and "predict" in shown


# ---------------------------------------------------------------- interrupts and terminals

@pytest.fixture(scope="session")
def long_points(tmp_path_factory):
    folder = tmp_path_factory.mktemp("long")
    np.save(folder / "p.npy", np.random.default_rng(2).normal(size=(4000, 8)))
    return folder / "p.npy"


LONG = ["-k", "20", "--restarts", "1000000", "--tolerance", "0"]


def start_long(long_points, *words, **options):
    return subprocess.Popen([COMMAND, "fit", "kmeans", str(long_points), *LONG, *map(str, words)], preexec_fn=default_interrupt, **options)


def test_interrupt_writes_what_was_found(long_points, tmp_path):
    process = start_long(long_points, "--labels-out", tmp_path / "l.csv", "--model-out", tmp_path / "m.safetensors",
                         "--report", tmp_path / "r.html", "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(2.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert json.loads(out)["stopped"] == "interrupted" and b"interrupted" in err
    assert len((tmp_path / "l.csv").read_text().splitlines()) == 4001
    assert sorted(path.name for path in tmp_path.iterdir()) == ["l.csv", "m.safetensors", "r.html"]
    run("predict", tmp_path / "m.safetensors", long_points)


def test_interrupt_before_any_result_writes_nothing(tmp_path):
    process = subprocess.Popen([COMMAND, "fit", "kmeans", "-", "--labels-out", str(tmp_path / "l.csv"), "--json"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=default_interrupt)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)
    assert process.returncode == 130
    assert process.stdout.read() == b"" and b"interrupted" in process.stderr.read()
    process.stdin.close()
    assert list(tmp_path.iterdir()) == []


def test_interrupt_of_max_margin(tmp_path):
    figure = tmp_path / "margins.svg"
    process = subprocess.Popen([COMMAND, "reproduce", "max-margin", "--figure", str(figure)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, preexec_fn=default_interrupt)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and out == b"" and b"interrupted during fits" in err and not figure.exists()


def test_interrupted_tune_reports_what_it_found(long_points, tmp_path):
    # A cell that ends and one that does not.
    words = ["tune", "kmeans", long_points, "--grid", "restarts=1,1000000", "-k", "20", "--tolerance", "0", "--labels-out",
             tmp_path / "l.csv", "--json"]
    process = subprocess.Popen([COMMAND, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=default_interrupt)
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    value = json.loads(out)
    assert value["interrupted"] and len(value["cells"]) == 1 and value["cells_asked"] == 2 and value["best"] == 0 and "fit" not in value
    assert b"interrupted after 1 of 2 cells" in err and list(tmp_path.iterdir()) == []


def on_terminal(words, seconds, env=None):
    parent, child = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", **(env or {})}
    process = subprocess.Popen([COMMAND, *map(str, words)], stdout=subprocess.PIPE, stderr=child, env=environment, preexec_fn=default_interrupt)
    os.close(child)
    seen = b""
    end = time.time() + seconds
    while time.time() < end:
        if select.select([parent], [], [], 0.1)[0]:
            try:
                piece = os.read(parent, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        while select.select([parent], [], [], 5)[0]:
            try:
                piece = os.read(parent, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
    process.communicate(timeout=60)
    os.close(parent)
    return process.returncode, seen.decode()


def test_progress_bar_on_a_terminal_only(long_points):
    code, seen = on_terminal(["fit", "kmeans", long_points, *LONG], 2)
    assert code == 130 and "%" in seen and "[" in seen and "\r" in seen and "iteration" in seen
    code, seen = on_terminal(["fit", "kmeans", long_points, *LONG, "--quiet"], 1)
    assert code == 130 and "%" not in seen
    process = start_long(long_points, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert b"%" not in err and b"\r" not in err and b"\033" not in err


def test_no_color():
    words = ["fit", "nothing"]
    assert "\033[" in on_terminal(words, 2, {"NO_COLOR": ""})[1]
    code, seen = on_terminal(words, 2, {"NO_COLOR": "1"})
    assert code == 2 and "\033" not in seen and "coterie:" in seen
    assert "\033" not in on_terminal(words, 2, {"TERM": "dumb", "NO_COLOR": ""})[1]


def test_a_reader_that_goes_away_is_harmless(files, tmp_path):
    done = subprocess.run(["bash", "-c", f"'{COMMAND}' fit kmeans --help | true; echo ${{PIPESTATUS[0]}}"], capture_output=True)
    assert done.stdout.split()[-1] == b"0" and done.stderr == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_is_said(files):
    with open("/dev/full", "w") as full:
        done = subprocess.run([COMMAND, "methods"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1 and b"standard output" in done.stderr


# ---------------------------------------------------------------- what cannot work, and says so

FIT = ["fit", "kmeans"]
TUNE = ["tune", "kmeans", "{}/points.csv"]
KNOWN = ["{}/points.csv", "-k", "3", "--partial-labels", "{}/partial.csv"]
# name: words ({} is the folder of inputs), exit code, what the message must hold
BAD = {
    "truncated npy": ([*FIT, "{}/truncated.npy", "-k", "3"], 3, ["truncated.npy"]),
    "lying npy header": ([*FIT, "{}/lying.npy", "-k", "3"], 3, ["lying.npy"]),
    "npy that is none": ([*FIT, "{}/noise.npy", "-k", "3"], 3, ["noise.npy"]),
    "npy of one number": ([*FIT, "{}/number.npy", "-k", "3"], 3, ["number.npy"]),
    "npy of complex numbers": ([*FIT, "{}/complex.npy", "-k", "3"], 3, ["complex.npy"]),
    "npy with NaN": ([*FIT, "{}/nan.npy", "-k", "3"], 3, ["nan.npy", "row 8", "column 2"]),
    "ragged csv": ([*FIT, "{}/ragged.csv", "-k", "2"], 3, ["ragged.csv", "3"]),
    "text in a number": ([*FIT, "{}/word.csv", "-k", "2"], 3, ["word.csv", "oak"]),
    "blank field": ([*FIT, "{}/blank-field.csv", "-k", "2"], 3, ["blank-field.csv", "2"]),
    "empty file": ([*FIT, "{}/empty.csv", "-k", "2"], 3, ["empty.csv"]),
    "header only": ([*FIT, "{}/header-only.csv", "-k", "2"], 3, ["header-only.csv"]),
    "empty standard input": ([*FIT, "-", "-k", "2"], 3, ["standard input"]),
    "NaN": ([*FIT, "{}/nan.csv", "-k", "2"], 3, ["nan.csv", "2"]),
    "infinity": ([*FIT, "{}/inf.csv", "-k", "2"], 3, ["inf.csv", "3"]),
    "1e30 in float32": ([*FIT, "{}/big.csv", "-k", "2", "--precision", "float32"], 3, ["e+30", "float32"]),
    "more clusters than points": ([*FIT, "{}/two-columns.csv", "-k", "4"], 2, ["4", "3"]),
    "k 0": ([*FIT, "{}/points.csv", "-k", "0"], 2, ["--clusters", "0", "at least 1"]),
    "k -1": ([*FIT, "{}/points.csv", "-k", "-1"], 2, ["--clusters", "-1", "at least 0"]),
    "k abc": ([*FIT, "{}/points.csv", "-k", "abc"], 2, ["--clusters", "abc", "whole number"]),
    "k 2.5": ([*FIT, "{}/points.csv", "-k2.5"], 2, ["--clusters", "2.5"]),
    "k too large for any machine": ([*FIT, "{}/points.csv", "-k", "99999999999999999999"], 2, ["--clusters"]),
    "k without a value": ([*FIT, "{}/points.csv", "-k"], 2, ["-k", "needs a value"]),
    "negative tolerance": ([*FIT, "{}/points.csv", "--tolerance", "-1"], 2, ["--tolerance", "-1", "at least 0"]),
    "tolerance nan": ([*FIT, "{}/points.csv", "--tolerance", "nan"], 2, ["--tolerance", "nan"]),
    "threads 0": ([*FIT, "{}/points.csv", "--threads", "0"], 2, ["--threads", "0", "from 1"]),
    "seed x": ([*FIT, "{}/points.csv", "--seed", "x"], 2, ["--seed", "x", "whole number"]),
    "seed -1": ([*FIT, "{}/points.csv", "--seed", "-1"], 2, ["--seed", "-1"]),
    "unknown scale": ([*FIT, "{}/points.csv", "--scale", "sideways"], 2, ["--scale", "sideways", "zscore"]),
    "unknown seeding": ([*FIT, "{}/points.csv", "--seeding", "magic"], 2, ["--seeding", "magic", "kmeans++"]),
    "unknown precision": ([*FIT, "{}/points.csv", "--precision", "float128"], 2, ["--precision", "float128", "float64"]),
    "cuda": ([*FIT, "{}/points.csv", "--device", "cuda"], 2, ["--device", "cuda", "kmeans"]),
    "unknown option": ([*FIT, "{}/points.csv", "--max-iteration", "3"], 2, ["--max-iteration", "did you mean --max-iterations"]),
    "unknown letter": ([*FIT, "{}/points.csv", "-q"], 2, ["-q"]),
    "one dash": ([*FIT, "{}/points.csv", "-seed", "1"], 2, ["-seed", "did you mean --seed"]),
    "option twice": ([*FIT, "{}/points.csv", "-k", "3", "--clusters", "4"], 2, ["--clusters", "twice"]),
    "flag twice": ([*FIT, "{}/points.csv", "--json", "--json"], 2, ["--json", "twice"]),
    "empty value": ([*FIT, "{}/points.csv", "--truth="], 2, ["--truth", "empty"]),
    "value forgotten": ([*FIT, "{}/points.csv", "--labels-out", "--json"], 2, ["--labels-out", "needs a value"]),
    "one word too many": ([*FIT, "{}/points.csv", "{}/points.csv"], 2, ["too many"]),
    "points missing": ([*FIT, "-k", "3"], 2, ["POINTS"]),
    "no method": (["fit"], 2, ["METHOD", "kmeans"]),
    "unknown method": (["fit", "kmens", "{}/points.csv"], 2, ["kmens", "did you mean kmeans"]),
    "unknown command": (["fitt", "kmeans"], 2, ["fitt", "did you mean fit"]),
    "no command": ([], 2, ["COMMAND"]),
    "unknown data set": ([*FIT, "data:digts"], 2, ["digts", "did you mean data:digits"]),
    "unknown data set to show": (["data", "show", "digts"], 2, ["digts", "did you mean digits"]),
    "unknown shell": (["completion", "fish"], 2, ["fish", "bash"]),
    "unknown extension": ([*FIT, "{}/points.parquet", "-k", "3"], None, ["points.parquet", "npy"]),
    "missing file": ([*FIT, "{}/nowhere.csv", "-k", "3"], None, ["nowhere.csv"]),
    "folder as file": ([*FIT, "{}", "-k", "3"], None, ["files"]),
    "truncated gz": ([*FIT, "{}/truncated.csv.gz", "-k", "3"], 3, ["truncated.csv.gz"]),
    "missing npz key": ([*FIT, "{}/two.npz:c", "-k", "3"], 3, ["two.npz", "c", "a"]),
    "npz of two without key": ([*FIT, "{}/two.npz", "-k", "3"], 3, ["two.npz", "a", "b"]),
    "npz that is none": ([*FIT, "{}/not.npz", "-k", "3"], 3, ["not.npz"]),
    "hdf5 that is none": ([*FIT, "{}/not.h5:/points", "-k", "3"], 3, ["not.h5"]),
    "mat that is none": ([*FIT, "{}/not.mat", "-k", "3"], 3, ["not.mat"]),
    "weights of another length": ([*FIT, "{}/points.csv", "-k", "3", "--weights", "{}/weights-short.csv"], 2, ["weights", "3", "300"]),
    "negative weight": ([*FIT, "{}/points.csv", "-k", "3", "--weights", "{}/weights-negative.csv"], 2, ["weights", "299", "-1"]),
    "NaN weight": ([*FIT, "{}/points.csv", "-k", "3", "--weights", "{}/weights-nan.csv"], 3, ["weights-nan.csv"]),
    "all weights 0": ([*FIT, "{}/points.csv", "-k", "3", "--weights", "{}/weights-zero.csv"], 2, ["weights", "0"]),
    "centroids of another width": ([*FIT, "{}/points.csv", "-k", "3", "--initial-centroids", "{}/centroids-narrow.csv"], 2,
                                   ["centroids", "2", "3"]),
    "too few centroids": ([*FIT, "{}/points.csv", "-k", "3", "--initial-centroids", "{}/centroids-few.csv"], 2, ["centroids", "2", "3"]),
    "truth of another length": ([*FIT, "{}/points.csv", "-k", "3", "--truth", "{}/truth-short.csv"], 3, ["truth-short.csv", "3", "300"]),
    "blank truth": ([*FIT, "{}/points.csv", "-k", "3", "--truth", "{}/truth-blank.csv"], 3, ["truth-blank.csv"]),
    "missing truth": ([*FIT, "{}/points.csv", "-k", "3", "--truth", "{}/nowhere.csv"], None, ["nowhere.csv"]),
    "truth column without truth": ([*FIT, "{}/points.csv", "-k", "3", "--truth-column", "x"], 2, ["--truth-column"]),
    "partial labels of another length": ([*FIT, "{}/points.csv", "-k", "3", "--partial-labels", "{}/partial-short.csv"], 3,
                                         ["--partial-labels", "partial-short.csv", "3", "300"]),
    "blank partial labels": ([*FIT, "{}/points.csv", "-k", "3", "--partial-labels", "{}/partial-blank.csv"], 3, ["--partial-labels", "blank"]),
    "missing partial labels": ([*FIT, "{}/points.csv", "-k", "3", "--partial-labels", "{}/nowhere.csv"], None, ["nowhere.csv"]),
    "partial labels of two columns": ([*FIT, "{}/points.csv", "-k", "3", "--partial-labels", "{}/partial-of-two.csv"], None, ["partial-of-two.csv"]),
    "partial labels' column not there": ([*FIT, *KNOWN, "--partial-labels-column", "oak"], None, ["oak"]),
    "partial labels' column without them": ([*FIT, "{}/points.csv", "--partial-labels-column", "x"], 2, ["--partial-labels-column", "needs"]),
    "partial labels of a method that takes none": (["fit", "ward", "{}/points.csv", "--partial-labels", "{}/partial.csv"], 2,
                                                   ["--partial-labels", "ward"]),
    "sizes of a method that takes none": (["fit", "ward", "{}/points.csv", "--sizes", "3:"], 2, ["--sizes", "ward"]),
    "output over partial labels": ([*FIT, *KNOWN, "--labels-out", "{}/partial.csv"], 2, ["--labels-out", "partial.csv"]),
    "share without partial labels": ([*FIT, "{}/points.csv", "--group-share", "ash=0.5"], 2, ["--group-share", "needs --partial-labels FILE"]),
    "clusters of a label without partial labels": ([*FIT, "{}/points.csv", "--clusters-per-label", "ash=2"], 2,
                                                   ["--clusters-per-label", "needs --partial-labels FILE"]),
    "share without a label": ([*FIT, *KNOWN, "--group-share", "0.5"], 2, ["--group-share", "0.5", "LABEL=SHARE"]),
    "share of an empty label": ([*FIT, *KNOWN, "--group-share", "=0.5"], 2, ["--group-share", "=0.5", "LABEL=SHARE"]),
    "share without a number": ([*FIT, *KNOWN, "--group-share", "ash="], 2, ["--group-share", "ash=", "LABEL=SHARE"]),
    "share without ends": ([*FIT, *KNOWN, "--group-share", "ash=:"], 2, ["--group-share", "ash=:", "LOW:HIGH"]),
    "share with three ends": ([*FIT, *KNOWN, "--group-share", "ash=0.1:0.2:0.3"], 2, ["--group-share", "ash=0.1:0.2:0.3", "LOW:HIGH"]),
    "share that is a word": ([*FIT, *KNOWN, "--group-share", "ash=half"], 2, ["--group-share", "half"]),
    "share nan": ([*FIT, *KNOWN, "--group-share", "ash=nan"], 2, ["--group-share", "nan"]),
    "share with a comma too many": ([*FIT, *KNOWN, "--group-share", "ash=0.5,"], 2, ["--group-share", "ash=0.5,"]),
    "share above 1": ([*FIT, *KNOWN, "--group-share", "ash=1.5"], 2, ["--group-share", "ash", "1.5"]),
    "share below 0": ([*FIT, *KNOWN, "--group-share", "ash=-0.5"], 2, ["--group-share", "ash", "-0.5"]),
    "share of ends that cross": ([*FIT, *KNOWN, "--group-share", "ash=0.6:0.4"], 2, ["--group-share", "ash", "0.6", "0.4"]),
    "share of an unknown label": ([*FIT, *KNOWN, "--group-share", "asj=0.5"], 2, ["--group-share", "asj", "ash"]),
    "share twice": ([*FIT, *KNOWN, "--group-share", "ash=0.5", "--group-share", "ash=0.4"], 2, ["--group-share", "ash", "twice"]),
    "share below what is labelled": ([*FIT, *KNOWN, "--group-share", "ash=0.01"], 2, ["--group-share", "ash", "0.01"]),
    "shares above 1 together": ([*FIT, *KNOWN, "--group-share", "ash=0.6,birch=0.6"], 2, ["--group-share"]),
    "clusters of a label that are no number": ([*FIT, *KNOWN, "--clusters-per-label", "ash=two"], 2, ["--clusters-per-label", "ash=two", "LABEL=N"]),
    "half a cluster for a label": ([*FIT, *KNOWN, "--clusters-per-label", "ash=1.5"], 2, ["--clusters-per-label", "ash=1.5", "LABEL=N"]),
    "no cluster for a label": ([*FIT, *KNOWN, "--clusters-per-label", "ash=0"], 2, ["--clusters-per-label", "ash", "0"]),
    "clusters of an unknown label": ([*FIT, *KNOWN, "--clusters-per-label", "oak=1"], 2, ["--clusters-per-label", "oak", "ash"]),
    "clusters of a label twice": ([*FIT, *KNOWN, "--clusters-per-label", "ash=1,ash=1"], 2, ["--clusters-per-label", "ash", "twice"]),
    "more clusters of labels than clusters": ([*FIT, *KNOWN, "--clusters-per-label", "ash=2"], 2, ["3", "4"]),
    "sizes without ends": ([*FIT, "{}/points.csv", "--sizes", ":"], 2, ["--sizes", "LOW:HIGH"]),
    "sizes that are a word": ([*FIT, "{}/points.csv", "--sizes", "large"], 2, ["--sizes", "large", "LOW:HIGH"]),
    "half a size": ([*FIT, "{}/points.csv", "--sizes", "1.5:"], 2, ["--sizes", "1.5", "LOW:HIGH"]),
    "sizes with three ends": ([*FIT, "{}/points.csv", "--sizes", "1:2:3"], 2, ["--sizes", "1:2:3", "LOW:HIGH"]),
    "sizes twice": ([*FIT, "{}/points.csv", "--sizes", "1:", "--sizes", "2:"], 2, ["--sizes", "twice"]),
    "negative size": ([*FIT, "{}/points.csv", "-k", "3", "--sizes=-3:"], 2, ["--sizes", "-3"]),
    "sizes of ends that cross": ([*FIT, "{}/points.csv", "-k", "3", "--sizes", "90:80"], 2, ["--sizes", "90", "80"]),
    "sizes that are too large": ([*FIT, "{}/points.csv", "-k", "3", "--sizes", "101:"], 2, ["--sizes", "101", "300"]),
    "sizes that are too small": ([*FIT, "{}/points.csv", "-k", "3", "--sizes", ":99"], 2, ["--sizes", "99", "300"]),
    "sizes and shares together": ([*FIT, *KNOWN, "--group-share", "ash=0.5", "--sizes", "3:"], 2, ["--sizes", "--group-share"]),
    "scores of a model without": (["predict", "{}/model.safetensors", "{}/points.csv", "--scores-out", "OUT/s.csv"], 2,
                                  ["--scores-out", "model.safetensors"]),
    "scores of unknown extension": (["predict", "{}/model.safetensors", "{}/points.csv", "--scores-out", "OUT/s.txt"], 2, ["--scores-out", ".npy"]),
    "grid missing": ([*TUNE, "-k", "3"], 2, ["--grid OPTION=VALUES", "clusters=2:10"]),
    "grid without values": ([*TUNE, "--grid", "clusters"], 2, ["--grid", "clusters", "OPTION=LOW:HIGH"]),
    "empty grid": ([*TUNE, "--grid", "clusters="], 2, ["--grid", "empty", "OPTION=LOW:HIGH"]),
    "grid of an unknown option": ([*TUNE, "--grid", "cluster=2:3"], 2, ["cluster", "nearest first) clusters"]),
    "grid out of range": ([*TUNE, "--grid", "k=-1:3"], 2, ["--clusters", "-1", "at least 0"]),
    "grid of words": ([*TUNE, "--grid", "k=two"], 2, ["--clusters", "two", "whole number"]),
    "grid of an unknown choice": ([*TUNE, "--grid", "algorithm=magic"], 2, ["--algorithm", "magic", "lloyd"]),
    "grid whose ends cross": ([*TUNE, "--grid", "k=5:2"], 2, ["--grid", "5:2"]),
    "grid from 0 in decades": ([*TUNE, "--grid", "tolerance=0:1:log"], 2, ["--grid", "above 0"]),
    "grid and option": ([*TUNE, "-k", "3", "--grid", "clusters=2:3"], 2, ["--clusters", "on the grid"]),
    "grid twice": ([*TUNE, "--grid", "k=3", "--grid", "clusters=2:3"], 2, ["clusters", "twice"]),
    "too many cells": ([*TUNE, "--grid", "k=1:1000", "--grid", "restarts=1:1000"], 2, ["100000"]),
    "too many values": ([*TUNE, "--grid", "k=1:1e9"], 2, ["100000"]),
    "one fold": ([*TUNE, "--grid", "k=2:3", "--folds", "1"], 2, ["--folds", "1", "from 2"]),
    "more folds than points": ([*TUNE, "--grid", "k=2:3", "--folds", "301"], 2, ["--folds", "301", "300"]),
    "unknown criterion": ([*TUNE, "--grid", "k=2:3", "--select", "luck"], 2, ["--select", "luck", "silhouette"]),
    "oracle without a truth": ([*TUNE, "--grid", "k=2:3", "--select", "nmi"], 2, ["--select", "nmi", "truth"]),
    "k-means beside itself": ([*TUNE, "--grid", "k=2:3", "--select", "knncut", "--with-kmeans"], 2, ["--with-kmeans"]),
    "k-means by silhouette": (["tune", "ward", "{}/points.csv", "--grid", "k=2:3", "--with-kmeans"], 2, ["--with-kmeans", "knncut"]),
    "every cell refused": ([*TUNE, "--grid", "k=301:303", "--labels-out", "OUT/l.csv"], 2, ["301", "300"]),
    "tune of an unknown method": (["tune", "kmens", "{}/points.csv"], 2, ["kmens", "did you mean kmeans"]),
    "tune without points": (["tune", "kmeans", "--grid", "k=2:3"], 2, ["POINTS"]),
    "tune of NaN": (["tune", "kmeans", "{}/nan.npy", "--grid", "k=2:3"], 3, ["nan.npy", "row 8"]),
    "tune's output over input": ([*TUNE, "--grid", "k=2:3", "--labels-out", "{}/points.csv"], 2, ["--labels-out", "points.csv"]),
    "label column not there": ([*FIT, "{}/points.csv", "-k", "3", "--label-column", "tree"], None, ["tree"]),
    "label column out of range": ([*FIT, "{}/points.csv", "-k", "3", "--label-column", "9"], None, ["9"]),
    "column not there": ([*FIT, "{}/points.csv", "-k", "3", "--columns", "x,w"], None, ["w"]),
    "empty entry in columns": ([*FIT, "{}/points.csv", "-k", "3", "--columns", "x,,y"], 2, ["--columns"]),
    "folder of output missing": ([*FIT, "{}/points.csv", "-k", "3", "--labels-out", "OUT/no/such/l.csv"], 1, ["--labels-out", "no/such"]),
    "output is a folder": ([*FIT, "{}/points.csv", "-k", "3", "--model-out", "{}"], 1, ["--model-out", "folder"]),
    "output of unknown extension": ([*FIT, "{}/points.csv", "-k", "3", "--labels-out", "OUT/l.xlsx"], 2, ["--labels-out", ".npy"]),
    "picture that is no svg": ([*FIT, "{}/points.csv", "-k", "3", "--picture", "OUT/p.png"], 2, ["--picture", ".svg"]),
    "report that is no html": ([*FIT, "{}/points.csv", "-k", "3", "--report", "OUT/p.pdf"], 2, ["--report", ".html"]),
    "output over input": ([*FIT, "{}/points.csv", "-k", "3", "--labels-out", "{}/points.csv"], 2, ["--labels-out", "points.csv"]),
    "two outputs in one file": ([*FIT, "{}/points.csv", "--labels-out", "OUT/a.csv", "--model-out", "OUT/a.csv"], 2, ["same file"]),
    "labels and json to one stream": ([*FIT, "{}/points.csv", "--labels-out", "-", "--json"], 2, ["--json"]),
    "wrong dimension on predict": (["predict", "{}/model.safetensors", "{}/two-columns.csv"], 2, ["2 columns", "3"]),
    "model with a flipped byte": (["predict", "{}/flipped.safetensors", "{}/points.csv"], 3, ["flipped.safetensors"]),
    "model with a flipped header": (["predict", "{}/flipped-header.safetensors", "{}/points.csv"], 3, ["flipped-header.safetensors"]),
    "truncated model": (["predict", "{}/short.safetensors", "{}/points.csv"], 3, ["short.safetensors"]),
    "model of five bytes": (["info", "{}/tiny.safetensors"], 3, ["tiny.safetensors"]),
    "text as model": (["info", "{}/text.safetensors"], 3, ["text.safetensors"]),
    "points as model": (["predict", "{}/points.npy", "{}/points.csv"], 3, ["points.npy"]),
    "model of another version": (["predict", "{}/version.safetensors", "{}/points.csv"], 3, ["version.safetensors", "999"]),
    "model of an unknown method": (["predict", "{}/method.safetensors", "{}/points.csv"], 3, ["method.safetensors"]),
    "missing model": (["predict", "{}/nowhere.safetensors", "{}/points.csv"], None, ["nowhere.safetensors"]),
    "NaN on predict": (["predict", "{}/model.safetensors", "{}/nan.npy"], 3, ["row 8"]),
    "labels of another length": (["evaluate", "{}/truth-short.csv", "{}/truth.csv"], 3, ["truth-short.csv", "3", "300"]),
    "labels missing": (["evaluate", "{}/nowhere.csv", "{}/truth.csv"], None, ["nowhere.csv"]),
    "data that is not here": (["fit", "kmeans", "data:fashion-mnist"], 3, ["fashion-mnist"]),
    "unreachable mirror": (["data", "get", "ecoli", "--folder", "OUT/data", "--base-url", "http://127.0.0.1:9/"], 1, ["127.0.0.1"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(files, tmp_path, name):
    words, code, needed = BAD[name]
    words = [word.replace("{}", str(files)).replace("OUT", str(tmp_path)) for word in words]
    if words[:1] == ["fit"] and len(words) > 2 and "--labels-out" not in words and code != 2:
        words += ["--labels-out", str(tmp_path / "l.csv"), "--model-out", str(tmp_path / "m.safetensors")] if "--model-out" not in words else []
    before = {path.name for path in files.iterdir()}
    environment = {**os.environ, "COTERIE_DATA": str(tmp_path / "none"), "XDG_CACHE_HOME": str(tmp_path / "none")}
    done = subprocess.run([COMMAND, *words], input=b"", capture_output=True, env=environment, timeout=120)
    err = done.stderr.decode()
    # None: wrong file or column names may be counted as usage or as data; both tell the user where to look.
    assert done.returncode == code if code is not None else done.returncode in (2, 3), (done.returncode, err)
    assert err.startswith("coterie: "), err
    for text in needed:
        assert text in err, (text, err)
    assert not re.search(r"terminate|assert|traceback|runtime error|sanitizer|please report", err, re.IGNORECASE), err
    assert len(err.splitlines()) <= 2 and done.stdout == b"", err
    assert {path.name for path in files.iterdir()} == before
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert left == [], left


def test_missing_dataset_of_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "some.h5", "w") as file:
        file["points"] = np.zeros((4, 2))
    err = run("fit", "kmeans", f"{tmp_path}/some.h5:/nothing", "-k", 2, code=3).err
    assert "some.h5" in err and "nothing" in err


def test_table_of_bad_input_is_long_enough():
    assert len(BAD) >= 40


# ---- geometry

def curves(path):
    """A circle of radius 1 around 0 beside one of radius 6 around (9, 0), and a row without a label."""
    angle = 2 * np.pi * np.arange(60) / 60
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    rows = [[*place, name] for pair in zip(circle, 6 * circle + [9, 0]) for place, name in zip(pair, ["small", "large"])]
    write_csv(path / "curves.csv", rows, ["x", "y", "curve"])
    return np.array([row[:2] for row in rows], dtype=float)


def test_geometry_against_plain_computations(tmp_path):
    points = curves(tmp_path)
    words = ["geometry", tmp_path / "curves.csv", "--label-column", "curve", "--dim", 1, "--unit", "lambda-l", "--multiple", 5]
    result = document(*words, "--only", "small", "--curvature", 1, "--rows-out", tmp_path / "rows.csv")
    assert (result["n"], result["d"], result["classes"], result["looked_at"]) == (120, 2, 2, 60)
    assert [row["row"] for row in result["rows"]] == list(range(1, 121, 2))
    homogenised = np.column_stack([points, np.ones(120)])
    inside = []
    for row in result["rows"]:
        i = row["row"] - 1
        y = homogenised[i]
        distance = np.linalg.norm(points - points[i], axis=1)
        weights = distance / distance.sum()
        near = [(i - 2) % 120, (i + 2) % 120]
        assert sorted(j - 1 for j in row["neighbors"]) == sorted(near)
        assert row["radius"] == pytest.approx(distance[near].max(), rel=1e-9)
        generators = homogenised[near] / weights[near, None]
        inverse = np.linalg.inv(generators @ generators.T)
        inradius = 1 / np.sqrt(max(np.array(s) @ inverse @ s for s in [(1, 1), (1, -1)]))
        assert row["r_W"] == pytest.approx(inradius, rel=1e-7)
        chord = points[near[1]] - points[near[0]]
        gap = points[i] - points[near[0]]
        dist = np.linalg.norm(gap - chord * (gap @ chord) / (chord @ chord))
        assert row["dist"] == pytest.approx(dist, rel=1e-9)
        assert row["dist"] <= row["dist_bound"] == pytest.approx(1 - np.sqrt(1 - row["radius"] ** 2), rel=1e-6)
        assert row["lambda_l"] == pytest.approx(1 / (inradius * (np.linalg.norm(y) - dist)), rel=1e-7)
        assert row["lambda"] == pytest.approx(5 * row["lambda_l"], rel=1e-12)
        assert row["lambda_u"] == pytest.approx(row["gamma_W"] / (inradius * dist), rel=1e-6)
        assert row["inside"] == (row["lambda_l"] < row["lambda"] < row["lambda_u"])
        assert row["guaranteed"] == (row["inside"] and row["own_reach"] <= 1)
        assert not row["guaranteed"] or row["preserving"] and row["nonzero"]
        inside.append(row["inside"])
    assert 0 < sum(inside) < 60
    assert result["shares"]["inside"] == pytest.approx(np.mean(inside))
    for name, spread in result["quantities"].items():
        values = sorted(row[name] for row in result["rows"])
        assert [spread["least"], spread["median"], spread["largest"]] == [values[0], values[29], values[59]], name
    with open(tmp_path / "rows.csv", newline="") as file:
        table = list(csv.DictReader(file))
    assert len(table) == 60
    for row, line in zip(result["rows"], table):
        assert line["label"] == "small" and int(line["row"]) == row["row"]
        assert float(line["lambda_u"]) == row["lambda_u"] and line["inside"] == str(int(row["inside"]))
    one = run(*words, "--threads", 1).out
    assert one == run(*words, "--threads", 8).out
    assert "120 of 120 points" in one and "lambda_u" in one


def test_geometry_takes_labels_from_anywhere(tmp_path):
    points = curves(tmp_path)
    plain = tmp_path / "points.csv"
    write_csv(plain, points.tolist())
    labels = ["a", "b"] * 60
    labels[5] = ""
    write_csv(tmp_path / "labels.csv", [[label] for label in labels], ["label"])
    words = ["geometry", plain, "--labels", tmp_path / "labels.csv", "--dim", 1]
    result = document(*words, "--lambda", 0.01)
    assert result["n"] == 119 and 6 not in [row["row"] for row in result["rows"]]
    assert all(row["lambda"] == 0.01 for row in result["rows"])
    assert "1 of 120 rows have no label" in run(*words).err
    assert run(*words, "--quiet").err == ""
    # Found labels serve as well.
    run("fit", "kmeans", plain, "-k", 2, "--labels-out", tmp_path / "found.csv")
    assert document("geometry", plain, "--labels", tmp_path / "found.csv", "--dim", 1)["looked_at"] == 120
    assert document("geometry", "data:digits", "--dim", 2, "--only", "3", "--scale", "unit")["looked_at"] == 183
    # y with no point to be told from: no upper end, null in JSON.
    write_csv(tmp_path / "same.csv", [["a"]] * 120, ["label"])
    alone = document("geometry", plain, "--labels", tmp_path / "same.csv", "--dim", 1)
    assert all(row["lambda_u"] is None and row["preserving"] for row in alone["rows"])


@pytest.mark.parametrize("words, code, parts", [
    ([], 2, ["--dim"]),
    (["--dim", "0"], 2, ["--dim", "from 1 to 20"]),
    (["--dim", "1", "--lambda", "3", "--multiple", "2"], 2, ["--lambda", "--multiple"]),
    (["--dim", "1", "--lambda", "3", "--unit", "lambda-l"], 2, ["--lambda", "--unit"]),
    (["--dim", "1", "--lambda", "-3"], 2, ["--lambda", "-3"]),
    (["--dim", "1", "--reach", "3"], 2, ["--reach", "--curvature"]),
    (["--dim", "2", "--curvature", "3"], 2, ["curvature", "dim 2"]),
    (["--dim", "1", "--only", "oak"], 2, ["--only", "oak", "small"]),
    (["--dim", "1", "--unit", "lambda"], 2, ["--unit", "lambda-0"]),
    (["--dim", "1", "--labels-column", "x"], 2, ["--labels-column", "--labels FILE"]),
    (["--dim", "1", "--rows-out", "rows.svg"], 2, ["--rows-out", ".csv"]),
    (["--dim", "1", "--rows-out", "-", "--json"], 2, ["--rows-out", "--json"]),
    (["--dim", "1", "--labels", "data:digits"], 3, ["data:digits", "1797", "120"]),
    (["--dim", "1", "--weights", "exponential", "--eta", "-1"], 2, ["--eta", "-1"]),
])
def test_geometry_refuses(tmp_path, words, code, parts):
    curves(tmp_path)
    error = run("geometry", tmp_path / "curves.csv", "--label-column", "curve", *words, code=code, cwd=tmp_path).err
    for part in parts:
        assert part in error


def test_geometry_needs_labels_and_enough_points(tmp_path):
    write_csv(tmp_path / "points.csv", [[0, 0], [1, 0], [2, 1], [5, 5]])
    assert "--labels FILE" in run("geometry", tmp_path / "points.csv", "--dim", 1, code=2).err
    write_csv(tmp_path / "labels.csv", [["a"], ["a"], ["a"], ["b"]], ["label"])
    words = ["geometry", tmp_path / "points.csv", "--labels", tmp_path / "labels.csv", "--dim", 1]
    error = run(*words, code=3).err
    assert "label 'b' has 1 point," in error and "needs 3" in error
    assert document(*words, "--only", "a")["looked_at"] == 3


# ---- reproduce

def test_reproduce_scores_the_published_tables_as_they_were_printed():
    text = run("reproduce", "cpd-uml", "--published").out
    tables = text.split("\n\n")
    # The scores of every cell, and the totals, as the paper printed them.
    accuracy = {"K-means": [2.5, 3.5, 0, 4.5, 6, 3, 19.5], "AML": [1.5, 4.5, 1.5, 0, 6, 4, 17.5],
                "RPCA-OM": [3.5, 6, 1.5, 5, 6, 3.5, 25.5], "FME": [1.5, 4.5, 4.5, 8, 6, 6, 30.5],
                "CPD-UML": [8.5, 8, 3, 4, 5.5, 4.5, 33.5], "Kernel K-means": [4, 1, 6, 1.5, 3, .5, 16],
                "NAML": [4, 1, 7, 3.5, .5, .5, 16.5], "r-RPCA-OM": [6.5, 1, 4.5, 2.5, 2, 7.5, 24],
                "r-FME": [5, 6.5, 8.5, 8, 1, 7.5, 36.5], "r-CPD-UML": [8, 9, 8.5, 8, 9, 8, 50.5]}
    nmi = {"K-means": [2.5, 1, 5.5, 4, 7.5, 3, 23.5], "AML": [1.5, 1.5, 8.5, 3, 7.5, 3.5, 25.5],
           "RPCA-OM": [3.5, 5.5, 7.5, 6, 4, 2.5, 29], "FME": [1.5, 3, 8, 8, 7.5, 6, 34],
           "CPD-UML": [8.5, 8, 5.5, 4, 2, 2.5, 30.5], "Kernel K-means": [4, 3.5, 3, 0, 4, 1.5, 16],
           "NAML": [4, 3.5, 0, 3, 1.5, 2.5, 14.5], "r-RPCA-OM": [6.5, 3.5, 1, 3.5, 0, 8, 22.5],
           "r-FME": [5, 6.5, 2, 8.5, 3.5, 8, 33.5], "r-CPD-UML": [8, 9, 4, 5, 7.5, 7.5, 41]}
    purity = {"K-means": [4.5, 4, 7.5, 3.5, 25.5], "AML": [4.5, 2.5, 7.5, 4.5, 25], "RPCA-OM": [7, 5, 2.5, 3.5, 27.5],
              "FME": [7, 8, 7, 7, 35], "CPD-UML": [4.5, 3.5, 3.5, 3.5, 31.5], "Kernel K-means": [1, 0, 4, .5, 10.5],
              "NAML": [1, 3, 1, .5, 10.5], "r-RPCA-OM": [1, 3, 0, 7.5, 19], "r-FME": [5.5, 8, 4, 7, 36],
              "r-CPD-UML": [9, 8, 8, 7.5, 49.5]}
    for method, scores in purity.items():  # breast and diabetes as in the first table
        purity[method] = accuracy[method][:2] + scores
    for table, expected in zip(tables, [accuracy, nmi, purity]):
        rows = table.strip("\n").splitlines()[1:]
        assert len(rows) == 10
        for row in rows:
            name = re.match(r"published (.*?)  ", row).group(1)
            cells = [float(x) for x in re.findall(r"\(([0-9.]+)\)", row)] + [float(row.split()[-1])]
            assert cells == expected[name], name


def test_reproduce_refuses():
    assert "'ecolli' is not accepted; there are breast" in run(
        "reproduce", "cpd-uml", "--sets", "ecoli,ecolli", code=2).err
    assert "--runs" in run("reproduce", "cpd-uml", "--runs", "1", code=2).err


def test_reproduce_two_moons(tmp_path):
    figures = [tmp_path / "1.svg", tmp_path / "2.svg"]
    result = document("reproduce", "two-moons", "--seeds", 2, "--figure-1", figures[0], "--figure-2", figures[1])
    assert [level["noise"] for level in result["levels"]] == [0.05, 0.1, 0.12, 0.15]
    ways = {way["name"]: way for way in result["levels"][0]["ways"]}
    assert ways["cpd, the recipe"]["at_least_0.99"] == 2
    assert ways["cpd, chosen by knncut"]["at_least_0.99"] == 2
    assert ways["k-means, 10 restarts"]["at_least_0.99"] == 0
    widths = result["kernel_widths"]
    assert [one["width"] for one in widths] == [4, 8, 16, 32]
    assert widths[-1]["cpd"] > 0.97 > 0.8 > widths[-1]["kernel_kmeans"]
    for figure, panels in zip(figures, [4, 8]):
        text = figure.read_text()
        ElementTree.fromstring(text)
        assert text.count('font-size="13" font-weight="600"') == panels
        assert "nan" not in text
    assert "--figure-1" in run("reproduce", "two-moons", "--figure-1", tmp_path / "1.png", code=2).err


def linked_rings(path, n=120):
    """Two rings, linked as a chain is, and which is which."""
    random = np.random.default_rng(0)
    angle = 2 * np.pi * np.arange(n // 2) / (n // 2)
    flat = np.c_[np.cos(angle), np.sin(angle), 0 * angle]
    upright = np.c_[1 + np.cos(angle), 0 * angle, np.sin(angle)]
    points = np.concatenate([flat, upright]) @ np.linalg.qr(random.normal(size=(12, 3)))[0].T
    np.save(path / "rings.npy", points.astype(np.float32))
    np.save(path / "which.npy", np.repeat([0, 1], n // 2).astype(np.int32))
    return path / "rings.npy", path / "which.npy"


def test_wmc_takes_linked_rings_apart(tmp_path):
    points, truth = linked_rings(tmp_path)
    assert document("fit", "kmeans", points, "--truth", truth, "-k", 2)["scores"]["acc"] < 0.95
    for new_points in ["shares", "embedding"]:
        model = tmp_path / "rings.coterie"
        found = document("fit", "wmc", points, "--truth", truth, "-k", 2, "--normalize", "none", "--new-points", new_points, "--model-out", model)
        assert found["scores"]["acc"] == 1
        details = found["details"]
        assert details["kkt_residual"] <= 1e-5 and details["components"] >= 1
        assert len(details["eigenvalues"]) == 2 and 0 <= details["screened"] <= 1
        assert document("predict", model, points, "--truth", truth)["scores"]["acc"] == 1
    for method in ["ssc", "ensc", "ssc-omp", "smce"]:
        assert document("fit", method, points, "-k", 2)["clusters_found"] == 2


def test_wmc_says_how_pieces_are_joined_and_refuses(tmp_path):
    points, truth = linked_rings(tmp_path)
    np.save(tmp_path / "cloud.npy", np.random.default_rng(1).normal(size=(200, 5)))
    found = document("fit", "wmc", tmp_path / "cloud.npy", "-k", 2, "--lambda", 1.01)
    assert found["details"]["components"] > 2
    assert any("--lambda (1.01)" in warning for warning in found["warnings"])
    assert "NSK" in run("fit", "wmc", points, "--affinity", "KKS", code=2).err
    assert "--weighting" in run("fit", "wmc", points, "--weighting", "cubic", code=2).err
    assert "there is no option --weights" in run("fit", "wmc", points, "--weights", truth, code=2).err
    assert "121 clusters asked of 120 points" in run("fit", "smce", points, "-k", 121, code=2).err


def test_reproduce_wmc_cifar(tmp_path):
    assert "96.07  90.54  lambda 50, eta 20, N" in run("reproduce", "wmc-cifar", "--published").out
    assert "CLIP" in run("reproduce", "wmc-cifar", code=2).err
    points, truth = linked_rings(tmp_path)
    result = document("reproduce", "wmc-cifar", "--features", points, "--truth", truth, "--restarts", 2, "--keep", 5)
    methods = {method["name"]: method for method in result["methods"]}
    assert len(methods["L-WMC"]["cells"]) == len(methods["E-WMC"]["cells"]) == 2 * 4 * 15
    assert len(methods["SMCE"]["cells"]) == 3 * 4 * 15
    for name in ["L-WMC", "E-WMC", "SMCE"]:
        assert methods[name]["best"]["scores"]["acc"] == max(cell["acc"] for cell in methods[name]["cells"])
        assert methods[name]["kkt_residual"] <= 1e-5
    assert methods["L-WMC"]["best"]["scores"]["acc"] == 1
    assert "best" not in methods["EnSC"] and methods["EnSC"]["published"]["acc"] == pytest.approx(0.858)
    text = run("reproduce", "wmc-cifar", "--set", "cifar-100", "--features", points, "--truth", truth, "--restarts", 1).out
    assert re.search(r"L-WMC +100.00 +100.00 .* 69.20 +76.49 +lambda 50, eta 20, N", text)


def test_reproduce_max_margin(tmp_path):
    figure = tmp_path / "margins.svg"
    words = ["reproduce", "max-margin", "--sets", 3, "--points", 20, "--starts", 4]
    result = document(*words, "--figure", figure)
    assert [(kind["dimensions"], kind["clusters"]) for kind in result["kinds"]] == [(2, 2), (2, 3), (20, 2), (20, 3)]
    for kind in result["kinds"]:
        assert 1 <= kind["equal_sizes"] <= 3
        assert [rival["name"] for rival in kind["rivals"]] == ["k-means", "soft k-means", "miadm"]
        for rival in kind["rivals"]:  # one that lost a cluster is not counted as beaten
            compared = kind["equal_sizes"] - rival["lost_a_cluster"]
            assert max(rival["margin_at_most_ours"], rival["gap_at_most_ours"], rival["equal_sizes"]) <= compared
        newton = {angle["log10_gamma"]: angle for angle in kind["angles"] if angle["solver"] == "newton"}
        lbfgs = {angle["log10_gamma"]: angle for angle in kind["angles"] if angle["solver"] == "lbfgs"}
        # The limit is approached like the logarithm of gamma, and reached.
        assert newton[-1000]["within_one_degree"] == newton[-1000]["sets"] == kind["equal_sizes"]
        assert newton[-1000]["worst"] < 0.5
        assert newton[-1000]["mean"] < 0.2 * newton[-30]["mean"] < 0.2 * lbfgs[-5]["mean"]
        assert kind["margin_share"]["least"] > 0.6
        assert 0.999 < kind["margin_share_newton"]["mean"] <= 1 + 1e-9
    check = result["cross_check"]
    assert check["entropy_global_margin"] >= check["entropy_local_margin"] > 0
    text = figure.read_text()
    ElementTree.fromstring(text)
    assert text.count('font-size="13" font-weight="600"') == 16
    assert "nan" not in text
    assert "of 3" in run(*words).out
    assert "--figure" in run("reproduce", "max-margin", "--figure", tmp_path / "1.png", code=2).err


def test_reproduce_entropy_em():
    words = ["reproduce", "entropy-em", "--points", 60, "--seconds", 0.02, "--threads", 1]
    result = document(*words)
    assert [(problem["clusters"], problem["lambda"]) for problem in result["problems"]] == [
        (k, weight) for k in (2, 20, 200) for weight in (1, 10, 100)]
    for problem in result["problems"]:
        assert problem["gradient"] <= 1e-10
        solvers = {solver["name"]: solver["reached"] for solver in problem["solvers"]}
        assert all(entry["reached"] for entry in solvers["dual"])
        for reached in solvers.values():
            rounds = [entry["rounds"] for entry in reached if entry["reached"]]
            assert rounds == sorted(rounds)
        # Of its lambda 100, EM is far from the optimum after as many rounds as bring the dual solver there.
        em = [entry for entry in solvers["em"] if entry["reached"] and entry["distance"] == 1e-8]
        assert problem["lambda"] < 100 or not em or em[0]["rounds"] > solvers["dual"][-1]["rounds"]
    assert "published" in run(*words).out
    assert "--seconds" in run("reproduce", "entropy-em", "--seconds", "0", code=2).err


def test_reproduce_label_noise(tmp_path):
    figure = tmp_path / "noise.svg"
    result = document("reproduce", "label-noise", "--set", "digits", "--seeds", 2, "--epochs", 50, "--figure", figure)
    levels = {level["noise"]: level for level in result["levels"]}
    assert levels[0.01]["forward"]["mean"] > 0.9 and levels[0.01]["reverse"]["mean"] > 0.9
    # What Figure 11 says: with most labels wrong, the reverse loss is ahead.
    for noise in (0.6, 0.7):
        assert levels[noise]["reverse"]["mean"] > levels[noise]["forward"]["mean"] + 0.01
    text = figure.read_text()
    ElementTree.fromstring(text)
    assert "reverse" in text and "nan" not in text
    assert "mnist, usps, digits" in run("reproduce", "label-noise", "--set", "cats", code=2).err


def test_reproduce_entropy_linear():
    result = document("reproduce", "entropy-linear", "--sets", "digits", "--seeds", 2, "--tuning-seeds", 1, "--updates", 200)
    methods = {method["name"]: method for method in result["sets"][0]["methods"]}
    assert list(methods) == ["kmeans", "kmeans, 10 restarts", "entropy", "mi", "sela", "miadm", "miadm*"]
    assert len({methods[name]["cells"] for name in list(methods)[2:]}) == 1  # the same effort
    assert methods["entropy"]["acc"]["mean"] > methods["miadm"]["acc"]["mean"] + 0.2
    assert set(methods["entropy"]["chosen"]) == {"label_rounds", "start_scale", "learning_rate", "gamma"}
    assert "mnist" in run("reproduce", "entropy-linear", "--sets", "digits", "--figure", "f.svg", code=2).err
    assert "usps" in run("reproduce", "entropy-linear", "--sets", "digit", code=2).err
    assert "sela" in run("reproduce", "entropy-linear", "--methods", "sella", code=2).err
    assert "entropy" in run("reproduce", "entropy-linear", "--methods", "mi", "--figure", "f.svg", code=2).err
    alone = document("reproduce", "entropy-linear", "--sets", "digits", "--seeds", 2, "--tuning-seeds", 1, "--updates", 200,
                     "--methods", "sela")["sets"][0]["methods"]
    assert [method["name"] for method in alone] == ["sela"] and alone[0]["acc"] == methods["sela"]["acc"]


def test_reproduce_vgg4_mnist(tmp_path):
    if not os.path.exists(os.path.join(os.environ.get("COTERIE_DATA", "/nowhere"), "mnist")):
        pytest.skip("MNIST is not here")
    short("iic")
    result = document("reproduce", "vgg4-mnist", "--points", 40, "--epochs", 1, "--seeds", 2, "--batch-size", 40, "--methods", "miadm,ours")
    assert [method["name"] for method in result["methods"]] == ["miadm", "ours"] and result["n"] == 40
    assert all(len(method["fits"]) == 2 and method["fits"][0]["acc"] > 0.1 for method in result["methods"])
    assert "40 images, 1 epochs, 1 starts" in run("reproduce", "vgg4-mnist", "--points", 40, "--epochs", 1, "--seeds", 1, "--batch-size", 40,
                                                  "--methods", "iic").out
    assert "imsat, iic, sela" in run("reproduce", "vgg4-mnist", "--methods", "cats", code=2).err
    # The fit that is drawn is cut off after every epoch, and is the same fit.
    figure = tmp_path / "epochs.svg"
    fits = [document("reproduce", "vgg4-mnist", "--points", 60, "--epochs", 3, "--seeds", 1, "--batch-size", 30, "--methods", "ours", *drawn)["methods"][0]["fits"][0]
            for drawn in ((), ("--figure", figure))]
    followed = fits[1].pop("acc_per_epoch")
    for fit in fits:
        del fit["seconds_an_epoch"]
    assert fits[0] == fits[1] and len(followed) == len(fits[0]["balance_per_epoch"]) == 3 and followed[-1] == fits[0]["acc"]
    assert figure.read_text().startswith("<svg") and "criterion of an epoch" in figure.read_text()


# ---- transform, deep methods

def test_transform(tmp_path):
    points, truth = blobs(d=4)
    np.save(tmp_path / "x.npy", points)
    model, out = tmp_path / "m.coterie", tmp_path / "z.npy"
    run("fit", "subspace", tmp_path / "x.npy", "-k", 3, "--scale", "zscore", "--model-out", model, "--quiet")
    result = document("transform", model, tmp_path / "x.npy", "--points-out", out)
    moved = np.load(out)
    assert moved.shape == (300, result["dimensions"]) and result["n"] == 300 and result["d"] == 4
    # Clusters that are far apart stay so: nearest means in the space are the labels.
    means = np.stack([moved[truth == c].mean(0) for c in range(3)])
    assert (((moved[:, None] - means) ** 2).sum(2).argmin(1) == truth).all()
    table = tmp_path / "z.csv"
    assert "dimensions" in run("transform", model, tmp_path / "x.npy", "--points-out", table).out
    assert np.allclose(np.loadtxt(table, delimiter=",", ndmin=2), moved)
    run("fit", "kmeans", tmp_path / "x.npy", "-k", 3, "--model-out", model, "--quiet")
    assert "nothing to transform" in run("transform", model, tmp_path / "x.npy", "--points-out", out, code=2).err
    assert "--points-out" in run("transform", model, tmp_path / "x.npy", code=2).err
    assert "--points-out" in run("transform", model, tmp_path / "x.npy", "--points-out", tmp_path / "z.txt", code=2).err


def test_a_deep_method_without_libtorch_says_what_to_install(tmp_path):
    points, _ = blobs(n=30)
    np.save(tmp_path / "x.npy", points)
    failed = run("fit", "dekm", tmp_path / "x.npy", "-k", 3, code=1, env={"COTERIE_DEEP_LIBRARY": "/nowhere/libcoterie-deep.so"})
    assert "libtorch-dev" in failed.err and "COTERIE_DEEP_LIBRARY" in failed.err


def deep_fit(*words):
    done = subprocess.run([COMMAND, "fit", *map(str, words), "--json", "--quiet"], capture_output=True, timeout=600)
    if b"libtorch-dev" in done.stderr:
        pytest.skip("LibTorch is not here")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_deep_methods(tmp_path):
    points, truth = blobs(n=240, d=6)
    np.save(tmp_path / "x.npy", points)
    np.save(tmp_path / "y.npy", truth.astype(np.int32))
    model = tmp_path / "m.coterie"
    short = ["--scale", "minmax", "-k", 3, "--widths", 16, "--embedding", 2, "--truth", tmp_path / "y.npy"]
    result = deep_fit("ae-kmeans", tmp_path / "x.npy", *short, "--pretrain-epochs", 60, "--pretrain-batch-size", 32, "--model-out", model)
    assert result["scores"]["acc"] > 0.9 and result["details"]["backend"].startswith("LibTorch")
    errors = result["details"]["reconstruction_per_epoch"]
    assert len(errors) == 60 and errors[-1] < 0.5 * errors[0]
    labels = tmp_path / "labels.csv"
    run("predict", model, tmp_path / "x.npy", "--labels-out", labels, "--quiet")
    assert len(read_words(labels)) == 240
    assert document("transform", model, tmp_path / "x.npy", "--points-out", tmp_path / "h.npy")["dimensions"] == 2
    for method in ("dekm", "dec", "idec", "dcn"):
        found = deep_fit(method, tmp_path / "x.npy", *short, "--pretrained", model, "--max-iterations", 20, "--update-interval", 5)
        assert found["scores"]["acc"] > 0.9, method
        assert "reconstruction" not in found["details"]
    assert "28x28" in run("fit", "dekm", tmp_path / "x.npy", *short, "--image", "28", code=2).err


def test_networks_of_two_views(tmp_path):
    points, truth = blobs(n=240, d=64)
    np.save(tmp_path / "x.npy", points)
    np.save(tmp_path / "y.npy", truth.astype(np.int32))
    model = tmp_path / "m.coterie"
    found = deep_fit("entropy-net", tmp_path / "x.npy", "-k", 3, "--scale", "minmax", "--image", "8x8", "--epochs", 3, "--batch-size", 60,
                     "--augment", "shift,colour", "--truth", tmp_path / "y.npy", "--model-out", model)
    assert found["details"]["network"] == "vgg4" and found["iterations"] == 3 and len(found["details"]["balance_per_epoch"]) == 3
    assert document("transform", model, tmp_path / "x.npy", "--points-out", tmp_path / "f.npy")["dimensions"] == 512
    run("predict", model, tmp_path / "x.npy", "--scores-out", tmp_path / "p.csv", "--quiet")
    assert (tmp_path / "p.csv").read_text().startswith("cluster-0,cluster-1,cluster-2\n")
    scores = np.loadtxt(tmp_path / "p.csv", delimiter=",", skiprows=1)
    assert scores.shape == (240, 3) and np.allclose(scores.sum(1), 1)
    # Labels of some points, in words; the others follow.
    write_labels(tmp_path / "partial.csv", [["ash", "birch", "elm"][c] if i < 30 else "" for i, c in enumerate(truth)])
    found = deep_fit("iic", tmp_path / "x.npy", "-k", 0, *short("iic")[2:], "--scale", "minmax", "--partial-labels", tmp_path / "partial.csv",
                     "--truth", tmp_path / "y.npy")
    assert found["clusters_found"] == 3 and found["scores"]["acc"] > 0.95
    assert "vgg4 needs --image" in run("fit", "imsat", tmp_path / "x.npy", "-k", 3, "--network", "vgg4", code=2).err
    assert "flip needs --image" in run("fit", "imsat", tmp_path / "x.npy", "-k", 3, "--augment", "flip", code=2).err


@pytest.mark.parametrize("words", [["dekm", "--widths", 8, "--embedding", 2, "--pretrain-epochs", 3, "--max-iterations", 10],
                                   ["entropy-net", "--widths", 8, "--epochs", 3], ["imsat", "--widths", 8, "--epochs", 3]], ids=lambda words: words[0])
def test_no_label_is_seen_in_training(tmp_path, words):
    points, truth = blobs(n=120, d=6)
    np.save(tmp_path / "x.npy", points)
    models = []
    for seed in (1, 2):
        np.random.default_rng(seed).shuffle(truth)
        np.save(tmp_path / "y.npy", truth.astype(np.int32))
        models.append(tmp_path / f"{seed}.coterie")
        deep_fit(words[0], tmp_path / "x.npy", "-k", 3, "--scale", "minmax", *words[1:], "--truth", tmp_path / "y.npy", "--model-out", models[-1])
    assert models[0].read_bytes() == models[1].read_bytes()


def test_deep_fits_refuse(tmp_path):
    points, truth = blobs(n=60, d=4)
    np.save(tmp_path / "x.npy", points)
    x, ae, net, checkpoint = (tmp_path / name for name in ("x.npy", "ae.coterie", "net.coterie", "c"))
    small = ["-k", 3, "--scale", "minmax", "--widths", 8, "--quiet"]
    deep_fit("ae-kmeans", x, *small[:-1], "--embedding", 2, "--pretrain-epochs", 1, "--model-out", ae)
    run("fit", "entropy-net", x, *small, "--epochs", 1, "--model-out", net)
    # Models of the other kind, changed ones, checkpoints.
    assert "takes a model of ae-kmeans" in run("fit", "dekm", x, *small, "--pretrained", net, code=3).err
    assert "takes a model of entropy-net" in run("fit", "iic", x, *small, "--pretrained", ae, code=3).err
    changed = bytearray(net.read_bytes())
    changed[-5] ^= 1
    net.write_bytes(changed)
    assert "damaged" in run("fit", "iic", x, *small, "--epochs", 1, "--pretrained", net, code=3).err
    assert "--checkpoint" in run("fit", "dekm", x, *small, "--checkpoint", "-", code=2).err
    kept = ["fit", "dekm", x, *small, "--embedding", 2, "--pretrain-epochs", 1, "--checkpoint", checkpoint]
    run(*kept, "--max-iterations", 20)
    assert checkpoint.exists()
    assert "other options (--max-iterations 20)" in run(*kept, "--max-iterations", 30, code=3).err
    assert "other method (dekm)" in run("fit", "dec", x, *small, "--checkpoint", checkpoint, code=3).err
    assert "is a model of ae-kmeans, not a checkpoint" in run("fit", "dekm", x, *small, "--checkpoint", ae, code=3).err
    assert "is a checkpoint" in run("fit", "dekm", x, *small, "--pretrained", checkpoint, code=3).err
    assert "is a checkpoint of a fit of dekm" in run("predict", checkpoint, x, code=3).err
    # Options that would change nothing.
    for method, words in (("dekm", ["--pretrained", ae, "--pretrain-epochs", 3]), ("dekm", ["--image", "2x2", "--widths", 8]), ("imsat", ["--view", "augmented", "--rotation", 9]),
                          ("iic", ["--kernel", 5]), ("iic", ["--augment", "none", "--noise", 1]), ("iic", ["--image", "2x2", "--network", "resnet18", "--widths", 5])):
        assert words[-2] in run("fit", method, x, "-k", 3, *words, code=2).err, words
    assert "--figure" in run("reproduce", "dekm-usps", "--methods", "kmeans", "--figure", tmp_path / "f.svg", code=2).err
    # What is too large, by the file's name.
    points[5, 1] = 1e20
    np.save(x, points)
    assert f"{x}: point 6, column 2" in run("fit", "dekm", x, "-k", 3, "--widths", 8, code=3).err


def test_tune_takes_texts_with_commas(tmp_path):
    points, _ = blobs(n=60, d=4)
    np.save(tmp_path / "x.npy", points)
    deep_fit("iic", tmp_path / "x.npy", "-k", 3, "--widths", "8,4", "--epochs", 1)  # skips without LibTorch
    result = document("tune", "iic", tmp_path / "x.npy", "-k", 3, "--scale", "minmax", "--epochs", 2, "--grid", "widths=8,4;6", "--grid", "augment=noise;none")
    assert [(cell["options"]["widths"], cell["options"]["augment"]) for cell in result["cells"]] == [("8,4", "noise"), ("8,4", "none"), ("6", "noise"), ("6", "none")]


def test_deep_fits_tell_how_they_ended(tmp_path):
    points, truth = blobs(n=60, d=4)
    np.save(tmp_path / "x.npy", points)
    x, ae = tmp_path / "x.npy", tmp_path / "ae.coterie"
    done = deep_fit("entropy-net", x, "-k", 3, "--scale", "minmax", "--widths", 8, "--epochs", 20, "--batch-size", 20, "--learning-rate", 0.01, "--strict")
    assert done["stopped"] == "completed"
    np.save(tmp_path / "same.npy", np.ones((60, 4)))
    collapsed = run("fit", "iic", tmp_path / "same.npy", "-k", 3, "--widths", 8, "--epochs", 2, "--strict", "--json", code=4)
    assert json.loads(collapsed.out)["stopped"] == "collapsed" and "collapsed after 2" in collapsed.err
    # A fit that diverges keeps what was sound.
    deep_fit("ae-kmeans", x, "-k", 3, "--scale", "minmax", "--widths", 8, "--embedding", 2, "--pretrain-epochs", 1, "--model-out", ae)
    found = document("fit", "dekm", x, "-k", 3, "--widths", 8, "--embedding", 2, "--pretrained", ae, "--learning-rate", 1e30)
    assert found["stopped"] == "collapsed" and any("diverged" in text and "update 0" in text for text in found["warnings"])
    assert any("points that were" in text for text in found["warnings"])  # scaled there, not here
    assert all(np.isfinite(loss) for loss in found["details"]["loss_per_update"])


@pytest.mark.parametrize("words", [["dekm", "--image", "8x8", "--embedding", 4, "--pretrain-epochs", 2, "--max-iterations", 80, "--tolerance", 0],
                                   ["entropy-net", "--image", "8x8", "--epochs", 1], ["imsat", "--epochs", 2]], ids=lambda words: words[0])
def test_networks_do_not_depend_on_threads(tmp_path, words):
    points, _ = blobs(n=200, d=64)
    np.save(tmp_path / "x.npy", points)
    models = []
    for threads in (1, 3):
        models.append(tmp_path / f"{threads}.coterie")
        deep_fit(words[0], tmp_path / "x.npy", "-k", 3, "--scale", "minmax", *words[1:], "--threads", threads, "--model-out", models[-1])
    assert models[0].read_bytes() == models[1].read_bytes()


def test_reproduce_dekm(tmp_path):
    data = os.environ.get("COTERIE_DATA")
    if data is None or not os.path.exists(os.path.join(data, "coil-20")) or not os.path.exists(os.path.join(data, "mnist")):
        pytest.skip("COIL-20 and MNIST are not here")
    write_csv(tmp_path / "x.csv", np.eye(4))
    deep_fit("ae-kmeans", tmp_path / "x.csv", "-k", 2, "--widths", 4, "--embedding", 2, "--pretrain-epochs", 1)  # skips without LibTorch
    quick = ["--points", 60, "--pretrain-epochs", 2, "--max-iterations", 80, "--tolerance", 0, "--threads", 1]
    short = [*quick, "--seeds", 2]
    kept, figure = tmp_path / "kept", tmp_path / "curves.svg"
    followed = document("reproduce", "dekm-coil20", *short, "--methods", "kmeans,ae-kmeans,dekm", "--variants", "--checkpoint", kept, "--figure", figure)
    assert followed["n"] == 60 and followed["d"] == 784 and followed["clusters"] == 20
    methods = {method["name"]: method for method in followed["methods"]}
    assert list(methods) == ["kmeans", "ae-kmeans", "dekm", "dekm-all", "dekm-full"]
    assert methods["dekm"]["published"] == {"acc": 0.6903, "nmi": 0.8006}
    fit = methods["dekm"]["fits"][0]
    assert fit["updates"] == 3 and fit["iterations"] == 80 and len(methods["dekm"]["fits"]) == 2
    assert fit["acc_per_update"][0] == methods["ae-kmeans"]["fits"][0]["scores"]["acc"]
    assert fit["acc_per_update"][-1] == fit["scores"]["acc"]
    assert methods["dekm-full"]["fits"][0]["updates"] == 81 and methods["dekm-all"]["fits"][0]["loss_per_update"] != fit["loss_per_update"]
    text = figure.read_text()
    ElementTree.fromstring(text)
    assert "dekm-full" in text and "nan" not in text
    # A fit that was not followed ends as one that was cut off at every update.
    autoencoders = tmp_path / "autoencoders"
    autoencoders.mkdir()
    for file in kept.glob("*.coterie"):
        shutil.copy(file, autoencoders)
    assert len(list(autoencoders.iterdir())) == 2
    plain = document("reproduce", "dekm-coil20", *short, "--methods", "dekm", "--checkpoint", autoencoders)
    for one, other in zip(plain["methods"][0]["fits"], methods["dekm"]["fits"]):
        for key in ("scores", "objective_per_update", "changed_per_update", "loss_per_update"):
            assert one[key] == other[key], key
    phases = tmp_path / "phases.svg"
    result = document("reproduce", "dekm-mnist", *quick, "--seeds", 1, "--methods", "kmeans", "--figure1", phases)
    assert [method["name"] for method in result["methods"]] == ["kmeans"]
    assert list(result["methods"][0]["acc"]) == ["mean"]  # of one there is no deviation
    text = phases.read_text()
    ElementTree.fromstring(text)
    assert "after pre-training" in text and "update 2" in text and "nan" not in text


def test_reproduce_dekm_refuses(tmp_path):
    assert "kmeans, ae-kmeans, dec, idec, dcn, dekm" in run("reproduce", "dekm-usps", "--methods", "dekmm", code=2).err
    for words in (["--seeds", 0], ["--tolerance", 2], ["--points", -1], ["--max-iterations", 0], ["--figure", tmp_path / "f.png"], ["--figure1", "f.svg"]):
        assert words[0] in run("reproduce", "dekm-usps", *words, code=2).err
    (tmp_path / "file").write_text("")
    assert "--checkpoint" in run("reproduce", "dekm-usps", "--checkpoint", tmp_path / "file", code=1).err


# ---- spectral -------------------------------------------------------------------------------------------------------


def two_cliques(path):
    edges = [(a, b, 1) for group in (range(4), range(4, 8)) for a in group for b in group if a < b]
    write_csv(path, edges + [(3, 4, 0.1)], ["from", "to", "weight"])


def test_spectral_takes_a_graph(tmp_path):
    two_cliques(tmp_path / "graph.csv")
    write_labels(tmp_path / "truth.csv", [0] * 4 + [1] * 4)
    value = document("fit", "spectral", tmp_path / "graph.csv", "--affinity", "precomputed", "-k", 2, "--truth",
                     tmp_path / "truth.csv", "--model-out", tmp_path / "model")
    assert value["n"] == 8 and value["scores"]["acc"] == 1
    assert value["details"]["edges"] == 13 and value["details"]["components"] == 1
    piped = document("fit", "spectral", "-", "--affinity", "precomputed", "-k", 2, "--truth", tmp_path / "truth.csv",
                     input=(tmp_path / "graph.csv").read_bytes())
    assert piped["details"]["eigenvalues"] == value["details"]["eigenvalues"] and piped["sizes"] == value["sizes"]
    # New points are rows of affinities to the points of the graph.
    write_csv(tmp_path / "new.csv", [[1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 2, 0]])
    run("predict", tmp_path / "model", tmp_path / "new.csv", "--labels-out", tmp_path / "labels.csv")
    labels = read_words(tmp_path / "labels.csv")
    assert len(labels) == 2 and labels[0] != labels[1]


def test_spectral_graph_formats_agree(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    import scipy.io

    random = np.random.default_rng(3)
    dense = np.triu(random.random((40, 40)) * (random.random((40, 40)) < 0.3), 1)
    dense += dense.T
    for format in ("csr", "csc", "coo"):
        sparse.save_npz(tmp_path / (format + ".npz"), sparse.csr_matrix(dense).asformat(format))
    scipy.io.mmwrite(tmp_path / "general.mtx", sparse.csr_matrix(dense), symmetry="general", precision=17)
    scipy.io.mmwrite(tmp_path / "symmetric.mtx", sparse.csr_matrix(dense), symmetry="symmetric", precision=17)
    with open(tmp_path / "symmetric.mtx", "rb") as plain, gzip.open(tmp_path / "zipped.mtx.gz", "wb") as zipped:
        zipped.write(plain.read())
    upper = sparse.triu(dense).tocoo()
    write_csv(tmp_path / "edges.txt", zip(upper.row, upper.col, map(repr, map(float, upper.data))))
    np.save(tmp_path / "dense.npy", dense)
    np.savez(tmp_path / "dense.npz", dense)
    found = {}
    for path in sorted(tmp_path.iterdir()):
        value = document("fit", "spectral", path, "--affinity", "precomputed", "-k", 3)
        found[path.name] = value["details"]["eigenvalues"], value["sizes"], value["details"]["edges"]
    assert len(found) == 9
    for name in found:
        assert found[name][0] == pytest.approx(found["dense.npy"][0], abs=1e-12), name
        assert found[name][1:] == found["dense.npy"][1:], name


@pytest.mark.parametrize("arrays, words", [
    ({"format": b"lil"}, "format 'lil' is not accepted; csr, csc and coo are"),
    ({"shape": [3, 4]}, "affinities are square"),
    ({"shape": [4, 4]}, "indptr: has 4 numbers, 5 are needed"),
    ({"indptr": [0, 1, 2, 5]}, "must begin with 0 and end with 4"),
    ({"indptr": [0, 3, 1, 4]}, "none lower than the one before it"),
    ({"indices": [1, 0, 2, 3]}, "indices: entry 4: '3' is not accepted; it must be a whole number from 0 to 2"),
    ({"indices": [1, 0, 2]}, "indices: has 3 numbers, 4 are needed"),
    ({"indices": [1, 0, 0, 1]}, "entry 3 gives again the pair of entry 2"),
    ({"data": [1, 1, np.nan, 1]}, "NaN"),
    ({"data": [-1, -1, 1, 1]}, "no entry may be negative"),
    ({"data": [1, 2, 1, 1]}, "graph.npz: affinity: not symmetric, row 1, column 2 is 1"),
    ({"indptr": [0, 10**7, 3, 4]}, "none lower than the one before it"),
])
def test_spectral_refuses_damaged_sparse_files(tmp_path, arrays, words):
    sound = {"format": b"csr", "shape": [3, 3], "indptr": [0, 1, 3, 4], "indices": [1, 0, 2, 1], "data": [1.0, 1, 1, 1]}
    np.savez(tmp_path / "graph.npz", **{name: np.array(value) for name, value in (sound | arrays).items()})
    done = run("fit", "spectral", tmp_path / "graph.npz", "--affinity", "precomputed", "-k", 1, code=3)
    assert words in done.err


def test_spectral_refuses_what_a_graph_has_not(tmp_path):
    two_cliques(tmp_path / "graph.csv")
    words = ["spectral", tmp_path / "graph.csv", "--affinity", "precomputed", "-k", 2]
    for option in (["--scale", "zscore"], ["--picture", tmp_path / "p.svg"], ["--report", tmp_path / "r.html"]):
        assert option[0] + ": " in run("fit", *words, *option, code=2).err
    assert "read in float64" in run("fit", *words, "--precision", "float32", code=2).err
    assert "is a graph; tune takes points" in run("tune", *words, "--grid", "restarts=1,2", code=2).err
    # Three columns in three rows are a dense matrix where that is symmetric, else edges, and refused where both fit.
    write_csv(tmp_path / "triangle.csv", [[0, 1, 1], [1, 2, 1], [0, 2, 1]])
    assert document("fit", "spectral", tmp_path / "triangle.csv", "--affinity", "precomputed", "-k", 1)["details"]["edges"] == 3
    write_csv(tmp_path / "both.csv", [[0, 1, 2], [1, 3, 4], [2, 4, 5]])
    assert "both.csv: can be read as" in run("fit", "spectral", tmp_path / "both.csv", "--affinity", "precomputed", "-k", 1,
                                              code=3).err
    write_csv(tmp_path / "dense.csv", [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert document("fit", "spectral", tmp_path / "dense.csv", "--affinity", "precomputed", "-k", 1)["n"] == 3


def test_spectral_warns_of_pieces(tmp_path):
    write_csv(tmp_path / "points.csv", [[1000 * group + 0.1 * i, i % 3] for group in range(4) for i in range(10)])
    done = run("fit", "spectral", tmp_path / "points.csv", "-k", 2, "--neighbors", 4)
    assert "4 connected components for 2 clusters" in done.err and "--neighbors 8" in done.err


def test_reproduce_trefoil_lambda(tmp_path):
    figure = tmp_path / "lambda.svg"
    words = ["reproduce", "trefoil-lambda", "--embeddings", 5]
    result = document(*words, "--figure", figure)
    sets = {one["n1"]: one["lambdas"] for one in result["sets"]}
    assert list(sets) == [120, 150, 160, 200]
    lambdas = [0.00048 + 1e-4 * i for i in range(17)]
    for curves in sets.values():
        assert [curve["lambda"] for curve in curves] == pytest.approx(lambdas, rel=1e-9)
        # lambda_l does not depend on lambda, lambda_u ends at a steady value, and the promise is kept.
        assert len({curve["lambda_l"]["mean"] for curve in curves}) == 1
        uppers = [curve["lambda_u"]["mean"] for curve in curves]
        assert uppers[0] < uppers[-1] == pytest.approx(uppers[-2], rel=1e-6)
        assert all(curve["share_preserving_and_nonzero"] >= curve["share_guaranteed"] for curve in curves)
    # The paper's thresholds.
    assert not any(curve["interval_nonempty"] for curve in sets[120])
    assert sets[150][-1]["interval_nonempty"] and not sets[150][-1]["lambda_inside"]
    for n1 in [160, 200]:
        assert any(curve["lambda_inside"] for curve in sets[n1])
    text = figure.read_text()
    ElementTree.fromstring(text)
    assert text.count("10000 lambda, N1 = ") >= 4 and "nan" not in text
    # Another embedding is a rotation: nothing changes but by rounding.
    again = document(*words, "--seed", 9)
    for one, other in zip(result["sets"], again["sets"]):
        for curve, turned in zip(one["lambdas"], other["lambdas"]):
            assert turned["lambda_u"]["mean"] == pytest.approx(curve["lambda_u"]["mean"], rel=1e-5)
    assert "--figure" in run(*words, "--figure", tmp_path / "1.png", code=2).err


def test_reproduce_trefoil_n(tmp_path):
    figure = tmp_path / "n.svg"
    words = ["reproduce", "trefoil-n", "--step", 90, "--most", 360]
    result = document(*words, "--figure", figure)
    assert [one["multiple"] for one in result["multiples"]] == [2, 5, 50]
    assert [one["published"]["nonempty_from"] for one in result["multiples"]] == [890, 300, 300]
    for one in result["multiples"]:
        assert [size["n"] for size in one["sizes"]] == [90, 180, 270, 360]
        for size in one["sizes"]:
            assert size["lambda"] == pytest.approx(one["multiple"] * size["lambda_l"]["mean"], rel=1e-9)
            assert size["share_preserving_and_nonzero"] >= size["share_guaranteed"]
        for name, flag in [("nonempty_from", "interval_nonempty"), ("inside_from", "lambda_inside")]:
            sizes = [size["n"] for size in one["sizes"]]
            holds = [size[flag] for size in one["sizes"]]
            starts = [n for i, n in enumerate(sizes) if all(holds[i:])]
            assert one[name] == (starts[0] if starts else None)
    assert result["multiples"][1]["inside_from"] == 360
    text = figure.read_text()
    ElementTree.fromstring(text)
    assert text.count("<svg") == 4 and "nan" not in text
    assert "360" in run(*words).out
    assert "--step" in run("reproduce", "trefoil-n", "--step", 31, code=2).err
    assert document(*words, "--subspaces", "own")["multiples"][0]["sizes"][-1]["share_guaranteed"] == 1
    assert document(*words, "--sampling", "random")["multiples"][0]["nonempty_from"] is None


def test_affinities_have_nothing_to_scale(tmp_path):
    write_csv(tmp_path / "a.csv", [[0, 1, 0.2], [1, 0, 0.5], [0.2, 0.5, 0]])
    done = run("fit", "spectral", tmp_path / "a.csv", "--affinity", "precomputed", "-k", 1, "--scale", "minmax", code=2)
    assert "--scale" in done.err and "affinities" in done.err


def test_deep_fits_keep_their_inputs_and_outputs_apart(tmp_path):
    write_csv(tmp_path / "x.csv", [[i % 2 * 5 + 0.01 * i, i % 3] for i in range(40)])
    model, checkpoint = tmp_path / "ae.coterie", tmp_path / "fit.checkpoint"
    shape = ["-k", 2, "--widths", 4, "--embedding", 2]
    small = [*shape, "--pretrain-epochs", 1]
    deep_fit("ae-kmeans", tmp_path / "x.csv", *small, "--model-out", model)  # skips without LibTorch
    before = model.read_bytes()
    done = run("fit", "dekm", tmp_path / "x.csv", *shape, "--pretrained", model, "--model-out", model, code=2)
    assert "written over" in done.err and model.read_bytes() == before
    done = run("fit", "dekm", tmp_path / "x.csv", *small, "--checkpoint", checkpoint, "--model-out", checkpoint, code=2)
    assert "written over" in done.err and not checkpoint.exists()
    done = run("fit", "dekm", tmp_path / "x.csv", *small, "--checkpoint", tmp_path / "no" / "fit.checkpoint", code=1)
    assert "--checkpoint" in done.err
    done = run("tune", "dekm", tmp_path / "x.csv", "--grid", "embedding=1,2", "--checkpoint", checkpoint, code=2)
    assert "--checkpoint" in done.err
    run("fit", "ae-kmeans", tmp_path / "x.csv", *small, "--checkpoint", checkpoint, "--model-out", tmp_path / "again.coterie")
    assert (tmp_path / "again.coterie").read_bytes() == before  # where it was kept is no part of a model
    done = run("fit", "ae-kmeans", tmp_path / "x.csv", *small, "--pretrain-rate", 1e30, "--pretrain-batch-size", 100, code=2)
    assert "--pretrain-rate" in done.err
    write_csv(tmp_path / "large.csv", [[1, 2], [3, 1e39], [5, 6]])
    done = run("fit", "ae-kmeans", tmp_path / "large.csv", *small, code=3)
    assert "point 2, column 2: value 1e+39" in done.err and "single precision" in done.err


def test_a_collapse_is_an_error_under_strict(tmp_path):
    random = __import__("random").Random(3)
    write_csv(tmp_path / "x.csv", [[random.gauss(0, 1) for _ in range(4)] for _ in range(80)])
    words = ["dcn", tmp_path / "x.csv", "-k", 4, "--widths", 8, "--embedding", 2, "--pretrain-epochs", 2, "--learning-rate", 0.05, "--distortion", 1e5,
             "--max-iterations", 400, "--batch-size", 20, "--update-interval", 20, "--tolerance", 0.05]
    result = deep_fit(*words)
    if not any("collapsed" in warning for warning in result["warnings"]):
        pytest.fail(f"no collapse: {result['details']['balance_per_update']}")
    if result["stopped"] == "collapsed":
        run("fit", *words, "--strict", code=4)
