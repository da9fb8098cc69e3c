"""coterie finds clusters that ordinary distances miss.

    import coterie
    model = coterie.KMeans(n_clusters=10, n_init=10).fit(X)
    model.labels_, model.predict(X_new)

Each method has a class that works like scikit-learn's clusterers: `help(coterie.KMeans)`.

- `coterie.load` and `coterie.save` read and write model files. The command uses the same files.
- `coterie.tune` chooses parameters from a grid. `coterie.compare` and `coterie.consensus` run several methods.
- `coterie.describe` shows what distinguishes the clusters. `coterie.report` makes a page about a fit, and `coterie.plot` draws the fit.
- `coterie.to_onnx` writes a model for other programs.
- `coterie.metrics` has scores, `coterie.datasets` has small data sets, and `coterie.ner` finds named entities.

Each name is loaded at its first use, so the import is fast.
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

if TYPE_CHECKING:  # "as" makes a name public for type checkers
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
