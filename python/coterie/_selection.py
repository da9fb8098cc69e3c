"""Comparisons of methods, and one clustering from many fits: the command's `compare` and `consensus`."""
from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _core, _estimators, _input, _names
from ._base import Clusterer
from ._docstrings import complete_docstrings
from ._errors import warning_of
from ._show import SCORES, Shown, Table, left_out, number


class Compared(Shown):
    """The result of `compare`. It shows two tables when printed and in a notebook.

    Attributes
    ----------
    methods_ : list of dict
        One dict per method: method (the class), sizes, silhouette, calinski_harabasz, davies_bouldin (None with fewer than two clusters), scores
        (None without y_true), seconds, warnings, error (why the method failed, or None). pandas.DataFrame(compared.methods_) makes a table of them.
    agreement_ : array of shape (n_methods, n_methods)
        The adjusted Rand index of each pair of methods; NaN if one of them failed.
    labels_ : dict
        The labels of each class, arrays of shape (n_samples,); -1 for rows without a label.
    left_out_ : dict
        With methods=None: the classes that were not compared, and the reasons.
    """

    methods_: list[dict[str, Any]]
    agreement_: np.ndarray
    labels_: dict[str, np.ndarray]
    left_out_: dict[str, str]
    _found: Any = None  # the library's comparison; a copy does not have it
    _asked: dict[str, Any]

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "_found"}

    def _page(self, X, y_true, source):
        if self._found is None:
            raise ValueError("model: a comparison that was copied or loaded does not have a page. Pass the result of coterie.compare.")
        rows, side, _ = _read(X, "report", **self._asked["columns"])
        truth, names = _input.truth_of(y_true, rows.shape[0])
        return self._found.page(rows.points, side, truth, names, source, self._asked["threads"])

    def _parts(self):
        fitted = [method for method in self.methods_ if not method["error"]]
        scored = SCORES if any(method["scores"] for method in fitted) else []
        criteria = ["silhouette", "calinski_harabasz", "davies_bouldin"]
        yield Table(["method", "clusters", *criteria, *scored, "seconds"],
                    ([method["method"], len(method["sizes"]), *(method[name] for name in criteria), *(f"{method['scores'][head.lower()]:.4f}" for head in scored), number(method["seconds"], 2)] for method in fitted))
        names = [method["method"] for method in self.methods_]
        if len(fitted) > 1:
            yield ""
            yield Table(["ARI", *names], ([name, *("" if np.isnan(value) else f"{value:.2f}" for value in row)] for name, row in zip(names, self.agreement_.tolist())))
        for method in self.methods_:
            if method["error"]:
                yield f"{method['method']}: {method['error']}"
        reasons = list(dict.fromkeys(self.left_out_.values()))
        if reasons:
            yield "not compared: " + "; ".join(f"{', '.join(name for name, why in self.left_out_.items() if why == reason)} ({reason})" for reason in reasons)


class Consensus(Shown):
    """One clustering from many fits. It shows a table of its clusters when printed and in a notebook.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row; -1 for rows that were dropped for missing values.
    confidence_ : array of shape (n_samples,)
        From -1 to 1: the mean similarity of a row to the rows of its cluster, less that to the rows of the next best cluster.
    cohesion_ : array of shape (n_clusters,)
        How often the fits put two rows of the cluster into one cluster, on average.
    confidence_of_cluster_ : array of shape (n_clusters,)
        The mean confidence of the cluster's rows.
    sample_ : int or None
        The size of the sample, or None if all rows were used.
    """

    labels_: np.ndarray
    confidence_: np.ndarray
    cohesion_: np.ndarray
    confidence_of_cluster_: np.ndarray
    sample_: int | None

    def _parts(self):
        kept = self.labels_ >= 0
        sizes = np.bincount(self.labels_[kept], minlength=len(self.cohesion_))
        yield f"{len(sizes)} clusters of {kept.sum()} rows, confidence {number(float(self.confidence_[kept].mean()), 3)} on average{left_out(int((~kept).sum()))}"
        yield Table(["cluster", "rows", "cohesion", "confidence"],
                    ([str(cluster), *row] for cluster, row in enumerate(zip(sizes.tolist(), self.cohesion_.tolist(), self.confidence_of_cluster_.tolist()))))


def _names_of(methods):
    """The library's names of methods, given as classes, as names of classes or as names of the library."""
    if methods is None:
        return []
    if isinstance(methods, (str, type)):
        methods = [methods]
    if not isinstance(methods, Iterable):
        raise ValueError(f"methods: {methods!r} is not accepted. Use a class of coterie, its name, or a list of them.")
    out = []
    for each in methods:
        if isinstance(each, type) and issubclass(each, Clusterer):
            out.append(each._method)
        elif isinstance(each, str):
            out.append(getattr(_estimators, each)._method if each in _estimators.__all__ else each)
        else:
            raise ValueError(f"methods: {each!r} is not accepted. Use a class of coterie or its name.")
    return out


def _read(X, name, missing, categorical, dates):
    columns = {"missing": missing, "categorical": categorical, "dates": dates}
    rows = _input.rows_of(X, estimator=name, columns=columns)
    return rows, rows.side(), columns


def compare(
    X: Any,
    n_clusters: int,
    methods: Iterable[Any] | None = None,
    *,
    y_true: Any = None,
    center: bool = False,
    scale: str = "none",
    missing: str = "refuse",
    categorical: str = "refuse",
    dates: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    device: str = "cpu",
) -> Compared:
    """Fits several methods to the same rows, each with n_clusters and otherwise its defaults.

    Parameters
    ----------
    X : array or table of shape (n_samples, n_features)
    n_clusters : int
        Number of clusters, at least 1.
    methods : list of classes or names, default=None
        None: the methods that are fast enough for this many rows. left_out_ has the others and the reasons.
    y_true : array of shape (n_samples,), default=None
        A label per row for scores; -1, None or NaN if unknown. The fits do not see it.
    center, scale, missing, categorical, dates, random_state, n_jobs, device
        As in the classes.
    **shared : returns Compared, raises ValueError
        A parameter or X is not accepted. If only a method fails, its `error` in methods_ says why.
    """
    rows, side, columns = _read(X, "compare", missing, categorical, dates)
    truth, _ = _input.truth_of(y_true, rows.shape[0])
    threads = _input.threads_of(n_jobs)
    document, labels, comparison = _core.compare(
        _names_of(methods), _input.count_of(n_clusters, "n_clusters"), rows.points, side, {"center": center, "scale": scale}, columns,
        _input.seed_of(random_state), threads, _input.device_of(device), truth,
    )
    found = json.loads(document)
    out = Compared()
    out._found, out._asked = comparison, {"columns": columns, "threads": threads}
    out.methods_ = [{**method, "method": _names.class_of(method["method"])} for method in found["methods"]]
    for method in out.methods_:
        method["warnings"] = [each["text"] for each in method["warnings"]]
    out.agreement_ = np.array([[np.nan if value is None else value for value in row] for row in found["agreement"]])
    out.labels_ = {method["method"]: of for method, of in zip(out.methods_, labels) if method["error"] is None}
    out.left_out_ = {_names.class_of(each["method"]): each["why"] for each in found["left_out"]}
    return out


def consensus(
    X: Any,
    n_clusters: int,
    methods: Iterable[Any] = ("kmeans",),
    *,
    fits: int = 100,
    center: bool = False,
    scale: str = "none",
    missing: str = "refuse",
    categorical: str = "refuse",
    dates: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    device: str = "cpu",
) -> Consensus:
    """Makes one clustering from many fits by evidence accumulation (Fred and Jain 2005). Each fit uses a random 80 % of the rows.

    Above 3,000 rows the fits use a sample of 3,000 rows; the other rows are assigned by votes.

    Parameters
    ----------
    X : array or table of shape (n_samples, n_features)
    n_clusters : int
        Number of clusters of every fit, and of the result.
    methods : list of classes or names, default=("kmeans",)
        The fits use these methods in turn.
    fits : int, default=100
        Number of fits. The similarity of two rows, the share of fits that put them into one cluster, is a multiple of 1 / fits.
    center, scale, missing, categorical, dates, random_state, n_jobs, device
        As in the classes.
    **shared : returns Consensus, raises ValueError
        A parameter or X is not accepted.
    """
    rows, side, columns = _read(X, "consensus", missing, categorical, dates)
    document, labels, confidence = _core.consensus(
        _names_of(methods), _input.count_of(n_clusters, "n_clusters"), _input.count_of(fits, "fits"), rows.points, side,
        {"center": center, "scale": scale}, columns, _input.seed_of(random_state), _input.threads_of(n_jobs), _input.device_of(device),
    )
    found = json.loads(document)
    for entry in found["warnings"]:
        warnings.warn(warning_of(entry), stacklevel=2)
    out = Consensus()
    out.labels_, out.confidence_ = labels, confidence
    out.cohesion_, out.confidence_of_cluster_ = np.array(found["cohesion"]), np.array(found["confidence_of_cluster"])
    out.sample_ = found["sample"]
    return out


complete_docstrings(globals())
