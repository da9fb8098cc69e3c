"""Outlier scores and noise: what the command reports and writes."""

import csv
import json
import re

import numpy as np
import pytest

from support import document, run


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Three groups of 100 rows, and ten rows far from all of them."""
    folder = tmp_path_factory.mktemp("outliers")
    random = np.random.default_rng(5)
    groups = np.repeat([[0.0, 0.0], [9.0, 0.0], [4.0, 8.0]], 100, axis=0) + random.normal(size=(300, 2))
    angles = 2 * np.pi * np.arange(10) / 10
    strays = np.array([4.0, 3.0]) + 14 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    points = np.concatenate([groups, strays])
    np.save(folder / "points.npy", points)
    np.savetxt(folder / "points.csv", points, delimiter=",", header="x,y", comments="", fmt="%.17g")
    return folder, points


def scores_of(points, labels):
    """The scores by definition. For training rows of k-means, `labels` are those of the model."""
    means = np.array([points[labels == j].mean(axis=0) for j in range(3)])
    distances = np.linalg.norm(points - means[labels], axis=1)
    return distances / np.sqrt([np.mean(distances[labels == j] ** 2) for j in range(3)])[labels]


def test_noise_is_reported_written_and_predicted(rows, tmp_path):
    folder, points = rows
    words = ["fit", "kmeans", folder / "points.csv", "-k", 3, "--restarts", 10]
    run(*words, "--labels-out", tmp_path / "plain.npy", "--quiet")
    plain = np.load(tmp_path / "plain.npy")
    value = document(*words, "--noise-share", 0.032, "--labels-out", tmp_path / "l.npy", "--table-out", tmp_path / "t.csv", "--model-out", tmp_path / "m",
                     "--report", tmp_path / "r.html")
    scores = scores_of(points, plain)
    noise = scores > np.sort(scores)[-11]
    labels = np.load(tmp_path / "l.npy")
    assert noise[300:].all() and noise.sum() == 10
    assert (labels == np.where(noise, -1, plain)).all()
    assert value["noise"] == {"points": 10, "share": pytest.approx(10 / 310), "beyond": pytest.approx(np.sort(scores)[-11])}
    assert sum(value["sizes"]) == 300
    assert sorted(each["row"] for each in value["outliers"]) == list(range(301, 311))
    page = (tmp_path / "r.html").read_text()
    assert '"outlier score"' in page and "largest outlier scores" in page and "noise_beyond" in page
    with open(tmp_path / "t.csv", newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["label"] for row in table] == ["" if label < 0 else str(label) for label in labels]
    assert [float(row["outlier_score"]) for row in table] == pytest.approx(scores)
    text = run("predict", tmp_path / "m", folder / "points.csv", "--labels-out", tmp_path / "p.npy", "--outlier-scores-out", tmp_path / "s.npy").out
    assert f"noise          10 (3.2 %), of outlier scores above {np.sort(scores)[-11]:.4g}" in text
    assert (np.load(tmp_path / "p.npy") == labels).all()
    assert np.load(tmp_path / "s.npy")[:, 0] == pytest.approx(scores)
    described = document("describe", tmp_path / "m", folder / "points.csv")
    assert [each["row"] - 1 for each in described["outliers"]] == list(np.argsort(-scores)[:10])
    assert described["noise"]["points"] == 10
    assert re.search(rf"outliers +rows {np.argmax(scores) + 1} \({scores.max():.3g}\), 3", run("describe", tmp_path / "m", folder / "points.csv").out)


@pytest.mark.parametrize("method", ["kmeans", "subspace"])
def test_outlier_scores_of_rows_in_blocks_and_in_memory_agree(method, tmp_path):
    random = np.random.default_rng(3)
    np.save(tmp_path / "points.npy", random.normal(size=(60000, 40)) + 3 * random.normal(size=(4, 40))[random.integers(4, size=60000)])
    found = {}
    for name, words in (("memory", []), ("blocks", ["--memory", "16M"])):
        run("fit", method, "points.npy", "-k", 4, "--max-iterations", 5, "--noise-share", 0.01, *words, "--labels-out", f"{name}.npy", "--model-out", name, "--quiet",
            cwd=tmp_path)
        run("predict", name, "points.npy", *words, "--outlier-scores-out", f"{name}-scores.npy", "--quiet", cwd=tmp_path)
        found[name] = np.load(tmp_path / f"{name}.npy"), np.load(tmp_path / f"{name}-scores.npy")
    assert (found["memory"][0] == found["blocks"][0]).all() and (found["memory"][0] < 0).sum() == 600
    assert (found["memory"][1] == found["blocks"][1]).all()


def test_noise_share_rejects_bad_values_and_combinations(rows):
    folder, _ = rows
    done = run("fit", "hdbscan", folder / "points.csv", "--noise-share", 0.1, code=2)
    assert "--noise-share: method hdbscan itself finds which rows are noise" in done.err
    for share in ("0.5", "-0.1", "nan", "many"):
        assert "--noise-share" in run("fit", "kmeans", folder / "points.csv", "--noise-share", share, code=2).err
    done = run("fit", "kmeans", folder / "points.csv", "--noise-share", 0.1, "--sizes", "50:", code=2)
    assert "--noise-share cannot be combined with --partial-labels, --label-share or --sizes" in done.err


def test_output_column_names_do_not_collide(tmp_path):
    (tmp_path / "a.csv").write_text("x,outlier_score\n1,2\n2,3\n9,9\n8,9\n")
    run("fit", "kmeans", "a.csv", "-k", 2, "--table-out", "t.csv", "--quiet", cwd=tmp_path)
    assert (tmp_path / "t.csv").read_text().splitlines()[0] == "x,outlier_score,label,distance,coterie_outlier_score"
    assert json.loads(run("fit", "kmeans", "a.csv", "-k", 2, "--json", cwd=tmp_path).out).get("noise") is None
