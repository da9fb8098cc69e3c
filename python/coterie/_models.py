"""Model files, which the command also reads and writes."""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _core, _estimators, _names
from ._base import Clusterer
from ._docstrings import complete_docstrings


def save(model: Clusterer, path: str | os.PathLike[str]) -> None:
    """Writes a fitted model to a file, completely or not at all. `load` and the command read it.

    Parameters
    ----------
    model : fitted model
    path : str or PathLike
        The file.
    **shared : model or path not usable
    """
    model.save(path)


def load(path: str | os.PathLike[str]) -> Any:
    """Loads a fitted model from a file.
    **shared : parameter path
        A file that `save`, or the command's --model-out, wrote.
    **shared : returns object of the method's class
        It predicts and has all outputs. The file does not have `labels_` or parameters that concern only the training data: noise_share, label_share
        and sizes have their defaults. `predict` still labels noise (noise_beyond_).
    **shared : raises BadData
        The file does not hold a valid model. BadData is a ValueError.
    """
    fitted = _core.load(os.fspath(path))
    cls = getattr(_estimators, _names.class_of(fitted.method))
    options = {parameter: option for parameter, option in cls._options.items() if option in fitted.options}
    model = cls(**{parameter: fitted.options[option] for parameter, option in options.items()}, **fitted.preparation)
    model._take(fitted)
    facts = fitted.facts
    if "iterations" in facts:
        model.n_iter_ = int(facts["iterations"])
        model.objective_ = float(facts["objective"])
    names, of_cluster = fitted.cluster_labels
    if of_cluster:
        model.cluster_labels_ = model._label_of_cluster(_label_values(names))
    return model


def describe(
    model: Clusterer | str | os.PathLike[str], X: Any, sample_weight: Any = None, compare_with: Clusterer | str | os.PathLike[str] | None = None
) -> dict[str, Any]:
    """Describes what distinguishes the clusters of a model in the rows of X. See `Clusterer.describe`.

    Parameters
    ----------
    model : fitted model, or the file of one
    X : array or table of shape (n_samples, n_features_in_)
    **shared : weights
    compare_with : fitted model, or the file of one, default=None
        Another model for the same X. The result also shows which rows the two models put into different clusters.
    **shared : returns dict
        As returned by `Clusterer.describe`.
    **shared : raises BadData
        X has a missing value, and the model was fitted with missing='refuse'.
    """
    fitted = model if isinstance(model, Clusterer) else load(model)
    other = compare_with if compare_with is None or isinstance(compare_with, Clusterer) else load(compare_with)
    return fitted.describe(X, sample_weight, other)


def _label_values(names):
    """The values of the labels. The file has them as words; if all words are whole numbers, the labels in y were numbers."""
    try:
        values = np.array([int(name) for name in names])
        return values if [str(value) for value in values] == names else np.array(names)
    except (ValueError, OverflowError):
        return np.array(names)


complete_docstrings(globals())
