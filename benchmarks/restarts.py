#!/usr/bin/env python3
"""Measures what --restarts keeps: the accuracy of several starts of a method, and the criterion without labels that ranks them.

    COTERIE_DATA=FOLDER PYTHONPATH=build/release/python OMP_WAIT_POLICY=passive PYTHON benchmarks/restarts.py entropy-net mnist \\
        [--rows 2000] [--halve 28x28] [--starts 6] [--scale minmax] [--threads 1] [image=14,14 epochs=8 ...]

PYTHON needs NumPy. Start s is a fit with seed s. The number of clusters is that of the classes; options are named as in Python. The criterion is the
one by which --restarts chooses; less is better. --rows takes every n-th row of a larger data set. --halve HxW halves images of this size, by means of
four pixels. Prints ACC (per cent) and criterion of each start, and their rank correlation: -1 means that the criterion orders the starts as ACC does.
Also prints the mean ACC, that of the start that the criterion keeps, and the best one.
"""
import argparse
import ast
import sys
import time
import warnings

import numpy as np

import coterie
from coterie import _names

warnings.simplefilter("ignore")


def rows_of(name, most, halve):
    X, y = coterie.datasets.load(name, return_X_y=True)
    step = -(-len(X) // most) if most else 1
    X, y = X[::step], y[::step]
    if halve:
        height, width = map(int, halve.split("x"))
        X = X.reshape(len(X), height // 2, 2, width // 2, 2).mean((2, 4)).reshape(len(X), -1)
    return X, y


def value_of(text):
    """Reads an option: "14,14" becomes (14, 14), "0.5" a number, and "full" stays a string."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def criterion_of(report):
    """The method's restart_criterion(). For methods whose --restarts do not repeat whole fits: the objective."""
    details = report["details"]
    for name in ("criterion", "within_share", "within_shares"):
        if name in details:
            return np.mean(details[name])
    return details["decisiveness"] + details["fairness"] if "decisiveness" in details else report["objective"]


def ranks(values):
    """Ranks of the values. Equal values get the mean of their ranks."""
    values = np.asarray(values)
    return np.array([(values < value).sum() + ((values == value).sum() - 1) / 2 for value in values])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method")
    parser.add_argument("set")
    parser.add_argument("options", nargs="*", metavar="NAME=VALUE")
    parser.add_argument("--starts", type=int, default=6)
    parser.add_argument("--rows", type=int, default=0, help="maximal number of rows; 0: all")
    parser.add_argument("--halve", default="", metavar="HxW")
    parser.add_argument("--scale", default="minmax")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_intermixed_args()
    X, y = rows_of(arguments.set, arguments.rows, arguments.halve)
    options = {name: value_of(value) for name, value in (word.split("=", 1) for word in arguments.options)}
    options = {"n_clusters": len(np.unique(y)), "scale": arguments.scale, "n_jobs": arguments.threads, **options}
    accuracies, criteria = [], []
    begun = time.process_time()
    for start in range(arguments.starts):
        model = getattr(coterie, _names.class_of(arguments.method))(**options, random_state=start).fit(X)
        accuracies.append(100 * coterie.metrics.accuracy_score(y, model.labels_))
        criteria.append(criterion_of(model.fit_report_))
        print(f"start {start}: ACC {accuracies[-1]:.1f}, criterion {criteria[-1]:.4f}", file=sys.stderr, flush=True)
    seconds = (time.process_time() - begun) / arguments.starts
    kept = int(np.argmin(criteria))
    told_apart = min(np.ptp(criteria), np.ptp(accuracies)) > 0
    correlation = np.corrcoef(ranks(criteria), ranks(accuracies))[0, 1] if told_apart else np.nan
    print("| method, set | ACC of each start | criterion of each | rank correlation | mean ACC | kept | best | processor seconds per start |")
    print("|---" * 8 + "|")
    print(f"| `{arguments.method}`, {arguments.set}, {len(X):,} x {X.shape[1]} | {', '.join(f'{value:.1f}' for value in accuracies)} "
          f"| {', '.join(f'{value:.4f}' for value in criteria)} | {correlation:.2f} | {np.mean(accuracies):.1f} | {accuracies[kept]:.1f} "
          f"| {max(accuracies):.1f} | {seconds:.0f} |")


if __name__ == "__main__":
    main()
