"""Pages about a fit, a search or a comparison, as the command writes them with --report."""
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
    """A self-contained page of HTML. A notebook shows it; str(page) is its text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to the file `path`, completely or not at all. Raises OSError if it cannot be written."""
        write_whole(path, self._text.encode())

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self._text)}" style="width:100%;height:40em;border:0"></iframe>'


def report(model: Clusterer | Tuned | Compared, X: Any, y_true: Any = None, *, source: str = "X", compare_with: Clusterer | None = None) -> Page:
    """Makes a page about a fit: sizes, options, a picture of the clusters, and how the fit went.

    Parameters
    ----------
    model : fitted model, or a result of `tune` or `compare`
        `tune`: the page is about best_estimator_ and starts with all cells of the search. `compare`: the page shows the methods side by side.
    X : array or table of shape (n_samples, n_features)
        The rows of the fit or of the comparison. For a model that was loaded or copied, any rows: the page describes the clusters in them.
    y_true : array of shape (n_samples,), default=None
        A label per row; -1, None or NaN if unknown. The page then has scores and a confusion table.
    source : str, default="X"
        The name of the rows on the page.
    compare_with : fitted model, default=None
        Another model for the same X. The page then shows which rows moved.

    Returns
    -------
    Page

    Raises
    ------
    ValueError
        X does not have the rows of the fit, `compare_with` is given with a result of `compare`, or the comparison was copied or loaded.
    TypeError
        `model` or `compare_with` is not accepted.
    """
    if isinstance(model, Compared):
        if compare_with is not None:
            raise ValueError("compare_with: not accepted with a result of compare. Use it with a fitted model or a result of tune.")
        return Page(model._page(X, y_true, source))
    search = ""
    if isinstance(model, Tuned):
        model, search = model.best_estimator_, model._search
    require_model(model, "model")
    if compare_with is not None:
        require_model(compare_with, "compare_with")
    X = _input.read_once(X, type(model).__name__)
    rows = model._new_rows(X)
    truth, names = _input.truth_of(y_true, rows.shape[0])
    compared = compare_with and compare_with._prepared_for(X)
    return Page(model._fitted.page(rows.given, truth, names, source, _input.threads_of(model.n_jobs), compared, search))
