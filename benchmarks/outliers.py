#!/usr/bin/env python3
"""Area under the ROC curve of each method's outlier score, compared with the outlier detectors of scikit-learn.

    PYTHONPATH=build/release/python PYTHON benchmarks/outliers.py [--sets iris,wine] [--methods kmeans,ward] [--seeds 5]

PYTHON needs NumPy and scikit-learn. The usual method makes an outlier problem from a data set with classes: one class is thinned to a few rows, and
these are the outliers. Their number is a twentieth of the other rows, and at least five. Seed s thins class s (modulo the number of classes) and
draws the rows that it keeps. Columns have variance 1. Methods with a number of clusters get the number of remaining classes, and at least two.
Everything else is default, also for LocalOutlierFactor and IsolationForest. All rows are fitted, then scored by score_samples. 0.5 is chance, 1 is
perfect.

Data sets that are not on this machine are left out, with a message.
"""
import argparse
import sys
import time
import warnings

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

import coterie
from coterie import _core, _names

SETS = ["iris", "wine", "penguins", "breast-cancer", "digits", "dermatology", "ecoli", "auto-mpg", "pima-indians-diabetes", "breast-cancer-wisconsin", "usps"]
MOST_ROWS = 2000  # of a larger data set, every n-th row is used
PEERS = ["LocalOutlierFactor", "IsolationForest"]


def data_of(name):
    X, y = coterie.datasets.load(name, return_X_y=True)
    step = -(-len(X) // MOST_ROWS)
    return X[::step], y[::step]


def problem_of(X, y, seed):
    """(rows, whether each is an outlier, number of remaining classes)"""
    random = np.random.default_rng(seed)
    classes = np.unique(y)
    thinned = np.flatnonzero(y == classes[seed % len(classes)])
    others = np.flatnonzero(y != classes[seed % len(classes)])
    few = random.choice(thinned, min(len(thinned), max(5, len(others) // 20)), replace=False)
    rows = np.sort(np.concatenate([others, few]))
    kept = X[rows]
    spread = kept.std(axis=0)
    return (kept - kept.mean(axis=0)) / np.where(spread > 0, spread, 1), np.isin(rows, few), len(classes) - 1


def scores_of(name, X, clusters, seed):
    if name == "LocalOutlierFactor":
        return -LocalOutlierFactor().fit(X).negative_outlier_factor_
    if name == "IsolationForest":
        return -IsolationForest(random_state=seed).fit(X).score_samples(X)
    estimator = getattr(coterie, _names.class_of(name))()
    options = {"random_state": seed}
    if "n_clusters" in estimator.get_params():
        options["n_clusters"] = max(2, clusters)
    if "n_init" in estimator.get_params() and name in ("kmeans", "soft-kmeans", "spherical-kmeans", "kernel-kmeans", "minibatch-kmeans"):
        options["n_init"] = 10
    return -estimator.set_params(**options).fit(X).score_samples(X)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--methods", default=",".join(method["name"] for method in _core.methods() if not method["takes"]["device"]))
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    methods = PEERS + arguments.methods.split(",")
    areas, seconds, sets, sizes = {}, dict.fromkeys(methods, 0.0), [], []
    for name in arguments.sets.split(","):
        try:
            X, y = data_of(name)
        except ValueError as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        sets.append(name)
        problems = [problem_of(X, y, seed) for seed in range(arguments.seeds)]
        sizes.append(f"{name}: {min(len(p[0]) for p in problems)} to {max(len(p[0]) for p in problems)} rows, {X.shape[1]} columns")
        for method in methods:
            found = []
            for seed, (rows, outliers, clusters) in enumerate(problems):
                begun = time.process_time()
                try:
                    scores = scores_of(method, rows, clusters, seed)
                except (ValueError, MemoryError) as error:
                    print(f"{method} on {name}, seed {seed}: {error}", file=sys.stderr)
                    continue
                finally:
                    seconds[method] += time.process_time() - begun
                found.append(roc_auc_score(outliers, scores))
            areas[method, name] = np.mean(found) if len(found) == arguments.seeds else np.nan
        print(f"{name} is done", file=sys.stderr, flush=True)
    means = {method: np.mean([areas[method, name] for name in sets]) for method in methods}
    print("| method | mean | " + " | ".join(sets) + " |")
    print("|---|---|" + "---|" * len(sets))
    for method in sorted(methods, key=lambda method: -np.nan_to_num(means[method])):
        numbers = [areas[method, name] for name in sets]
        print(f"| {method} | {means[method]:.3f} | " + " | ".join(f"{number:.2f}" for number in numbers) + " |")
    print("\n" + "; ".join(sizes))
    print("processor seconds of all fits: " + ", ".join(f"{method} {seconds[method]:.0f}" for method in methods))


if __name__ == "__main__":
    main()
