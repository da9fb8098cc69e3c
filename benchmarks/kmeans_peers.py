#!/usr/bin/env python3
"""Compares k-means with scikit-learn and faiss, in one run, from the same start.

    benchmarks/kmeans_peers.py --build build/benchmark [--shapes abc] [--threads 1,2] [--seeds 10] [--repeats 3] [--mnist]

Run it with a Python that has PyPI's scikit-learn and faiss-cpu (benchmarks/README.md); their versions are printed.
Shapes: (a) MNIST / 255, 70,000 x 784, k 10 (needs the data: COTERIE_DATA); (b) 1,000,000 x 64, k 256 and
(c) 60,000 x 768, k 100: Gaussian blobs of standard deviation 1 around centres of standard deviation 1. Each peer runs in its own process, with a fair
BLAS setting (OPENBLAS_CORETYPE=SkylakeX if the processor has AVX-512). The times of coterie are those that the command reports.
Exit code 1 if coterie's inertia is off by more than 1e-5, or if a target ratio is missed.
"""
import argparse
import gzip
import importlib.util
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def fair_environment(threads):
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text():
        environment["OPENBLAS_CORETYPE"] = "SkylakeX"
    return environment


def data_folder():
    return pathlib.Path(os.environ.get("COTERIE_DATA", ""))


def read_idx(path):
    import numpy as np
    raw = gzip.open(path).read()
    dimensions = raw[3]
    shape = [int.from_bytes(raw[4 + 4 * i:8 + 4 * i], "big") for i in range(dimensions)]
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def mnist():
    import numpy as np
    folder = data_folder() / "mnist"
    images = [read_idx(folder / f"{part}-images-idx3-ubyte.gz") for part in ("train", "t10k")]
    labels = [read_idx(folder / f"{part}-labels-idx1-ubyte.gz") for part in ("train", "t10k")]
    return np.concatenate(images).reshape(70000, 784).astype(np.float32) / 255, np.concatenate(labels)


def blobs(n, d, k, seed):
    import numpy as np
    random = np.random.default_rng(seed)
    centres = random.standard_normal((k, d), dtype=np.float32)
    points = random.standard_normal((n, d), dtype=np.float32)
    points += centres[random.integers(k, size=n)]
    return points


def run(arguments, threads):
    """Runs a process. Returns its last output line as JSON, its peak memory in bytes, and the elapsed seconds."""
    before = time.monotonic()
    process = subprocess.Popen([str(a) for a in arguments], env=fair_environment(threads), stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{arguments[0]} failed with status {status}")
    document = json.loads(output if output.lstrip().startswith("{\n") else output.strip().splitlines()[-1])
    return document, usage.ru_maxrss * 1024, time.monotonic() - before


def inertia_of(x, centres, labels):
    """In double precision, because sums in float32 are off by about 1e-5 for a million rows."""
    import numpy as np
    total = 0.0
    for begin in range(0, len(x), 20000):
        part = x[begin:begin + 20000].astype(np.float64) - centres[labels[begin:begin + 20000]]
        total += float((part * part).sum())
    return total


# Runs the peers in a child process: `kmeans_peers.py --child fit ...`.
def child(arguments):
    import numpy as np
    what, points, *rest = arguments
    if what == "faiss":
        import faiss
        x = np.load(points)
        start, iterations, threads = np.load(rest[0]), int(rest[1]), int(rest[2])
        faiss.omp_set_num_threads(threads)
        begin = time.perf_counter()
        index = faiss.IndexFlatL2(x.shape[1])
        clustering = faiss.Clustering(x.shape[1], len(start))
        clustering.niter, clustering.max_points_per_centroid = iterations, len(x)
        faiss.copy_array_to_vector(start.ravel(), clustering.centroids)
        clustering.train(x, index)
        seconds = time.perf_counter() - begin  # excludes the labels, which the fits of coterie and scikit-learn include
        _, labels = index.search(x, 1)
        centres = faiss.vector_to_array(clustering.centroids).reshape(start.shape)
        print(json.dumps({"seconds": seconds, "inertia": inertia_of(x, centres, labels[:, 0]), "iterations": iterations}))
        return
    from sklearn.cluster import KMeans, kmeans_plusplus
    from threadpoolctl import threadpool_limits
    # A child also makes the data: a forked process inherits its parent's peak memory, so the parent must stay small.
    if what == "make":
        shape, folder = points, pathlib.Path(rest[0])
        x, k = {"a": lambda: (mnist()[0], 10), "b": lambda: (blobs(1000000, 64, 256, 1), 256),
                "c": lambda: (blobs(60000, 768, 100, 1), 100)}[shape]()
        np.save(folder / "x.npy", x)
        if shape == "a":
            np.save(folder / "y.npy", mnist()[1].astype(np.int32))
        start, _ = kmeans_plusplus(x[:: max(1, len(x) // 50000)], k, random_state=0)
        np.save(folder / "start.npy", np.ascontiguousarray(start, np.float32))
        print(json.dumps({"n": x.shape[0], "d": x.shape[1], "k": k, "bytes": x.nbytes}))
        return
    x = np.load(points)
    if what == "fit":
        start, iterations, tolerance, algorithm, threads = rest
        model = KMeans(n_clusters=len(np.load(start)), init=np.load(start), n_init=1, max_iter=int(iterations), tol=float(tolerance),
                       algorithm=algorithm)
        with threadpool_limits(int(threads)):
            begin = time.perf_counter()
            model.fit(x)
            seconds = time.perf_counter() - begin
        inertia = inertia_of(x, model.cluster_centers_, model.labels_)
        print(json.dumps({"seconds": seconds, "inertia": inertia, "iterations": int(model.n_iter_)}))
    elif what == "restarts":
        k, restarts, seed, truth = rest
        begin = time.perf_counter()
        model = KMeans(n_clusters=int(k), n_init=int(restarts), random_state=int(seed)).fit(x)
        seconds = time.perf_counter() - begin
        from scipy.optimize import linear_sum_assignment
        table = np.zeros((int(k), 10), int)
        np.add.at(table, (model.labels_, np.load(truth)), 1)
        rows, columns = linear_sum_assignment(-table)
        print(json.dumps({"seconds": seconds, "inertia": float(model.inertia_), "acc": float(table[rows, columns].sum() / len(x))}))
    else:
        k, seeds = rest
        inertia = []
        seconds = 0
        for seed in range(int(seeds)):
            begin = time.perf_counter()
            centres, _ = kmeans_plusplus(x, int(k), random_state=seed)
            seconds += time.perf_counter() - begin
            norms = (x.astype(np.float64) ** 2).sum(1)
            best = np.full(len(x), np.inf)
            for c in centres.astype(np.float64):
                best = np.minimum(best, norms - 2 * (x @ c.astype(np.float32)).astype(np.float64) + c @ c)
            inertia.append(float(np.maximum(best, 0).sum()))
        print(json.dumps({"seconds": seconds / int(seeds), "inertia": inertia}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "benchmark")
    parser.add_argument("--shapes", default="abc")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--mnist", action="store_true", help="compare ten restarts on MNIST with scikit-learn, instead of the speed table")
    parser.add_argument("--skip-seeding", action="store_true")
    parser.add_argument("--child", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child)
        return
    if importlib.util.find_spec("sklearn") is None:
        print(f"skipped: {sys.executable} has no scikit-learn; Debian's python3-sklearn brings it to /usr/bin/python3")
        sys.exit(77)
    if ("a" in arguments.shapes or arguments.mnist) and not (data_folder() / "mnist").exists():
        print(f"skipped: there is no MNIST in {data_folder()}; set COTERIE_DATA to the data folder")
        sys.exit(77)
    command = arguments.build / "cli" / "coterie"
    me = [sys.executable, __file__, "--child"]
    has_faiss = importlib.util.find_spec("faiss") is not None
    from importlib.metadata import version
    print("scikit-learn " + version("scikit-learn") + (", faiss " + version("faiss-cpu") if has_faiss else ", no faiss"), flush=True)
    failed = []

    def check(name, value, limit):
        verdict = "ok" if value <= limit else "MISSED"
        print(f"    {name}: {value:.3f} (target at most {limit}) {verdict}", flush=True)
        if value > limit:
            failed.append(name)

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if arguments.mnist:
            run(me + ["make", "a", folder], 2)
            for seed in range(3):
                ours, _, _ = run([command, "fit", "kmeans", folder / "x.npy", "-k", 10, "--restarts", 10, "--seed", seed, "--truth",
                                  folder / "y.npy", "--json", "--quiet"], 2)
                theirs, _, _ = run(me + ["restarts", folder / "x.npy", 10, 10, seed, folder / "y.npy"], 2)
                print(f"MNIST, 10 restarts, seed {seed}: coterie inertia {ours['objective']:.1f} acc {ours['scores']['acc']:.4f} "
                      f"{ours['seconds']['fit']:.2f} s; scikit-learn inertia {theirs['inertia']:.1f} acc {theirs['acc']:.4f} "
                      f"{theirs['seconds']:.2f} s", flush=True)
                check("coterie's inertia / scikit-learn's", ours["objective"] / theirs["inertia"], 1.0001)
            sys.exit(1 if failed else 0)

        for shape in arguments.shapes:
            made, _, _ = run(me + ["make", shape, folder], 2)
            k, size = made["k"], made["bytes"]
            print(f"({shape}) {made['n']} x {made['d']}, k {k}", flush=True)
            for threads in map(int, arguments.threads.split(",")):
                rows = {}

                def best(name, call):
                    for _ in range(arguments.repeats):
                        document, memory, _ = call()
                        if name not in rows or document["seconds"] < rows[name][0]:
                            rows[name] = (document["seconds"], document["inertia"], document.get("iterations", 0), memory)

                def ours(iterations, tolerance):
                    document, memory, wall = run(
                        [command, "fit", "kmeans", folder / "x.npy", "-k", k, "--initial-centroids", folder / "start.npy",
                         "--max-iterations", iterations, "--tolerance", tolerance, "--threads", threads, "--json", "--quiet"], threads)
                    return {"seconds": document["seconds"]["fit"], "inertia": document["objective"],
                            "iterations": document["iterations"]}, memory, wall

                best("coterie 10", lambda: ours(10, 0))
                best("sklearn 10", lambda: run(me + ["fit", folder / "x.npy", folder / "start.npy", 10, 0, "lloyd", threads], threads))
                if has_faiss:
                    best("faiss 10", lambda: run(me + ["faiss", folder / "x.npy", folder / "start.npy", 10, threads], threads))
                best("coterie fit", lambda: ours(300, 1e-4))
                best("sklearn fit", lambda: run(me + ["fit", folder / "x.npy", folder / "start.npy", 300, 1e-4, "lloyd", threads], threads))
                best("sklearn elkan fit",
                     lambda: run(me + ["fit", folder / "x.npy", folder / "start.npy", 300, 1e-4, "elkan", threads], threads))
                if has_faiss:
                    n = rows["sklearn fit"][2]
                    best("faiss fit", lambda: run(me + ["faiss", folder / "x.npy", folder / "start.npy", n, threads], threads))
                print(f"  {threads} thread{'s' if threads > 1 else ''}")
                for name, (seconds, inertia, iterations, memory) in rows.items():
                    print(f"    {name:18} {seconds:8.3f} s  inertia {inertia:.9g}  iterations {iterations or '-':>4}  "
                          f"peak memory / data {memory / size:.2f}")
                for what, limit in (("10", 0.7), ("fit", 0.5)):
                    peers = [v for name, v in rows.items() if name.endswith(what) and not name.startswith("coterie")]
                    check(f"{what}: coterie / fastest peer", rows[f"coterie {what}"][0] / min(v[0] for v in peers), limit)
                    check(f"{what}: relative difference of inertia from scikit-learn's (1e-5 units)",
                          max(0.0, rows[f"coterie {what}"][1] / rows[f"sklearn {what}"][1] - 1) / 1e-5, 1)
                check("peak memory / data", rows["coterie fit"][3] / size, 1.3)
            if not arguments.skip_seeding:
                for threads in (2,):
                    ours, _, _ = run([arguments.build / "benchmarks" / "seeding_benchmark", folder / "x.npy", k, threads, arguments.seeds], threads)
                    theirs, _, _ = run(me + ["seed", folder / "x.npy", k, arguments.seeds], threads)
                    mean = [sum(v["inertia"]) / len(v["inertia"]) for v in (ours, theirs)]
                    print(f"  greedy k-means++, {threads} threads: coterie {ours['seconds']:.3f} s, mean inertia {mean[0]:.9g}; "
                          f"scikit-learn {theirs['seconds']:.3f} s, mean inertia {mean[1]:.9g}")
                    check("seeding time / scikit-learn's", ours["seconds"] / theirs["seconds"], 0.1)
                    check("mean seeding inertia / scikit-learn's", mean[0] / mean[1], 1.0)
    print("missed: " + "; ".join(failed) if failed else "all targets met")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
