"""Accepted types of input, what is copied, and error messages."""
import re
import subprocess
import sys
import tempfile

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import scipy.sparse
from conftest import class_names, estimator

import coterie
from coterie import _input


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_are_not_copied(dtype, tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 6)).astype(dtype)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for each in (X, X[10:], X[::2], X[:, 1:4], mapped):
        taken = _input.rows_of(each).points
        assert taken.__array_interface__["data"] == each.__array_interface__["data"]
        assert taken.dtype == dtype
        assert np.array_equal(coterie.KMeans(3).fit(each).labels_, coterie.KMeans(3).fit(np.array(each)).labels_)


def test_peak_memory_of_a_fit_stays_below_a_tenth_of_the_points():
    program = """
import resource, numpy as np, coterie
X = np.random.default_rng(0).random((400_000, 64), dtype=np.float32)
coterie.KMeans(2, max_iter=2).fit(X[:1000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
coterie.KMeans(4, max_iter=3, init=X[:4], n_jobs=2).fit(X)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) * 1024 / X.nbytes)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert float(done.stdout) < 0.1, done.stdout


@pytest.mark.parametrize(
    "other",
    [
        np.asfortranarray,
        lambda X: X.astype(">f8"),
        lambda X: X[::-1][::-1],
        lambda X: X.tolist(),
        lambda X: X.astype(object),
        lambda X: np.array(X, order="F")[:, ::-1][:, ::-1],
        lambda X: pandas.DataFrame(X),
        lambda X: polars.DataFrame(X, schema=list("abcd")),
        lambda X: pyarrow.table(dict(zip("abcd", X.T))),
    ],
)
def test_other_forms_are_converted(other, iris):
    X, _ = iris
    assert np.array_equal(coterie.KMeans(3).fit(other(X)).labels_, coterie.KMeans(3).fit(X).labels_)


def test_integer_dtypes_are_converted_like_in_the_command():
    for kind, wanted in ((np.uint8, np.float32), (np.int16, np.float32), (np.int32, np.float64), (np.int64, np.float64), (bool, np.float32), (np.float16, np.float32)):
        assert _input.rows_of(np.eye(3, dtype=kind)).points.dtype == wanted


def test_arrow_stream(iris):
    X, _ = iris

    class Stream:
        def __init__(self, table):
            self.table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    model = coterie.KMeans(3).fit(Stream(pyarrow.table(dict(zip("abcd", X.T)))))
    assert list(model.feature_names_in_) == list("abcd")
    assert np.array_equal(model.labels_, coterie.KMeans(3).fit(X).labels_)


def test_columns_are_found_by_name(iris):
    X, _ = iris
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = coterie.KMeans(3).fit(frame)
    assert list(model.feature_names_in_) == list("abcd")
    turned = frame.assign(more=1.0)[["d", "more", "b", "a", "c"]]
    assert np.array_equal(model.predict(turned), model.labels_)
    assert np.array_equal(model.transform(turned), model.transform(frame))
    with pytest.raises(ValueError, match="missing: b"):
        model.predict(frame.drop(columns="b"))
    with pytest.warns(coterie.CoterieWarning, match="matched to the model's by order. Check that the order is a, b, c, d"):
        assert np.array_equal(model.predict(X), model.labels_)
    with pytest.raises(ValueError, match="X has 3 features, but KMeans is expecting 4"):
        coterie.KMeans(3).fit(X).predict(X[:, :3])


@pytest.mark.parametrize(
    "bad, error, words",
    [
        (lambda X: np.where(X > 7, np.nan, X), ValueError, r"X: column 1, row 103 \(counted from 1\): the value is NaN, which stands for a missing value"),
        (lambda X: pandas.DataFrame(X).convert_dtypes().where(pandas.DataFrame(X) < 7.75), ValueError, "X: column 1, row 132 .*: the value is NaN, which"),
        (lambda X: pandas.DataFrame(np.where(X > 7, np.nan, X), columns=list("abcd")), ValueError, r"X: column 'a', row 103 \(counted from 1\): .*Use missing='drop'"),
        (lambda X: X.astype(str), ValueError, r"X: an array of words \(dtype <U"),
        (lambda X: np.where(X > 7, -np.inf, X), ValueError, ": -infinity is not a finite number"),
        (lambda X: X.astype(complex), ValueError, "Complex data not supported"),
        (lambda X: X[0], ValueError, "Expected 2D array, got 1D array"),
        (lambda X: X[:0], ValueError, "0 sample"),
        (lambda X: X[:, :0], ValueError, "0 feature"),
        (lambda X: pandas.DataFrame(X).assign(name="x").rename(columns=str), ValueError, "column 'name' has dtype (object|str)"),
        (lambda X: pandas.DataFrame(X).assign(name=1.0), TypeError, "feature names are only supported if all are strings"),
        (lambda X: "nowhere.csv", ValueError, "nowhere.csv"),
        (lambda X: "data:iri", ValueError, "iri"),
    ],
)
def test_bad_points(bad, error, words, iris):
    X, _ = iris
    with pytest.raises(error, match=words):
        coterie.KMeans(3).fit(bad(X))


@pytest.mark.parametrize(
    "parameters, words",
    [
        (dict(n_clusters=0), "n_clusters: 0 is not accepted. Use None, or a whole number, at least 1"),
        (dict(n_clusters=2.5), "n_clusters: 2.5 is not accepted"),
        (dict(n_clusters=True), "n_clusters: True is not accepted"),
        (dict(n_clusters=10**30), "n_clusters: 1000000000000000000000000000000 is not accepted"),
        (dict(n_clusters=151), "n_clusters: 151 clusters requested, but there are only 150 rows"),
        (dict(tol=-1), "tol: -1 is not accepted. Use a number, at least 0"),
        (dict(tol="small"), "tol: 'small' is not accepted"),
        (dict(max_iter=None), "max_iter: None is not accepted"),
        (dict(algorithm="elkan"), "algorithm: .*elkan.* is not accepted. Use one of auto, lloyd, bounds"),
        (dict(init="middle"), "init: .*middle.* is not accepted"),
        (dict(init=[[1, 2]]), "init"),
        (dict(scale="robust"), "scale: .*robust.*one of none, minmax, zscore, unit"),
        (dict(random_state=-1), "random_state: -1 is not accepted"),
        (dict(n_jobs=0), "n_jobs: 0 is not accepted"),
        (dict(sizes=(60, None)), "60"),
        (dict(label_share={"a": 0.5}), "need labels. Pass the known labels as y"),
    ],
)
def test_bad_parameters(parameters, words, iris):
    X, _ = iris
    with pytest.raises(ValueError, match=words):
        coterie.KMeans(**{"n_clusters": 3, **parameters}).fit(X)


def test_errors_have_fields(iris):
    X, _ = iris
    with pytest.raises(coterie.BadArgument) as caught:
        coterie.KMeans(0).fit(X)
    error = caught.value
    assert (error.option, error.value, error.accepted) == ("n_clusters", "0", "None, or a whole number, at least 1")
    broken = X.copy()
    broken[3, 2] = np.nan
    with pytest.raises(coterie.BadData) as caught:
        coterie.KMeans(3).fit(broken)
    assert (caught.value.row, caught.value.column, caught.value.column_number) == (4, "", 3)


def test_docstrings_do_not_mention_flags(iris):
    X, _ = iris
    for name in class_names():
        text = getattr(coterie, name).__doc__
        assert not re.search(r"--[a-z]", text), name
        assert "`" not in text, name


def test_messages_name_argument_row_and_column(iris):
    X, y = iris
    frame = pandas.DataFrame(X, columns=list("abcd"))
    gap = frame.copy()
    gap.loc[3, "b"] = np.nan
    model, flat = coterie.KMeans(3).fit(frame), coterie.RpcaOm(3).fit(frame)
    place = r"^X: column 'b', row 4 \(counted from 1\): the value is NaN, which stands for a missing value"
    asked = (coterie.KMeans(3).fit, model.predict, model.transform, model.score, model.outlier_score, model.describe, flat.transform)
    for ask in asked + (lambda X: coterie.tune(model, X, {"n_clusters": [2]}), lambda X: coterie.plot.clusters(model, X)):
        with pytest.raises(ValueError, match=place) as caught:
            ask(gap)
        assert caught.value.column == "b" and caught.value.row == 4
    with pytest.raises(ValueError, match=r"^X: column 2, row 4 \(counted from 1\): the value is NaN, which stands for a missing value"):
        model.predict(gap.to_numpy())
    with pytest.raises(ValueError, match=r"^sample_weight: row 2 \(counted from 1\): -1 is not accepted"):
        coterie.KMeans(3).fit(X, sample_weight=np.where(np.arange(150) == 1, -1, 1))
    for cls in (coterie.KMeans, coterie.Cpd):
        with pytest.raises(ValueError, match=r"^init: column 1, row 1 \(counted from 1\): the value is NaN, which stands for a missing value") as caught:
            cls(3, init=np.full((3, 4), np.nan)).fit(X)
        assert "missing=" not in str(caught.value)
        with pytest.raises(ValueError, match="^init: 2 rows of 4 columns for 3 clusters"):
            cls(3, init=X[:2]).fit(X)
    for cls in (coterie.KMeans, coterie.Subspace):
        with pytest.raises(ValueError, match=r'^n_clusters: None is not accepted\. Use a whole number, at least 1 \(None needs partial labels\)\. "auto" chooses the number\.$'):
            cls(None).fit(X)
    with pytest.warns(coterie.CoterieWarning, match="column 'p': this column numbers the rows, but is used as data"):
        coterie.KMeans(3).fit(frame.assign(p=np.arange(150)))
    with pytest.warns(coterie.CoterieWarning, match="this column numbers the rows, but is used as data"):
        coterie.KMeans(3).fit(frame.assign(**{"it's": np.arange(150)}))
    with pytest.raises(ValueError, match="share_rounding: 'auto' is not accepted"):
        coterie.KMeans(3, share_rounding="auto").fit(X)
    with pytest.warns(coterie.CoterieWarning, match="the same value in every row, so it does not distinguish rows"):
        coterie.KMeans(3).fit(frame.assign(p=1.0))
    with pytest.raises(ValueError, match=r"^X: column 'p': this column has no value in any row\. Use X\.drop"):
        coterie.KMeans(3, missing="mean").fit(frame.assign(p=np.nan))
    for ask in (lambda: coterie.compare(X, 3, y_true=y[1:]), lambda: coterie.report(model, X, y[1:])):
        with pytest.raises(ValueError, match="^y_true: .* is not accepted. Give one label per row"):
            ask()


@pytest.mark.parametrize(
    "ask, words",
    [
        (lambda X: coterie.compare(X, "auto"), "n_clusters: 'auto' is not accepted. Use a whole number, at least 1"),
        (lambda X: coterie.compare(X, None), "n_clusters: None is not accepted. Use a whole number, at least 1"),
        (lambda X: coterie.compare(X, 3.0), "n_clusters: 3.0 is not accepted"),
        (lambda X: coterie.compare(X, 10**30), "n_clusters: 10+ is not accepted"),
        (lambda X: coterie.compare(X, 3, device=None), "device: None is not accepted. Use 'cpu', 'cuda' or 'mps'"),
        (lambda X: coterie.consensus(X, 3, fits=2.5), "fits: 2.5 is not accepted. Use a whole number, at least 1"),
        (lambda X: coterie.consensus(X, 3, methods=3), "methods: 3 is not accepted. Use a class"),
        (lambda X: coterie.Dec(3, device=None).fit(X), "device: None is not accepted. Use 'cpu', 'cuda' or 'mps'"),
        (lambda X: coterie.KMeans(3, checkpoint=3).fit(X), "checkpoint: 3 is not accepted. Use the path of a file, or None"),
        (lambda X: coterie.metrics.silhouette_score(X, np.arange(150) % 2, sample_size=2.5), "sample_size: 2.5 is not accepted"),
        (lambda X: coterie.metrics.normalized_mutual_info_score([0, 1], [0, 1], average_method=None), "None"),
        (lambda X: coterie.metrics.accuracy_score([None, "a"], ["a", "b"]), "labels_true: labels of different types cannot be sorted"),
    ],
)
def test_wrong_types_are_named(ask, words, iris):
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        ask(iris[0])
    assert "incompatible function arguments" not in str(caught.value)


@pytest.mark.parametrize(
    "X, words",
    [
        (None, "^X: NoneType is not accepted. Use a 2D array, a table"),
        ({"a": [1.0, 2.0]}, "^X: dict is not accepted. Use a 2D array, a table"),
        (polars.DataFrame({"a": [1.0, 2.0]}).lazy(), "^X: LazyFrame is not accepted. .*collect\\(\\) returns one"),
        ([[1, 2], [3]], "^X: rows of different lengths are not accepted"),
        (np.array([["x", "y"], ["z", "w"]], dtype=object), "^X: an array of words \\(such as 'x'\\) is not accepted. Use numbers, or a table with categorical='one-hot'"),
        (polars.DataFrame({"a": [[1.0], [2.0], [3.0]]}), "^X: column 'a' has dtype List.* holds lists"),
        (pandas.DataFrame({"a": [[1.0], [2.0], [3.0]]}), "^X: column 'a' has dtype object and holds lists"),
    ],
)
def test_objects_that_are_not_tables(X, words):
    with pytest.raises(ValueError, match=words):
        coterie.KMeans(2).fit(X)


def test_wrong_label_and_width_lists(iris):
    with pytest.raises(ValueError, match="^y: each label must be a number or a word"):
        coterie.KMeans(2).fit(iris[0], [("a", 1)] * 149 + [3])
    with pytest.raises(ValueError, match="^widths: '8,4' is not accepted. Use a list of whole numbers"):
        coterie.AeKMeans(2, widths="8,4").fit(iris[0])


@pytest.mark.parametrize(
    "parameters, words",
    [
        ({"clusters_per_label": {0: 1.7}}, "^clusters_per_label: 1.7 of label 0 is not accepted. Use a whole number of at least 1"),
        ({"clusters_per_label": {0: True}}, "^clusters_per_label: True of label 0"),
        ({"clusters_per_label": [1]}, r"^clusters_per_label: \[1\] is not accepted. Use a dict"),
        ({"label_share": [0.2]}, r"^label_share: \[0.2\] is not accepted. Use a dict"),
        ({"label_share": {0: (0.5, 0.2, 0.1)}}, "^label_share: .* of label 0 is not accepted. Use a share from 0 to 1 or "),
        ({"label_share": {0: "a"}}, "^label_share: 'a' of label 0"),
        ({"label_share": {0: None}}, "^label_share: None of label 0"),
    ],
)
def test_label_parameters_are_checked(parameters, words, iris):
    X, y = iris
    with pytest.raises(ValueError, match=words):
        coterie.KMeans(3, **parameters).fit(X, np.where(np.arange(150) % 10 == 0, y, -1))


def test_numeric_categories(iris):
    X, _ = iris
    numbers = np.array([3, 1, 2] * 50)
    words = pandas.DataFrame({"k": numbers.astype(str), "x": X[:, 0]})
    expected = coterie.KMeans(3, categorical="one-hot").fit(words)
    frames = [
        pandas.DataFrame({"k": pandas.Categorical(numbers), "x": X[:, 0]}),
        polars.DataFrame({"k": numbers.astype(str), "x": X[:, 0]}).with_columns(polars.col("k").cast(polars.Categorical)),
    ]
    for frame in frames:
        model = coterie.KMeans(3, categorical="one-hot").fit(frame)
        assert model.cluster_centers_.shape == (3, 4) and np.array_equal(model.labels_, expected.labels_)
        assert np.array_equal(model.predict(frame[:7]), expected.labels_[:7]) and np.array_equal(model.predict(words), expected.labels_)
    assert coterie.KMeans(3, categorical="drop").fit(frames[0]).n_features_in_ == 1
    assert coterie.KMeans(3).fit(frames[0]).cluster_centers_.shape == (3, 2)  # by default they are numbers
    frames[0].loc[4, "k"] = None
    model = coterie.KMeans(3, categorical="one-hot", missing="drop").fit(frames[0])
    assert model.labels_[4] == -1 and np.array_equal(model.predict(frames[0][:4]), model.labels_[:4])


def test_checkpoint_accepts_path_objects(iris, tmp_path):
    X, _ = iris
    model = coterie.KMeans(3, n_init=3, checkpoint=tmp_path / "state")
    assert np.array_equal(model.fit(X).labels_, coterie.KMeans(3, n_init=3).fit(X).labels_)


def test_seeds(iris):
    X, _ = iris
    one = coterie.KMeans(8, random_state=np.random.RandomState(3), max_iter=1, n_init=1)
    other = coterie.KMeans(8, random_state=np.random.RandomState(3), max_iter=1, n_init=1)
    assert np.array_equal(one.fit(X).labels_, other.fit(X).labels_)
    assert not np.array_equal(one.fit(X).cluster_centers_, other.set_params(random_state=4).fit(X).cluster_centers_)
    assert coterie.KMeans(3, random_state=np.random.default_rng(1)).fit(X).fit_report_["seed"] > 0
    assert coterie.KMeans(3, random_state=2**64 - 1).fit(X).fit_report_["seed"] == 2**64 - 1
    np.random.seed(1)
    first = coterie.KMeans(3, random_state=None).fit(X).fit_report_["seed"]
    assert coterie.KMeans(3, random_state=None).fit(X).fit_report_["seed"] != first
    np.random.seed(1)
    assert coterie.KMeans(3, random_state=None).fit(X).fit_report_["seed"] == first


def test_threads(iris, monkeypatch):
    X, _ = iris
    used = lambda **parameters: coterie.KMeans(3, **parameters).fit(X).fit_report_["threads"]
    assert used(n_jobs=1) == 1 and used(n_jobs=3) == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert used() == 5 and used(n_jobs=2) == 2 and used(n_jobs=-1) != 5
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert used() == used(n_jobs=-1)
    monkeypatch.setenv("OMP_NUM_THREADS", "1000000000")
    assert used() == used(n_jobs=1024) == 1024
    for many in (1025, 10**9, 10**30):
        with pytest.raises(ValueError, match=f"n_jobs: {many} is not accepted. Use a number of threads up to 1,024"):
            used(n_jobs=many)


def test_init_weights_and_sizes(iris):
    X, y = iris
    start = np.array([X[y == c].mean(axis=0) for c in range(3)])
    model = coterie.KMeans(3, init=start.astype(np.float32), max_iter=1, tol=0)
    with pytest.warns(coterie.ConvergenceWarning, match="did not converge in 1 iterations. Increase max_iter"):
        model.fit(X)
    assert (model.labels_ == y).mean() > 0.8 and model.n_iter_ == 1
    assert sorted(coterie.KMeans(3, sizes=50).fit(X).fit_report_["sizes"]) == [50, 50, 50]
    assert min(coterie.KMeans(3, sizes=(45, None)).fit(X).fit_report_["sizes"]) >= 45
    assert np.array_equal(coterie.KMeans(3).fit(X, sample_weight=np.ones(150)).labels_, coterie.KMeans(3).fit(X).labels_)
    weights = np.where(y == 0, 0.0, 1.0)
    assert np.allclose(coterie.KMeans(1).fit(X, sample_weight=weights).cluster_centers_[0], X[y > 0].mean(axis=0))


@pytest.mark.parametrize("sizes", ["a", {}, [1], (1, 2, 3), (49.5, 50.5), 10**30, 50.0, True, (None, "9"), {40, 60}, np.array([[40, 60]])])
def test_wrong_types_of_sizes(sizes, iris):
    with pytest.raises(ValueError, match=r"^sizes: .* is not accepted. Use a whole number, or a pair \(least, most\)"):
        coterie.KMeans(3, sizes=sizes).fit(iris[0])


def test_numpy_sizes(iris):
    X, _ = iris
    expected = coterie.KMeans(3, sizes=(40, 60)).fit(X).labels_
    for sizes in (np.array([40, 60]), [np.int32(40), 60]):
        assert np.array_equal(coterie.KMeans(3, sizes=sizes).fit(X).labels_, expected)


@pytest.mark.parametrize("name", ["Aml", "Cpd", "Fme", "RpcaOm", "KernelKMeans", "Subspace"])
def test_init_must_be_an_array(name, iris):
    X, _ = iris
    with pytest.raises(ValueError, match=r"^init: 'k-means\+\+' is not accepted. Use an array of centroids of shape \(n_clusters, n_features\), or None"):
        estimator(name, init="k-means++").fit(X)
    start = X[[0, 60, 120]]
    estimator(name, init=start).fit(X)
    with pytest.raises(ValueError, match="n_init"):
        estimator(name, init=start, n_init=5).fit(X)


def test_score_ignores_rows_with_missing_values(iris):
    X = iris[0].copy()
    X[::12, 0] = np.nan
    model = coterie.KMeans(3, missing="drop").fit(X)
    assert model.score(X) == pytest.approx(-model.inertia_)
    weights = np.arange(150.0)
    kept = ~np.isnan(X).any(axis=1)
    assert model.score(X, sample_weight=weights) == pytest.approx(model.score(X[kept], sample_weight=weights[kept]))
    with pytest.raises(ValueError, match="sample_weight: 149 weights for 150 rows"):
        model.score(X, sample_weight=weights[1:])


@pytest.mark.parametrize(
    "code",
    [
        lambda y: np.where(np.arange(150) % 10 == 0, y, -1),
        lambda y: np.where(np.arange(150) % 10 == 0, y, np.nan),
        lambda y: [int(label) if i % 10 == 0 else None for i, label in enumerate(y)],
        lambda y: pandas.Series(np.where(np.arange(150) % 10 == 0, y, -1)),
    ],
)
def test_partial_labels(code, iris):
    X, y = iris
    model = coterie.KMeans(n_clusters=None).fit(X, code(y))
    known = np.arange(150) % 10 == 0
    assert list(model.cluster_labels_) == [0, 1, 2]
    assert np.array_equal(model.cluster_labels_[model.labels_][known], y[known])


def test_every_marker_of_an_unknown_label(iris):
    X, y = iris
    few = np.arange(150) % 10 == 0
    expected = coterie.KMeans(None).fit(X, np.where(few, y, -1)).labels_
    words = np.array(["a", "b", "c"])[y]
    for unknown in (np.float32("nan"), np.float16("nan"), np.int64(-1), -1.0, None, ""):
        labels = np.where(few, words.astype(object), None)
        labels[~few] = unknown
        assert np.array_equal(coterie.KMeans(None).fit(X, labels).labels_, expected)
    for unknown in (-1, np.nan):  # NumPy converts them to text
        labels = np.array([word if known else unknown for word, known in zip(words, few)])
        assert labels.dtype.kind == "U" and list(coterie.KMeans(None).fit(X, labels).cluster_labels_) == ["a", "b", "c"]


def test_numbers_too_large_for_labels(iris):
    X, y = iris
    part = np.where(np.arange(150) % 10 == 0, y, -1.0)
    assert len(set(coterie.KMeans(None).fit(X, np.where(part > 0, part * 2.0**61, part)).cluster_labels_)) == 3
    for factor in (1e300, np.inf):
        with pytest.raises(ValueError, match="y: .* is not a label. Use whole numbers below 2"):
            coterie.KMeans(None).fit(X, np.where(part > 0, part * factor, part))


def test_text_labels(iris):
    X, y = iris
    words = np.array(["setosa", "versicolor", "virginica"], dtype=object)[y]
    words[np.arange(150) % 10 != 0] = None
    model = coterie.Entropy(n_clusters=4, scale="zscore").fit(X, words)
    assert list(model.cluster_labels_) == ["setosa", "versicolor", "virginica", None]
    assert model.label_scores(X).shape == (150, 3)
    with pytest.raises(ValueError, match="0.5 is not a label"):
        coterie.KMeans(3).fit(X, np.where(y == 0, 0.5, -1))
    with pytest.raises(ValueError, match="no row has a label"):
        coterie.KMeans(3).fit(X, np.full(150, -1))
    with pytest.raises(ValueError, match="Give one label per row: 150 labels"):
        coterie.KMeans(3).fit(X, [0, -1])


@pytest.mark.parametrize("name", ["KMeans", "MiniBatchKMeans", "SoftKMeans", "SphericalKMeans", "Ward"])
def test_files_give_the_same_bits_as_arrays(name, tmp_path):
    X = np.random.default_rng(0).normal(size=(3000, 8)).astype(np.float32) + 3
    files = []
    for part, rows in enumerate(np.array_split(X, 3)):
        files.append(tmp_path / f"part-{part}.npy")
        np.save(files[-1], rows)
    streamed, resident = estimator(name).fit(files), estimator(name).fit(X)
    assert np.array_equal(streamed.labels_, resident.labels_)
    assert np.array_equal(streamed.predict(files), resident.predict(X))
    if hasattr(resident, "cluster_centers_"):
        assert np.array_equal(streamed.cluster_centers_, resident.cluster_centers_)
    assert streamed.objective_ == resident.objective_


def test_csv_path_as_points(tmp_path, iris):
    X, _ = iris
    pandas.DataFrame(X, columns=list("abcd")).to_csv(tmp_path / "x.csv", index=False)
    model = coterie.KMeans(3).fit(tmp_path / "x.csv")
    assert list(model.feature_names_in_) == list("abcd")
    assert np.array_equal(model.labels_, coterie.KMeans(3).fit(X).labels_)


def words(rows=300, columns=400, groups=5, seed=0):
    """Sparse counts. Most counts of a row are in the columns of its group."""
    random = np.random.default_rng(seed)
    own = random.integers(columns // groups, size=(rows, 12)) + (np.arange(rows) % groups * (columns // groups))[:, None]
    column = np.where(random.random((rows, 12)) < 0.25, random.integers(columns, size=(rows, 12)), own)
    counts = scipy.sparse.coo_matrix((np.ones(rows * 12), (np.repeat(np.arange(rows), 12), column.ravel())), shape=(rows, columns))
    return counts.tocsr()


SPARSE = ("KMeans", "SoftKMeans", "SphericalKMeans")


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_points_give_the_result_of_dense_points(name, dtype):
    X = words().astype(dtype)
    init = X[:5].toarray()
    cls = getattr(coterie, name)
    dense = cls(5, init=init).fit(X.toarray())
    wide = scipy.sparse.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    unsorted = scipy.sparse.csr_matrix((X.data.copy(), X.indices.copy(), X.indptr.copy()), shape=X.shape)
    for i in range(X.shape[0]):
        unsorted.indices[X.indptr[i] : X.indptr[i + 1]] = unsorted.indices[X.indptr[i] : X.indptr[i + 1]][::-1]
        unsorted.data[X.indptr[i] : X.indptr[i + 1]] = unsorted.data[X.indptr[i] : X.indptr[i + 1]][::-1]
    unsorted.has_sorted_indices = False
    for given in (X, wide, unsorted, X.tocsc(), X.tocoo(), X.tolil()):
        before = [part.copy() for part in (given.data, given.indices, given.indptr)] if given.format == "csr" else []
        model = cls(5, init=init).fit(given)
        assert np.array_equal(model.labels_, dense.labels_)
        assert model.cluster_centers_.dtype == dtype
        assert np.isclose(model.objective_, dense.objective_, rtol=1e-5)
        assert np.array_equal(model.predict(given), dense.predict(X.toarray()))
        assert np.allclose(model.transform(given), dense.transform(X.toarray()), atol=1e-4)
        assert np.isclose(model.score(given), dense.score(X.toarray()), rtol=1e-4)
        if before:
            assert all(np.array_equal(*pair) for pair in zip(before, (given.data, given.indices, given.indptr)))
    assert coterie.metrics.silhouette_score(X, dense.labels_) == pytest.approx(coterie.metrics.silhouette_score(X.toarray(), dense.labels_))


def test_sparse_points_are_not_copied():
    X = words(columns=4000).astype(np.float32)
    given = _input.rows_of(X, sparse=True).points
    assert all(np.shares_memory(*pair) for pair in zip(given[2:], (X.indptr, X.indices, X.data)))
    wide = scipy.sparse.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    assert all(np.shares_memory(*pair) for pair in zip(_input.rows_of(wide, sparse=True).points[2:], (wide.indptr, wide.indices, wide.data)))


def test_rejected_sparse_points():
    X = words()
    with pytest.raises(TypeError, match="sparse matrix was passed, but dense data is required by Ward"):
        coterie.Ward(3).fit(X)
    with pytest.raises(TypeError, match="dense data is required by Ward"):
        coterie.Ward(3).fit(X.toarray()).predict(X)
    with pytest.raises(ValueError, match="sparse rows cannot be centred, or scaled by column"):
        coterie.KMeans(3, scale="zscore").fit(X)
    with pytest.raises(ValueError, match="are not available for sparse data"):
        coterie.KMeans(3, sizes=(1, 299)).fit(X)
    with pytest.raises(ValueError, match="bounds is not available for sparse data"):
        coterie.KMeans(3, algorithm="bounds").fit(X)
    bad = X.copy()
    bad.data[np.flatnonzero(bad.indptr == bad.indptr[7])[0]] = np.nan
    with pytest.raises(ValueError, match="column .*, row 1 .*: the value is NaN, which stands for a missing value"):
        coterie.KMeans(3).fit(bad)
    with pytest.raises(ValueError, match="0 sample"):
        coterie.KMeans(3).fit(X[:0])
    with pytest.raises(ValueError, match="X has 7 features, but KMeans is expecting 400"):
        coterie.KMeans(3).fit(X).predict(X[:, :7])


def test_report_needs_dense_points_in_memory(tmp_path, iris):
    X = words()
    with pytest.raises(ValueError, match="picture needs rows in memory, but these are sparse"):
        coterie.report(coterie.KMeans(3).fit(X), X)
    np.save(tmp_path / "a.npy", iris[0])
    files = [tmp_path / "a.npy"] * 2
    with pytest.raises(ValueError, match="these are read in blocks"):
        coterie.report(coterie.KMeans(3).fit(files), files)


def test_sparse_points_with_weights_and_unit_rows():
    X = words()
    weights = np.random.default_rng(1).integers(0, 3, size=X.shape[0])
    init = X[:5].toarray()
    sparse = coterie.KMeans(5, init=init).fit(X, sample_weight=weights)
    assert np.array_equal(sparse.labels_, coterie.KMeans(5, init=init).fit(X.toarray(), sample_weight=weights).labels_)
    unit = coterie.KMeans(5, scale="unit").fit(X)
    assert np.array_equal(unit.predict(X), unit.labels_)
    assert np.array_equal(unit.predict(X.toarray()), unit.labels_)


def test_scipy_is_not_imported():
    code = "import sys, numpy, coterie; coterie.KMeans(2).fit(numpy.eye(5)); assert 'scipy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.filterwarnings("ignore:.*temporary file:coterie.CoterieWarning")
@pytest.mark.parametrize("name", ["KMeans", "MiniBatchKMeans", "Ward"])
def test_blocks_give_the_result_of_the_array(name, digits):
    X, _ = digits
    X = X.astype(np.float64)
    cls = getattr(coterie, name)
    whole = cls(10).fit(X)
    model = cls(10).fit(X[begin : begin + 100] for begin in range(0, len(X), 100))
    assert np.array_equal(model.labels_, whole.labels_)
    assert np.array_equal(model.predict(iter([X[:7], X[7:20]])), whole.predict(X[:20]))

    class Loader:  # like torch's: blocks and their number
        def __len__(self):
            return 2

        def __iter__(self):
            return iter((X[:900], X[900:]))

    assert np.array_equal(cls(10).fit(Loader()).labels_, whole.labels_)


def test_blocks_warn_of_temporary_file(iris, tmp_path, monkeypatch):
    X, _ = iris
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.warns(coterie.CoterieWarning, match=f"written once to a temporary file in {tmp_path}"):
        coterie.KMeans(3).fit(iter([X[:100], X[100:]]))
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore:.*temporary file:coterie.CoterieWarning")
def test_rejected_blocks(iris):
    X, _ = iris
    for blocks, error, text in [
        ([], ValueError, "0 sample"),
        ([X, X[:, :2]], ValueError, "X: block 1: has 2 columns , but the first block has 4"),
        ([X, X.astype(np.float32)], ValueError, "X: block 1: has dtype float32, but the first block has float64"),
        ([X, X[0]], ValueError, "X: block 1: Expected 2D array, got 1D array"),
        ([iter([X])], ValueError, "X: block 0: list_iterator is not accepted. Use an array or a table"),
        ([X, scipy.sparse.csr_matrix(X)], TypeError, "X: block 1: a sparse matrix was passed"),
        ([X, np.where(X > 7, np.nan, X)], ValueError, "column 1, row 253 \\(counted from 1\\): the value is NaN, which stands for a missing value"),
    ]:
        with pytest.raises(error, match=text):
            coterie.KMeans(3).fit(iter(blocks))

    def broken():
        yield X
        raise ZeroDivisionError("of the caller")

    with pytest.raises(ZeroDivisionError, match="of the caller"):
        coterie.KMeans(3).fit(broken())


@pytest.mark.filterwarnings("ignore:.*temporary file:coterie.CoterieWarning")
def test_blocks_are_read_once(iris):
    X, _ = iris
    model = coterie.KMeans(3).fit(X)
    blocks = lambda: iter([X[:70], X[70:]])
    assert np.array_equal(coterie.KMeans(3).fit_transform(blocks()), model.transform(X))
    tuned = coterie.tune(coterie.KMeans(), blocks(), {"n_clusters": [2, 3]})
    assert np.array_equal(tuned.best_estimator_.labels_, coterie.KMeans(2).fit(X).labels_)
    assert model.describe(blocks(), compare_with=coterie.KMeans(2).fit(X)) == model.describe(X, compare_with=coterie.KMeans(2).fit(X))
    frames = iter([pandas.DataFrame(X[:70], columns=list("abcd")), pandas.DataFrame(X[70:], columns=list("abcd"))])
    coterie.KMeans(3).fit_transform(frames)


def test_arrow_batches_and_tables_as_blocks(iris):
    X, _ = iris
    table = pyarrow.table({name: X[:, j] for j, name in enumerate("abcd")})
    whole = coterie.KMeans(3).fit(X)
    model = coterie.KMeans(3).fit(pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=40)))
    assert list(model.feature_names_in_) == list("abcd")
    assert np.array_equal(model.labels_, whole.labels_)
    frames = (pandas.DataFrame(X[i : i + 50], columns=list("abcd")) for i in range(0, 150, 50))
    model = coterie.KMeans(3).fit(frames)
    assert list(model.feature_names_in_) == list("abcd") and np.array_equal(model.labels_, whole.labels_)
    assert np.array_equal(coterie.KMeans(3).fit(table.to_batches()[0]).labels_, whole.labels_)


def test_precomputed_affinities(iris):
    X, _ = iris
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    affinity = np.exp(-squared / 2)
    affinity[affinity < 0.05] = 0
    np.fill_diagonal(affinity, 0)
    dense = coterie.Spectral(3, affinity="precomputed").fit(affinity)
    sparse = coterie.Spectral(3, affinity="precomputed").fit(scipy.sparse.csr_matrix(affinity))
    assert coterie.metrics.adjusted_rand_score(dense.labels_, sparse.labels_) == 1
    with pytest.raises(TypeError, match="sparse"):
        coterie.Spectral(3).fit(scipy.sparse.csr_matrix(affinity))


MESSY = {"weight": [1.5, None, 1.6, 9.5, 9.1, 9.3], "colour": ["red", "red", "red", "blue", None, "blue"],
         "day": ["2026-01-01", "2026-01-02", "2026-01-01", "2026-03-01", "2026-03-03", "2026-03-01"]}


def test_tables_with_missing_values_and_words(tmp_path):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(MESSY)
    table["day"] = pandas.to_datetime(table["day"])
    options = {"categorical": "one-hot", "dates": True, "scale": "minmax"}
    with pytest.warns(coterie.CoterieWarning, match="2 rows of 6 have missing values"):
        dropped = coterie.KMeans(2, missing="drop", **options).fit(table)
    assert dropped.labels_.tolist()[1] == dropped.labels_.tolist()[4] == -1
    assert (dropped.labels_[[0, 2]] == dropped.labels_[0]).all() and (dropped.labels_[[3, 5]] == 1 - dropped.labels_[0]).all()
    assert dropped.cluster_centers_.shape == (2, 4) and dropped.n_features_in_ == 3
    assert dropped.feature_names_in_.tolist() == ["weight", "colour", "day"]
    with pytest.warns(coterie.CoterieWarning):
        assert (dropped.predict(table) == dropped.labels_).all()
        assert np.isnan(dropped.transform(table) if hasattr(dropped, "transform") else np.full((6, 2), np.nan))[[1, 4]].all()
        described = dropped.describe(table)
        assert described["rows_left_out"] == 2 and sum(cluster["points"] for cluster in described["clusters"]) == 4
        assert "4 rows in 2 clusters; 2 rows with missing values left out" in repr(described)
        page = str(coterie.report(dropped, table, y_true=[0, 0, 0, 1, 1, 1]))
        assert "rows left out" in page and "ACC" in page
        numbers = table[["weight"]]
        together = coterie.consensus(numbers, 2, fits=3, missing="drop")
        assert "2 clusters of 5 rows" in repr(together) and "; 1 row with missing values left out" in repr(together)
        compared = coterie.compare(numbers, 2, ["kmeans", "ward"], missing="drop", y_true=[0, 0, 0, 1, 1, 1])
        assert "row left out" in str(coterie.report(compared, numbers, y_true=[0, 0, 0, 1, 1, 1]))
    # The same table from a file gives the same model. The command's own reader reads it.
    table.to_csv(tmp_path / "a.csv", index=False)
    with pytest.warns(coterie.CoterieWarning):
        of_file = coterie.KMeans(2, missing="drop", **options).fit(str(tmp_path / "a.csv"))
        assert (of_file.labels_ == dropped.labels_).all()
    np.testing.assert_array_equal(of_file.cluster_centers_, dropped.cluster_centers_)
    # Saves and loads the model, and predicts rows with other columns in another order.
    dropped.save(tmp_path / "model")
    loaded = coterie.load(tmp_path / "model")
    assert (loaded.missing, loaded.categorical, loaded.dates) == ("drop", "one-hot", True)
    later = pandas.DataFrame({"other": ["x", "y"], "day": pandas.to_datetime(["2026-03-02", "2026-01-01"]), "colour": ["violet", "red"], "weight": [9.2, 1.4]})
    with pytest.warns(coterie.CoterieWarning, match="violet"):
        assert loaded.predict(later).tolist() == [dropped.labels_[3], dropped.labels_[0]]
    for how in ("mean", "median"):
        with pytest.warns(coterie.CoterieWarning, match=f"replaced by the {how}"):
            assert (coterie.KMeans(2, missing=how, **options).fit(table).labels_ >= 0).all()


def test_words_and_missing_values_need_options():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(MESSY)
    with pytest.raises(ValueError, match="categorical='one-hot'"):
        coterie.KMeans(2).fit(table[["colour"]])
    with pytest.raises(ValueError):
        coterie.KMeans(2).fit(table[["weight"]])
    with pytest.raises(ValueError, match="missing"):
        coterie.KMeans(2, missing="zero").fit(table[["weight"]])
    with pytest.warns(coterie.CoterieWarning, match="holds words and is left out"):
        model = coterie.KMeans(2, categorical="drop", missing="median").fit(table)
    assert model.feature_names_in_.tolist() == ["weight"]
    with pytest.raises(ValueError, match="dates=True"):
        coterie.KMeans(2).fit(pandas.DataFrame({"day": pandas.to_datetime(MESSY["day"])}))


def test_arrays_with_missing_values():
    points = np.array([[0.0, 1], [np.nan, 1], [0, 2], [9, 9], [9, 8]])
    with pytest.warns(coterie.CoterieWarning, match="1 row of 5"):
        model = coterie.KMeans(2, missing="drop").fit(points)
    assert model.labels_[1] == -1 and (np.delete(model.labels_, 1) >= 0).all()
    with pytest.warns(coterie.CoterieWarning, match="median"):
        model = coterie.KMeans(2, missing="median").fit(points)
    assert model.labels_[1] >= 0


def test_masked_values_are_missing(iris):
    X, _ = iris
    hidden = np.zeros(X.shape, bool)
    hidden[[3, 70], [1, 2]] = True
    masked = np.ma.array(np.where(hidden, 1e6, X), mask=hidden)
    for dtype in (np.float32, np.float64, np.int64):
        of_dtype = masked.astype(dtype)
        with_nan = np.where(hidden, np.nan, of_dtype.data).astype(np.float64 if dtype is np.int64 else dtype)
        with pytest.raises(ValueError, match="column 2, row 4"):
            coterie.KMeans(3).fit(of_dtype)
        for missing in ("drop", "mean"):
            with pytest.warns(coterie.CoterieWarning):
                model, expected = (coterie.KMeans(3, missing=missing, random_state=0).fit(points) for points in (of_dtype, with_nan))
            np.testing.assert_array_equal(model.labels_, expected.labels_)
    unmasked = np.ma.array(X)
    assert np.array_equal(coterie.KMeans(3, random_state=0).fit(unmasked).labels_, coterie.KMeans(3, random_state=0).fit(X).labels_)
    with pytest.raises(ValueError, match="sample_weight.*masked"):
        coterie.KMeans(3).fit(X, sample_weight=np.ma.array(np.ones(150), mask=np.arange(150) == 3))
    known = np.ma.array(np.arange(150) % 2, mask=np.arange(150) > 5)
    assert _input.labels_of(known, 150)[0].tolist() == [0, 1, 0, 1, 0, 1] + [-1] * 144


def test_dates_become_days_in_every_table_type():
    a = np.arange(12.0) ** 2 % 7
    moments = pandas.date_range("2026-01-01 06:00", periods=12, freq="36h")
    table = pandas.DataFrame({"a": a, "day": moments})
    here = pandas.DataFrame({"a": a, "day": moments.tz_localize("UTC").tz_convert("Europe/Berlin")})
    days = np.asarray((moments - pandas.Timestamp(0)) / pandas.Timedelta(days=1))
    for each in (table, here, polars.from_pandas(table), polars.from_pandas(here), pyarrow.Table.from_pandas(table), pyarrow.Table.from_pandas(here)):
        for some in (each, each[["day"]] if hasattr(each, "columns") and not hasattr(each, "itercolumns") else each.select(["day"])):
            with pytest.raises(ValueError, match="column 'day' has dtype .*dates=True to convert dates to days"):
                coterie.KMeans(2).fit(some)
        rows = _input.rows_of(each, columns={"dates": True})
        np.testing.assert_allclose(rows.points, np.column_stack([a, days]), rtol=1e-12)
        assert rows.kinds == [0, 2] and rows.names == ["a", "day"]
    words = [None if row == 3 else str(moment) for row, moment in enumerate(moments)]
    midnights = [pandas.NaT if row == 3 else moment.date() for row, moment in enumerate(moments)]
    for each, expected in (
        (pandas.DataFrame({"a": a, "day": words}), days), (polars.DataFrame({"a": a, "day": words}), days), (pyarrow.table({"a": a, "day": words}), days),
        (pandas.DataFrame({"a": a, "day": midnights}), np.floor(days)),
    ):
        with pytest.raises(ValueError, match="column 'day' has dtype .*dates=True to convert dates to days"):
            coterie.KMeans(2, missing="drop").fit(each)
        rows = _input.rows_of(each, columns={"dates": True})
        np.testing.assert_allclose(rows.points[:, 1], np.where(np.arange(12) == 3, np.nan, expected), rtol=1e-12)
        assert rows.kinds == [0, 2]
    with pytest.raises(ValueError, match="column 'day' .*categorical='one-hot'"):
        coterie.KMeans(2, dates=True).fit(pandas.DataFrame({"a": a, "day": ["2026-02-30", *words[1:]]}))
    for bare in (moments.to_numpy()[:, None], np.asarray(moments - moments[0])[:, None]):
        with pytest.raises(ValueError, match="dates and times .* are not numbers"):
            coterie.KMeans(2).fit(bare)


def test_arrow_categories_equal_those_of_pandas():
    table = pandas.DataFrame(MESSY)
    arrow = pyarrow.Table.from_pandas(table)
    options = {"missing": "drop", "categorical": "one-hot"}
    given, expected = _input.rows_of(arrow.drop_columns(["day"]), columns=options), _input.rows_of(table.drop(columns="day"), columns=options)
    np.testing.assert_array_equal(given.points, expected.points)
    assert (given.names, given.kinds, given.categories) == (expected.names, expected.kinds, expected.categories)
    with pytest.raises(ValueError, match="column 'colour' has dtype .*string.*categorical='one-hot'"):
        coterie.KMeans(2).fit(arrow.select(["colour"]))


def test_complex_columns_are_an_error(iris):
    X, _ = iris
    table = pandas.DataFrame(X, columns=list("abcd"))
    table["c"] = table["c"] + 1j
    with pytest.raises(ValueError, match="column 'c' has dtype complex128: Complex data not supported"):
        coterie.KMeans(3).fit(table)
    with pytest.raises(ValueError, match="Complex data not supported"):
        coterie.KMeans(3).fit(X + 1j)


def damaged(kind, part, at, value):
    X = scipy.sparse.random(40, 6, density=0.4, random_state=0, format=kind).copy()
    numbers = getattr(X, part).astype(np.int64)
    numbers[at] = value
    setattr(X, part, numbers)
    return X


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr"])
@pytest.mark.parametrize(
    "part, at, value", [("indptr", 3, 10**9), ("indptr", 3, -5), ("indptr", -1, 10**9), ("indptr", 0, 5), ("indices", 7, 10**9), ("indices", 7, -1)]
)
def test_damaged_sparse_matrices(kind, part, at, value):
    X = damaged(kind, part, at, value)
    with pytest.raises(ValueError, match=f"X: a damaged sparse matrix: {part}"):
        coterie.KMeans(3).fit(X)
    if kind == "csr":
        square = scipy.sparse.csr_matrix(np.ones((10, 10)))
        getattr(square, part)[at] = value
        with pytest.raises(ValueError, match=f"X: a damaged sparse matrix: {part}"):
            coterie.Spectral(2, affinity="precomputed").fit(square)


def test_sparse_affinities_only_in_fit(iris):
    affinities = scipy.sparse.csr_matrix(np.exp(-((iris[0][:, None] - iris[0]) ** 2).sum(-1)))
    model = coterie.Spectral(3, affinity="precomputed").fit(affinities)
    assert model.transform(affinities.toarray()).shape == (150, 3)
    with pytest.raises(TypeError, match="only fit of Spectral accepts a sparse matrix of affinities; predict and transform need dense rows"):
        model.transform(affinities)


def test_sparse_entries_out_of_range():
    for part, value, words in (("row", 40, "row numbers: 40 is outside the range 0 to 39"), ("col", -1, "column numbers: -1")):
        X = scipy.sparse.random(40, 6, density=0.4, random_state=0, format="coo")
        getattr(X, part)[5] = value
        with pytest.raises(ValueError, match=words):
            coterie.KMeans(3).fit(X)
    X = scipy.sparse.lil_matrix(np.ones((10, 3)))
    X.rows[0] = [0, 1, 10**6]
    with pytest.raises(ValueError, match="indices: 1000000 is outside the range 0 to 2"):
        coterie.KMeans(3).fit(X)
    X = scipy.sparse.random(40, 6, density=0.4, random_state=0, format="csr")
    X.data = X.data[:5]
    with pytest.raises(ValueError, match="96 for 5 entries"):
        coterie.KMeans(3).fit(X)
