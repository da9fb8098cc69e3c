"""Every output of every method: fit, predict, describe and transform with normal models and with models of one cluster,
no cluster or noise. An output is complete, or the command reports that the model does not have it."""

import csv
import json
import subprocess
import xml.dom.minidom

import numpy as np
import pytest

from support import COMMAND, document, run, short, slow_if_network, write_csv

ROWS = 60
OUTPUTS = ["embedding", "memberships", "scores", "distances", "outlier-scores"]
METHODS = document("methods")["methods"]
NETWORKS = {method["name"] for method in METHODS if method["takes"]["device"]}


def options_of(method):
    return {option["name"] for option in next(each for each in METHODS if each["name"] == method)["options"]}


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    """Three groups of 19 rows, and three rows far from all of them."""
    random = np.random.default_rng(3)
    centers = np.array([[0, 0, 5], [9, 0, 4], [0, 9, 6]])
    rows = np.concatenate([centers[np.arange(ROWS - 3) % 3] + random.normal(size=(ROWS - 3, 3)), [[40, 40, 1], [-30, 25, 9], [5, -45, 2]]])
    path = tmp_path_factory.mktemp("outputs") / "points.csv"
    write_csv(path, rows, ["x", "y", "z"])
    return path


def words_of(method, kind):
    """Options of a fit that gives a model of this kind. None if the method has no such model."""
    clusters = "clusters" in options_of(method)
    if kind == "normal":
        return ["-k", 3] if clusters else []
    if kind == "one cluster":
        return ["-k", 1] if clusters else ["--min-cluster-size", 25, "--allow-single-cluster"]
    if kind == "no cluster":
        return ["--min-cluster-size", 40] if method == "hdbscan" else None
    return (["-k", 3, "--noise-share", 0.1] if clusters else ["--min-cluster-size", 8])


CASES = [slow_if_network(method, kind, id=f"{method['name']}-{kind.replace(' ', '-')}")
         for method in METHODS for kind in ["normal", "one cluster", "no cluster", "noise"]
         if words_of(method["name"], kind) is not None and (kind in ("normal", "noise") or method["name"] not in NETWORKS)]


def numbers_of(path):
    """The numbers of an output. Points of transform have no header, the outputs of predict have one."""
    with open(path, newline="") as file:
        lines = list(csv.reader(file))
    if path.name != "transformed.csv":
        assert len(lines.pop(0)) == len(lines[0])
    assert len(lines) == ROWS
    values = np.array([[float(field) for field in line] for line in lines])
    assert np.isfinite(values).all()
    return values


def has_output(model, points, command, flag, path):
    """Runs the command. False if it reports, with exit code 2 and without a file, that the model has no such output."""
    done = subprocess.run([COMMAND, command, str(model), str(points), flag, str(path), "--quiet"], capture_output=True, timeout=60)
    if done.returncode == 0:
        return True
    message = done.stderr.decode()
    assert done.returncode == 2 and ("has no " in message or "nothing to transform" in message), (flag, message)
    assert not path.exists()
    return False


def labels_of(path):
    with open(path, newline="") as file:
        lines = [line[0] if line else "" for line in csv.reader(file)]
    assert lines[0] == "label" and len(lines) == ROWS + 1
    return np.array([int(field) if field else -1 for field in lines[1:]])


def check_table(path, labels):
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    assert [int(row["label"]) if row["label"] else -1 for row in table] == labels.tolist()
    for row in table:
        for name, field in row.items():
            assert "nan" not in field.lower() and "inf" not in field.lower(), (name, field)
            assert field or row["label"] in ("", "-1"), name


def check_document(text):
    def refuse(word):
        raise AssertionError(f"{word} in a JSON document")
    return json.loads(text, parse_constant=refuse)


def check_page(path):
    text = path.read_text()
    assert text.rstrip().endswith("</html>")
    for word in (">nan<", ">inf<", ">-nan<", ">NaN<"):
        assert word not in text


@pytest.mark.parametrize("method, kind", CASES)
def test_outputs_are_complete_or_an_error(method, kind, points, tmp_path):
    words = [*short(method), *words_of(method, kind)]
    model = tmp_path / "model.coterie"
    done = run("fit", method, points, *words, "--json", "--quiet", "--model-out", model, "--labels-out", tmp_path / "labels.csv",
               "--table-out", tmp_path / "table.csv", "--report", tmp_path / "fit.html", "--picture", tmp_path / "fit.svg")
    fitted = check_document(done.out)
    labels = labels_of(tmp_path / "labels.csv")
    counts = [np.count_nonzero(labels == cluster) for cluster in range(len(fitted["sizes"]))]
    assert counts == fitted["sizes"]
    if kind == "no cluster":
        assert (labels == -1).all()
    if kind == "noise":
        assert 0 < np.count_nonzero(labels == -1) < ROWS
    check_table(tmp_path / "table.csv", labels)
    check_page(tmp_path / "fit.html")
    xml.dom.minidom.parse(str(tmp_path / "fit.svg"))

    # One output per command. Networks write all at once, because loading LibTorch takes half a second.
    there = []
    for output in OUTPUTS:
        if method in NETWORKS and output not in ("embedding", "memberships"):
            continue
        path = tmp_path / f"{output}.csv"
        if not has_output(model, points, "predict", f"--{output}-out", path):
            continue
        there.append(output)
        values = numbers_of(path)
        if output in ("memberships", "distances"):
            assert values.shape[1] == len(fitted["sizes"])
        if output == "memberships":
            assert (values >= 0).all() and (values.sum(axis=1) <= 1 + 1e-9).all()
    done = run("predict", model, points, "--json", "--quiet", "--labels-out", tmp_path / "again.csv", "--table-out", tmp_path / "again-table.csv",
               *(word for output in there for word in (f"--{output}-out", tmp_path / f"all-{output}.csv")))
    check_document(done.out)
    again = labels_of(tmp_path / "again.csv")
    check_table(tmp_path / "again-table.csv", again)
    for output in there:
        assert (tmp_path / f"all-{output}.csv").read_bytes() == (tmp_path / f"{output}.csv").read_bytes()
    if method in NETWORKS and kind != "normal":
        return  # a process with LibTorch takes half a second
    arrow = tmp_path / "table.arrow"
    run("predict", model, points, "--table-out", arrow, "--quiet")
    assert arrow.read_bytes().startswith(b"ARROW1") and arrow.read_bytes().endswith(b"ARROW1")

    description = check_document(run("describe", model, points, "--json", "--quiet", "--report", tmp_path / "describe.html", "--compare-with", model).out)
    assert description["sizes"] == counts
    assert description["comparison"]["moved"] == 0
    check_page(tmp_path / "describe.html")
    transformed = tmp_path / "transformed.csv"
    assert has_output(model, points, "transform", "--points-out", transformed) == ("embedding" in there)
    if "embedding" in there:
        assert (numbers_of(transformed) == numbers_of(tmp_path / "embedding.csv")).all()
    check_document(run("info", model, "--json").out)


def test_small_inputs_with_points_in_blocks(points, tmp_path):
    """Pairs, centroids, labels and weights are read at once while the points are read in blocks."""
    words = points.read_text().splitlines()
    write_csv(tmp_path / "pairs.csv", [[1, 4, "must"], [1, 2, "cannot"]])
    write_csv(tmp_path / "centroids.csv", [line.split(",") for line in words[1:4]])
    write_csv(tmp_path / "weights.csv", [[1 + row % 3] for row in range(ROWS)])
    write_csv(tmp_path / "labels.csv", [["ab"[row % 2] if row < 6 else '""'] for row in range(ROWS)], ["label"])
    for name, beside in [("pairs", ["--pairs", tmp_path / "pairs.csv"]), ("centroids", ["--initial-centroids", tmp_path / "centroids.csv"]),
                         ("weights", ["--weights", tmp_path / "weights.csv"]), ("labels", ["--partial-labels", tmp_path / "labels.csv"])]:
        fit = ["fit", "kmeans", points, "-k", 3, *beside, "--quiet"]
        run(*fit, "--labels-out", tmp_path / "resident.csv")
        done = run(*fit, "--memory", "1M", "--labels-out", tmp_path / "blocks.csv", "--json")
        assert "read in blocks" in done.out, name
        assert (tmp_path / "resident.csv").read_bytes() == (tmp_path / "blocks.csv").read_bytes(), name


def test_methods_lists_pairs_and_graphs():
    assert "pairs of rows" in run("methods", "kmeans").out and "a graph" not in run("methods", "kmeans").out
    assert "a graph" in run("methods", "spectral").out
