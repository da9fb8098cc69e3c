#!/usr/bin/env python3
"""Compares k-means of sparse rows with scikit-learn, on generated texts.

    PYTHONPATH=build/release/python PYTHON benchmarks/sparse_peers.py [--rows 100000] [--columns 50000] [--clusters 10,100] [--rounds 10] [--threads 1]

PYTHON needs scikit-learn. A text has 50 words drawn by Zipf's law. Three fifths of them use the word order of its topic. Entries are
(1 + log count) idf, and rows have length 1. Each fit runs in its own process, from the same k rows and with the same maximal number of rounds. Prints
its processor seconds, and how much its memory grew above the peak of reading the data. scikit-learn has no spherical k-means, so its k-means stands
for that, too.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.sparse

WORDS, TOPICS = 50, 50


def texts(rows, columns):
    random = np.random.default_rng(0)
    shares = 1 / np.arange(1, columns + 1) ** 1.05
    words = np.minimum(np.searchsorted(np.cumsum(shares / shares.sum()), random.random((rows, WORDS))), columns - 1)
    orders = np.array([random.permutation(columns) for _ in range(TOPICS)])
    of_topic = orders[random.integers(TOPICS, size=rows)[:, None], words]
    words = np.where(random.random((rows, WORDS)) < 0.6, of_topic, words)
    X = scipy.sparse.coo_matrix((np.ones(words.size, np.float32), (np.repeat(np.arange(rows), WORDS), words.ravel())), shape=(rows, columns)).tocsr()
    idf = np.log(rows / (1 + np.bincount(X.indices, minlength=columns))) + 1
    X.data = ((1 + np.log(X.data)) * idf[X.indices]).astype(np.float32)
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(lengths, np.diff(X.indptr)).astype(np.float32)
    return X


def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def one(who, path, clusters, rounds, threads):
    """Prints the results of one process: processor seconds, rounds, objective, memory growth in MB."""
    X = scipy.sparse.load_npz(path)
    start = X[np.sort(np.random.default_rng(0).choice(X.shape[0], clusters, replace=False))].toarray()
    if who.startswith("scikit-learn"):
        from sklearn.cluster import KMeans

        model = KMeans(clusters, init=start, n_init=1, max_iter=rounds, tol=0, algorithm="lloyd")
    else:
        import coterie

        model = (coterie.SphericalKMeans if who == "coterie spherical" else coterie.KMeans)(clusters, init=start, max_iter=rounds, tol=0, n_jobs=threads)
    before, begin = memory(), time.process_time()
    model.fit(X)
    print(time.process_time() - begin, model.n_iter_, model.inertia_ if hasattr(model, "inertia_") else 2 * model.objective_, memory() - before)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=50_000)
    parser.add_argument("--clusters", default="10,100")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        who, path, clusters = arguments.one
        return one(who, path, int(clusters), arguments.rounds, arguments.threads)
    with tempfile.TemporaryDirectory() as folder:
        X = texts(arguments.rows, arguments.columns)
        path = os.path.join(folder, "texts.npz")
        scipy.sparse.save_npz(path, X, compressed=False)
        entries = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
        print(f"{X.shape[0]} x {X.shape[1]}, {X.nnz} entries, {entries / 2**20:.0f} MB, dense {X.shape[0] * X.shape[1] * 4 / 2**30:.1f} GB")
        print("| k | program | processor seconds | rounds | seconds per round | inertia | memory growth, MB |\n|---|---|---|---|---|---|---|")
        for clusters in arguments.clusters.split(","):
            for who in ("coterie", "coterie spherical", "scikit-learn"):
                words = [sys.executable, "-W", "ignore", __file__, "--rounds", str(arguments.rounds), "--threads", str(arguments.threads), "--one", who, path, clusters]
                environment = {**os.environ, "OMP_NUM_THREADS": str(arguments.threads)}
                done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
                seconds, rounds, inertia, grew = map(float, done.stdout.split())
                print(f"| {clusters} | {who} | {seconds:.2f} | {rounds:.0f} | {seconds / rounds:.3f} | {inertia:.1f} | {grew:.0f} |", flush=True)


if __name__ == "__main__":
    main()
