#!/usr/bin/env python3
"""Compares k-means with must-links and cannot-links with COP-k-means, in one run.

    PYTHONPATH=build/benchmark/python benchmarks/pairs_peers.py [--rows 20000] [--pairs 2000] [--skip-peer]

Run it with a Python that has PyPI's active-semi-supervised-clustering, for its COPKMeans (benchmarks/README.md). The rows are ten Gaussian clusters
in ten columns. Clusters and centres have standard deviation 1, so the clusters overlap. Half of the pairs lie within clusters, half across. Both
programs get the same pairs. Prints seconds, inertia, broken pairs, and the adjusted Rand index with the true clusters.
"""
import argparse
import time

import numpy as np

import coterie


def points_and_pairs(rows, count, seed=0):
    random = np.random.default_rng(seed)
    centres = random.normal(size=(10, 10))
    truth = random.integers(10, size=rows)
    points = centres[truth] + random.normal(size=(rows, 10))
    must, cannot = [], []
    while len(must) < count // 2 or len(cannot) < count // 2:
        a, b = (int(i) for i in random.integers(rows, size=2))
        if a == b:
            continue
        pairs = must if truth[a] == truth[b] else cannot
        if len(pairs) < count // 2:
            pairs.append((a, b))
    return points, truth, must, cannot


def line(name, seconds, labels, points, truth, must, cannot):
    centroids = np.stack([points[labels == j].mean(axis=0) for j in range(10)])
    inertia = ((points - centroids[labels]) ** 2).sum()
    broken = sum(labels[a] != labels[b] for a, b in must) + sum(labels[a] == labels[b] for a, b in cannot)
    print(f"{name:24} {seconds:9.3f} s  inertia {inertia:.6g}  pairs broken {broken}  ARI {coterie.metrics.adjusted_rand_score(truth, labels):.4f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--skip-peer", action="store_true")
    given = parser.parse_args()
    points, truth, must, cannot = points_and_pairs(given.rows, given.pairs)
    for name, pairs in (("coterie, no pairs", ((), ())), ("coterie", (must, cannot))):
        begin = time.perf_counter()
        model = coterie.KMeans(10, n_init=1, random_state=0, max_iter=100, n_jobs=1, must_links=pairs[0] or None, cannot_links=pairs[1] or None).fit(points)
        line(name, time.perf_counter() - begin, model.labels_, points, truth, must, cannot)
    if given.skip_peer:
        return
    from active_semi_clustering.semi_supervised.pairwise_constraints import COPKMeans

    np.random.seed(0)
    begin = time.perf_counter()
    peer = COPKMeans(n_clusters=10, max_iter=100)
    try:
        peer.fit(points, ml=must, cl=cannot)
    except Exception as error:  # it gives up after its greedy choice met a thousand conflicts
        print(f"COPKMeans: {type(error).__name__} after {time.perf_counter() - begin:.1f} s")
        return
    line("COPKMeans", time.perf_counter() - begin, np.asarray(peer.labels_), points, truth, must, cannot)


if __name__ == "__main__":
    main()
