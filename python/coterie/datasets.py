"""Small data sets that are part of coterie, and larger ones of its catalogue that are on this machine."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core

__all__ = ["Dataset", "names", "load", "load_breast_cancer", "load_clouds", "load_digits", "load_iris", "load_moons", "load_penguins", "load_rings", "load_wine"]


class Dataset(dict[str, Any]):
    """A data set. Its keys are also attributes.

    Attributes
    ----------
    data : array of float64 of shape (n_samples, n_features), or pandas.DataFrame
    target : array of int32 of shape (n_samples,), or None
        Class numbers; target_names[i] is the name of class i.
    target_names : array of str
    feature_names : list of str
    DESCR : str
        Title, licence and source.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"a data set does not have {name}, only {', '.join(self)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]


def names(shipped: bool = True) -> list[str]:
    """Returns the names of the data sets that are part of coterie; with shipped=False, of all data sets in its catalogue."""
    return [entry["name"] for entry in _core.catalogue() if entry["shipped"] or not shipped]


def load(name: str, *, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Loads a data set.

    Parameters
    ----------
    name : str
        A name of the catalogue: `names(shipped=False)`.
    return_X_y : bool, default=False
        Whether to return (data, target).
    as_frame : bool, default=False
        Whether `data` is a pandas DataFrame.

    Returns
    -------
    Dataset, or (data, target)

    Raises
    ------
    ValueError
        The name is not in the catalogue, or the data set is not on this machine. `coterie data get NAME` downloads it.
    ImportError
        as_frame=True without pandas.
    """
    table = _core.read([f"data:{name}"])
    entry = next(entry for entry in _core.catalogue() if entry["name"] == name)
    data, columns = table.array(), table.column_names
    target = table.labels if len(table.labels) else None
    if as_frame:
        import pandas

        data = pandas.DataFrame(data, columns=columns or None)
    if return_X_y:
        return data, target
    return Dataset(
        data=data,
        target=target,
        target_names=np.array(table.label_names),
        feature_names=columns,
        DESCR=f"{entry['title']}. Licence: {entry['licence']}. Source: {entry['citation']}",
    )


def _loader(name: str) -> Callable[..., Any]:
    def load_it(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
        return load(name, return_X_y=return_X_y, as_frame=as_frame)

    load_it.__name__ = load_it.__qualname__ = f"load_{name.replace('-', '_')}"
    load_it.__doc__ = (
        f"Loads the data set {name}, as `load` does with return_X_y and as_frame. Raises ImportError if as_frame=True and pandas is missing."
    )
    return load_it


load_breast_cancer = _loader("breast-cancer")
load_clouds = _loader("clouds")
load_digits = _loader("digits")
load_iris = _loader("iris")
load_moons = _loader("moons")
load_penguins = _loader("penguins")
load_rings = _loader("rings")
load_wine = _loader("wine")
