"""Partial labels, shares, sizes."""

import csv
import json
import re

import numpy as np
import pytest

from support import SCORES, document, read_words, run, texts, write_labels

PARTIAL = ["--partial-labels", "partial.csv"]


def test_partial_labels_name_clusters_in_outputs(files, tmp_path):
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

    # New points get the same names, and all of them are scored.
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
    assert "ash 100, birch 100, cedar 100" in text and "scored on the 270 rows that had no label" in text and "label accuracy 1.0000" in text


def test_partial_labels_from_any_format(files):
    column = ["--partial-labels", "partial-of-two.csv", "--partial-labels-column", "tree"]
    numbers = ["--partial-labels", "partial.npy"]
    for words, names in ((PARTIAL, ["ash", "birch", "cedar"]), (column, ["ash", "birch", "cedar"]), (numbers, ["0", "1", "2"])):
        value = document("fit", "kmeans", "points.npy", "-k", 3, *words, cwd=files)
        assert [label["name"] for label in value["labels"]] == names and [label["labelled"] for label in value["labels"]] == [10] * 3
        assert "scores" not in value


def test_labelled_rows_keep_their_labels(files, tmp_path):
    known = read_words(files / "partial.csv")
    known[0], known[1] = "cedar", "ash"  # they are near ash and birch
    write_labels(tmp_path / "partial.csv", known)
    value = document("fit", "kmeans", files / "points.npy", "-k", 3, "--partial-labels", tmp_path / "partial.csv", "--truth", files / "truth.csv",
                     "--labels-out", tmp_path / "l.csv")
    assert read_words(tmp_path / "l.csv")[:4] == ["cedar", "ash", "cedar", "ash"]
    # The labels given to the fit are not scored, so they neither help nor harm.
    assert value["scored"] == 270 and value["scores"]["label_accuracy"] == 1 and value["scores"]["acc"] == 1


def test_clusters_with_and_without_labels(files, tmp_path):
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
    assert len(document("fit", "kmeans", "points.npy", "-k", "auto", *PARTIAL, "--clusters-per-label", "cedar=4", cwd=files)["sizes"]) == 6
    free = sum(value["sizes"][2:])
    assert f"ash {ash['points']} in 2 clusters; {free} in 2 free clusters" in run(*words).out
    run("predict", tmp_path / "m.st", files / "points.npy", "--labels-out", tmp_path / "p.npy")
    assert set(np.load(tmp_path / "p.npy")) <= {0, 1, 2}


@pytest.mark.parametrize("shares, low, high", [
    (["--label-share", "ash=0.5"], {"ash": 150}, {"ash": 150}),
    (["--label-share", "ash=0.501"], {"ash": 150}, {"ash": 150}),
    (["--label-share", "ash=0.4:0.6"], {"ash": 120}, {"ash": 180}),
    (["--label-share", "ash=0.4:"], {"ash": 120}, {}),
    (["--label-share", "ash=:0.2"], {}, {"ash": 60}),
    (["--label-share", "ash=0.5,birch=0.2"], {"ash": 150, "birch": 60}, {"ash": 150, "birch": 60}),
    (["--label-share", "ash=0.5", "--label-share", "birch=:0.1"], {"ash": 150}, {"ash": 150, "birch": 30}),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_label_shares(files, shares, low, high):
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
    value = document("fit", "kmeans", files / "points.npy", "-k", 4, "--partial-labels", tmp_path / "partial.csv", "--label-share", "x, y=0.3:0.4",
                     "--label-share", "a=b=0.25:0.5,1:2=:0.5", "--clusters-per-label", "a=b=1,1:2=1", "--clusters-per-label", "x, y=2",
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


def test_scores_without_rows_to_score(files, tmp_path):
    words = ["fit", "kmeans", "points.npy", "-k", 3]
    done = run(*words, "--partial-labels", "truth.csv", "--truth", "truth.csv", "--json", cwd=files)
    assert "scores" not in json.loads(done.out) and "there is nothing to score" in done.err
    # A truth with other names: only the scores that need no names.
    run(*words, *PARTIAL, "--model-out", tmp_path / "m.st", cwd=files)
    for other in (words + PARTIAL, ["predict", tmp_path / "m.st", "points.npy"]):
        done = run(*other, "--truth", "truth.npy", "--json", cwd=files)
        value = json.loads(done.out)
        assert set(value["scores"]) == set(SCORES) and value["scores"]["acc"] == 1
        assert "truth.npy and the labels share no name" in done.err and any("label accuracy" in warning for warning in texts(value["warnings"]))
    # The truth of some points only.
    truth = read_words(files / "truth.csv")
    write_labels(tmp_path / "truth.csv", truth[:100] + [""] * 200)
    done = run(*words, *PARTIAL, "--truth", tmp_path / "truth.csv", "--json", cwd=files)
    assert json.loads(done.out)["scored"] == 70 and "200 of 300 rows have no truth" in done.err


def test_outputs_without_partial_labels_have_no_names(files, tmp_path):
    value = document("fit", "kmeans", files / "points.npy", "-k", 3, "--truth", files / "truth.csv", "--model-out", tmp_path / "m.st")
    assert "labels" not in value and set(value["scores"]) == set(SCORES)
    assert "labels" not in document("info", tmp_path / "m.st") and "labels" not in document("predict", tmp_path / "m.st", files / "points.npy")


def test_pair_constraints_hold(files, tmp_path):
    for method in ("kmeans", "subspace"):
        run("fit", method, files / "points.csv", "-k", 3, "--pairs", files / "pairs.csv", "--labels-out", tmp_path / "l.npy")
        labels = np.load(tmp_path / "l.npy")
        assert labels[0] == labels[1] == labels[100] != labels[200]


def test_noise_rows_are_not_scored(tmp_path):
    metrics = pytest.importorskip("sklearn.metrics")
    for name in ("l.csv", "l.npy"):
        run("fit", "hdbscan", "data:wine", "--scale", "zscore", "--labels-out", tmp_path / name, "--quiet")
    labels = np.load(tmp_path / "l.npy")
    truth = np.arange(178) % 3
    np.save(tmp_path / "truth.npy", truth)
    assert (labels < 0).any()
    for name in ("l.csv", "l.npy"):
        scored = document("evaluate", tmp_path / name, tmp_path / "truth.npy")
        assert (scored["n"], scored["unknown"]) == ((labels >= 0).sum(), (labels < 0).sum())
        assert scored["ari"] == pytest.approx(metrics.adjusted_rand_score(truth[labels >= 0], labels[labels >= 0]), rel=1e-9)
    assert "no truth or no label" in run("evaluate", tmp_path / "l.csv", "data:wine").err


def test_label_file_header_is_not_a_label(tmp_path):
    (tmp_path / "points.csv").write_text("x\n1\n2\n8\n9\n")
    for text, labels in (
        ("group\n0\n0\n1\n1\n", ["0", "0", "1", "1"]), ("group\na\na\nb\nb\n", ["a", "a", "b", "b"]), ("group\n\n0\n\n1\n", ["0", "0", "1", "1"]),
        ("a\n\n\nb\n", ["a", "a", "b", "b"]), ("a\nb\nc\nd\n", ["a", "b", "c", "d"]), ("a\na\nb\nb\n", ["a", "a", "b", "b"]),
    ):
        (tmp_path / "known.csv").write_text(text)
        clusters = len(set(labels))
        run("fit", "kmeans", "points.csv", "-k", clusters, "--partial-labels", "known.csv", "--labels-out", "l.csv", "--quiet", cwd=tmp_path)
        assert read_words(tmp_path / "l.csv") == labels, text


def test_numeric_codes_are_kept_as_text_labels(tmp_path):
    (tmp_path / "t.csv").write_text("x,y,l\n1,2,01\n1,2.1,01\n8,9,1\n8,9.1,1\n")
    value = document("fit", "kmeans", tmp_path / "t.csv", "-k", 2, "--label-column", "l")
    assert value["scores"]["acc"] == 1 and set(value["confusion"]["classes"]) == {"01", "1"}
    (tmp_path / "p.csv").write_text("label\n007\n\n008\n\n")
    run("fit", "kmeans", tmp_path / "t.csv", "--columns", "x,y", "--partial-labels", tmp_path / "p.csv", "--labels-out", tmp_path / "l.csv", "--quiet")
    assert read_words(tmp_path / "l.csv") == ["007", "007", "008", "008"]


def test_weight_and_pair_errors_name_file_and_row(files, tmp_path):
    (tmp_path / "w.csv").write_text("w\n" + "1\n" * 299 + "-1\n")
    error = run("fit", "kmeans", files / "points.npy", "-k", 3, "--weights", tmp_path / "w.csv", code=2).err
    assert "w.csv: row 300: -1 is not accepted" in error
    (tmp_path / "w.csv").write_text("1\n1\n")
    for words in ([], ["--sample", 50]):
        assert "w.csv: 2 weights for 300 rows" in run("fit", "kmeans", files / "points.npy", "-k", 3, "--weights", tmp_path / "w.csv", *words, code=2).err
    for text, said in (("1,2,must\n1,3,perhaps\n", "column 3, row 2: 'perhaps' is not accepted"), ("1,x,must\n2,y,must\n", "column 2: 'x' is not a row number"),
                       ("1,2\n", "2 columns, but 3 are needed")):
        (tmp_path / "pairs.csv").write_text(text)
        assert said in run("fit", "kmeans", files / "points.npy", "-k", 3, "--pairs", tmp_path / "pairs.csv", code=3).err
    assert "can be read only once" in run("fit", "kmeans", "-", "-k", 3, "--truth", "-", input=b"1\n2\n", code=2).err
