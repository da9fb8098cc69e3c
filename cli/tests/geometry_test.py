"""coterie geometry."""

import csv

import numpy as np
import pytest

from support import curves, document, run, write_csv


def test_geometry_agrees_with_direct_computation(tmp_path):
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
    assert "120 of 120 rows" in one and "lambda_u" in one


def test_geometry_label_sources(tmp_path):
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
    # Labels found by a fit are accepted too.
    run("fit", "kmeans", plain, "-k", 2, "--labels-out", tmp_path / "found.csv")
    assert document("geometry", plain, "--labels", tmp_path / "found.csv", "--dim", 1)["looked_at"] == 120
    assert document("geometry", "data:digits", "--dim", 2, "--only", "3", "--scale", "unit")["looked_at"] == 183
    # With one class there is nothing to separate from: no upper bound, null in JSON.
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
def test_geometry_rejects_bad_options(tmp_path, words, code, parts):
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
    assert "label 'b' has 1 row," in error and "needs at least 3" in error
    assert document(*words, "--only", "a")["looked_at"] == 3


def test_geometry_of_sparse_points(tmp_path):
    points = curves(tmp_path)
    lines = [f"{i + 1} {j + 1} {float(value)!r}" for i, row in enumerate(points) for j, value in enumerate(row) if value]
    (tmp_path / "curves.mtx").write_text("\n".join(["%%MatrixMarket matrix coordinate real general", f"{len(points)} 2 {len(lines)}", *lines, ""]))
    np.save(tmp_path / "curves.npy", points)
    (tmp_path / "labels.csv").write_text("label\n" + "".join(f"{i % 2}\n" for i in range(len(points))))
    rows = [document("geometry", tmp_path / f"curves.{kind}", "--labels", tmp_path / "labels.csv", "--dim", 1)["rows"] for kind in ("mtx", "npy")]
    assert rows[0] == rows[1]
