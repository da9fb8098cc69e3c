#!/usr/bin/env python3
"""Measures how often the criteria for the number of clusters, and the recommendation, find the true number in 12 kinds of generated data sets.

    PYTHONPATH=build/release/python PYTHON benchmarks/choose_clusters.py [--sets 50] [--first 0] [--threads 1] [--curves FILE]

NumPy's default_rng([s, number of the kind]) draws set s of a kind. k-means runs with its defaults, for k from 1 to the square root of the number of
rows, and at most 30. Prints the percentage of right answers per kind and criterion, how often each grade of sureness was right, and seconds.
--curves writes each curve to a file, one JSON document per line. --of FILE ... prints the tables of such files again. The rule of the recommendation
(coterie/selection/recommend.cpp) was made on sets 1000 to 1024 of each kind. Sets 0 to 49 were not looked at before.
"""
import argparse
import collections
import json

import numpy as np

import coterie
def centres(rng, k, d, apart):
    """k random points with distances of at least `apart`. The box grows until such points are found."""
    side = apart * 1.2
    while True:
        for _ in range(40):
            c = rng.uniform(-side / 2, side / 2, size=(k, d))
            gaps = np.linalg.norm(c[:, None] - c[None], axis=2)[np.triu_indices(k, 1)]
            if gaps.min() >= apart:
                return c
        side *= 1.1


def blobs(rng, c, sizes, draw):
    return np.concatenate([c[j] + draw(j, s) for j, s in enumerate(sizes)])


def normal(rng, d, sd=1.0):
    return lambda j, s: sd * rng.normal(size=(s, d))


def separated(rng):
    k, d = int(rng.integers(2, 9)), int(rng.integers(2, 6))
    return blobs(rng, centres(rng, k, d, 6), [max(30, 240 // k)] * k, normal(rng, d)), k


def many(rng):
    k = int(rng.integers(12, 21))
    return blobs(rng, centres(rng, k, 4, 6), [35] * k, normal(rng, 4)), k


def unequal_sizes(rng):
    k, d = int(rng.integers(3, 7)), int(rng.integers(2, 5))
    sizes = np.rint(15 * 10 ** rng.permutation(np.linspace(0, 1, k))).astype(int)
    return blobs(rng, centres(rng, k, d, 7), sizes, normal(rng, d)), k


def unequal_spreads(rng):
    k, d = int(rng.integers(3, 7)), int(rng.integers(2, 5))
    spread = rng.permutation(np.geomspace(0.4, 1.6, k))
    return blobs(rng, centres(rng, k, d, 8), [50] * k, lambda j, s: spread[j] * rng.normal(size=(s, d))), k


def overlapping(rng):
    k, d = int(rng.integers(2, 6)), int(rng.integers(2, 5))
    return blobs(rng, centres(rng, k, d, 3.4), [70] * k, normal(rng, d)), k


def elongated(rng):
    k, d = int(rng.integers(2, 6)), int(rng.integers(2, 4))
    turn = [np.linalg.qr(rng.normal(size=(d, d)))[0] for _ in range(k)]
    scale = np.array([2.0] + [0.6] * (d - 1))
    return blobs(rng, centres(rng, k, d, 9), [60] * k, lambda j, s: (rng.normal(size=(s, d)) * scale) @ turn[j]), k


def few_telling(rng):
    k = int(rng.integers(3, 7))
    x = blobs(rng, centres(rng, k, 4, 8), [60] * k, normal(rng, 4))
    return np.hstack([x, rng.normal(size=(len(x), 36))]), k


def background(rng):
    k, d = int(rng.integers(3, 7)), int(rng.integers(2, 4))
    x = blobs(rng, centres(rng, k, d, 8), [60] * k, normal(rng, d))
    low, high = x.min(axis=0), x.max(axis=0)
    return np.concatenate([x, rng.uniform(low, high, size=(len(x) // 10, d))]), k


def heavy_tails(rng):
    k, d = int(rng.integers(2, 6)), int(rng.integers(2, 5))
    return blobs(rng, centres(rng, k, d, 9), [60] * k, lambda j, s: rng.standard_t(3, size=(s, d))), k


def wide(rng):
    k, d = int(rng.integers(3, 9)), 100
    return blobs(rng, rng.normal(size=(k, d)) * 0.8, [30] * k, normal(rng, d)), k


def uniform(rng):
    d = int(rng.integers(2, 6))
    return rng.uniform(size=(300, d)), 1


def one_gaussian(rng):
    d = int(rng.integers(2, 9))
    return rng.normal(size=(300, d)) @ rng.normal(size=(d, d)), 1


KINDS = {
    f.__name__.replace("_", " "): f
    for f in (separated, many, unequal_sizes, unequal_spreads, overlapping, elongated, few_telling, wide, background, heavy_tails, uniform, one_gaussian)
}


def make(kind, number):
    """(points, number of clusters)"""
    return KINDS[kind](np.random.default_rng([number, list(KINDS).index(kind)]))


def share(right):
    return f"{100 * np.mean(right):.0f}" if len(right) else "-"


def drawn(arguments):
    """Yields the results of each set, one after the other."""
    curves = open(arguments.curves, "w") if arguments.curves else None
    for number in range(arguments.first, arguments.first + arguments.sets):
        for kind in KINDS:
            points, k = make(kind, number)
            choice = coterie.KMeans("auto", n_jobs=arguments.threads).fit(np.ascontiguousarray(points)).cluster_choice_
            found = {"kind": kind, "set": number, "k": k, "rows": len(points), **choice}
            if curves:
                print(json.dumps(found), file=curves, flush=True)
            yield found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=50)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--curves", default="")
    parser.add_argument("--of", nargs="+", default=[], metavar="FILE", help="fit nothing; print the tables of these files of --curves")
    arguments = parser.parse_args()
    written = (json.loads(line) for path in arguments.of for line in open(path))
    right = {kind: collections.defaultdict(list) for kind in KINDS}
    by_grade, seconds, sets = collections.defaultdict(list), collections.defaultdict(list), set()
    for found in written if arguments.of else drawn(arguments):
        kind, k = found["kind"], found["k"]
        sets.add(found["set"])
        for criterion in found["criteria"]:
            right[kind][criterion["name"]].append(criterion["chosen"] == k)
        right[kind]["recommended"].append(found["recommended"] == k)
        by_grade[found["sureness"]].append(found["recommended"] == k)
        seconds[kind].append(found["seconds"])
    names = list(next(iter(right.values())))
    print("| kind | " + " | ".join(names) + " | seconds |\n|---|" + "---|" * (len(names) + 1))
    for kind in KINDS:
        print(f"| {kind} | " + " | ".join(share(right[kind][name]) for name in names) + f" | {np.mean(seconds[kind]):.2f} |")
    means = [f"{np.mean([100 * np.mean(right[kind][name]) for kind in KINDS]):.1f}" for name in names]
    print("| **mean** | " + " | ".join(means) + " | |")
    print("\n| sureness | sets | right |\n|---|---|---|")
    for grade in ("sure", "likely", "unsure"):
        print(f"| {grade} | {len(by_grade[grade])} | {share(by_grade[grade])} |")
    print(f"\ncoterie {coterie.__version__}, sets {min(sets)} to {max(sets)} of each kind")


if __name__ == "__main__":
    main()
