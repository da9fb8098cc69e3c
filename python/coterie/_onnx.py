"""Models as ONNX graphs, for programs that label rows without coterie.

A model whose cluster is the one of the largest (or least) affine function of the row is one matrix product: the nearest of centroids c_j in a linear
image y of the row x is the largest of 2 y.c_j - |c_j|^2, a softmax model's cluster that of the largest logit. Both are written as

    scores = (x - m) A + b,    label = arg max of the scores,

with m a point amid the centroids, so that a mean far from 0 costs no digits. What the model learned to prepare rows stands before it. As in the library,
rows are prepared in double and multiplied in the type of the model's own numbers.
"""
from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _names
from ._files import write_whole

if TYPE_CHECKING:
    from ._base import Clusterer

OPSET, FORMAT = 17, 8  # of 2022: what reads them is older than the oldest Python that coterie supports
NEAREST = ("kmeans", "minibatch-kmeans", "soft-kmeans", "spherical-kmeans", "ward", "kernel-kmeans")  # of `centroids`, among the rows as they are
PROJECTED = ("aml", "rpca-om", "fme")  # of `centroids`, after directions
SOFTMAX = ("entropy", "mi", "sela", "miadm")  # largest logit
EXPORTED = (*NEAREST, "subspace", *PROJECTED, *SOFTMAX)


def _part(model, name):
    return model._fitted.part(name)


def _scores_of(model):
    """(m: d, A: d x k, b: k) in double, and the type of the model's own numbers."""
    method = model._method
    if method in SOFTMAX:
        weights, bias = _part(model, "weights"), _part(model, "bias")
        return np.zeros(weights.shape[1]), weights.T.astype(float), bias[0].astype(float), weights.dtype
    if method == "subspace":
        prototypes, directions, origin = _part(model, "prototypes"), _part(model, "directions"), _part(model, "origin")
        to_space = directions.T if directions.size else np.eye(len(origin))
        centroids = (prototypes - origin) @ to_space
    elif method in PROJECTED:
        origin, to_space = _part(model, "origin"), _part(model, "directions")
        centroids = _part(model, "centroids") + _part(model, "offset")
    else:
        own = _part(model, "centroids")
        centroids = own.astype(float)
        origin, to_space = np.zeros(centroids.shape[1]), None
    middle = np.sort(centroids, axis=0)[(len(centroids) - 1) // 2]
    centroids = centroids - middle
    if to_space is None:
        return middle, 2 * centroids.T, -(centroids**2).sum(axis=1), own.dtype
    # (x - origin) T - middle, without asking for an x that lies there: its share goes to b.
    return origin, 2 * to_space @ centroids.T, -(centroids**2).sum(axis=1) - 2 * centroids @ middle, np.dtype(float)


def _check(model):
    name = type(model).__name__
    if model._method not in EXPORTED:
        raise TypeError(
            f"to_onnx: {name} labels a row by more than one affine function per cluster (neighbours, a kernel, a network), which this graph does not hold; "
            f"{', '.join(_names.class_of(method) for method in EXPORTED)} can be exported"
        )
    kernel = model._fitted.options.get("kernel", "none")
    if kernel not in ("none", "linear"):
        affine = "linear" if model._method == "kernel-kmeans" else "none"
        raise ValueError(f"to_onnx: {name} of kernel={kernel!r} labels a row by its kernel values with the rows of the fit; kernel={affine!r} can be exported")
    if any(part == "noise_beyond" for part, _, _ in model._fitted.parts):
        raise ValueError("to_onnx: the model finds noise (noise_share), which this graph does not; fit without noise_share")
    if any(model._fitted.kinds):
        raise ValueError("to_onnx: the model takes columns of words or dates, and the graph takes one array of numbers; encode such columns before the fit")


class _Graph:
    """Nodes one after the other, each of which takes what came before."""

    def __init__(self, helper, to_type):
        self._helper, self._to_type = helper, to_type
        self.nodes, self.constants = [], []

    def constant(self, value, dtype=None):
        name = f"c{len(self.constants)}"
        value = np.ascontiguousarray(value, dtype=dtype)
        self.constants.append(self._helper.make_tensor(name, self._to_type(value.dtype), value.shape, value.tobytes(), raw=True))
        return name

    def __call__(self, kind, *inputs, name=None, **attributes):
        name = name or f"v{len(self.nodes)}"
        self.nodes.append(self._helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def cast(self, value, dtype, name=None):
        return self("Cast", value, name=name, to=self._to_type(np.dtype(dtype)))

    def unit_rows(self, x, dtype, zeros_stay):
        """Rows of norm 1, by way of their largest magnitude, whose square cannot overflow. Those of 0 stay, or become NaN."""
        largest = self("ReduceMax", self("Abs", x), axes=[1], keepdims=1)
        if zeros_stay:
            largest = self.not_zero(largest, dtype)
        x = self("Div", x, largest)
        norm = self("ReduceL2", x, axes=[1], keepdims=1)
        if zeros_stay:
            norm = self.not_zero(norm, dtype)
        return self("Div", x, norm)

    def not_zero(self, x, dtype):
        return self("Where", self("Equal", x, self.constant(0, dtype)), self.constant(1, dtype), x)


def to_onnx(model: Clusterer, path: str | os.PathLike[str] | None = None, *, dtype: Any = None) -> Any:
    """A fitted model's predict as an ONNX graph (onnx.ModelProto), for onnxruntime and others; written to `path` where that is given, whole or not at all.

    The graph takes "X", an n x n_features_in_ array of numbers as the fit saw them, its columns in the order of the fit (metadata "columns" has their
    names), fills in, centres and scales as the model does, and gives "labels", n numbers (int32) of clusters, 0 to n_clusters - 1; of models with
    predict_proba also "probabilities", n x n_clusters, whose rows sum to 1. A graph cannot refuse rows: where predict raises, or leaves a row out (a NaN,
    an infinite or too large number, a direction of a row of zeros), the label is -1 and probabilities are NaN. Labels are those of predict but within
    rounding of a border. Metadata "cluster_labels" has the label of each cluster of a fit with y.

    dtype: of X, float32 or float64; None: that of the model's own numbers, which is that of the rows of the fit but for `Subspace`, `Aml`, `RpcaOm` and
    `Fme`, which compute in float64.

    Of KMeans, MiniBatchKMeans, SoftKMeans, SphericalKMeans, Ward, KernelKMeans (kernel "linear"), Subspace, Aml, RpcaOm and Fme (kernel "none"), Entropy,
    Mi, Sela and Miadm. TypeError of other classes; ValueError of other kernels, columns of words or dates, and another dtype; NotFittedError;
    ImportError without the package onnx (pip install 'coterie[onnx]').
    """
    from ._base import Clusterer

    if not isinstance(model, Clusterer):
        raise TypeError(f"to_onnx: {type(model).__name__} is not accepted; a fitted model of coterie's")
    model._require_fitted()
    _check(model)
    origin, matrix, bias, own = _scores_of(model)
    taken = own if dtype is None else np.dtype(dtype)
    if taken not in (np.float32, np.float64):
        raise ValueError(f"to_onnx: dtype: {dtype!r} is not accepted; float32 or float64")
    try:
        import onnx
    except ImportError as error:
        raise ImportError("to_onnx needs the package onnx: pip install 'coterie[onnx]'") from error

    fitted = model._fitted
    graph = _Graph(onnx.helper, onnx.helper.np_dtype_to_tensor_dtype)
    x = "X"
    fills = [column.get("fill") for column in json.loads(fitted.facts["columns"])["columns"]] if "columns" in fitted.facts else []
    if any(fill is not None for fill in fills):
        x = graph("Where", graph("IsNaN", x), graph.constant([np.nan if fill is None else fill for fill in fills], taken), x)
    preparation = fitted.preparation
    if preparation["center"] or preparation["scale"] != "none":
        offset, factor = _part(model, "preprocess.offset"), _part(model, "preprocess.factor")
        x = graph("Mul", graph("Sub", graph.cast(x, float), graph.constant(offset)), graph.constant(factor))
        x = graph.cast(x, taken)
        if preparation["scale"] == "unit":
            x = graph.unit_rows(x, taken, zeros_stay=True)
    x = graph.cast(x, own)
    if model._method == "spherical-kmeans":
        x = graph.unit_rows(x, own, zeros_stay=False)
    x = graph("Sub", x, graph.constant(origin, own))
    scores = graph("Gemm", x, graph.constant(matrix, own), graph.constant(bias, own))
    # 0 times what is no number is none: such rows have the label -1.
    nothing = graph("IsNaN", graph("MatMul", scores, graph.constant(np.zeros((len(bias), 1)), own)))
    best = graph.cast(graph("ArgMax", scores, axis=1, keepdims=1), np.int32)
    label = graph("Where", nothing, graph.constant(-1, np.int32), best)
    outputs = [onnx.helper.make_tensor_value_info("labels", onnx.TensorProto.INT32, ["n"])]
    graph("Reshape", label, graph.constant([-1], np.int64), name="labels")
    if hasattr(model, "predict_proba"):
        if model._method == "soft-kmeans":
            scores = graph("Div", scores, graph.constant(fitted.options["temperature"], own))
        probabilities = graph("Where", nothing, graph.constant(np.nan, own), graph("Softmax", scores, axis=1))
        graph.cast(probabilities, taken, name="probabilities")
        outputs.append(onnx.helper.make_tensor_value_info("probabilities", graph._to_type(taken), ["n", len(bias)]))

    rows = onnx.helper.make_tensor_value_info("X", graph._to_type(taken), ["n", fitted.columns])
    whole = onnx.helper.make_graph(graph.nodes, type(model).__name__, [rows], outputs, graph.constants)
    made = onnx.helper.make_model(
        whole, producer_name="coterie", producer_version=_core.version, opset_imports=[onnx.helper.make_opsetid("", OPSET)], ir_version=FORMAT
    )
    told = {"method": model._method}
    if fitted.column_names:
        told["columns"] = json.dumps(fitted.column_names)
    if fitted.cluster_labels[1]:
        names, of_cluster = fitted.cluster_labels
        told["cluster_labels"] = json.dumps([names[number] if number >= 0 else None for number in of_cluster])
    onnx.helper.set_model_props(made, told)
    onnx.checker.check_model(made, full_check=True)
    if path is not None:
        write_whole(path, made.SerializeToString())
    return made
