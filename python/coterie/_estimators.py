"""A class per method. Made by scripts/make-estimators from the methods' own descriptions; do not edit."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ._base import BlockClusterer, Clusterer, GivesDistances, GivesLabelScores, GivesMemberships, GivesOutlierScores, Transforms, WeightedBlockClusterer, WeightedClusterer

__all__ = [
    "KMeans", "MiniBatchKMeans", "SoftKMeans", "SphericalKMeans", "Ward", "KernelKMeans", "HDBSCAN", "Spectral", "Subspace", "Cpd", "Aml",
    "RpcaOm", "Fme", "Entropy", "Mi", "Sela", "Miadm", "Wmc", "Ssc", "Ensc", "SscOmp", "Smce", "AeKMeans", "Dekm", "Dec", "Idec", "Dcn",
    "EntropyNet", "Imsat", "Iic", "SelaNet", "MiadmNet"
]


class KMeans(Transforms, GivesDistances, GivesOutlierScores, WeightedBlockClusterer):
    """K-means: Lloyd's algorithm with bounds, greedy k-means++ seeding.

    Parameters
    ----------
    n_clusters : int, or 'auto', or None, default=8
        Number of clusters k. A whole number, at least 1. None: as many as the partial labels have. 'auto': chosen by seven criteria
        (cluster_choice_).
    n_init : int, default=1
        Runs from different seedings; the one of least inertia is kept. A whole number, at least 1.
    max_iter : int, default=300
        Iterations a restart at most. A whole number, at least 1.
    tol : float, default=0.0001
        Stop when the centroids' summed squared movement is at most this many mean column variances; 0: when no label changes. A number, at
        least 0.
    init : {'auto', 'kmeans++', 'kmeans-parallel', 'random'}, or array of shape (n_clusters, n_features), default='auto'
        Starting centroids: greedy k-means++, k-means|| (auto: from 1000 clusters on), or random rows. Or the centroids to start from.
    seeding_candidates : int, or None, default=None
        Candidates per step of greedy k-means++; 1 is plain k-means++. A whole number, from 1 to 10000. None: 2 + 2 ln k.
    seeding_sample : int, or None, default=None
        Points on which the candidates are compared. A whole number, at least 1. None: 32768, or 128 per cluster when that is more.
    algorithm : {'auto', 'lloyd', 'bounds'}, default='auto'
        How assignments are computed; the result is the same bit for bit.
    share_rounding : {'floor', 'nearest'}, default='floor'
        How a group's share of the points becomes a whole number of them.
    clusters_per_label : dict, default=None
        How many clusters a label of y has: {label: number}; one where nothing is said.
    label_share : dict, default=None
        The share of all rows, labelled ones included, that the clusters of a label of y take: {label: 0.95}, or {label: (low, high)}.
    sizes : int or (int, int), default=None
        Every cluster takes at least the first and at most the second number of rows; either may be None.
    must_links : array of shape (n_pairs, 2), default=None
        Rows of X, by their numbers, that must be in one cluster.
    cannot_links : array of shape (n_pairs, 2), default=None
        Rows of X, by their numbers, that must not be in one cluster.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    checkpoint : str, default=None
        A file that keeps the state of the fit, so that one that was cut off goes on from it.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    cluster_labels_ : array of shape (n_clusters,)
        The label of y that each cluster belongs to, of a fit with y; -1 or None for a cluster of no label.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The centroid of each cluster.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, n_features)
        The mean of the rows of each cluster, as prepared: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_, inertia_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y holds what is known of the labels, with -1, None or NaN where none is: a labelled row goes to a cluster of its label. A y that has a
    label for every row is ignored, with a warning: it is a truth to compare with. With n_clusters=None there are as many clusters as the
    labels have together.
    X may be a list of .npy files, or an iterator over blocks of rows (arrays or tables), which are written once to a temporary file: either
    is read in blocks and need not fit into memory. Several processes may work on one fit (comm of fit).
    X may be a sparse matrix of SciPy's, of which csr in float32 or float64 is not copied: memory and time go with its entries.
    transform gives the distances to the centroids.
    The command's name for it is kmeans; its options are described in docs/reference/kmeans.md, the method with its source in
    docs/methods.md.
    """

    _method = "kmeans"
    _options = {
        "n_clusters": "clusters", "n_init": "restarts", "max_iter": "max_iterations", "tol": "tolerance", "init": "seeding",
        "seeding_candidates": "seeding_candidates", "seeding_sample": "seeding_sample", "algorithm": "algorithm", "share_rounding":
        "share_rounding"
    }
    _transformed = "distances"
    _blocks = True
    _takes_labels = True
    _takes_sparse = True

    cluster_centers_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] | None = 8,
        *,
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 0.0001,
        init: Any = 'auto',
        seeding_candidates: int | None = None,
        seeding_sample: int | None = None,
        algorithm: str = 'auto',
        share_rounding: str = 'floor',
        clusters_per_label: Mapping[Any, int] | None = None,
        label_share: Mapping[Any, Any] | None = None,
        sizes: int | tuple[int | None, int | None] | None = None,
        must_links: Any = None,
        cannot_links: Any = None,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        checkpoint: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.seeding_candidates = seeding_candidates
        self.seeding_sample = seeding_sample
        self.algorithm = algorithm
        self.share_rounding = share_rounding
        self.clusters_per_label = clusters_per_label
        self.label_share = label_share
        self.sizes = sizes
        self.must_links = must_links
        self.cannot_links = cannot_links
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @property
    def inertia_(self) -> float:
        """The same as objective_."""
        return self.objective_


class MiniBatchKMeans(Transforms, GivesDistances, GivesOutlierScores, WeightedBlockClusterer):
    """K-means by batches drawn from the points, for very many of them.

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    batch_size : int, default=1024
        Rows per batch, at most n. A whole number, at least 1.
    max_iter : int, default=100
        Rows drawn at most, in multiples of n. A whole number, at least 1.
    max_no_improvement : int, default=10
        Stop when the smoothed inertia has reached no new low for this many batches; 0: never. A whole number, at least 0.
    reassignment_ratio : float, default=0.01
        A centroid with less than this share of the rows of the busiest is put beside another; 0: never. A number, from 0 to 1.
    n_init : int, default=1
        Runs from different samples; the one of least inertia is kept. A whole number, at least 1.
    init : {'auto', 'kmeans++', 'kmeans-parallel', 'random'}, or array of shape (n_clusters, n_features), default='auto'
        Starting centroids: greedy k-means++, k-means|| (auto: from 1000 clusters on), or random rows. Or the centroids to start from.
    seeding_candidates : int, or None, default=None
        Candidates per step of greedy k-means++; 1 is plain k-means++. A whole number, from 1 to 10000. None: 2 + 2 ln k.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    checkpoint : str, default=None
        A file that keeps the state of the fit, so that one that was cut off goes on from it.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The centroid of each cluster.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, n_features)
        The mean of the rows of each cluster, as prepared: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_, inertia_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y is ignored, as scikit-learn's clusterers do.
    X may be a list of .npy files, or an iterator over blocks of rows (arrays or tables), which are written once to a temporary file: either
    is read in blocks and need not fit into memory. Several processes may work on one fit (comm of fit).
    transform gives the distances to the centroids.
    The command's name for it is minibatch-kmeans; its options are described in docs/reference/minibatch-kmeans.md, the method with its
    source in docs/methods.md.
    """

    _method = "minibatch-kmeans"
    _options = {
        "n_clusters": "clusters", "batch_size": "batch_size", "max_iter": "max_epochs", "max_no_improvement": "patience",
        "reassignment_ratio": "reassignment_share", "n_init": "restarts", "init": "seeding", "seeding_candidates": "seeding_candidates"
    }
    _transformed = "distances"
    _blocks = True

    cluster_centers_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        batch_size: int = 1024,
        max_iter: int = 100,
        max_no_improvement: int = 10,
        reassignment_ratio: float = 0.01,
        n_init: int = 1,
        init: Any = 'auto',
        seeding_candidates: int | None = None,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        checkpoint: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.max_no_improvement = max_no_improvement
        self.reassignment_ratio = reassignment_ratio
        self.n_init = n_init
        self.init = init
        self.seeding_candidates = seeding_candidates
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @property
    def inertia_(self) -> float:
        """The same as objective_."""
        return self.objective_


class SoftKMeans(Transforms, GivesDistances, GivesMemberships, GivesOutlierScores, WeightedBlockClusterer):
    """K-means with probabilities at a temperature, minimising the free energy.

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    temperature : float, or None, default=None
        Temperature T, in squared units of the points. A number, above 0 and at most 1e+200. None: twice the mean variance of a column
        within the clusters of k-means.
    n_init : int, default=1
        Runs from different seedings; the one of least free energy is kept. A whole number, at least 1.
    max_iter : int, default=300
        Iterations a restart at most. A whole number, at least 1.
    tol : float, default=1e-06
        Stop when the centroids' summed squared movement is at most this many mean column variances. A number, at least 0.
    init : {'auto', 'kmeans++', 'kmeans-parallel', 'random'}, or array of shape (n_clusters, n_features), default='auto'
        Starting centroids: greedy k-means++, k-means|| (auto: from 1000 clusters on), or random rows. Or the centroids to start from.
    seeding_candidates : int, or None, default=None
        Candidates per step of greedy k-means++; 1 is plain k-means++. A whole number, from 1 to 10000. None: 2 + 2 ln k.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    checkpoint : str, default=None
        A file that keeps the state of the fit, so that one that was cut off goes on from it.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The centroid of each cluster.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, n_features)
        The mean of the rows of each cluster, as prepared: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y is ignored, as scikit-learn's clusterers do.
    X may be a list of .npy files, or an iterator over blocks of rows (arrays or tables), which are written once to a temporary file: either
    is read in blocks and need not fit into memory. Several processes may work on one fit (comm of fit).
    X may be a sparse matrix of SciPy's, of which csr in float32 or float64 is not copied: memory and time go with its entries.
    transform gives the distances to the centroids.
    The command's name for it is soft-kmeans; its options are described in docs/reference/soft-kmeans.md, the method with its source in
    docs/methods.md.
    """

    _method = "soft-kmeans"
    _options = {
        "n_clusters": "clusters", "temperature": "temperature", "n_init": "restarts", "max_iter": "max_iterations", "tol": "tolerance",
        "init": "seeding", "seeding_candidates": "seeding_candidates"
    }
    _transformed = "distances"
    _blocks = True
    _takes_sparse = True

    cluster_centers_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        temperature: float | None = None,
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-06,
        init: Any = 'auto',
        seeding_candidates: int | None = None,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        checkpoint: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.temperature = temperature
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.seeding_candidates = seeding_candidates
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class SphericalKMeans(Transforms, GivesDistances, GivesOutlierScores, WeightedBlockClusterer):
    """K-means by cosine similarity, rows and centroids of length 1.

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    n_init : int, default=1
        Runs from different seedings; the one of least objective is kept. A whole number, at least 1.
    max_iter : int, default=300
        Iterations a restart at most. A whole number, at least 1.
    tol : float, default=0.0001
        Stop when the centroids' summed squared movement is at most this many mean column variances of the scaled rows; 0: when no label
        changes. A number, at least 0.
    init : {'auto', 'kmeans++', 'kmeans-parallel', 'random'}, or array of shape (n_clusters, n_features), default='auto'
        Starting centroids: greedy k-means++, k-means|| (auto: from 1000 clusters on), or random rows. Or the centroids to start from.
    seeding_candidates : int, or None, default=None
        Candidates per step of greedy k-means++; 1 is plain k-means++. A whole number, from 1 to 10000. None: 2 + 2 ln k.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    checkpoint : str, default=None
        A file that keeps the state of the fit, so that one that was cut off goes on from it.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The centroid of each cluster.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, n_features)
        The mean of the rows of each cluster, as prepared: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y is ignored, as scikit-learn's clusterers do.
    X may be a list of .npy files, or an iterator over blocks of rows (arrays or tables), which are written once to a temporary file: either
    is read in blocks and need not fit into memory. Several processes may work on one fit (comm of fit).
    X may be a sparse matrix of SciPy's, of which csr in float32 or float64 is not copied: memory and time go with its entries.
    transform gives the distances to the centroids.
    The command's name for it is spherical-kmeans; its options are described in docs/reference/spherical-kmeans.md, the method with its
    source in docs/methods.md.
    """

    _method = "spherical-kmeans"
    _options = {
        "n_clusters": "clusters", "n_init": "restarts", "max_iter": "max_iterations", "tol": "tolerance", "init": "seeding",
        "seeding_candidates": "seeding_candidates"
    }
    _transformed = "distances"
    _blocks = True
    _takes_sparse = True

    cluster_centers_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 0.0001,
        init: Any = 'auto',
        seeding_candidates: int | None = None,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        checkpoint: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.seeding_candidates = seeding_candidates
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Ward(Transforms, GivesDistances, GivesOutlierScores, WeightedClusterer):
    """Ward agglomeration by the nearest-neighbour chain, in memory n d.

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k to cut the tree at. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The centroid of each cluster.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, n_features)
        The mean of the rows of each cluster, as prepared: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y is ignored, as scikit-learn's clusterers do.
    transform gives the distances to the centroids.
    The command's name for it is ward; its options are described in docs/reference/ward.md, the method with its source in docs/methods.md.
    """

    _method = "ward"
    _options = {
        "n_clusters": "clusters"
    }
    _transformed = "distances"

    cluster_centers_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class KernelKMeans(GivesOutlierScores, WeightedClusterer):
    """K-means in the feature space of a kernel: rbf, polynomial, linear or precomputed.

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    kernel : {'rbf', 'polynomial', 'linear', 'precomputed'}, default='rbf'
        Kernel function; precomputed: the points are the n x n kernel matrix.
    width : float, or None, default=None
        Width of the rbf kernel exp(-|x - y|^2 / (2 width^2)). A number, above 0. None: the median distance within a sample of 1000 rows.
    gamma : float, or None, default=None
        Factor of the polynomial kernel (gamma x.y + constant)^degree. A number, above 0. None: 1 / columns.
    constant : float, default=1.0
        Constant of the polynomial kernel. A number, at least 0.
    degree : int, default=3
        Degree of the polynomial kernel. A whole number, from 1 to 100.
    n_init : int, default=1
        Runs from different seedings; the one of least objective is kept. A whole number, at least 1.
    max_iter : int, default=300
        Iterations a restart at most. A whole number, at least 1.
    tol : float, default=0.0
        Stop when the objective falls by at most this share of itself; 0: when no label changes. A number, at least 0.
    seeding_candidates : int, or None, default=None
        Candidates per step of greedy k-means++; 1 is plain k-means++. A whole number, from 1 to 10000. None: 2 + 2 ln k.
    init : array of shape (n_clusters, n_features), default=None
        The centroids to start from, in the units of X.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    members_ : array of shape (n_fitted,)
        The cluster of each point fitted on, -1: of weight 0.
    mass_ : array of shape (n_clusters,)
        The weight of each cluster.
    self_ : array of shape (n_clusters,)
        The squared length of each centroid in feature space.
    points_ : array of shape (n_fitted, n_features)
        The points fitted on.
    origin_ : array of shape (n_features,)
        What is taken off every row.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, n_features)
        The mean of the rows of each cluster, as prepared: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    n_fitted is the number of rows that the model was made from: without those that missing='drop' or sample left out.
    y is ignored, as scikit-learn's clusterers do.
    The command's name for it is kernel-kmeans; its options are described in docs/reference/kernel-kmeans.md, the method with its source in
    docs/methods.md.
    """

    _method = "kernel-kmeans"
    _options = {
        "n_clusters": "clusters", "kernel": "kernel", "width": "width", "gamma": "gamma", "constant": "constant", "degree": "degree",
        "n_init": "restarts", "max_iter": "max_iterations", "tol": "tolerance", "seeding_candidates": "seeding_candidates"
    }

    members_: np.ndarray
    mass_: np.ndarray
    self_: np.ndarray
    points_: np.ndarray
    origin_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        kernel: str = 'rbf',
        width: float | None = None,
        gamma: float | None = None,
        constant: float = 1.0,
        degree: int = 3,
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 0.0,
        seeding_candidates: int | None = None,
        init: Any = None,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.width = width
        self.gamma = gamma
        self.constant = constant
        self.degree = degree
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.seeding_candidates = seeding_candidates
        self.init = init
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class HDBSCAN(GivesMemberships, GivesOutlierScores, Clusterer):
    """HDBSCAN*: clusters of any density and number, and noise, from the tree of mutual reachability.

    Parameters
    ----------
    min_cluster_size : int, default=5
        Rows that a group must have to be a cluster; smaller ones are noise. A whole number, at least 2.
    min_samples : int, or None, default=None
        The core distance of a row is that to so many others: more of them make more rows noise. A whole number, at least 1. None:
        min_cluster_size.
    cluster_selection_method : {'eom', 'leaf'}, default='eom'
        The clusters of the tree that last longest (eom, excess of mass), or those that fall no further, which are more and smaller (leaf).
    cluster_selection_epsilon : float, default=0.0
        Clusters that part only at a distance below this stay together. A number, at least 0.
    allow_single_cluster : bool, default=False
        All rows may be one cluster.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    points_ : array of shape (n_fitted, n_features)
        The rows of the fit.
    core_distances_ : array of shape (n_fitted,)
        The distance of each row to its min_samples-th nearest.
    row_cluster_ : array of shape (n_fitted,)
        The last cluster of the condensed tree that each row is in.
    row_distance_ : array of shape (n_fitted,)
        The distance at which each row leaves that cluster.
    tree_parent_ : array of shape (c,)
        The cluster that each cluster of the condensed tree fell out of; -1 for the first, all rows.
    tree_birth_ : array of shape (c,)
        The distance at which it did; 0 for the first.
    probabilities_ : array of shape (n_samples,)
        How far each row is in its cluster; 0 for noise; NaN where missing='drop' left it out; of a loaded model those of points_.
    outlier_scores_ : array of shape (n_samples,)
        GLOSH of each row; NaN where missing='drop' left it out; of a loaded model those of points_.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    n_fitted is the number of rows that the model was made from: without those that missing='drop' or sample left out.
    y is ignored, as scikit-learn's clusterers do.
    The command's name for it is hdbscan; its options are described in docs/reference/hdbscan.md, the method with its source in
    docs/methods.md.
    """

    _method = "hdbscan"
    _options = {
        "min_cluster_size": "min_cluster_size", "min_samples": "min_samples", "cluster_selection_method": "cluster_selection_method",
        "cluster_selection_epsilon": "cluster_selection_epsilon", "allow_single_cluster": "allow_single_cluster"
    }

    points_: np.ndarray
    core_distances_: np.ndarray
    row_cluster_: np.ndarray
    row_distance_: np.ndarray
    tree_parent_: np.ndarray
    tree_birth_: np.ndarray
    probabilities_: np.ndarray
    outlier_scores_: np.ndarray
    column_range_: np.ndarray

    def __init__(
        self,
        min_cluster_size: int = 5,
        *,
        min_samples: int | None = None,
        cluster_selection_method: str = 'eom',
        cluster_selection_epsilon: float = 0.0,
        allow_single_cluster: bool = False,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.cluster_selection_method = cluster_selection_method
        self.cluster_selection_epsilon = cluster_selection_epsilon
        self.allow_single_cluster = allow_single_cluster
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Spectral(Transforms, GivesDistances, GivesOutlierScores, Clusterer):
    """Spectral clustering: eigenvectors of a graph of neighbours, of an rbf kernel or of given affinities.

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    affinity : {'neighbors', 'rbf', 'precomputed'}, default='neighbors'
        Graph of nearest neighbours, the rbf kernel of all pairs, or the points are the n x n affinities.
    n_neighbors : int, default=15
        Nearest neighbours of a point in the graph, itself not counted; n - 1 where there are fewer. A whole number, at least 1.
    edge_weights : {'connectivity', 'gaussian', 'self-tuning'}, default='connectivity'
        Of neighbours: 1, exp(-|x - y|^2 / (2 width^2)), or exp(-|x - y|^2 / (s_x s_y)) with s the distance to a point's 7th neighbour.
    symmetry : {'mean', 'maximum', 'mutual'}, default='mean'
        Affinity of a pair, one of which may not be a neighbour of the other: mean of both directions, the larger, or the smaller.
    width : float, or None, default=None
        Width of the rbf kernel and of gaussian edges. A number, above 0. None: the median distance to the last of the neighbours.
    n_init : int, default=10
        Of the k-means in the embedding. A whole number, at least 1.
    max_iter : int, default=300
        Of a k-means at most. A whole number, at least 1.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    vectors_ : array of shape (n_fitted, n_clusters)
        The eigenvectors over the square roots of the degrees.
    eigenvalues_ : array of shape (n_clusters,)
        Of the normalised Laplacian, ascending.
    cluster_centers_ : array of shape (n_clusters, n_clusters)
        The centroid of each cluster in the embedding.
    unreached_ : array of shape (1,)
        The cluster of what has no neighbour.
    points_ : array of shape (n_fitted, n_features)
        The points fitted on.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    n_fitted is the number of rows that the model was made from: without those that missing='drop' or sample left out.
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y is ignored, as scikit-learn's clusterers do.
    transform gives the rows in the space in which the method sees them.
    The command's name for it is spectral; its options are described in docs/reference/spectral.md, the method with its source in
    docs/methods.md.
    """

    _method = "spectral"
    _options = {
        "n_clusters": "clusters", "affinity": "affinity", "n_neighbors": "neighbors", "edge_weights": "edge_weights", "symmetry":
        "symmetry", "width": "width", "n_init": "restarts", "max_iter": "max_iterations"
    }
    _takes_graph = True

    vectors_: np.ndarray
    eigenvalues_: np.ndarray
    cluster_centers_: np.ndarray
    unreached_: np.ndarray
    points_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        affinity: str = 'neighbors',
        n_neighbors: int = 15,
        edge_weights: str = 'connectivity',
        symmetry: str = 'mean',
        width: float | None = None,
        n_init: int = 10,
        max_iter: int = 300,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.edge_weights = edge_weights
        self.symmetry = symmetry
        self.width = width
        self.n_init = n_init
        self.max_iter = max_iter
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Subspace(Transforms, GivesDistances, GivesLabelScores, GivesOutlierScores, BlockClusterer):
    """Constrained k-means with joint subspace selection: few labels, label shares, a learnt projection.

    Parameters
    ----------
    n_clusters : int, or 'auto', or None, default=None
        Number of clusters k. A whole number, at least 1. None: as many as the partial labels have. 'auto': chosen by seven criteria
        (cluster_choice_).
    assignment : {'hard', 'soft'}, default='hard'
        A point belongs to one cluster, or to each with a probability.
    temperature : float, default=1.0
        Of soft assignments, in squared units of the projected points: distances are divided by it. A number, above 0.
    projection : {'joint', 'none'}, default='joint'
        Learn the subspace together with the clusters, or keep the space as it is.
    subspace_dim : int, or None, default=None
        Dimension p of the subspace. A whole number, at least 1. None: one less than the clusters.
    normalization : {'within', 'total'}, default='within'
        Which variance is 1 in every direction of the subspace: that within clusters, or the total.
    shrinkage : str, default='oas'
        Of the covariances towards a multiple of the identity: oas (the oracle approximating rule), none, or a number from 0 to 1.
    max_iter : int, default=10
        Rounds of assignments, prototypes and subspace at most. A whole number, at least 1.
    passes : int, default=1
        Of assignments and prototypes per round. A whole number, from 1 to 1e+05.
    tol : float, default=1e-06
        Stop when no label changes and the objective changes by at most this share of it. A number, at least 0.
    soft_solver : {'newton', 'bregman'}, default='newton'
        How soft assignments meet the label shares: Newton's method on the groups' multipliers, or iterated Bregman projections.
    bregman_rounds : int, or None, default=None
        Bregman projections per assignment. A whole number, at least 1. None: until the shares are met.
    share_rounding : {'floor', 'nearest'}, default='floor'
        How a group's share of the points becomes a whole number of them (hard assignments).
    n_init : int, default=1
        Fits from different starts; the one is kept whose clusters have the least share of the variance in their subspace, or without one
        the least objective. A whole number, at least 1.
    init : array of shape (n_clusters, n_features), default=None
        The centroids to start from, in the units of X.
    clusters_per_label : dict, default=None
        How many clusters a label of y has: {label: number}; one where nothing is said.
    label_share : dict, default=None
        The share of all rows, labelled ones included, that the clusters of a label of y take: {label: 0.95}, or {label: (low, high)}.
    sizes : int or (int, int), default=None
        Every cluster takes at least the first and at most the second number of rows; either may be None.
    must_links : array of shape (n_pairs, 2), default=None
        Rows of X, by their numbers, that must be in one cluster.
    cannot_links : array of shape (n_pairs, 2), default=None
        Rows of X, by their numbers, that must not be in one cluster.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    checkpoint : str, default=None
        A file that keeps the state of the fit, so that one that was cut off goes on from it.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    cluster_labels_ : array of shape (n_clusters,)
        The label of y that each cluster belongs to, of a fit with y; -1 or None for a cluster of no label.
    prototypes_ : array of shape (n_clusters, n_features)
        The mean of each cluster.
    directions_ : array of shape (p, n_features)
        The directions of the subspace, scaled; without them every direction counts.
    origin_ : array of shape (n_features,)
        What is taken off every row.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    y holds what is known of the labels, with -1, None or NaN where none is: a labelled row goes to a cluster of its label. A y that has a
    label for every row is ignored, with a warning: it is a truth to compare with. With n_clusters=None there are as many clusters as the
    labels have together.
    X may be a list of .npy files, or an iterator over blocks of rows (arrays or tables), which are written once to a temporary file: either
    is read in blocks and need not fit into memory. Several processes may work on one fit (comm of fit).
    transform gives the rows in the space in which the method sees them.
    The command's name for it is subspace; its options are described in docs/reference/subspace.md, the method with its source in
    docs/methods.md.
    """

    _method = "subspace"
    _options = {
        "n_clusters": "clusters", "assignment": "assignment", "temperature": "temperature", "projection": "projection", "subspace_dim":
        "subspace_dim", "normalization": "normalization", "shrinkage": "shrinkage", "max_iter": "max_iterations", "passes": "passes", "tol":
        "tolerance", "soft_solver": "soft_solver", "bregman_rounds": "bregman_rounds", "share_rounding": "share_rounding", "n_init":
        "restarts"
    }
    _blocks = True
    _takes_labels = True

    prototypes_: np.ndarray
    directions_: np.ndarray
    origin_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] | None = None,
        *,
        assignment: str = 'hard',
        temperature: float = 1.0,
        projection: str = 'joint',
        subspace_dim: int | None = None,
        normalization: str = 'within',
        shrinkage: str = 'oas',
        max_iter: int = 10,
        passes: int = 1,
        tol: float = 1e-06,
        soft_solver: str = 'newton',
        bregman_rounds: int | None = None,
        share_rounding: str = 'floor',
        n_init: int = 1,
        init: Any = None,
        clusters_per_label: Mapping[Any, int] | None = None,
        label_share: Mapping[Any, Any] | None = None,
        sizes: int | tuple[int | None, int | None] | None = None,
        must_links: Any = None,
        cannot_links: Any = None,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        checkpoint: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.assignment = assignment
        self.temperature = temperature
        self.projection = projection
        self.subspace_dim = subspace_dim
        self.normalization = normalization
        self.shrinkage = shrinkage
        self.max_iter = max_iter
        self.passes = passes
        self.tol = tol
        self.soft_solver = soft_solver
        self.bregman_rounds = bregman_rounds
        self.share_rounding = share_rounding
        self.n_init = n_init
        self.init = init
        self.clusters_per_label = clusters_per_label
        self.label_share = label_share
        self.sizes = sizes
        self.must_links = must_links
        self.cannot_links = cannot_links
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Cpd(Transforms, GivesDistances, GivesOutlierScores, Clusterer):
    """CPD-UML: clusters made compact by a smooth deformation of the space, linear and kernel.

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    lambda_value : float, or None, default=None
        Weight of the motion's squared size. A number, above 0. None: lambda_rel n^2.
    lambda_rel : float, default=0.0025
        Lambda in units of n^2. A number, above 0.
    sigma : float, or None, default=None
        Width of the motion: points closer than this move together. A number, above 0. None: sigma_rel r.
    sigma_rel : float, default=1.05
        Sigma in units of r, the root mean square distance of the points from their mean. A number, above 0.
    kernel : {'none', 'rbf'}, default='none'
        Take the points themselves, or their principal components in a Gaussian kernel's feature space.
    kernel_width : float, or None, default=None
        Width w of that kernel, exp(-||x - y||^2 / (2 w^2)). A number, above 0. None: r, the root mean square distance of the points from
        their mean.
    n_components : int, or None, default=None
        Of kernel PCA. A whole number, at least 1. None: all there are.
    landmarks : int, or None, default=None
        Points by which Gaussian kernel matrices are taken (Nystroem form), for memory n landmarks. A whole number, at least 1. None: whole
        matrices for up to 20,000 points, 1000 landmarks beyond.
    indicator : {'discrete', 'relaxed'}, default='discrete'
        What the motion makes compact: the clusters, or the relaxation by leading singular vectors.
    labels_from : {'moved', 'embedding'}, default='moved'
        Cluster the moved points, or the whitened embedding by their leading singular vectors.
    origin : {'mean', 'zero'}, default='mean'
        Of the relaxed indicator: about the mean with k - 1 vectors, or the points as they are with k.
    damping : float, default=0.0
        Share of the last motion that is kept in the first rounds. A number, from 0 to 0.99.
    damped_rounds : int, default=60
        How many rounds are damped. A whole number, at least 0.
    assignments_per_round : int, or None, default=None
        Of points to the nearest mean per round. A whole number, at least 1. None: until none changes.
    n_init : int, default=10
        Of the k-means that it starts from. A whole number, at least 1.
    max_iter : int, default=100
        Undamped rounds at most. A whole number, at least 1.
    tol : float, default=1e-06
        Stop when no label changes and the objective changes by at most this share of it. A number, at least 0.
    init : array of shape (n_clusters, n_features), default=None
        The centroids to start from, in the units of X.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    origin_ : array of shape (p,)
        What is taken off every row of the space.
    points_ : array of shape (n_fitted, p)
        The points fitted on, in their space.
    coefficients_ : array of shape (n_fitted, p)
        How far each of them moves what is near to it.
    cluster_centers_ : array of shape (n_clusters, p)
        The centroid of each cluster, where it is told.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    n_fitted is the number of rows that the model was made from: without those that missing='drop' or sample left out.
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y is ignored, as scikit-learn's clusterers do.
    transform gives the rows in the space in which the method sees them.
    The command's name for it is cpd; its options are described in docs/reference/cpd.md, the method with its source in docs/methods.md.
    """

    _method = "cpd"
    _options = {
        "n_clusters": "clusters", "lambda_value": "lambda", "lambda_rel": "lambda_rel", "sigma": "sigma", "sigma_rel": "sigma_rel",
        "kernel": "kernel", "kernel_width": "kernel_width", "n_components": "components", "landmarks": "landmarks", "indicator":
        "indicator", "labels_from": "labels_from", "origin": "origin", "damping": "damping", "damped_rounds": "damped_rounds",
        "assignments_per_round": "assignments_per_round", "n_init": "restarts", "max_iter": "max_iterations", "tol": "tolerance"
    }

    origin_: np.ndarray
    points_: np.ndarray
    coefficients_: np.ndarray
    cluster_centers_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        lambda_value: float | None = None,
        lambda_rel: float = 0.0025,
        sigma: float | None = None,
        sigma_rel: float = 1.05,
        kernel: str = 'none',
        kernel_width: float | None = None,
        n_components: int | None = None,
        landmarks: int | None = None,
        indicator: str = 'discrete',
        labels_from: str = 'moved',
        origin: str = 'mean',
        damping: float = 0.0,
        damped_rounds: int = 60,
        assignments_per_round: int | None = None,
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 1e-06,
        init: Any = None,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lambda_value = lambda_value
        self.lambda_rel = lambda_rel
        self.sigma = sigma
        self.sigma_rel = sigma_rel
        self.kernel = kernel
        self.kernel_width = kernel_width
        self.n_components = n_components
        self.landmarks = landmarks
        self.indicator = indicator
        self.labels_from = labels_from
        self.origin = origin
        self.damping = damping
        self.damped_rounds = damped_rounds
        self.assignments_per_round = assignments_per_round
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Aml(Transforms, GivesDistances, GivesOutlierScores, Clusterer):
    """Adaptive metric learning: a linear metric and the clusters learnt together, linear and kernel.

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    lambda_value : float, or None, default=None
        Ridge of the metric. A number, above 0. None: lambda_rel times the mean eigenvalue of X'X.
    lambda_rel : float, default=0.1
        Lambda in units of tr(X'X) / q, the mean eigenvalue of the scatter matrix. A number, from 1e-12 to 1e+12.
    dimensions : int, or None, default=None
        Directions of the metric, at most k - 1. A whole number, at least 1. None: k - 1.
    kernel : {'none', 'rbf'}, default='none'
        Take the points themselves, or their principal components in a Gaussian kernel's feature space.
    kernel_width : float, or None, default=None
        Width w of that kernel, exp(-||x - y||^2 / (2 w^2)). A number, above 0. None: r, the root mean square distance of the points from
        their mean.
    n_components : int, or None, default=None
        Of kernel PCA. A whole number, at least 1. None: all there are.
    landmarks : int, or None, default=None
        Points by which Gaussian kernel matrices are taken (Nystroem form), for memory n landmarks. A whole number, at least 1. None: whole
        matrices for up to 20,000 points, 1000 landmarks beyond.
    n_init : int, default=10
        Of the k-means that it starts from. A whole number, at least 1.
    max_iter : int, default=100
        Rounds at most. A whole number, at least 1.
    tol : float, default=0.0
        Stop when the objective falls by at most this share of it; 0: when no label changes. A number, at least 0.
    init : array of shape (n_clusters, n_features), default=None
        The centroids to start from, in the units of X.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    directions_ : array of shape (p, c)
        The directions of the projection, in the space.
    origin_ : array of shape (p,)
        What is taken off every row of the space.
    offset_ : array of shape (c,)
        What is taken off every projected row.
    cluster_centers_ : array of shape (n_clusters, c)
        The centroid of each cluster, projected.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y is ignored, as scikit-learn's clusterers do.
    transform gives the rows in the space in which the method sees them.
    The command's name for it is aml; its options are described in docs/reference/aml.md, the method with its source in docs/methods.md.
    """

    _method = "aml"
    _options = {
        "n_clusters": "clusters", "lambda_value": "lambda", "lambda_rel": "lambda_rel", "dimensions": "dimensions", "kernel": "kernel",
        "kernel_width": "kernel_width", "n_components": "components", "landmarks": "landmarks", "n_init": "restarts", "max_iter":
        "max_iterations", "tol": "tolerance"
    }

    directions_: np.ndarray
    origin_: np.ndarray
    offset_: np.ndarray
    cluster_centers_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        lambda_value: float | None = None,
        lambda_rel: float = 0.1,
        dimensions: int | None = None,
        kernel: str = 'none',
        kernel_width: float | None = None,
        n_components: int | None = None,
        landmarks: int | None = None,
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 0.0,
        init: Any = None,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lambda_value = lambda_value
        self.lambda_rel = lambda_rel
        self.dimensions = dimensions
        self.kernel = kernel
        self.kernel_width = kernel_width
        self.n_components = n_components
        self.landmarks = landmarks
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class RpcaOm(Transforms, GivesDistances, GivesOutlierScores, Clusterer):
    """Robust PCA with optimal mean, and k-means in its subspace, linear and kernel.

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    dimensions : int, or None, default=None
        Of the subspace. A whole number, at least 1. None: k - 1, or all there are when they are fewer.
    kernel : {'none', 'rbf'}, default='none'
        Take the points themselves, or their principal components in a Gaussian kernel's feature space.
    kernel_width : float, or None, default=None
        Width w of that kernel, exp(-||x - y||^2 / (2 w^2)). A number, above 0. None: r, the root mean square distance of the points from
        their mean.
    n_components : int, or None, default=None
        Of kernel PCA. A whole number, at least 1. None: all there are.
    landmarks : int, or None, default=None
        Points by which Gaussian kernel matrices are taken (Nystroem form), for memory n landmarks. A whole number, at least 1. None: whole
        matrices for up to 20,000 points, 1000 landmarks beyond.
    n_init : int, default=10
        Of the k-means in the subspace. A whole number, at least 1.
    max_iter : int, default=100
        Re-weightings at most. A whole number, at least 1.
    tol : float, default=1e-06
        Stop when the objective falls by at most this share of it. A number, at least 0.
    init : array of shape (n_clusters, n_features), default=None
        The centroids to start from, in the units of X.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    directions_ : array of shape (p, c)
        The directions of the projection, in the space.
    origin_ : array of shape (p,)
        What is taken off every row of the space.
    offset_ : array of shape (c,)
        What is taken off every projected row.
    cluster_centers_ : array of shape (n_clusters, c)
        The centroid of each cluster, projected.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y is ignored, as scikit-learn's clusterers do.
    transform gives the rows in the space in which the method sees them.
    The command's name for it is rpca-om; its options are described in docs/reference/rpca-om.md, the method with its source in
    docs/methods.md.
    """

    _method = "rpca-om"
    _options = {
        "n_clusters": "clusters", "dimensions": "dimensions", "kernel": "kernel", "kernel_width": "kernel_width", "n_components":
        "components", "landmarks": "landmarks", "n_init": "restarts", "max_iter": "max_iterations", "tol": "tolerance"
    }

    directions_: np.ndarray
    origin_: np.ndarray
    offset_: np.ndarray
    cluster_centers_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        dimensions: int | None = None,
        kernel: str = 'none',
        kernel_width: float | None = None,
        n_components: int | None = None,
        landmarks: int | None = None,
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 1e-06,
        init: Any = None,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.dimensions = dimensions
        self.kernel = kernel
        self.kernel_width = kernel_width
        self.n_components = n_components
        self.landmarks = landmarks
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Fme(Transforms, GivesDistances, GivesOutlierScores, Clusterer):
    """Flexible manifold embedding: a graph's embedding and the regression to it, linear and kernel.

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    mu : float, or None, default=None
        Weight of the regression. A number, above 0. None: mu_rel / gamma.
    mu_rel : float, default=1.0
        Mu times gamma: weight of the regression's squared residual beside the graph's cut. A number, from 1e-12 to 1e+12.
    gamma : float, or None, default=None
        Weight of the residual beside the size of W. A number, above 0. None: gamma_rel over the mean eigenvalue of X'X.
    gamma_rel : float, default=1.0
        Gamma in units of q / tr(X'X), one over the mean eigenvalue of the scatter matrix. A number, from 1e-12 to 1e+12.
    n_neighbors : int, default=10
        Of a point in the graph, at most n - 1. A whole number, at least 1.
    dimensions : int, or None, default=None
        Of the embedding. A whole number, at least 1. None: k - 1.
    kernel : {'none', 'rbf'}, default='none'
        Take the points themselves, or their principal components in a Gaussian kernel's feature space.
    kernel_width : float, or None, default=None
        Width w of that kernel, exp(-||x - y||^2 / (2 w^2)). A number, above 0. None: r, the root mean square distance of the points from
        their mean.
    n_components : int, or None, default=None
        Of kernel PCA. A whole number, at least 1. None: all there are.
    landmarks : int, or None, default=None
        Points by which Gaussian kernel matrices are taken (Nystroem form), for memory n landmarks. A whole number, at least 1. None: whole
        matrices for up to 20,000 points, 1000 landmarks beyond.
    labels_from : {'regression', 'embedding'}, default='regression'
        Cluster what the regression makes of the points, or the embedding that it approximates.
    n_init : int, default=10
        Of the k-means. A whole number, at least 1.
    init : array of shape (n_clusters, n_features), default=None
        The centroids to start from, in the units of X.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    directions_ : array of shape (p, c)
        The directions of the projection, in the space.
    origin_ : array of shape (p,)
        What is taken off every row of the space.
    offset_ : array of shape (c,)
        What is taken off every projected row.
    cluster_centers_ : array of shape (n_clusters, c)
        The centroid of each cluster, projected.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y is ignored, as scikit-learn's clusterers do.
    transform gives the rows in the space in which the method sees them.
    The command's name for it is fme; its options are described in docs/reference/fme.md, the method with its source in docs/methods.md.
    """

    _method = "fme"
    _options = {
        "n_clusters": "clusters", "mu": "mu", "mu_rel": "mu_rel", "gamma": "gamma", "gamma_rel": "gamma_rel", "n_neighbors": "neighbors",
        "dimensions": "dimensions", "kernel": "kernel", "kernel_width": "kernel_width", "n_components": "components", "landmarks":
        "landmarks", "labels_from": "labels_from", "n_init": "restarts"
    }

    directions_: np.ndarray
    origin_: np.ndarray
    offset_: np.ndarray
    cluster_centers_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        mu: float | None = None,
        mu_rel: float = 1.0,
        gamma: float | None = None,
        gamma_rel: float = 1.0,
        n_neighbors: int = 10,
        dimensions: int | None = None,
        kernel: str = 'none',
        kernel_width: float | None = None,
        n_components: int | None = None,
        landmarks: int | None = None,
        labels_from: str = 'regression',
        n_init: int = 10,
        init: Any = None,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.mu = mu
        self.mu_rel = mu_rel
        self.gamma = gamma
        self.gamma_rel = gamma_rel
        self.n_neighbors = n_neighbors
        self.dimensions = dimensions
        self.kernel = kernel
        self.kernel_width = kernel_width
        self.n_components = n_components
        self.landmarks = landmarks
        self.labels_from = labels_from
        self.n_init = n_init
        self.init = init
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Entropy(GivesMemberships, GivesLabelScores, GivesOutlierScores, BlockClusterer):
    """Discriminative entropy clustering: a linear softmax model, decisive and fair.

    Parameters
    ----------
    n_clusters : int, or 'auto', or None, default=8
        Number of clusters k. A whole number, at least 1. None: as many as the partial labels have. 'auto': chosen by seven criteria
        (cluster_choice_).
    gamma : float, default=0.003
        Weight of the weights' squared norm, the points in units of their spread. A number, at least 0.
    gamma_start : float, or None, default=None
        Lbfgs: gamma falls geometrically from this over the epochs. A number, above 0. None: gamma does not change.
    optimizer : {'sgd', 'lbfgs'}, default='sgd'
        Gradient descent on batches, or L-BFGS on all points.
    learning_rate : float, default=0.1
        Sgd: step per unit of gradient, the points in units of their spread. A number, above 0.
    momentum : float, default=0.9
        Sgd: share of the last step that is kept. A number, from 0 to 0.999.
    epochs : int, default=50
        Passes over the points; lbfgs: new labels and up to 100 iterations each. A whole number, at least 1.
    batch_size : int, default=250
        Sgd: points per batch. A whole number, at least 1.
    origin : {'mean', 'zero'}, default='mean'
        What the points are taken about while training: their mean, or 0.
    start_scale : float, default=0.15
        Root mean square of the first logits. A number, above 0 and at most 1e+06.
    label_weight : float, default=1.0
        Weight of the partial labels' own loss. A number, at least 0.
    n_init : int, default=1
        Fits from different starts; the one with the least sum of the predictions' mean entropy and their mean's divergence from the prior
        is kept. A whole number, at least 1.
    loss : {'self-label', 'mi', 'renyi'}, default='self-label'
        Reverse cross-entropy with labels solved for, or the entropy of the predictions of order 1 or alpha.
    alpha : float, default=1.0
        Order of loss='renyi'; 0 stands for infinity. A number, at least 0.
    lambda_value : float, default=100.0
        Self-label: weight of the prior's divergence from the mean label. A number, above 0 and at most 1e+06.
    fairness : float, default=1.0
        Mi, renyi: weight of the mean prediction's divergence from the prior. A number, at least 0.
    prior : list of float, or None, default=None
        Share of each cluster: k numbers that sum to 1. A list of numbers, above 0. None: equal shares.
    label_solver : {'em', 'dual'}, default='em'
        Self-label: label_rounds rounds of EM, or the optimum itself by Newton's method on the dual.
    label_rounds : int, default=10
        Of EM; many more come near the optimum, and to worse clusters. A whole number, at least 1.
    labels_per : {'batch', 'epoch'}, default='batch'
        Self-label: when labels are renewed.
    clusters_per_label : dict, default=None
        How many clusters a label of y has: {label: number}; one where nothing is said.
    label_share : dict, default=None
        The share of all rows, labelled ones included, that the clusters of a label of y take: {label: 0.95}.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    checkpoint : str, default=None
        A file that keeps the state of the fit, so that one that was cut off goes on from it.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    cluster_labels_ : array of shape (n_clusters,)
        The label of y that each cluster belongs to, of a fit with y; -1 or None for a cluster of no label.
    weights_ : array of shape (n_clusters, n_features)
        V of the linear softmax model.
    bias_ : array of shape (1, n_clusters)
        B of the linear softmax model.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, n_features)
        The mean of the rows of each cluster, as prepared: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    y holds what is known of the labels, with -1, None or NaN where none is: a labelled row goes to a cluster of its label. A y that has a
    label for every row is ignored, with a warning: it is a truth to compare with. With n_clusters=None there are as many clusters as the
    labels have together.
    X may be a list of .npy files, or an iterator over blocks of rows (arrays or tables), which are written once to a temporary file: either
    is read in blocks and need not fit into memory. Several processes may work on one fit (comm of fit).
    The command's name for it is entropy; its options are described in docs/reference/entropy.md, the method with its source in
    docs/methods.md.
    """

    _method = "entropy"
    _options = {
        "n_clusters": "clusters", "gamma": "gamma", "gamma_start": "gamma_start", "optimizer": "optimizer", "learning_rate":
        "learning_rate", "momentum": "momentum", "epochs": "epochs", "batch_size": "batch_size", "origin": "origin", "start_scale":
        "start_scale", "label_weight": "label_weight", "n_init": "restarts", "loss": "loss", "alpha": "alpha", "lambda_value": "lambda",
        "fairness": "fairness", "prior": "prior", "label_solver": "label_solver", "label_rounds": "label_rounds", "labels_per": "labels_per"
    }
    _blocks = True
    _takes_labels = True

    weights_: np.ndarray
    bias_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] | None = 8,
        *,
        gamma: float = 0.003,
        gamma_start: float | None = None,
        optimizer: str = 'sgd',
        learning_rate: float = 0.1,
        momentum: float = 0.9,
        epochs: int = 50,
        batch_size: int = 250,
        origin: str = 'mean',
        start_scale: float = 0.15,
        label_weight: float = 1.0,
        n_init: int = 1,
        loss: str = 'self-label',
        alpha: float = 1.0,
        lambda_value: float = 100.0,
        fairness: float = 1.0,
        prior: Sequence[float] | None = None,
        label_solver: str = 'em',
        label_rounds: int = 10,
        labels_per: str = 'batch',
        clusters_per_label: Mapping[Any, int] | None = None,
        label_share: Mapping[Any, Any] | None = None,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        checkpoint: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.gamma_start = gamma_start
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.epochs = epochs
        self.batch_size = batch_size
        self.origin = origin
        self.start_scale = start_scale
        self.label_weight = label_weight
        self.n_init = n_init
        self.loss = loss
        self.alpha = alpha
        self.lambda_value = lambda_value
        self.fairness = fairness
        self.prior = prior
        self.label_solver = label_solver
        self.label_rounds = label_rounds
        self.labels_per = labels_per
        self.clusters_per_label = clusters_per_label
        self.label_share = label_share
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Mi(GivesMemberships, GivesLabelScores, GivesOutlierScores, BlockClusterer):
    """Mutual information of points and clusters, maximised by gradient descent (MIGD).

    Parameters
    ----------
    n_clusters : int, or 'auto', or None, default=8
        Number of clusters k. A whole number, at least 1. None: as many as the partial labels have. 'auto': chosen by seven criteria
        (cluster_choice_).
    gamma : float, default=0.003
        Weight of the weights' squared norm, the points in units of their spread. A number, at least 0.
    gamma_start : float, or None, default=None
        Lbfgs: gamma falls geometrically from this over the epochs. A number, above 0. None: gamma does not change.
    optimizer : {'sgd', 'lbfgs'}, default='sgd'
        Gradient descent on batches, or L-BFGS on all points.
    learning_rate : float, default=0.1
        Sgd: step per unit of gradient, the points in units of their spread. A number, above 0.
    momentum : float, default=0.9
        Sgd: share of the last step that is kept. A number, from 0 to 0.999.
    epochs : int, default=50
        Passes over the points; lbfgs: new labels and up to 100 iterations each. A whole number, at least 1.
    batch_size : int, default=250
        Sgd: points per batch. A whole number, at least 1.
    origin : {'mean', 'zero'}, default='mean'
        What the points are taken about while training: their mean, or 0.
    start_scale : float, default=0.15
        Root mean square of the first logits. A number, above 0 and at most 1e+06.
    label_weight : float, default=1.0
        Weight of the partial labels' own loss. A number, at least 0.
    n_init : int, default=1
        Fits from different starts; the one with the least sum of the predictions' mean entropy and their mean's divergence from the prior
        is kept. A whole number, at least 1.
    fairness : float, default=1.0
        Weight of the mean prediction's divergence from the prior. A number, at least 0.
    prior : list of float, or None, default=None
        Share of each cluster: k numbers that sum to 1. A list of numbers, above 0. None: equal shares.
    clusters_per_label : dict, default=None
        How many clusters a label of y has: {label: number}; one where nothing is said.
    label_share : dict, default=None
        The share of all rows, labelled ones included, that the clusters of a label of y take: {label: 0.95}.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    checkpoint : str, default=None
        A file that keeps the state of the fit, so that one that was cut off goes on from it.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    cluster_labels_ : array of shape (n_clusters,)
        The label of y that each cluster belongs to, of a fit with y; -1 or None for a cluster of no label.
    weights_ : array of shape (n_clusters, n_features)
        V of the linear softmax model.
    bias_ : array of shape (1, n_clusters)
        B of the linear softmax model.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, n_features)
        The mean of the rows of each cluster, as prepared: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    y holds what is known of the labels, with -1, None or NaN where none is: a labelled row goes to a cluster of its label. A y that has a
    label for every row is ignored, with a warning: it is a truth to compare with. With n_clusters=None there are as many clusters as the
    labels have together.
    X may be a list of .npy files, or an iterator over blocks of rows (arrays or tables), which are written once to a temporary file: either
    is read in blocks and need not fit into memory. Several processes may work on one fit (comm of fit).
    The command's name for it is mi; its options are described in docs/reference/mi.md, the method with its source in docs/methods.md.
    """

    _method = "mi"
    _options = {
        "n_clusters": "clusters", "gamma": "gamma", "gamma_start": "gamma_start", "optimizer": "optimizer", "learning_rate":
        "learning_rate", "momentum": "momentum", "epochs": "epochs", "batch_size": "batch_size", "origin": "origin", "start_scale":
        "start_scale", "label_weight": "label_weight", "n_init": "restarts", "fairness": "fairness", "prior": "prior"
    }
    _blocks = True
    _takes_labels = True

    weights_: np.ndarray
    bias_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] | None = 8,
        *,
        gamma: float = 0.003,
        gamma_start: float | None = None,
        optimizer: str = 'sgd',
        learning_rate: float = 0.1,
        momentum: float = 0.9,
        epochs: int = 50,
        batch_size: int = 250,
        origin: str = 'mean',
        start_scale: float = 0.15,
        label_weight: float = 1.0,
        n_init: int = 1,
        fairness: float = 1.0,
        prior: Sequence[float] | None = None,
        clusters_per_label: Mapping[Any, int] | None = None,
        label_share: Mapping[Any, Any] | None = None,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        checkpoint: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.gamma_start = gamma_start
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.epochs = epochs
        self.batch_size = batch_size
        self.origin = origin
        self.start_scale = start_scale
        self.label_weight = label_weight
        self.n_init = n_init
        self.fairness = fairness
        self.prior = prior
        self.clusters_per_label = clusters_per_label
        self.label_share = label_share
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Sela(GivesMemberships, GivesLabelScores, GivesOutlierScores, BlockClusterer):
    """Self-labelling by optimal transport: a linear softmax model of balanced hard labels.

    Parameters
    ----------
    n_clusters : int, or 'auto', or None, default=8
        Number of clusters k. A whole number, at least 1. None: as many as the partial labels have. 'auto': chosen by seven criteria
        (cluster_choice_).
    gamma : float, default=0.03
        Weight of the weights' squared norm, the points in units of their spread. A number, at least 0.
    gamma_start : float, or None, default=None
        Lbfgs: gamma falls geometrically from this over the epochs. A number, above 0. None: gamma does not change.
    optimizer : {'sgd', 'lbfgs'}, default='sgd'
        Gradient descent on batches, or L-BFGS on all points.
    learning_rate : float, default=0.01
        Sgd: step per unit of gradient, the points in units of their spread. A number, above 0.
    momentum : float, default=0.9
        Sgd: share of the last step that is kept. A number, from 0 to 0.999.
    epochs : int, default=50
        Passes over the points; lbfgs: new labels and up to 100 iterations each. A whole number, at least 1.
    batch_size : int, default=250
        Sgd: points per batch. A whole number, at least 1.
    origin : {'mean', 'zero'}, default='mean'
        What the points are taken about while training: their mean, or 0.
    start_scale : float, default=0.15
        Root mean square of the first logits. A number, above 0 and at most 1e+06.
    label_weight : float, default=1.0
        Weight of the partial labels' own loss. A number, at least 0.
    n_init : int, default=1
        Fits from different starts; the one with the least sum of the predictions' mean entropy and their mean's divergence from the prior
        is kept. A whole number, at least 1.
    sharpness : float, default=25.0
        Of the transport: the power of the predictions whose row and column sums it scales. A number, from 1e-06 to 1e+06.
    prior : list of float, or None, default=None
        Share of each cluster: k numbers that sum to 1. A list of numbers, above 0. None: equal shares.
    labels_per : {'batch', 'epoch'}, default='epoch'
        When labels are renewed.
    clusters_per_label : dict, default=None
        How many clusters a label of y has: {label: number}; one where nothing is said.
    label_share : dict, default=None
        The share of all rows, labelled ones included, that the clusters of a label of y take: {label: 0.95}.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    checkpoint : str, default=None
        A file that keeps the state of the fit, so that one that was cut off goes on from it.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    cluster_labels_ : array of shape (n_clusters,)
        The label of y that each cluster belongs to, of a fit with y; -1 or None for a cluster of no label.
    weights_ : array of shape (n_clusters, n_features)
        V of the linear softmax model.
    bias_ : array of shape (1, n_clusters)
        B of the linear softmax model.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, n_features)
        The mean of the rows of each cluster, as prepared: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    y holds what is known of the labels, with -1, None or NaN where none is: a labelled row goes to a cluster of its label. A y that has a
    label for every row is ignored, with a warning: it is a truth to compare with. With n_clusters=None there are as many clusters as the
    labels have together.
    X may be a list of .npy files, or an iterator over blocks of rows (arrays or tables), which are written once to a temporary file: either
    is read in blocks and need not fit into memory. Several processes may work on one fit (comm of fit).
    The command's name for it is sela; its options are described in docs/reference/sela.md, the method with its source in docs/methods.md.
    """

    _method = "sela"
    _options = {
        "n_clusters": "clusters", "gamma": "gamma", "gamma_start": "gamma_start", "optimizer": "optimizer", "learning_rate":
        "learning_rate", "momentum": "momentum", "epochs": "epochs", "batch_size": "batch_size", "origin": "origin", "start_scale":
        "start_scale", "label_weight": "label_weight", "n_init": "restarts", "sharpness": "sharpness", "prior": "prior", "labels_per":
        "labels_per"
    }
    _blocks = True
    _takes_labels = True

    weights_: np.ndarray
    bias_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] | None = 8,
        *,
        gamma: float = 0.03,
        gamma_start: float | None = None,
        optimizer: str = 'sgd',
        learning_rate: float = 0.01,
        momentum: float = 0.9,
        epochs: int = 50,
        batch_size: int = 250,
        origin: str = 'mean',
        start_scale: float = 0.15,
        label_weight: float = 1.0,
        n_init: int = 1,
        sharpness: float = 25.0,
        prior: Sequence[float] | None = None,
        labels_per: str = 'epoch',
        clusters_per_label: Mapping[Any, int] | None = None,
        label_share: Mapping[Any, Any] | None = None,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        checkpoint: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.gamma_start = gamma_start
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.epochs = epochs
        self.batch_size = batch_size
        self.origin = origin
        self.start_scale = start_scale
        self.label_weight = label_weight
        self.n_init = n_init
        self.sharpness = sharpness
        self.prior = prior
        self.labels_per = labels_per
        self.clusters_per_label = clusters_per_label
        self.label_share = label_share
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Miadm(GivesMemberships, GivesLabelScores, GivesOutlierScores, BlockClusterer):
    """Self-labelling by alternating directions: a linear softmax model of soft labels.

    Parameters
    ----------
    n_clusters : int, or 'auto', or None, default=8
        Number of clusters k. A whole number, at least 1. None: as many as the partial labels have. 'auto': chosen by seven criteria
        (cluster_choice_).
    gamma : float, default=0.003
        Weight of the weights' squared norm, the points in units of their spread. A number, at least 0.
    gamma_start : float, or None, default=None
        Lbfgs: gamma falls geometrically from this over the epochs. A number, above 0. None: gamma does not change.
    optimizer : {'sgd', 'lbfgs'}, default='sgd'
        Gradient descent on batches, or L-BFGS on all points.
    learning_rate : float, default=0.1
        Sgd: step per unit of gradient, the points in units of their spread. A number, above 0.
    momentum : float, default=0.9
        Sgd: share of the last step that is kept. A number, from 0 to 0.999.
    epochs : int, default=50
        Passes over the points; lbfgs: new labels and up to 100 iterations each. A whole number, at least 1.
    batch_size : int, default=250
        Sgd: points per batch. A whole number, at least 1.
    origin : {'mean', 'zero'}, default='mean'
        What the points are taken about while training: their mean, or 0.
    start_scale : float, default=0.15
        Root mean square of the first logits. A number, above 0 and at most 1e+06.
    label_weight : float, default=1.0
        Weight of the partial labels' own loss. A number, at least 0.
    n_init : int, default=1
        Fits from different starts; the one with the least sum of the predictions' mean entropy and their mean's divergence from the prior
        is kept. A whole number, at least 1.
    labels_per : {'batch', 'epoch'}, default='epoch'
        When labels are renewed (batch: MIADM*).
    clusters_per_label : dict, default=None
        How many clusters a label of y has: {label: number}; one where nothing is said.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    checkpoint : str, default=None
        A file that keeps the state of the fit, so that one that was cut off goes on from it.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    cluster_labels_ : array of shape (n_clusters,)
        The label of y that each cluster belongs to, of a fit with y; -1 or None for a cluster of no label.
    weights_ : array of shape (n_clusters, n_features)
        V of the linear softmax model.
    bias_ : array of shape (1, n_clusters)
        B of the linear softmax model.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, n_features)
        The mean of the rows of each cluster, as prepared: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    y holds what is known of the labels, with -1, None or NaN where none is: a labelled row goes to a cluster of its label. A y that has a
    label for every row is ignored, with a warning: it is a truth to compare with. With n_clusters=None there are as many clusters as the
    labels have together.
    X may be a list of .npy files, or an iterator over blocks of rows (arrays or tables), which are written once to a temporary file: either
    is read in blocks and need not fit into memory. Several processes may work on one fit (comm of fit).
    The command's name for it is miadm; its options are described in docs/reference/miadm.md, the method with its source in docs/methods.md.
    """

    _method = "miadm"
    _options = {
        "n_clusters": "clusters", "gamma": "gamma", "gamma_start": "gamma_start", "optimizer": "optimizer", "learning_rate":
        "learning_rate", "momentum": "momentum", "epochs": "epochs", "batch_size": "batch_size", "origin": "origin", "start_scale":
        "start_scale", "label_weight": "label_weight", "n_init": "restarts", "labels_per": "labels_per"
    }
    _blocks = True
    _takes_labels = True

    weights_: np.ndarray
    bias_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] | None = 8,
        *,
        gamma: float = 0.003,
        gamma_start: float | None = None,
        optimizer: str = 'sgd',
        learning_rate: float = 0.1,
        momentum: float = 0.9,
        epochs: int = 50,
        batch_size: int = 250,
        origin: str = 'mean',
        start_scale: float = 0.15,
        label_weight: float = 1.0,
        n_init: int = 1,
        labels_per: str = 'epoch',
        clusters_per_label: Mapping[Any, int] | None = None,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        checkpoint: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.gamma_start = gamma_start
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.epochs = epochs
        self.batch_size = batch_size
        self.origin = origin
        self.start_scale = start_scale
        self.label_weight = label_weight
        self.n_init = n_init
        self.labels_per = labels_per
        self.clusters_per_label = clusters_per_label
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Wmc(Transforms, GivesOutlierScores, Clusterer):
    """Weighted manifold clustering: sparse representations in which near points are cheaper.

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    weighting : {'exponential', 'linear'}, default='exponential'
        What another point costs in a representation: exp(2 distance), or its distance.
    lambda_value : float, default=50.0
        Fidelity, as a multiple of each point's smallest that takes any other point. A number, above 0.
    eta : float, or None, default=None
        Square of the coordinate added to every row. A number, at least 0. None: 1 (exponential) or 0.2 (linear) times the rows' mean
        squared norm.
    normalize : {'auto', 'unit', 'none'}, default='auto'
        Scale every row to norm 1, or leave it; auto: unit rows with exponential weights, as given with linear ones.
    affinity : {'N', 'S', 'K', 'NK', 'KN', 'SN', 'NS', 'SK', 'KS', 'SNK', 'SKN', 'KSN', 'KNS', 'NSK', 'NKS'}, default='NSK'
        How representations become an affinity: rows to norm 1 (N), symmetric (S), the largest entries of a row (K), in the order they are
        done.
    keep : int, default=3
        Entries that K keeps of a row. A whole number, at least 1.
    n_init : int, default=10
        Of k-means among the eigenvectors' rows. A whole number, at least 1.
    max_iter : int, default=300
        Of that k-means. A whole number, at least 1.
    new_points : {'shares', 'embedding'}, default='shares'
        Label new points by the clusters' shares of their representation, or by the extension of the embedding.
    max_rounds : int, default=30
        Checks of all columns a point takes at most. A whole number, at least 1.
    tol : float, default=1e-07
        Violation of a point's optimality conditions that is let pass, in units of the weight. A number, from 1e-10 to 0.001.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    points_ : array of shape (n_fitted, n_features)
        The points fitted on, their rows normalised.
    members_ : array of shape (n_fitted,)
        The cluster of each of them.
    embedding_ : array of shape (n_fitted, n_clusters)
        Their rows of the eigenvectors.
    extension_ : array of shape (n_fitted, n_clusters)
        The eigenvectors over the square roots of the degrees.
    cluster_centers_ : array of shape (n_clusters, n_clusters)
        The centroid of each cluster in the embedding.
    eigenvalues_ : array of shape (n_clusters,)
        Of the normalised Laplacian, ascending.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    n_fitted is the number of rows that the model was made from: without those that missing='drop' or sample left out.
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y is ignored, as scikit-learn's clusterers do.
    transform gives the rows in the space in which the method sees them.
    The command's name for it is wmc; its options are described in docs/reference/wmc.md, the method with its source in docs/methods.md.
    """

    _method = "wmc"
    _options = {
        "n_clusters": "clusters", "weighting": "weighting", "lambda_value": "lambda", "eta": "eta", "normalize": "normalize", "affinity":
        "affinity", "keep": "keep", "n_init": "restarts", "max_iter": "max_iterations", "new_points": "new_points", "max_rounds":
        "max_rounds", "tol": "tolerance"
    }

    points_: np.ndarray
    members_: np.ndarray
    embedding_: np.ndarray
    extension_: np.ndarray
    cluster_centers_: np.ndarray
    eigenvalues_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        weighting: str = 'exponential',
        lambda_value: float = 50.0,
        eta: float | None = None,
        normalize: str = 'auto',
        affinity: str = 'NSK',
        keep: int = 3,
        n_init: int = 10,
        max_iter: int = 300,
        new_points: str = 'shares',
        max_rounds: int = 30,
        tol: float = 1e-07,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.weighting = weighting
        self.lambda_value = lambda_value
        self.eta = eta
        self.normalize = normalize
        self.affinity = affinity
        self.keep = keep
        self.n_init = n_init
        self.max_iter = max_iter
        self.new_points = new_points
        self.max_rounds = max_rounds
        self.tol = tol
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Ssc(Transforms, GivesOutlierScores, Clusterer):
    """Sparse subspace clustering: representations by few points, all at the same cost.

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    lambda_value : float, default=20.0
        Fidelity, as a multiple of each point's smallest that takes any other point. A number, above 0.
    eta : float, default=0.0
        Square of the coordinate added to every row; 0: none. A number, at least 0.
    normalize : {'auto', 'unit', 'none'}, default='auto'
        Scale every row to norm 1, or leave it; auto: unit rows.
    affinity : {'N', 'S', 'K', 'NK', 'KN', 'SN', 'NS', 'SK', 'KS', 'SNK', 'SKN', 'KSN', 'KNS', 'NSK', 'NKS'}, default='NSK'
        How representations become an affinity: rows to norm 1 (N), symmetric (S), the largest entries of a row (K), in the order they are
        done.
    keep : int, default=3
        Entries that K keeps of a row. A whole number, at least 1.
    n_init : int, default=10
        Of k-means among the eigenvectors' rows. A whole number, at least 1.
    max_iter : int, default=300
        Of that k-means. A whole number, at least 1.
    new_points : {'shares', 'embedding'}, default='shares'
        Label new points by the clusters' shares of their representation, or by the extension of the embedding.
    max_rounds : int, default=100
        Checks of all columns a point takes at most. A whole number, at least 1.
    tol : float, default=1e-07
        Violation of a point's optimality conditions that is let pass, in units of the weight. A number, from 1e-10 to 0.001.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    points_ : array of shape (n_fitted, n_features)
        The points fitted on, their rows normalised.
    members_ : array of shape (n_fitted,)
        The cluster of each of them.
    embedding_ : array of shape (n_fitted, n_clusters)
        Their rows of the eigenvectors.
    extension_ : array of shape (n_fitted, n_clusters)
        The eigenvectors over the square roots of the degrees.
    cluster_centers_ : array of shape (n_clusters, n_clusters)
        The centroid of each cluster in the embedding.
    eigenvalues_ : array of shape (n_clusters,)
        Of the normalised Laplacian, ascending.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    n_fitted is the number of rows that the model was made from: without those that missing='drop' or sample left out.
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y is ignored, as scikit-learn's clusterers do.
    transform gives the rows in the space in which the method sees them.
    The command's name for it is ssc; its options are described in docs/reference/ssc.md, the method with its source in docs/methods.md.
    """

    _method = "ssc"
    _options = {
        "n_clusters": "clusters", "lambda_value": "lambda", "eta": "eta", "normalize": "normalize", "affinity": "affinity", "keep": "keep",
        "n_init": "restarts", "max_iter": "max_iterations", "new_points": "new_points", "max_rounds": "max_rounds", "tol": "tolerance"
    }

    points_: np.ndarray
    members_: np.ndarray
    embedding_: np.ndarray
    extension_: np.ndarray
    cluster_centers_: np.ndarray
    eigenvalues_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        lambda_value: float = 20.0,
        eta: float = 0.0,
        normalize: str = 'auto',
        affinity: str = 'NSK',
        keep: int = 3,
        n_init: int = 10,
        max_iter: int = 300,
        new_points: str = 'shares',
        max_rounds: int = 100,
        tol: float = 1e-07,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lambda_value = lambda_value
        self.eta = eta
        self.normalize = normalize
        self.affinity = affinity
        self.keep = keep
        self.n_init = n_init
        self.max_iter = max_iter
        self.new_points = new_points
        self.max_rounds = max_rounds
        self.tol = tol
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Ensc(Transforms, GivesOutlierScores, Clusterer):
    """Elastic-net subspace clustering: representations by few points and their squares.

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    lambda_value : float, default=50.0
        Fidelity, as a multiple of each point's smallest that takes any other point. A number, above 0.
    l1_share : float, default=0.9
        Tau, the share of ||c||_1 beside ||c||^2 / 2; 1: that of ssc. A number, above 0 and at most 1.
    eta : float, default=0.0
        Square of the coordinate added to every row; 0: none. A number, at least 0.
    normalize : {'auto', 'unit', 'none'}, default='auto'
        Scale every row to norm 1, or leave it; auto: unit rows.
    affinity : {'N', 'S', 'K', 'NK', 'KN', 'SN', 'NS', 'SK', 'KS', 'SNK', 'SKN', 'KSN', 'KNS', 'NSK', 'NKS'}, default='NSK'
        How representations become an affinity: rows to norm 1 (N), symmetric (S), the largest entries of a row (K), in the order they are
        done.
    keep : int, default=3
        Entries that K keeps of a row. A whole number, at least 1.
    n_init : int, default=10
        Of k-means among the eigenvectors' rows. A whole number, at least 1.
    max_iter : int, default=300
        Of that k-means. A whole number, at least 1.
    new_points : {'shares', 'embedding'}, default='shares'
        Label new points by the clusters' shares of their representation, or by the extension of the embedding.
    max_rounds : int, default=100
        Checks of all columns a point takes at most. A whole number, at least 1.
    tol : float, default=1e-07
        Violation of a point's optimality conditions that is let pass, in units of the weight. A number, from 1e-10 to 0.001.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    points_ : array of shape (n_fitted, n_features)
        The points fitted on, their rows normalised.
    members_ : array of shape (n_fitted,)
        The cluster of each of them.
    embedding_ : array of shape (n_fitted, n_clusters)
        Their rows of the eigenvectors.
    extension_ : array of shape (n_fitted, n_clusters)
        The eigenvectors over the square roots of the degrees.
    cluster_centers_ : array of shape (n_clusters, n_clusters)
        The centroid of each cluster in the embedding.
    eigenvalues_ : array of shape (n_clusters,)
        Of the normalised Laplacian, ascending.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    n_fitted is the number of rows that the model was made from: without those that missing='drop' or sample left out.
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y is ignored, as scikit-learn's clusterers do.
    transform gives the rows in the space in which the method sees them.
    The command's name for it is ensc; its options are described in docs/reference/ensc.md, the method with its source in docs/methods.md.
    """

    _method = "ensc"
    _options = {
        "n_clusters": "clusters", "lambda_value": "lambda", "l1_share": "l1_share", "eta": "eta", "normalize": "normalize", "affinity":
        "affinity", "keep": "keep", "n_init": "restarts", "max_iter": "max_iterations", "new_points": "new_points", "max_rounds":
        "max_rounds", "tol": "tolerance"
    }

    points_: np.ndarray
    members_: np.ndarray
    embedding_: np.ndarray
    extension_: np.ndarray
    cluster_centers_: np.ndarray
    eigenvalues_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        lambda_value: float = 50.0,
        l1_share: float = 0.9,
        eta: float = 0.0,
        normalize: str = 'auto',
        affinity: str = 'NSK',
        keep: int = 3,
        n_init: int = 10,
        max_iter: int = 300,
        new_points: str = 'shares',
        max_rounds: int = 100,
        tol: float = 1e-07,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lambda_value = lambda_value
        self.l1_share = l1_share
        self.eta = eta
        self.normalize = normalize
        self.affinity = affinity
        self.keep = keep
        self.n_init = n_init
        self.max_iter = max_iter
        self.new_points = new_points
        self.max_rounds = max_rounds
        self.tol = tol
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class SscOmp(Transforms, GivesOutlierScores, Clusterer):
    """Subspace clustering by orthogonal matching pursuit, a fixed number of points each.

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    nonzeros : int, default=6
        Points that a point takes at most. A whole number, at least 1.
    residual : float, default=0.001
        Share of a point's length that may be left when its representation ends. A number, at least 0.
    eta : float, default=0.0
        Square of the coordinate added to every row; 0: none. A number, at least 0.
    normalize : {'auto', 'unit', 'none'}, default='auto'
        Scale every row to norm 1, or leave it; auto: unit rows.
    affinity : {'N', 'S', 'K', 'NK', 'KN', 'SN', 'NS', 'SK', 'KS', 'SNK', 'SKN', 'KSN', 'KNS', 'NSK', 'NKS'}, default='NSK'
        How representations become an affinity: rows to norm 1 (N), symmetric (S), the largest entries of a row (K), in the order they are
        done.
    keep : int, default=3
        Entries that K keeps of a row. A whole number, at least 1.
    n_init : int, default=10
        Of k-means among the eigenvectors' rows. A whole number, at least 1.
    max_iter : int, default=300
        Of that k-means. A whole number, at least 1.
    new_points : {'shares', 'embedding'}, default='shares'
        Label new points by the clusters' shares of their representation, or by the extension of the embedding.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    points_ : array of shape (n_fitted, n_features)
        The points fitted on, their rows normalised.
    members_ : array of shape (n_fitted,)
        The cluster of each of them.
    embedding_ : array of shape (n_fitted, n_clusters)
        Their rows of the eigenvectors.
    extension_ : array of shape (n_fitted, n_clusters)
        The eigenvectors over the square roots of the degrees.
    cluster_centers_ : array of shape (n_clusters, n_clusters)
        The centroid of each cluster in the embedding.
    eigenvalues_ : array of shape (n_clusters,)
        Of the normalised Laplacian, ascending.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    n_fitted is the number of rows that the model was made from: without those that missing='drop' or sample left out.
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y is ignored, as scikit-learn's clusterers do.
    transform gives the rows in the space in which the method sees them.
    The command's name for it is ssc-omp; its options are described in docs/reference/ssc-omp.md, the method with its source in
    docs/methods.md.
    """

    _method = "ssc-omp"
    _options = {
        "n_clusters": "clusters", "nonzeros": "nonzeros", "residual": "residual", "eta": "eta", "normalize": "normalize", "affinity":
        "affinity", "keep": "keep", "n_init": "restarts", "max_iter": "max_iterations", "new_points": "new_points"
    }

    points_: np.ndarray
    members_: np.ndarray
    embedding_: np.ndarray
    extension_: np.ndarray
    cluster_centers_: np.ndarray
    eigenvalues_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        nonzeros: int = 6,
        residual: float = 0.001,
        eta: float = 0.0,
        normalize: str = 'auto',
        affinity: str = 'NSK',
        keep: int = 3,
        n_init: int = 10,
        max_iter: int = 300,
        new_points: str = 'shares',
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.nonzeros = nonzeros
        self.residual = residual
        self.eta = eta
        self.normalize = normalize
        self.affinity = affinity
        self.keep = keep
        self.n_init = n_init
        self.max_iter = max_iter
        self.new_points = new_points
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Smce(Transforms, GivesOutlierScores, Clusterer):
    """Sparse manifold clustering and embedding: affine representations by nearest neighbours.

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    gamma : float, default=10.0
        What distance costs beside the error of a representation. A number, above 0.
    n_neighbors : int, default=20
        Nearest neighbours that a point may take. A whole number, at least 1.
    normalize : {'auto', 'unit', 'none'}, default='auto'
        Scale every row to norm 1, or leave it; auto: as given.
    affinity : {'N', 'S', 'K', 'NK', 'KN', 'SN', 'NS', 'SK', 'KS', 'SNK', 'SKN', 'KSN', 'KNS', 'NSK', 'NKS'}, default='NSK'
        How representations become an affinity: rows to norm 1 (N), symmetric (S), the largest entries of a row (K), in the order they are
        done.
    keep : int, default=3
        Entries that K keeps of a row. A whole number, at least 1.
    n_init : int, default=10
        Of k-means among the eigenvectors' rows. A whole number, at least 1.
    max_iter : int, default=300
        Of that k-means. A whole number, at least 1.
    new_points : {'shares', 'embedding'}, default='shares'
        Label new points by the clusters' shares of their representation, or by the extension of the embedding.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    points_ : array of shape (n_fitted, n_features)
        The points fitted on, their rows normalised.
    members_ : array of shape (n_fitted,)
        The cluster of each of them.
    embedding_ : array of shape (n_fitted, n_clusters)
        Their rows of the eigenvectors.
    extension_ : array of shape (n_fitted, n_clusters)
        The eigenvectors over the square roots of the degrees.
    cluster_centers_ : array of shape (n_clusters, n_clusters)
        The centroid of each cluster in the embedding.
    eigenvalues_ : array of shape (n_clusters,)
        Of the normalised Laplacian, ascending.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    n_fitted is the number of rows that the model was made from: without those that missing='drop' or sample left out.
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y is ignored, as scikit-learn's clusterers do.
    transform gives the rows in the space in which the method sees them.
    The command's name for it is smce; its options are described in docs/reference/smce.md, the method with its source in docs/methods.md.
    """

    _method = "smce"
    _options = {
        "n_clusters": "clusters", "gamma": "gamma", "n_neighbors": "neighbors", "normalize": "normalize", "affinity": "affinity", "keep":
        "keep", "n_init": "restarts", "max_iter": "max_iterations", "new_points": "new_points"
    }

    points_: np.ndarray
    members_: np.ndarray
    embedding_: np.ndarray
    extension_: np.ndarray
    cluster_centers_: np.ndarray
    eigenvalues_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        gamma: float = 10.0,
        n_neighbors: int = 20,
        normalize: str = 'auto',
        affinity: str = 'NSK',
        keep: int = 3,
        n_init: int = 10,
        max_iter: int = 300,
        new_points: str = 'shares',
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.normalize = normalize
        self.affinity = affinity
        self.keep = keep
        self.n_init = n_init
        self.max_iter = max_iter
        self.new_points = new_points
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class AeKMeans(Transforms, GivesDistances, GivesOutlierScores, BlockClusterer):
    """K-means in the embedding of an autoencoder (LibTorch).

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    network : {'auto', 'dense', 'convolutional'}, default='auto'
        Auto: convolutional for images, dense without image.
    image : list of int, or None, default=None
        Rows and columns of an image, 28x28, after the channels, 3x32x32. A list of whole numbers, from 1 to 999999. None: the points are
        vectors.
    widths : list of int, default=(500, 500, 2000)
        Dense: units of the layers between the points and the embedding. A list of whole numbers, from 1 to 999999.
    embedding : int, default=10
        Dimensions p of the embedding. A whole number, from 1 to 4096.
    pretrain_epochs : int, default=200
        Passes over the points that train the autoencoder. A whole number, at least 0.
    pretrain_batch_size : int, default=256
        Points per batch of them. A whole number, at least 1.
    pretrain_rate : float, default=0.001
        Learning rate of Adam in them. A number, above 0.
    pretrained : str, default=''
        A deep model's file: its autoencoder instead of pre-training.
    kmeans_restarts : int, default=100
        Of k-means in the first embedding. A whole number, at least 1.
    n_init : int, default=1
        Whole fits from different starts, pre-training among it; the one is kept whose clusters leave the least of the points' scatter
        within them. A whole number, at least 1.
    half : bool, default=False
        Passes in bfloat16, faster where the device is made for them.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    device : {'cpu', 'cuda', 'mps'}, default='cpu'
        Where the network computes.
    checkpoint : str, default=None
        A file that keeps the state of the fit, so that one that was cut off goes on from it.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    unit_ : array of shape (1,)
        What points are divided by before the network sees them.
    rotation_ : array of shape (e, e)
        The orthonormal basis of the embedding.
    cluster_centers_ : array of shape (n_clusters, e)
        The centroid of each cluster in the embedding.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y is ignored, as scikit-learn's clusterers do.
    X may be a list of .npy files, or an iterator over blocks of rows (arrays or tables), which are written once to a temporary file: either
    is read in blocks and need not fit into memory. Several processes may work on one fit (comm of fit).
    transform gives the rows in the space in which the method sees them.
    The command's name for it is ae-kmeans; its options are described in docs/reference/ae-kmeans.md, the method with its source in
    docs/methods.md.
    """

    _method = "ae-kmeans"
    _options = {
        "n_clusters": "clusters", "network": "network", "image": "image", "widths": "widths", "embedding": "embedding", "pretrain_epochs":
        "pretrain_epochs", "pretrain_batch_size": "pretrain_batch_size", "pretrain_rate": "pretrain_rate", "pretrained": "pretrained",
        "kmeans_restarts": "kmeans_restarts", "n_init": "restarts", "half": "half"
    }
    _blocks = True

    unit_: np.ndarray
    rotation_: np.ndarray
    cluster_centers_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        network: str = 'auto',
        image: Sequence[int] | None = None,
        widths: Sequence[int] = (500, 500, 2000),
        embedding: int = 10,
        pretrain_epochs: int = 200,
        pretrain_batch_size: int = 256,
        pretrain_rate: float = 0.001,
        pretrained: str = '',
        kmeans_restarts: int = 100,
        n_init: int = 1,
        half: bool = False,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        device: str = 'cpu',
        checkpoint: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.network = network
        self.image = image
        self.widths = widths
        self.embedding = embedding
        self.pretrain_epochs = pretrain_epochs
        self.pretrain_batch_size = pretrain_batch_size
        self.pretrain_rate = pretrain_rate
        self.pretrained = pretrained
        self.kmeans_restarts = kmeans_restarts
        self.n_init = n_init
        self.half = half
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.device = device
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Dekm(Transforms, GivesDistances, GivesOutlierScores, BlockClusterer):
    """Deep embedded k-means: an encoder moved along the clusters' widest direction (LibTorch).

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    network : {'auto', 'dense', 'convolutional'}, default='auto'
        Auto: convolutional for images, dense without image.
    image : list of int, or None, default=None
        Rows and columns of an image, 28x28, after the channels, 3x32x32. A list of whole numbers, from 1 to 999999. None: the points are
        vectors.
    widths : list of int, default=(500, 500, 2000)
        Dense: units of the layers between the points and the embedding. A list of whole numbers, from 1 to 999999.
    embedding : int, default=10
        Dimensions p of the embedding. A whole number, from 1 to 4096.
    pretrain_epochs : int, default=200
        Passes over the points that train the autoencoder. A whole number, at least 0.
    pretrain_batch_size : int, default=256
        Points per batch of them. A whole number, at least 1.
    pretrain_rate : float, default=0.001
        Learning rate of Adam in them. A number, above 0.
    pretrained : str, default=''
        A deep model's file: its autoencoder instead of pre-training.
    kmeans_restarts : int, default=100
        Of k-means in the first embedding. A whole number, at least 1.
    n_init : int, default=1
        1: no criterion without labels finds the best of several fits of this method. A whole number, at least 1.
    half : bool, default=False
        Passes in bfloat16, faster where the device is made for them.
    learning_rate : float, default=0.001
        While clustering. A number, above 0.
    batch_size : int, default=256
        Points per batch while clustering. A whole number, at least 1.
    update_interval : int, or None, default=None
        Batches from one update to the next. A whole number, at least 1. None: 40 for convolutional networks, else 10.
    max_iter : int, default=14000
        Batches at most. A whole number, at least 0.
    tol : float, default=0.005
        It ends when a smaller share of the points changes cluster in an update. A number, from 0 to 1.
    update_restarts : int, default=2
        K-means starts of an update beside the last clusters. A whole number, at least 0.
    move : {'last', 'all'}, default='last'
        Which coordinates are moved to the cluster's mean: the widest direction, or every one.
    update : {'batch', 'full'}, default='batch'
        Steps of batches, or one step a pass over all points.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    device : {'cpu', 'cuda', 'mps'}, default='cpu'
        Where the network computes.
    checkpoint : str, default=None
        A file that keeps the state of the fit, so that one that was cut off goes on from it.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    unit_ : array of shape (1,)
        What points are divided by before the network sees them.
    rotation_ : array of shape (e, e)
        The orthonormal basis of the embedding.
    cluster_centers_ : array of shape (n_clusters, e)
        The centroid of each cluster in the embedding.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y is ignored, as scikit-learn's clusterers do.
    X may be a list of .npy files, or an iterator over blocks of rows (arrays or tables), which are written once to a temporary file: either
    is read in blocks and need not fit into memory. Several processes may work on one fit (comm of fit).
    transform gives the rows in the space in which the method sees them.
    The command's name for it is dekm; its options are described in docs/reference/dekm.md, the method with its source in docs/methods.md.
    """

    _method = "dekm"
    _options = {
        "n_clusters": "clusters", "network": "network", "image": "image", "widths": "widths", "embedding": "embedding", "pretrain_epochs":
        "pretrain_epochs", "pretrain_batch_size": "pretrain_batch_size", "pretrain_rate": "pretrain_rate", "pretrained": "pretrained",
        "kmeans_restarts": "kmeans_restarts", "n_init": "restarts", "half": "half", "learning_rate": "learning_rate", "batch_size":
        "batch_size", "update_interval": "update_interval", "max_iter": "max_iterations", "tol": "tolerance", "update_restarts":
        "update_restarts", "move": "move", "update": "update"
    }
    _blocks = True

    unit_: np.ndarray
    rotation_: np.ndarray
    cluster_centers_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        network: str = 'auto',
        image: Sequence[int] | None = None,
        widths: Sequence[int] = (500, 500, 2000),
        embedding: int = 10,
        pretrain_epochs: int = 200,
        pretrain_batch_size: int = 256,
        pretrain_rate: float = 0.001,
        pretrained: str = '',
        kmeans_restarts: int = 100,
        n_init: int = 1,
        half: bool = False,
        learning_rate: float = 0.001,
        batch_size: int = 256,
        update_interval: int | None = None,
        max_iter: int = 14000,
        tol: float = 0.005,
        update_restarts: int = 2,
        move: str = 'last',
        update: str = 'batch',
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        device: str = 'cpu',
        checkpoint: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.network = network
        self.image = image
        self.widths = widths
        self.embedding = embedding
        self.pretrain_epochs = pretrain_epochs
        self.pretrain_batch_size = pretrain_batch_size
        self.pretrain_rate = pretrain_rate
        self.pretrained = pretrained
        self.kmeans_restarts = kmeans_restarts
        self.n_init = n_init
        self.half = half
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.update_interval = update_interval
        self.max_iter = max_iter
        self.tol = tol
        self.update_restarts = update_restarts
        self.move = move
        self.update = update
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.device = device
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Dec(Transforms, GivesDistances, GivesOutlierScores, BlockClusterer):
    """Deep embedded clustering: an encoder trained by its own sharpened soft assignments (LibTorch).

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    network : {'auto', 'dense', 'convolutional'}, default='auto'
        Auto: convolutional for images, dense without image.
    image : list of int, or None, default=None
        Rows and columns of an image, 28x28, after the channels, 3x32x32. A list of whole numbers, from 1 to 999999. None: the points are
        vectors.
    widths : list of int, default=(500, 500, 2000)
        Dense: units of the layers between the points and the embedding. A list of whole numbers, from 1 to 999999.
    embedding : int, default=10
        Dimensions p of the embedding. A whole number, from 1 to 4096.
    pretrain_epochs : int, default=200
        Passes over the points that train the autoencoder. A whole number, at least 0.
    pretrain_batch_size : int, default=256
        Points per batch of them. A whole number, at least 1.
    pretrain_rate : float, default=0.001
        Learning rate of Adam in them. A number, above 0.
    pretrained : str, default=''
        A deep model's file: its autoencoder instead of pre-training.
    kmeans_restarts : int, default=100
        Of k-means in the first embedding. A whole number, at least 1.
    n_init : int, default=1
        Whole fits from different starts, pre-training among it; the one is kept whose clusters leave the least of the points' scatter
        within them. A whole number, at least 1.
    half : bool, default=False
        Passes in bfloat16, faster where the device is made for them.
    learning_rate : float, default=0.01
        While clustering. A number, above 0.
    batch_size : int, default=256
        Points per batch while clustering. A whole number, at least 1.
    update_interval : int, default=140
        Batches from one update to the next. A whole number, at least 1.
    max_iter : int, default=14000
        Batches at most. A whole number, at least 0.
    tol : float, default=0.001
        It ends when a smaller share of the points changes cluster in an update. A number, from 0 to 1.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    device : {'cpu', 'cuda', 'mps'}, default='cpu'
        Where the network computes.
    checkpoint : str, default=None
        A file that keeps the state of the fit, so that one that was cut off goes on from it.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    unit_ : array of shape (1,)
        What points are divided by before the network sees them.
    rotation_ : array of shape (e, e)
        The orthonormal basis of the embedding.
    cluster_centers_ : array of shape (n_clusters, e)
        The centroid of each cluster in the embedding.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y is ignored, as scikit-learn's clusterers do.
    X may be a list of .npy files, or an iterator over blocks of rows (arrays or tables), which are written once to a temporary file: either
    is read in blocks and need not fit into memory. Several processes may work on one fit (comm of fit).
    transform gives the rows in the space in which the method sees them.
    The command's name for it is dec; its options are described in docs/reference/dec.md, the method with its source in docs/methods.md.
    """

    _method = "dec"
    _options = {
        "n_clusters": "clusters", "network": "network", "image": "image", "widths": "widths", "embedding": "embedding", "pretrain_epochs":
        "pretrain_epochs", "pretrain_batch_size": "pretrain_batch_size", "pretrain_rate": "pretrain_rate", "pretrained": "pretrained",
        "kmeans_restarts": "kmeans_restarts", "n_init": "restarts", "half": "half", "learning_rate": "learning_rate", "batch_size":
        "batch_size", "update_interval": "update_interval", "max_iter": "max_iterations", "tol": "tolerance"
    }
    _blocks = True

    unit_: np.ndarray
    rotation_: np.ndarray
    cluster_centers_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        network: str = 'auto',
        image: Sequence[int] | None = None,
        widths: Sequence[int] = (500, 500, 2000),
        embedding: int = 10,
        pretrain_epochs: int = 200,
        pretrain_batch_size: int = 256,
        pretrain_rate: float = 0.001,
        pretrained: str = '',
        kmeans_restarts: int = 100,
        n_init: int = 1,
        half: bool = False,
        learning_rate: float = 0.01,
        batch_size: int = 256,
        update_interval: int = 140,
        max_iter: int = 14000,
        tol: float = 0.001,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        device: str = 'cpu',
        checkpoint: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.network = network
        self.image = image
        self.widths = widths
        self.embedding = embedding
        self.pretrain_epochs = pretrain_epochs
        self.pretrain_batch_size = pretrain_batch_size
        self.pretrain_rate = pretrain_rate
        self.pretrained = pretrained
        self.kmeans_restarts = kmeans_restarts
        self.n_init = n_init
        self.half = half
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.update_interval = update_interval
        self.max_iter = max_iter
        self.tol = tol
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.device = device
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Idec(Transforms, GivesDistances, GivesOutlierScores, BlockClusterer):
    """DEC that keeps reconstructing the points (LibTorch).

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    network : {'auto', 'dense', 'convolutional'}, default='auto'
        Auto: convolutional for images, dense without image.
    image : list of int, or None, default=None
        Rows and columns of an image, 28x28, after the channels, 3x32x32. A list of whole numbers, from 1 to 999999. None: the points are
        vectors.
    widths : list of int, default=(500, 500, 2000)
        Dense: units of the layers between the points and the embedding. A list of whole numbers, from 1 to 999999.
    embedding : int, default=10
        Dimensions p of the embedding. A whole number, from 1 to 4096.
    pretrain_epochs : int, default=200
        Passes over the points that train the autoencoder. A whole number, at least 0.
    pretrain_batch_size : int, default=256
        Points per batch of them. A whole number, at least 1.
    pretrain_rate : float, default=0.001
        Learning rate of Adam in them. A number, above 0.
    pretrained : str, default=''
        A deep model's file: its autoencoder instead of pre-training.
    kmeans_restarts : int, default=100
        Of k-means in the first embedding. A whole number, at least 1.
    n_init : int, default=1
        Whole fits from different starts, pre-training among it; the one is kept whose clusters leave the least of the points' scatter
        within them. A whole number, at least 1.
    half : bool, default=False
        Passes in bfloat16, faster where the device is made for them.
    learning_rate : float, default=0.001
        While clustering. A number, above 0.
    batch_size : int, default=256
        Points per batch while clustering. A whole number, at least 1.
    update_interval : int, default=140
        Batches from one update to the next. A whole number, at least 1.
    max_iter : int, default=14000
        Batches at most. A whole number, at least 0.
    tol : float, default=0.001
        It ends when a smaller share of the points changes cluster in an update. A number, from 0 to 1.
    gamma : float, default=0.1
        Weight of the clusters' loss beside the reconstruction's. A number, at least 0.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    device : {'cpu', 'cuda', 'mps'}, default='cpu'
        Where the network computes.
    checkpoint : str, default=None
        A file that keeps the state of the fit, so that one that was cut off goes on from it.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    unit_ : array of shape (1,)
        What points are divided by before the network sees them.
    rotation_ : array of shape (e, e)
        The orthonormal basis of the embedding.
    cluster_centers_ : array of shape (n_clusters, e)
        The centroid of each cluster in the embedding.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y is ignored, as scikit-learn's clusterers do.
    X may be a list of .npy files, or an iterator over blocks of rows (arrays or tables), which are written once to a temporary file: either
    is read in blocks and need not fit into memory. Several processes may work on one fit (comm of fit).
    transform gives the rows in the space in which the method sees them.
    The command's name for it is idec; its options are described in docs/reference/idec.md, the method with its source in docs/methods.md.
    """

    _method = "idec"
    _options = {
        "n_clusters": "clusters", "network": "network", "image": "image", "widths": "widths", "embedding": "embedding", "pretrain_epochs":
        "pretrain_epochs", "pretrain_batch_size": "pretrain_batch_size", "pretrain_rate": "pretrain_rate", "pretrained": "pretrained",
        "kmeans_restarts": "kmeans_restarts", "n_init": "restarts", "half": "half", "learning_rate": "learning_rate", "batch_size":
        "batch_size", "update_interval": "update_interval", "max_iter": "max_iterations", "tol": "tolerance", "gamma": "gamma"
    }
    _blocks = True

    unit_: np.ndarray
    rotation_: np.ndarray
    cluster_centers_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        network: str = 'auto',
        image: Sequence[int] | None = None,
        widths: Sequence[int] = (500, 500, 2000),
        embedding: int = 10,
        pretrain_epochs: int = 200,
        pretrain_batch_size: int = 256,
        pretrain_rate: float = 0.001,
        pretrained: str = '',
        kmeans_restarts: int = 100,
        n_init: int = 1,
        half: bool = False,
        learning_rate: float = 0.001,
        batch_size: int = 256,
        update_interval: int = 140,
        max_iter: int = 14000,
        tol: float = 0.001,
        gamma: float = 0.1,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        device: str = 'cpu',
        checkpoint: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.network = network
        self.image = image
        self.widths = widths
        self.embedding = embedding
        self.pretrain_epochs = pretrain_epochs
        self.pretrain_batch_size = pretrain_batch_size
        self.pretrain_rate = pretrain_rate
        self.pretrained = pretrained
        self.kmeans_restarts = kmeans_restarts
        self.n_init = n_init
        self.half = half
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.update_interval = update_interval
        self.max_iter = max_iter
        self.tol = tol
        self.gamma = gamma
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.device = device
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Dcn(Transforms, GivesDistances, GivesOutlierScores, BlockClusterer):
    """Deep clustering network: reconstruction and distances from centroids, in turn (LibTorch).

    Parameters
    ----------
    n_clusters : int, or 'auto', default=8
        Number of clusters k. A whole number, at least 1. 'auto': chosen by seven criteria (cluster_choice_).
    network : {'auto', 'dense', 'convolutional'}, default='auto'
        Auto: convolutional for images, dense without image.
    image : list of int, or None, default=None
        Rows and columns of an image, 28x28, after the channels, 3x32x32. A list of whole numbers, from 1 to 999999. None: the points are
        vectors.
    widths : list of int, default=(500, 500, 2000)
        Dense: units of the layers between the points and the embedding. A list of whole numbers, from 1 to 999999.
    embedding : int, default=10
        Dimensions p of the embedding. A whole number, from 1 to 4096.
    pretrain_epochs : int, default=200
        Passes over the points that train the autoencoder. A whole number, at least 0.
    pretrain_batch_size : int, default=256
        Points per batch of them. A whole number, at least 1.
    pretrain_rate : float, default=0.001
        Learning rate of Adam in them. A number, above 0.
    pretrained : str, default=''
        A deep model's file: its autoencoder instead of pre-training.
    kmeans_restarts : int, default=100
        Of k-means in the first embedding. A whole number, at least 1.
    n_init : int, default=1
        Whole fits from different starts, pre-training among it; the one is kept whose clusters leave the least of the points' scatter
        within them. A whole number, at least 1.
    half : bool, default=False
        Passes in bfloat16, faster where the device is made for them.
    learning_rate : float, default=0.001
        While clustering. A number, above 0.
    batch_size : int, default=256
        Points per batch while clustering. A whole number, at least 1.
    update_interval : int, default=140
        Batches from one update to the next. A whole number, at least 1.
    max_iter : int, default=14000
        Batches at most. A whole number, at least 0.
    tol : float, default=0.001
        It ends when a smaller share of the points changes cluster in an update. A number, from 0 to 1.
    distortion : float, default=0.05
        Weight of the squared distances from the centroids beside the squared reconstruction errors, both sums. A number, at least 0.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    device : {'cpu', 'cuda', 'mps'}, default='cpu'
        Where the network computes.
    checkpoint : str, default=None
        A file that keeps the state of the fit, so that one that was cut off goes on from it.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    unit_ : array of shape (1,)
        What points are divided by before the network sees them.
    rotation_ : array of shape (e, e)
        The orthonormal basis of the embedding.
    cluster_centers_ : array of shape (n_clusters, e)
        The centroid of each cluster in the embedding.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    Centroids are in the units in which the method sees the rows: after center and scale, and in its own space where it has one.
    y is ignored, as scikit-learn's clusterers do.
    X may be a list of .npy files, or an iterator over blocks of rows (arrays or tables), which are written once to a temporary file: either
    is read in blocks and need not fit into memory. Several processes may work on one fit (comm of fit).
    transform gives the rows in the space in which the method sees them.
    The command's name for it is dcn; its options are described in docs/reference/dcn.md, the method with its source in docs/methods.md.
    """

    _method = "dcn"
    _options = {
        "n_clusters": "clusters", "network": "network", "image": "image", "widths": "widths", "embedding": "embedding", "pretrain_epochs":
        "pretrain_epochs", "pretrain_batch_size": "pretrain_batch_size", "pretrain_rate": "pretrain_rate", "pretrained": "pretrained",
        "kmeans_restarts": "kmeans_restarts", "n_init": "restarts", "half": "half", "learning_rate": "learning_rate", "batch_size":
        "batch_size", "update_interval": "update_interval", "max_iter": "max_iterations", "tol": "tolerance", "distortion": "distortion"
    }
    _blocks = True

    unit_: np.ndarray
    rotation_: np.ndarray
    cluster_centers_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] = 8,
        *,
        network: str = 'auto',
        image: Sequence[int] | None = None,
        widths: Sequence[int] = (500, 500, 2000),
        embedding: int = 10,
        pretrain_epochs: int = 200,
        pretrain_batch_size: int = 256,
        pretrain_rate: float = 0.001,
        pretrained: str = '',
        kmeans_restarts: int = 100,
        n_init: int = 1,
        half: bool = False,
        learning_rate: float = 0.001,
        batch_size: int = 256,
        update_interval: int = 140,
        max_iter: int = 14000,
        tol: float = 0.001,
        distortion: float = 0.05,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        device: str = 'cpu',
        checkpoint: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.network = network
        self.image = image
        self.widths = widths
        self.embedding = embedding
        self.pretrain_epochs = pretrain_epochs
        self.pretrain_batch_size = pretrain_batch_size
        self.pretrain_rate = pretrain_rate
        self.pretrained = pretrained
        self.kmeans_restarts = kmeans_restarts
        self.n_init = n_init
        self.half = half
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.update_interval = update_interval
        self.max_iter = max_iter
        self.tol = tol
        self.distortion = distortion
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.device = device
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class EntropyNet(Transforms, GivesMemberships, GivesLabelScores, GivesOutlierScores, BlockClusterer):
    """Discriminative entropy clustering: a self-labelling network (LibTorch).

    Parameters
    ----------
    n_clusters : int, or 'auto', or None, default=8
        Number of clusters k. A whole number, at least 1. None: as many as the partial labels have. 'auto': chosen by seven criteria
        (cluster_choice_).
    network : {'auto', 'dense', 'vgg4', 'resnet18'}, default='auto'
        Auto: vgg4 for images, dense without image.
    image : list of int, or None, default=None
        Rows and columns of an image, 28x28, after the channels, 3x32x32. A list of whole numbers, from 1 to 999999. None: the points are
        vectors.
    widths : list of int, default=(1200, 1200)
        Dense: units of the layers between the points and the head. A list of whole numbers, from 1 to 999999.
    kernel : int, default=3
        Vgg4: side of its convolutions, odd. A whole number, from 1 to 15.
    augment : str, default='auto'
        How views are changed: none, None, or some of flip, rotation, shift, zoom, colour and noise, with commas between them; auto:
        rotation,shift,zoom,colour for images, noise for vectors.
    rotation : float, default=15.0
        Uniform on +- this, degrees. A number, from 0 to 180.
    shift : float, default=0.1
        Uniform on +- this, share of each side. A number, from 0 to 1.
    zoom : float, default=0.1
        Sides times or divided by up to 1 + this. A number, from 0 to 10.
    colour : float, default=0.2
        Every channel times 1 +- up to this, plus or minus up to this times the points' deviation. A number, from 0 to 1.
    noise : float, default=0.3
        Deviation of normal noise, share of each column's. A number, from 0 to 100.
    epochs : int, default=50
        Passes over the points. A whole number, at least 1.
    batch_size : int, default=250
        Points per batch at most. A whole number, at least 1.
    learning_rate : float, default=0.001
        Of Adam. A number, above 0.
    backbone_rate : float, or None, default=None
        Learning rate of the layers before the head. A number, above 0. None: learning_rate.
    pretrained : str, default=''
        A file to take the layers before the head from: a classifier's model, or safetensors with ResNet-18's weights as torchvision names
        them.
    weight_decay : float, default=0.0001
        Times the parameters is added to their gradient. A number, at least 0.
    label_weight : float, default=1.0
        Weight of the partial labels' own loss. A number, at least 0.
    n_init : int, default=1
        Fits from different starts; the one with the least sum of the predictions' mean entropy and their mean's divergence from the prior
        is kept. A whole number, at least 1.
    half : bool, default=False
        Passes in bfloat16, faster where the device is made for them.
    augmentations : int, default=2
        Changed views of a point per step; 1: beside the point itself. A whole number, from 1 to 2.
    augmentation_weight : float, default=0.2
        Weight of the divergence of the two views' predictions. A number, at least 0.
    lambda_value : float, default=100.0
        Weight of the prior's divergence from the mean label. A number, above 0 and at most 1e+06.
    prior : list of float, or None, default=None
        Share of each cluster: k numbers that sum to 1. A list of numbers, above 0. None: equal shares.
    label_solver : {'em', 'dual'}, default='em'
        Label_rounds rounds of EM, or the optimum itself by Newton's method on the dual.
    label_rounds : int, default=10
        Of EM. A whole number, at least 1.
    labels_per : {'batch', 'epoch'}, default='batch'
        When labels are renewed.
    clusters_per_label : dict, default=None
        How many clusters a label of y has: {label: number}; one where nothing is said.
    label_share : dict, default=None
        The share of all rows, labelled ones included, that the clusters of a label of y take: {label: 0.95}.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    device : {'cpu', 'cuda', 'mps'}, default='cpu'
        Where the network computes.
    checkpoint : str, default=None
        A file that keeps the state of the fit, so that one that was cut off goes on from it.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    cluster_labels_ : array of shape (n_clusters,)
        The label of y that each cluster belongs to, of a fit with y; -1 or None for a cluster of no label.
    unit_ : array of shape (1,)
        What points are divided by before the network sees them.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    y holds what is known of the labels, with -1, None or NaN where none is: a labelled row goes to a cluster of its label. A y that has a
    label for every row is ignored, with a warning: it is a truth to compare with. With n_clusters=None there are as many clusters as the
    labels have together.
    X may be a list of .npy files, or an iterator over blocks of rows (arrays or tables), which are written once to a temporary file: either
    is read in blocks and need not fit into memory. Several processes may work on one fit (comm of fit).
    transform gives the rows in the space in which the method sees them.
    The command's name for it is entropy-net; its options are described in docs/reference/entropy-net.md, the method with its source in
    docs/methods.md.
    """

    _method = "entropy-net"
    _options = {
        "n_clusters": "clusters", "network": "network", "image": "image", "widths": "widths", "kernel": "kernel", "augment": "augment",
        "rotation": "rotation", "shift": "shift", "zoom": "zoom", "colour": "colour", "noise": "noise", "epochs": "epochs", "batch_size":
        "batch_size", "learning_rate": "learning_rate", "backbone_rate": "backbone_rate", "pretrained": "pretrained", "weight_decay":
        "weight_decay", "label_weight": "label_weight", "n_init": "restarts", "half": "half", "augmentations": "augmentations",
        "augmentation_weight": "augmentation_weight", "lambda_value": "lambda", "prior": "prior", "label_solver": "label_solver",
        "label_rounds": "label_rounds", "labels_per": "labels_per"
    }
    _blocks = True
    _takes_labels = True

    unit_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] | None = 8,
        *,
        network: str = 'auto',
        image: Sequence[int] | None = None,
        widths: Sequence[int] = (1200, 1200),
        kernel: int = 3,
        augment: str = 'auto',
        rotation: float = 15.0,
        shift: float = 0.1,
        zoom: float = 0.1,
        colour: float = 0.2,
        noise: float = 0.3,
        epochs: int = 50,
        batch_size: int = 250,
        learning_rate: float = 0.001,
        backbone_rate: float | None = None,
        pretrained: str = '',
        weight_decay: float = 0.0001,
        label_weight: float = 1.0,
        n_init: int = 1,
        half: bool = False,
        augmentations: int = 2,
        augmentation_weight: float = 0.2,
        lambda_value: float = 100.0,
        prior: Sequence[float] | None = None,
        label_solver: str = 'em',
        label_rounds: int = 10,
        labels_per: str = 'batch',
        clusters_per_label: Mapping[Any, int] | None = None,
        label_share: Mapping[Any, Any] | None = None,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        device: str = 'cpu',
        checkpoint: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.network = network
        self.image = image
        self.widths = widths
        self.kernel = kernel
        self.augment = augment
        self.rotation = rotation
        self.shift = shift
        self.zoom = zoom
        self.colour = colour
        self.noise = noise
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.backbone_rate = backbone_rate
        self.pretrained = pretrained
        self.weight_decay = weight_decay
        self.label_weight = label_weight
        self.n_init = n_init
        self.half = half
        self.augmentations = augmentations
        self.augmentation_weight = augmentation_weight
        self.lambda_value = lambda_value
        self.prior = prior
        self.label_solver = label_solver
        self.label_rounds = label_rounds
        self.labels_per = labels_per
        self.clusters_per_label = clusters_per_label
        self.label_share = label_share
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.device = device
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Imsat(Transforms, GivesMemberships, GivesLabelScores, GivesOutlierScores, BlockClusterer):
    """IMSAT: mutual information and predictions that augmentation leaves alone (LibTorch).

    Parameters
    ----------
    n_clusters : int, or 'auto', or None, default=8
        Number of clusters k. A whole number, at least 1. None: as many as the partial labels have. 'auto': chosen by seven criteria
        (cluster_choice_).
    network : {'auto', 'dense', 'vgg4', 'resnet18'}, default='auto'
        Auto: vgg4 for images, dense without image.
    image : list of int, or None, default=None
        Rows and columns of an image, 28x28, after the channels, 3x32x32. A list of whole numbers, from 1 to 999999. None: the points are
        vectors.
    widths : list of int, default=(1200, 1200)
        Dense: units of the layers between the points and the head. A list of whole numbers, from 1 to 999999.
    kernel : int, default=3
        Vgg4: side of its convolutions, odd. A whole number, from 1 to 15.
    augment : str, default='auto'
        How views are changed: none, None, or some of flip, rotation, shift, zoom, colour and noise, with commas between them; auto:
        rotation,shift,zoom,colour for images, noise for vectors.
    rotation : float, default=15.0
        Uniform on +- this, degrees. A number, from 0 to 180.
    shift : float, default=0.1
        Uniform on +- this, share of each side. A number, from 0 to 1.
    zoom : float, default=0.1
        Sides times or divided by up to 1 + this. A number, from 0 to 10.
    colour : float, default=0.2
        Every channel times 1 +- up to this, plus or minus up to this times the points' deviation. A number, from 0 to 1.
    noise : float, default=0.3
        Deviation of normal noise, share of each column's. A number, from 0 to 100.
    epochs : int, default=50
        Passes over the points. A whole number, at least 1.
    batch_size : int, default=250
        Points per batch at most. A whole number, at least 1.
    learning_rate : float, default=0.001
        Of Adam. A number, above 0.
    backbone_rate : float, or None, default=None
        Learning rate of the layers before the head. A number, above 0. None: learning_rate.
    pretrained : str, default=''
        A file to take the layers before the head from: a classifier's model, or safetensors with ResNet-18's weights as torchvision names
        them.
    weight_decay : float, default=0.0001
        Times the parameters is added to their gradient. A number, at least 0.
    label_weight : float, default=1.0
        Weight of the partial labels' own loss. A number, at least 0.
    n_init : int, default=1
        Fits from different starts; the one with the least sum of the predictions' mean entropy and their mean's divergence from the prior
        is kept. A whole number, at least 1.
    half : bool, default=False
        Passes in bfloat16, faster where the device is made for them.
    fairness : float, default=4.0
        Weight of the mean prediction's divergence from the prior. A number, at least 0.
    augmentation_weight : float, default=10.0
        Weight of the divergence of the second view's predictions from the point's. A number, at least 0.
    prior : list of float, or None, default=None
        Share of each cluster: k numbers that sum to 1. A list of numbers, above 0. None: equal shares.
    view : {'auto', 'adversarial', 'augmented'}, default='auto'
        The second view: against the network (auto: vectors), or changed by augment (images).
    adversarial_radius : float, default=0.25
        How far the adversarial view lies away, share of the tenth nearest neighbour's distance. A number, at least 0.
    clusters_per_label : dict, default=None
        How many clusters a label of y has: {label: number}; one where nothing is said.
    label_share : dict, default=None
        The share of all rows, labelled ones included, that the clusters of a label of y take: {label: 0.95}.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    device : {'cpu', 'cuda', 'mps'}, default='cpu'
        Where the network computes.
    checkpoint : str, default=None
        A file that keeps the state of the fit, so that one that was cut off goes on from it.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    cluster_labels_ : array of shape (n_clusters,)
        The label of y that each cluster belongs to, of a fit with y; -1 or None for a cluster of no label.
    unit_ : array of shape (1,)
        What points are divided by before the network sees them.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    y holds what is known of the labels, with -1, None or NaN where none is: a labelled row goes to a cluster of its label. A y that has a
    label for every row is ignored, with a warning: it is a truth to compare with. With n_clusters=None there are as many clusters as the
    labels have together.
    X may be a list of .npy files, or an iterator over blocks of rows (arrays or tables), which are written once to a temporary file: either
    is read in blocks and need not fit into memory. Several processes may work on one fit (comm of fit).
    transform gives the rows in the space in which the method sees them.
    The command's name for it is imsat; its options are described in docs/reference/imsat.md, the method with its source in docs/methods.md.
    """

    _method = "imsat"
    _options = {
        "n_clusters": "clusters", "network": "network", "image": "image", "widths": "widths", "kernel": "kernel", "augment": "augment",
        "rotation": "rotation", "shift": "shift", "zoom": "zoom", "colour": "colour", "noise": "noise", "epochs": "epochs", "batch_size":
        "batch_size", "learning_rate": "learning_rate", "backbone_rate": "backbone_rate", "pretrained": "pretrained", "weight_decay":
        "weight_decay", "label_weight": "label_weight", "n_init": "restarts", "half": "half", "fairness": "fairness", "augmentation_weight":
        "augmentation_weight", "prior": "prior", "view": "view", "adversarial_radius": "adversarial_radius"
    }
    _blocks = True
    _takes_labels = True

    unit_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] | None = 8,
        *,
        network: str = 'auto',
        image: Sequence[int] | None = None,
        widths: Sequence[int] = (1200, 1200),
        kernel: int = 3,
        augment: str = 'auto',
        rotation: float = 15.0,
        shift: float = 0.1,
        zoom: float = 0.1,
        colour: float = 0.2,
        noise: float = 0.3,
        epochs: int = 50,
        batch_size: int = 250,
        learning_rate: float = 0.001,
        backbone_rate: float | None = None,
        pretrained: str = '',
        weight_decay: float = 0.0001,
        label_weight: float = 1.0,
        n_init: int = 1,
        half: bool = False,
        fairness: float = 4.0,
        augmentation_weight: float = 10.0,
        prior: Sequence[float] | None = None,
        view: str = 'auto',
        adversarial_radius: float = 0.25,
        clusters_per_label: Mapping[Any, int] | None = None,
        label_share: Mapping[Any, Any] | None = None,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        device: str = 'cpu',
        checkpoint: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.network = network
        self.image = image
        self.widths = widths
        self.kernel = kernel
        self.augment = augment
        self.rotation = rotation
        self.shift = shift
        self.zoom = zoom
        self.colour = colour
        self.noise = noise
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.backbone_rate = backbone_rate
        self.pretrained = pretrained
        self.weight_decay = weight_decay
        self.label_weight = label_weight
        self.n_init = n_init
        self.half = half
        self.fairness = fairness
        self.augmentation_weight = augmentation_weight
        self.prior = prior
        self.view = view
        self.adversarial_radius = adversarial_radius
        self.clusters_per_label = clusters_per_label
        self.label_share = label_share
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.device = device
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class Iic(Transforms, GivesMemberships, GivesLabelScores, GivesOutlierScores, BlockClusterer):
    """IIC: mutual information of the clusters of two views (LibTorch).

    Parameters
    ----------
    n_clusters : int, or 'auto', or None, default=8
        Number of clusters k. A whole number, at least 1. None: as many as the partial labels have. 'auto': chosen by seven criteria
        (cluster_choice_).
    network : {'auto', 'dense', 'vgg4', 'resnet18'}, default='auto'
        Auto: vgg4 for images, dense without image.
    image : list of int, or None, default=None
        Rows and columns of an image, 28x28, after the channels, 3x32x32. A list of whole numbers, from 1 to 999999. None: the points are
        vectors.
    widths : list of int, default=(1200, 1200)
        Dense: units of the layers between the points and the head. A list of whole numbers, from 1 to 999999.
    kernel : int, default=3
        Vgg4: side of its convolutions, odd. A whole number, from 1 to 15.
    augment : str, default='auto'
        How views are changed: none, None, or some of flip, rotation, shift, zoom, colour and noise, with commas between them; auto:
        rotation,shift,zoom,colour for images, noise for vectors.
    rotation : float, default=15.0
        Uniform on +- this, degrees. A number, from 0 to 180.
    shift : float, default=0.1
        Uniform on +- this, share of each side. A number, from 0 to 1.
    zoom : float, default=0.1
        Sides times or divided by up to 1 + this. A number, from 0 to 10.
    colour : float, default=0.2
        Every channel times 1 +- up to this, plus or minus up to this times the points' deviation. A number, from 0 to 1.
    noise : float, default=0.3
        Deviation of normal noise, share of each column's. A number, from 0 to 100.
    epochs : int, default=50
        Passes over the points. A whole number, at least 1.
    batch_size : int, default=250
        Points per batch at most. A whole number, at least 1.
    learning_rate : float, default=0.001
        Of Adam. A number, above 0.
    backbone_rate : float, or None, default=None
        Learning rate of the layers before the head. A number, above 0. None: learning_rate.
    pretrained : str, default=''
        A file to take the layers before the head from: a classifier's model, or safetensors with ResNet-18's weights as torchvision names
        them.
    weight_decay : float, default=0.0001
        Times the parameters is added to their gradient. A number, at least 0.
    label_weight : float, default=1.0
        Weight of the partial labels' own loss. A number, at least 0.
    n_init : int, default=1
        Fits from different starts; the one with the least sum of the predictions' mean entropy and their mean's divergence from the prior
        is kept. A whole number, at least 1.
    half : bool, default=False
        Passes in bfloat16, faster where the device is made for them.
    augmentations : int, default=1
        Changed views of a point per step; 1: beside the point itself. A whole number, from 1 to 2.
    clusters_per_label : dict, default=None
        How many clusters a label of y has: {label: number}; one where nothing is said.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    device : {'cpu', 'cuda', 'mps'}, default='cpu'
        Where the network computes.
    checkpoint : str, default=None
        A file that keeps the state of the fit, so that one that was cut off goes on from it.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    cluster_labels_ : array of shape (n_clusters,)
        The label of y that each cluster belongs to, of a fit with y; -1 or None for a cluster of no label.
    unit_ : array of shape (1,)
        What points are divided by before the network sees them.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    y holds what is known of the labels, with -1, None or NaN where none is: a labelled row goes to a cluster of its label. A y that has a
    label for every row is ignored, with a warning: it is a truth to compare with. With n_clusters=None there are as many clusters as the
    labels have together.
    X may be a list of .npy files, or an iterator over blocks of rows (arrays or tables), which are written once to a temporary file: either
    is read in blocks and need not fit into memory. Several processes may work on one fit (comm of fit).
    transform gives the rows in the space in which the method sees them.
    The command's name for it is iic; its options are described in docs/reference/iic.md, the method with its source in docs/methods.md.
    """

    _method = "iic"
    _options = {
        "n_clusters": "clusters", "network": "network", "image": "image", "widths": "widths", "kernel": "kernel", "augment": "augment",
        "rotation": "rotation", "shift": "shift", "zoom": "zoom", "colour": "colour", "noise": "noise", "epochs": "epochs", "batch_size":
        "batch_size", "learning_rate": "learning_rate", "backbone_rate": "backbone_rate", "pretrained": "pretrained", "weight_decay":
        "weight_decay", "label_weight": "label_weight", "n_init": "restarts", "half": "half", "augmentations": "augmentations"
    }
    _blocks = True
    _takes_labels = True

    unit_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] | None = 8,
        *,
        network: str = 'auto',
        image: Sequence[int] | None = None,
        widths: Sequence[int] = (1200, 1200),
        kernel: int = 3,
        augment: str = 'auto',
        rotation: float = 15.0,
        shift: float = 0.1,
        zoom: float = 0.1,
        colour: float = 0.2,
        noise: float = 0.3,
        epochs: int = 50,
        batch_size: int = 250,
        learning_rate: float = 0.001,
        backbone_rate: float | None = None,
        pretrained: str = '',
        weight_decay: float = 0.0001,
        label_weight: float = 1.0,
        n_init: int = 1,
        half: bool = False,
        augmentations: int = 1,
        clusters_per_label: Mapping[Any, int] | None = None,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        device: str = 'cpu',
        checkpoint: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.network = network
        self.image = image
        self.widths = widths
        self.kernel = kernel
        self.augment = augment
        self.rotation = rotation
        self.shift = shift
        self.zoom = zoom
        self.colour = colour
        self.noise = noise
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.backbone_rate = backbone_rate
        self.pretrained = pretrained
        self.weight_decay = weight_decay
        self.label_weight = label_weight
        self.n_init = n_init
        self.half = half
        self.augmentations = augmentations
        self.clusters_per_label = clusters_per_label
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.device = device
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class SelaNet(Transforms, GivesMemberships, GivesLabelScores, GivesOutlierScores, BlockClusterer):
    """Self-labelling by optimal transport: a network of one-hot labels (LibTorch).

    Parameters
    ----------
    n_clusters : int, or 'auto', or None, default=8
        Number of clusters k. A whole number, at least 1. None: as many as the partial labels have. 'auto': chosen by seven criteria
        (cluster_choice_).
    network : {'auto', 'dense', 'vgg4', 'resnet18'}, default='auto'
        Auto: vgg4 for images, dense without image.
    image : list of int, or None, default=None
        Rows and columns of an image, 28x28, after the channels, 3x32x32. A list of whole numbers, from 1 to 999999. None: the points are
        vectors.
    widths : list of int, default=(1200, 1200)
        Dense: units of the layers between the points and the head. A list of whole numbers, from 1 to 999999.
    kernel : int, default=3
        Vgg4: side of its convolutions, odd. A whole number, from 1 to 15.
    augment : str, default='auto'
        How views are changed: none, None, or some of flip, rotation, shift, zoom, colour and noise, with commas between them; auto:
        rotation,shift,zoom,colour for images, noise for vectors.
    rotation : float, default=15.0
        Uniform on +- this, degrees. A number, from 0 to 180.
    shift : float, default=0.1
        Uniform on +- this, share of each side. A number, from 0 to 1.
    zoom : float, default=0.1
        Sides times or divided by up to 1 + this. A number, from 0 to 10.
    colour : float, default=0.2
        Every channel times 1 +- up to this, plus or minus up to this times the points' deviation. A number, from 0 to 1.
    noise : float, default=0.3
        Deviation of normal noise, share of each column's. A number, from 0 to 100.
    epochs : int, default=50
        Passes over the points. A whole number, at least 1.
    batch_size : int, default=250
        Points per batch at most. A whole number, at least 1.
    learning_rate : float, default=0.001
        Of Adam. A number, above 0.
    backbone_rate : float, or None, default=None
        Learning rate of the layers before the head. A number, above 0. None: learning_rate.
    pretrained : str, default=''
        A file to take the layers before the head from: a classifier's model, or safetensors with ResNet-18's weights as torchvision names
        them.
    weight_decay : float, default=0.0001
        Times the parameters is added to their gradient. A number, at least 0.
    label_weight : float, default=1.0
        Weight of the partial labels' own loss. A number, at least 0.
    n_init : int, default=1
        Fits from different starts; the one with the least sum of the predictions' mean entropy and their mean's divergence from the prior
        is kept. A whole number, at least 1.
    half : bool, default=False
        Passes in bfloat16, faster where the device is made for them.
    augmentations : int, default=2
        Changed views of a point per step; 1: beside the point itself. A whole number, from 1 to 2.
    augmentation_weight : float, default=0.2
        Weight of the divergence of the two views' predictions. A number, at least 0.
    sharpness : float, default=25.0
        Of the transport: the power of the predictions whose row and column sums it scales. A number, from 1e-06 to 1e+06.
    prior : list of float, or None, default=None
        Share of each cluster: k numbers that sum to 1. A list of numbers, above 0. None: equal shares.
    labels_per : {'batch', 'epoch'}, default='epoch'
        When labels are renewed.
    clusters_per_label : dict, default=None
        How many clusters a label of y has: {label: number}; one where nothing is said.
    label_share : dict, default=None
        The share of all rows, labelled ones included, that the clusters of a label of y take: {label: 0.95}.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    device : {'cpu', 'cuda', 'mps'}, default='cpu'
        Where the network computes.
    checkpoint : str, default=None
        A file that keeps the state of the fit, so that one that was cut off goes on from it.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    cluster_labels_ : array of shape (n_clusters,)
        The label of y that each cluster belongs to, of a fit with y; -1 or None for a cluster of no label.
    unit_ : array of shape (1,)
        What points are divided by before the network sees them.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    y holds what is known of the labels, with -1, None or NaN where none is: a labelled row goes to a cluster of its label. A y that has a
    label for every row is ignored, with a warning: it is a truth to compare with. With n_clusters=None there are as many clusters as the
    labels have together.
    X may be a list of .npy files, or an iterator over blocks of rows (arrays or tables), which are written once to a temporary file: either
    is read in blocks and need not fit into memory. Several processes may work on one fit (comm of fit).
    transform gives the rows in the space in which the method sees them.
    The command's name for it is sela-net; its options are described in docs/reference/sela-net.md, the method with its source in
    docs/methods.md.
    """

    _method = "sela-net"
    _options = {
        "n_clusters": "clusters", "network": "network", "image": "image", "widths": "widths", "kernel": "kernel", "augment": "augment",
        "rotation": "rotation", "shift": "shift", "zoom": "zoom", "colour": "colour", "noise": "noise", "epochs": "epochs", "batch_size":
        "batch_size", "learning_rate": "learning_rate", "backbone_rate": "backbone_rate", "pretrained": "pretrained", "weight_decay":
        "weight_decay", "label_weight": "label_weight", "n_init": "restarts", "half": "half", "augmentations": "augmentations",
        "augmentation_weight": "augmentation_weight", "sharpness": "sharpness", "prior": "prior", "labels_per": "labels_per"
    }
    _blocks = True
    _takes_labels = True

    unit_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] | None = 8,
        *,
        network: str = 'auto',
        image: Sequence[int] | None = None,
        widths: Sequence[int] = (1200, 1200),
        kernel: int = 3,
        augment: str = 'auto',
        rotation: float = 15.0,
        shift: float = 0.1,
        zoom: float = 0.1,
        colour: float = 0.2,
        noise: float = 0.3,
        epochs: int = 50,
        batch_size: int = 250,
        learning_rate: float = 0.001,
        backbone_rate: float | None = None,
        pretrained: str = '',
        weight_decay: float = 0.0001,
        label_weight: float = 1.0,
        n_init: int = 1,
        half: bool = False,
        augmentations: int = 2,
        augmentation_weight: float = 0.2,
        sharpness: float = 25.0,
        prior: Sequence[float] | None = None,
        labels_per: str = 'epoch',
        clusters_per_label: Mapping[Any, int] | None = None,
        label_share: Mapping[Any, Any] | None = None,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        device: str = 'cpu',
        checkpoint: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.network = network
        self.image = image
        self.widths = widths
        self.kernel = kernel
        self.augment = augment
        self.rotation = rotation
        self.shift = shift
        self.zoom = zoom
        self.colour = colour
        self.noise = noise
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.backbone_rate = backbone_rate
        self.pretrained = pretrained
        self.weight_decay = weight_decay
        self.label_weight = label_weight
        self.n_init = n_init
        self.half = half
        self.augmentations = augmentations
        self.augmentation_weight = augmentation_weight
        self.sharpness = sharpness
        self.prior = prior
        self.labels_per = labels_per
        self.clusters_per_label = clusters_per_label
        self.label_share = label_share
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.device = device
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class MiadmNet(Transforms, GivesMemberships, GivesLabelScores, GivesOutlierScores, BlockClusterer):
    """Self-labelling by alternating directions: a network of soft labels (LibTorch).

    Parameters
    ----------
    n_clusters : int, or 'auto', or None, default=8
        Number of clusters k. A whole number, at least 1. None: as many as the partial labels have. 'auto': chosen by seven criteria
        (cluster_choice_).
    network : {'auto', 'dense', 'vgg4', 'resnet18'}, default='auto'
        Auto: vgg4 for images, dense without image.
    image : list of int, or None, default=None
        Rows and columns of an image, 28x28, after the channels, 3x32x32. A list of whole numbers, from 1 to 999999. None: the points are
        vectors.
    widths : list of int, default=(1200, 1200)
        Dense: units of the layers between the points and the head. A list of whole numbers, from 1 to 999999.
    kernel : int, default=3
        Vgg4: side of its convolutions, odd. A whole number, from 1 to 15.
    augment : str, default='auto'
        How views are changed: none, None, or some of flip, rotation, shift, zoom, colour and noise, with commas between them; auto:
        rotation,shift,zoom,colour for images, noise for vectors.
    rotation : float, default=15.0
        Uniform on +- this, degrees. A number, from 0 to 180.
    shift : float, default=0.1
        Uniform on +- this, share of each side. A number, from 0 to 1.
    zoom : float, default=0.1
        Sides times or divided by up to 1 + this. A number, from 0 to 10.
    colour : float, default=0.2
        Every channel times 1 +- up to this, plus or minus up to this times the points' deviation. A number, from 0 to 1.
    noise : float, default=0.3
        Deviation of normal noise, share of each column's. A number, from 0 to 100.
    epochs : int, default=50
        Passes over the points. A whole number, at least 1.
    batch_size : int, default=250
        Points per batch at most. A whole number, at least 1.
    learning_rate : float, default=0.001
        Of Adam. A number, above 0.
    backbone_rate : float, or None, default=None
        Learning rate of the layers before the head. A number, above 0. None: learning_rate.
    pretrained : str, default=''
        A file to take the layers before the head from: a classifier's model, or safetensors with ResNet-18's weights as torchvision names
        them.
    weight_decay : float, default=0.0001
        Times the parameters is added to their gradient. A number, at least 0.
    label_weight : float, default=1.0
        Weight of the partial labels' own loss. A number, at least 0.
    n_init : int, default=1
        Fits from different starts; the one with the least sum of the predictions' mean entropy and their mean's divergence from the prior
        is kept. A whole number, at least 1.
    half : bool, default=False
        Passes in bfloat16, faster where the device is made for them.
    augmentations : int, default=2
        Changed views of a point per step; 1: beside the point itself. A whole number, from 1 to 2.
    augmentation_weight : float, default=0.2
        Weight of the divergence of the two views' predictions. A number, at least 0.
    labels_per : {'batch', 'epoch'}, default='batch'
        When labels are renewed (batch: MIADM*).
    clusters_per_label : dict, default=None
        How many clusters a label of y has: {label: number}; one where nothing is said.
    center : bool, default=False
        Subtract each column's mean. Learned in fit, kept in the model, applied to later rows.
    scale : {'none', 'minmax', 'zscore', 'unit'}, default='none'
        Minmax: each column to a range of 1; zscore: each column to mean 0 and variance 1; unit: each row to norm 1. Learned in fit, kept in
        the model, applied to later rows.
    missing : {'refuse', 'drop', 'mean', 'median'}, default='refuse'
        Missing values (an empty field, NA, NaN, null, ?, -): drop leaves such rows out, without a label; mean and median fill them in,
        words with the commonest. Learned in fit, kept in the model, applied to later rows.
    categorical : {'refuse', 'one-hot', 'drop'}, default='refuse'
        Columns of words: one-hot makes a column for each word, 1/sqrt(2) or 0, so that two words are 1 apart; drop leaves them out. Learned
        in fit, kept in the model, applied to later rows.
    dates : bool, default=False
        Columns of dates (2026-11-23, 23.11.2026) are numbers of days. Learned in fit, kept in the model, applied to later rows.
    sample : int, or None, default=None
        Fit on so many rows, drawn by the seed, and label the others by the model; centring and scaling are those of all rows. A whole
        number, at least 1. None: all rows.
    noise_share : float, default=0.0
        Make noise, label -1, of this share of the rows: those with the largest outlier scores; predict does the same with later rows of
        such scores; 0: no row is noise. A number, at least 0 and below 0.5.
    device : {'cpu', 'cuda', 'mps'}, default='cpu'
        Where the network computes.
    checkpoint : str, default=None
        A file that keeps the state of the fit, so that one that was cut off goes on from it.
    random_state : int, generator of NumPy's or None, default=0
        Seed: the same one gives the same bits at any number of threads. None: another one each time.
    n_jobs : int, default=None
        Threads; -1: all that the process may use; None: OMP_NUM_THREADS where that is set, else all. The result does not depend on it.
    verbose : int, default=0
        Above 0: shows progress, with tqdm where that is installed, else on standard error.
    callback : callable, default=None
        Called between iterations with a dict of stage, fraction (of the stage), objective and iteration; where it returns true the fit ends
        with what was found so far.

    Attributes
    ----------
    labels_ : array of int32 of shape (n_samples,)
        The cluster of each row of the fit; -1: noise, or a row that was left out.
    n_clusters_ : int
        How many clusters there are: with n_clusters='auto' the number that was chosen.
    cluster_choice_ : dict or None
        With n_clusters='auto' how it was chosen: recommended, sureness, clusters (those tried) and criteria, each with name, rule, chosen,
        values and spreads.
    cluster_labels_ : array of shape (n_clusters,)
        The label of y that each cluster belongs to, of a fit with y; -1 or None for a cluster of no label.
    unit_ : array of shape (1,)
        What points are divided by before the network sees them.
    column_range_ : array of shape (2, n_features)
        The least and the largest value of each column, prepared, among the rows of the fit.
    outlier_centroids_ : array of shape (n_clusters, p)
        The mean of the rows of each cluster, in the embedding: outlier scores are distances to them.
    outlier_spreads_ : array of shape (n_clusters,)
        The root mean square of these distances in the fit, which outlier scores are in units of.
    objective_ : float
        The method's objective at the end.
    n_iter_ : int
        Iterations of the restart that was kept.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array of str
        Their names, where X had names.
    fit_report_ : dict
        How the fit went: sizes, objective_per_iteration, stopped (why it ended), seconds of its stages, fit_seconds, details.

    Raises
    ------
    ValueError
        A parameter or X is not accepted: the message names it, its value and what is accepted. BadArgument and BadData are its kinds.
    MemoryError, OSError
        Memory, or a library, could not be had (ResourceError).

    Notes
    -----
    y holds what is known of the labels, with -1, None or NaN where none is: a labelled row goes to a cluster of its label. A y that has a
    label for every row is ignored, with a warning: it is a truth to compare with. With n_clusters=None there are as many clusters as the
    labels have together.
    X may be a list of .npy files, or an iterator over blocks of rows (arrays or tables), which are written once to a temporary file: either
    is read in blocks and need not fit into memory. Several processes may work on one fit (comm of fit).
    transform gives the rows in the space in which the method sees them.
    The command's name for it is miadm-net; its options are described in docs/reference/miadm-net.md, the method with its source in
    docs/methods.md.
    """

    _method = "miadm-net"
    _options = {
        "n_clusters": "clusters", "network": "network", "image": "image", "widths": "widths", "kernel": "kernel", "augment": "augment",
        "rotation": "rotation", "shift": "shift", "zoom": "zoom", "colour": "colour", "noise": "noise", "epochs": "epochs", "batch_size":
        "batch_size", "learning_rate": "learning_rate", "backbone_rate": "backbone_rate", "pretrained": "pretrained", "weight_decay":
        "weight_decay", "label_weight": "label_weight", "n_init": "restarts", "half": "half", "augmentations": "augmentations",
        "augmentation_weight": "augmentation_weight", "labels_per": "labels_per"
    }
    _blocks = True
    _takes_labels = True

    unit_: np.ndarray
    column_range_: np.ndarray
    outlier_centroids_: np.ndarray
    outlier_spreads_: np.ndarray

    def __init__(
        self,
        n_clusters: int | Literal['auto'] | None = 8,
        *,
        network: str = 'auto',
        image: Sequence[int] | None = None,
        widths: Sequence[int] = (1200, 1200),
        kernel: int = 3,
        augment: str = 'auto',
        rotation: float = 15.0,
        shift: float = 0.1,
        zoom: float = 0.1,
        colour: float = 0.2,
        noise: float = 0.3,
        epochs: int = 50,
        batch_size: int = 250,
        learning_rate: float = 0.001,
        backbone_rate: float | None = None,
        pretrained: str = '',
        weight_decay: float = 0.0001,
        label_weight: float = 1.0,
        n_init: int = 1,
        half: bool = False,
        augmentations: int = 2,
        augmentation_weight: float = 0.2,
        labels_per: str = 'batch',
        clusters_per_label: Mapping[Any, int] | None = None,
        center: bool = False,
        scale: str = 'none',
        missing: str = 'refuse',
        categorical: str = 'refuse',
        dates: bool = False,
        sample: int | None = None,
        noise_share: float = 0.0,
        device: str = 'cpu',
        checkpoint: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.network = network
        self.image = image
        self.widths = widths
        self.kernel = kernel
        self.augment = augment
        self.rotation = rotation
        self.shift = shift
        self.zoom = zoom
        self.colour = colour
        self.noise = noise
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.backbone_rate = backbone_rate
        self.pretrained = pretrained
        self.weight_decay = weight_decay
        self.label_weight = label_weight
        self.n_init = n_init
        self.half = half
        self.augmentations = augmentations
        self.augmentation_weight = augmentation_weight
        self.labels_per = labels_per
        self.clusters_per_label = clusters_per_label
        self.center = center
        self.scale = scale
        self.missing = missing
        self.categorical = categorical
        self.dates = dates
        self.sample = sample
        self.noise_share = noise_share
        self.device = device
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
