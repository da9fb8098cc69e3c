"""Runs the command with random options on degenerate data, and checks what must hold for all options.

    tests/random_options.py --command build/release/cli/coterie --seconds 600

Options, ranges and choices come from `coterie methods --json`, so new methods and options are included. A case is one
command line. Case numbers and --seed decide everything: the same numbers give the same commands and files. What must hold:
  - The command ends within 20 seconds of processor time, with a documented exit code other than 1.
  - It writes all outputs or none, and leaves no other file.
  - Outputs contain no NaN and no infinity.
  - A failure prints the reason.
"""

import argparse
import concurrent.futures
import csv
import gzip
import json
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.dom.minidom

import numpy as np

SECONDS = 20  # of processor time per command; elapsed time would depend on other programs
CLOCK = 200  # seconds after which a command that uses no processor time hangs
MEMORY = 6 << 30  # bytes of address space
MISSING = ["", "NA", "nan", "NaN", "null", "?", "-"]
# Quantities of `coterie geometry` may be infinite (docs/geometry.md), never NaN.
NOT_A_NUMBER = re.compile(r"(?<![\w./-])[-+]?nan(?![\w./-])", re.IGNORECASE)
NOT_FINITE = re.compile(r"(?<![\w./-])[-+]?(nan|inf|infinity)(?![\w./-])", re.IGNORECASE)
# Options whose large values make a run long.
WORK = re.compile("iterations|epochs|restarts|rounds|passes|patience|batch|fits|augmentations|interval")
NETWORK_SIZES = re.compile("widths|embedding|image")


class Points:
    """A data file, and what the generator knows about it."""

    def __init__(self, path, n, d, names=None, missing=False, truth=None, kind="table"):
        self.path, self.n, self.d, self.names, self.missing, self.truth, self.kind = path, n, d, names, missing, truth, kind


def values_of(draw, rows, columns):
    """The numbers of a table, mostly degenerate in one way."""
    bits = np.random.default_rng(draw.getrandbits(32))
    kind = draw.choice(["blobs"] * 8 + ["constant", "some constant", "duplicates", "huge", "tiny", "mixed", "integers", "outlier", "line", "zeros",
                        "denormal", "offset", "extreme"])
    blobs = bits.normal(size=(rows, columns)) + 9 * bits.integers(3, size=(rows, 1))
    if kind == "constant":
        return np.full((rows, columns), draw.choice([0.0, -0.0, 1.0, 1e-300, 1e300, 0.1, -7.0]))
    if kind == "some constant" and columns:
        blobs[:, bits.random(columns) < 0.5] = draw.choice([0.0, 3.3, 1e8])
    elif kind == "duplicates" and rows:
        blobs = blobs[bits.integers(min(rows, 3), size=rows)]
    elif kind == "huge":
        blobs = blobs * 10.0 ** draw.uniform(10, 300)
    elif kind == "tiny":
        blobs = blobs * 10.0 ** -draw.uniform(10, 300)
    elif kind == "mixed":
        blobs = blobs * 10.0 ** bits.uniform(-300, 300, size=(1, columns))
    elif kind == "integers":
        blobs = bits.integers(-3, 4, size=(rows, columns)).astype(float)
    elif kind == "outlier" and rows and columns:
        blobs[0, 0] = draw.choice([1e6, 1e15, 1e30, 1e150, 1e300])
    elif kind == "line":
        blobs = np.outer(np.arange(rows), np.ones(columns))
    elif kind == "zeros":
        blobs *= 0
    elif kind == "denormal":
        blobs = blobs * 5e-324
    elif kind == "offset":
        blobs = blobs + 10.0 ** draw.uniform(3, 16)
    elif kind == "extreme":
        blobs = np.where(bits.random(blobs.shape) < 0.1, bits.choice([1e300, -1e300, 1.7e308, 1e-300, 0.0], size=blobs.shape), blobs)
    return blobs


def size_of(draw):
    return draw.choice([0] + [1, 2, 3, 4] * 2 + [5, 8, 13, 20, 30, 40, 50, 60] * 3), draw.choice([1, 1, 2, 2, 2, 3, 3, 4, 5, 9])


def write_table(draw, path, rows, names=None):
    separator = {".tsv": "\t", ".txt": " "}.get(path.suffixes[0], ",")
    lines = [separator.join(map(str, line)) for line in ([names] if names else []) + rows]
    text = "".join(line + "\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def points_of(draw, folder, method=None):
    rows, columns = size_of(draw)
    kind = draw.choices(["csv", "array", "wide", "missing", "words", "dates", "sparse", "graph", "square", "empty", "no columns", "one column words"],
                        [30, 20, 3, 10, 8, 4, 5 + 15 * (method is not None and method["takes"]["sparse"]), 4, 4, 1, 1, 1])[0]
    if kind == "wide":
        # subspace decomposes covariances of full rank, for any number of rows. This takes 15 seconds at 3000 columns.
        cubic = method is None or method["name"] == "subspace"
        rows, columns = draw.choice([(1, 3000), (2, 400), (5, 400)] if cubic else [(1, 3000), (10, 3000), (60, 3000), (5, 400)])
        kind = draw.choice(["csv", "array"])
    numbers = values_of(draw, rows, columns)
    with np.errstate(all="ignore"):
        if draw.random() < 0.1:
            numbers = numbers.astype(np.float32).astype(float)
    numbers = np.nan_to_num(numbers, posinf=1.7e308, neginf=-1.7e308)
    if kind == "array":
        name = draw.choice(["points.npy", "points.npz"])
        with np.errstate(all="ignore"):
            kept = numbers.astype(draw.choice([np.float64, np.float64, np.float32, np.int32, np.uint8]))
        if draw.random() < 0.2:
            kept = np.asfortranarray(kept)
        (np.savez if name.endswith("z") else np.save)(folder / name, kept)
        return Points(folder / name, rows, columns)
    if kind in ("sparse", "graph"):
        bits = np.random.default_rng(draw.getrandbits(32))
        if kind == "graph":
            columns = rows
            numbers = abs(values_of(draw, rows, rows))
            numbers = np.minimum(numbers, numbers.T)
        numbers = np.where(bits.random(numbers.shape) < 0.4, np.nan_to_num(numbers, posinf=1e300, neginf=-1e300), 0.0)
        if kind == "graph":
            numbers = np.maximum(numbers, numbers.T)
        at, to = np.nonzero(numbers)
        if draw.random() < 0.6:
            starts = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=rows))]) if rows else np.array([0])
            np.savez(folder / "points.npz", data=numbers[at, to], indices=to.astype(np.int32), indptr=starts.astype(np.int32), shape=np.array([rows, columns]),
                     format=np.array("csr", dtype="S"))
            return Points(folder / "points.npz", rows, columns, kind=kind)
        lines = [f"{i + 1} {j + 1} {numbers[i, j]!r}" for i, j in zip(at.tolist(), to.tolist())]
        (folder / "points.mtx").write_text("\n".join(["%%MatrixMarket matrix coordinate real general", f"{rows} {columns} {len(lines)}", *lines, ""]))
        return Points(folder / "points.mtx", rows, columns, kind=kind)
    if kind == "square":
        numbers = values_of(draw, rows, rows)
        np.save(folder / "points.npy", np.maximum(abs(numbers), abs(numbers.T)) if draw.random() < 0.7 else numbers)
        return Points(folder / "points.npy", rows, rows, kind="square")
    if kind == "empty":
        name = draw.choice(["points.csv", "points.npy", "points.txt"])
        (folder / name).write_bytes(draw.choice([b"", b"\n", b"\n\n\n", b"x,y\n", b" "]))
        return Points(folder / name, 0, 0)
    if kind == "no columns":
        np.save(folder / "points.npy", np.zeros((rows, 0)))
        return Points(folder / "points.npy", rows, 0)
    odd = draw.random() < 0.15
    names = [draw.choice([f"c{j}", f"a b{j}", f"é{j}", f"'{j}", f"<b>{j}"]) if odd else f"c{j}" for j in range(columns)]
    cells = [[repr(float(value)) for value in line] for line in numbers]
    path = folder / draw.choice(["points.csv", "points.csv", "points.tsv", "points.csv.gz", "points.txt"])
    missing = False
    if kind == "missing":
        missing = True
        words = draw.choice([MISSING] * 6 + [["nan", "inf"], ["x"], ["1e400", "-inf"]])
        if path.name == "points.txt":
            words = [word for word in words if word] or ["NA"]
        share = draw.choice([0.02, 0.2, 0.6, 1.0])
        column = draw.randrange(columns) if draw.random() < 0.3 else None
        for line in cells:
            for j in range(columns):
                if draw.random() < share and column in (None, j):
                    line[j] = draw.choice(words)
    if kind in ("words", "dates", "one column words"):
        words = {"dates": ["2026-11-23", "1999-01-01", "2026-02-28", "0001-01-01", "9999-12-31"]}.get(kind, ["ash", "birch", "<i>oak", "é", "'", "0x1"])
        words = words[: draw.randint(1, len(words))]
        if draw.random() < 0.2:
            words = [f"w{i}" for i in range(rows + 1)]
        for j in range(columns if kind == "one column words" else draw.randint(1, columns)):
            for line in cells:
                line[j] = draw.choice(words)
    truth = None
    if draw.random() < 0.3:
        names.append("kind")
        for line in cells:
            line.append(draw.choice(["a", "b", "c", "", "7"]) if path.name != "points.txt" else draw.choice(["a", "b", "7"]))
        truth = "kind"
    head = draw.random() < 0.8 or truth is not None
    if path.suffixes[0] == ".txt":
        names = [name.replace(" ", "_") for name in names]
    write_table(draw, path, cells, names if head else None)
    return Points(path, rows, columns, names if head else None, missing, truth)


def number_of(draw, option, points):
    low, high = option.get("low"), option.get("high")
    if option["kind"] in ("integer", "integers"):
        low = int(low if low is not None else 0)
        if WORK.search(option["name"]):
            return draw.choice([low, low + 1, 2, 3, 5, 10])
        if NETWORK_SIZES.search(option["name"]):
            return draw.choice([low, 2, 3, 8, 16])
        picks = [low, low, low + 1, 2, 3, 3, 5, 10, points.n - 1, points.n, points.n + 1, points.d - 1, points.d, points.d + 1]
        if high is not None and draw.random() < 0.15:
            picks = [min(int(high), (1 << 63) - 1), int(high) // 2, 1000]
        return max(draw.choice(picks), low - (draw.random() < 0.02))
    picks = [low or 0.0, 1e-12, 1e-3, 0.1, 0.5, 0.9, 1.0, 2.0, 10.0, 1e3]
    if draw.random() < 0.2:
        picks = [1e-300, 1e-30, 1e30, 1e300, 5e-324, 1.7e308]
    if high is not None:
        picks = [value for value in picks if value <= high] + [high]
    return draw.choice([value for value in picks if value >= (low or 0.0)])


def value_of(draw, option, points):
    """A value for an option, mostly an accepted one."""
    kind = option["kind"]
    if draw.random() < 0.01:
        return draw.choice(["nan", "inf", "-1", "1e999", "", "x", "1,2", "9" * 30, "-0", "auto", "é"])
    if option.get("automatic") and draw.random() < 0.15:
        return "auto"
    if kind == "choice":
        return draw.choice(option["choices"])
    if kind == "text":
        return draw.choice(re.findall(r"[a-z][a-z-]+", option["accepted"]) + ["0", "0.5", "1", str(option["default"])])
    if kind in ("integers", "reals"):
        return ",".join(str(number_of(draw, option, points)) for _ in range(draw.choice([1, 2, 3])))
    return str(number_of(draw, option, points))


def method_words(draw, method, points, skip=()):
    """Random options of a method. Only a few at a time, so that many commands do not fail early."""
    words = []
    options = [option for option in method["options"] if option["name"] not in skip]
    chosen = draw.sample(options, min(len(options), draw.choice([0, 0, 1, 1, 2, 3, 5])))
    by_name = {option["name"]: option for option in options}
    if "clusters" in by_name and draw.random() < 0.85:
        chosen = [option for option in chosen if option["name"] != "clusters"]
        words += ["-k", str(draw.choice([1, 2, 2, 3, 3] * 6 + [4, 5, 8, 8, points.n - 1, points.n, points.n, points.n + 1, draw.choice([0, 100, 10**6])]))]
    if method["takes"]["device"]:
        small = {"widths": "8", "epochs": "2", "pretrain_epochs": "2", "max_iterations": "4", "kmeans_restarts": "2", "update_interval": "2", "embedding": "2",
                 "batch_size": "16", "pretrain_batch_size": "16"}
        taken = {option["name"] for option in chosen}
        words += [word for name, value in small.items() if name in by_name and name not in taken for word in (by_name[name]["flag"], value)]
    if points.kind in ("graph", "square") and draw.random() < 0.6:
        words += [word for name in ("affinity", "kernel") if name in by_name and "precomputed" in by_name[name].get("choices", [])
                  for word in (by_name[name]["flag"], "precomputed")]
        chosen = [option for option in chosen if "precomputed" not in option.get("choices", [])]
    for option in chosen:
        words += [option["flag"]] if option["kind"] == "flag" else [f"{option['flag']}={value_of(draw, option, points)}"]
    return words


def reading_words(draw, points):
    words = []
    text = points.path.name.split(".")[1] in ("csv", "tsv", "txt")
    if points.truth and draw.random() < 0.8:
        words += draw.choice([["--label-column", "kind"], ["--label-column", "-1"], ["--exclude", "kind"]])
    if draw.random() < 0.06 and text:
        words += ["--id-column", draw.choice(["1", str(points.d), "c0"])]
    if draw.random() < 0.05:
        words += draw.choice([["--columns", "1"], ["--columns", "numeric"], ["--columns", "1-2"], ["--exclude", "1"], ["--columns", str(points.d + 9)]])
    if draw.random() < 0.05 and text:
        words += ["--header", draw.choice(["auto", "yes", "no"])]
    if draw.random() < 0.15:
        words += ["--precision", draw.choice(["float32", "float64"])]
    if draw.random() < 0.02 and text:
        words += draw.choice([["--separator", "semicolon"], ["--decimal", "comma"]])
    return words


def preparing_words(draw, points):
    words = ["--center"] if draw.random() < 0.15 else []
    if draw.random() < 0.35:
        words += ["--scale", draw.choice(["none", "minmax", "zscore", "unit"])]
    text = points.path.name.split(".")[1] in ("csv", "tsv", "txt")
    if draw.random() < (0.8 if points.missing else 0.05):
        words += ["--missing", draw.choice(["refuse", "drop", "drop", "mean", "median"])]
    if text and draw.random() < 0.6:
        words += ["--categorical", draw.choice(["one-hot", "one-hot", "drop", "refuse"])]
    if text and draw.random() < 0.15:
        words += ["--dates"]
    return words


def running_words(draw):
    words = ["--threads", draw.choice(["1", "2", "3"])] if draw.random() < 0.7 else []
    if draw.random() < 0.1:
        words += ["--memory", draw.choice(["1M", "50M", "1G"])]
    return words + ["--quiet"] * (draw.random() < 0.4) + ["--json"] * (draw.random() < 0.5)


def labels_file(draw, folder, name, n):
    """A file with a label per row. Some labels are blank, and sometimes the number of rows is wrong."""
    n += draw.choice([0] * 12 + [1, -1])
    words = draw.choice([["a", "b"], ["a", "b", "c"], ["a"], ["0", "1", "2"], ["x", ""], [""], ["a", "b", "", "", ""], [f"l{i}" for i in range(30)]])
    rows = [draw.choice(words) for _ in range(max(n, 0))]
    if draw.random() < 0.2:
        path = folder / f"{name}.npy"
        np.save(path, np.array([words.index(word) - 1 for word in rows], dtype=np.int32))
        return path
    path = folder / f"{name}.csv"
    path.write_text("label\n" + "".join(f'"{word}"\n' for word in rows))
    return path


def side_words(draw, folder, method, points):
    """Weights, truth, starts and constraints. They may contradict each other."""
    takes, words, n = method["takes"], [], points.n
    with_noise = draw.random() < 0.03  # also add what the method does not accept
    if (takes["weights"] or with_noise) and draw.random() < 0.25:
        values = draw.choice([[0.0], [1.0], [0.0, 1.0], [0.0, 0.0, 5.0], [1e-300, 1e300], [0.5, 2.0], [0.0, 1.0, 2.0], [1.0, 3.0], draw.choice([[1e300], [5e-324], [-1.0, 1.0]])])
        np.save(folder / "weights.npy", np.array([draw.choice(values) for _ in range(n)]))
        words += ["--weights", folder / "weights.npy"]
    if draw.random() < 0.1:
        words += ["--truth", draw.choice([labels_file(draw, folder, "truth", n), "none"])]
    if (takes["initial_centroids"] or with_noise) and draw.random() < 0.15:
        np.save(folder / "starts.npy", values_of(draw, draw.choice([1, 2, 3, 3]), points.d + draw.choice([0, 0, 0, 0, 1])))
        words += ["--initial-centroids", folder / "starts.npy"]
    if (takes["partial_labels"] or with_noise) and draw.random() < 0.4:
        words += ["--partial-labels", labels_file(draw, folder, "known", n)]
        if draw.random() < 0.3:
            words += ["--clusters-per-label", draw.choice(["a=2", "a=1,b=2", "a=0", "b=99", "z=1"])]
        if takes["label_shares"] and draw.random() < 0.4:
            words += ["--label-share", draw.choice(["a=0.5", "a=0.9:1", "a=0.6,b=0.6", "a=0,b=1", "a=:0.3", "b=0.999", "a=1e-9", "a=0.49:0.68,b=0.51:0.81", "z=0.1"])]
    if (takes["sizes"] or with_noise) and draw.random() < 0.2:
        words += ["--sizes", draw.choice(["1:", ":3", "2:5", "3", "0:0", "5:2", f"{n}:", f":{n}", "1:1", "1000000000000:"])]
    if (takes["pairs"] or with_noise) and draw.random() < 0.2:
        lines = [f"{draw.randint(0, n + 1) or 1},{draw.randint(1, n + 1)},{draw.choice(['must', 'cannot'])}" for _ in range(draw.choice([0, 1, 2, 5, 20]))]
        (folder / "pairs.csv").write_text("row,other,link\n" + "".join(line + "\n" for line in lines))
        words += ["--pairs", folder / "pairs.csv"]
    return words


def output_words(draw, folder, flags):
    """Random output flags, and the files that they name."""
    outputs = []
    for flag, names in flags.items():
        if draw.random() < 0.35:
            outputs += [(flag, folder / f"out-{flag[2:]}{draw.choice(names)}")]
    return [word for pair in outputs for word in pair], [path for _, path in outputs]


NUMBERS, TABLES = [".csv", ".npy"], [".csv", ".csv", ".arrow", ".arrows", ".feather"]
FIT = {"--labels-out": NUMBERS, "--table-out": TABLES, "--report": [".html"], "--picture": [".svg"]}
PREDICT = {"--labels-out": NUMBERS, "--table-out": TABLES, "--embedding-out": NUMBERS, "--memberships-out": NUMBERS, "--scores-out": NUMBERS,
           "--distances-out": NUMBERS, "--outlier-scores-out": NUMBERS}


class Case:
    """A random set of files and the commands that use it. plan() runs them; `faults` lists what went wrong."""

    def __init__(self, number, seed, methods, command, root):
        self.draw = random.Random(f"{seed} {number}")
        self.number, self.methods, self.command = number, methods, command
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"case-{number}-", dir=root))
        (self.folder / "tmp").mkdir()
        self.ran, self.faults, self.codes = 0, [], {}

    def method(self):
        weights = [0.15 if method["takes"]["device"] else 1 for method in self.methods]
        return self.draw.choices(self.methods, weights)[0]

    def plan(self):
        draw, folder = self.draw, self.folder
        kind = draw.choices(["fit", "tune", "compare", "consensus", "evaluate", "geometry"], [70, 8, 7, 5, 5, 5])[0]
        method = self.method()
        points = points_of(draw, folder, method if kind in ("fit", "tune") else None)
        cheap = [each["name"] for each in self.methods if not each["takes"]["device"]]
        if kind == "fit":
            flags = {flag: FIT[flag] for flag in ("--labels-out", "--table-out")} if points.kind == "sparse" and draw.random() < 0.8 else FIT
            words, outputs = output_words(draw, folder, flags)
            if draw.random() < 0.9:
                words, outputs = words + ["--model-out", folder / "model.safetensors"], outputs + [folder / "model.safetensors"]
            extra = ["--seed", str(draw.choice([0, 1, 2**53 - 1, 2**53]))] if draw.random() < 0.1 else []
            extra += ["--strict"] if draw.random() < 0.1 else []
            extra += ["--sample", str(draw.choice([1, 2, 10, points.n, "auto"]))] if draw.random() < 0.07 else []
            extra += ["--noise-share", str(draw.choice([0, 0.01, 0.1, 0.49, 1e-300]))] if draw.random() < 0.1 else []
            known = any(option["name"] == "clusters" for option in method["options"]) and draw.random() < 0.05
            chosen = [*method_words(draw, method, points, ["clusters"]), "-k", "auto"] if known else method_words(draw, method, points)
            self.check(["fit", method["name"], points.path, *chosen, *reading_words(draw, points), *preparing_words(draw, points),
                        *side_words(draw, folder, method, points), *extra, *running_words(draw), *words], outputs, points)
            if (folder / "model.safetensors").exists():
                self.use(folder / "model.safetensors", points)
        elif kind == "tune":
            grids = draw.sample(method["options"], min(len(method["options"]), draw.choice([1, 1, 2])))
            grids = [word for option in grids for word in
                     ("--grid", f"{option['name']}={','.join('yes' if option['kind'] == 'flag' else value_of(draw, option, points) for _ in range(2))}")]
            if any(option["name"] == "clusters" for option in method["options"]) and draw.random() < 0.5:
                grids = ["--grid", draw.choice(["k=1:3", "k=2:4", "k=1,2", "k=3,100", "clusters=2:8:log2"])]
            select = draw.choice(["silhouette", "objective", "ratio", "knncut", "calinski-harabasz", "davies-bouldin", "bic", "gap", "stability",
                                  "prediction-strength", "recommended", "acc", "nmi", "ari"])
            words, outputs = output_words(draw, folder, {**FIT, "--model-out": [".safetensors"]})
            self.check(["tune", method["name"], points.path, *grids, "--select", select, *(["--folds", str(draw.choice([0, 2, 3, 99]))] if draw.random() < 0.3 else []),
                        *(["--with-kmeans"] if draw.random() < 0.1 else []), *method_words(draw, method, points), *reading_words(draw, points),
                        *preparing_words(draw, points), *side_words(draw, folder, method, points), *running_words(draw), *words], outputs, points)
        elif kind == "compare":
            words, outputs = output_words(draw, folder, {"--report": [".html"]})
            named = ["--methods", ",".join(draw.sample(cheap, draw.choice([1, 2, 4])))] if draw.random() < 0.7 else []
            self.check(["compare", points.path, "-k", str(draw.choice([1, 2, 3, points.n, points.n + 1])), *named, *reading_words(draw, points),
                        *preparing_words(draw, points), *running_words(draw), *words], outputs, points)
        elif kind == "consensus":
            words, outputs = output_words(draw, folder, {"--labels-out": NUMBERS, "--rows-out": [".csv"]})
            named = ["--methods", ",".join(draw.sample(cheap, draw.choice([1, 2])))] if draw.random() < 0.7 else []
            self.check(["consensus", points.path, "-k", str(draw.choice([1, 2, 3, points.n])), "--fits", str(draw.choice([2, 3, 5])), *named,
                        *reading_words(draw, points), *preparing_words(draw, points), *running_words(draw), *words], outputs, points)
        elif kind == "evaluate":
            n = draw.choice([0, 1, 2, points.n])
            other = draw.choice([labels_file(draw, folder, "other", n)] * 3 + [points.path])
            self.check(["evaluate", labels_file(draw, folder, "found", n), other, *(["--json"] if draw.random() < 0.5 else [])], [], points)
        else:
            words, outputs = output_words(draw, folder, {"--rows-out": [".csv"]})
            extra = []
            for flag, picks in {"--weights": ["linear", "exponential", "equal"], "--eta": [0, 1, 1e100], "--lambda": [1e-300, 1, 1e100],
                                "--multiple": [1, 1e-300, 1e300], "--unit": ["lambda-0", "lambda-l"], "--curvature": [0, 1, 1e100],
                                "--only": ["a", "zz"]}.items():
                extra += [flag, str(draw.choice(picks))] if draw.random() < 0.15 else []
            extra += ["--reach", draw.choice(["0", "1", "1e100"])] if "--curvature" in extra and draw.random() < 0.5 else []
            preparing = ["--center"] * (draw.random() < 0.2) + ["--scale", draw.choice(["minmax", "zscore", "unit"])] * (draw.random() < 0.3)
            self.check(["geometry", points.path, "--dim", str(draw.choice([1, 1, 2, 5, 20])), *extra,
                        *(["--labels", labels_file(draw, folder, "labels", points.n)] if draw.random() < 0.8 else []), *reading_words(draw, points),
                        *preparing, *[word for word in running_words(draw) if word not in ("--memory", "1M", "50M", "1G")], *words], outputs, points)

    def use(self, model, points):
        """Uses a model on its training data or on new rows."""
        draw, folder = self.draw, self.folder
        others = points
        if draw.random() < 0.3:
            (folder / "new").mkdir()
            others = points_of(draw, folder / "new")
        for kind in draw.sample(["predict", "predict", "describe", "transform", "info"], draw.choice([1, 1, 2])):
            outputs, words = [], []
            if kind == "predict":
                words, outputs = output_words(draw, folder, PREDICT)
                if outputs and draw.random() < 0.5:  # otherwise most commands fail, because few models have all outputs
                    words, outputs = words[:2], outputs[:1]
            elif kind == "describe":
                words, outputs = output_words(draw, folder, {"--report": [".html"]})
                words += ["--compare-with", model] if draw.random() < 0.1 else []
            elif kind == "transform":
                outputs = [folder / f"moved{draw.choice(NUMBERS)}"]
                words = ["--points-out", outputs[0]]
            if kind == "info":
                self.check(["info", model, *(["--json"] if draw.random() < 0.5 else [])], [], others)
                continue
            for path in outputs:
                path.unlink(missing_ok=True)
            self.check([kind, model, others.path, *reading_words(draw, others), *running_words(draw), *words], outputs, others)

    def check(self, words, outputs, points):
        folder = self.folder
        words = [str(word) for word in words]
        before = {path for path in folder.rglob("*")}
        environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "OMP_WAIT_POLICY": "passive"}
        faults = []
        try:
            done = subprocess.run(["prlimit", f"--cpu={SECONDS}", self.command, *words], capture_output=True, cwd=folder, env=environment,
                                  timeout=CLOCK, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            self.tell(words, [f"longer than {CLOCK} seconds"], b"")
            return
        code, out, err = done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        self.codes[code] = self.codes.get(code, 0) + 1
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            faults.append(f"more than {SECONDS} seconds of processor time")
        elif code not in (0, 2, 3, 4, 130):
            faults.append(f"exit code {code}")
        elif code not in (0, 4):
            if not err.strip():
                faults.append("a failure without a message")
            faults += [f"the message has {word!r}" for word in ("internal error", "fault of coterie", "std::", "terminate called") if word in err.lower()]
        if code == 0 and "--quiet" in words and err:
            faults.append("--quiet, and text on standard error")
        for path in set(folder.rglob("*")) - before - set(outputs):
            faults.append(f"left {path.name} behind")
        for path in outputs:
            if path not in before and path.exists() != (code in (0, 4)):
                faults.append(f"{path.name} {'was' if path.exists() else 'was not'} written")
        if code in (0, 4):
            try:
                refused = NOT_A_NUMBER if words[0] == "geometry" else NOT_FINITE
                if "--json" in words or not points.missing:  # otherwise "nan" may be a category
                    if words[0] == "info" and "--json" not in words:  # it shows categories as JSON text, and one may be called "inf"
                        out = re.sub(r'"[^"]*"', '""', out)
                    self.check_text("standard output", out, "--json" in words, refused)
                for path in outputs:
                    if path.exists():
                        self.check_file(path, points, refused)
            except Exception as error:  # an output that cannot be read is a fault
                faults.append(f"{type(error).__name__}: {str(error)[:200]}")
        self.tell(words, faults, done.stderr)

    def tell(self, words, faults, err):
        self.ran += 1
        if faults:
            line = shlex.join([str(self.command), *words])
            self.faults.append(f"case {self.number}: {'; '.join(faults)}\n  {line}\n  {err.decode(errors='replace')[-400:].strip()}")

    @staticmethod
    def check_text(name, text, is_json, refused=NOT_FINITE):
        if is_json:
            def refuse(word):
                raise ValueError(f"{word} in {name}")
            json.loads(text, parse_constant=refuse)
        elif match := refused.search(text):
            line = text[: match.start()].rsplit("\n", 1)[-1] + text[match.start() :].split("\n", 1)[0]
            raise ValueError(f"{match.group()} in {name}: {line.strip()}")

    def check_file(self, path, points, refused):
        gaps = points.missing  # rows that were left out have no values
        if path.suffix == ".npy":
            values = np.load(path)
            finite = np.isfinite(values) if values.dtype.kind == "f" else np.ones(values.shape, bool)
            if not (finite | (~finite.reshape(len(values), -1).any(axis=1)[:, None] if values.ndim > 1 else gaps)).all() or not (finite.all() or gaps):
                raise ValueError(f"not finite: {path.name}")
        elif path.suffix == ".csv":
            with open(path, newline="", encoding="utf-8") as file:
                lines = list(csv.reader(file))
            found = range(len(lines[0])) if lines else []
            if "table-out" in path.name:
                found = [j for j in found if lines[0][j] in ("label", "confidence", "distance", "outlier_score")]
            for line in lines[1:]:
                for j in found:
                    if j < len(line) and refused.fullmatch(line[j]) and not gaps:
                        raise ValueError(f"{line[j]} in {path.name}")
        elif path.suffix == ".safetensors":
            data = path.read_bytes()
            length = int.from_bytes(data[:8], "little")
            for name, about in json.loads(data[8 : 8 + length]).items():
                if name != "__metadata__" and about["dtype"] in ("F32", "F64"):
                    low, high = about["data_offsets"]
                    values = np.frombuffer(data[8 + length + low : 8 + length + high], {"F32": "<f4", "F64": "<f8"}[about["dtype"]])
                    if not np.isfinite(values).all():
                        raise ValueError(f"not finite: tensor {name}")
        elif path.suffix == ".svg":
            text = path.read_text()
            xml.dom.minidom.parseString(text)
            if (match := re.search(r'[="\s,(>](-?(?:nan|inf))["\s,)<]', text)) and not gaps:
                raise ValueError(f"{match.group(1)} in {path.name}")
        elif path.suffix == ".html":
            text = path.read_text()
            if not text.rstrip().endswith("</html>"):
                raise ValueError("an incomplete page")
            if (match := re.search(r">\s*(-?(?:nan|inf))\s*<", text, re.IGNORECASE)) and not gaps:
                raise ValueError(f"{match.group(1)} in {path.name}")
            for body in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL):
                self.check_text(path.name, body, True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default=os.environ.get("COTERIE_COMMAND", "coterie"), help="the command to run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, help="minimal number of command lines to run")
    parser.add_argument("--seconds", type=float, help="start no further case after this many seconds")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the files of failed cases in this folder")
    arguments = parser.parse_args()
    if arguments.count is None and arguments.seconds is None:
        arguments.count = 1000
    command = shutil.which(arguments.command)
    if command is None:
        sys.exit(f"{arguments.command} is not a command")
    command = os.path.abspath(command)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    methods = json.loads(subprocess.run([command, "methods", "--json"], capture_output=True, check=True).stdout)["methods"]
    keep = arguments.keep
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
    started, ran, failed, number, codes = time.monotonic(), 0, 0, 0, {}

    def more():
        return (arguments.count is None or ran < arguments.count) and (arguments.seconds is None or time.monotonic() - started < arguments.seconds)

    with tempfile.TemporaryDirectory(prefix="random-options-") as root, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        network = next((method["name"] for method in methods if method["takes"]["device"]), None)
        np.save(pathlib.Path(root) / "probe.npy", np.zeros((4, 2)))
        if network and b"libtorch-dev" in subprocess.run([command, "fit", network, f"{root}/probe.npy", "-k", "1"], capture_output=True).stderr:
            print("LibTorch is missing: methods with networks are left out")
            methods = [method for method in methods if not method["takes"]["device"]]

        def work(case):
            case.plan()
            return case

        running = set()
        while more() or running:
            while more() and len(running) < os.cpu_count():
                running.add(pool.submit(work, Case(number, arguments.seed, methods, command, root)))
                number += 1
            done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                case = future.result()
                ran += case.ran
                failed += len(case.faults)
                for code, count in case.codes.items():
                    codes[code] = codes.get(code, 0) + count
                for fault in case.faults:
                    print(fault, flush=True)
                if case.faults and keep:
                    kept = keep / f"case-{case.number}"
                    shutil.rmtree(kept, ignore_errors=True)
                    shutil.copytree(case.folder, kept)
                    print(f"  files: {kept}")
                shutil.rmtree(case.folder)
    print("exit codes: " + ", ".join(f"{code}: {count}" for code, count in sorted(codes.items())))
    print(f"{ran} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
