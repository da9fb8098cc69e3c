"""coterie tune."""

import json
import re
import select

import numpy as np
import pytest

from support import SCORES, document, read_words, run


def test_tune_finds_three_blobs_and_writes_the_same_files_as_fit(files, tmp_path):
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


def test_tune_criteria_agree_with_direct_computation(files, tmp_path):
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


def test_tune_is_the_same_for_any_number_of_threads(tmp_path):
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
    assert "300 rows, 3 cells, 2 folds, by the largest silhouette" in lines[0]
    assert lines[1].split()[:3] == ["clusters", "silhouette", "seen"] and "unseen ACC" in lines[1]
    assert lines[3].startswith("*") and lines[3].split()[1] == "3" and "refused" in lines[4]
    assert "chosen (*)" in out and "clusters=3" in out and "1 cell; clusters=400: " in out and "kmeans on " in out
    out = run("tune", "kmeans", files / "points.npy", "--grid", "k=2:6", "--grid", "restarts=1:7").out
    assert "the best 20 of 35 cells" in out and len([line for line in out.splitlines() if re.match(r"[* ] +\d+ +\d+ +0\.", line)]) == 20
    done = run("tune", "kmeans", files / "points.npy", "--grid", "k=2:4", "--labels-out", "-")
    assert done.out.splitlines()[0] == "label" and len(done.out.splitlines()) == 301 and "chosen" in done.err


def test_tune_with_kmeans_can_choose_kmeans(files, tmp_path):
    # Two clouds in the same direction are one cluster by cosine.
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
    # Without a number of clusters, the labels determine it.
    value = document(*words, "--grid", "restarts=1", cwd=files)
    assert value["best_options"]["clusters"] is None and value["fit"]["options"]["clusters"] == 3


def test_failed_final_fit_keeps_search_results(files, tmp_path):
    # Half of the points suffice for three clusters of 50 (101 / 2, rounded down). All 300 do not suffice for three of 101.
    words = ["tune", "kmeans", files / "points.npy", "-k", 3, "--grid", "restarts=1:2", "--folds", 2, "--sizes", "101:", "--labels-out",
             tmp_path / "l.csv"]
    done = run(*words, code=2)
    assert "--sizes" in done.err and "chosen (*)" in done.out and "objective" not in done.out
    assert "fit" not in json.loads(run(*words, "--json", code=2).out) and list(tmp_path.iterdir()) == []


def test_final_fit_uses_the_chosen_scaling(tmp_path):
    words = ["data:wine", "-k", 3, "--grid", "scale=none,minmax,zscore", "--select", "nmi"]
    value = document("tune", "kmeans", *words, "--model-out", tmp_path / "m.st", "--report", tmp_path / "page.html")
    assert [cell["options"] for cell in value["cells"]] == [{"scale": scale} for scale in ("none", "minmax", "zscore")]
    nmi = {}
    for scale in ("none", "minmax", "zscore"):
        nmi[scale] = document("fit", "kmeans", "data:wine", "-k", 3, "--scale", scale, "--model-out", tmp_path / f"{scale}.st")["scores"]["nmi"]
    assert [cell["criterion"] for cell in value["cells"]] == list(nmi.values())
    best = max(nmi, key=nmi.get)
    assert value["best_preparation"] == {"center": False, "scale": best} and best != "none" and value["best_options"] == {"clusters": 3}
    assert (tmp_path / "m.st").read_bytes() == (tmp_path / f"{best}.st").read_bytes()
    assert f"scale={best}" in (tmp_path / "page.html").read_text()
    done = run("tune", "kmeans", *words[:-2], code=2)
    assert "silhouette cannot compare values of --scale" in done.err
    assert "--scale: this option is given, and it is also on the grid" in run("tune", "kmeans", *words, "--scale", "unit", code=2).err


def test_tune_with_missing_values_words_and_dates(tmp_path):
    random = np.random.default_rng(5)
    rows = ["x,y,kind,day"]
    for i in range(120):
        kind = i % 3
        y = "" if i in (7, 50) else f"{random.normal(-6 * kind):.4f}"
        rows.append(f"{random.normal(6 * kind):.4f},{y},{['oak', 'elm', 'ash'][kind]},2026-0{kind + 1}-1{i % 9}")
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    error = run("tune", "kmeans", tmp_path / "t.csv", "--grid", "k=2:4", code=3).err
    assert "--categorical" in error
    for missing in ("drop", "mean", "median"):
        words = ["--missing", missing, "--categorical", "one-hot", "--dates", "--scale", "minmax", "--seed", 3]
        value = document("tune", "kmeans", tmp_path / "t.csv", "--grid", "k=2:4", *words, "--labels-out", tmp_path / "l.csv", "--model-out", tmp_path / "m")
        assert value["best_options"] == {"clusters": 3}
        run("fit", "kmeans", tmp_path / "t.csv", "-k", 3, *words, "--labels-out", tmp_path / "l2.csv")
        assert (tmp_path / "l.csv").read_text() == (tmp_path / "l2.csv").read_text()
        assert (tmp_path / "l.csv").read_text().splitlines().count('""') + (tmp_path / "l.csv").read_text().splitlines().count("") == (2 if missing == "drop" else 0)
