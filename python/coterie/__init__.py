"""coterie finds groups in data whose plain distances hide them.

    import coterie
    model = coterie.KMeans(n_clusters=10, n_init=10).fit(X)
    model.labels_, model.predict(X_new)

There is a class per method, all with scikit-learn's contract: `help(coterie.KMeans)`. `coterie.load` and `coterie.save` share the command's model
files; `coterie.tune` chooses parameters over a grid; `coterie.describe` tells what sets clusters apart, `coterie.report` makes a page of a fit,
`coterie.plot` pictures; `coterie.metrics` has scores, `coterie.datasets` small data sets, `coterie.ner`
named entities.

Names are loaded when they are first used, so that the import costs little.
"""
import importlib
from typing import TYPE_CHECKING

from ._errors import BadArgument, BadData, Cancelled, ConvergenceWarning, CoterieError, CoterieWarning, InternalError, NotFittedError, ResourceError
from ._version import __version__

if TYPE_CHECKING:
    from . import datasets, metrics, ner, plot
    from ._estimators import *
    from ._models import describe, load, save
    from ._report import report
    from ._selection import compare, consensus
    from ._tuning import tune

_MODULES = ("metrics", "datasets", "plot", "ner")
_FUNCTIONS = {"describe": "_models", "load": "_models", "save": "_models", "report": "_report", "tune": "_tuning", "compare": "_selection", "consensus": "_selection"}


def _methods():
    return importlib.import_module("coterie._estimators").__all__


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module(f"coterie.{name}")
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(f"coterie.{_FUNCTIONS[name]}"), name)
    if name == "__all__":
        return sorted([*_EAGER, *_MODULES, *_FUNCTIONS, *_methods()])
    if not name.startswith("_") and name in _methods():
        return getattr(importlib.import_module("coterie._estimators"), name)
    raise AttributeError(f"module 'coterie' has no attribute {name!r}")


def __dir__():
    return sorted([*_EAGER, *_MODULES, *_FUNCTIONS, *_methods()])


_EAGER = (
    "__version__", "BadArgument", "BadData", "Cancelled", "ConvergenceWarning", "CoterieError", "CoterieWarning", "InternalError", "NotFittedError",
    "ResourceError",
)
