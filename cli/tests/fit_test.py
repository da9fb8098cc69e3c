"""Fit, predict and evaluate with valid input."""

import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from support import COMMAND, SCORES, blobs, document, run, short, slow_if_network, texts, write_csv


def loaded_by(*words):
    """The shared libraries that the command loads, at its start or while it runs, according to the dynamic linker."""
    done = subprocess.run([COMMAND, *words], env={**os.environ, "LD_DEBUG": "files"}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0
    return set(re.findall(r"file=(?:\S*/)?(lib[^/\s]+?)\.so\S* \[\d+\];", done.stderr)), done.stdout


def test_large_libraries_are_loaded_only_when_needed():
    large = ("torch", "c10", "mpi", "hdf5", "matio", "openblas", "lapack", "gomp", "python")
    def among(loaded):
        return {name for name in loaded if any(part in name for part in large)}
    loaded, out = loaded_by("--version")
    assert re.fullmatch(r"coterie \d+\.\d+\.\d+\n", out)
    assert "libstdc++" in loaded and not among(loaded)
    assert not among(loaded_by("fit", "kmeans", "data:iris", "-k", "3")[0])
    # A search for LAPACK appears in the list even if it fails.
    loaded, _ = loaded_by("fit", "subspace", "data:digits", "-k", "10", "--max-iterations", "1")
    assert among(loaded)


COMMANDS = [[], ["fit"], ["fit", "kmeans"], ["tune"], ["tune", "kmeans"], ["predict"], ["evaluate"], ["geometry"], ["methods"], ["info"], ["data"], ["data", "list"],
            ["data", "show"], ["data", "get"], ["completion"], ["completion", "bash"], ["completion", "zsh"],
            ["completion", "fish"], ["completion", "words"], ["man"]]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words) or "coterie")
def test_help_of_every_command(words):
    done = run(*words, "--help")
    assert done.err == ""
    assert "Usage: " + " ".join(["coterie", *words]) in done.out
    if words not in (["completion"], ["data"]):
        assert "Examples:" in done.out
    assert done.out == run("help", *words).out == run(*words, "-h").out
    assert all(len(line) <= 100 for line in done.out.splitlines())


def test_method_help_has_defaults_and_ranges():
    for method in document("methods")["methods"]:
        text = re.sub(r"\s+", " ", run("fit", method["name"], "--help").out)
        first = text.split("Examples: ")[1].split(" the handwritten digits")[0]
        assert ("epochs" in first) == method["takes"]["device"], first  # the first example of a network has few epochs
        for option in method["options"]:
            assert option["flag"] in text
            if option["kind"] in ("integer", "real"):
                assert option["accepted"] in text
            for choice in option.get("choices", []):
                assert choice in text


def test_fit_json_schema(files):
    value = document("fit", "kmeans", "data:digits", "-k", 10, "--seed", 3, "--threads", 2)
    assert value["method"] == "kmeans" and value["options"]["clusters"] == 10
    assert (value["n"], value["d"], value["clusters_found"]) == (1797, 64, 10)
    assert sum(value["sizes"]) == 1797 and len(value["sizes"]) == 10
    assert value["objective"] > 1e6 and value["iterations"] >= 1
    assert value["stopped"] in ("converged", "iteration-limit", "completed", "interrupted", "exact")
    assert value["seconds"]["read"] >= 0 and value["seconds"]["fit"] > 0
    assert value["seed"] == 3 and value["threads"] == 2
    assert value["warnings"] == [] and isinstance(value["details"], dict)
    assert set(value["scores"]) == set(SCORES)
    assert all(0 <= value["scores"][name] <= 1 for name in SCORES) and value["scores"]["acc"] > 0.6
    assert "scores" not in document("fit", "kmeans", "data:digits", "-k", 10, "--truth", "none")


def test_stdout_has_only_the_result(files, tmp_path):
    done = run("fit", "kmeans", files / "points.csv", "-k", 3, "--labels-out", tmp_path / "l.csv")
    assert done.err == "" and "300 rows, 3 columns, 3 clusters" in done.out
    done = run("fit", "kmeans", files / "points.csv", "-k", 3, "--labels-out", "-")
    assert done.out.splitlines()[0] == "label" and len(done.out.splitlines()) == 301
    assert "objective" in done.err


def test_fit_and_predict_write_consistent_files(files, tmp_path):
    run("fit", "kmeans", files / "points.npy", "-k", 3, "--labels-out", tmp_path / "l.csv", "--model-out", tmp_path / "m.safetensors",
        "--picture", tmp_path / "p.svg", "--report", tmp_path / "r.html", "--truth", files / "truth.npy")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["l.csv", "m.safetensors", "p.svg", "r.html"]
    run("predict", tmp_path / "m.safetensors", files / "points.npy", "--labels-out", tmp_path / "l2.csv")
    assert (tmp_path / "l.csv").read_bytes() == (tmp_path / "l2.csv").read_bytes()
    run("predict", tmp_path / "m.safetensors", files / "points.csv", "--labels-out", tmp_path / "l3.npy")
    labels = np.load(tmp_path / "l3.npy")
    assert labels.dtype == np.int32 and list(labels) == [int(x) for x in (tmp_path / "l.csv").read_text().split()[1:]]
    value = document("predict", tmp_path / "m.safetensors", files / "points.npy")
    assert value["n"] == 300 and value["sizes"] == list(np.bincount(labels)) and "predict" in value["seconds"]

    root = ElementTree.fromstring((tmp_path / "p.svg").read_text())
    assert root.tag.endswith("svg")
    text = "".join(root.itertext())
    assert "kmeans" in text and "n = 300, d = 3, k = 3" in text and "principal axis" in text
    page = (tmp_path / "r.html").read_text()
    assert page.count("<svg") >= 1 and "ACC" in page and "--max-iterations" in page
    assert not re.search(r'(src|href)="', page)  # no external resources


@pytest.mark.parametrize("columns", [1, 2, 3, 1500])
def test_pictures_for_any_number_of_columns(tmp_path, columns):
    points, _ = blobs(n=60, d=columns)
    np.save(tmp_path / "p.npy", points)
    run("fit", "kmeans", tmp_path / "p.npy", "-k", 3, "--picture", tmp_path / "p.svg")
    text = (tmp_path / "p.svg").read_text()
    assert "nan" not in text.lower().replace("principal", "") and "All 60 rows drawn" in text


def test_large_picture_says_how_many_points_it_omits(tmp_path):
    points, _ = blobs(n=12001, d=2)
    np.save(tmp_path / "p.npy", points)
    run("fit", "kmeans", tmp_path / "p.npy", "-k", 12, "--picture", tmp_path / "p.svg")
    assert "4,001 of 12,001 rows drawn, every 3rd" in (tmp_path / "p.svg").read_text()


def test_text_in_reports_is_escaped(files, tmp_path):
    name = tmp_path / "a<b>&'c\".csv"
    shutil.copy(files / "points.csv", name)
    run("fit", "kmeans", name, "-k", 3, "--report", tmp_path / "r.html", "--picture", tmp_path / "p.svg")
    for file in ("r.html", "p.svg"):
        text = (tmp_path / file).read_text()
        assert "a<b>" not in text and "a&lt;b&gt;&amp;&#39;c&quot;" in text


def test_same_seed_same_bytes_at_any_number_of_threads(files, tmp_path):
    for threads in (1, 2, 8):
        run("fit", "kmeans", "data:digits", "-k", 10, "--seed", 5, "--threads", threads, "--scale", "zscore",
            "--labels-out", tmp_path / f"l{threads}.csv", "--model-out", tmp_path / f"m{threads}.safetensors")
    for threads in (2, 8):
        assert (tmp_path / "l1.csv").read_bytes() == (tmp_path / f"l{threads}.csv").read_bytes()
        assert (tmp_path / "m1.safetensors").read_bytes() == (tmp_path / f"m{threads}.safetensors").read_bytes()
    first = document("fit", "kmeans", "data:digits", "-k", 10, "--seed", 5)
    again = document("fit", "kmeans", "data:digits", "-k", 10, "--seed", 5)
    other = document("fit", "kmeans", "data:digits", "-k", 10, "--seed", 6)
    assert first["objective"] == again["objective"] and first["sizes"] == again["sizes"]
    assert first["objective"] != other["objective"]


def test_points_from_every_file_format(files):
    expected = sorted(document("fit", "kmeans", files / "points.npy", "-k", 3)["sizes"])
    for name in ("points.csv", "points-bare.csv", "points.csv.gz", "points32.npy", "two.npz:a"):
        assert sorted(document("fit", "kmeans", files / name, "-k", 3)["sizes"]) == expected, name
    assert sorted(document("fit", "kmeans", "-", "-k", 3, input=(files / "points.csv").read_bytes())["sizes"]) == expected
    assert document("fit", "kmeans", files / "points.npy", "-k", 3, "--precision", "float32")["precision"] == "float32"
    value = document("fit", "kmeans", files / "points.csv", "-k", 3, "--columns", "x,3")
    assert value["d"] == 2
    assert document("fit", "kmeans", files / "points-bare.csv", "-k", 3, "--header", "yes")["n"] == 299


def test_truth_from_file_and_column(files):
    for words in (["--truth", files / "truth.npy"], ["--truth", files / "truth.csv"],
                  ["--truth", files / "labelled.csv", "--truth-column", "tree"]):
        assert document("fit", "kmeans", files / "points.npy", "-k", 3, *words)["scores"]["acc"] == 1.0
    for column in ("tree", "4", "-1"):
        value = document("fit", "kmeans", files / "labelled.csv", "-k", 3, "--label-column", column)
        assert value["d"] == 3 and value["scores"]["ari"] == 1.0
        assert value["confusion"]["classes"] == ["ash", "birch", "cedar"]


def test_evaluate(files, tmp_path):
    (tmp_path / "l.csv").write_text("label\n0\n0\n1\n1\n2\n2\n")
    (tmp_path / "t.csv").write_text("class\nb\nb\na\na\na\nc\n")
    value = document("evaluate", tmp_path / "l.csv", tmp_path / "t.csv")
    assert value["n"] == 6 and value["acc"] == pytest.approx(5 / 6) and value["purity"] == pytest.approx(5 / 6)
    confusion = value["confusion"]
    assert sum(map(sum, confusion["counts"])) == 6
    diagonal = sum(confusion["counts"][i][i] for i in range(3))
    assert diagonal == 5 and confusion["matched"] == confusion["classes"]
    text = run("evaluate", tmp_path / "l.csv", tmp_path / "t.csv").out
    assert "ACC" in text and "0.8333" in text and "class \\ cluster" in text
    (tmp_path / "t.csv").write_text('class\nb\nb\na\na\na\n""\n')
    done = run("evaluate", tmp_path / "l.csv", tmp_path / "t.csv", "--json")
    assert json.loads(done.out)["n"] == 5 and "1 of 6" in done.err
    # More clusters than classes, and fewer.
    (tmp_path / "t.csv").write_text("class\nb\nb\na\na\na\na\n")
    assert document("evaluate", tmp_path / "l.csv", tmp_path / "t.csv")["confusion"]["matched"][-1] is None
    value = document("evaluate", tmp_path / "t.csv", tmp_path / "l.csv")
    assert len(value["confusion"]["classes"]) == 3 and len(value["confusion"]["clusters"]) == 2


def test_scores_agree_with_scikit_learn(tmp_path):
    metrics = pytest.importorskip("sklearn.metrics")
    run("fit", "kmeans", "data:wine", "-k", 3, "--labels-out", tmp_path / "l.npy")
    value = document("evaluate", tmp_path / "l.npy", "data:wine")
    labels = np.load(tmp_path / "l.npy")
    counts = np.array(value["confusion"]["counts"])
    truth = np.repeat(np.arange(counts.shape[0]), counts.sum(axis=1))
    predicted = np.concatenate([np.repeat(np.arange(counts.shape[1]), row) for row in counts])
    assert len(labels) == len(truth)
    assert value["nmi"] == pytest.approx(metrics.normalized_mutual_info_score(truth, predicted), abs=1e-12)
    assert value["ari"] == pytest.approx(metrics.adjusted_rand_score(truth, predicted), abs=1e-12)
    assert value["homogeneity"] == pytest.approx(metrics.homogeneity_score(truth, predicted), abs=1e-12)
    assert value["completeness"] == pytest.approx(metrics.completeness_score(truth, predicted), abs=1e-12)


@pytest.mark.parametrize("words", [["--center"], ["--scale", "minmax"], ["--scale", "zscore"], ["--scale", "unit"],
                                   ["--center", "--scale", "unit"], ["--center", "--scale", "minmax"]], ids=" ".join)
def test_preparation_is_stored_in_the_model(files, tmp_path, words):
    run("fit", "kmeans", "data:wine", "-k", 3, *words, "--labels-out", tmp_path / "l.csv", "--model-out", tmp_path / "m.st")
    run("predict", tmp_path / "m.st", "data:wine", "--labels-out", tmp_path / "p.csv")
    assert (tmp_path / "l.csv").read_bytes() == (tmp_path / "p.csv").read_bytes()
    value = document("info", tmp_path / "m.st")
    assert "preprocess.offset" in [tensor["name"] for tensor in value["tensors"]]
    assert value["facts"]["preprocess"].replace("scale ", "").split(", ") == [w for w in " ".join(words).replace("--scale ", "").replace("--", "").split()]


def test_zscore_scaling_improves_accuracy_on_wine(files):
    plain = document("fit", "kmeans", "data:wine", "-k", 3, "--restarts", 5)["scores"]["acc"]
    scaled = document("fit", "kmeans", "data:wine", "-k", 3, "--restarts", 5, "--scale", "zscore")["scores"]["acc"]
    assert scaled > 0.9 > plain


def test_weighted_rows_equal_repeated_rows(tmp_path):
    random = np.random.default_rng(3)
    points = random.normal(size=(80, 2)) + 8 * (np.arange(80) % 4)[:, None]
    weights = random.integers(0, 4, size=80)
    start = points[weights > 0][:4]
    write_csv(tmp_path / "p.csv", points)
    write_csv(tmp_path / "w.csv", weights[:, None])
    write_csv(tmp_path / "copies.csv", np.repeat(points, weights, axis=0))
    write_csv(tmp_path / "start.csv", start)
    common = ["-k", 4, "--initial-centroids", tmp_path / "start.csv", "--scale", "zscore"]
    weighted = document("fit", "kmeans", tmp_path / "p.csv", "--weights", tmp_path / "w.csv", *common)
    copied = document("fit", "kmeans", tmp_path / "copies.csv", *common)
    assert weighted["objective"] == pytest.approx(copied["objective"], rel=1e-9)


def test_initial_centroids_are_used(files):
    value = document("fit", "kmeans", files / "points.npy", "-k", 3, "--initial-centroids", files / "centroids.csv")
    assert value["clusters_found"] == 3 and value["iterations"] <= 10


def test_equal_rows_give_a_result_with_a_warning(files, tmp_path):
    done = run("fit", "kmeans", files / "same.csv", "-k", 3, "--json", "--labels-out", tmp_path / "l.csv")
    value = json.loads(done.out)
    assert value["clusters_found"] == 1 and value["warnings"] and "warning" in done.err
    assert run("fit", "kmeans", files / "same.csv", "-k", 3, "--quiet").err == ""
    assert "the same value in every row, so scaling only shifts" in run("fit", "kmeans", files / "same.csv", "-k", 1, "--scale", "zscore").err


def test_strict_reports_missing_convergence(files, tmp_path):
    words = ["fit", "kmeans", "data:digits", "-k", 10, "--max-iterations", 1, "--labels-out", tmp_path / "l.csv"]
    assert "iteration-limit" in run(*words).out
    assert "not converged" in run(*words, "--strict", code=4).err
    assert (tmp_path / "l.csv").exists()


def test_info_reads_standard_input(files):
    model = (files / "model.safetensors").read_bytes()
    assert run("info", "-", input=model).out == run("info", files / "model.safetensors").out
    told = document("info", "-", input=model)
    assert told.pop("model") == "-" and told == {key: value for key, value in document("info", files / "model.safetensors").items() if key != "model"}
    assert "safetensors" in run("info", "-", input=b"no model", code=3).err


def test_choice_among_several_arrays_is_reported(files, tmp_path):
    points = np.load(files / "points.npy")
    np.savez(tmp_path / "two.npz", X=points, y=np.arange(len(points)) % 3)
    note = f"{tmp_path}/two.npz: the array X ({len(points)} x {points.shape[1]}) was used; the file also holds y ({len(points)} values)"
    done = run("fit", "kmeans", tmp_path / "two.npz", "-k", 3)
    assert done.err == f"coterie: warning: {note}\n"
    assert note in texts(document("fit", "kmeans", tmp_path / "two.npz", "-k", 3)["warnings"])
    for words in (["predict", files / "model.safetensors", tmp_path / "two.npz"],
                  ["geometry", tmp_path / "two.npz", "--labels", f"{tmp_path}/two.npz:y", "--dim", 1]):
        assert note in texts(document(*words)["warnings"]) and note in run(*words).err
        assert note not in run(*words, "--quiet").err
    assert run("fit", "kmeans", f"{tmp_path}/two.npz:X", "-k", 3).err == ""
    # If the file has only labels, clustering them gives a message.
    np.savez(tmp_path / "one.npz", y=np.arange(len(points)) % 3)
    assert "the array y (" in run("fit", "kmeans", tmp_path / "one.npz", "-k", 3).err


def test_default_number_of_clusters_is_reported(files):
    words = ["kmeans", files / "points.npy"]
    told = "--clusters: no number of clusters is given, so the default is used: 8"
    done = run("fit", *words, "--json")
    value = json.loads(done.out)
    assert done.err == f"coterie: note: {told}\n" and texts(value["notes"]) == [told] and value["options"]["clusters"] == 8
    assert run("fit", *words, "--quiet").err == ""
    partial = ["--partial-labels", files / "partial.csv"]
    for given in (["-k", 8], partial):  # the labels determine the number of clusters
        done = run("fit", *words, *given, "--json")
        assert done.err == "" and json.loads(done.out)["notes"] == []
    done = run("tune", *words, "--grid", "restarts=1,2", "--json")
    assert done.err == f"coterie: note: {told}\n" and texts(json.loads(done.out)["fit"]["notes"]) == [told]
    assert run("tune", *words, "--grid", "k=2,3").err == ""


def test_messages_name_options_as_flags(files, tmp_path):
    assert run("fit", "kmeans", files / "points.npy", "--max-iterations", 0, code=2).err.startswith(
        "coterie: --max-iterations: 0 is not accepted. Use a whole number, at least 1.")
    assert "coterie: --sizes cannot be combined with --label-share. Leave one out." in run(
        "fit", "kmeans", files / "points.npy", "--partial-labels", files / "partial.csv", "--sizes", "3:", "--label-share", "ash=0.5", code=2).err
    assert "--alpha changes nothing without --loss renyi" in run("fit", "entropy", files / "points.npy", "-k", 3, "--alpha", 2, code=2).err
    # Text quoted from the user is unchanged.
    path = tmp_path / "a`b`.csv"
    assert run("fit", "kmeans", path, code=3).err.startswith(f"coterie: {path}: ")
    for method in document("methods")["methods"]:
        assert "`" not in run("fit", method["name"], "--help").out + json.dumps(method)


def test_methods_and_info(files, tmp_path):
    value = document("methods")
    assert [m["name"] for m in value["methods"]][0] == "kmeans" and "kmeans" in run("methods").out
    one = document("methods", "kmeans")["methods"][0]
    clusters = one["options"][0]
    assert clusters["flag"] == "--clusters" and clusters["letter"] == "k" and clusters["low"] == 1 and clusters["automatic"] and clusters["default"] == 8
    assert "--max-iterations" in run("methods", "kmeans").out
    value = document("info", files / "model.safetensors")
    assert value["method"] == "kmeans" and value["clusters"] == 3 and value["dimensions"] == 3
    assert value["options"]["clusters"] == 3 and value["tensors"]
    fitted = document("fit", "kmeans", files / "points.npy", "-k", 3, "--seed", 7, "--model-out", tmp_path / "m.st")
    facts = document("info", tmp_path / "m.st")["facts"]
    assert float(facts["objective"]) == fitted["objective"] and facts["stopped"] == fitted["stopped"]
    assert (facts["points"], facts["seed"], facts["iterations"]) == (str(fitted["n"]), "7", str(fitted["iterations"]))
    assert "centroids" in run("info", files / "model.safetensors").out


LISTED = document("methods")["methods"]
METHODS = {method["name"]: {option["name"] for option in method["options"]} for method in LISTED}


def three_clusters(method):
    return ["-k", 3] if "clusters" in METHODS[method] else []


@pytest.mark.parametrize("method", [slow_if_network(method) for method in LISTED])
def test_every_method_fits_predicts_and_writes_all_outputs(files, tmp_path, method):
    value = document("fit", method, files / "points.npy", *three_clusters(method), "--truth", files / "truth.npy", "--model-out", tmp_path / "m.st",
                     "--labels-out", tmp_path / "l.csv", "--report", tmp_path / "r.html", "--picture", tmp_path / "p.svg", *short(method))
    in_all = [300] if "clusters" in METHODS[method] else range(270, 301)  # other methods may label rows as noise
    assert value["method"] == method and value["clusters_found"] == 3 and sum(value["sizes"]) in in_all
    again = document("predict", tmp_path / "m.st", files / "points.npy")
    assert again["method"] == method and sum(again["sizes"]) in in_all
    assert document("info", tmp_path / "m.st")["method"] == method
    assert f"coterie fit {method}" in run("fit", method, "--help").out


@pytest.mark.parametrize("method", [slow_if_network(method) for method in LISTED])
def test_every_method_is_tuned(files, tmp_path, method):
    grid = "k=2:4" if "clusters" in METHODS[method] else "min_cluster_size=8:10"
    value = document("tune", method, files / "points.npy", "--grid", grid, "--folds", 2, "--truth", files / "truth.npy",
                     "--model-out", tmp_path / "m.st", *short(method))
    assert value["method"] == method == value["best_method"] and len(value["cells"]) == 3
    assert all(cell["error"] is None and cell["unseen"]["acc"] > 0.3 for cell in value["cells"])
    clusters = document("info", tmp_path / "m.st")["clusters"]
    if "clusters" in METHODS[method]:
        assert clusters == value["best_options"]["clusters"] == value["best"] + 2
    else:
        assert clusters == 3 and value["best_options"]["min_cluster_size"] == value["best"] + 8


def test_predict_finds_columns_by_name(files, tmp_path):
    points, _ = blobs()
    points = points * [1, 1000, 1] + [40, 0, 0]
    write_csv(tmp_path / "fit.csv", points, ["x", "y", "z"])
    run("fit", "kmeans", tmp_path / "fit.csv", "-k", 3, "--scale", "zscore", "--model-out", tmp_path / "m", "--labels-out", tmp_path / "l.npy")
    labels = np.load(tmp_path / "l.npy")
    rows = [[row[2], "oak", row[0], 7, row[1]] for row in points]
    write_csv(tmp_path / "other.csv", rows, ["z", "tree", "x", "n", "y"])
    done = run("predict", tmp_path / "m", tmp_path / "other.csv", "--labels-out", tmp_path / "again.npy")
    assert np.array_equal(np.load(tmp_path / "again.npy"), labels) and done.err == ""
    # A missing column; a file without names; a file with too few columns.
    write_csv(tmp_path / "narrow.csv", [row[:4] for row in rows], ["z", "tree", "x", "n"])
    error = run("predict", tmp_path / "m", tmp_path / "narrow.csv", code=3).err
    assert "narrow.csv: column 'y': the file does not have this column" in error
    write_csv(tmp_path / "bare.csv", points)
    done = run("predict", tmp_path / "m", tmp_path / "bare.csv", "--labels-out", tmp_path / "bare.npy")
    assert np.array_equal(np.load(tmp_path / "bare.npy"), labels) and "matched to the model's by order" in done.err and "x, y, z" in done.err
    np.save(tmp_path / "two.npy", points[:, :2])
    error = run("predict", tmp_path / "m", tmp_path / "two.npy", code=3).err
    assert "two.npy" in error and "2 columns" in error and "x, y, z" in error
    # transform finds columns in the same way.
    run("fit", "rpca-om", tmp_path / "fit.csv", "-k", 3, "--scale", "zscore", "--model-out", tmp_path / "r")
    for name in ["fit", "other"]:
        run("transform", tmp_path / "r", tmp_path / f"{name}.csv", "--points-out", tmp_path / f"{name}.npy")
    assert np.array_equal(np.load(tmp_path / "fit.npy"), np.load(tmp_path / "other.npy"))


def test_predict_writes_every_output(files, tmp_path):
    run("fit", "soft-kmeans", files / "points.csv", "-k", 3, "--model-out", tmp_path / "m")
    words = ["predict", tmp_path / "m", files / "points.csv", "--labels-out", tmp_path / "l.npy", "--memberships-out", tmp_path / "p.csv",
             "--distances-out", tmp_path / "d.npy"]
    assert document(*words)["written"] == {"labels": str(tmp_path / "l.npy"), "memberships": str(tmp_path / "p.csv"),
                                           "distances": str(tmp_path / "d.npy")}
    labels, distances = np.load(tmp_path / "l.npy"), np.load(tmp_path / "d.npy")
    header, *rows = (tmp_path / "p.csv").read_text().splitlines()
    assert header == "cluster-0,cluster-1,cluster-2"
    memberships = np.array([[float(x) for x in row.split(",")] for row in rows])
    assert np.allclose(memberships.sum(1), 1) and np.array_equal(memberships.argmax(1), labels) and np.array_equal(distances.argmin(1), labels)
    error = run("predict", tmp_path / "m", files / "points.csv", "--embedding-out", tmp_path / "e.npy", code=2).err
    assert "--embedding-out" in error and "--memberships-out, --distances-out" in error
