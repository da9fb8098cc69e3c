"""coterie describe, and the descriptions by fit, compared with NumPy. Also tests rows that are not the training data."""

import json
import os
import shutil
import subprocess

import numpy as np
import pytest

from support import COMMAND, blobs, document, run, texts, write_csv

COLUMNS = ["length", "width", "height"]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("describe")
    points, _ = blobs()
    points[:, 1] = np.random.default_rng(5).normal(size=len(points))  # uninformative
    write_csv(folder / "points.csv", points, COLUMNS)
    run("fit", "kmeans", folder / "points.csv", "-k", 3, "--model-out", folder / "m.st", "--labels-out", folder / "l.npy", "--scale", "zscore")
    return folder, points, np.load(folder / "l.npy")


def test_statistics_agree_with_numpy(fitted):
    folder, points, labels = fitted
    value = document("describe", folder / "m.st", folder / "points.csv")
    assert (value["n"], value["d"], value["clusters"], value["sizes"]) == (300, 3, 3, [100, 100, 100])
    for j, cluster in enumerate(value["profiles"]):
        inside, outside = points[labels == j], points[labels != j]
        spread = np.sqrt((((inside - inside.mean(0)) ** 2).sum(0) + ((outside - outside.mean(0)) ** 2).sum(0)) / 300)
        difference = (inside.mean(0) - outside.mean(0)) / spread
        told = [p for p in np.argsort(-abs(difference)) if abs(difference[p]) >= 0.2]
        assert [column["name"] for column in cluster["columns"]] == [COLUMNS[p] for p in told]
        for p, column in zip(told, cluster["columns"]):
            assert column["difference"] == pytest.approx(difference[p], rel=1e-9)
            assert (column["mean"], column["elsewhere"]) == (pytest.approx(inside[:, p].mean()), pytest.approx(outside[:, p].mean()))
            assert column["quartiles"] == pytest.approx(list(np.quantile(inside[:, p], [0.25, 0.5, 0.75])), rel=1e-12)
        assert all(labels[row - 1] == j for row in cluster["typical"] + cluster["doubtful"])
    text = run("describe", folder / "m.st", folder / "points.csv").out
    assert "typical rows" in text and "(exact, of the columns as prepared: scale zscore)" in text
    # fit reports a short form of the same.
    short = document("fit", "kmeans", folder / "points.csv", "-k", 3, "--scale", "zscore")["profiles"]
    for one, whole in zip(short, value["profiles"]):
        assert one["share"] == whole["share"] and "typical" not in one
        assert [(column["name"], column["difference"]) for column in one["columns"]] == [(c["name"], c["difference"]) for c in whole["columns"]]


def test_describe_accepts_models_of_many_methods(fitted):
    folder, _, _ = fitted
    for method in ("ward", "soft-kmeans", "spherical-kmeans", "kernel-kmeans", "minibatch-kmeans", "spectral", "subspace", "cpd", "entropy", "sela", "ssc", "wmc"):
        run("fit", method, folder / "points.csv", "-k", 3, "--model-out", folder / "other.st", "--quiet")
        value = document("describe", folder / "other.st", folder / "points.csv", "--quiet")
        assert sum(cluster["points"] for cluster in value["profiles"]) == 300
        assert "NaN" not in json.dumps(value)


def test_describe_warns_of_rows_far_from_training_data(fitted, tmp_path):
    folder, points, _ = fitted
    write_csv(tmp_path / "far.csv", (points * 1000)[:50], COLUMNS)
    done = run("describe", folder / "m.st", tmp_path / "far.csv")
    assert "outside the training data" in done.err and "of 50 rows" in done.err
    write_csv(tmp_path / "one.csv", points[:30:3], COLUMNS)
    assert "all rows are in cluster" in run("describe", folder / "m.st", tmp_path / "one.csv").err
    assert run("describe", folder / "m.st", folder / "points.csv").err == ""


def test_weights_and_bad_input(fitted, tmp_path):
    folder, points, labels = fitted
    write_csv(tmp_path / "w.csv", [[i % 3] for i in range(300)], ["weight"])
    value = document("describe", folder / "m.st", folder / "points.csv", "--weights", tmp_path / "w.csv")
    weights = np.arange(300) % 3
    assert [cluster["share"] for cluster in value["profiles"]] == pytest.approx([weights[labels == j].sum() / weights.sum() for j in range(3)])
    assert value["silhouettes"] == "simplified"
    write_csv(tmp_path / "short.csv", [[1], [2]], ["weight"])
    assert "short.csv: 2 weights for 300 rows" in run("describe", folder / "m.st", folder / "points.csv", "--weights", tmp_path / "short.csv", code=2).err
    write_csv(tmp_path / "bad.csv", [[1, 2, 3], [1, "nan", 3]], COLUMNS)
    assert "bad.csv" in run("describe", folder / "m.st", tmp_path / "bad.csv", code=3).err


def test_describe_is_the_same_in_several_processes(fitted, tmp_path):
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        pytest.skip("several processes need mpirun")
    folder, points, _ = fitted
    np.save(tmp_path / "points.npy", points)
    words = ["describe", str(folder / "m.st"), str(tmp_path / "points.npy"), "--json", "--quiet"]
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    alone = json.loads(run(*words).out)
    done = subprocess.run([mpirun, "-n", "3", "--bind-to", "none", COMMAND, *words], env=environment, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    together = json.loads(done.stdout)
    assert together["profiles"] == alone["profiles"] and together["silhouette"] == alone["silhouette"]


def test_columns_with_equal_names_are_matched_in_order(tmp_path):
    (tmp_path / "fit.csv").write_text("a,x,x\n1,100,0\n2,101,0\n1,900,5\n2,901,5\n")
    run("fit", "kmeans", tmp_path / "fit.csv", "-k", 2, "--model-out", tmp_path / "m.st", "--labels-out", tmp_path / "l.csv", "--quiet")
    (tmp_path / "new.csv").write_text("x,x,a\n100,0,1\n900,5,2\n")
    done = run("predict", tmp_path / "m.st", tmp_path / "new.csv", "--labels-out", tmp_path / "p.csv", "--quiet")
    fitted = (tmp_path / "l.csv").read_text().split()
    assert (tmp_path / "p.csv").read_text().split() == [fitted[0], fitted[1], fitted[3]]
    (tmp_path / "new.csv").write_text("a,x\n1,100\n")
    assert "column 'x': 1 column has this name, but 2 are needed" in run("predict", tmp_path / "m.st", tmp_path / "new.csv", code=3).err


def test_predict_warns_of_rows_far_from_training_data(tmp_path):
    run("fit", "kmeans", "data:iris", "-k", 3, "--model-out", tmp_path / "m.st", "--quiet")
    (tmp_path / "new.csv").write_text("sepal_length,sepal_width,petal_length,petal_width\n51,35,14,2\n4.9,3,1.4,0.2\n")
    value = document("predict", tmp_path / "m.st", tmp_path / "new.csv")
    assert [text for text in texts(value["warnings"]) if text.startswith("1 of 2 rows lies outside the training data")]
    assert not [text for text in texts(document("predict", tmp_path / "m.st", "data:iris")["warnings"]) if "outside the training" in text]


def test_comparison_counts_rows_that_become_or_leave_noise(tmp_path):
    run("fit", "hdbscan", "data:wine", "--scale", "zscore", "--model-out", tmp_path / "a.st", "--labels-out", tmp_path / "a.npy", "--quiet")
    run("fit", "hdbscan", "data:wine", "--scale", "zscore", "--min-cluster-size", 10, "--model-out", tmp_path / "b.st", "--labels-out", tmp_path / "b.npy", "--quiet")
    a, b = np.load(tmp_path / "a.npy"), np.load(tmp_path / "b.npy")
    value = document("describe", tmp_path / "a.st", "data:wine", "--compare-with", tmp_path / "b.st")["comparison"]
    assert value["moved"] >= ((a < 0) != (b < 0)).sum() > 0
    text = run("describe", "a.st", "data:wine", "--compare-with", "b.st", "--quiet", cwd=tmp_path).out
    assert f"{value['moved']} of 178 rows moved" in text and "from its noise to" in text


def test_exclude_with_a_data_set():
    assert document("fit", "kmeans", "data:iris", "-k", 3, "--exclude", 1)["d"] == 3
