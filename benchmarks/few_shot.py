#!/usr/bin/env python3
"""Accuracy from a few labelled rows per class: compares constrained k-means, with and without subspace, with simple baselines.

    benchmarks/few_shot.py --build build/benchmark [--data optdigits,usps,mnist] [--labelled 1,5,10] [--draws 50] [--mnist-rows 70000] [--jobs 2]

A draw labels --labelled random rows of each class. All methods see all rows and these labels. The score is the share of the other rows that get their
class (no alignment). Methods: nearest class mean; nearest labelled neighbour; self-training k-means (k-means from the class means, where labelled
rows may change cluster); coterie's constrained k-means (--projection none: labelled rows keep their label), alone and with the true class shares as
--label-share; subspace, hard and soft, alone and with the true shares. Pixels are only scaled to 0..1. Needs COTERIE_DATA.
Exit code 1 if the best form of subspace does not beat all baselines, on average over the data sets and label counts.
"""
import argparse
import concurrent.futures
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

from kmeans_peers import ROOT, data_folder, mnist


def load(name, mnist_rows):
    if name == "optdigits":
        table = np.loadtxt(gzip.open(data_folder() / "optdigits" / "digits.csv.gz"), delimiter=",")
        return (table[:, :-1] / 16).astype(np.float32), table[:, -1].astype(int)
    if name == "usps":
        x = np.load(data_folder() / "usps" / "usps_x.npy").reshape(9298, -1).astype(np.float32)
        return x / x.max(), np.load(data_folder() / "usps" / "usps_y.npy").astype(int)
    x, y = mnist()
    rows = np.random.default_rng(0).permutation(len(x))[:mnist_rows]
    return x[rows], y[rows].astype(int)


def nearest_rows(x, rows):
    """For each row of x, the index of the nearest of `rows`."""
    return ((rows ** 2).sum(1)[None] - 2 * x @ rows.T).argmin(1)


def self_training(x, means):
    labels = nearest_rows(x, means)
    for _ in range(300):
        means = np.array([x[labels == c].mean(0) if (labels == c).any() else means[c] for c in range(len(means))])
        moved = nearest_rows(x, means)
        if (moved == labels).all():
            break
        labels = moved
    return labels


METHODS = {
    "constrained": ["--projection", "none"],
    "constrained, shares": ["--projection", "none", "shares"],
    "subspace hard": [],
    "subspace hard, shares": ["shares"],
    "subspace soft": ["--assignment", "soft"],
    "subspace soft, shares": ["--assignment", "soft", "shares"],
}


def draw_of(coterie, folder, x, y, labelled, seed):
    random = np.random.default_rng(1000 * labelled + seed)
    classes = np.unique(y)
    known = np.concatenate([random.choice(np.flatnonzero(y == c), labelled, replace=False) for c in classes])
    rest = np.ones(len(y), bool)
    rest[known] = False
    means = np.array([x[known[y[known] == c]].mean(0) for c in classes])
    out = {
        "class mean": float((classes[nearest_rows(x, means)] == y)[rest].mean()),
        "labelled neighbour": float((y[known][nearest_rows(x, x[known])] == y)[rest].mean()),
        "self-training": float((classes[self_training(x, means)] == y)[rest].mean()),
    }
    partial = np.full(len(y), -1, np.int32)
    partial[known] = y[known]
    file = folder / f"partial-{labelled}-{seed}.npy"
    np.save(file, partial)
    shares = ",".join(f"{c}={np.mean(y == c)!r}" for c in classes)
    for method, arguments in METHODS.items():
        arguments = [a for a in arguments if a != "shares"] + (["--label-share", shares] if "shares" in arguments else [])
        rounds = ["--max-iterations", "100"] if "none" in arguments else []
        output = subprocess.run([coterie, "fit", "subspace", folder / "x.npy", "--partial-labels", file, "--truth", folder / "y.npy", "--threads", "1",
                                 "--share-rounding", "nearest", "--json", "--quiet", *rounds, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout
        out[method] = json.loads(output)["scores"]["label_accuracy"]
    file.unlink()
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "benchmark")
    parser.add_argument("--data", default="optdigits,usps,mnist")
    parser.add_argument("--labelled", default="1,5,10")
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--mnist-rows", type=int, default=70000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    averages = {}
    for name in options.data.split(","):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            x, y = load(name, options.mnist_rows)
            np.save(folder / "x.npy", x)
            np.save(folder / "y.npy", y.astype(np.int32))
            for labelled in map(int, options.labelled.split(",")):
                with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                    draws = list(pool.map(lambda seed: draw_of(options.build / "cli" / "coterie", folder, x, y, labelled, seed), range(options.draws)))
                print(f"{name} {x.shape[0]} x {x.shape[1]}, {labelled} labels per class, {options.draws} draws: ACC mean (deviation), per cent", flush=True)
                for method in draws[0]:
                    values = np.array([draw[method] for draw in draws]) * 100
                    averages.setdefault(method, []).append(values.mean())
                    print(f"  {method:24s} {values.mean():6.2f} ({values.std(ddof=1):.2f})", flush=True)
    print("average over data sets and label counts")
    for method, values in averages.items():
        print(f"  {method:24s} {np.mean(values):6.2f}")
    rivals = max(np.mean(values) for method, values in averages.items() if not method.startswith("subspace"))
    best = max(np.mean(values) for method, values in averages.items() if method.startswith("subspace"))
    return 0 if best > rivals else 1


if __name__ == "__main__":
    sys.exit(main())
