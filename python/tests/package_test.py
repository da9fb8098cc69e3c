"""The package itself: generated classes, names, scores, data sets."""
import importlib
import inspect
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import sklearn.metrics
from conftest import DEEP, ROOT, class_names, estimator

import coterie
from coterie import _core, _names, datasets, metrics


def test_generated_classes_are_up_to_date():
    done = subprocess.run([sys.executable, ROOT / "scripts" / "make-estimators", "--check"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_is_a_class_per_method():
    assert class_names() == [_names.class_of(method["name"]) for method in _core.methods()]
    for name in class_names():
        assert name in dir(coterie)


@pytest.mark.parametrize("name", class_names())
def test_docstrings_are_complete(name):
    cls = getattr(coterie, name)
    text = inspect.getdoc(cls)
    for section in ("Parameters", "Attributes", "Raises", "Notes"):
        assert f"\n{section}\n" in text
    for parameter in cls._defaults():
        assert f"\n{parameter} : " in text
    for method, function in inspect.getmembers(cls, inspect.isfunction):
        assert method.startswith("_") or function.__doc__, method


def public_functions():
    """(name, function) of every public function of the package, and of every public method of its other classes."""
    for module in (coterie, *(importlib.import_module(f"coterie.{name}") for name in ("metrics", "datasets", "plot", "ner", "dask"))):
        for name in coterie.__all__ if module is coterie else getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")]):
            thing = getattr(module, name)
            if inspect.isclass(thing) and module is not coterie:
                yield from ((f"{name}.{method}", function) for method, function in inspect.getmembers(thing, inspect.isfunction) if not method.startswith("_"))
            elif inspect.isfunction(thing) and thing.__module__.startswith("coterie"):
                yield f"{module.__name__}.{name}", thing


@pytest.mark.parametrize(("name", "function"), list(public_functions()))
def test_function_docstrings_have_parameters_and_errors(name, function):
    text = inspect.getdoc(function) or ""
    signature = inspect.signature(function)
    for parameter in signature.parameters:
        assert parameter == "self" or re.search(rf"\b{parameter}\b", text), parameter
    assert re.search(r"Error|BadData|BadArgument", text) or name == "coterie.datasets.names"  # it cannot fail
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(each.annotation is not each.empty for each in signature.parameters.values() if each.name != "self")


def test_docstrings_have_array_shapes():
    for method in (coterie.SoftKMeans.predict_proba, coterie.Subspace.transform, coterie.Subspace.distances, coterie.Subspace.label_scores):
        assert "of shape (n_samples, " in inspect.getdoc(method)
    for name in class_names():
        section = inspect.getdoc(getattr(coterie, name)).split("\nAttributes\n")[1].split("\nRaises\n")[0]
        for line in section.splitlines():
            if " : array" in line and "feature_names_in_" not in line:
                assert re.search(r"of shape \(", line), line


@pytest.mark.parametrize("name", [name for name in class_names() if name not in DEEP])
def test_documented_attributes_exist(name, iris):
    X, y = iris
    model = estimator(name).fit(X, np.where(np.arange(150) % 10 == 0, y, -1) if getattr(coterie, name)._takes_labels else None)
    section = inspect.getdoc(model).split("\nAttributes\n")[1].split("\nRaises\n")[0]
    names = [word for line in section.splitlines() if " : " in line and not line.startswith(" ") for word in line.split(" : ")[0].split(", ")]
    assert {"labels_", "n_iter_", "objective_"} <= set(names)
    for attribute in names:
        if attribute not in ("feature_names_in_", "cluster_choice_"):  # only if X has names; only with n_clusters="auto"
            assert getattr(model, attribute) is not None, attribute
    for attribute in ("labels_", "n_iter_"):
        assert attribute in dir(model)
    with pytest.raises(AttributeError, match="no attribute 'nothing_'"):
        model.nothing_


def test_guide_lists_classes_with_each_method():
    text = (ROOT / "docs" / "python.md").read_text()
    for method, but in (("predict_proba", False), ("transform", True)):
        classes = re.search(rf"^\| `{method}\(X\)` \|.*\|(.*)\|$", text, re.MULTILINE)[1]
        named = {name for name in re.findall(r"`(\w+)`", classes) if name in class_names()}
        assert named == {name for name in class_names() if hasattr(getattr(coterie, name), method) != but}, method


def test_not_fitted_errors(iris):
    X, _ = iris
    program = "import coterie\ntry: coterie.KMeans().predict([[0.0]])\nexcept coterie.NotFittedError as error: print(error)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert "is not fitted yet" in done.stdout
    with pytest.raises(AttributeError):
        coterie.KMeans().cluster_centers_


def test_repr(iris):
    X, _ = iris
    assert repr(coterie.KMeans()) == "KMeans()"
    assert repr(coterie.KMeans(3, init="random", n_jobs=2)) == "KMeans(n_clusters=3, init='random', n_jobs=2)"
    html = coterie.KMeans(3).fit(X)._repr_html_()
    assert "150 of 4 columns" in html and "<script" not in html


def test_report(tmp_path):
    wine = datasets.load_wine(as_frame=True)
    model = coterie.KMeans(3, scale="zscore").fit(wine.data)
    page = coterie.report(model, wine.data, wine.target_names[wine.target], source="wine")
    text = str(page)
    assert text.startswith("<!DOCTYPE html>") and "<svg" in text and "class_1" in text and "wine" in text and "alcohol" not in text[:100]
    assert f"{metrics.accuracy_score(wine.target, model.labels_):.3f}"[:4] in text
    assert page._repr_html_().startswith("<iframe srcdoc=")
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == text and list(tmp_path.iterdir()) == [tmp_path / "page.html"]
    assert "ACC" not in str(coterie.report(model, wine.data))
    with pytest.raises(ValueError, match="^X: 100 rows, but the model was fitted on 178"):
        coterie.report(model, wine.data[:100])
    model.save(tmp_path / "model.coterie")
    again = str(coterie.report(coterie.load(tmp_path / "model.coterie"), wine.data, wine.target))
    assert "Agreement with y_true" in again and f"{metrics.accuracy_score(wine.target, model.labels_):.3f}"[:4] in again


def test_scores_equal_those_of_scikit_learn():
    random = np.random.default_rng(0)
    truth, labels = random.integers(0, 5, 300), random.integers(0, 7, 300)
    labels[:200] = truth[:200]
    for name in ("adjusted_rand_score", "homogeneity_score", "completeness_score"):
        assert np.isclose(getattr(metrics, name)(truth, labels), getattr(sklearn.metrics, name)(truth, labels))
    for mean in ("arithmetic", "geometric", "min", "max"):
        assert np.isclose(
            metrics.normalized_mutual_info_score(truth, labels, average_method=mean),
            sklearn.metrics.normalized_mutual_info_score(truth, labels, average_method=mean),
        )
    X = random.normal(size=(300, 3)) + truth[:, None]
    assert np.isclose(metrics.silhouette_score(X, truth), sklearn.metrics.silhouette_score(X, truth))
    assert -1 <= metrics.silhouette_score(X, truth, sample_size=100) <= 1
    means = np.array([X[truth == c].mean(axis=0) for c in range(5)])
    ratio = ((X - means[truth]) ** 2).sum() / ((X - X.mean(axis=0)) ** 2).sum()
    assert np.isclose(metrics.scatter_ratio(X, truth), ratio)
    counts = sklearn.metrics.cluster.contingency_matrix(truth, labels)
    assert np.isclose(metrics.purity_score(truth, labels), counts.max(axis=0).sum() / 300)


def test_matching_by_hand():
    truth, labels = ["a", "a", "a", "b", "b", "c"], [5, 5, 7, 7, 7, 9]
    assert metrics.accuracy_score(truth, labels) == 5 / 6
    assert list(metrics.aligned_labels(truth, labels)) == ["a", "a", "b", "b", "b", "c"]
    classes, clusters, counts = metrics.confusion_table(truth, labels)
    assert list(classes) == ["a", "b", "c"] and list(clusters) == [5, 7, 9]
    assert counts.tolist() == [[2, 1, 0], [0, 2, 0], [0, 0, 1]]
    assert metrics.aligned_labels([0, 0, 1, 1], [3, 3, 4, 5]).tolist() in ([0, 0, 1, 2], [0, 0, 2, 1])
    assert metrics.scores(truth, labels)["accuracy"] == 5 / 6
    with pytest.raises(ValueError, match="6 and 5 labels"):
        metrics.accuracy_score(truth, labels[:5])
    with pytest.raises(ValueError, match="'median' is not accepted"):
        metrics.normalized_mutual_info_score(truth, labels, average_method="median")


@pytest.mark.parametrize("name", datasets.names())
def test_data_sets(name):
    loaded = datasets.load(name)
    assert loaded.data.shape == (len(loaded.target), len(loaded.feature_names)) and loaded.data.dtype == np.float64
    assert sorted(set(loaded.target)) == list(range(len(loaded.target_names)))
    assert loaded.DESCR and getattr(datasets, f"load_{name.replace('-', '_')}")(return_X_y=True)[0].shape == loaded.data.shape
    assert list(datasets.load(name, as_frame=True).data.columns) == loaded.feature_names


def test_unknown_data_set():
    with pytest.raises(ValueError, match="digit"):
        datasets.load("digit")
    with pytest.raises(AttributeError, match="data, target"):
        datasets.load_iris().rows


def test_version():
    text = (ROOT / "CMakeLists.txt").read_text()
    assert f"VERSION {coterie.__version__} " in text and _core.version == coterie.__version__


def test_sources_name_no_absolute_folders():
    for source in [*pathlib.Path(ROOT / "python").rglob("*.py"), *pathlib.Path(ROOT / "python").rglob("*.cpp")]:
        assert "/work" + "/" not in source.read_text(), source
