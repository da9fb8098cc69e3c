#!/usr/bin/env python3
"""Compares coterie fit hdbscan with the hdbscan package and scikit-learn: trees, clusters and processor seconds.

    PYTHON benchmarks/hdbscan_peers.py [--command build/release/cli/coterie] [--sets] [--speed 20000x50,60000x50,200000x20] [--peers hdbscan,scikit-learn]

PYTHON needs NumPy, SciPy, scikit-learn and hdbscan (pip install hdbscan scikit-learn). Each fit runs in its own process; peers use one job. Processor
seconds are those of user code, so they are meaningful on a busy machine. A fit of few rows measures the start of the program, which is subtracted.
The table also shows how many rows get another cluster than from coterie, or noise instead of a cluster, after matching the clusters.

--sets: ten data sets. Prints the relative difference of the lengths of the spanning trees, and the adjusted Rand index of each pair of programs. Then
the package's own functions process coterie's condensed tree: prints whether the labels are the same, and the largest differences of probabilities,
GLOSH scores and soft memberships. Trees of the same length can differ where edges are equally long. This is common under mutual reachability, so the
peers also differ from each other. Soft memberships are compared after scaling their sum to 1. For some rows several clusters tie, and the package
takes the one that it numbered first; the table counts rows of clusters whose sums differ.
"""
import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn import datasets
from sklearn.metrics import adjusted_rand_score

warnings.simplefilter("ignore")
PEER = """
import sys, numpy as np
X = np.load(sys.argv[2])
if sys.argv[1] == 'hdbscan':
    import hdbscan
    model = hdbscan.HDBSCAN(min_cluster_size=15, core_dist_n_jobs=1)
elif sys.argv[1] == 'scikit-learn':
    from sklearn.cluster import HDBSCAN
    model = HDBSCAN(min_cluster_size=15, min_samples=16, n_jobs=1, copy=True)
np.save(sys.argv[3], model.fit(X).labels_)
"""


def parts_of(path):
    """The arrays of a model file."""
    raw = pathlib.Path(path).read_bytes()
    size = int.from_bytes(raw[:8], "little")
    types = {"F64": "<f8", "F32": "<f4", "I32": "<i4", "I64": "<i8", "U8": "u1"}
    out = {}
    for name, entry in json.loads(raw[8 : 8 + size]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            out[name] = np.frombuffer(raw[8 + size + begin : 8 + size + end], types[entry["dtype"]]).reshape(entry["shape"])
    return out


def fit(command, folder, X, *options):
    points, model, labels, memberships = (folder / name for name in ("X.npy", "model.coterie", "labels.npy", "memberships.npy"))
    np.save(points, X)
    run = [command, "fit", "hdbscan", points, *options, "--quiet", "--json", "--model-out", model, "--labels-out", labels]
    document = json.loads(subprocess.run(run, check=True, capture_output=True).stdout)
    found = {"labels": np.load(labels), "length": document["objective"], **parts_of(model)}
    if document["clusters_found"]:
        subprocess.run([command, "predict", model, points, "--quiet", "--memberships-out", memberships], check=True, capture_output=True)
        found["memberships"] = np.load(memberships)
    return found


def condensed(found):
    """coterie's condensed tree in the form of the package."""
    n = len(found["row_cluster"])
    parent, birth = found["tree_parent"].ravel(), found["tree_birth"].ravel()
    sizes = np.bincount(found["row_cluster"].ravel(), minlength=len(parent))
    for cluster in range(len(parent) - 1, 0, -1):
        sizes[parent[cluster]] += sizes[cluster]
    with np.errstate(divide="ignore"):
        rows = list(zip(n + found["row_cluster"].ravel(), range(n), 1 / found["row_distance"].ravel(), [1] * n))
        rows += [(n + parent[c], n + c, 1 / birth[c], sizes[c]) for c in range(1, len(parent))]
    rows.sort(key=lambda row: (row[0], row[1]))
    return np.array(rows, dtype=[("parent", np.intp), ("child", np.intp), ("lambda_val", float), ("child_size", np.intp)])


def ten_sets():
    draw = np.random.default_rng(0)
    yield "iris", datasets.load_iris().data
    yield "wine", datasets.load_wine().data
    yield "breast cancer", datasets.load_breast_cancer().data
    yield "digits", datasets.load_digits().data
    yield "moons", datasets.make_moons(1500, noise=0.06, random_state=1)[0]
    yield "blobs, 10 columns", datasets.make_blobs(3000, 10, centers=8, random_state=2)[0]
    yield "circles", datasets.make_circles(2000, noise=0.04, factor=0.5, random_state=3)[0]
    yield "blobs of different widths", datasets.make_blobs(2000, 2, centers=5, cluster_std=[0.3, 0.5, 1, 1.5, 2], random_state=4)[0]
    yield "swiss roll", datasets.make_swiss_roll(2500, random_state=0)[0]
    yield "blobs in noise", np.vstack([datasets.make_blobs(1500, 20, centers=6, random_state=5)[0], draw.uniform(-12, 12, (300, 20))])


def same_partition(a, b):
    pairs = set(zip(a.tolist(), b.tolist()))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))


def compare_sets(command, folder):
    import hdbscan
    from hdbscan import _hdbscan_tree
    from hdbscan.prediction import all_points_membership_vectors
    from sklearn.cluster import HDBSCAN

    print("| set | clusters | length of the tree | coterie, hdbscan | coterie, scikit-learn | hdbscan, scikit-learn | the package's labels from coterie's tree "
          "| probabilities | GLOSH | memberships |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, X in ten_sets():
        X = np.ascontiguousarray(X, dtype=float)  # for other arrays, the package's memberships read past the row
        found = fit(command, folder, X, "--min-cluster-size", "15")
        of_package = hdbscan.HDBSCAN(min_cluster_size=15, approx_min_span_tree=False, gen_min_span_tree=True, prediction_data=True).fit(X)
        of_learn = HDBSCAN(min_cluster_size=15, min_samples=16, copy=True).fit(X)
        own_labels = of_package.labels_
        length = of_package.minimum_spanning_tree_.to_numpy()[:, 2].sum()
        tree = condensed(found)
        labels, probabilities, _ = _hdbscan_tree.get_clusters(tree, _hdbscan_tree.compute_stability(tree))
        same = "the same" if same_partition(labels, found["labels"]) else "different"
        glosh = np.abs(_hdbscan_tree.outlier_scores(tree) - found["outlier_scores"].ravel()).max()
        memberships = float("nan")
        if "memberships" in found:
            of_package._condensed_tree, of_package.labels_ = tree, labels
            of_package.generate_prediction_data()
            theirs, ours = all_points_membership_vectors(of_package), found["memberships"]
            inside = found["labels"] >= 0
            theirs = theirs[:, [labels[found["labels"] == j][0] for j in range(ours.shape[1])]]
            memberships = np.abs(theirs / theirs.sum(1)[:, None] - ours / ours.sum(1)[:, None]).max()
            tied = np.abs(theirs[inside].sum(1) - ours[inside].sum(1)) > 1e-8
            memberships = f"{memberships:.0e}, {tied.sum()} sums"
        print(f"| {name} | {found['labels'].max() + 1} | {abs(found['length'] - length) / length:.0e} "
              f"| {adjusted_rand_score(found['labels'], own_labels):.4f} "
              f"| {adjusted_rand_score(found['labels'], of_learn.labels_):.4f} "
              f"| {adjusted_rand_score(own_labels, of_learn.labels_):.4f} | {same} "
              f"| {np.abs(probabilities - found['probabilities'].ravel()).max():.0e} | {glosh:.0e} | {memberships} |", flush=True)


def processor_seconds(run):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    start = time.perf_counter()
    subprocess.run(run, check=True, capture_output=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, time.perf_counter() - start


def rows_for_speed(n, d):
    """Fifty normal clusters; a twentieth of the rows is scattered over them."""
    X = datasets.make_blobs(n, d, centers=50, center_box=(-10, 10), random_state=0)[0]
    X[: n // 20] = np.random.default_rng(0).uniform(-12, 12, (n // 20, d))
    return X


def labelled_otherwise(a, b):
    """The number of rows with different labels, after matching the clusters so that most rows agree. Noise matches noise."""
    inside = np.minimum(a, b) >= 0
    shared = np.zeros((a.max() + 1, b.max() + 1), int)
    np.add.at(shared, (a[inside], b[inside]), 1)
    ours, theirs = linear_sum_assignment(shared, maximize=True)
    return len(a) - shared[ours, theirs].sum() - np.sum((a < 0) & (b < 0))


def compare_speed(command, folder, sizes, peers):
    few, points, labels = folder / "few.npy", folder / "rows.npy", folder / "labels.npy"
    np.save(few, rows_for_speed(200, 2))
    runs = {"coterie": [command, "fit", "hdbscan", None, "--min-cluster-size", "15", "--quiet", "--labels-out", labels]}
    runs |= {peer: [sys.executable, "-c", PEER, peer, None, labels] for peer in peers}
    print("| rows x columns | program | processor seconds without the start | seconds | coterie's share of both | rows with other labels |")
    print("|---|---|---|---|---|---|")
    for size in sizes:
        n, d = map(int, size.split("x"))
        np.save(points, rows_for_speed(n, d))
        own = None
        for name, run in runs.items():
            start, _ = processor_seconds([few if word is None else word for word in run])
            spent, seconds = processor_seconds([points if word is None else word for word in run])
            found = {"spent": spent - start, "seconds": seconds, "labels": np.load(labels)}
            own = own or found
            shares = f"{own['spent'] / found['spent']:.2f}, {own['seconds'] / seconds:.2f}"
            others = labelled_otherwise(own["labels"], found["labels"])
            print(f"| {n:,} x {d} | {name} | {found['spent']:.1f} | {seconds:.1f} | {shares} | {others} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="build/release/cli/coterie")
    parser.add_argument("--sets", action="store_true")
    parser.add_argument("--speed", default="")
    parser.add_argument("--peers", default="hdbscan,scikit-learn")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.sets:
            compare_sets(arguments.command, pathlib.Path(folder))
        if arguments.speed:
            compare_speed(arguments.command, pathlib.Path(folder), arguments.speed.split(","), [peer for peer in arguments.peers.split(",") if peer])


if __name__ == "__main__":
    main()
