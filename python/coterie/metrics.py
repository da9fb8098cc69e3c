"""Scores: how well labels agree with the true classes, and how well they fit the rows.

Names and arguments are those of scikit-learn if it has the score: the true labels come first. Labels may be any values that NumPy can sort. They may
start at any number and have gaps, and the numbers of clusters and classes may differ. docs/scores.md has the formulas.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core, _input

__all__ = [
    "accuracy_score", "normalized_mutual_info_score", "adjusted_rand_score", "purity_score", "homogeneity_score", "completeness_score", "scores",
    "aligned_labels", "confusion_table", "silhouette_score", "scatter_ratio",
    "calinski_harabasz_score", "davies_bouldin_score", "spherical_mixture_bic", "prediction_strength"
]


def _numbers(labels, name):
    values = np.asarray(labels)
    if values.ndim != 1:
        raise ValueError(f"{name}: an array of shape {values.shape} is not accepted. Give one label per row.")
    try:
        distinct, numbers = np.unique(values, return_inverse=True)
    except TypeError:
        raise ValueError(f"{name}: labels of different types cannot be sorted. Use only numbers or only words.") from None
    return np.ascontiguousarray(numbers, dtype=np.int32), distinct


def _both(labels_true, labels_pred):
    truth, labels = _numbers(labels_true, "labels_true")[0], _numbers(labels_pred, "labels_pred")[0]
    if len(truth) != len(labels):
        raise ValueError(f"labels_true and labels_pred: {len(truth)} and {len(labels)} labels. Give labels of the same rows.")
    return labels, truth


def accuracy_score(labels_true: Any, labels_pred: Any) -> float:
    """ACC: the share of rows that agree under the best one-to-one matching of clusters and classes.

    Parameters
    ----------
    labels_true, labels_pred : array of shape (n_samples,)
        Labels of the same rows.

    Returns
    -------
    float
        From 0 to 1; more is better.

    Raises
    ------
    ValueError
        The labels are not two 1D arrays of the same length.
    """
    return _core.accuracy(*_both(labels_true, labels_pred))


def normalized_mutual_info_score(labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic") -> float:
    """NMI: mutual information divided by a mean of the two entropies.

    Parameters
    ----------
    labels_true, labels_pred : array of shape (n_samples,)
        Labels of the same rows.
    average_method : {"arithmetic", "geometric", "min", "max"}, default="arithmetic"
        The mean of the entropies.

    Returns
    -------
    float
        From 0 to 1; more is better.

    Raises
    ------
    ValueError
        The labels are not two 1D arrays of the same length, or another `average_method` is given.
    """
    return _core.normalized_mutual_information(*_both(labels_true, labels_pred), str(average_method))


def adjusted_rand_score(labels_true: Any, labels_pred: Any) -> float:
    """ARI: the adjusted Rand index.

    Parameters
    ----------
    labels_true, labels_pred : array of shape (n_samples,)
        Labels of the same rows.

    Returns
    -------
    float
        1 for equal partitions, 0 on average for random labels, at least -0.5.

    Raises
    ------
    ValueError
        The labels are not two 1D arrays of the same length.
    """
    return _core.adjusted_rand_index(*_both(labels_true, labels_pred))


def purity_score(labels_true: Any, labels_pred: Any) -> float:
    """Purity: the share of rows that belong to the largest class of their cluster.

    Parameters
    ----------
    labels_true, labels_pred : array of shape (n_samples,)
        Labels of the same rows.

    Returns
    -------
    float
        From 0 to 1; more is better.

    Raises
    ------
    ValueError
        The labels are not two 1D arrays of the same length.
    """
    return _core.purity(*_both(labels_true, labels_pred))


def homogeneity_score(labels_true: Any, labels_pred: Any) -> float:
    """Homogeneity: mutual information divided by the entropy of the true labels.

    Parameters
    ----------
    labels_true, labels_pred : array of shape (n_samples,)
        Labels of the same rows.

    Returns
    -------
    float
        From 0 to 1; more is better. 1 if the entropy is 0.

    Raises
    ------
    ValueError
        The labels are not two 1D arrays of the same length.
    """
    return _core.homogeneity(*_both(labels_true, labels_pred))


def completeness_score(labels_true: Any, labels_pred: Any) -> float:
    """Completeness: mutual information divided by the entropy of the clusters.

    Parameters
    ----------
    labels_true, labels_pred : array of shape (n_samples,)
        Labels of the same rows.

    Returns
    -------
    float
        From 0 to 1; more is better. 1 if the entropy is 0.

    Raises
    ------
    ValueError
        The labels are not two 1D arrays of the same length.
    """
    return _core.completeness(*_both(labels_true, labels_pred))


def scores(labels_true: Any, labels_pred: Any) -> dict[str, float]:
    """All scores against true labels at once.

    Parameters
    ----------
    labels_true, labels_pred : array of shape (n_samples,)
        Labels of the same rows.

    Returns
    -------
    dict of float
        "accuracy", "normalized_mutual_information", "adjusted_rand_index", "purity", "homogeneity", "completeness".

    Raises
    ------
    ValueError
        The labels are not two 1D arrays of the same length.
    """
    return _core.scores(*_both(labels_true, labels_pred))


def aligned_labels(labels_true: Any, labels_pred: Any) -> np.ndarray:
    """Renames the clusters of labels_pred to the classes that they match best.

    Parameters
    ----------
    labels_true, labels_pred : array of shape (n_samples,)
        Labels of the same rows.

    Returns
    -------
    array of shape (n_samples,)
        A cluster without a class gets a number above all classes, or a name ("cluster-3") if classes are not whole numbers.

    Raises
    ------
    ValueError
        The labels are not two 1D arrays of the same length.
    """
    truth, classes = _numbers(labels_true, "labels_true")
    labels = _numbers(labels_pred, "labels_pred")[0]
    if len(truth) != len(labels):
        raise ValueError(f"labels_true and labels_pred: {len(truth)} and {len(labels)} labels. Give labels of the same rows.")
    aligned = _core.aligned_labels(labels, truth)
    if aligned.max(initial=-1) < len(classes):
        return classes[aligned]
    if classes.dtype.kind in "iu":
        return np.where(aligned < len(classes), classes[np.minimum(aligned, len(classes) - 1)], classes.max() + 1 + aligned - len(classes))
    named = np.array([*classes, *(f"cluster-{i}" for i in range(len(classes), aligned.max() + 1))], dtype=object)
    return named[aligned]


def confusion_table(labels_true: Any, labels_pred: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts the rows of each class in each cluster, with the best matching on the diagonal.

    Parameters
    ----------
    labels_true, labels_pred : array of shape (n_samples,)
        Labels of the same rows.

    Returns
    -------
    (classes, clusters, counts)
        Arrays of shape (n_classes,), (n_clusters,) and (n_classes, n_clusters).

    Raises
    ------
    ValueError
        The labels are not two 1D arrays of the same length.
    """
    truth, classes = _numbers(labels_true, "labels_true")
    labels, clusters = _numbers(labels_pred, "labels_pred")
    if len(truth) != len(labels):
        raise ValueError(f"labels_true and labels_pred: {len(truth)} and {len(labels)} labels. Give labels of the same rows.")
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

    Parameters
    ----------
    X : array or table of shape (n_samples, n_features)
    labels : array of shape (n_samples,)
        Labels of 2 to n - 1 clusters.
    sample_size : int, default=None
        Number of random rows to use. None: all rows, exactly.
    random_state : int or generator, default=0
        Draws the rows.
    n_jobs : int, default=None
        Number of threads, as in the classes.

    Returns
    -------
    float
        From -1 to 1; more is better.

    Raises
    ------
    ValueError
        The number of labels is not the number of rows, there are not 2 to n - 1 clusters, or X contains NaN (BadData).
    """
    sample = 0 if sample_size is None else _input.count_of(sample_size, "sample_size")
    return _core.silhouette(*_points_and_labels(X, labels), sample, _input.seed_of(random_state), _input.threads_of(n_jobs))


def scatter_ratio(X: Any, labels: Any, *, n_jobs: int | None = None) -> float:
    """Sum of squared distances to the clusters' means, divided by the sum of squared distances to the mean of all rows.

    Parameters
    ----------
    X : array or table of shape (n_samples, n_features)
    labels : array of shape (n_samples,)
    n_jobs : int, default=None
        Number of threads, as in the classes.

    Returns
    -------
    float
        From 0 to 1; less is better.

    Raises
    ------
    ValueError
        The number of labels is not the number of rows, or X contains NaN (BadData).
    """
    return _core.scatter_ratio(*_points_and_labels(X, labels), _input.threads_of(n_jobs))


def calinski_harabasz_score(X: Any, labels: Any, *, n_jobs: int | None = None) -> float:
    """(scatter between clusters / (k - 1)) / (scatter within clusters / (n - k)) (Calinski and Harabasz 1974).

    Parameters
    ----------
    X : array or table of shape (n_samples, n_features)
    labels : array of shape (n_samples,)
        Labels of 2 to n - 1 clusters.
    n_jobs : int, default=None
        Number of threads, as in the classes.

    Returns
    -------
    float
        More is better.

    Raises
    ------
    ValueError
        The number of labels is not the number of rows, or there are not 2 to n - 1 clusters.
    """
    return _core.calinski_harabasz(*_points_and_labels(X, labels), _input.threads_of(n_jobs))


def davies_bouldin_score(X: Any, labels: Any, *, n_jobs: int | None = None) -> float:
    """Mean over clusters i of the largest (s_i + s_j) / |m_i - m_j| over clusters j (Davies and Bouldin 1979).

    m is the mean of a cluster, and s is the mean Euclidean distance of its rows to m.

    Parameters
    ----------
    X : array or table of shape (n_samples, n_features)
    labels : array of shape (n_samples,)
        Labels of 2 to n - 1 clusters.
    n_jobs : int, default=None
        Number of threads, as in the classes.

    Returns
    -------
    float
        Less is better.

    Raises
    ------
    ValueError
        The number of labels is not the number of rows, or there are not 2 to n - 1 clusters.
    """
    return _core.davies_bouldin(*_points_and_labels(X, labels), _input.threads_of(n_jobs))


def spherical_mixture_bic(X: Any, labels: Any, *, n_jobs: int | None = None) -> float:
    """BIC of the mixture of spherical Gaussians with one variance, estimated from the clusters.

    Parameters
    ----------
    X : array or table of shape (n_samples, n_features)
    labels : array of shape (n_samples,)
        One cluster is allowed.
    n_jobs : int, default=None
        Number of threads, as in the classes.

    Returns
    -------
    float
        Less is better.

    Raises
    ------
    ValueError
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

    Returns
    -------
    float
        From 0 to 1; more is better.

    Raises
    ------
    ValueError
        The labels are not two 1D arrays of the same length.
    """
    labels, predicted = _numbers(labels, "labels")[0], _numbers(labels_predicted, "labels_predicted")[0]
    if len(labels) != len(predicted):
        raise ValueError(f"labels and labels_predicted: {len(labels)} and {len(predicted)} labels. Give labels of the same rows.")
    return _core.prediction_strength(labels, predicted)
