"""Small data sets that come with coterie, and the larger ones of its catalogue that are on this machine."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core

__all__ = ["Dataset", "names", "load", "load_breast_cancer", "load_clouds", "load_digits", "load_iris", "load_moons", "load_penguins", "load_rings", "load_wine"]


class Dataset(dict[str, Any]):
    """data (n x d), target (n numbers of classes), target_names, feature_names, DESCR: as keys and as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"a data set has {', '.join(self)}; not {name}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]


def names(shipped: bool = True) -> list[str]:
    """Names of the data sets that come with coterie; with shipped=False of all in its catalogue."""
    return [entry["name"] for entry in _core.catalogue() if entry["shipped"] or not shipped]


def load(name: str, *, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """The data set `name` as a Dataset; with return_X_y=True (data, target); with as_frame=True data is a pandas DataFrame.

    data: n x d, float64; target: n, int32 numbers of target_names. ValueError on a name that is not in the catalogue; of a set that does not come with
    coterie the files must be on this machine (`coterie data get NAME`), else a ValueError says how to get them.
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
        f"The data set {name} as a Dataset; with return_X_y=True (data, target); with as_frame=True data is a pandas DataFrame (else ImportError)."
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
