#!/usr/bin/env python3
"""Writes tests/models/VERSION/: a model of every method and kind of preparation, with what it predicts.

    tests/models/make_models.py --command build/release/cli/coterie

Run it once before a release, and commit the folder. Folders of earlier versions stay as they are: tests/old_models_test.py loads them with today's command.
"""
import argparse
import json
import pathlib
import subprocess

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
# Options that keep models small and fits short, for the methods that have them.
SMALL = {"widths": "6", "embedding": "2", "pretrain_epochs": "2", "epochs": "2", "batch_size": "20", "pretrain_batch_size": "20"}
OF_METHOD = {"cpd": ["--sigma", "2"], "spectral": ["--neighbors", "8"], **{name: ["--max-iterations", "4"] for name in ("dekm", "dec", "idec", "dcn")}}
# (name, method, points, options): preparations, constraints and outputs that some models have.
MORE = [
    ("kmeans-zscore", "kmeans", "numbers", ["-k", "3", "--center", "--scale", "zscore"]),
    ("kmeans-unit-float", "kmeans", "numbers", ["-k", "3", "--scale", "unit", "--precision", "float32"]),
    ("kmeans-noise", "kmeans", "numbers", ["-k", "3", "--noise-share", "0.1"]),
    ("kmeans-table", "kmeans", "table", ["-k", "3", "--missing", "median", "--categorical", "one-hot", "--dates", "--scale", "zscore"]),
    ("subspace-labels", "subspace", "numbers", ["-k", "3", "--partial-labels", "labels.csv"]),
    ("cpd-kernel", "cpd", "numbers", ["-k", "3", "--kernel", "rbf"]),
    ("aml-kernel", "aml", "numbers", ["-k", "3", "--kernel", "rbf"]),
    ("kernel-kmeans-polynomial", "kernel-kmeans", "numbers", ["-k", "3", "--kernel", "polynomial"]),
    ("hdbscan-small", "hdbscan", "numbers", ["--min-cluster-size", "4"]),
]
OUTPUTS = ["distances", "memberships", "label-scores", "outlier-scores", "embedding"]


def data():
    """The points: files by name. Numbers are rounded, so that the files are the same everywhere."""
    draw = np.random.default_rng(20261125)
    places = np.array([[0, 0, 0, 1], [6, 1, 0, 0], [1, 7, 2, 0]])
    truth = np.arange(60) % 3
    rows = (places[truth] + draw.normal(size=(60, 4))).round(3)
    lines = [",".join(f"{value:g}" for value in row) for row in rows]
    numbers = "a,b,c,d\n" + "\n".join(lines) + "\n"
    colours, days = ["red", "green", "blue"], [f"2026-0{1 + i % 9}-{10 + i % 19}" for i in range(60)]
    table = "size,colour,day,price\n" + "".join(
        f"{'' if i % 11 == 5 else f'{row[0]:g}'},{colours[truth[i]]},{days[i]},{row[1]:g}\n" for i, row in enumerate(rows))
    labels = "label\n" + "".join(("x" if i == 0 else "y" if i == 1 else '""') + "\n" for i in range(60))
    return {"numbers.csv": numbers, "table.csv": table, "labels.csv": labels}


def call(command, *words, cwd):
    done = subprocess.run([command, *map(str, words)], cwd=cwd, capture_output=True, text=True)
    if done.returncode not in (0, 4):
        raise SystemExit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", type=pathlib.Path, required=True)
    command = parser.parse_args().command.resolve()
    version = subprocess.run([command, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
    folder = HERE / version
    folder.mkdir()
    for name, text in data().items():
        (folder / name).write_text(text)
    cases = []
    for method in json.loads(call(command, "methods", "--json", cwd=folder))["methods"]:
        names = {option["name"] for option in method["options"]}
        small = [word for name, value in SMALL.items() if name in names for word in (f"--{name.replace('_', '-')}", value)]
        cases.append((method["name"], method["name"], "numbers", [*(["-k", "3"] if "clusters" in names else []), *small, *OF_METHOD.get(method["name"], [])]))
    expected = {}
    for name, method, points, options in [*cases, *MORE]:
        model = f"{name}.coterie"
        call(command, "fit", method, f"{points}.csv", *options, "--seed", 7, "--threads", 1, "--quiet", "--model-out", model, cwd=folder)
        found = {}
        for output in OUTPUTS:
            words = [command, "predict", model, f"{points}.csv", "--quiet", f"--{output}-out", "out.csv"]
            if subprocess.run(words, cwd=folder, capture_output=True).returncode == 0:  # not every model has every output
                lines = (folder / "out.csv").read_text().splitlines()[1:]
                found[output] = [[float(value) if value else None for value in line.split(",")] for line in lines]
        call(command, "predict", model, f"{points}.csv", "--quiet", "--labels-out", "out.csv", cwd=folder)
        labels = (folder / "out.csv").read_text().splitlines()[1:]
        (folder / "out.csv").unlink()
        expected[name] = {"method": method, "points": f"{points}.csv", "labels": labels, "outputs": found}
    (folder / "expected.json").write_text(json.dumps(expected, separators=(",", ":")).replace('},"', '},\n"') + "\n")
    print(f"{folder.relative_to(HERE.parent.parent)}: {len(expected)} models, {sum(path.stat().st_size for path in folder.iterdir()) / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
