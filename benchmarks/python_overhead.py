#!/usr/bin/env python3
"""The overhead of Python: elapsed seconds of `fit` and `predict`, minus the seconds that the library measures itself.

    PYTHONPATH=build/release/python build/venv/bin/python benchmarks/python_overhead.py [POINTS ...]

POINTS is data:NAME or a .npy file, for example data:digits, or data:mnist if it is installed. The least of 21 fits each, in milliseconds.
"""
import sys
import time

import numpy as np

import coterie


def measured(X, repeats=21):
    fits, predicts = [], []
    for _ in range(repeats):
        model = coterie.KMeans(10, max_iter=10, init="random", tol=0, callback=None)
        begin = time.perf_counter()
        model.fit(X)
        wall = time.perf_counter() - begin
        inside = model.fit_report_["fit_seconds"] + model.fit_report_["preparation_seconds"]
        fits.append((wall - inside, inside))
        begin = time.perf_counter()
        model.predict(X[:1])
        predicts.append(time.perf_counter() - begin)
    return min(fits), min(predicts)


def main():
    import warnings

    warnings.simplefilter("ignore")
    print("points                shape            fit, library    Python adds    share    predict of one row, all")
    for name in sys.argv[1:] or ["data:digits"]:
        X = coterie.datasets.load(name.removeprefix("data:")).data if name.startswith("data:") else np.load(name)
        (adds, inside), one = measured(X)
        print(f"{name:21} {str(X.shape):16} {1e3 * inside:9.2f} ms   {1e3 * adds:9.3f} ms {adds / inside:9.2%}  {1e3 * one:9.3f} ms")


if __name__ == "__main__":
    main()
