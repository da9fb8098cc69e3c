"""Scores: how well labels agree with the true classes, and how well they fit the rows.

Names and arguments are those of scikit-learn if it has the score: the true labels come first. Labels may be any values that NumPy can sort. They may
start at any number and have gaps, and the numbers of clusters and classes may differ. docs/scores.md has the formulas.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core, _input
from ._docstrings import SHARED, complete_docstrings, entry, section

__all__ = [
    "accuracy_score", "normalized_mutual_info_score", "adjusted_rand_score", "purity_score", "homogeneity_score", "completeness_score", "scores",
    "aligned_labels", "confusion_table", "silhouette_score", "scatter_ratio",
    "calinski_harabasz_score", "davies_bouldin_score", "spherical_mixture_bic", "prediction_strength"
]

SHARED.update({
    "two labellings": section("Parameters", "labels_true, labels_pred : array of shape (n_samples,)", "Labels of the same rows."),
    "rows and labels": section("Parameters", "X : array or table of shape (n_samples, n_features)") + entry("labels : array of shape (n_samples,)"),
    "share from 0 to 1": section("Returns", "float", "From 0 to 1; more is better."),
    "unequal labellings": section("Raises", "ValueError", "The labels are not two 1D arrays of the same length."),
    "too few clusters": section(
        "Raises", "ValueError", "The number of labels is not the number of rows, or there are not 2 to n - 1 clusters."
    ),
})


def _numbers(labels, name):
    values = np.asarray(labels)
    if values.ndim != 1:
        raise ValueError(f"{name}: an array of shape {values.shape} is not accepted. Give one label per row.")
    try:
        distinct, numbers = np.unique(values, return_inverse=True)
    except TypeError:
        raise ValueError(f"{name}: labels of different types cannot be sorted. Use only numbers or only words.") from None
    return np.ascontiguousarray(numbers, dtype=np.int32), distinct


def _paired(first, second, names=("labels_true", "labels_pred")):
    """Returns two labellings of the same rows, each as (numbers, distinct labels)."""
    one, other = _numbers(first, names[0]), _numbers(second, names[1])
    if len(one[0]) != len(other[0]):
        raise ValueError(f"{names[0]} and {names[1]}: {len(one[0])} and {len(other[0])} labels. Give labels of the same rows.")
    return one, other


def _both(labels_true, labels_pred):
    """Returns (numbers of the clusters, numbers of the classes)."""
    (truth, _), (labels, _) = _paired(labels_true, labels_pred)
    return labels, truth


def accuracy_score(labels_true: Any, labels_pred: Any) -> float:
    """ACC: the share of rows that agree under the best one-to-one matching of clusters and classes.
    **shared : two labellings, share from 0 to 1, unequal labellings
    """
    return _core.accuracy(*_both(labels_true, labels_pred))


def normalized_mutual_info_score(labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic") -> float:
    """NMI: mutual information divided by a mean of the two entropies.
    **shared : two labellings
    average_method : {"arithmetic", "geometric", "min", "max"}, default="arithmetic"
        The mean of the entropies.
    **shared : share from 0 to 1, raises ValueError
        The labels are not two 1D arrays of the same length, or another `average_method` is given.
    """
    return _core.normalized_mutual_information(*_both(labels_true, labels_pred), str(average_method))


def adjusted_rand_score(labels_true: Any, labels_pred: Any) -> float:
    """ARI: the adjusted Rand index.
    **shared : two labellings, returns float
        1 for equal partitions, 0 on average for random labels, at least -0.5.
    **shared : unequal labellings
    """
    return _core.adjusted_rand_index(*_both(labels_true, labels_pred))


def purity_score(labels_true: Any, labels_pred: Any) -> float:
    """Purity: the share of rows that belong to the largest class of their cluster.
    **shared : two labellings, share from 0 to 1, unequal labellings
    """
    return _core.purity(*_both(labels_true, labels_pred))


def homogeneity_score(labels_true: Any, labels_pred: Any) -> float:
    """Homogeneity: mutual information divided by the entropy of the true labels.
    **shared : two labellings, returns float
        From 0 to 1; more is better. 1 if the entropy is 0.
    **shared : unequal labellings
    """
    return _core.homogeneity(*_both(labels_true, labels_pred))


def completeness_score(labels_true: Any, labels_pred: Any) -> float:
    """Completeness: mutual information divided by the entropy of the clusters.
    **shared : two labellings, returns float
        From 0 to 1; more is better. 1 if the entropy is 0.
    **shared : unequal labellings
    """
    return _core.completeness(*_both(labels_true, labels_pred))


def scores(labels_true: Any, labels_pred: Any) -> dict[str, float]:
    """All scores against true labels at once.
    **shared : two labellings, returns dict of float
        "accuracy", "normalized_mutual_information", "adjusted_rand_index", "purity", "homogeneity", "completeness".
    **shared : unequal labellings
    """
    return _core.scores(*_both(labels_true, labels_pred))


def aligned_labels(labels_true: Any, labels_pred: Any) -> np.ndarray:
    """Renames the clusters of labels_pred to the classes that they match best.
    **shared : two labellings, returns array of shape (n_samples,)
        A cluster without a class gets a number above all classes, or a name ("cluster-3") if classes are not whole numbers.
    **shared : unequal labellings
    """
    (truth, classes), (labels, _) = _paired(labels_true, labels_pred)
    aligned = _core.aligned_labels(labels, truth)
    if aligned.max(initial=-1) < len(classes):
        return classes[aligned]
    if classes.dtype.kind in "iu":
        return np.where(aligned < len(classes), classes[np.minimum(aligned, len(classes) - 1)], classes.max() + 1 + aligned - len(classes))
    named = np.array([*classes, *(f"cluster-{i}" for i in range(len(classes), aligned.max() + 1))], dtype=object)
    return named[aligned]


def confusion_table(labels_true: Any, labels_pred: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts the rows of each class in each cluster, with the best matching on the diagonal.
    **shared : two labellings

    Returns
    -------
    (classes, clusters, counts)
        Arrays of shape (n_classes,), (n_clusters,) and (n_classes, n_clusters).
    **shared : unequal labellings
    """
    (truth, classes), (labels, clusters) = _paired(labels_true, labels_pred)
    rows, columns, counts = _core.confusion_table(labels, truth)
    return classes[rows], clusters[columns], counts


def _points_and_labels(X, labels):
    rows = _input.rows_of(X, estimator="the score", sparse=True)
    numbers = _numbers(labels, "labels")[0]
    if len(numbers) != rows.shape[0]:
        raise ValueError(f"labels: {len(numbers)} labels for {rows.shape[0]} rows. Give one label per row.")
    return rows.points, numbers


def silhouette_score(X: Any, labels: Any, *, sample_size: int | None = None, random_state: Any = 0, n_jobs: int | None = None) -> float:
    """Mean silhouette with Euclidean distances (Rousseeuw 1987).
    **shared : rows and labels
        Labels of 2 to n - 1 clusters.
    sample_size : int, default=None
        Number of random rows to use. None: all rows, exactly.
    random_state : int or generator, default=0
        Draws the rows.
    **shared : n_jobs as in the classes, returns float
        From -1 to 1; more is better.
    **shared : raises ValueError
        The number of labels is not the number of rows, there are not 2 to n - 1 clusters, or X contains NaN (BadData).
    """
    sample = 0 if sample_size is None else _input.count_of(sample_size, "sample_size")
    return _core.silhouette(*_points_and_labels(X, labels), sample, _input.seed_of(random_state), _input.threads_of(n_jobs))


def scatter_ratio(X: Any, labels: Any, *, n_jobs: int | None = None) -> float:
    """Sum of squared distances to the clusters' means, divided by the sum of squared distances to the mean of all rows.
    **shared : rows and labels, n_jobs as in the classes, returns float
        From 0 to 1; less is better.
    **shared : raises ValueError
        The number of labels is not the number of rows, or X contains NaN (BadData).
    """
    return _core.scatter_ratio(*_points_and_labels(X, labels), _input.threads_of(n_jobs))


def calinski_harabasz_score(X: Any, labels: Any, *, n_jobs: int | None = None) -> float:
    """(scatter between clusters / (k - 1)) / (scatter within clusters / (n - k)) (Calinski and Harabasz 1974).
    **shared : rows and labels
        Labels of 2 to n - 1 clusters.
    **shared : n_jobs as in the classes, returns float
        More is better.
    **shared : too few clusters
    """
    return _core.calinski_harabasz(*_points_and_labels(X, labels), _input.threads_of(n_jobs))


def davies_bouldin_score(X: Any, labels: Any, *, n_jobs: int | None = None) -> float:
    """Mean over clusters i of the largest (s_i + s_j) / |m_i - m_j| over clusters j (Davies and Bouldin 1979).

    m is the mean of a cluster, and s is the mean Euclidean distance of its rows to m.
    **shared : rows and labels
        Labels of 2 to n - 1 clusters.
    **shared : n_jobs as in the classes, returns float
        Less is better.
    **shared : too few clusters
    """
    return _core.davies_bouldin(*_points_and_labels(X, labels), _input.threads_of(n_jobs))


def spherical_mixture_bic(X: Any, labels: Any, *, n_jobs: int | None = None) -> float:
    """BIC of the mixture of spherical Gaussians with one variance, estimated from the clusters.
    **shared : rows and labels
        One cluster is allowed.
    **shared : n_jobs as in the classes, returns float
        Less is better.
    **shared : raises ValueError
        The number of labels is not the number of rows.
    """
    return _core.spherical_mixture_bic(*_points_and_labels(X, labels), _input.threads_of(n_jobs))


def prediction_strength(labels: Any, labels_predicted: Any) -> float:
    """Prediction strength (Tibshirani and Walther 2005).

    For each cluster of `labels`, the share of its pairs of rows that `labels_predicted` also puts into one cluster. The result is the smallest share.

    Parameters
    ----------
    labels : array of shape (n_samples,)
        Clusters of the rows.
    labels_predicted : array of shape (n_samples,)
        Clusters that a model of other rows predicts for the same rows.
    **shared : share from 0 to 1, unequal labellings
    """
    (numbers, _), (predicted, _) = _paired(labels, labels_predicted, ("labels", "labels_predicted"))
    return _core.prediction_strength(numbers, predicted)


complete_docstrings(globals())
