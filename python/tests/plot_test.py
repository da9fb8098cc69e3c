"""Plots show what the model contains."""
import subprocess
import sys

import matplotlib

matplotlib.use("Agg")
import numpy as np
import pytest
import scipy.sparse
from matplotlib import pyplot

import coterie
from coterie import _input


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def drawn(ax):
    """label -> rows, for each collection of points."""
    return {cloud.get_label(): np.asarray(cloud.get_offsets()) for cloud in ax.collections}


def test_map_shows_every_row_with_its_cluster(iris):
    X, _ = iris
    model = coterie.KMeans(3, n_init=3).fit(X)
    ax = coterie.plot.clusters(model, X)
    clouds = drawn(ax)
    assert {label: len(rows) for label, rows in clouds.items()} == {str(i): n for i, n in enumerate(np.bincount(model.labels_))}
    # The first two principal axes: their variances are the largest eigenvalues of the covariance.
    flat = np.concatenate(list(clouds.values()))
    assert np.allclose(np.sort(flat.var(axis=0)), np.sort(np.linalg.eigvalsh(np.cov(X.T, bias=True)))[-2:])
    assert "principal axis 1 (92% of the variance)" == ax.get_xlabel()
    assert ax.get_title() == "KMeans: 3 clusters"


def test_map_uses_the_space_of_the_model(iris):
    X, _ = iris
    two = coterie.KMeans(3, scale="zscore").fit(X[:, :2])
    rows = np.concatenate(list(drawn(coterie.plot.clusters(two, X[:, :2])).values()))
    scaled = (X[:, :2] - X[:, :2].mean(axis=0)) / X[:, :2].std(axis=0)
    assert np.allclose(np.sort(rows, axis=0), np.sort(scaled, axis=0))
    model = coterie.Spectral(3).fit(X)
    rows = np.concatenate(list(drawn(coterie.plot.clusters(model, X)).values()))
    space = model.transform(X)
    expected = np.linalg.svd(space - space.mean(axis=0), compute_uv=False)[:2]
    assert np.allclose(np.linalg.norm(rows, axis=0), expected)


def test_map_axis_names_many_rows_and_labels(iris):
    X, _ = iris
    wine = coterie.datasets.load_wine(as_frame=True).data[["alcohol", "ash"]]
    ax = coterie.plot.clusters(coterie.KMeans(2).fit(wine), wine)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("alcohol", "ash")
    one = coterie.KMeans(2).fit(X[:, :1])
    assert np.allclose(np.sort(np.concatenate(list(drawn(coterie.plot.clusters(one, X[:, :1])).values()))[:, 0]), np.sort(X[:, 0]))
    many = np.random.default_rng(0).normal(size=(12_001, 3))
    ax = coterie.plot.clusters(coterie.KMeans(2).fit(many), many)
    assert ax.get_title() == "KMeans: 2 clusters, 4,001 of 12,001 rows"
    sized = coterie.KMeans(3, sizes=50).fit(X)
    own = pyplot.subplots()[1]
    assert coterie.plot.clusters(sized, X, labels=sized.labels_, ax=own) is own
    assert [len(rows) for rows in drawn(own).values()] == [50, 50, 50]
    ax = coterie.plot.clusters(coterie.KMeans(3).fit("data:iris"), "data:iris")
    assert sum(len(rows) for rows in drawn(ax).values()) == 150


def test_map_of_one_hot_model(iris):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"k": ["x", "y"] * 75, "length": iris[0][:, 2]})[["length", "k"]]
    model = coterie.KMeans(2, categorical="one-hot").fit(frame)
    rows = np.concatenate(list(drawn(coterie.plot.clusters(model, frame)).values()))
    coded = np.column_stack([iris[0][:, 2], *(np.sqrt(0.5) * (frame["k"] == word) for word in "xy")])
    expected = np.linalg.svd(coded - coded.mean(axis=0), compute_uv=False)[:2]
    assert np.allclose(np.linalg.norm(rows, axis=0), expected)


def test_plots_of_sizes_and_objective(iris):
    X, _ = iris
    model = coterie.KMeans(12).fit(X)
    assert [bar.get_height() for bar in coterie.plot.sizes(model).patches] == model.fit_report_["sizes"]
    line = coterie.plot.objective(model).lines[0]
    assert np.array_equal(line.get_ydata(), model.fit_report_["objective_per_iteration"])
    assert np.array_equal(line.get_xdata(), np.arange(1, model.n_iter_ + 1))
    with pytest.raises(ValueError, match="Ward has no iterations"):
        coterie.plot.objective(coterie.Ward(3).fit(X))


def test_map_of_one_row_and_no_clusters(iris):
    X, _ = iris
    ax = coterie.plot.clusters(coterie.KMeans(3).fit(X), X[:1])
    assert [rows.tolist() for rows in drawn(ax).values()] == [[[0.0, 0.0]]]
    noise = coterie.HDBSCAN(min_cluster_size=70).fit(np.random.default_rng(0).random((100, 2)))
    assert noise.n_clusters_ == 0 and coterie.plot.sizes(noise).get_title() == "HDBSCAN: 0 rows in 0 clusters"


def test_plot_rejects_bad_arguments(iris, tmp_path):
    X, _ = iris
    model = coterie.KMeans(3).fit(X)
    with pytest.raises(ValueError, match="not fitted yet"):
        coterie.plot.clusters(coterie.KMeans(3), X)
    with pytest.raises(ValueError, match="X has 2 features, but KMeans is expecting 4"):
        coterie.plot.clusters(model, X[:, :2])
    with pytest.raises(ValueError, match="labels: .* is not accepted. Give one label per row: 150 labels"):
        coterie.plot.clusters(model, X, labels=[0, 1])
    with pytest.raises(TypeError, match="the map needs dense data"):
        coterie.plot.clusters(model, scipy.sparse.csr_matrix(X))
    coterie.save(model, tmp_path / "m.coterie")
    with pytest.raises(AttributeError, match="exists only after fit"):
        coterie.plot.sizes(coterie.load(tmp_path / "m.coterie"))
    assert not pyplot.get_fignums()


def test_prepared_rows_are_scaled(iris):
    X, _ = iris
    model = coterie.KMeans(3, scale="minmax").fit(X)
    assert np.allclose(model._fitted.prepared((X, [], []), 1), (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)))
    sparse = scipy.sparse.csr_matrix(X)
    unit = coterie.KMeans(3, scale="unit").fit(sparse)
    assert np.allclose(unit._fitted.prepared(_input.rows_of(sparse, sparse=True).given, 1), X / np.linalg.norm(X, axis=1, keepdims=True))


def test_matplotlib_is_imported_only_for_plots():
    code = "import sys, numpy, coterie; coterie.plot; coterie.KMeans(2).fit(numpy.eye(5)); assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
