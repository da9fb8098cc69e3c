"""Input that cannot work gives an error message."""

import json
import os
import re
import subprocess

import numpy as np
import pytest

from support import COMMAND, run

FIT = ["fit", "kmeans"]


TUNE = ["tune", "kmeans", "{}/points.csv"]
KNOWN = ["{}/points.csv", "-k", "3", "--partial-labels", "{}/partial.csv"]


# name: arguments ({} is the folder of inputs), exit code, texts that the message must contain
BAD = {
    "truncated npy": ([*FIT, "{}/truncated.npy", "-k", "3"], 3, ["truncated.npy"]),
    "npy header with wrong shape": ([*FIT, "{}/lying.npy", "-k", "3"], 3, ["lying.npy"]),
    "not an npy file": ([*FIT, "{}/noise.npy", "-k", "3"], 3, ["noise.npy"]),
    "npy of one number": ([*FIT, "{}/number.npy", "-k", "3"], 3, ["number.npy"]),
    "npy of complex numbers": ([*FIT, "{}/complex.npy", "-k", "3"], 3, ["complex.npy"]),
    "npy with NaN": ([*FIT, "{}/nan.npy", "-k", "3"], 3, ["nan.npy", "row 8", "column 2"]),
    "ragged csv": ([*FIT, "{}/ragged.csv", "-k", "2"], 3, ["ragged.csv", "3"]),
    "word in a column of numbers": ([*FIT, "{}/word.csv", "-k", "2"], 3, ["word.csv", "oak"]),
    "blank field": ([*FIT, "{}/blank-field.csv", "-k", "2"], 3, ["blank-field.csv", "2"]),
    "empty file": ([*FIT, "{}/empty.csv", "-k", "2"], 3, ["empty.csv"]),
    "header only": ([*FIT, "{}/header-only.csv", "-k", "2"], 3, ["header-only.csv"]),
    "empty standard input": ([*FIT, "-", "-k", "2"], 3, ["standard input"]),
    "NaN": ([*FIT, "{}/nan.csv", "-k", "2"], 3, ["nan.csv", "2"]),
    "infinity": ([*FIT, "{}/inf.csv", "-k", "2"], 3, ["inf.csv", "3"]),
    "1e30 in float32": ([*FIT, "{}/big.csv", "-k", "2", "--precision", "float32"], 3, ["e+30", "float32"]),
    "more clusters than points": ([*FIT, "{}/two-columns.csv", "-k", "4"], 2, ["4", "3"]),
    "k 0": ([*FIT, "{}/points.csv", "-k", "0"], 2, ["--clusters", "0", "at least 1"]),
    "k -1": ([*FIT, "{}/points.csv", "-k", "-1"], 2, ["--clusters", "-1", "at least 1"]),
    "k abc": ([*FIT, "{}/points.csv", "-k", "abc"], 2, ["--clusters", "abc", "whole number"]),
    "k 2.5": ([*FIT, "{}/points.csv", "-k2.5"], 2, ["--clusters", "2.5"]),
    "k too large for any machine": ([*FIT, "{}/points.csv", "-k", "99999999999999999999"], 2, ["--clusters"]),
    "k without a value": ([*FIT, "{}/points.csv", "-k"], 2, ["--clusters", "a value is missing", "whole number"]),
    "negative tolerance": ([*FIT, "{}/points.csv", "--tolerance", "-1"], 2, ["--tolerance", "-1", "at least 0"]),
    "tolerance nan": ([*FIT, "{}/points.csv", "--tolerance", "nan"], 2, ["--tolerance", "nan"]),
    "threads 0": ([*FIT, "{}/points.csv", "--threads", "0"], 2, ["--threads", "0", "from 1"]),
    "seed x": ([*FIT, "{}/points.csv", "--seed", "x"], 2, ["--seed", "x", "whole number"]),
    "seed -1": ([*FIT, "{}/points.csv", "--seed", "-1"], 2, ["--seed", "-1"]),
    "unknown scale": ([*FIT, "{}/points.csv", "--scale", "sideways"], 2, ["--scale", "sideways", "zscore"]),
    "unknown seeding": ([*FIT, "{}/points.csv", "--seeding", "magic"], 2, ["--seeding", "magic", "kmeans++"]),
    "unknown precision": ([*FIT, "{}/points.csv", "--precision", "float128"], 2, ["--precision", "float128", "float64"]),
    "cuda": ([*FIT, "{}/points.csv", "--device", "cuda"], 2, ["--device", "kmeans"]),
    "unknown option": ([*FIT, "{}/points.csv", "--max-iteration", "3"], 2, ["--max-iteration", "Try --max-iterations"]),
    "unknown letter": ([*FIT, "{}/points.csv", "-q"], 2, ["-q"]),
    "one dash": ([*FIT, "{}/points.csv", "-seed", "1"], 2, ["-seed", "Try --seed"]),
    "option twice": ([*FIT, "{}/points.csv", "-k", "3", "--clusters", "4"], 2, ["--clusters", "twice"]),
    "flag twice": ([*FIT, "{}/points.csv", "--json", "--json"], 2, ["--json", "twice"]),
    "empty value": ([*FIT, "{}/points.csv", "--truth="], 2, ["--truth", "empty"]),
    "missing option value": ([*FIT, "{}/points.csv", "--labels-out", "--json"], 2, ["--labels-out", "a value is missing", "--labels-out FILE"]),
    "unexpected argument": ([*FIT, "{}/points.csv", "{}/points.csv"], 2, ["unexpected argument"]),
    "points missing": ([*FIT, "-k", "3"], 2, ["POINTS"]),
    "no method": (["fit"], 2, ["METHOD", "kmeans"]),
    "unknown method": (["fit", "kmens", "{}/points.csv"], 2, ["kmens", "Try kmeans"]),
    "unknown command": (["fitt", "kmeans"], 2, ["fitt", "Try coterie fit"]),
    "no command": ([], 2, ["COMMAND"]),
    "unknown data set": ([*FIT, "data:digts"], 2, ["digts", "Try data:digits"]),
    "unknown data set to show": (["data", "show", "digts"], 2, ["digts", "Try digits"]),
    "unknown shell": (["completion", "fis"], 2, ["fis", "Try coterie completion fish"]),
    "unknown extension": ([*FIT, "{}/points.parquet", "-k", "3"], None, ["points.parquet", "to_csv"]),
    "missing file": ([*FIT, "{}/nowhere.csv", "-k", "3"], None, ["nowhere.csv"]),
    "folder as file": ([*FIT, "{}", "-k", "3"], None, ["files"]),
    "truncated gz": ([*FIT, "{}/truncated.csv.gz", "-k", "3"], 3, ["truncated.csv.gz"]),
    "missing npz key": ([*FIT, "{}/two.npz:c", "-k", "3"], 3, ["two.npz", "c", "a"]),
    "npz of two without key": ([*FIT, "{}/two.npz", "-k", "3"], 3, ["two.npz", "a", "b"]),
    "not an npz file": ([*FIT, "{}/not.npz", "-k", "3"], 3, ["not.npz"]),
    "not an hdf5 file": ([*FIT, "{}/not.h5:/points", "-k", "3"], 3, ["not.h5"]),
    "not a mat file": ([*FIT, "{}/not.mat", "-k", "3"], 3, ["not.mat"]),
    "weights of another length": ([*FIT, "{}/points.csv", "-k", "3", "--weights", "{}/weights-short.csv"], 2, ["weights", "3", "300"]),
    "negative weight": ([*FIT, "{}/points.csv", "-k", "3", "--weights", "{}/weights-negative.csv"], 2, ["weights", "299", "-1"]),
    "NaN weight": ([*FIT, "{}/points.csv", "-k", "3", "--weights", "{}/weights-nan.csv"], 3, ["weights-nan.csv"]),
    "all weights 0": ([*FIT, "{}/points.csv", "-k", "3", "--weights", "{}/weights-zero.csv"], 2, ["weights", "0"]),
    "centroids of another width": ([*FIT, "{}/points.csv", "-k", "3", "--initial-centroids", "{}/centroids-narrow.csv"], 2,
                                   ["centroids", "2", "3"]),
    "too few centroids": ([*FIT, "{}/points.csv", "-k", "3", "--initial-centroids", "{}/centroids-few.csv"], 2, ["centroids", "2", "3"]),
    "truth of another length": ([*FIT, "{}/points.csv", "-k", "3", "--truth", "{}/truth-short.csv"], 3, ["truth-short.csv", "3", "300"]),
    "blank truth": ([*FIT, "{}/points.csv", "-k", "3", "--truth", "{}/truth-blank.csv"], 3, ["truth-blank.csv"]),
    "missing truth": ([*FIT, "{}/points.csv", "-k", "3", "--truth", "{}/nowhere.csv"], None, ["nowhere.csv"]),
    "truth column without truth": ([*FIT, "{}/points.csv", "-k", "3", "--truth-column", "x"], 2, ["--truth-column"]),
    "partial labels of another length": ([*FIT, "{}/points.csv", "-k", "3", "--partial-labels", "{}/partial-short.csv"], 3,
                                         ["--partial-labels", "partial-short.csv", "3", "300"]),
    "blank partial labels": ([*FIT, "{}/points.csv", "-k", "3", "--partial-labels", "{}/partial-blank.csv"], 3, ["partial-blank.csv", "no row has a label"]),
    "missing partial labels": ([*FIT, "{}/points.csv", "-k", "3", "--partial-labels", "{}/nowhere.csv"], None, ["nowhere.csv"]),
    "partial labels of two columns": ([*FIT, "{}/points.csv", "-k", "3", "--partial-labels", "{}/partial-of-two.csv"], None, ["partial-of-two.csv"]),
    "missing column of partial labels": ([*FIT, *KNOWN, "--partial-labels-column", "oak"], None, ["oak"]),
    "partial labels column without labels": ([*FIT, "{}/points.csv", "--partial-labels-column", "x"], 2, ["--partial-labels-column", "needs"]),
    "partial labels not supported by the method": (["fit", "ward", "{}/points.csv", "--partial-labels", "{}/partial.csv"], 2,
                                                   ["--partial-labels", "ward"]),
    "pairs not supported by the method": (["fit", "ward", "{}/points.csv", "--pairs", "{}/pairs.csv"], 2, ["--pairs", "ward"]),
    "missing pairs": ([*FIT, "{}/points.csv", "-k", "3", "--pairs", "{}/nowhere.csv"], None, ["nowhere.csv"]),
    "points as pairs": ([*FIT, "{}/points.csv", "-k", "3", "--pairs", "{}/points.csv"], 3, ["points.csv", "column 3", "must or cannot"]),
    "pairs with row out of range": ([*FIT, "{}/points.csv", "-k", "3", "--pairs", "{}/pairs-far.csv"], 3, ["pairs-far.csv", "row 2", "301", "300"]),
    "pairs of unknown kind": ([*FIT, "{}/points.csv", "-k", "3", "--pairs", "{}/pairs-word.csv"], 3, ["pairs-word.csv", "maybe", "must or cannot"]),
    "pairs in conflict": ([*FIT, "{}/points.csv", "-k", "3", "--pairs", "{}/pairs-conflict.csv"], 3, ["rows 3 and 1 must be apart", "3, 2, 1"]),
    "pairs and sizes together": ([*FIT, "{}/points.csv", "-k", "3", "--pairs", "{}/pairs.csv", "--sizes", "3:"], 2, ["pairs", "--sizes"]),
    "pairs and soft assignments": (["fit", "subspace", "{}/points.csv", "-k", "3", "--pairs", "{}/pairs.csv", "--assignment", "soft"], 2, ["--assignment", "hard"]),
    "sizes not supported by the method": (["fit", "ward", "{}/points.csv", "--sizes", "3:"], 2, ["--sizes", "ward"]),
    "output over partial labels": ([*FIT, *KNOWN, "--labels-out", "{}/partial.csv"], 2, ["--labels-out", "partial.csv"]),
    "share without partial labels": ([*FIT, "{}/points.csv", "--label-share", "ash=0.5"], 2, ["--label-share", "needs --partial-labels FILE"]),
    "clusters of a label without partial labels": ([*FIT, "{}/points.csv", "--clusters-per-label", "ash=2"], 2,
                                                   ["--clusters-per-label", "needs --partial-labels FILE"]),
    "share without a label": ([*FIT, *KNOWN, "--label-share", "0.5"], 2, ["--label-share", "0.5", "LABEL=SHARE"]),
    "share of an empty label": ([*FIT, *KNOWN, "--label-share", "=0.5"], 2, ["--label-share", "=0.5", "LABEL=SHARE"]),
    "share without a number": ([*FIT, *KNOWN, "--label-share", "ash="], 2, ["--label-share", "ash=", "LABEL=SHARE"]),
    "share without bounds": ([*FIT, *KNOWN, "--label-share", "ash=:"], 2, ["--label-share", "ash=:", "LOW:HIGH"]),
    "share with three bounds": ([*FIT, *KNOWN, "--label-share", "ash=0.1:0.2:0.3"], 2, ["--label-share", "ash=0.1:0.2:0.3", "LOW:HIGH"]),
    "share that is a word": ([*FIT, *KNOWN, "--label-share", "ash=half"], 2, ["--label-share", "half"]),
    "share nan": ([*FIT, *KNOWN, "--label-share", "ash=nan"], 2, ["--label-share", "nan"]),
    "share with a comma too many": ([*FIT, *KNOWN, "--label-share", "ash=0.5,"], 2, ["--label-share", "ash=0.5,"]),
    "share above 1": ([*FIT, *KNOWN, "--label-share", "ash=1.5"], 2, ["--label-share", "ash", "1.5"]),
    "share below 0": ([*FIT, *KNOWN, "--label-share", "ash=-0.5"], 2, ["--label-share", "ash", "-0.5"]),
    "share with crossed bounds": ([*FIT, *KNOWN, "--label-share", "ash=0.6:0.4"], 2, ["--label-share", "ash", "0.6", "0.4"]),
    "share of an unknown label": ([*FIT, *KNOWN, "--label-share", "asj=0.5"], 2, ["--label-share", "asj", "ash"]),
    "share twice": ([*FIT, *KNOWN, "--label-share", "ash=0.5", "--label-share", "ash=0.4"], 2, ["--label-share", "ash", "twice"]),
    "share below the labelled rows": ([*FIT, *KNOWN, "--label-share", "ash=0.01"], 2, ["--label-share", "ash", "0.01"]),
    "shares with a sum above 1": ([*FIT, *KNOWN, "--label-share", "ash=0.6,birch=0.6"], 2, ["--label-share"]),
    "clusters of a label not a number": ([*FIT, *KNOWN, "--clusters-per-label", "ash=two"], 2, ["--clusters-per-label", "ash=two", "LABEL=N"]),
    "half a cluster for a label": ([*FIT, *KNOWN, "--clusters-per-label", "ash=1.5"], 2, ["--clusters-per-label", "ash=1.5", "LABEL=N"]),
    "no cluster for a label": ([*FIT, *KNOWN, "--clusters-per-label", "ash=0"], 2, ["--clusters-per-label", "ash", "0"]),
    "clusters of an unknown label": ([*FIT, *KNOWN, "--clusters-per-label", "oak=1"], 2, ["--clusters-per-label", "oak", "ash"]),
    "clusters of a label twice": ([*FIT, *KNOWN, "--clusters-per-label", "ash=1,ash=1"], 2, ["--clusters-per-label", "ash", "twice"]),
    "more clusters of labels than clusters": ([*FIT, *KNOWN, "--clusters-per-label", "ash=2"], 2, ["3", "4"]),
    "sizes without bounds": ([*FIT, "{}/points.csv", "--sizes", ":"], 2, ["--sizes", "LOW:HIGH"]),
    "sizes that are a word": ([*FIT, "{}/points.csv", "--sizes", "large"], 2, ["--sizes", "large", "LOW:HIGH"]),
    "half a size": ([*FIT, "{}/points.csv", "--sizes", "1.5:"], 2, ["--sizes", "1.5", "LOW:HIGH"]),
    "sizes with three bounds": ([*FIT, "{}/points.csv", "--sizes", "1:2:3"], 2, ["--sizes", "1:2:3", "LOW:HIGH"]),
    "sizes twice": ([*FIT, "{}/points.csv", "--sizes", "1:", "--sizes", "2:"], 2, ["--sizes", "twice"]),
    "negative size": ([*FIT, "{}/points.csv", "-k", "3", "--sizes=-3:"], 2, ["--sizes", "-3"]),
    "sizes with crossed bounds": ([*FIT, "{}/points.csv", "-k", "3", "--sizes", "90:80"], 2, ["--sizes", "90", "80"]),
    "sizes that are too large": ([*FIT, "{}/points.csv", "-k", "3", "--sizes", "101:"], 2, ["--sizes", "101", "300"]),
    "sizes that are too small": ([*FIT, "{}/points.csv", "-k", "3", "--sizes", ":99"], 2, ["--sizes", "99", "300"]),
    "sizes and shares together": ([*FIT, *KNOWN, "--label-share", "ash=0.5", "--sizes", "3:"], 2, ["--sizes", "--label-share"]),
    "scores of a model without labels": (["predict", "{}/model.safetensors", "{}/points.csv", "--scores-out", "OUT/s.csv"], 2,
                                         ["--scores-out", "model.safetensors"]),
    "scores of unknown extension": (["predict", "{}/model.safetensors", "{}/points.csv", "--scores-out", "OUT/s.txt"], 2, ["--scores-out", ".npy"]),
    "grid missing": ([*TUNE, "-k", "3"], 2, ["--grid OPTION=VALUES", "clusters=2:10"]),
    "grid without values": ([*TUNE, "--grid", "clusters"], 2, ["--grid", "clusters", "OPTION=LOW:HIGH"]),
    "empty grid": ([*TUNE, "--grid", "clusters="], 2, ["--grid", "empty", "OPTION=LOW:HIGH"]),
    "grid of an unknown option": ([*TUNE, "--grid", "cluster=2:3"], 2, ["cluster", "Use one of its options: clusters"]),
    "grid out of range": ([*TUNE, "--grid", "k=-1:3"], 2, ["--clusters", "-1", "at least 1"]),
    "grid of words": ([*TUNE, "--grid", "k=two"], 2, ["--clusters", "two", "whole number"]),
    "grid of an unknown choice": ([*TUNE, "--grid", "algorithm=magic"], 2, ["--algorithm", "magic", "lloyd"]),
    "grid with crossed bounds": ([*TUNE, "--grid", "k=5:2"], 2, ["--grid", "5:2"]),
    "logarithmic grid from 0": ([*TUNE, "--grid", "tolerance=0:1:log"], 2, ["--grid", "above 0"]),
    "option given and on the grid": ([*TUNE, "-k", "3", "--grid", "clusters=2:3"], 2, ["--clusters", "on the grid"]),
    "grid twice": ([*TUNE, "--grid", "k=3", "--grid", "clusters=2:3"], 2, ["clusters", "twice"]),
    "too many cells": ([*TUNE, "--grid", "k=1:1000", "--grid", "restarts=1:1000"], 2, ["100000"]),
    "too many values": ([*TUNE, "--grid", "k=1:1e9"], 2, ["100000"]),
    "one fold": ([*TUNE, "--grid", "k=2:3", "--folds", "1"], 2, ["--folds", "1", "from 2"]),
    "more folds than points": ([*TUNE, "--grid", "k=2:3", "--folds", "301"], 2, ["--folds", "301", "300"]),
    "unknown criterion": ([*TUNE, "--grid", "k=2:3", "--select", "luck"], 2, ["--select", "luck", "silhouette"]),
    "oracle without a truth": ([*TUNE, "--grid", "k=2:3", "--select", "nmi"], 2, ["--select", "nmi", "truth"]),
    "k-means compared with itself": ([*TUNE, "--grid", "k=2:3", "--select", "knncut", "--with-kmeans"], 2, ["--with-kmeans"]),
    "k-means by silhouette": (["tune", "ward", "{}/points.csv", "--grid", "k=2:3", "--with-kmeans"], 2, ["--with-kmeans", "knncut"]),
    "every cell fails": ([*TUNE, "--grid", "k=301:303", "--labels-out", "OUT/l.csv"], 2, ["301", "300"]),
    "tune of an unknown method": (["tune", "kmens", "{}/points.csv"], 2, ["kmens", "Try kmeans"]),
    "tune without points": (["tune", "kmeans", "--grid", "k=2:3"], 2, ["POINTS"]),
    "tune of NaN": (["tune", "kmeans", "{}/nan.npy", "--grid", "k=2:3"], 3, ["nan.npy", "row 8"]),
    "tune's output over input": ([*TUNE, "--grid", "k=2:3", "--labels-out", "{}/points.csv"], 2, ["--labels-out", "points.csv"]),
    "missing label column": ([*FIT, "{}/points.csv", "-k", "3", "--label-column", "tree"], None, ["tree"]),
    "label column out of range": ([*FIT, "{}/points.csv", "-k", "3", "--label-column", "9"], None, ["9"]),
    "missing column": ([*FIT, "{}/points.csv", "-k", "3", "--columns", "x,w"], None, ["w"]),
    "empty entry in columns": ([*FIT, "{}/points.csv", "-k", "3", "--columns", "x,,y"], 2, ["--columns"]),
    "folder of output missing": ([*FIT, "{}/points.csv", "-k", "3", "--labels-out", "OUT/no/such/l.csv"], 1, ["--labels-out", "no/such"]),
    "output is a folder": ([*FIT, "{}/points.csv", "-k", "3", "--model-out", "{}"], 1, ["folder"]),
    "output of unknown extension": ([*FIT, "{}/points.csv", "-k", "3", "--labels-out", "OUT/l.xlsx"], 2, ["--labels-out", ".npy"]),
    "picture not svg": ([*FIT, "{}/points.csv", "-k", "3", "--picture", "OUT/p.png"], 2, ["--picture", ".svg"]),
    "report not html": ([*FIT, "{}/points.csv", "-k", "3", "--report", "OUT/p.pdf"], 2, ["--report", ".html"]),
    "output over input": ([*FIT, "{}/points.csv", "-k", "3", "--labels-out", "{}/points.csv"], 2, ["--labels-out", "points.csv"]),
    "two outputs in one file": ([*FIT, "{}/points.csv", "--labels-out", "OUT/a.csv", "--model-out", "OUT/a.csv"], 2, ["same file"]),
    "labels and json to standard output": ([*FIT, "{}/points.csv", "--labels-out", "-", "--json"], 2, ["--json"]),
    "wrong dimension on predict": (["predict", "{}/model.safetensors", "{}/two-columns.csv"], 3, ["2 columns", "3"]),
    "model with a flipped byte": (["predict", "{}/flipped.safetensors", "{}/points.csv"], 3, ["flipped.safetensors"]),
    "model with a flipped header": (["predict", "{}/flipped-header.safetensors", "{}/points.csv"], 3, ["flipped-header.safetensors"]),
    "truncated model": (["predict", "{}/short.safetensors", "{}/points.csv"], 3, ["short.safetensors"]),
    "model of five bytes": (["info", "{}/tiny.safetensors"], 3, ["tiny.safetensors"]),
    "text as model": (["info", "{}/text.safetensors"], 3, ["text.safetensors"]),
    "points as model": (["predict", "{}/points.npy", "{}/points.csv"], 3, ["points.npy"]),
    "model of another version": (["predict", "{}/version.safetensors", "{}/points.csv"], 3, ["version.safetensors", "999"]),
    "model of an unknown method": (["predict", "{}/method.safetensors", "{}/points.csv"], 3, ["method.safetensors"]),
    "missing model": (["predict", "{}/nowhere.safetensors", "{}/points.csv"], None, ["nowhere.safetensors"]),
    "NaN on predict": (["predict", "{}/model.safetensors", "{}/nan.npy"], 3, ["row 8"]),
    "labels of another length": (["evaluate", "{}/truth-short.csv", "{}/truth.csv"], 3, ["truth-short.csv", "3", "300"]),
    "labels missing": (["evaluate", "{}/nowhere.csv", "{}/truth.csv"], None, ["nowhere.csv"]),
    "data set not downloaded": (["fit", "kmeans", "data:fashion-mnist"], 3, ["fashion-mnist"]),
    "unreachable mirror": (["data", "get", "ecoli", "--folder", "OUT/data", "--base-url", "http://127.0.0.1:9/"], 1, ["127.0.0.1"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(files, tmp_path, name):
    words, code, needed = BAD[name]
    words = [word.replace("{}", str(files)).replace("OUT", str(tmp_path)) for word in words]
    if words[:1] == ["fit"] and len(words) > 2 and "--labels-out" not in words and code != 2:
        words += ["--labels-out", str(tmp_path / "l.csv"), "--model-out", str(tmp_path / "m.safetensors")] if "--model-out" not in words else []
    before = {path.name for path in files.iterdir()}
    environment = {**os.environ, "COTERIE_DATA": str(tmp_path / "none"), "XDG_CACHE_HOME": str(tmp_path / "none")}
    done = subprocess.run([COMMAND, *words], input=b"", capture_output=True, env=environment, timeout=120)
    err = done.stderr.decode()
    # None: a wrong file or column name may be a usage or a data error. Both messages name the place.
    assert done.returncode == code if code is not None else done.returncode in (2, 3), (done.returncode, err)
    assert err.startswith("coterie: "), err
    for text in needed:
        assert text in err, (text, err)
    assert not re.search(r"terminate|assert|traceback|runtime error|sanitizer|please report", err, re.IGNORECASE), err
    assert len(err.splitlines()) <= 2, err  # a note and the error
    if "--json" in words:
        assert json.loads(done.stdout)["error"]["text"] in err
    else:
        assert done.stdout == b""
    assert {path.name for path in files.iterdir()} == before
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert left == [], left


def test_error_as_json(files, tmp_path):
    done = run("fit", "kmeans", files / "points.csv", "-k", 0, "--json", code=2)
    value = json.loads(done.out)
    assert list(value) == ["schema", "error"] and value["schema"] == 2
    error = value["error"]
    assert (error["code"], error["option"], error["value"]) == ("not-accepted", "--clusters", "0")
    assert done.err == f"coterie: {error['text']}\n" and "at least 1" in error["accepted"] and error["remedy"] in error["text"]
    # The file and the row are fields.
    error = json.loads(run("fit", "kmeans", files / "points.csv", "-k", 3, "--pairs", files / "pairs-far.csv", "--json", code=3).out)["error"]
    assert (error["code"], error["file"], error["row"], error["column_number"]) == ("out-of-range", str(files / "pairs-far.csv"), 2, 2)
    # If the result was printed, the error is only on standard error.
    os.symlink("/dev/full", tmp_path / "full.csv")
    done = run("fit", "kmeans", files / "points.csv", "-k", 3, "--labels-out", tmp_path / "full.csv", "--json", code=1)
    assert "objective" in json.loads(done.out) and "No space left" in done.err and "All other output was written." in done.err


def test_missing_hdf5_dataset(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "some.h5", "w") as file:
        file["points"] = np.zeros((4, 2))
    err = run("fit", "kmeans", f"{tmp_path}/some.h5:/nothing", "-k", 2, code=3).err
    assert "some.h5" in err and "nothing" in err


def test_number_of_bad_input_cases():
    assert len(BAD) >= 40


@pytest.mark.parametrize("words, said, hint", [
    (["fit", "cars.csv"], "coterie fit needs a METHOD before 'cars.csv'", "for example coterie fit kmeans cars.csv; coterie methods lists them"),
    (["fit", "table", "-k", "3"], "coterie fit needs a METHOD before 'table'", "coterie methods lists them"),
    (["fit", "data:iris", "--help=x"], "coterie fit needs a METHOD before 'data:iris'", "coterie fit kmeans data:iris"),
    (["tune", "folder/cars.npy", "--grid", "k=2:3"], "coterie tune needs a METHOD before 'folder/cars.npy'", "coterie tune kmeans folder/cars.npy"),
    (["cars.csv"], "coterie needs a COMMAND before 'cars.csv'", "See coterie --help"),
    (["ner", "letters.txt"], "coterie ner needs a COMMAND before 'letters.txt'", "See coterie ner --help"),
    (["data", "cars.csv"], "coterie data needs a COMMAND before 'cars.csv'", "See coterie data --help"),
    (["fit", "kmean", "cars.csv"], "there is no method 'kmean'", "Try kmeans."),
    (["methods", "cars.csv"], "there is no method 'cars.csv'", "See coterie methods."),
    (["predict", "cars.csv"], "POINTS is missing", "coterie predict MODEL POINTS"),
    (["describe", "cars.csv"], "POINTS is missing", "coterie describe MODEL POINTS"),
    (["transform", "cars.csv"], "POINTS is missing", "coterie transform MODEL POINTS"),
    (["predict", "cars.csv", "cars.csv"], "cars.csv", "safetensors"),
    (["info", "cars.csv"], "cars.csv", "safetensors"),
    (["ner", "tag", "cars.csv", "cars.csv"], "cars.csv", "safetensors"),
])
def test_file_given_instead_of_method_or_model(tmp_path, words, said, hint):
    (tmp_path / "cars.csv").write_text("x,y\n1,2\n3,4\n")
    (tmp_path / "table").write_text("1 2\n3 4\n")
    done = run(*words, cwd=tmp_path, code=3 if hint == "safetensors" else 2)
    assert said in done.err and hint in done.err and done.out == ""
