#!/usr/bin/env python3
"""Weighted manifold clustering: time of the representations in units of a matrix product, memory, and clusters of images compared with other methods.

    benchmarks/manifold_peers.py --command build/release/cli/coterie [--only speed,memory,tables] [--sizes 5000,10000] [--dimensions 64,256,768]
                                 [--sets coil-20,coil-100,usps,mnist-10000,mnist] [--methods l-wmc,e-wmc,...] [--seeds 3] [--threads 2]

speed: seconds of the representations of n rows (stage "representations" of fit wmc), divided by those of one n x n x d float32 product in NumPy on
the same number of threads. The product is measured before and after the fit; its mean counts. Rows lie on a union of 10 curved manifolds. Bounds: 15
products, and an optimality residual of 1e-5.
memory: 60,000 x 768, end to end. Bound: a peak of 4 GiB.
tables: ACC / NMI in per cent, mean over seeds. "best" rows: the best cell of a grid, which the true labels choose, as in the paper. "default" rows:
the method with its defaults. The grids are in tables(); --affinities and three values of --keep extend them.
The tables need COTERIE_DATA. Set OPENBLAS_CORETYPE=SkylakeX if OpenBLAS does not know the processor. Exit code 1 on a missed bound.
"""
import argparse
import gzip
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def data_folder():
    return pathlib.Path(os.environ.get("COTERIE_DATA", ""))


def coterie(arguments, *words):
    done = subprocess.run([str(w) for w in (arguments.command, *words, "--json", "--quiet", "--threads", arguments.threads)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def manifolds(n, d, seed=1):
    """Ten manifolds. Each is a product of six arcs in 12 dimensions, embedded in d dimensions, with a little noise."""
    import numpy as np
    random = np.random.default_rng(seed)
    out = np.empty((n, d), np.float32)
    for k in range(10):
        base = random.standard_normal((12, d)).astype(np.float32) / np.sqrt(d)
        angle = 0.6 * random.standard_normal((len(out[k::10]), 6)).astype(np.float32)
        out[k::10] = np.concatenate([np.cos(angle), np.sin(angle)], 1) @ base
    for begin in range(0, n, 10000):
        part = out[begin:begin + 10000]
        part += 0.02 / np.sqrt(d) * random.standard_normal(part.shape).astype(np.float32)
    return out


def product_seconds(x, threads):
    """Seconds of x x', the better of two runs, in blocks of 1000 rows."""
    import numpy as np
    times = []
    out = np.empty((1000, len(x)), np.float32)
    for _ in range(2):
        start = time.perf_counter()
        for begin in range(0, len(x), 1000):
            part = x[begin:begin + 1000]
            np.matmul(part, x.T, out=out[:len(part)])
        times.append(time.perf_counter() - start)
    return min(times)


def speed(arguments, folder):
    import numpy as np
    ok = True
    print("      n    d  method               product s  representations s  products of time  made  rounds  screened  kkt residual  nonzeros", flush=True)
    for n in arguments.sizes:
        for d in arguments.dimensions:
            x = manifolds(n, d)
            np.save(folder / "x.npy", x)
            for name, words in [("l-wmc", ["wmc", "--weighting", "linear", "--lambda", 20]), ("e-wmc", ["wmc", "--lambda", 50]), ("ssc", ["ssc"])]:
                if arguments.methods and name not in arguments.methods:
                    continue
                before = product_seconds(x, arguments.threads)
                found = coterie(arguments, "fit", words[0], folder / "x.npy", "-k", 10, "--restarts", 1, *words[1:])
                unit = (before + product_seconds(x, arguments.threads)) / 2
                seconds, details = found["seconds"]["representations"], found["details"]
                ok &= seconds <= 15 * unit and details["kkt_residual"] <= 1e-5
                print(f"{n:7d} {d:4d}  {name:20s} {unit:9.3f} {seconds:18.2f} {seconds / unit:17.1f} {details['products']:5.2f} {details['mean_rounds']:7.2f} "
                      f"{100 * details['screened']:8.1f}% {details['kkt_residual']:13.1e} {details['nonzeros_per_point']:9.1f}", flush=True)
    return ok


def memory(arguments, folder):
    import numpy as np
    np.save(folder / "large.npy", manifolds(60000, 768))
    np.save(folder / "truth.npy", (np.arange(60000) % 10).astype(np.int32))
    start = time.time()
    found = coterie(arguments, "fit", "wmc", folder / "large.npy", "-k", 10, "--truth", folder / "truth.npy")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024 ** 2
    print(f"60,000 x 768: {time.time() - start:.0f} s, peak {peak:.2f} GiB, ACC {found['scores']['acc']:.4f}, rounds {found['details']['mean_rounds']:.2f}, "
          f"kkt residual {found['details']['kkt_residual']:.1e}, seconds {found['seconds']}", flush=True)
    return peak <= 4


def mnist(folder, rows):
    import numpy as np
    parts = [("t10k", 10000)] if rows == 10000 else [("train", 60000), ("t10k", 10000)]
    images = [np.frombuffer(gzip.open(data_folder() / "mnist" / f"{p}-images-idx3-ubyte.gz").read(), np.uint8, offset=16).reshape(-1, 784) for p, _ in parts]
    labels = [np.frombuffer(gzip.open(data_folder() / "mnist" / f"{p}-labels-idx1-ubyte.gz").read(), np.uint8, offset=8) for p, _ in parts]
    return np.concatenate(images).astype(np.float32) / 255, np.concatenate(labels)


def pictures(name):
    import numpy as np
    if name.startswith("mnist"):
        return mnist(None, 10000 if name == "mnist-10000" else 70000)
    file = {"coil-20": "coil20", "coil-100": "coil100", "usps": "usps"}[name]
    x = np.load(data_folder() / name / f"{file}_x.npy").astype(np.float32)
    y = np.load(data_folder() / name / f"{file}_y.npy")
    return (x / 255 if x.max() > 2 else x).reshape(len(x), -1), np.unique(y, return_inverse=True)[1]


def tables(arguments, folder):
    import numpy as np
    affinities = arguments.affinities
    for name in arguments.sets:
        x, y = pictures(name)
        k = int(y.max()) + 1
        np.save(folder / "p.npy", x.astype(np.float32))
        np.save(folder / "t.npy", y.astype(np.int32))
        square = float((x.astype(np.float64) ** 2).sum(1).mean())
        etas = ",".join(f"{e * square:.6g}" for e in (0.2, 1))
        grid = {
            "l-wmc": ("wmc", ["weighting=linear", "lambda=20,50", f"eta={etas}"]),
            "e-wmc": ("wmc", ["weighting=exponential", "normalize=unit", "lambda=20,50", "eta=1,20"]),
            "smce": ("smce", ["gamma=10,50", "neighbors=10,20"]),
            "ssc": ("ssc", ["lambda=20,50"]),
            "ensc": ("ensc", ["lambda=20,50"]),
            "ssc-omp": ("ssc-omp", ["nonzeros=3,6,10"]),
        }
        plain = {"spectral": ["spectral"], "kmeans": ["kmeans", "--restarts", 10]}
        for row in arguments.methods or [*grid, *plain]:
            start = time.time()
            found = {"default": [], "best": []}
            chosen = []
            for seed in range(arguments.seeds):
                words = plain.get(row) or {"l-wmc": ["wmc", "--weighting", "linear"], "e-wmc": ["wmc"]}.get(row, [row])
                fit = coterie(arguments, "fit", words[0], folder / "p.npy", "-k", k, "--truth", folder / "t.npy", "--seed", seed, *words[1:])
                found["default"].append((fit["scores"]["acc"], fit["scores"]["nmi"]))
                pieces = fit["details"].get("components", "")
                if row in grid and not arguments.defaults_only:
                    method, axes = grid[row]
                    axes = axes + [f"affinity={','.join(affinities)}", "keep=3,5,20"]
                    tuned = coterie(arguments, "tune", method, folder / "p.npy", "-k", k, "--truth", folder / "t.npy", "--select", "acc", "--seed", seed,
                                    *[w for axis in axes for w in ("--grid", axis)])
                    best = max((cell for cell in tuned["cells"] if cell["error"] is None), key=lambda cell: cell["seen"]["acc"])
                    found["best"].append((best["seen"]["acc"], best["seen"]["nmi"]))
                    chosen.append({axis: best["options"][axis] for axis in tuned["grid"]})
            for kind, values in found.items():
                if values:
                    mean = 100 * np.mean(values, 0)
                    print(f"{name:12s} {row:10s} {kind:8s} ACC {mean[0]:5.1f} NMI {mean[1]:5.1f}  over {len(values)} seeds, pieces {pieces}, {time.time() - start:.0f} s"
                          + (f"  {chosen[0]}" if kind == "best" else ""), flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = lambda text: text.split(",")
    numbers = lambda text: [int(word) for word in text.split(",")]
    parser.add_argument("--command", type=pathlib.Path, default=ROOT / "build" / "release" / "cli" / "coterie")
    parser.add_argument("--only", type=words, default=["speed", "memory", "tables"])
    parser.add_argument("--sizes", type=numbers, default=[5000, 10000, 20000])
    parser.add_argument("--dimensions", type=numbers, default=[64, 256, 768])
    parser.add_argument("--sets", type=words, default=["coil-20", "coil-100", "usps", "mnist-10000"])
    parser.add_argument("--methods", type=words, default=[])
    parser.add_argument("--affinities", type=words, default=["N", "S", "NK", "NSK", "SNK"])
    parser.add_argument("--defaults-only", action="store_true", help="do not run the grids of the tables")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = str(arguments.threads)  # before NumPy is first imported
    ok = True
    with tempfile.TemporaryDirectory() as folder:
        for part in ("speed", "memory", "tables"):
            if part in arguments.only:
                ok &= {"speed": speed, "memory": memory, "tables": tables}[part](arguments, pathlib.Path(folder))
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
