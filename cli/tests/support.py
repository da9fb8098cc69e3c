"""Shared by the tests of the command: running it, reading its output, making files."""

import csv
import json
import os
import signal
import subprocess

import numpy as np
import pytest

COMMAND = os.environ["COTERIE_COMMAND"]


SCORES = ["acc", "nmi", "ari", "purity", "homogeneity", "completeness"]


def default_interrupt():
    # A test in the background is started with SIGINT ignored, and its child processes would inherit that.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run(*words, program=COMMAND, code=0, input=None, env=None, cwd=None):
    environment = dict(os.environ)
    environment.update(env or {})
    done = subprocess.run([program, *map(str, words)], input=input, capture_output=True, env=environment, cwd=cwd,
                          timeout=300, preexec_fn=default_interrupt)
    done.out = done.stdout.decode("utf-8")
    done.err = done.stderr.decode("utf-8")
    assert done.returncode == code, f"exit {done.returncode}, not {code}\n{done.out}\n{done.err}"
    return done


# Loading LibTorch takes half a second per command, so the fast tests use one network of each family.
FAST_NETWORKS = {"ae-kmeans", "dekm", "entropy-net"}


def slow_if_network(method, *more, **options):
    """The arguments of a test as a pytest parameter. It is slow if `method` (an entry of `coterie methods --json`) is another network."""
    slow = method["takes"]["device"] and method["name"] not in FAST_NETWORKS
    return pytest.param(method["name"], *more, marks=[pytest.mark.slow] if slow else [], **options)


def document(*words, **options):
    done = run(*words, "--json", **options)
    value = json.loads(done.out)
    assert value["schema"] == 2
    return value


def texts(messages):
    """The texts of a document's warnings or notes."""
    return [message["text"] for message in messages]


def write_csv(path, rows, header=None):
    with open(path, "w") as file:
        if header:
            file.write(",".join(header) + "\n")
        for row in rows:
            file.write(",".join(str(field) for field in row) + "\n")


def write_labels(path, labels):
    write_csv(path, [['"' + str(label).replace('"', '""') + '"'] for label in labels], ["label"])


def read_words(path):
    with open(path, newline="") as file:
        rows = [row[0] for row in csv.reader(file)]
    assert rows[0] == "label"
    return rows[1:]


def blobs(n=300, d=3, k=3, seed=1):
    random = np.random.default_rng(seed)
    truth = np.arange(n) % k
    centers = np.arange(k)[:, None] * 20.0 + np.arange(d)[None, :]
    return centers[truth] + random.normal(size=(n, d)), truth


def other_version(model):
    length = int.from_bytes(model[:8], "little")
    header = json.loads(model[8 : 8 + length])
    key = next(key for key in header["__metadata__"] if "format" in key)
    header["__metadata__"][key] = "999"
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + model[8 + length :]


def short(method):
    """Options with which a fit takes seconds. Skips the test if the method is not available."""
    if method in ("entropy-net", "imsat", "iic", "sela-net", "miadm-net"):
        words = ["--scale", "minmax", "--widths", 16, "--epochs", 12, "--batch-size", 25, "--learning-rate", 0.01, "--threads", 1]
    elif method in ("ae-kmeans", "dekm", "dec", "idec", "dcn"):
        words = ["--scale", "minmax", "--widths", 16, "--embedding", 2, "--pretrain-epochs", 10, "--pretrain-batch-size", 16, "--kmeans-restarts", 5]
        if method != "ae-kmeans":
            words += ["--max-iterations", 10, "--update-interval", 5]
    else:
        return []
    if b"libtorch-dev" in subprocess.run([COMMAND, "fit", method, "data:iris", "-k", "3", *map(str, words), "--quiet"], capture_output=True).stderr:
        pytest.skip("LibTorch is not here")
    return words


def curves(path):
    """Rows on a circle of radius 1 around 0, on one of radius 6 around (9, 0), and a row without a label."""
    angle = 2 * np.pi * np.arange(60) / 60
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    rows = [[*place, name] for pair in zip(circle, 6 * circle + [9, 0]) for place, name in zip(pair, ["small", "large"])]
    write_csv(path / "curves.csv", rows, ["x", "y", "curve"])
    return np.array([row[:2] for row in rows], dtype=float)


def linked_rings(path, n=120):
    """Files of the points and labels of two rings, linked like a chain."""
    random = np.random.default_rng(0)
    angle = 2 * np.pi * np.arange(n // 2) / (n // 2)
    flat = np.c_[np.cos(angle), np.sin(angle), 0 * angle]
    upright = np.c_[1 + np.cos(angle), 0 * angle, np.sin(angle)]
    points = np.concatenate([flat, upright]) @ np.linalg.qr(random.normal(size=(12, 3)))[0].T
    np.save(path / "rings.npy", points.astype(np.float32))
    np.save(path / "which.npy", np.repeat([0, 1], n // 2).astype(np.int32))
    return path / "rings.npy", path / "which.npy"


def deep_fit(*words):
    done = subprocess.run([COMMAND, "fit", *map(str, words), "--json", "--quiet"], capture_output=True, timeout=600)
    if b"libtorch-dev" in done.stderr:
        pytest.skip("LibTorch is not here")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
