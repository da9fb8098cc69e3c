"""ONNX graphs of models, run by onnxruntime, give the labels and probabilities of predict.

Rounding may change the label of a row near a border between clusters. A row is doubtful if the scores of its two best clusters differ by at most
8 (d + 2) eps times the size of the terms in the scores, with the eps of the model's type. The scores are computed here in double, from the model's
parts or the library's distances. Only doubtful rows may have another label, and at most 1 % of the rows may be doubtful.
"""
import json
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import pytest
from conftest import class_names, estimator

import coterie
from coterie import _names, _onnx

RULES = {_names.class_of(name): method["label_rule"] for name, method in _names.METHODS.items()}
EXPORTED = [name for name, rule in RULES.items() if rule != "other"]
SOFTMAX = [name for name, rule in RULES.items() if rule == "softmax"]


def run(graph, X):
    session = onnxruntime.InferenceSession(graph if isinstance(graph, str) else graph.SerializeToString(), providers=["CPUExecutionProvider"])
    return dict(zip([each.name for each in session.get_outputs()], session.run(None, {"X": X})))


def doubtful(model, X):
    """Which rows are doubtful, as defined above."""
    rows = prepared(model, X)
    if type(model).__name__ in SOFTMAX:
        own, weights = model.weights_.dtype, model.weights_.T.astype(float)
        scores = rows @ weights + model.bias_[0]
        size = (np.abs(rows) @ np.abs(weights) + np.abs(model.bias_[0])).max(axis=1)
    else:
        own = model.cluster_centers_.dtype if hasattr(model, "cluster_centers_") and not hasattr(model, "offset_") else np.dtype(float)
        squares = model.distances(X) ** 2 if hasattr(model, "distances") else ((rows[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
        scores = -squares
        size = squares.max(axis=1) + (rows**2).sum(axis=1)
    best = np.sort(scores, axis=1)
    return best[:, -1] - best[:, -2] <= 8 * (X.shape[1] + 2) * np.finfo(own).eps * size


def prepared(model, X):
    X = X.astype(np.float64)
    preparation = model._fitted.preparation
    if preparation["center"] or preparation["scale"] != "none":
        X = (X - model._fitted.part("preprocess.offset")) * model._fitted.part("preprocess.factor")
    unit = preparation["scale"] == "unit" or isinstance(model, coterie.SphericalKMeans)
    return X / np.linalg.norm(X, axis=1, keepdims=True) if unit else X


def check(model, X, dtype=None):
    """The outputs of the graph for X. Checks them against predict."""
    found = run(model.to_onnx(dtype=dtype), X)
    aside = doubtful(model, X)
    assert aside.mean() <= 0.01
    assert found["labels"].dtype == np.int32 and found["labels"].shape == (len(X),)
    assert np.array_equal(found["labels"][~aside], model.predict(X)[~aside])
    assert ("probabilities" in found) == hasattr(model, "predict_proba")
    if "probabilities" in found:
        assert found["probabilities"].dtype == X.dtype
        assert np.abs(found["probabilities"] - model.predict_proba(X)).max() < (1e-3 if X.dtype == np.float32 else 1e-9)
    return found


pytestmark = pytest.mark.filterwarnings("ignore::coterie.CoterieWarning")


@pytest.fixture(scope="module")
def rows(digits):
    """(training data, new rows)"""
    X, _ = digits
    return X[:1200], X[1200:]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", EXPORTED)
def test_labels_equal_those_of_predict(name, dtype, rows):
    X, others = (part.astype(dtype) for part in rows)
    kernel = {"kernel": "linear"} if name == "KernelKMeans" else {}
    model = estimator(name, n_clusters=10, **kernel).fit(X)
    graph = model.to_onnx(dtype=dtype)
    assert graph.graph.input[0].type.tensor_type.elem_type == (onnx.TensorProto.FLOAT if dtype == np.float32 else onnx.TensorProto.DOUBLE)
    check(model, X, dtype)
    check(model, others, dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("preparation", [dict(scale="zscore"), dict(scale="minmax"), dict(center=True), dict(center=True, scale="unit")], ids=str)
@pytest.mark.parametrize("name", ["KMeans", "Subspace", "Entropy", "SphericalKMeans"])
def test_preparation_is_exported(name, preparation, dtype, rows):
    X, others = ((part * np.linspace(0.01, 100, 64) + 1000).astype(dtype) for part in rows)
    model = estimator(name, n_clusters=10, **preparation).fit(X)
    check(model, others, dtype)


def test_mean_far_from_zero_keeps_accuracy(rows):
    X = (rows[0] / 16 + 30000).astype(np.float32)  # steps of 1/512; squares are 6e10, with steps of 4,096
    model = coterie.KMeans(10).fit(X)
    found = run(model.to_onnx(), X)["labels"]
    exact = ((X[:, None].astype(float) - model.cluster_centers_) ** 2).sum(axis=2)
    assert np.mean(found == exact.argmin(axis=1)) > 0.995
    assert np.mean(found == model.predict(X)) > 0.995


def test_missing_values_are_filled_or_unlabelled(rows):
    X = rows[0].copy()
    X[::7, 20] = np.nan
    filled = coterie.KMeans(10, missing="median", scale="zscore").fit(X)
    found = run(filled.to_onnx(), X)["labels"]
    assert np.array_equal(found, filled.predict(X))
    dropped = coterie.KMeans(10, missing="drop").fit(X)
    labels = dropped.predict(X)
    assert (labels[::7] == -1).all() and np.array_equal(run(dropped.to_onnx(), X)["labels"], labels)


def test_rows_rejected_by_predict_have_label_minus_1(rows):
    X = rows[1][:6].copy()
    X[1, 3], X[2, 5], X[3, 7], X[4] = np.nan, np.inf, -np.inf, 0
    model = coterie.SoftKMeans(10).fit(rows[0])
    found = run(model.to_onnx(), X)
    assert found["labels"][[1, 2, 3]].tolist() == [-1, -1, -1] and (found["labels"][[0, 4, 5]] >= 0).all()
    assert np.isnan(found["probabilities"][[1, 2, 3]]).all() and np.allclose(found["probabilities"][[0, 4, 5]].sum(axis=1), 1)
    for row in (1, 2, 3):
        with pytest.raises(coterie.BadData):
            model.predict(X[row : row + 1])
    spherical = coterie.SphericalKMeans(10).fit(rows[0])
    assert run(spherical.to_onnx(), X)["labels"].tolist()[1:5] == [-1, -1, -1, -1]
    unit = coterie.KMeans(10, scale="unit").fit(rows[0])  # leaves a row of zeros unchanged
    huge = np.vstack([X[4], X[0] * 1e200])
    assert np.array_equal(run(unit.to_onnx(), huge)["labels"], unit.predict(huge))


def test_exported_file_has_names_and_labels(tmp_path):
    iris = coterie.datasets.load_iris(as_frame=True)
    y = np.where(np.arange(150) % 5 == 0, iris.target_names[iris.target], None)
    model = coterie.Subspace(None).fit(iris.data, y)
    path = str(tmp_path / "model.onnx")
    model.to_onnx(path, dtype="float32")
    assert list(tmp_path.iterdir()) == [tmp_path / "model.onnx"]
    X = iris.data.to_numpy(np.float32)
    assert np.array_equal(run(path, X)["labels"], model.predict(X))
    told = {each.key: each.value for each in onnx.load(path).metadata_props}
    assert json.loads(told["columns"]) == iris.feature_names
    assert json.loads(told["cluster_labels"]) == list(model.cluster_labels_) and told["method"] == "subspace"
    coterie.save(model, tmp_path / "model.coterie")
    again = coterie.to_onnx(coterie.load(tmp_path / "model.coterie"), dtype="float32")
    assert again.SerializeToString() == onnx.load(path).SerializeToString()


@pytest.mark.parametrize("name", [name for name in class_names() if name not in EXPORTED])
def test_other_classes_cannot_be_exported(name):
    model = estimator(name)
    model._fitted = None  # as if it were fitted: its class alone decides
    with pytest.raises(TypeError, match=f"to_onnx: {name} is not supported: its labels need more than.*Use one of KMeans, .*Entropy"):
        model.to_onnx()


def test_export_rejects_bad_arguments(iris, tmp_path):
    X, _ = iris
    with pytest.raises(Exception, match="not fitted yet"):
        coterie.KMeans(3).to_onnx()
    model = coterie.KMeans(3).fit(X)
    with pytest.raises(ValueError, match="dtype: 'int8' is not accepted. Use float32 or float64"):
        coterie.to_onnx(model, dtype="int8")
    with pytest.raises(TypeError, match="ndarray is not accepted"):
        coterie.to_onnx(X)
    with pytest.raises(ValueError, match="KernelKMeans with kernel='rbf'.*Use kernel='linear'"):
        coterie.KernelKMeans(3, kernel="rbf").fit(X).to_onnx()
    with pytest.raises(ValueError, match="RpcaOm with kernel='rbf'.*Use kernel='none'"):
        coterie.RpcaOm(3, kernel="rbf").fit(X).to_onnx()
    import pandas

    table = pandas.DataFrame({"a": [0.0, 1.0] * 20, "b": ["x", "y"] * 20})
    words = coterie.KMeans(2, categorical="one-hot").fit(table)
    with pytest.raises(ValueError, match="columns of words or dates"):
        words.to_onnx(tmp_path / "model.onnx")
    with pytest.raises(OSError):
        model.to_onnx(tmp_path / "nowhere" / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_message_without_onnx(tmp_path):
    program = (
        "import sys, numpy as np; sys.modules['onnx'] = None\nimport coterie\n"
        "model = coterie.KMeans(2).fit(np.arange(8.0)[:, None])\n"
        "try: model.to_onnx()\nexcept ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert "pip install 'coterie[onnx]'" in done.stdout
