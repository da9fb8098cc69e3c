"""Choice of the number of clusters and of the method: fit -k auto, tune by rules, compare, consensus."""

import csv
import re

import numpy as np
import pytest

from support import document, run, texts, write_csv


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    random = np.random.default_rng(5)
    truth = np.repeat([0, 1, 2], 40)
    points = random.normal(size=(120, 3)) + 9 * np.eye(3)[truth]
    path = tmp_path_factory.mktemp("three") / "points.npy"
    np.save(path, points)
    np.save(path.with_name("truth.npy"), truth.astype(np.int32))
    return path


@pytest.mark.parametrize("method", ["kmeans", "ward"])
def test_auto_fits_the_recommended_number_of_clusters(three, method, tmp_path):
    value = document("fit", method, three, "-k", "auto", "--labels-out", tmp_path / "auto.npy", "--seed", 2)
    choice = value["choice"]
    assert value["clusters_found"] == value["options"]["clusters"] == choice["recommended"] == 3 and choice["sureness"] == "sure"
    assert choice["clusters"] == list(range(1, 11)) and "square root of 120" in choice["clusters_are"]
    assert [each["name"] for each in choice["criteria"]] == [
        "silhouette", "calinski-harabasz", "davies-bouldin", "gap", "bic", "stability", "prediction-strength"]
    for each in choice["criteria"]:
        assert len(each["values"]) == 10 and each["chosen"] in choice["clusters"] and each["left_out"] is None
    assert "choose k" in value["seconds"]
    run("fit", method, three, "-k", 3, "--labels-out", tmp_path / "three.npy", "--seed", 2)
    assert (tmp_path / "auto.npy").read_bytes() == (tmp_path / "three.npy").read_bytes()
    text = run("fit", method, three, "-k", "auto", "--threads", 1).out
    assert "chosen among 1 to 10" in text and "sure; 3: " in text


def test_auto_with_weights_and_partial_labels(three, tmp_path):
    np.save(tmp_path / "weights.npy", np.full(120, 2.0))
    refused = run("fit", "kmeans", three, "-k", "auto", "--weights", tmp_path / "weights.npy", "--labels-out", tmp_path / "l.csv", code=2)
    assert "weights" in refused.err and not (tmp_path / "l.csv").exists()
    assert "auto, or a whole number, at least 1" in run("fit", "ward", three, "-k", "some", code=2).err
    # With partial labels, auto means the number of labels.
    known = np.full(120, -1, dtype=np.int32)
    known[[0, 50, 100]] = [0, 1, 2]
    np.save(tmp_path / "known.npy", known)
    value = document("fit", "kmeans", three, "-k", "auto", "--partial-labels", tmp_path / "known.npy")
    assert value["clusters_found"] == 3 and "choice" not in value


def test_tune_selects_by_rules(three):
    value = document("tune", "kmeans", three, "--grid", "k=2:6", "--select", "recommended")
    assert value["best_options"]["clusters"] == 3 and value["choice"]["recommended"] == 3
    assert [cell["criterion"] for cell in value["cells"]] == [0, 7, 0, 0, 0]
    for select in ("gap", "stability", "prediction-strength", "calinski-harabasz", "davies-bouldin", "bic"):
        assert document("tune", "kmeans", three, "--grid", "k=2:6", "--select", select)["best_options"]["clusters"] == 3
    text = run("tune", "kmeans", three, "--grid", "k=2:6", "--select", "gap").out
    assert "by the rule of gap" in text and "recommended  3 clusters (sure)" in text
    assert "--folds" in run("tune", "kmeans", three, "--grid", "k=2:6", "--select", "gap", "--folds", 2, code=2).err
    assert "--clusters on the grid and nothing else" in run("tune", "kmeans", three, "--grid", "restarts=1:2", "--select", "gap", code=2).err


def test_compare(three):
    value = document("compare", three, "-k", 3, "--truth", three.with_name("truth.npy"))
    names = [method["method"] for method in value["methods"]]
    assert names[0] == "kmeans" and "ward" in names and "minibatch-kmeans" not in names
    assert {each["method"] for each in value["left_out"]}.isdisjoint(names) and all(each["why"] for each in value["left_out"])
    for method in value["methods"]:
        if method["error"] is None:
            assert sum(method["sizes"]) == 120 and method["seconds"] >= 0 and 0 <= method["scores"]["acc"] <= 1
    ward = names.index("ward")
    assert value["agreement"][0][ward] == value["agreement"][0][0] == 1 and value["methods"][ward]["scores"]["ari"] == 1
    text = run("compare", three, "-k", 3, "--methods", "ward,kmeans").out
    assert "not compared" not in text and "ARI" in text and text.index("ward") < text.index("kmeans")
    assert "kmeans" in run("compare", three, "-k", 3, "--methods", "kmean", code=2).err
    assert "needs -k" in run("compare", three, code=2).err
    assert "at least 1" in run("compare", three, "-k", 0, code=2).err


def test_compare_reports_failed_methods(three):
    value = document("compare", three, "-k", 200, "--methods", "kmeans,ward", code=3)
    assert all("200" in method["error"] and method["scores"] is None for method in value["methods"])
    done = run("compare", three, "-k", 200, "--methods", "kmeans", code=3)
    assert "kmeans failed" in done.out and "--clusters" in done.out
    assert "no method could be fitted; the first, kmeans: " in done.err


def test_compare_writes_no_page_if_all_methods_fail(three, tmp_path):
    words = ["compare", three, "-k", 200, "--methods", "kmeans,ward", "--report", tmp_path / "page.html"]
    assert "report" not in run(*words, code=3).out
    assert not document(*words, code=3)["written"] and list(tmp_path.iterdir()) == []
    (tmp_path / "page.html").write_text("of yesterday")
    run(*words, code=3)
    assert (tmp_path / "page.html").read_text() == "of yesterday"
    # One method that can be fitted is enough.
    (tmp_path / "few.csv").write_text("x,y\n1,2\n2,3\n9,8\n8,9\n")
    one = document("compare", tmp_path / "few.csv", "-k", 3, "--methods", "kmeans,spherical-kmeans,subspace", "--report", tmp_path / "one.html")
    assert one["written"] and (tmp_path / "one.html").exists()


def test_compare_prints_each_warning_once(tmp_path):
    lines = ["x,y"] + [f"{i % 2 * 9 + i / 100},{i / 50}" for i in range(40)]
    lines[3] = "NA,1"
    (tmp_path / "points.csv").write_text("\n".join(lines) + "\n")
    words = ["compare", tmp_path / "points.csv", "-k", 2, "--missing", "drop", "--report", tmp_path / "page.html"]
    told = [line.removeprefix("coterie: warning: ") for line in run(*words, "--methods", "kmeans,ward,soft-kmeans").err.splitlines()]
    of_rows = [line for line in told if "missing value" in line]
    assert of_rows == ["1 row of 40 has a missing value, was left out and has no label"] and len(told) == len(set(told))
    assert (tmp_path / "page.html").read_text().count("has a missing value") == 1
    # A warning of several methods is printed once, with their names. The document has it for each method.
    few = ["compare", tmp_path / "few.csv", "-k", 2, "--methods", "kmeans,spectral,hdbscan"]
    (tmp_path / "few.csv").write_text("x,y\n1,2\n2,3\n9,8\n8,9\n")
    told = run(*few).err
    warnings = {method["method"]: method["warnings"] for method in document(*few, "--quiet")["methods"]}
    assert warnings["spectral"] and warnings["hdbscan"]
    for warning in warnings["spectral"]:
        place = f"{warning['option']}: " if "option" in warning else ""
        said = warning["text"].removeprefix(place)
        assert told.count(said) == 1 and f"warning: {place}spectral: {said}" in told


@pytest.mark.parametrize("method", ["aml", "cpd", "wmc", "spectral", "fme"])
def test_tune_of_points_in_blocks(three, method):
    assert len(document("tune", method, three, "--grid", "k=2:3", "--memory", "1M")["cells"]) == 2


def test_infinite_criteria_are_blank(tmp_path):
    write_csv(tmp_path / "points.csv", [[1, 2], [1, 2], [9, 5], [9, 5]], ["x", "y"])
    page = tmp_path / "page.html"
    value = document("compare", tmp_path / "points.csv", "-k", 2, "--methods", "kmeans", "--report", page)
    assert value["methods"][0]["calinski_harabasz"] is None and ">inf<" not in page.read_text()
    assert " inf" not in run("compare", tmp_path / "points.csv", "-k", 2, "--methods", "kmeans").out
    words = ["tune", "kmeans", tmp_path / "points.csv", "--grid", "k=2:3", "--report", page]
    for select in ("calinski-harabasz", "recommended"):
        assert " inf" not in run(*words, "--select", select).out and ">inf<" not in page.read_text()


def test_consensus(three, tmp_path):
    value = document("consensus", three, "-k", 3, "--fits", 20, "--methods", "kmeans,ward", "--labels-out", tmp_path / "labels.npy",
                     "--rows-out", tmp_path / "rows.csv")
    assert sorted(value["sizes"]) == [40, 40, 40] and value["fits"] == 20 and value["part"] == 96 and value["sample"] is None
    assert value["confidence"] > 0.9 and value["methods"] == ["kmeans", "ward"]
    labels = np.load(tmp_path / "labels.npy")
    assert len(set(labels[:40])) == 1
    with open(tmp_path / "rows.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["label"]) for row in rows] == labels.tolist() and [int(row["row"]) for row in rows] == list(range(1, 121))
    assert all(-1 <= float(row["confidence"]) <= 1 for row in rows)
    assert np.isclose(np.mean([float(row["confidence"]) for row in rows]), value["confidence"])
    assert "needs -k" in run("consensus", three, code=2).err
    assert "at most the number of rows, 120" in run("consensus", three, "-k", 121, code=2).err
    assert "from 2 to 10000" in run("consensus", three, "-k", 3, "--fits", 1, code=2).err


def test_consensus_prints_warnings_of_fits_once(tmp_path):
    points = np.random.default_rng(2).normal(size=(200, 2))
    points[7] = 1000
    np.save(tmp_path / "points.npy", points)
    words = ["consensus", tmp_path / "points.npy", "-k", 3, "--fits", 20, "--seed", 4]
    told = [line.removeprefix("coterie: warning: ") for line in run(*words).err.splitlines() if line.startswith("coterie: warning: ")]
    warnings = texts(document(*words, "--quiet")["warnings"])
    assert told == warnings and len(warnings) == 2  # one of the fits, one of the consensus itself
    few = [text for text in warnings if "has only 1 or 2 of 160 rows: outliers form their own clusters" in text]
    assert len(few) == 1
    count, fits = map(int, re.match("([0-9]+) of ([0-9]+) fits warn: ", few[0]).groups())
    assert fits == 20 and 8 <= count < 20  # the fits whose random four fifths of the rows include row 8
    assert run(*words, "--quiet").err == ""


def test_rows_with_missing_values_have_no_label(tmp_path):
    lines = ["x,y"] + [f"{i % 2 * 9 + i / 100},{i / 50}" for i in range(40)]
    lines[3] = "NA,1"
    (tmp_path / "points.csv").write_text("\n".join(lines) + "\n")
    run("consensus", tmp_path / "points.csv", "-k", 2, "--fits", 5, "--missing", "drop", "--rows-out", tmp_path / "rows.csv")
    rows = (tmp_path / "rows.csv").read_text().splitlines()
    assert len(rows) == 41 and rows[3] == "3,," and rows[4] == "4,0,1" or rows[4] == "4,1,1"
    value = document("fit", "kmeans", tmp_path / "points.csv", "-k", "auto", "--missing", "drop")
    assert value["choice"]["recommended"] == value["clusters_found"] == 2


def test_consensus_document_has_command_and_date(three):
    value = document("consensus", three, "-k", 3, "--fits", 5)
    assert value["command"].startswith("coterie consensus") and value["date"] and value["version"]
