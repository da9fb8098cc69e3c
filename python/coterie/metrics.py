"""How well labels agree with a truth, and how well they fit the rows.

Names and the order of arguments are scikit-learn's where it has the score: the truth comes first. Labels are any values that NumPy can sort; they need
not start at 0, be consecutive, or be as many as the classes. docs/scores.md has the formulas.
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
        raise ValueError(f"{name}: one label per row is wanted, not shape {values.shape}")
    try:
        distinct, numbers = np.unique(values, return_inverse=True)
    except TypeError:
        raise ValueError(f"{name}: labels are of kinds that cannot be put in order; use numbers or words") from None
    return np.ascontiguousarray(numbers, dtype=np.int32), distinct


def _both(labels_true, labels_pred):
    truth, labels = _numbers(labels_true, "labels_true")[0], _numbers(labels_pred, "labels_pred")[0]
    if len(truth) != len(labels):
        raise ValueError(f"labels_true and labels_pred: {len(truth)} and {len(labels)} labels; they must be of the same rows")
    return labels, truth


def accuracy_score(labels_true: Any, labels_pred: Any) -> float:
    """ACC: the share of rows that agree under the best one-to-one match of clusters and classes. From 0 to 1.

    labels_true, labels_pred: n labels each, of the same rows; ValueError where they are not.
    """
    return _core.accuracy(*_both(labels_true, labels_pred))


def normalized_mutual_info_score(labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic") -> float:
    """NMI: mutual information over a mean of the two entropies. From 0 to 1.

    labels_true, labels_pred: n labels each, of the same rows. average_method: the mean, "arithmetic", "geometric", "min" or "max". ValueError on others.
    """
    return _core.normalized_mutual_information(*_both(labels_true, labels_pred), str(average_method))


def adjusted_rand_score(labels_true: Any, labels_pred: Any) -> float:
    """ARI: 1 for equal partitions, 0 expected by chance, at least -0.5.

    labels_true, labels_pred: n labels each, of the same rows; ValueError where they are not.
    """
    return _core.adjusted_rand_index(*_both(labels_true, labels_pred))


def purity_score(labels_true: Any, labels_pred: Any) -> float:
    """Each cluster's largest class, summed, over the number of rows. From 0 to 1.

    labels_true, labels_pred: n labels each, of the same rows; ValueError where they are not.
    """
    return _core.purity(*_both(labels_true, labels_pred))


def homogeneity_score(labels_true: Any, labels_pred: Any) -> float:
    """Mutual information over the entropy of the truth, from 0 to 1; 1 where that is 0.

    labels_true, labels_pred: n labels each, of the same rows; ValueError where they are not.
    """
    return _core.homogeneity(*_both(labels_true, labels_pred))


def completeness_score(labels_true: Any, labels_pred: Any) -> float:
    """Mutual information over the entropy of the labels, from 0 to 1; 1 where that is 0.

    labels_true, labels_pred: n labels each, of the same rows; ValueError where they are not.
    """
    return _core.completeness(*_both(labels_true, labels_pred))


def scores(labels_true: Any, labels_pred: Any) -> dict[str, float]:
    """All of them at once: a dict with "accuracy", "normalized_mutual_information", "adjusted_rand_index", "purity", "homogeneity", "completeness".

    labels_true, labels_pred: n labels each, of the same rows; ValueError where they are not.
    """
    return _core.scores(*_both(labels_true, labels_pred))


def aligned_labels(labels_true: Any, labels_pred: Any) -> np.ndarray:
    """n labels: labels_pred renamed to the classes that its clusters are matched to; a cluster without a class keeps a number above every class.

    labels_true, labels_pred: n labels each, of the same rows; ValueError where they are not.
    """
    truth, classes = _numbers(labels_true, "labels_true")
    labels = _numbers(labels_pred, "labels_pred")[0]
    if len(truth) != len(labels):
        raise ValueError(f"labels_true and labels_pred: {len(truth)} and {len(labels)} labels; they must be of the same rows")
    aligned = _core.aligned_labels(labels, truth)
    if aligned.max(initial=-1) < len(classes):
        return classes[aligned]
    if classes.dtype.kind in "iu":
        return np.where(aligned < len(classes), classes[np.minimum(aligned, len(classes) - 1)], classes.max() + 1 + aligned - len(classes))
    named = np.array([*classes, *(f"cluster-{i}" for i in range(len(classes), aligned.max() + 1))], dtype=object)
    return named[aligned]


def confusion_table(labels_true: Any, labels_pred: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(classes, clusters, counts of classes x clusters with what agrees on the diagonal).

    labels_true, labels_pred: n labels each, of the same rows; ValueError where they are not.
    """
    truth, classes = _numbers(labels_true, "labels_true")
    labels, clusters = _numbers(labels_pred, "labels_pred")
    if len(truth) != len(labels):
        raise ValueError(f"labels_true and labels_pred: {len(truth)} and {len(labels)} labels; they must be of the same rows")
    rows, columns, counts = _core.confusion_table(labels, truth)
    return classes[rows], clusters[columns], counts


def _points_and_labels(X, labels):
    rows = _input.rows_of(X, estimator="the score", sparse=True)
    numbers = _numbers(labels, "labels")[0]
    if len(numbers) != rows.shape[0]:
        raise ValueError(f"labels: {len(numbers)} for {rows.shape[0]} rows")
    return rows.points, numbers


def silhouette_score(X: Any, labels: Any, *, sample_size: int | None = None, random_state: Any = 0, n_jobs: int | None = None) -> float:
    """Mean silhouette with Euclidean distances, from -1 to 1: more is better. Source: Rousseeuw 1987.

    X: n x p; labels: n, of 2 to n - 1 clusters. sample_size: over so many rows that are drawn by random_state; None: exact, over all. n_jobs: threads, as of
    the classes. ValueError on other numbers of labels or clusters; BadData on NaN.
    """
    sample = 0 if sample_size is None else _input.count_of(sample_size, "sample_size")
    return _core.silhouette(*_points_and_labels(X, labels), sample, _input.seed_of(random_state), _input.threads_of(n_jobs))


def scatter_ratio(X: Any, labels: Any, *, n_jobs: int | None = None) -> float:
    """Squared distances from the clusters' means over those from the mean of all rows, from 0 to 1: less is better.

    X: n x p; labels: n. n_jobs: threads, as of the classes. ValueError on another number of labels; BadData on NaN.
    """
    return _core.scatter_ratio(*_points_and_labels(X, labels), _input.threads_of(n_jobs))


def calinski_harabasz_score(X: Any, labels: Any, *, n_jobs: int | None = None) -> float:
    """Scatter between clusters over k - 1, over scatter within them over n - k: more is better (Calinski and Harabasz 1974).

    X: n x d; labels: n, of any values. n_jobs: threads. ValueError on another number of labels, and unless there are 2 to n - 1 clusters.
    """
    return _core.calinski_harabasz(*_points_and_labels(X, labels), _input.threads_of(n_jobs))


def davies_bouldin_score(X: Any, labels: Any, *, n_jobs: int | None = None) -> float:
    """Mean over clusters of the largest sum of two extents over the distance of the two means: less is better (Davies and Bouldin 1979).

    X: n x d; labels: n, of any values. n_jobs: threads. ValueError on another number of labels, and unless there are 2 to n - 1 clusters.
    """
    return _core.davies_bouldin(*_points_and_labels(X, labels), _input.threads_of(n_jobs))


def spherical_mixture_bic(X: Any, labels: Any, *, n_jobs: int | None = None) -> float:
    """BIC of the mixture of spherical Gaussians of one variance that a partition estimates: less is better; one cluster is allowed.

    X: n x d; labels: n, of any values. n_jobs: threads. ValueError on another number of labels.
    """
    return _core.spherical_mixture_bic(*_points_and_labels(X, labels), _input.threads_of(n_jobs))


def prediction_strength(labels: Any, labels_predicted: Any) -> float:
    """The least share, over the clusters of `labels`, of pairs of rows that a model of other rows puts together as well (Tibshirani and Walther 2005).

    labels, labels_predicted: n labels each, of the same rows; ValueError where they are not. From 0 to 1.
    """
    labels, predicted = _numbers(labels, "labels")[0], _numbers(labels_predicted, "labels_predicted")[0]
    if len(labels) != len(predicted):
        raise ValueError(f"labels and labels_predicted: {len(labels)} and {len(predicted)} labels; they must be of the same rows")
    return _core.prediction_strength(labels, predicted)
