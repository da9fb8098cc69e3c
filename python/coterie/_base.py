"""Estimators in scikit-learn's form over the library's pipeline, without importing scikit-learn.

scripts/make-estimators generates the classes of `_estimators.py` from the methods' descriptions. The base classes here determine what these classes accept and
return. A constructor only stores its arguments. The fitted state is in `_fitted`, an object of the library that is saved, pickled and asked for results.
"""
from __future__ import annotations

import contextlib
import inspect
import json
import math
import os
import sys
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _input, _names
from ._docstrings import SHARED, complete_docstrings, entry, section, whole_docstring
from ._errors import BadArgument, BadData, ConvergenceWarning, CoterieWarning, NotFittedError
from ._processes import communicator_of, gathered, in_agreement, names_of_all, whole_of_parts
from ._progress import Progress
from ._show import ClusterChoice, Description

if TYPE_CHECKING:
    from typing_extensions import Self

SHARED.update({
    "rows of a fit": section(
        "Parameters", "X : array or table of shape (n_samples, n_features), or path", "docs/python-details.md lists the types."
    ) + entry("y : array of shape (n_samples,), default=None", "Partial labels, or ignored: see the class."),
    "processes of a fit": """\
    comm : communicator, default=None
        The processes that work on this fit. All of them call fit with the same parameters and the same X: a list of .npy files, or an array that
        each process has. Accepted are a communicator of mpi4py, torch.distributed or one of its groups, and any object with rank, size,
        send(bytes, to) and receive(buffer, source). The result has the same bits as with one process. `labels_` has the labels of this process's
        rows. They are consecutive, in the order of the ranks.
    local : bool or list of pairs (begin, end), default=False
        Whether X, y and the weights are only this process's part of the rows, which may have any size. True: the parts follow each other in the order of
        the ranks. Pairs: the ranges of row numbers that X has. The rows then move to the processes that work on them. `labels_` has the labels of X.
    **shared : returns self

    Raises
    ------
    ValueError, TypeError
        X, y, a weight or a parameter is not accepted. All processes raise an error if one of them does.
""",
    "new rows": section("Parameters", "X : array or table of shape (n_samples, n_features_in_)"),
    "weights": entry("sample_weight : array of shape (n_samples,), default=None", "A row of weight w acts as w copies of it."),
    "a column per cluster": section("Returns", "array of shape (n_samples, n_clusters)"),
    "model or path not usable": section("Raises", "NotFittedError", "The model is not fitted.") + entry("OSError", "The file cannot be written."),
    "model not fitted": section("Raises", "ValueError, TypeError", "X is not accepted, or the model is not fitted (NotFittedError)."),
})


@contextlib.contextmanager
def naming_columns(names):
    """Adds the column's name to errors that have only its number."""
    try:
        yield
    except (BadArgument, BadData) as error:
        number = error.column_number
        if names and number and not error.column and number <= len(names):
            error._message.column = names[number - 1]
            error._take(error._message)
        raise


class Parameters:
    """The constructor's parameters, with scikit-learn's interface."""

    @classmethod
    def _defaults(cls):
        signature = inspect.signature(cls.__init__)
        return {name: each.default for name, each in signature.parameters.items() if name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Returns the constructor's parameters and their values.

        Parameters
        ----------
        deep : bool, default=True
            Has no effect, because no parameter is an estimator.
        **shared : returns dict
            Values by name.
        **shared : raises AttributeError
            A subclass stores a parameter under another name.
        """
        return {name: getattr(self, name) for name in sorted(self._defaults())}

    def set_params(self, **params: Any) -> Self:
        """Sets parameters of the constructor.

        Parameters
        ----------
        **params
            New values by name.
        **shared : returns self, raises ValueError
            The constructor does not have a parameter of this name.
        """
        known = self._defaults()
        for name in params:
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {sorted(known)}.")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self, N_CHAR_MAX=700):
        given = []
        for name, default in self._defaults().items():
            value = getattr(self, name, default)
            if value is not default and repr(value) != repr(default):
                given.append(f"{name}={value!r}")
        text = f"{type(self).__name__}({', '.join(given)})"
        return text if len(text) <= N_CHAR_MAX else text[: N_CHAR_MAX - 4] + "...)"


_OPTIONS = {method["name"]: {_names.parameter(option["name"]): option["name"] for option in method["options"]} for method in _names.METHODS.values()}


class Clusterer(Parameters):
    """Base class of all methods."""

    _estimator_type = "clusterer"
    _method = ""  # its name in the library
    _options = {}  # the library's option for each parameter of the method
    _takes_labels = False
    _takes_graph = False
    _takes_sparse = False  # whether X may be a SciPy sparse matrix of rows

    labels_: np.ndarray
    cluster_labels_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray
    n_iter_: int
    objective_: float
    fit_report_: dict[str, Any]
    noise_beyond_: np.ndarray

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "_method" in cls.__dict__:
            cls._options = _OPTIONS[cls._method]
            if cls.__doc__:  # None with python -OO
                cls.__doc__ = whole_docstring(cls.__doc__)

    def _repr_html_(self):
        from html import escape

        rows = [("method", self._method), *((name, repr(getattr(self, name))) for name, default in self._defaults().items() if getattr(self, name) is not default)]
        if self.__sklearn_is_fitted__() and hasattr(self, "fit_report_"):
            report = self.fit_report_
            rows += [("rows", f"{report['points']:,} of {report['dimensions']:,} columns"), ("clusters", str(report["clusters_found"]))]
            rows += [("objective", f"{report['objective']:.6g} after {report['iterations']} iterations ({report['stopped']})")]
        body = "".join(f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(value)}</td></tr>" for name, value in rows)
        return f"<table><caption>{escape(type(self).__name__)}</caption>{body}</table>"

    # scikit-learn's interface

    def __sklearn_is_fitted__(self):
        return "_fitted" in self.__dict__

    def __sklearn_tags__(self):
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="clusterer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]) if hasattr(self, "transform") else None,
            input_tags=InputTags(pairwise=self._is_pairwise(), sparse=self._takes_sparse or self._takes_graph and self._is_pairwise()),
        )

    def _more_tags(self):  # scikit-learn before 1.6
        return {"pairwise": self._is_pairwise(), "preserves_dtype": []}

    def _get_tags(self):
        from sklearn.utils._tags import _DEFAULT_TAGS

        return {**_DEFAULT_TAGS, **self._more_tags()}

    def _is_pairwise(self):
        return "precomputed" in (getattr(self, "affinity", None), getattr(self, "kernel", None))

    # Fit

    def fit(self, X: Any, y: Any = None) -> Self:
        """Finds the clusters of X.
        **shared : rows of a fit, returns self

        Raises
        ------
        ValueError, TypeError
            X, y or a parameter is not accepted.
        """
        return self._fit(X, y)

    def fit_predict(self, X: Any, y: Any = None, **params: Any) -> np.ndarray:
        """Fits as `fit` does and returns `labels_`, an array of shape (n_samples,)."""
        return self.fit(X, y, **params).labels_

    def _problem(self, X, y, sample_weight, processes=None, local=False):
        """Checks and converts the input of a fit.

        Returns (points, side, rows, values, places). points: for the library, None for a graph. side: constraints and other facts about the rows.
        rows: `_input.Rows`, None for a graph. values: the distinct labels of y, or None. places: ranges of row numbers if X is a part, else None.
        """
        side, rows, places = {}, None, None
        kind = type(self).__name__
        facts = {"the estimator": kind, "local": local is not False}
        if local is False:  # with parts, a process without rows may omit both
            facts.update({"y is given": y is not None, "sample_weight is given": sample_weight is not None})
        with in_agreement(processes, facts):
            if local is not False:
                places = [] if local is True else _places_of(local)
            weights = _input.weights_of(sample_weight)
            if self._takes_graph and self._is_pairwise() and _input.is_sparse(X):
                side["graph"] = _input.graph_of(X, kind)
                count = X.shape[0]
            else:
                if places is not None and hasattr(X, "shape") and X.shape[0] == 0:
                    rows = _input.Rows(np.empty((0, X.shape[1])), getattr(X, "names", None))  # other processes have rows
                else:
                    rows = _input.rows_of(X, estimator=kind, sparse=self._takes_sparse and places is None, columns=self._column_options())
                count = rows.shape[0]
        if rows is not None and processes is not None:
            rows.names = names_of_all(processes, rows, places is not None)
        if places is not None:  # X is a part; y, weights and the count become those of all rows
            count, y, weights = whole_of_parts(processes, count, places, y, weights)
        with in_agreement(processes):
            values = self._add_side(side, rows, count, y, weights)
        return (None if rows is None else rows.points), side, rows, values, places

    def _add_side(self, side, rows, count, y, weights):
        """Adds constraints and other facts about the rows to `side`. Returns the distinct labels of y, or None."""
        name = type(self).__name__
        values = None
        if rows is not None:
            side.update(rows.side(named=not self._is_pairwise()))
        if weights is not None and len(weights) != count:
            raise ValueError(f"sample_weight: {len(weights)} weights for {count} rows. Give one weight per row.")
        if weights is not None and not (weights == 1).all():  # all weights 1: the same as no weights, including the random draws
            side["weights"] = weights
        init = getattr(self, "init", None)
        if isinstance(init, str) and "init" not in self._options:
            raise ValueError(f"init: {init!r} is not accepted. Use an array of centroids of shape (n_clusters, n_features), or None.")
        if init is not None and not isinstance(init, str):
            usual = self._defaults().get("n_init", 1)  # initial centroids override a default above 1
            if usual != 1 and self.n_init not in (1, usual, "auto"):
                raise ValueError(f"n_init: with initial centroids every restart would be the same, so {self.n_init!r} is not accepted. Use 1.")
            start = _input.rows_of(init, "init", name).points
            points = getattr(rows, "points", None)
            numbers = points[-1] if isinstance(points, tuple) else points
            side["initial_centroids"] = start.astype(numbers.dtype) if isinstance(numbers, np.ndarray) else start
        labels = _input.labels_of(y, count) if self._takes_labels and y is not None else None
        if labels is not None and (labels[0] >= 0).all():
            warnings.warn(
                f"{name}: y has a label for every row and is ignored, as in scikit-learn's clusterers. "
                "For partial labels, mark unknown labels with -1, None or NaN.",
                CoterieWarning,
                stacklevel=5,
            )
            labels = None
        if labels is not None:
            side["labels"], values, side["label_names"] = labels
        per_label = _per_label(self, "clusters_per_label", "a whole number of at least 1", _is_number_of_clusters)
        shares = _per_label(self, "label_share", "a share from 0 to 1 or a pair (low, high)", _is_share)
        if labels is not None:
            side["clusters_per_label"] = [(str(label), int(clusters)) for label, clusters in per_label.items()]
            side["label_shares"] = [(str(label), *_interval(share)) for label, share in shares.items()]
        elif per_label or shares:
            raise ValueError(f"{name}: clusters_per_label and label_share need labels. Pass the known labels as y.")
        if getattr(self, "sizes", None) is not None:
            side["sizes"] = _pair_of_sizes(self.sizes)
        for name in ("must_links", "cannot_links"):
            given = getattr(self, name, None)
            if given is not None and np.asarray(given).size:
                side[name] = _pairs_of_rows(np.asarray(given), name, count)
        return values

    def _option_values(self):
        out = {}
        for parameter, option in self._options.items():
            value = getattr(self, parameter)
            if parameter == "init" and not isinstance(value, str) or parameter == "n_init" and isinstance(value, str) and value == "auto":
                continue  # init without a name: centroids or None; n_init="auto": the method's default
            out[option] = _names.CHOICES.get(value, value) if isinstance(value, str) else value
        return out

    def _threads_and_device(self):
        return _input.threads_of(self.n_jobs), _input.device_of(getattr(self, "device", "cpu"))

    def _column_options(self):
        return {"missing": self.missing, "categorical": self.categorical, "dates": self.dates}

    def _fit(self, X, y, sample_weight=None, comm=None, local=False, seed=None):
        if local is not False and comm is None:  # an empty list: a process without rows
            raise ValueError("local: X can be a part of the rows only in a fit of several processes. Pass their communicator as comm.")
        processes = None if comm is None else communicator_of(comm)
        progress = Progress(type(self).__name__, self.verbose, self.callback)
        rows = None
        try:
            points, side, rows, values, places = self._problem(X, y, sample_weight, processes, local)
            with in_agreement(processes):
                seed = _input.seed_of(self.random_state) if seed is None else seed
                options = self._option_values()
                choose = options.get("clusters") == "auto" and "labels" not in side
                if choose:
                    options.pop("clusters")
                elif options.get("clusters") == "auto":
                    options["clusters"] = None  # partial labels determine it
                if processes is not None and choose:
                    raise ValueError('n_clusters: "auto" is not supported with several processes. Use a whole number, at least 1.')
                threads, device = self._threads_and_device()
                checkpoint = _input.path_of(getattr(self, "checkpoint", None), "checkpoint")
            if processes is not None and self.random_state is None:
                seed = gathered(processes, seed)[0]
            with naming_columns(rows and rows.names):
                fitted, labels, report, said, choice = _core.fit(
                    self._method, options, points, side, {"center": self.center, "scale": "none" if self.scale is None else self.scale},
                    self._column_options(), {"sample": self.sample, "noise_share": self.noise_share}, seed, threads, device, checkpoint,
                    progress if progress.wanted else None, processes, places, choose,
                )
        except (BadArgument, BadData) as error:
            if error.option == "n_clusters" and error.code == "not-accepted":
                error.args = (f'{error} "auto" chooses the number.',)
            if rows is not None and rows.shape[0] == 1:
                error.args = (f"{error} X has one row (n_samples=1).",)
            raise
        finally:
            progress.close()
            if processes is not None:
                processes.close()
        self._take(fitted)
        self.cluster_choice_ = ClusterChoice(json.loads(choice)) if choice else None
        self.labels_ = labels
        self.fit_report_ = report
        self.n_iter_ = report["iterations"]
        self.objective_ = report["objective"]
        if rows is not None and isinstance(rows.points, np.ndarray) and len(rows.points):
            self._one_row = _input.Rows(np.array(rows.points[:1]), None, None, rows.kinds, rows.categories)
        if values is not None:
            self.cluster_labels_ = self._label_of_cluster(values)
        self._value_every_row(rows)
        _input.warn(said, stacklevel=4)
        if report["stopped"] == "iteration-limit":
            limit = "max_iter" if "max_iter" in self._options else "its limit"
            warnings.warn(
                f"{type(self).__name__} did not converge in {report['iterations']} iterations. Increase {limit}.", ConvergenceWarning, stacklevel=3
            )
        return self

    def _take(self, fitted):
        for name in [name for name in self.__dict__ if name.endswith("_")] + ["_parts", "_one_row", "_columns_out"]:
            self.__dict__.pop(name, None)
        self._fitted = fitted
        self.n_clusters_ = fitted.clusters
        self.cluster_choice_ = None
        self.n_features_in_ = fitted.columns
        if fitted.column_names:
            self.feature_names_in_ = np.array(fitted.column_names, dtype=object)

    def _value_every_row(self, rows):
        """Extends probabilities_ and outlier_scores_ to all rows of the fit, for a model that has these parts (HDBSCAN) but only for some rows.

        Dropped rows have NaN. Rows outside the sample have the values that the model predicts. Rows of the sample keep their values, because the
        model recognises its training data.
        """
        if not {"probabilities_", "outlier_scores_"} <= self._parts_by_attribute().keys() or len(self.outlier_scores_) == len(self.labels_):
            return

        def values(output):
            return self._fitted.output(output, rows.given, *self._threads_and_device())[0]

        scores = values("outlier_score")[:, 0]
        likely = values("memberships").sum(axis=1) if self._fitted.clusters else np.zeros(len(scores))
        self.outlier_scores_, self.probabilities_ = scores, np.where(np.isnan(scores), np.nan, np.where(self.labels_ < 0, 0.0, likely))

    def _label_of_cluster(self, values):
        """The label of y of each cluster, an array of shape (n_clusters,). A cluster without a label has -1 if labels are numbers, otherwise None."""
        names, of_cluster = self._fitted.cluster_labels
        if not of_cluster:
            return np.arange(self._fitted.clusters)
        numbers = np.array(of_cluster)
        if (numbers < 0).any() and values.dtype.kind not in "if":
            values = values.astype(object)
        out = np.empty(len(numbers), dtype=values.dtype)
        out[numbers >= 0] = values[numbers[numbers >= 0]]
        out[numbers < 0] = -1 if values.dtype.kind in "if" else None
        return out

    # Attributes and results of a fitted model

    if not TYPE_CHECKING:  # type checkers use the declarations in the classes

        def __getattr__(self, name):
            # Python calls this only if there is no attribute of this name. Looks for a part of the model.
            if name.endswith("_") and not name.startswith("_") and "_fitted" in self.__dict__:
                read = self.__dict__.setdefault("_parts", {})
                if name not in read and name in self._parts_by_attribute():
                    read[name] = self._fitted.part(self._parts_by_attribute()[name])
                if name in read:
                    return read[name]
                if name in ("labels_", "fit_report_"):
                    raise AttributeError(f"{name} exists only after fit. A loaded model does not have it.")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _parts_by_attribute(self):
        return {_names.attribute(part): part for part, _, _ in self._fitted.parts}

    def __dir__(self):
        return sorted({*super().__dir__(), *(self._parts_by_attribute() if self.__sklearn_is_fitted__() else ())})

    def _require_fitted(self):
        if not self.__sklearn_is_fitted__():
            text = f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
            if "sklearn" in sys.modules:
                from sklearn.exceptions import NotFittedError as Theirs

                raise Theirs(text)
            raise NotFittedError(text)

    def _new_rows(self, X):
        self._require_fitted()
        name = type(self).__name__
        wanted = self._fitted.column_names
        options = {option: self._fitted.preparation[option] for option in ("missing", "categorical", "dates")}
        if self._takes_graph and self._is_pairwise() and _input.is_sparse(X):
            raise TypeError(
                f"X: only fit of {name} accepts a sparse matrix of affinities; predict and transform need dense rows. Use X.toarray()."
            )
        rows = _input.rows_of(X, estimator=name, sparse=self._takes_sparse, columns=options, wanted=wanted, kinds=self._fitted.kinds)
        if rows.names and wanted and list(rows.names) != wanted and not set(wanted) <= set(rows.names):
            missing = [each for each in wanted if each not in rows.names]
            raise BadData(f"X: the feature names should match those that were passed during fit; missing: {', '.join(missing[:12])}")
        if rows.shape[1] != self.n_features_in_ and not (rows.names and wanted):
            raise ValueError(f"X has {rows.shape[1]} features, but {name} is expecting {self.n_features_in_} features as input")
        return rows

    def predict(self, X: Any) -> np.ndarray:
        """Assigns each row of X to a cluster.
        **shared : new rows
            The columns of a table may have any order: they are matched by name.
        **shared : returns array of int32 of shape (n_samples,)
            Cluster numbers from 0 to n_clusters - 1; -1 for noise (noise_share) and for rows that were left out.
        **shared : model not fitted
        """
        return self._labels_of(self._new_rows(X))

    def _naming(self, rows):
        # A column of words becomes several columns, so the library's column numbers then do not match the names.
        return naming_columns(None if any(self._fitted.kinds) else rows.names)

    def _labels_of(self, rows):
        with self._naming(rows):
            labels, said = self._fitted.predict(rows.given, *self._threads_and_device())
        _input.warn(said, stacklevel=4)
        return labels

    def _output(self, which, X):
        return self._output_of(which, self._new_rows(X))

    def _output_of(self, which, rows):
        with self._naming(rows):
            matrix, said = self._fitted.output(which, rows.given, *self._threads_and_device())
        _input.warn(said, stacklevel=4)
        return matrix

    def describe(self, X: Any, sample_weight: Any = None, compare_with: Clusterer | None = None) -> dict[str, Any]:
        """Describes what distinguishes the clusters in the rows of X, as `coterie describe` does.

        Warns if all rows are in one cluster, or if rows are far from all training data.
        **shared : new rows
            The rows of the fit or other rows.
        **shared : weights
        compare_with : fitted model, default=None
            Another model for the same X.
        **shared : returns dict
            It shows tables when printed and in a notebook. Rows, columns and clusters are counted from 0. A value that does not exist is None.

            "clusters" has a dict for each of the n_clusters clusters:

            - "cluster": its name; "points" and "share": its number of rows and their share of all rows, from 0 to 1
            - "columns": at most five columns that distinguish the cluster, largest difference first. Each has "name", "column" (its number),
              "difference", and in the units of X "mean", "elsewhere" (the mean of the other rows) and "quartiles" (lower, median, upper).
              difference = (mean - elsewhere) / pooled standard deviation. It is infinite if the column has one value in the cluster and another
              elsewhere, and 0 if the cluster has all rows; elsewhere is then None.
            - "typical" and "doubtful": up to three row numbers each
            - "silhouette": the mean of its rows; "nearest": the number of the nearest cluster

            The other keys:

            - "silhouette": the mean of all rows; "silhouettes": "exact" up to 5,000 rows without weights, otherwise "simplified" (distances to means)
            - "closest": the numbers of the two nearest clusters; "space": the space of the distances, in words
            - "outliers": "row" and "score" of the ten rows with the largest outlier scores
            - "rows_left_out": the number of rows with missing values; they are in no cluster and no share
            - "comparison", with `compare_with`: clusters of the two models are matched one to one, so that as few rows as possible move. "moved" is the
              number of rows whose clusters do not match. "moves" lists these rows by "from" (the other model's cluster) and "to" (this model's), with
              "points" (how many) and the first three "rows". "ari", "nmi" and "confusion" compare the two clusterings.
        **shared : raises BadData
            X has a missing value, and the model was fitted with missing='refuse'.
        TypeError
            `compare_with` is not a fitted model.

        Notes
        -----
        coterie/pipeline/description.hpp has the formulas.
        """
        if compare_with is not None:
            require_model(compare_with, "compare_with")
        X = _input.read_once(X, type(self).__name__)
        rows = self._new_rows(X)
        with self._naming(rows):
            document, said = self._fitted.describe(
                rows.given, _input.weights_of(sample_weight), *self._threads_and_device(), compare_with and compare_with._prepared_for(X)
            )
        _input.warn(said, stacklevel=4)
        told = json.loads(document)
        for move in told["comparison"]["moves"] if compare_with else ():
            move["rows"] = [row - 1 for row in move["rows"]]
        for cluster in told["profiles"]:
            cluster["typical"] = [row - 1 for row in cluster["typical"]]
            cluster["doubtful"] = [row - 1 for row in cluster["doubtful"]]
            for column in cluster["columns"]:
                if column["difference"] is None:
                    column["difference"] = math.copysign(math.inf, column["mean"] - column["elsewhere"])
        outliers = [{"row": each["row"] - 1, "score": each["score"]} for each in told.get("outliers", [])]
        others = {name: told[name] for name in ("silhouette", "silhouettes", "closest", "space", *(["comparison"] if compare_with else []))}
        return Description(clusters=told["profiles"], rows_left_out=told["rows_left_out"], **others, outliers=outliers)

    def _prepared_for(self, X):
        return self._fitted, self._new_rows(X).given

    # Models as files and bytes, in the command's format

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file, completely or not at all. `coterie.load` and the command read it.
        **shared : parameter path, model or path not usable
        """
        self._require_fitted()
        self._fitted.save(os.fspath(path))

    def to_onnx(self, path: str | os.PathLike[str] | None = None, *, dtype: Any = None) -> Any:
        """Returns the model's `predict` as an ONNX graph (onnx.ModelProto), and writes it to `path` if given. See `coterie.to_onnx`."""
        from ._onnx import to_onnx

        return to_onnx(self, path, dtype=dtype)

    def __getstate__(self):
        state = {name: value for name, value in self.__dict__.items() if name != "_parts"}
        if "_fitted" in state:
            state["_fitted"] = state["_fitted"].to_bytes()
        return state

    def __setstate__(self, state):
        state = dict(state)
        if "_fitted" in state:
            state["_fitted"] = _core.from_bytes(state["_fitted"], "pickled model")
        self.__dict__.update(state)


def _pair_of_sizes(sizes):
    pair = (sizes, sizes) if _input.is_whole(sizes) else tuple(sizes) if isinstance(sizes, (tuple, list, np.ndarray)) else ()
    if len(pair) != 2 or not all(each is None or _input.is_whole(each) and abs(each) < 2**63 for each in pair):
        raise ValueError(f"sizes: {sizes!r} is not accepted. Use a whole number, or a pair (least, most) of whole numbers or None.")
    return tuple(None if each is None else int(each) for each in pair)


def _pairs_of_rows(numbers, name, count):
    if numbers.ndim != 2 or numbers.shape[1] != 2 or numbers.dtype.kind not in "iu":
        raise ValueError(
            f"{name}: an array of {numbers.dtype} of shape {numbers.shape} is not accepted. Use row numbers of X in an array of shape (n_pairs, 2)."
        )
    extreme = numbers.min() if numbers.min() < 0 else numbers.max()
    if not 0 <= extreme < count:
        raise ValueError(f"{name}: row {extreme} is not accepted. Use numbers from 0 to {count - 1}.")
    return numbers.tolist()


def _is_number_of_clusters(value):
    return _input.is_whole(value) and 1 <= value < 2**31


def _is_share(value):
    def is_number(each):
        return isinstance(each, (int, float, np.integer, np.floating)) and not isinstance(each, bool)

    if isinstance(value, (tuple, list)):
        return len(value) == 2 and all(each is None or is_number(each) for each in value)
    return is_number(value)


def _per_label(estimator, name, accepted, is_accepted):
    """Returns a parameter that is a dict with a value per label of y; empty for None."""
    told = getattr(estimator, name, None)
    if told is None:
        return {}
    if not isinstance(told, Mapping):
        raise ValueError(f"{name}: {told!r} is not accepted. Use a dict with {accepted} for each label.")
    for label, value in told.items():
        if not is_accepted(value):
            raise ValueError(f"{name}: {value!r} of label {label!r} is not accepted. Use {accepted}.")
    return told


def _places_of(local):
    try:
        return [(int(begin), int(end)) for begin, end in local]
    except (TypeError, ValueError):
        raise ValueError(f"local: {local!r} is not accepted. Use True, or pairs (begin, end) of row numbers.") from None


def _interval(share):
    low, high = share if isinstance(share, (tuple, list)) else (share, share)
    return (0.0 if low is None else float(low), 1.0 if high is None else float(high))


def require_model(value, name):
    if not isinstance(value, Clusterer):
        raise TypeError(f"{name}: {value!r} is not accepted. Use a fitted model, for example from coterie.load.")


class WeightedClusterer(Clusterer):
    """Base class of methods that accept weights."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Finds the clusters of X.
        **shared : rows of a fit, weights, returns self

        Raises
        ------
        ValueError, TypeError
            X, y, a weight or a parameter is not accepted.
        """
        return self._fit(X, y, sample_weight)


class BlockClusterer(Clusterer):
    """Base class of methods that read rows in blocks, and can therefore work in several processes."""

    def fit(self, X: Any, y: Any = None, *, comm: Any = None, local: Any = False) -> Self:
        """Finds the clusters of X.
        **shared : rows of a fit, processes of a fit
        """
        return self._fit(X, y, comm=comm, local=local)


class WeightedBlockClusterer(Clusterer):
    """Base class of methods that read rows in blocks and accept weights."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, comm: Any = None, local: Any = False) -> Self:
        """Finds the clusters of X. sample_weight: a row of weight w acts as w copies of it.
        **shared : rows of a fit, processes of a fit
        """
        return self._fit(X, y, sample_weight, comm, local)


class Transforms:
    """Methods with `transform`. `_transformed` is the library's output that `transform` returns."""

    _transformed = "embedding"

    def transform(self, X: Any) -> Any:
        """Transforms rows into the space of the method. See the class.
        **shared : new rows

        Returns
        -------
        array of shape (n_samples, n_components)
            A table after `set_output`.
        **shared : model not fitted
        """
        rows = self._new_rows(X)
        return self._contained(self._output_of(self._transformed, rows), rows)

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fits as `fit` does and returns `transform` of the same rows."""
        X = _input.read_once(X, type(self).__name__)
        return self.fit(X, y, **params).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Returns the names of the columns of `transform`: the class's name in lower case and a number. `input_features` has no effect."""
        self._require_fitted()
        if self._transformed == "distances":
            self._columns_out = self._fitted.clusters
        elif "_columns_out" not in self.__dict__:
            words = [[""] if kind == 1 else [] for kind in self._fitted.kinds]  # "" was not in the training data
            row = self.__dict__.get("_one_row") or _input.Rows(np.zeros((1, self.n_features_in_)), categories=words)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._columns_out = self._output_of(self._transformed, row).shape[1]
        return np.array([f"{type(self).__name__.lower()}{i}" for i in range(self._columns_out)], dtype=object)

    @property
    def _n_features_out(self):
        return len(self.get_feature_names_out())

    def set_output(self, *, transform: str | None = None) -> Self:
        """Sets what `transform` returns.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None, default=None
            "default": an array. None: no change.
        **shared : returns self, raises ValueError
            Another value.
        """
        if transform not in (None, "default", "pandas", "polars"):
            raise ValueError(f"transform: {transform!r} is not accepted. Use 'default', 'pandas', 'polars' or None.")
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def _contained(self, matrix, rows):
        kind = getattr(self, "_sklearn_output_config", {}).get("transform")
        if kind is None and "sklearn" in sys.modules:
            kind = sys.modules["sklearn"].get_config().get("transform_output")
        if kind == "pandas":
            import pandas

            return pandas.DataFrame(matrix, columns=self.get_feature_names_out(), index=rows.index)
        if kind == "polars":
            import polars

            return polars.DataFrame(matrix, schema=list(self.get_feature_names_out()))
        return matrix


class GivesDistances:
    """Methods with centroids."""

    def distances(self, X: Any) -> np.ndarray:
        """Returns the Euclidean distance of each row to each centroid, in the space of the method.
        **shared : new rows, a column per cluster, model not fitted
        """
        return self._output("distances", X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Returns minus the sum of the squared distances to the nearest centroids, as scikit-learn's k-means does. Larger is better.
        **shared : new rows
            Rows that missing='drop' leaves out do not count.
        y : ignored
        **shared : weights, returns float

        Raises
        ------
        ValueError, TypeError
            X is not accepted, or the number of weights is not the number of rows.
        """
        nearest = self._output("distances", X).min(axis=1) ** 2
        weights = np.ones(len(nearest)) if sample_weight is None else _input.weights_of(sample_weight)
        if len(weights) != len(nearest):
            raise ValueError(f"sample_weight: {len(weights)} weights for {len(nearest)} rows. Give one weight per row.")
        kept = ~np.isnan(nearest)
        return -float(nearest[kept] @ weights[kept])


class GivesMemberships:
    """Methods with probabilities of clusters."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """Returns the probability of each cluster for each row.
        **shared : new rows, a column per cluster
            Each row sums to 1, or to less if the row may be noise.
        **shared : model not fitted
        """
        self._require_fitted()
        if not self._fitted.clusters:  # all rows of the fit were noise
            return np.zeros((self._new_rows(X).shape[0], 0))
        return self._output("memberships", X)


class GivesOutlierScores:
    """Outlier scores, which all methods have."""

    def outlier_score(self, X: Any) -> np.ndarray:
        """Returns the outlier score of each row. Larger scores mean more unusual rows.

        score = d / r. d is the distance of the row to the mean of its cluster, in the method's space if it has one. r is the root mean square of
        this distance over the cluster's rows in the fit, so 1 is usual. HDBSCAN uses its own score, GLOSH, from 0 to 1. docs/outliers.md says which
        methods are suitable.
        **shared : new rows, returns array of shape (n_samples,), raises ValueError
            The model was fitted on affinities, or its file is older than outlier scores.
        """
        return self._output("outlier_score", X)[:, 0]

    def score_samples(self, X: Any) -> np.ndarray:
        """Returns minus `outlier_score`, an array of shape (n_samples,): larger means more normal, as in scikit-learn's outlier detectors."""
        return -self.outlier_score(X)


class GivesLabelScores:
    """Methods with a score for each label of y."""

    def label_scores(self, X: Any) -> np.ndarray:
        """Returns how well each label of y fits each row. Larger is better.
        **shared : new rows

        Returns
        -------
        array of shape (n_samples, n_labels)
        **shared : raises ValueError
            The model was fitted without y, or X is not accepted.
        """
        return self._output("label_scores", X)


complete_docstrings(globals())
