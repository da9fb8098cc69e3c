#!/usr/bin/env python3
"""Compares k-means on three local Dask workers and in one process: elapsed seconds, with the same labels.

    PYTHONPATH=build/release/python build/venv/bin/python benchmarks/dask_workers.py

60,000 x 10, k 30, 30 iterations, one thread each, the least of five runs. Exit status 1 if the workers take two seconds more than one process.
"""
import time
import warnings

import dask.array
import distributed
import numpy as np

import coterie
import coterie.dask


def least(fit, repeats=5):
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        model = fit()
        seconds.append(time.perf_counter() - begin)
    return min(seconds), model


def main():
    warnings.simplefilter("ignore")
    random = np.random.default_rng(0)
    rows = random.normal(size=(60_000, 10)) + 3 * random.normal(size=(5, 10))[random.integers(5, size=60_000)]
    model = coterie.KMeans(30, max_iter=30, tol=0, n_jobs=1)
    alone, expected = least(lambda: model.fit(rows))
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        X = client.persist(dask.array.from_array(rows, (20_000, 10)))
        distributed.wait(X)
        together, found = least(lambda: coterie.dask.fit(model, X, client=client))
        assert np.array_equal(found.labels_.compute(), expected.labels_) and found.n_iter_ == expected.n_iter_ == 30
    print(f"one process {alone:.2f} s, three workers {together:.2f} s, {together - alone:.2f} s more")
    return together - alone > 2


if __name__ == "__main__":
    raise SystemExit(main())
