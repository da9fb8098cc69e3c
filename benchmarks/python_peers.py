#!/usr/bin/env python3
"""coterie beside scikit-learn, faiss and k-means-constrained, called from Python as a user would.

    PYTHONPATH=build/release/python PYTHON benchmarks/python_peers.py [--repeats 3] [--quick]

PYTHON has scikit-learn, and faiss and k-means-constrained where they are to be compared. The repeats of the peers take turns, and the least time of each
is told: on a busy machine that is still no fair figure. k-means starts from the same rows everywhere.
"""
import argparse
import time
import warnings

import numpy as np
import sklearn.cluster
import sklearn.datasets

import coterie

warnings.simplefilter("ignore")
try:
    import faiss
except ImportError:
    faiss = None
try:
    from k_means_constrained import KMeansConstrained
except ImportError:
    KMeansConstrained = None


def blobs(n, d, k):
    random = np.random.default_rng(0)
    centers = random.normal(scale=3, size=(k, d))
    return (centers[random.integers(0, k, n)] + random.normal(size=(n, d))).astype(np.float32)


def inertia(X, labels, k):
    total = 0.0
    for cluster in range(k):
        rows = X[labels == cluster].astype(np.float64)
        if len(rows):
            total += ((rows - rows.mean(axis=0)) ** 2).sum()
    return total


def faiss_labels(X, k, start, rounds):
    model = faiss.Kmeans(X.shape[1], k, niter=rounds, seed=1, max_points_per_centroid=10**9, min_points_per_centroid=1)
    model.train(X, init_centroids=start)
    return model.index.search(X, 1)[1][:, 0]


def compare(title, work, repeats, told):
    """work: name -> function that returns what is told of it."""
    best, said = {}, {}
    for _ in range(repeats):
        for name, function in work.items():
            begin = time.perf_counter()
            found = function()
            best[name] = min(best.get(name, np.inf), time.perf_counter() - begin)
            said[name] = found
    ours = best["coterie"]
    for name, seconds in best.items():
        print(f"{title:44} {name:22} {seconds:9.3f} s {seconds / ours:7.2f}x  {told(said[name])}", flush=True)
        title = ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    arguments = parser.parse_args()
    less = 10 if arguments.quick else 1
    print(f"coterie {coterie.__version__}, scikit-learn {sklearn.__version__}, faiss {faiss.__version__ if faiss else 'absent'}, NumPy {np.__version__}")
    for n, d, k in ((60_000 // less, 256, 100), (300_000 // less, 64, 128)):
        X = blobs(n, d, k)
        start = X[np.random.default_rng(1).choice(n, k, replace=False)]
        work = {
            "coterie": lambda: coterie.KMeans(k, init=start, max_iter=10, tol=0).fit(X).labels_,
            "scikit-learn": lambda: sklearn.cluster.KMeans(k, init=start, n_init=1, max_iter=10, tol=0).fit(X).labels_,
        }
        if faiss:
            work["faiss"] = lambda: faiss_labels(X, k, start, 10)
        compare(f"k-means, 10 rounds, {n} x {d}, k {k}", work, arguments.repeats, lambda labels: f"inertia {inertia(X, labels, k):.6g}")
        compare(
            f"k-means with seeding, {n} x {d}, k {k}",
            {
                "coterie": lambda: coterie.KMeans(k).fit(X).inertia_,
                "scikit-learn": lambda: sklearn.cluster.KMeans(k, n_init=1, random_state=0).fit(X).inertia_,
            },
            arguments.repeats,
            lambda value: f"inertia {value:.6g}",
        )
        compare(
            f"mini-batch k-means, {n} x {d}, k {k}",
            {
                "coterie": lambda: coterie.MiniBatchKMeans(k).fit(X).labels_,
                "scikit-learn": lambda: sklearn.cluster.MiniBatchKMeans(k, n_init=1, random_state=0).fit(X).labels_,
            },
            arguments.repeats,
            lambda labels: f"inertia {inertia(X, labels, k):.6g}",
        )
    digits = sklearn.datasets.load_digits()
    compare(
        "Ward, digits 1797 x 64, k 10",
        {
            "coterie": lambda: coterie.Ward(10).fit(digits.data).labels_,
            "scikit-learn": lambda: sklearn.cluster.AgglomerativeClustering(10).fit(digits.data).labels_,
        },
        arguments.repeats,
        lambda labels: f"ARI {coterie.metrics.adjusted_rand_score(digits.target, labels):.3f}",
    )
    compare(
        "spectral, 15 neighbours, digits, k 10",
        {
            "coterie": lambda: coterie.Spectral(10).fit(digits.data).labels_,
            "scikit-learn": lambda: sklearn.cluster.SpectralClustering(10, affinity="nearest_neighbors", n_neighbors=15, random_state=0).fit(digits.data).labels_,
        },
        arguments.repeats,
        lambda labels: f"ARI {coterie.metrics.adjusted_rand_score(digits.target, labels):.3f}",
    )
    n = 2000 // less
    X = blobs(n, 20, 10)
    low, high = n // 10 - n // 50, n // 10 + n // 50
    work = {"coterie": lambda: coterie.KMeans(10, sizes=(low, high)).fit(X).labels_}
    if KMeansConstrained:
        work["k-means-constrained"] = lambda: KMeansConstrained(10, size_min=low, size_max=high, n_init=1, random_state=0).fit(X).labels_
    compare(f"sizes {low} to {high}, {n} x 20, k 10", work, arguments.repeats, lambda labels: f"inertia {inertia(X, labels, 10):.6g}, sizes {np.bincount(labels).min()} to {np.bincount(labels).max()}")
    compare(
        f"silhouette, {len(digits.data)} x 64",
        {
            "coterie": lambda: coterie.metrics.silhouette_score(digits.data, digits.target),
            "scikit-learn": lambda: sklearn.metrics.silhouette_score(digits.data, digits.target),
        },
        arguments.repeats,
        lambda value: f"{value:.6f}",
    )


if __name__ == "__main__":
    import sklearn.metrics

    main()
