"""How results show themselves: as text when printed, as tables in a notebook.

A result yields its parts: lines of text, and tables. Both forms are made from these parts. Texts use the names of classes and count rows from 0, as everywhere
in the package. The command counts rows from 1 and names options by their flags.
"""
from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from typing import Any

# Name of each score by its header in tables.
SCORES = {"ACC": "accuracy", "NMI": "normalized_mutual_information", "ARI": "adjusted_rand_index"}


class Table:
    """Rows below a header. The first column is aligned left, the others right. None and NaN are empty fields."""

    def __init__(self, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        self.header = list(header)
        self.rows = [[_field(value) for value in row] for row in rows]

    def text(self) -> str:
        lines = [self.header, *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.header))]
        return "\n".join("  ".join(field.rjust(width) if column else field.ljust(width) for column, (field, width) in enumerate(zip(line, widths))).rstrip() for line in lines)

    def html(self) -> str:
        def line(fields, kind):
            return "<tr>" + "".join(f'<{kind} style="text-align:{"right" if column else "left"}">{html.escape(field)}</{kind}>' for column, field in enumerate(fields)) + "</tr>"

        return f"<table><thead>{line(self.header, 'th')}</thead><tbody>{''.join(line(row, 'td') for row in self.rows)}</tbody></table>"


def number(value: float | None, digits: int = 4) -> str:
    """The value with `digits` significant digits; "" for None and NaN."""
    return "" if value is None or math.isnan(value) else f"{value:.{digits}g}"


def _field(value):
    return value if isinstance(value, str) else "" if value is None else number(value) if isinstance(value, float) else str(value)


class Shown:
    """A result that shows text when printed, and tables in a notebook."""

    def _parts(self) -> Iterable[str | Table]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return "\n".join(part if isinstance(part, str) else part.text() for part in self._parts())

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return "".join(f"<p>{html.escape(part)}</p>" if isinstance(part, str) else part.html() for part in self._parts() if part)


def left_out(rows: int) -> str:
    """The part of a line about rows that were left out; "" if there are none."""
    return f"; {rows} {'row' if rows == 1 else 'rows'} with missing values left out" if rows else ""


class Description(Shown, dict):
    """The result of `describe`, a dictionary."""

    def _parts(self):
        yield f"{sum(cluster['points'] for cluster in self['clusters'])} rows in {len(self['clusters'])} clusters" + "".join(
            [left_out(self["rows_left_out"]),
             f", silhouette {number(self['silhouette'], 3)} ({self['silhouettes']}, of {self['space']})" if self["silhouette"] is not None else "",
             f"; clusters {self['closest'][0]} and {self['closest'][1]} are the nearest" if self["closest"] else ""])
        if self["outliers"]:
            yield "outliers: rows " + ", ".join(f"{each['row']} ({number(each['score'], 3)})" for each in self["outliers"])
        if "comparison" in self:
            comparison = self["comparison"]
            yield f"{comparison['moved']} rows moved, compared with the other model (ARI {number(comparison['ari'])})"
            if comparison["moves"]:
                yield Table(["from", "to", "rows", "for example"], ([move["from"], move["to"], move["points"], " ".join(map(str, move["rows"]))] for move in comparison["moves"]))
        for cluster in self["clusters"]:
            yield ""
            yield f"cluster {cluster['cluster']}: {cluster['points']} rows ({100 * cluster['share']:.1f} %)" + "".join(
                [f", silhouette {number(cluster['silhouette'], 3)}" if cluster["silhouette"] is not None else "",
                 f", nearest to cluster {self['clusters'][cluster['nearest']]['cluster']}" if cluster["nearest"] is not None else ""])
            if cluster["columns"]:
                yield Table(["column", "difference", "mean", "elsewhere", "25 %", "median", "75 %"],
                            ([column["name"], None if column["elsewhere"] is None else f"{column['difference']:+.2f}", column["mean"], column["elsewhere"], *column["quartiles"]] for column in cluster["columns"]))
            rows = [f"{kind} rows {' '.join(map(str, cluster[kind]))}" for kind in ("typical", "doubtful") if cluster[kind]]
            if rows:
                yield "; ".join(rows)


class ClusterChoice(Shown, dict):
    """How n_clusters="auto" chose the number of clusters, a dictionary."""

    def _parts(self):
        yield f"{self['recommended']} clusters, {self['sureness']}, of those tried: {self['clusters_are']}"
        asked = [criterion for criterion in self["criteria"] if not criterion["left_out"]]
        yield Table(["k", *(criterion["name"] for criterion in asked)],
                    [*([str(k), *values] for k, *values in zip(self["clusters"], *(criterion["values"] for criterion in asked))),
                     ["chooses", *(criterion["chosen"] for criterion in asked)]])
        for criterion in self["criteria"]:
            yield f"{criterion['name']}: {criterion['left_out'] or criterion['rule']}"
