"""The page about a fit, a search or a comparison: the one that the command writes with --report."""
from __future__ import annotations

import html
import os
from typing import Any

from . import _input
from ._base import Clusterer, require_model
from ._files import write_whole
from ._selection import Compared
from ._tuning import Tuned


class Page:
    """A page of HTML that stands alone: shown as it is in a notebook; str(page) is its text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file, whole or not at all."""
        write_whole(path, self._text.encode())

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self._text)}" style="width:100%;height:40em;border:0"></iframe>'


def report(model: Clusterer | Tuned | Compared, X: Any, y_true: Any = None, *, source: str = "X", compare_with: Clusterer | None = None) -> Page:
    """The page about a fit: sizes, options, a picture of the clusters, how it went; with y_true the scores and who is taken for whom.

    X are the rows that the model was fitted on, in this process; of a model that was loaded or copied any rows, and the page tells
    what its clusters are in them. `model` may be what `tune` found: the page is that of its best_estimator_, with every cell of the
    search before it; or what `compare` found: the page is of the methods side by side, and X are the rows that were compared. `compare_with`
    is another fitted model for the same X: the page tells which rows moved. y_true has a label per row, -1, None or NaN where it is not
    known. `source` is what the page calls the rows. ValueError on other rows than those of the fit, on `compare_with` with what `compare`
    found, and on a comparison that was copied or loaded.
    """
    if isinstance(model, Compared):
        if compare_with is not None:
            raise ValueError("compare_with: a comparison has its methods side by side already; it is for a fitted model, and for what tune found")
        return Page(model._page(X, y_true, source))
    search = ""
    if isinstance(model, Tuned):
        model, search = model.best_estimator_, model._search
    require_model(model, "model")
    if compare_with is not None:
        require_model(compare_with, "compare_with")
    X = _input.read_once(X, type(model).__name__)
    rows = model._new_rows(X)
    truth, names = None, []
    if y_true is not None:
        truth, _, names = _input.labels_of(y_true, rows.shape[0], "y_true")
    return Page(model._fitted.page(rows.points, rows.names or [], rows.categories or [], truth, names, source, _input.threads_of(model.n_jobs),
                                      compare_with and compare_with._prepared_for(X), search))
