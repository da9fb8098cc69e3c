"""Plots of a fit with matplotlib, which is imported at the first plot. Each function draws into the given or new axes and returns them.

    coterie.plot.clusters(model, X)     the rows in the model's space, coloured by cluster
    coterie.plot.sizes(model)           the number of rows of each cluster
    coterie.plot.objective(model)       the objective after each iteration

`clusters` shows at most 5,000 rows, chosen at a fixed stride as in the command's --picture. One or two columns are drawn as they are, more columns on the first
two principal axes of the shown rows. The same rows give the same picture.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _input
from ._base import Clusterer
from ._docstrings import SHARED, complete_docstrings, entry, section

__all__ = ["clusters", "sizes", "objective"]

_MOST_ROWS = 5000

SHARED["ax"] = entry("ax : matplotlib.axes.Axes, default=None", "Where to draw. None: new axes.") + section("Returns", "matplotlib.axes.Axes")
SHARED["fit to plot"] = (
    section("Parameters", "model : model that was fitted in this process") + SHARED["ax"] + section("Raises", "AttributeError", "The model was loaded.")
)
SHARED["no matplotlib"] = entry("ImportError", "matplotlib is missing.")


def _axes(ax):
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("coterie.plot needs matplotlib, which is not installed: pip install matplotlib") from error
    return pyplot.subplots()[1]


def _colours(k):
    import matplotlib

    if k > 20:
        return matplotlib.colormaps["turbo"](np.linspace(0, 1, k))
    return matplotlib.colormaps["tab10" if k <= 10 else "tab20"](np.arange(k))


def _in_model_space(model, rows):
    """Returns the rows in the space of the method (n x p), and the names of its columns (empty: none)."""
    if getattr(model, "_transformed", None) == "embedding":
        return model._output_of("embedding", rows), []
    points = model._fitted.prepared(rows.given, _input.threads_of(model.n_jobs))
    return points.astype(np.float64, copy=False), list(model._fitted.column_names)


def _flat(space, names):
    """Returns n x 2 coordinates and the names of the axes.

    Two columns are the coordinates. One column is the first coordinate; the second only separates the rows. More columns: the first two principal axes.
    """
    if space.shape[1] == 1:
        height = np.arange(len(space)) * 0.6180339887498949 % 1  # multiples of the golden ratio: consecutive rows are far from each other
        return np.column_stack([space[:, 0], height]), (names[0] if names else "value", "")
    if space.shape[1] == 2:
        return space, tuple(names) if names else ("column 1", "column 2")
    centred = space - space.mean(axis=0)
    left, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    if len(lengths) == 1:  # one row
        left, lengths = np.zeros((1, 2)), np.zeros(2)
    # The sign of an axis is arbitrary: the farthest row is on the positive side.
    signs = np.sign(left[np.abs(left[:, :2]).argmax(axis=0), np.arange(2)])
    shares = lengths[:2] ** 2 / max((lengths**2).sum(), np.finfo(float).tiny)
    return left[:, :2] * lengths[:2] * signs, tuple(f"principal axis {i + 1} ({share:.0%} of the variance)" for i, share in enumerate(shares))


def clusters(model: Clusterer, X: Any, *, labels: Any = None, ax: Any = None) -> Any:
    """The rows of X in the model's space, coloured by cluster.

    The space is that of `transform` if it gives an embedding, otherwise that of the rows after center and scale. If it has more than two dimensions,
    the plot shows the first two principal axes.

    Parameters
    ----------
    model : fitted model
    X : array or table of shape (n_samples, n_features_in_)
    labels : array of shape (n_samples,), default=None
        Clusters for the colours. None: those of `predict`. After a fit with shares or sizes these may differ from model.labels_.
    **shared : ax, raises TypeError
        X is a sparse matrix.
    ValueError
        X is not accepted, or the number of labels is not the number of rows.
    **shared : no matplotlib
    """
    model._require_fitted()
    if _input.is_sparse(X):
        raise TypeError("X: a sparse matrix was passed, but the map needs dense data. Use X[:5000].toarray() for some of the rows.")
    rows = model._new_rows(X)
    count = rows.shape[0]
    if labels is not None:
        labels = np.asarray(labels)
        if labels.shape != (count,):
            raise ValueError(f"labels: an array of shape {labels.shape} is not accepted. Give one label per row: {count} labels.")
    step = -(-count // _MOST_ROWS)
    points = rows.points if isinstance(rows.points, np.ndarray) else rows.points.array()
    shown = _input.Rows(np.ascontiguousarray(points[::step]), rows.names, None, rows.kinds, rows.categories)
    labels = model._labels_of(shown) if labels is None else labels[::step]
    ax = _axes(ax)
    flat, (across, up) = _flat(*_in_model_space(model, shown))
    found = np.unique(labels)
    for colour, label in zip(_colours(len(found)), found):
        of = labels == label
        ax.scatter(flat[of, 0], flat[of, 1], s=8, color=colour, label=str(label), linewidths=0, rasterized=True)
    if len(found) <= 20:
        ax.legend(title="cluster", markerscale=2, fontsize="small")
    some = f", {len(flat):,} of {count:,} rows" if step > 1 else ""
    ax.set(xlabel=across, ylabel=up, title=f"{type(model).__name__}: {len(found)} clusters{some}")
    return ax


def _report(model):
    model._require_fitted()
    return model.fit_report_  # raises AttributeError for a loaded model


def sizes(model: Clusterer, *, ax: Any = None) -> Any:
    """The number of rows of the fit in each cluster, as bars in the order of the cluster numbers.
    **shared : fit to plot, no matplotlib
    """
    counts = np.asarray(_report(model)["sizes"], dtype=np.int64)
    ax = _axes(ax)
    ax.bar(np.arange(len(counts)), counts, color=_colours(len(counts)))
    ax.set(xlabel="cluster", ylabel="rows", title=f"{type(model).__name__}: {counts.sum():,} rows in {len(counts)} clusters")
    return ax


def objective(model: Clusterer, *, ax: Any = None) -> Any:
    """The objective after each iteration of the best restart.
    **shared : fit to plot
    ValueError
        The method does not iterate.
    **shared : no matplotlib
    """
    report = _report(model)
    values = np.asarray(report["objective_per_iteration"])
    if not len(values):
        raise ValueError(f"{type(model).__name__} has no iterations, so there is no objective to plot")
    ax = _axes(ax)
    ax.plot(np.arange(1, len(values) + 1), values, marker="." if len(values) <= 50 else None)
    how = f"{report['objective']:.6g} after {report['iterations']} iterations ({report['stopped']})"
    ax.set(xlabel="iteration", ylabel="objective", title=f"{type(model).__name__}: {how}")
    return ax


complete_docstrings(globals())
