"""Models as ONNX graphs, for programs that label rows without coterie.

The graph of a model is one matrix product:

    scores = (x - m) A + b,    label = arg max of the scores

This form covers two kinds of models. In the first, the label is the centroid c_j nearest to y, a linear image of the row x; it has the largest 2 y.c_j -
|c_j|^2. In the second, the softmax models, the label has the largest logit. m lies among the centroids, so that a large mean does not reduce the precision. The
rows are prepared first. As in the library, this is done in double, and the product in the type of the model's numbers.
"""
from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from . import _core, _names
from ._files import write_whole

OPSET, FORMAT = 17, 8  # of 2022: every runtime for the oldest Python that coterie supports reads them


def _rule(model):
    return _names.METHODS[model._method]["label_rule"]


def _part(model, name):
    return model._fitted.part(name)


def _scores_of(model):
    """Returns m (d), A (d x k) and b (k) in double, and the type of the model's numbers."""
    rule = _rule(model)
    if rule == "softmax":
        weights, bias = _part(model, "weights"), _part(model, "bias")
        return np.zeros(weights.shape[1]), weights.T.astype(float), bias[0].astype(float), weights.dtype
    if rule == "nearest-in-subspace":
        prototypes, directions, origin = _part(model, "prototypes"), _part(model, "directions"), _part(model, "origin")
        to_space = directions.T if directions.size else np.eye(len(origin))
        centroids = (prototypes - origin) @ to_space
    elif rule == "nearest-projected":
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
    # y = (x - origin) T - middle. There may be no x with y = 0, so `middle` goes to b.
    return origin, 2 * to_space @ centroids.T, -(centroids**2).sum(axis=1) - 2 * centroids @ middle, np.dtype(float)


def _check(model):
    name = type(model).__name__
    if _rule(model) == "other":
        raise TypeError(
            f"to_onnx: {name} is not supported: its labels need more than one affine function per cluster (neighbours, a kernel or a network). "
            f"Use one of {', '.join(_names.class_of(name) for name, each in _names.METHODS.items() if each['label_rule'] != 'other')}."
        )
    kernel = model._fitted.options.get("kernel", "none")
    if kernel not in ("none", "linear"):
        affine = "linear" if model._method == "kernel-kmeans" else "none"
        raise ValueError(f"to_onnx: {name} with kernel={kernel!r} is not supported, because it needs the training data. Use kernel={affine!r}.")
    if any(part == "noise_beyond" for part, _, _ in model._fitted.parts):
        raise ValueError("to_onnx: a model with noise (noise_share) is not supported. Fit without noise_share.")
    if any(model._fitted.kinds):
        raise ValueError("to_onnx: columns of words or dates are not supported. Convert them to numbers before the fit.")


class _Graph:
    """A sequence of nodes. Each node uses earlier ones."""

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
        """Scales rows to norm 1. Divides by the largest magnitude first, so that squares do not overflow. Rows of zeros stay, or become NaN."""
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


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None, *, dtype: Any = None) -> Any:
    """Converts the `predict` of a fitted model to an ONNX graph, for onnxruntime and other programs.

    Parameters
    ----------
    model : fitted model
        Of KMeans, MiniBatchKMeans, SoftKMeans, SphericalKMeans, Ward, KernelKMeans (kernel "linear"), Subspace, Aml, RpcaOm, Fme (kernel "none"),
        Entropy, Mi, Sela or Miadm.
    path : str or PathLike, default=None
        A file for the graph, written completely or not at all.
    dtype : float32 or float64, default=None
        The type of the graph's input X. None: the type of the model's numbers. This is the type of the training data, but float64 for Subspace, Aml, RpcaOm and
        Fme.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    TypeError
        The class is not one of those above.
    ValueError
        The kernel or `dtype` is not one of those above, or the model has noise_share or columns of words or dates.
    NotFittedError
        The model is not fitted.
    ImportError
        The package onnx is missing (pip install 'coterie[onnx]').
    OSError
        The file cannot be written.

    Notes
    -----
    The input "X" is an array of shape (n, n_features_in_). Its columns have the order of the fit; the metadata "columns" has their names. The graph
    fills in missing values, centres and scales as the model does. Its outputs are:

    - "labels": n cluster numbers (int32) from 0 to n_clusters - 1
    - "probabilities", for models with predict_proba: an array of shape (n, n_clusters) whose rows sum to 1

    A graph cannot raise an error for a row. If `predict` raises one, or leaves the row out, the label is -1 and the probabilities are NaN. Examples are NaN,
    infinite or too large numbers, and rows of zeros whose direction is needed. All other labels are those of `predict`, unless a row is so close to a border
    between clusters that rounding decides. After a fit with y, the metadata "cluster_labels" has the label of each cluster.
    """
    if not hasattr(type(model), "_method"):
        raise TypeError(f"to_onnx: {type(model).__name__} is not accepted. Use a fitted model of coterie.")
    model._require_fitted()
    _check(model)
    origin, matrix, bias, own = _scores_of(model)
    taken = own if dtype is None else np.dtype(dtype)
    if taken not in (np.float32, np.float64):
        raise ValueError(f"to_onnx: dtype: {dtype!r} is not accepted. Use float32 or float64.")
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
    if _rule(model) == "nearest-direction":
        x = graph.unit_rows(x, own, zeros_stay=False)
    x = graph("Sub", x, graph.constant(origin, own))
    scores = graph("Gemm", x, graph.constant(matrix, own), graph.constant(bias, own))
    # 0 times NaN or infinity is NaN: such rows have the label -1.
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
