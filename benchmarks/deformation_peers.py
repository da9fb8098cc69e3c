#!/usr/bin/env python3
"""Compares CPD-UML with a direct solution of equation 20 in each cell (NumPy/SciPy). Also measures the growth with n, and landmarks.

    benchmarks/deformation_peers.py --build build/benchmark [--only grid,growth,landmarks] [--peer-lambdas 1] [--threads 2]

grid: USPS20 (a fifth of each digit's rows, 1854 x 256), the paper's grid of 11 lambda x 11 sigma, discrete indicators, one assignment per round, 20
rounds per cell. The peer solves (G (I - YY') G + lambda I) P = -G (I - YY') X by Cholesky in each round, and computes G once per sigma. It does so
for --peer-lambdas values of lambda, spread over the decades; its time is scaled to 11. Both must give the same labels in the cells that both
computed.
growth: seconds of one lambda with one round, and of the eigenvectors, at n = 500 ... 8000, d 64, k 10. sigma is so narrow that G has full rank.
landmarks: 20,000 to 100,000 rows with 1000 landmarks, seconds and peak memory. The grid needs COTERIE_DATA.
Exit code 1 if the grid is not 20 times faster than the peer, or if labels differ in more than 1 % of the rows of a cell.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

from kmeans_peers import ROOT

LAMBDAS = [10.0 ** p for p in range(11)]
SIGMAS = [2.0 ** p for p in range(11)]
ROUNDS = 20
# This damping vanishes in rounding. It only fixes the number of rounds, because damped rounds are always run.
FIXED = ["--damping", "1e-17", "--damped-rounds", str(ROUNDS - 1), "--max-iterations", "1", "--assignments-per-round", "1", "--restarts", "1"]


def data_folder():
    return pathlib.Path(os.environ.get("COTERIE_DATA", ""))


def usps20(folder):
    import numpy as np
    x = np.load(data_folder() / "usps" / "usps_x.npy").astype(np.float64)
    y = np.load(data_folder() / "usps" / "usps_y.npy")
    random = np.random.default_rng(0)
    rows = np.sort(np.concatenate([random.permutation(np.flatnonzero(y == c))[: (y == c).sum() // 5] for c in range(10)]))
    np.save(folder / "x.npy", x[rows])
    np.save(folder / "y.npy", y[rows].astype(np.int32))
    return x[rows]


def coterie(arguments, **more):
    done = subprocess.run([str(arguments.command), *more["words"], "--json", "--quiet", "--threads", str(arguments.threads)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def peer_cell(x, g, lam, labels, k):
    import numpy as np
    from scipy.linalg import cho_factor, cho_solve
    z = x
    for _ in range(ROUNDS):
        y = np.zeros((len(x), k))
        y[np.arange(len(x)), labels] = 1
        y /= np.sqrt(np.maximum(y.sum(0), 1))
        gy = g @ y
        a = g @ g - gy @ gy.T
        a.flat[:: len(a) + 1] += lam
        p = -cho_solve(cho_factor(a, overwrite_a=True, check_finite=False), g @ (x - y @ (y.T @ x)), check_finite=False)
        z = x + g @ p
        means = np.array([z[labels == c].mean(0) if (labels == c).any() else np.zeros(z.shape[1]) for c in range(k)])
        labels = (-2 * z @ means.T + (means ** 2).sum(1)).argmin(1)
    return labels


def grid(arguments, folder):
    import numpy as np
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist
    x = usps20(folder)
    start = time.time()
    found = coterie(arguments, words=["tune", "cpd", str(folder / "x.npy"), "--truth", str(folder / "y.npy"), "-k", "10", "--select", "acc", "--grid",
                                      "lambda=1:1e10:log", "--grid", "sigma=1:1024:log2", *FIXED])
    ours = found["seconds"]["tune"]
    print(f"coterie: {len(found['cells'])} cells x {ROUNDS} rounds in {ours:.1f} s (process {time.time() - start:.1f} s), best ACC {max(c['criterion'] for c in found['cells']):.3f}", flush=True)

    first = folder / "start.csv"
    coterie(arguments, words=["fit", "kmeans", str(folder / "x.npy"), "-k", "10", "--restarts", "1", "--labels-out", str(first)])
    labels = np.loadtxt(first, skiprows=1, dtype=int)
    centred = x - x.mean(0)
    some = [LAMBDAS[round(i * 10 / max(1, arguments.peer_lambdas - 1))] if arguments.peer_lambdas > 1 else 1e3 for i in range(arguments.peer_lambdas)]
    total, worst = 0.0, 0.0
    for sigma in SIGMAS:
        start = time.time()
        g = np.exp(-cdist(centred, centred, "sqeuclidean") / (2 * sigma ** 2))
        for lam in some:
            theirs = peer_cell(centred, g, lam, labels, 10)
            seconds = time.time() - start
            total += seconds
            out = folder / "cell.csv"
            coterie(arguments, words=["fit", "cpd", str(folder / "x.npy"), "-k", "10", "--lambda", str(lam), "--sigma", str(sigma), "--labels-out", str(out), *FIXED])
            own = np.loadtxt(out, skiprows=1, dtype=int)
            table = np.zeros((10, 10), int)
            np.add.at(table, (own, theirs), 1)
            rows, columns = linear_sum_assignment(-table)
            differ = 1 - table[rows, columns].sum() / len(own)
            worst = max(worst, differ)
            print(f"  sigma {sigma:6g} lambda {lam:g}: direct {seconds:.2f} s, labels differ in {100 * differ:.2f} %", flush=True)
            start = time.time()
    scaled = total * len(LAMBDAS) / len(some)
    print(f"direct: {total:.1f} s for {len(some)} of 11 lambdas, {scaled:.0f} s for all; coterie {ours:.1f} s: {scaled / ours:.1f} times faster; labels differ in at most {100 * worst:.2f} %")
    return scaled / ours >= 20 and worst <= 0.01


def growth(arguments, folder):
    import numpy as np
    random = np.random.default_rng(1)
    print("     n   rank  eigenvectors s   ms lambda and round   / n^2 (ns)")
    for n in [500, 1000, 2000, 4000, 8000]:
        np.save(folder / "g.npy", random.standard_normal((n, 64)))
        words = ["fit", "cpd", str(folder / "g.npy"), "-k", "10", "--sigma", "1.5", "--lambda", str(n), "--max-iterations", "1", "--assignments-per-round", "1", "--restarts", "1"]
        found = min((coterie(arguments, words=words) for _ in range(1 if n > 4000 else 3)), key=lambda f: f["seconds"]["rounds"])
        one = found["seconds"]["rounds"]
        print(f"{n:6d} {found['details']['rank']:6d} {found['seconds']['eigenvectors']:15.2f} {1e3 * one:22.2f} {1e9 * one / n ** 2:12.2f}", flush=True)
    return True


def landmarks(arguments, folder):
    import numpy as np
    random = np.random.default_rng(2)
    for n in [20002, 50000, 100000]:
        half = n // 2
        angle = np.linspace(0, np.pi, half)
        points = np.concatenate([np.c_[np.cos(angle), np.sin(angle)], np.c_[1 - np.cos(angle), 0.5 - np.sin(angle)]]) + 0.1 * random.standard_normal((2 * half, 2))
        np.save(folder / "m.npy", points)
        np.save(folder / "t.npy", np.repeat([0, 1], half).astype(np.int32))
        found = coterie(arguments, words=["fit", "cpd", str(folder / "m.npy"), "--truth", str(folder / "t.npy"), "-k", "2", "--damping", "0.5", "--assignments-per-round", "1"])
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"two moons n {len(points)}: {found['details']['landmarks']} landmarks, residual {found['details']['kernel_residual']:.1e}, {found['seconds']['fit']:.1f} s, peak {peak:.0f} MiB, ACC {found['scores']['acc']:.4f}", flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "benchmark")
    parser.add_argument("--only", default="grid,growth,landmarks")
    parser.add_argument("--peer-lambdas", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    arguments.command = arguments.build / "cli" / "coterie"
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for part in arguments.only.split(","):
            good &= {"grid": grid, "growth": growth, "landmarks": landmarks}[part](arguments, pathlib.Path(folder))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
