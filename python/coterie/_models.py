"""Models as files: the same that the command writes and reads."""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _core, _estimators, _names
from ._base import Clusterer


def save(model: Clusterer, path: str | os.PathLike[str]) -> None:
    """Writes a fitted model to the file `path`, whole or not at all; the command and `load` read it. NotFittedError; OSError where it cannot be written."""
    model.save(path)


def load(path: str | os.PathLike[str]) -> Any:
    """The fitted model in the file `path` that `save`, or the command's --model-out, has written: an object of its method's class.

    It predicts and gives outputs; the labels of the points it was fitted on are not in the file, nor what was said of these points alone: parameters
    like noise_share, label_share and sizes have their defaults, though predict makes noise as before (noise_beyond_).
    BadData (a ValueError) on what is no sound model.
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
    """What sets the clusters of a fitted model, or of a file that holds one, apart in the rows of X, and which rows another model has in other clusters: `Clusterer.describe`.

    X: n x n_features_in_; sample_weight: n; compare_with: another model of the same X, or its file. BadData on NaN.
    """
    fitted = model if isinstance(model, Clusterer) else load(model)
    other = compare_with if compare_with is None or isinstance(compare_with, Clusterer) else load(compare_with)
    return fitted.describe(X, sample_weight, other)


def _label_values(names):
    """Labels are words in the file; those that are all whole numbers were numbers in y."""
    try:
        values = np.array([int(name) for name in names])
        return values if [str(value) for value in values] == names else np.array(names)
    except (ValueError, OverflowError):
        return np.array(names)
