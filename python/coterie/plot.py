"""Pictures of a fit with matplotlib, which is imported when one is drawn: each goes into the axes given, or new ones, and returns them.

    coterie.plot.clusters(model, X)     the rows in the model's space, coloured by cluster
    coterie.plot.sizes(model)           how many rows each cluster has
    coterie.plot.objective(model)       the objective after each iteration

As the command's --picture, the map shows at most about 5,000 rows, chosen at a fixed stride, and the first two principal axes of what it shows: the same
picture again for the same rows.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _input
from ._base import Clusterer

__all__ = ["clusters", "sizes", "objective"]

_MOST_ROWS = 5000


def _axes(ax):
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("coterie.plot draws with matplotlib, which is not installed; pip install matplotlib") from error
    return pyplot.subplots()[1]


def _colours(k):
    import matplotlib

    if k <= 10:
        return matplotlib.colormaps["tab10"](np.arange(k))
    if k <= 20:
        return matplotlib.colormaps["tab20"](np.arange(k))
    return matplotlib.colormaps["turbo"](np.linspace(0, 1, k))


def _in_model_space(model, rows):
    """n x p: what the method sees of rows, and what its columns are called (empty: nothing)."""
    if getattr(model, "_transformed", None) == "embedding":
        return model._output_of("embedding", rows), []
    points = model._fitted.prepared(rows.points, rows.names or [], rows.categories or [], _input.threads_of(model.n_jobs))
    return points.astype(np.float64, copy=False), list(model._fitted.column_names)


def _flat(space, names):
    """n x 2 and what the two axes are: the columns where there are two; of one its values and a place beside each other; else the principal axes."""
    if space.shape[1] == 1:
        beside = np.arange(len(space)) * 0.6180339887498949 % 1  # rows spread evenly whatever their order
        return np.column_stack([space[:, 0], beside]), (names[0] if names else "value", "")
    if space.shape[1] == 2:
        return space, tuple(names) if names else ("column 1", "column 2")
    centred = space - space.mean(axis=0)
    left, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    if len(lengths) == 1:  # of one row
        left, lengths = np.zeros((1, 2)), np.zeros(2)
    # An axis has no direction of its own: the row farthest out is on its positive side.
    signs = np.sign(left[np.abs(left[:, :2]).argmax(axis=0), np.arange(2)])
    shares = lengths[:2] ** 2 / max((lengths**2).sum(), np.finfo(float).tiny)
    return left[:, :2] * lengths[:2] * signs, tuple(f"principal axis {i + 1} ({share:.0%} of the variance)" for i, share in enumerate(shares))


def clusters(model: Clusterer, X: Any, *, labels: Any = None, ax: Any = None) -> Any:
    """The rows of X in the model's space, coloured by cluster.

    The space is that of `transform` where it gives an embedding, else that of the rows after center and scale; more than two dimensions are shown by their
    first two principal axes. `labels` are the clusters to colour by (`model.labels_`, where shares or sizes make them others than predict's), one per row;
    without them, those of `predict`. `ax`: axes of matplotlib to draw into; None: new ones. TypeError on sparse matrices, ValueError on another number of
    labels, ImportError without matplotlib. Returns the axes.
    """
    model._require_fitted()
    if _input.is_sparse(X):
        raise TypeError("X: a sparse matrix was passed, but the map needs dense data; X[:5000].toarray() makes some rows so")
    rows = model._new_rows(X)
    count = rows.shape[0]
    if labels is not None:
        labels = np.asarray(labels)
        if labels.shape != (count,):
            raise ValueError(f"labels: one per row is wanted, {count} of them, not shape {labels.shape}")
    step = -(-count // _MOST_ROWS)
    points = rows.points if isinstance(rows.points, np.ndarray) else rows.points.array()
    shown = _input.Rows(np.ascontiguousarray(points[::step]), rows.names, None, rows.kinds, rows.categories)
    labels = model._labels_of(shown) if labels is None else labels[::step]
    ax = _axes(ax)
    flat, (across, up) = _flat(*_in_model_space(model, shown))
    found = np.unique(labels)
    colours = _colours(len(found))
    for colour, label in zip(colours, found):
        of = labels == label
        ax.scatter(flat[of, 0], flat[of, 1], s=8, color=colour, label=str(label), linewidths=0, rasterized=True)
    ax.set_xlabel(across)
    ax.set_ylabel(up)
    if len(found) <= 20:
        ax.legend(title="cluster", markerscale=2, fontsize="small")
    some = f", {len(flat):,} of {count:,} rows" if step > 1 else ""
    ax.set_title(f"{type(model).__name__}: {len(found)} clusters{some}")
    return ax


def _report(model):
    model._require_fitted()
    return model.fit_report_  # of a loaded model an AttributeError says that it is not there


def sizes(model: Clusterer, *, ax: Any = None) -> Any:
    """How many rows of the fit each cluster has, as bars in the order of the clusters' numbers. Returns the axes.

    model: fitted in this process, else AttributeError. ax: axes of matplotlib to draw into; None: new ones.
    """
    counts = np.asarray(_report(model)["sizes"], dtype=np.int64)
    ax = _axes(ax)
    ax.bar(np.arange(len(counts)), counts, color=_colours(len(counts)))
    ax.set_xlabel("cluster")
    ax.set_ylabel("rows")
    ax.set_title(f"{type(model).__name__}: {counts.sum():,} rows in {len(counts)} clusters")
    return ax


def objective(model: Clusterer, *, ax: Any = None) -> Any:
    """The objective after each iteration of the restart that was kept. Returns the axes.

    model: fitted in this process, else AttributeError. ax: axes of matplotlib to draw into; None: new ones. ValueError where the method has no iterations.
    """
    report = _report(model)
    values = np.asarray(report["objective_per_iteration"])
    if not len(values):
        raise ValueError(f"{type(model).__name__} has no iterations whose objective could be shown")
    ax = _axes(ax)
    ax.plot(np.arange(1, len(values) + 1), values, marker="." if len(values) <= 50 else None)
    ax.set_xlabel("iteration")
    ax.set_ylabel("objective")
    ax.set_title(f"{type(model).__name__}: {report['objective']:.6g} after {report['iterations']} iterations ({report['stopped']})")
    return ax
