"""Spectral clustering of points and graphs."""

import gzip

import numpy as np
import pytest

from support import document, read_words, run, write_csv, write_labels


def two_cliques(path):
    edges = [(a, b, 1) for group in (range(4), range(4, 8)) for a in group for b in group if a < b]
    write_csv(path, edges + [(3, 4, 0.1)], ["from", "to", "weight"])


def test_spectral_fits_a_graph(tmp_path):
    two_cliques(tmp_path / "graph.csv")
    write_labels(tmp_path / "truth.csv", [0] * 4 + [1] * 4)
    value = document("fit", "spectral", tmp_path / "graph.csv", "--affinity", "precomputed", "-k", 2, "--truth",
                     tmp_path / "truth.csv", "--model-out", tmp_path / "model")
    assert value["n"] == 8 and value["scores"]["acc"] == 1
    assert value["details"]["edges"] == 13 and value["details"]["components"] == 1
    piped = document("fit", "spectral", "-", "--affinity", "precomputed", "-k", 2, "--truth", tmp_path / "truth.csv",
                     input=(tmp_path / "graph.csv").read_bytes())
    assert piped["details"]["eigenvalues"] == value["details"]["eigenvalues"] and piped["sizes"] == value["sizes"]
    # New points are rows of affinities to the points of the graph.
    write_csv(tmp_path / "new.csv", [[1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 2, 0]])
    run("predict", tmp_path / "model", tmp_path / "new.csv", "--labels-out", tmp_path / "labels.csv")
    labels = read_words(tmp_path / "labels.csv")
    assert len(labels) == 2 and labels[0] != labels[1]


def test_missing_affinity_is_an_error(tmp_path):
    write_csv(tmp_path / "edges.csv", [[0, 1, "nan"], [1, 2, 0.5]])
    refused = run("fit", "spectral", tmp_path / "edges.csv", "--affinity", "precomputed", "-k", 2, code=3)
    assert "column 3, line 1: 'nan' stands for a missing value" in refused.err and "--missing" not in refused.err


def test_spectral_graph_formats_agree(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    import scipy.io

    random = np.random.default_rng(3)
    dense = np.triu(random.random((40, 40)) * (random.random((40, 40)) < 0.3), 1)
    dense += dense.T
    for format in ("csr", "csc", "coo"):
        sparse.save_npz(tmp_path / (format + ".npz"), sparse.csr_matrix(dense).asformat(format))
    scipy.io.mmwrite(tmp_path / "general.mtx", sparse.csr_matrix(dense), symmetry="general", precision=17)
    scipy.io.mmwrite(tmp_path / "symmetric.mtx", sparse.csr_matrix(dense), symmetry="symmetric", precision=17)
    with open(tmp_path / "symmetric.mtx", "rb") as plain, gzip.open(tmp_path / "zipped.mtx.gz", "wb") as zipped:
        zipped.write(plain.read())
    upper = sparse.triu(dense).tocoo()
    write_csv(tmp_path / "edges.txt", zip(upper.row, upper.col, map(repr, map(float, upper.data))))
    np.save(tmp_path / "dense.npy", dense)
    np.savez(tmp_path / "dense.npz", dense)
    found = {}
    for path in sorted(tmp_path.iterdir()):
        value = document("fit", "spectral", path, "--affinity", "precomputed", "-k", 3)
        found[path.name] = value["details"]["eigenvalues"], value["sizes"], value["details"]["edges"]
    assert len(found) == 9
    for name in found:
        assert found[name][0] == pytest.approx(found["dense.npy"][0], abs=1e-12), name
        assert found[name][1:] == found["dense.npy"][1:], name


@pytest.mark.parametrize("arrays, words", [
    ({"format": b"lil"}, "the sparse format 'lil' is not supported"),
    ({"shape": [3, 4]}, "affinities need a square matrix"),
    ({"shape": [4, 4]}, "array 'indptr' has 4 numbers, but 5 are needed"),
    ({"indptr": [0, 1, 2, 5]}, "does not begin with 0 and end with 4"),
    ({"indptr": [0, 3, 1, 4]}, "is less than the one before it"),
    ({"indices": [1, 0, 2, 3]}, "array 'indices', entry 4: '3' is not accepted. Use a whole number from 0 to 2"),
    ({"indices": [1, 0, 2]}, "array 'indices' has 3 numbers, but 4 are needed"),
    ({"indices": [1, 0, 0, 1]}, "entry 3 repeats the pair of entry 2"),
    ({"data": [1, 1, np.nan, 1]}, "NaN"),
    ({"data": [-1, -1, 1, 1]}, "affinities must not be negative"),
    ({"data": [1, 2, 1, 1]}, "graph.npz: column 2, row 1: 1 differs from 2 on the other side of the diagonal"),
    ({"indptr": [0, 10**7, 3, 4]}, "is less than the one before it"),
])
def test_spectral_rejects_damaged_sparse_files(tmp_path, arrays, words):
    sound = {"format": b"csr", "shape": [3, 3], "indptr": [0, 1, 3, 4], "indices": [1, 0, 2, 1], "data": [1.0, 1, 1, 1]}
    np.savez(tmp_path / "graph.npz", **{name: np.array(value) for name, value in (sound | arrays).items()})
    done = run("fit", "spectral", tmp_path / "graph.npz", "--affinity", "precomputed", "-k", 1, code=3)
    assert words in done.err


def test_spectral_rejects_options_that_need_points(tmp_path):
    two_cliques(tmp_path / "graph.csv")
    words = ["spectral", tmp_path / "graph.csv", "--affinity", "precomputed", "-k", 2]
    for option in (["--scale", "zscore"], ["--picture", tmp_path / "p.svg"], ["--report", tmp_path / "r.html"]):
        assert option[0] + ": " in run("fit", *words, *option, code=2).err
    assert "read as float64" in run("fit", *words, "--precision", "float32", code=2).err
    assert "tune does not accept a graph" in run("tune", *words, "--grid", "restarts=1,2", code=2).err
    # A 3 x 3 table is a dense matrix if it is symmetric, otherwise a list of edges. If it can be both, it is an error.
    write_csv(tmp_path / "triangle.csv", [[0, 1, 1], [1, 2, 1], [0, 2, 1]])
    assert document("fit", "spectral", tmp_path / "triangle.csv", "--affinity", "precomputed", "-k", 1)["details"]["edges"] == 3
    write_csv(tmp_path / "both.csv", [[0, 1, 2], [1, 3, 4], [2, 4, 5]])
    assert "both.csv: a table of 3 rows and 3 columns is either" in run("fit", "spectral", tmp_path / "both.csv", "--affinity", "precomputed", "-k", 1,
                                              code=3).err
    write_csv(tmp_path / "dense.csv", [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert document("fit", "spectral", tmp_path / "dense.csv", "--affinity", "precomputed", "-k", 1)["n"] == 3


def test_spectral_warns_of_disconnected_graph(tmp_path):
    write_csv(tmp_path / "points.csv", [[1000 * group + 0.1 * i, i % 3] for group in range(4) for i in range(10)])
    done = run("fit", "spectral", tmp_path / "points.csv", "-k", 2, "--neighbors", 4)
    assert "4 connected components for 2 clusters" in done.err and "--neighbors 8" in done.err


def test_scale_is_rejected_for_affinities(tmp_path):
    write_csv(tmp_path / "a.csv", [[0, 1, 0.2], [1, 0, 0.5], [0.2, 0.5, 0]])
    done = run("fit", "spectral", tmp_path / "a.csv", "--affinity", "precomputed", "-k", 1, "--scale", "minmax", code=2)
    assert "--scale" in done.err and "affinities" in done.err
