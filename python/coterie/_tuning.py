"""Options chosen over a grid: the command's `tune`."""
from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _core, _estimators, _input, _names
from ._base import Clusterer, naming_columns
from ._errors import CoterieWarning
from ._progress import Progress
from ._show import SCORES, ClusterChoice, Shown, Table, number


class Tuned(Shown):
    """What a search has found: a table of the cells where it is printed, and in a notebook.

    Attributes
    ----------
    best_estimator_ : object of the method's class
        Fitted on all rows with the best cell's parameters.
    best_params_ : dict
        These parameters: the cell's.
    best_index_ : int
        Its position in cells_.
    cells_ : list of dict
        Every cell: method, params, criterion, seen and unseen (scores, where there was a truth and folds), seconds, error (why it has no criterion).
        pandas.DataFrame(tuned.cells_) makes a table of them.
    choice_ : dict or None
        Of a search by gap, stability, prediction-strength or recommended: what all criteria say of the numbers of clusters, as "choice" in the command's
        document: recommended, sureness, clusters and criteria (each with name, rule, chosen, values and spreads).
    """

    best_estimator_: Any
    best_params_: dict[str, Any]
    best_index_: int
    cells_: list[dict[str, Any]]
    choice_: dict[str, Any] | None
    _search: str  # of the page, made with the search

    def _parts(self):
        several = len({cell["method"] for cell in self.cells_}) > 1
        names = list(dict.fromkeys(name for cell in self.cells_ for name in cell["params"]))
        scored = [(kind, head) for kind in ("seen", "unseen") for head in SCORES if any(cell[kind] for cell in self.cells_)]
        yield f"best of {len(self.cells_)} cells: {self.best_estimator_!r}"
        yield Table(["cell", *(["method"] if several else []), *names, "criterion", *(f"{head}, {kind}" for kind, head in scored), "seconds"],
                    ([f"{place}{' *' if place == self.best_index_ else ''}", *([cell["method"]] if several else []), *(_text(cell["params"].get(name)) for name in names),
                      cell["criterion"], *(number((cell[kind] or {}).get(SCORES[head])) for kind, head in scored), number(cell["seconds"], 2)] for place, cell in enumerate(self.cells_)))
        for place, cell in enumerate(self.cells_):
            if cell["error"]:
                yield f"cell {place}: {cell['error']}"
        if self.choice_:
            yield from self.choice_._parts()


def _text(value):
    return "" if value is None else str(value)


_PREPARATION = ("center", "scale")


def _parameter_of(cls, option):
    return option if option in _PREPARATION else next(parameter for parameter, each in cls._options.items() if each == option)


def tune(
    estimator: Clusterer,
    X: Any,
    grid: Mapping[str, Iterable[Any]],
    *,
    select: str = "silhouette",
    folds: int = 0,
    with_kmeans: bool = False,
    y: Any = None,
    y_true: Any = None,
    sample_weight: Any = None,
) -> Tuned:
    """Fits the estimator once for each cell of a grid of its parameters and keeps the best; its other parameters are those that it has.

    Parameters
    ----------
    grid : dict
        Values per parameter: {"n_clusters": range(2, 10), "scale": ["none", "zscore"]}, of the method's own options and of center and scale (these
        two with select='acc', 'nmi' or 'ari'). Cells are their product, the last one fastest.
    select : str, default='silhouette'
        What is best: 'silhouette', the largest mean silhouette; 'objective', the least; 'ratio', the least scatter within over total; 'knncut', the least
        normalised cut of the graph of neighbours; 'calinski-harabasz', the largest; 'davies-bouldin' and 'bic', the least; of a grid of n_clusters alone
        what 'gap', 'stability' or 'prediction-strength' choose, or what is 'recommended' by all; or 'acc', 'nmi', 'ari', as an oracle, the largest agreement
        with y_true.
    folds : int, default=0
        0: every cell is fitted on all rows; else 2 or more parts, each of them once unseen.
    with_kmeans : bool, default=False
        Plain k-means with as many clusters competes.
    y, sample_weight
        As those of fit.
    y_true : array, default=None
        A label per row, -1, None or NaN where it is not known, to score against; never seen by a fit.

    Raises
    ------
    ValueError
        A parameter, a value of the grid or X is not accepted, or every cell was refused.
    """
    if not isinstance(estimator, Clusterer):
        raise TypeError(f"estimator: {estimator!r} is not accepted; an object of one of coterie's classes is, KMeans() for example")
    cls = type(estimator)
    if not isinstance(grid, Mapping) or not grid:
        raise ValueError(f"grid: {grid!r} is not accepted; a dict of parameters and the values to try is, {{'n_clusters': [2, 3, 4]}} for example")
    axes = []
    for parameter, values in grid.items():
        if parameter not in cls._options and parameter not in _PREPARATION:
            raise ValueError(f"grid: {parameter!r} is no option of {cls.__name__}; these are: {', '.join([*cls._options, *_PREPARATION])}")
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise ValueError(f"grid: {parameter}={values!r} is no list of values")
        values = ["none" if parameter == "scale" and value is None else value for value in values]
        if not values:
            raise ValueError(f"grid: {parameter} has no values; at least one is wanted")
        values = [_names.CHOICES.get(value, value) if isinstance(value, str) else value for value in values]
        axes.append((cls._options.get(parameter, parameter), values))
    beyond = [f"{name}={getattr(estimator, name)!r}" for name in ("sample", "noise_share") if getattr(estimator, name)]
    if beyond:
        warnings.warn(f"the cells are fits of all rows without {' and '.join(beyond)}, which best_estimator_ alone is fitted with", CoterieWarning, stacklevel=2)
    points, side, rows, *_ = estimator._problem(X, y, sample_weight)
    seed = _input.seed_of(estimator.random_state)
    truth = None
    if y_true is not None:
        truth = _input.labels_of(y_true, X.shape[0] if rows is None else rows.shape[0], "y_true")[0]
    fixed = {option: value for option, value in estimator._option_values().items() if option not in dict(axes)}
    progress = Progress(f"tune {cls.__name__}", estimator.verbose, estimator.callback)
    try:
        with naming_columns(rows and rows.names):
            found = _core.tune(
                cls._method, fixed, axes, {"select": select, "folds": folds, "with_kmeans": with_kmeans}, points, side,
                {"center": "center" not in grid and estimator.center,
                 "scale": "none" if "scale" in grid or estimator.scale is None else estimator.scale},
                estimator._column_options(), seed, _input.threads_of(estimator.n_jobs), _input.device_of(getattr(estimator, "device", "cpu")), truth,
                progress if progress.wanted else None,
            )
    finally:
        progress.close()
    out = Tuned()
    out.choice_ = None if found["choice"] is None else ClusterChoice(json.loads(found["choice"]))
    out.cells_ = []
    for cell in found["cells"]:
        of = getattr(_estimators, _names.class_of(cell["method"]))
        params = {_parameter_of(of, option): value for option, value in cell["options"].items()}
        out.cells_.append({
            "method": of.__name__, "params": params, "criterion": cell["criterion"] if np.isfinite(cell["criterion"]) else None, "seen": cell["seen"],
            "unseen": cell["unseen"], "seconds": cell["seconds"], "error": cell["error"],
        })
    out.best_index_ = found["best"]
    out._search = found["page"]
    out.best_params_ = out.cells_[found["best"]]["params"]
    best = getattr(_estimators, _names.class_of(found["best_method"]))
    if best._method == cls._method:
        chosen = cls(**estimator.get_params())
    else:  # k-means has won: it keeps what both take and is no option of a method
        common = set(cls._defaults()) & set(best._defaults()) - set(cls._options) - {"checkpoint"}
        options = {_parameter_of(best, option): value for option, value in found["best_options"].items()}
        chosen = best(**{name: getattr(estimator, name) for name in common}, **options)
    for name, value in out.best_params_.items():
        setattr(chosen, name, value)
    out.best_estimator_ = chosen._fit(X if rows is None else rows, y, sample_weight, seed=seed)
    return out
