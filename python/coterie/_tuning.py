"""Search for the best parameters in a grid: the command's `tune`."""
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
    """The result of `tune`. It shows a table of the cells when printed and in a notebook.

    Attributes
    ----------
    best_estimator_ : object of the method's class
        Fitted on all rows with the parameters of the best cell.
    best_params_ : dict
        The parameters of the best cell.
    best_index_ : int
        The position of the best cell in cells_.
    cells_ : list of dict
        One dict per cell: method, params, criterion, seen and unseen (scores, with y_true and folds), seconds, error (why it has no criterion).
        pandas.DataFrame(tuned.cells_) makes a table of them.
    choice_ : dict or None
        For select="gap", "stability", "prediction-strength" or "recommended": the votes of all criteria for the number of clusters, as "choice" in
        the command's JSON document. Keys: recommended, sureness, clusters and criteria (each with name, rule, chosen, values and spreads).
    """

    best_estimator_: Any
    best_params_: dict[str, Any]
    best_index_: int
    cells_: list[dict[str, Any]]
    choice_: dict[str, Any] | None
    _search: str  # the search's part of the page

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
    """Fits the estimator once for each cell of a grid of parameters, and keeps the best fit.

    Parameters
    ----------
    estimator : object of a class of coterie
        Parameters that are not in the grid keep their values.
    X : array or table of shape (n_samples, n_features)
    grid : dict
        Values per parameter: {"n_clusters": range(2, 10), "scale": ["none", "zscore"]}. Parameters of the method are allowed, and with
        select='acc', 'nmi' or 'ari' also center and scale. The cells are all combinations; the last parameter varies fastest.
    select : str, default='silhouette'
        The criterion of the best cell:

        - 'silhouette' (mean silhouette) and 'calinski-harabasz': the largest value
        - 'objective', 'ratio' (scatter within clusters over total scatter), 'knncut' (normalised cut of the graph of neighbours), 'davies-bouldin'
          and 'bic': the smallest value
        - 'gap', 'stability', 'prediction-strength', or 'recommended' by all criteria: only for a grid of n_clusters alone
        - 'acc', 'nmi', 'ari': the largest agreement with y_true, which an application does not know
    folds : int, default=0
        0: fit every cell on all rows. 2 or more: divide the rows into this many parts; each part is unseen once.
    with_kmeans : bool, default=False
        Whether plain k-means with the same number of clusters also takes part.
    y, sample_weight
        As in fit.
    y_true : array of shape (n_samples,), default=None
        A label per row for scores; -1, None or NaN if unknown. The fits do not see it.

    Returns
    -------
    Tuned

    Raises
    ------
    ValueError
        A parameter, a value of the grid or X is not accepted, or all cells failed.
    TypeError
        `estimator` is not an object of a class of coterie.
    """
    if not isinstance(estimator, Clusterer):
        raise TypeError(f"estimator: {estimator!r} is not accepted. Use an object of a class of coterie, for example KMeans().")
    cls = type(estimator)
    if not isinstance(grid, Mapping) or not grid:
        raise ValueError(f"grid: {grid!r} is not accepted. Use a dict of parameters and values to try, for example {{'n_clusters': [2, 3, 4]}}.")
    axes = []
    for parameter, values in grid.items():
        if parameter not in cls._options and parameter not in _PREPARATION:
            raise ValueError(f"grid: {parameter!r} is not accepted for {cls.__name__}. Use {', '.join([*cls._options, *_PREPARATION])}.")
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise ValueError(f"grid: {parameter}={values!r} is not accepted. Use a list of values.")
        values = ["none" if parameter == "scale" and value is None else value for value in values]
        if not values:
            raise ValueError(f"grid: {parameter} has no values. Give at least one.")
        values = [_names.CHOICES.get(value, value) if isinstance(value, str) else value for value in values]
        axes.append((cls._options.get(parameter, parameter), values))
    beyond = [f"{name}={getattr(estimator, name)!r}" for name in ("sample", "noise_share") if getattr(estimator, name)]
    if beyond:
        warnings.warn(f"the cells are fitted without {' and '.join(beyond)}. Only best_estimator_ uses {'it' if len(beyond) == 1 else 'them'}.", CoterieWarning, stacklevel=2)
    points, side, rows, *_ = estimator._problem(X, y, sample_weight)
    seed = _input.seed_of(estimator.random_state)
    truth, _ = _input.truth_of(y_true, X.shape[0] if rows is None else rows.shape[0])
    fixed = {option: value for option, value in estimator._option_values().items() if option not in dict(axes)}
    progress = Progress(f"tune {cls.__name__}", estimator.verbose, estimator.callback)
    try:
        with naming_columns(rows and rows.names):
            found = _core.tune(
                cls._method, fixed, axes, {"select": select, "folds": folds, "with_kmeans": with_kmeans}, points, side,
                {"center": "center" not in grid and estimator.center,
                 "scale": "none" if "scale" in grid or estimator.scale is None else estimator.scale},
                estimator._column_options(), seed, *estimator._threads_and_device(), truth, progress if progress.wanted else None,
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
    else:  # k-means is best: it keeps the parameters of both classes that are not options of a method
        common = set(cls._defaults()) & set(best._defaults()) - set(cls._options) - {"checkpoint"}
        options = {_parameter_of(best, option): value for option, value in found["best_options"].items()}
        chosen = best(**{name: getattr(estimator, name) for name in common}, **options)
    for name, value in out.best_params_.items():
        setattr(chosen, name, value)
    out.best_estimator_ = chosen._fit(X if rows is None else rows, y, sample_weight, seed=seed)
    return out
