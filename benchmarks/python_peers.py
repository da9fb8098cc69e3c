#!/usr/bin/env python3
"""Compares coterie with scikit-learn, faiss and k-means-constrained from Python, called as a user would: one run, one table.

    OMP_NUM_THREADS=1 PYTHONPATH=build/release/python build/peers/bin/python benchmarks/python_peers.py [--repeats 5] [--quick] [--only mini] [--passed]

benchmarks/requirements.txt lists the peers; missing ones are left out. The packages take turns. Prints the least processor seconds of each, summed
over threads. OMP_NUM_THREADS applies to all packages; with one thread, other programs on the machine disturb least. --passed prints elapsed seconds
instead, for several threads on a quiet machine. Lines with "from rows" start from the same rows in all packages and run 10 rounds. So the inertia
must be the same, except that faiss does not move its centroids after the last round. The last column is coterie's time divided by that of the fastest
peer.
"""
import argparse
import time
import warnings

import numpy as np
import scipy
import sklearn.cluster
import sklearn.datasets
import sklearn.metrics
from sparse_peers import texts

import coterie

warnings.simplefilter("ignore")
try:
    import faiss
except ImportError:
    faiss = None
try:
    import k_means_constrained
except ImportError:
    k_means_constrained = None

PEERS = ("coterie", "scikit-learn", "faiss", "k-means-constrained")
ROUNDS = dict(max_iter=10, tol=0)


def blobs(n, d, k, spread=0.3):
    """Overlapping clusters, so that k-means needs more than two rounds."""
    random = np.random.default_rng(0)
    centers = random.normal(scale=spread, size=(k, d))
    return (centers[random.integers(0, k, n)] + random.normal(size=(n, d))).astype(np.float32)


def rows_of(X, k):
    return X[np.sort(np.random.default_rng(1).choice(X.shape[0], k, replace=False))]


def inertia(X, labels):
    """Sum of the squared distances to the means of the clusters."""
    total = 0.0
    for cluster in np.unique(labels):
        rows = X[labels == cluster].astype(np.float64)
        total += ((rows - rows.mean(axis=0)) ** 2).sum()
    return total


def faiss_labels(X, start, **more):
    model = faiss.Kmeans(X.shape[1], len(start), niter=10, seed=1, max_points_per_centroid=10**9, min_points_per_centroid=1, **more)
    model.train(X, init_centroids=start)
    return model.index.search(X, 1)[1][:, 0]


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def subjects(less):
    """(name, {package: function to time}, function from its result to the text in parentheses)"""
    for n, d, k in ((60_000 // less, 256, 100), (300_000 // less, 64, 128)):
        X = blobs(n, d, k)
        start = rows_of(X, k)
        told = lambda labels, X=X: f"{inertia(X, labels):.5g}"
        shape = f"{n:,} x {d}, k {k}"
        yield f"k-means from rows, {shape}", {
            "coterie": lambda X=X, start=start, k=k: coterie.KMeans(k, init=start, **ROUNDS).fit(X).labels_,
            "scikit-learn": lambda X=X, start=start, k=k: sklearn.cluster.KMeans(k, init=start, n_init=1, **ROUNDS).fit(X).labels_,
            "faiss": lambda X=X, start=start: faiss_labels(X, start),
        }, told  # fmt: skip
        yield f"seeding and one round, {shape}", {
            "coterie": lambda X=X, k=k: coterie.KMeans(k, max_iter=1, tol=0).fit(X).labels_,
            "scikit-learn": lambda X=X, k=k: sklearn.cluster.KMeans(k, n_init=1, max_iter=1, tol=0, random_state=0).fit(X).labels_,
        }, told
        if n <= 60_000:  # several hundred rounds
            yield f"k-means with defaults, {shape}", {
                "coterie": lambda X=X, k=k: coterie.KMeans(k).fit(X).labels_,
                "scikit-learn": lambda X=X, k=k: sklearn.cluster.KMeans(k, n_init=1, random_state=0).fit(X).labels_,
            }, told
        yield f"mini-batches, {shape}", {
            "coterie": lambda X=X, k=k: coterie.MiniBatchKMeans(k).fit(X).labels_,
            "scikit-learn": lambda X=X, k=k: sklearn.cluster.MiniBatchKMeans(k, n_init=1, random_state=0).fit(X).labels_,
        }, told
    n, d, k = 60_000 // less, 256, 100
    X = blobs(n, d, k)
    start = unit(rows_of(X, k))
    yield f"spherical k-means from rows, {n:,} x {d}, k {k}", {
        "coterie": lambda: coterie.SphericalKMeans(k, init=start, **ROUNDS).fit(X).labels_,
        "faiss": lambda: faiss_labels(unit(X), start, spherical=True),
    }, lambda labels: f"{inertia(unit(X), labels):.5g}"
    n = 20_000 // less
    sparse = texts(n, 10_000)
    sparse_start = rows_of(sparse, 20).toarray()
    of_sparse = lambda labels: f"{sum(sparse[labels == c].shape[0] * (1 - np.square(sparse[labels == c].mean(axis=0)).sum()) for c in np.unique(labels)):.5g}"
    yield f"sparse texts from rows, {n:,} x 10,000, k 20", {
        "coterie": lambda: coterie.KMeans(20, init=sparse_start, **ROUNDS).fit(sparse).labels_,
        "scikit-learn": lambda: sklearn.cluster.KMeans(20, init=sparse_start, n_init=1, **ROUNDS).fit(sparse).labels_,
    }, of_sparse
    for n, size in ((2_000 // less, 10), (10_000 // less, 20)):
        X = blobs(n, 20, size, 1.0)
        begin = rows_of(X, size)
        low, high = n * 8 // (10 * size), n * 12 // (10 * size)
        yield f"sizes {low} to {high} from rows, {n:,} x 20, k {size}", {
            "coterie": lambda X=X, size=size, begin=begin, low=low, high=high: coterie.KMeans(size, init=begin, sizes=(low, high), **ROUNDS).fit(X).labels_,
            "k-means-constrained": lambda X=X, size=size, begin=begin, low=low, high=high: k_means_constrained.KMeansConstrained(
                size, size_min=low, size_max=high, init=begin.astype(float), n_init=1, **ROUNDS
            ).fit(X.astype(float)).labels_,
        }, lambda labels, X=X: f"{inertia(X, labels):.5g}, {np.bincount(labels).min()} to {np.bincount(labels).max()}"  # fmt: skip
    digits = sklearn.datasets.load_digits()
    noisy = blobs(10_000 // less, 64, 10, 0.6)
    for name, X, truth in (("digits", digits.data, digits.target), (f"{len(noisy):,} x 64", noisy, None)):
        neighbors = dict(affinity="nearest_neighbors", n_neighbors=15, random_state=0)
        yield f"spectral, 15 neighbours, {name}, k 10", {
            "coterie": lambda X=X, neighbors=neighbors: coterie.Spectral(10, **neighbors).fit(X).labels_,
            "scikit-learn": lambda X=X, neighbors=neighbors: sklearn.cluster.SpectralClustering(10, **neighbors).fit(X).labels_,
        }, lambda labels, X=X, truth=truth: f"{inertia(X, labels):.5g}" + (f", ARI {sklearn.metrics.adjusted_rand_score(truth, labels):.3f}" if truth is not None else "")  # fmt: skip
    yield "Ward, digits, k 10", {
        "coterie": lambda: coterie.Ward(10).fit(digits.data).labels_,
        "scikit-learn": lambda: sklearn.cluster.AgglomerativeClustering(10).fit(digits.data).labels_,
    }, lambda labels: f"{inertia(digits.data, labels):.5g}"
    yield "silhouette, digits", {
        "coterie": lambda: coterie.metrics.silhouette_score(digits.data, digits.target),
        "scikit-learn": lambda: sklearn.metrics.silhouette_score(digits.data, digits.target),
    }, lambda value: f"{value:.6f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--only", default="", help="only the lines whose name starts with this")
    parser.add_argument("--passed", action="store_true", help="elapsed instead of processor seconds, for several threads on a quiet machine")
    arguments = parser.parse_args()
    clock = time.perf_counter if arguments.passed else time.process_time
    versions = {"faiss": faiss and faiss.__version__, "k-means-constrained": k_means_constrained and k_means_constrained.__version__}
    absent = [name for name, version in versions.items() if version is None]
    print(f"coterie {coterie.__version__}, scikit-learn {sklearn.__version__}, {versions}, NumPy {np.__version__}, SciPy {scipy.__version__}\n")
    print("| | " + " | ".join(PEERS) + " | coterie / peer |\n|---|" + "---|" * (len(PEERS) + 1))
    for subject, work, told in subjects(10 if arguments.quick else 1):
        if not subject.startswith(arguments.only):
            continue
        best, said = {}, {}
        for _ in range(arguments.repeats):
            for name in work:
                if name in absent:
                    continue
                begin = clock()
                found = work[name]()
                best[name] = min(best.get(name, np.inf), clock() - begin)
                said[name] = told(found)
        peers = [seconds for name, seconds in best.items() if name != "coterie"]
        cells = [f"{best[name]:.3f} s ({said[name]})" if name in best else "" for name in PEERS]
        print(f"| {subject} | " + " | ".join(cells) + f" | {best['coterie'] / min(peers):.2f} |" if peers else " | |", flush=True)


if __name__ == "__main__":
    main()
