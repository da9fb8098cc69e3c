"""coterie finds groups in data whose plain distances hide them.

    import coterie
    model = coterie.KMeans(n_clusters=10, n_init=10).fit(X)
    model.labels_, model.predict(X_new)

There is a class per method, all with scikit-learn's contract: `help(coterie.KMeans)`. `coterie.load` and `coterie.save` share the command's model
files; `coterie.tune` chooses parameters over a grid; `coterie.describe` tells what sets clusters apart, `coterie.report` makes a page of a fit,
`coterie.plot` pictures; `coterie.to_onnx` writes a model for other programs; `coterie.metrics` has scores, `coterie.datasets` small data sets,
`coterie.ner` named entities.

Names are loaded when they are first used, so that the import costs little.
"""
import importlib
from typing import TYPE_CHECKING

from ._errors import BadArgument as BadArgument
from ._errors import BadData as BadData
from ._errors import Cancelled as Cancelled
from ._errors import ConvergenceWarning as ConvergenceWarning
from ._errors import CoterieError as CoterieError
from ._errors import CoterieWarning as CoterieWarning
from ._errors import InternalError as InternalError
from ._errors import NotFittedError as NotFittedError
from ._errors import ResourceError as ResourceError
from ._version import __version__ as __version__

if TYPE_CHECKING:  # "as" makes a name public to checkers of types
    from . import datasets as datasets
    from . import metrics as metrics
    from . import ner as ner
    from . import plot as plot
    from ._estimators import *
    from ._models import describe as describe
    from ._models import load as load
    from ._models import save as save
    from ._onnx import to_onnx as to_onnx
    from ._report import report as report
    from ._selection import compare as compare
    from ._selection import consensus as consensus
    from ._tuning import tune as tune

_MODULES = ("metrics", "datasets", "plot", "ner")
_FUNCTIONS = {
    "describe": "_models",
    "load": "_models",
    "save": "_models",
    "report": "_report",
    "to_onnx": "_onnx",
    "tune": "_tuning",
    "compare": "_selection",
    "consensus": "_selection",
}


def _methods():
    return importlib.import_module("coterie._estimators").__all__


if not TYPE_CHECKING:

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
