"""Searches over a grid, compared with the command."""
import json
import pickle
import re
import subprocess

import numpy as np
import pytest

import coterie


def test_cells_equal_those_of_the_command(command, iris):
    X, _ = iris
    tuned = coterie.tune(coterie.KMeans(n_init=2, random_state=3), X, {"n_clusters": range(2, 6), "init": ["kmeans++", "random"]})
    done = subprocess.run(
        [command, "tune", "kmeans", "data:iris", "--grid", "clusters=2:5", "--grid", "seeding=kmeans++,random", "--restarts", "2", "--seed", "3", "--truth", "none",
         "--json", "--quiet"],
        capture_output=True, text=True, timeout=120,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    theirs = next(value for value in document.values() if isinstance(value, list) and value and "criterion" in value[0])
    assert [cell["criterion"] for cell in tuned.cells_] == pytest.approx([cell["criterion"] for cell in theirs], rel=1e-9)
    assert [cell["params"]["n_clusters"] for cell in tuned.cells_] == [2, 2, 3, 3, 4, 4, 5, 5]
    assert tuned.best_params_["n_clusters"] == 2
    best = tuned.cells_[tuned.best_index_]["criterion"]
    assert best == max(cell["criterion"] for cell in tuned.cells_)
    assert np.isclose(coterie.metrics.silhouette_score(X, tuned.best_estimator_.labels_), best)
    assert tuned.best_estimator_.n_init == 2 and tuned.best_estimator_.random_state == 3
    assert repr(tuned).startswith("best of 8 cells: KMeans(n_clusters=2")


def test_tune_with_folds_truth_and_kmeans(iris):
    X, y = iris
    tuned = coterie.tune(coterie.Cpd(3, scale="zscore"), X, {"sigma_rel": [0.5, 1.0]}, folds=3, with_kmeans=True, y_true=y, select="ari")
    assert [cell["method"] for cell in tuned.cells_] == ["Cpd", "Cpd", "KMeans"]
    for cell in tuned.cells_:
        assert 0 < cell["unseen"]["adjusted_rand_index"] <= 1 and cell["error"] == ""
    assert tuned.best_estimator_.scale == "zscore" and tuned.best_estimator_.labels_.shape == (150,)


def test_grid_of_scalings():
    wine = coterie.datasets.load_wine()
    tuned = coterie.tune(coterie.Cpd(3), wine.data, {"scale": [None, "zscore"], "center": [True]}, with_kmeans=True, y_true=wine.target, select="nmi")
    assert [(cell["method"], cell["params"]["scale"]) for cell in tuned.cells_] == [("Cpd", "none"), ("Cpd", "zscore"), ("KMeans", "none"), ("KMeans", "zscore")]
    for cell in tuned.cells_:
        model = getattr(coterie, cell["method"])(3, n_init=coterie.Cpd().n_init, scale=cell["params"]["scale"], center=True)
        labels = model.fit(wine.data).labels_
        assert cell["criterion"] == pytest.approx(coterie.metrics.normalized_mutual_info_score(wine.target, labels), rel=1e-12)
    assert tuned.best_estimator_.scale == tuned.best_params_["scale"] == "zscore" and tuned.best_estimator_.center is True
    with pytest.raises(ValueError, match="^grid: silhouette cannot compare values of scale"):
        coterie.tune(coterie.KMeans(3), wine.data, {"scale": ["none", "zscore"]})


def test_failed_cell_has_an_error(iris):
    X, _ = iris
    tuned = coterie.tune(coterie.KMeans(), X, {"n_clusters": [3, 151]})
    assert tuned.cells_[1]["criterion"] is None and "n_clusters: 151 clusters requested, but there are only 150 rows" in tuned.cells_[1]["error"]


@pytest.mark.parametrize(
    "grid, how, words",
    [
        ({"clusters": [2]}, {}, "'clusters' is not accepted for KMeans. Use n_clusters"),
        ({"n_clusters": 3}, {}, "n_clusters=3 is not accepted. Use a list of values"),
        ({"n_clusters": [0]}, {}, "n_clusters"),
        ({"n_clusters": [2]}, {"select": "best"}, "best.*silhouette"),
        ({"n_clusters": [2]}, {"folds": 1}, "folds"),
        ({"n_clusters": [2]}, {"select": "acc"}, "acc"),
        ({}, {}, "grid: {} is not accepted. Use a dict of parameters and values to try"),
        ([2, 3], {}, "grid: .* is not accepted. Use a dict"),
        ({"n_clusters": []}, {}, "grid: n_clusters has no values"),
        ({"n_clusters": [2]}, {"y_true": [0, 1]}, "y_true: .* is not accepted. Give one label per row: 150 labels"),
    ],
)
def test_bad_searches(grid, how, words, iris):
    X, _ = iris
    with pytest.raises(ValueError, match=words):
        coterie.tune(coterie.KMeans(), X, grid, **how)


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(3), np.random.default_rng(3)])
def test_best_estimator_is_the_ranked_fit(random_state, iris):
    X, _ = iris
    model = coterie.KMeans(random_state=random_state, init="random", max_iter=1)
    for _ in range(3):
        tuned = coterie.tune(model, X, {"n_clusters": [8, 9]}, select="objective")
        assert tuned.best_estimator_.inertia_ == tuned.cells_[tuned.best_index_]["criterion"]
    assert tuned.best_estimator_.random_state is random_state


def test_best_estimator_keeps_class_and_parameters(iris):
    class Own(coterie.KMeans):
        pass

    X, y = iris
    with pytest.warns(coterie.CoterieWarning, match="cells are fitted without noise_share=0.1. Only best_estimator_"):
        best = coterie.tune(Own(3, noise_share=0.1, n_init=2), X, {"n_clusters": [2, 3]}).best_estimator_
    assert type(best) is Own and (best.noise_share, best.n_init) == (0.1, 2) and (best.labels_ == -1).sum() == 15
    best = coterie.tune(Own(3, sizes=(70, 80)), X, {"n_clusters": [2]}).best_estimator_
    assert type(best) is Own and best.sizes == (70, 80) and np.bincount(best.labels_).min() >= 70
    poor = coterie.SphericalKMeans(3, noise_share=0.1, missing="drop", n_jobs=1, n_init=2)
    lengths = (1 + y[:, None]) * (1 + X[:, :2] / 100)  # directions do not show the lengths
    tuned = coterie.tune(poor, lengths, {"max_iter": [50]}, with_kmeans=True, y_true=y, select="ari")
    best = tuned.best_estimator_
    assert type(best) is coterie.KMeans and (best.noise_share, best.missing, best.n_jobs, best.n_clusters) == (0.1, "drop", 1, 3)
    assert best.n_init == 2 and best.max_iter == 300 and (best.labels_ == -1).sum() == 15


def test_estimator_type_is_checked(iris):
    for estimator in (coterie.KMeans, "kmeans", object()):
        with pytest.raises(TypeError, match="estimator: .* is not accepted. Use an object of a class of coterie"):
            coterie.tune(estimator, iris[0], {"n_clusters": [2]})


def test_table_columns_equal_those_of_the_command(command, tmp_path):
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(5)
    kinds = np.arange(120) % 3
    table = pandas.DataFrame({"x": random.normal(6.0 * kinds), "y": random.normal(-6.0 * kinds), "kind": np.array(["oak", "elm", "ash"])[kinds]})
    table.loc[[7, 50], "y"] = np.nan
    table.to_csv(tmp_path / "t.csv", index=False)
    for missing in ("drop", "median"):
        model = coterie.KMeans(missing=missing, categorical="one-hot", scale="minmax", random_state=3)
        tuned = coterie.tune(model, table, {"n_clusters": range(2, 5)})
        done = subprocess.run(
            [command, "tune", "kmeans", tmp_path / "t.csv", "--grid", "k=2:4", "--missing", missing, "--categorical", "one-hot", "--scale", "minmax",
             "--seed", "3", "--json", "--quiet"],
            capture_output=True, text=True, timeout=120,
        )
        assert done.returncode == 0, done.stderr
        theirs = json.loads(done.stdout)["cells"]
        assert [cell["criterion"] for cell in tuned.cells_] == pytest.approx([cell["criterion"] for cell in theirs], rel=1e-9)
        assert tuned.best_params_ == {"n_clusters": 3}
        assert (tuned.best_estimator_.labels_ == -1).sum() == (2 if missing == "drop" else 0)


def test_search_page_equals_that_of_the_command(command, iris, tmp_path):
    X, y = iris
    tuned = coterie.tune(coterie.KMeans(random_state=3), X, {"n_clusters": [2, 3, 500], "n_init": [1, 2]}, y_true=y, folds=2)
    page = str(coterie.report(tuned, X, y, source="points.npy"))
    np.save(tmp_path / "points.npy", X)
    np.save(tmp_path / "truth.npy", np.asarray(y, dtype=np.int32))
    subprocess.run([command, "tune", "kmeans", "points.npy", "--truth", "truth.npy", "--grid", "clusters=2,3,500", "--grid", "restarts=1,2",
                    "--folds", "2", "--seed", "3", "--report", "page.html", "--quiet"], cwd=tmp_path, check=True, timeout=120, capture_output=True)
    theirs = (tmp_path / "page.html").read_text()
    part = lambda text, pattern: re.findall(pattern, text, re.DOTALL)
    cells = lambda text: re.sub(r'<td class="n">[^<]*</td></tr>', "</tr>", part(text, '<table id="cells">.*?</table>')[0])  # without seconds
    assert cells(page) == cells(theirs) and cells(page).count("<tr>") == 7 and cells(page).count(">refused<") == 2
    for pattern in ('<section id="curves".*?</section>', '<script type="text/plain" id="map-data">.*?</script>'):
        assert part(page, pattern) == part(theirs, pattern) != []
    refused, = part(page, "<h2>Refused</h2>.*?</section>")
    assert tuned.cells_[4]["error"] in refused and "n_clusters" in refused and "`" not in refused
    best = tuned.best_params_
    assert f"clusters={best['n_clusters']}, restarts={best['n_init']}</b> was chosen among 6 cells in 2 folds" in page
    # The page of the best model alone does not show the search. A pickled search gives the same page.
    assert "was chosen among" not in str(coterie.report(tuned.best_estimator_, X))
    again = pickle.loads(pickle.dumps(tuned))
    assert cells(str(coterie.report(again, X))) == cells(page)
