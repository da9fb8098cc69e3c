"""Tests of coterie-reproduce: small versions of the tables of the papers."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from support import COMMAND, curves, deep_fit, default_interrupt, document, linked_rings, run, short, write_csv

REPRODUCE = os.environ["COTERIE_REPRODUCE"]


def reproduce(*words, **options):
    return run(*words, program=REPRODUCE, **options)


def reproduced(*words, **options):
    return document(*words, program=REPRODUCE, **options)



def test_interrupt_of_max_margin(tmp_path):
    figure = tmp_path / "margins.svg"
    process = subprocess.Popen([REPRODUCE, "max-margin", "--figure", str(figure)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, preexec_fn=default_interrupt)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and out == b"" and b"interrupted during fits" in err and not figure.exists()


def test_published_tables_have_the_printed_scores():
    text = reproduce("cpd-uml", "--published").out
    tables = text.split("\n\n")
    # The scores of each cell and the totals, as printed in the paper.
    accuracy = {"K-means": [2.5, 3.5, 0, 4.5, 6, 3, 19.5], "AML": [1.5, 4.5, 1.5, 0, 6, 4, 17.5],
                "RPCA-OM": [3.5, 6, 1.5, 5, 6, 3.5, 25.5], "FME": [1.5, 4.5, 4.5, 8, 6, 6, 30.5],
                "CPD-UML": [8.5, 8, 3, 4, 5.5, 4.5, 33.5], "Kernel K-means": [4, 1, 6, 1.5, 3, .5, 16],
                "NAML": [4, 1, 7, 3.5, .5, .5, 16.5], "r-RPCA-OM": [6.5, 1, 4.5, 2.5, 2, 7.5, 24],
                "r-FME": [5, 6.5, 8.5, 8, 1, 7.5, 36.5], "r-CPD-UML": [8, 9, 8.5, 8, 9, 8, 50.5]}
    nmi = {"K-means": [2.5, 1, 5.5, 4, 7.5, 3, 23.5], "AML": [1.5, 1.5, 8.5, 3, 7.5, 3.5, 25.5],
           "RPCA-OM": [3.5, 5.5, 7.5, 6, 4, 2.5, 29], "FME": [1.5, 3, 8, 8, 7.5, 6, 34],
           "CPD-UML": [8.5, 8, 5.5, 4, 2, 2.5, 30.5], "Kernel K-means": [4, 3.5, 3, 0, 4, 1.5, 16],
           "NAML": [4, 3.5, 0, 3, 1.5, 2.5, 14.5], "r-RPCA-OM": [6.5, 3.5, 1, 3.5, 0, 8, 22.5],
           "r-FME": [5, 6.5, 2, 8.5, 3.5, 8, 33.5], "r-CPD-UML": [8, 9, 4, 5, 7.5, 7.5, 41]}
    purity = {"K-means": [4.5, 4, 7.5, 3.5, 25.5], "AML": [4.5, 2.5, 7.5, 4.5, 25], "RPCA-OM": [7, 5, 2.5, 3.5, 27.5],
              "FME": [7, 8, 7, 7, 35], "CPD-UML": [4.5, 3.5, 3.5, 3.5, 31.5], "Kernel K-means": [1, 0, 4, .5, 10.5],
              "NAML": [1, 3, 1, .5, 10.5], "r-RPCA-OM": [1, 3, 0, 7.5, 19], "r-FME": [5.5, 8, 4, 7, 36],
              "r-CPD-UML": [9, 8, 8, 7.5, 49.5]}
    for method, scores in purity.items():  # breast and diabetes have the scores of the first table
        purity[method] = accuracy[method][:2] + scores
    for table, expected in zip(tables, [accuracy, nmi, purity]):
        rows = table.strip("\n").splitlines()[1:]
        assert len(rows) == 10
        for row in rows:
            name = re.match(r"published (.*?)  ", row).group(1)
            cells = [float(x) for x in re.findall(r"\(([0-9.]+)\)", row)] + [float(row.split()[-1])]
            assert cells == expected[name], name


def test_errors_of_cpd_uml():
    assert "--sets: 'ecolli' is not accepted. Try ecoli." in reproduce(
        "cpd-uml", "--sets", "ecoli,ecolli", code=2).err
    assert "--runs" in reproduce("cpd-uml", "--runs", "1", code=2).err


def test_reproduce_two_moons(tmp_path):
    figures = [tmp_path / "1.svg", tmp_path / "2.svg"]
    result = reproduced("two-moons", "--seeds", 2, "--figure-1", figures[0], "--figure-2", figures[1])
    assert [level["noise"] for level in result["levels"]] == [0.05, 0.1, 0.12, 0.15]
    ways = {way["name"]: way for way in result["levels"][0]["ways"]}
    assert ways["cpd, the recipe"]["at_least_0.99"] == 2
    assert ways["cpd, chosen by knncut"]["at_least_0.99"] == 2
    assert ways["k-means, 10 restarts"]["at_least_0.99"] == 0
    widths = result["kernel_widths"]
    assert [one["width"] for one in widths] == [4, 8, 16, 32]
    assert widths[-1]["cpd"] > 0.97 > 0.8 > widths[-1]["kernel_kmeans"]
    for figure, panels in zip(figures, [4, 8]):
        text = figure.read_text()
        ElementTree.fromstring(text)
        assert text.count('font-size="13" font-weight="600"') == panels
        assert "nan" not in text
    assert "--figure-1" in reproduce("two-moons", "--figure-1", tmp_path / "1.png", code=2).err


def test_reproduce_wmc_cifar(tmp_path):
    assert "96.07  90.54  lambda 50, eta 20, N" in reproduce("wmc-cifar", "--published").out
    assert "CLIP" in reproduce("wmc-cifar", code=2).err
    points, truth = linked_rings(tmp_path)
    result = reproduced("wmc-cifar", "--features", points, "--truth", truth, "--restarts", 2, "--keep", 5)
    methods = {method["name"]: method for method in result["methods"]}
    assert len(methods["L-WMC"]["cells"]) == len(methods["E-WMC"]["cells"]) == 2 * 4 * 15
    assert len(methods["SMCE"]["cells"]) == 3 * 4 * 15
    for name in ["L-WMC", "E-WMC", "SMCE"]:
        assert methods[name]["best"]["scores"]["acc"] == max(cell["acc"] for cell in methods[name]["cells"])
        assert methods[name]["kkt_residual"] <= 1e-5
    assert methods["L-WMC"]["best"]["scores"]["acc"] == 1
    assert "best" not in methods["EnSC"] and methods["EnSC"]["published"]["acc"] == pytest.approx(0.858)
    text = reproduce("wmc-cifar", "--set", "cifar-100", "--features", points, "--truth", truth, "--restarts", 1).out
    assert re.search(r"L-WMC +100.00 +100.00 .* 69.20 +76.49 +lambda 50, eta 20, N", text)


@pytest.mark.slow
def test_reproduce_max_margin(tmp_path):
    figure = tmp_path / "margins.svg"
    words = ["max-margin", "--sets", 3, "--points", 20, "--starts", 4]
    result = reproduced(*words, "--figure", figure)
    assert [(kind["dimensions"], kind["clusters"]) for kind in result["kinds"]] == [(2, 2), (2, 3), (20, 2), (20, 3)]
    for kind in result["kinds"]:
        assert 1 <= kind["equal_sizes"] <= 3
        assert [baseline["name"] for baseline in kind["baselines"]] == ["k-means", "soft k-means", "miadm"]
        for baseline in kind["baselines"]:  # a fit that lost a cluster does not count as beaten
            compared = kind["equal_sizes"] - baseline["lost_a_cluster"]
            assert max(baseline["margin_at_most_ours"], baseline["gap_at_most_ours"], baseline["equal_sizes"]) <= compared
        newton = {angle["log10_gamma"]: angle for angle in kind["angles"] if angle["solver"] == "newton"}
        lbfgs = {angle["log10_gamma"]: angle for angle in kind["angles"] if angle["solver"] == "lbfgs"}
        # The angle falls with the logarithm of gamma and reaches the limit.
        assert newton[-1000]["within_one_degree"] == newton[-1000]["sets"] == kind["equal_sizes"]
        assert newton[-1000]["worst"] < 0.5
        assert newton[-1000]["mean"] < 0.2 * newton[-30]["mean"] < 0.2 * lbfgs[-5]["mean"]
        assert kind["margin_share"]["least"] > 0.6
        assert 0.999 < kind["margin_share_newton"]["mean"] <= 1 + 1e-9
    check = result["cross_check"]
    assert check["entropy_global_margin"] >= check["entropy_local_margin"] > 0
    text = figure.read_text()
    ElementTree.fromstring(text)
    assert text.count('font-size="13" font-weight="600"') == 16
    assert "nan" not in text
    assert "of 3" in reproduce(*words).out
    assert "--figure" in reproduce("max-margin", "--figure", tmp_path / "1.png", code=2).err


@pytest.mark.slow
def test_reproduce_entropy_em():
    words = ["entropy-em", "--points", 60, "--seconds", 0.02, "--threads", 1]
    result = reproduced(*words)
    assert [(problem["clusters"], problem["lambda"]) for problem in result["problems"]] == [
        (k, weight) for k in (2, 20, 200) for weight in (1, 10, 100)]
    for problem in result["problems"]:
        assert problem["gradient"] <= 1e-10
        solvers = {solver["name"]: solver["reached"] for solver in problem["solvers"]}
        assert all(entry["reached"] for entry in solvers["dual"])
        for reached in solvers.values():
            rounds = [entry["rounds"] for entry in reached if entry["reached"]]
            assert rounds == sorted(rounds)
        # At lambda 100, EM needs more rounds than the dual solver to reach the optimum.
        em = [entry for entry in solvers["em"] if entry["reached"] and entry["distance"] == 1e-8]
        assert problem["lambda"] < 100 or not em or em[0]["rounds"] > solvers["dual"][-1]["rounds"]
    assert "published" in reproduce(*words).out
    assert "--seconds" in reproduce("entropy-em", "--seconds", "0", code=2).err


def test_reproduce_label_noise(tmp_path):
    figure = tmp_path / "noise.svg"
    result = reproduced("label-noise", "--set", "digits", "--seeds", 2, "--epochs", 50, "--figure", figure)
    levels = {level["noise"]: level for level in result["levels"]}
    assert levels[0.01]["forward"]["mean"] > 0.9 and levels[0.01]["reverse"]["mean"] > 0.9
    # As in Figure 11: with most labels wrong, the reverse loss is better.
    for noise in (0.6, 0.7):
        assert levels[noise]["reverse"]["mean"] > levels[noise]["forward"]["mean"] + 0.01
    text = figure.read_text()
    ElementTree.fromstring(text)
    assert "reverse" in text and "nan" not in text
    assert "mnist, usps, digits" in reproduce("label-noise", "--set", "cats", code=2).err


@pytest.mark.slow
def test_reproduce_entropy_linear():
    result = reproduced("entropy-linear", "--sets", "digits", "--seeds", 2, "--tuning-seeds", 1, "--updates", 200)
    methods = {method["name"]: method for method in result["sets"][0]["methods"]}
    assert list(methods) == ["kmeans", "kmeans, 10 restarts", "entropy", "mi", "sela", "miadm", "miadm*"]
    assert len({methods[name]["cells"] for name in list(methods)[2:]}) == 1  # the same effort
    assert methods["entropy"]["acc"]["mean"] > methods["miadm"]["acc"]["mean"] + 0.2
    assert set(methods["entropy"]["chosen"]) == {"label_rounds", "start_scale", "learning_rate", "gamma"}
    assert "mnist" in reproduce("entropy-linear", "--sets", "digits", "--figure", "f.svg", code=2).err
    assert "usps" in reproduce("entropy-linear", "--sets", "digit", code=2).err
    assert "sela" in reproduce("entropy-linear", "--methods", "sella", code=2).err
    assert "entropy" in reproduce("entropy-linear", "--methods", "mi", "--figure", "f.svg", code=2).err
    alone = reproduced("entropy-linear", "--sets", "digits", "--seeds", 2, "--tuning-seeds", 1, "--updates", 200,
                     "--methods", "sela")["sets"][0]["methods"]
    assert [method["name"] for method in alone] == ["sela"] and alone[0]["acc"] == methods["sela"]["acc"]


def test_reproduce_vgg4_mnist(tmp_path):
    if not os.path.exists(os.path.join(os.environ.get("COTERIE_DATA", "/nowhere"), "mnist")):
        pytest.skip("MNIST is not here")
    short("iic")
    result = reproduced("vgg4-mnist", "--points", 40, "--epochs", 1, "--seeds", 2, "--batch-size", 40, "--methods", "miadm,ours")
    assert [method["name"] for method in result["methods"]] == ["miadm", "ours"] and result["n"] == 40
    assert all(len(method["fits"]) == 2 and method["fits"][0]["acc"] > 0.1 for method in result["methods"])
    assert "40 images, 1 epochs, 1 starts" in reproduce("vgg4-mnist", "--points", 40, "--epochs", 1, "--seeds", 1, "--batch-size", 40,
                                                  "--methods", "iic").out
    assert "imsat, iic, sela" in reproduce("vgg4-mnist", "--methods", "cats", code=2).err
    # With --figure, the fit stops after each epoch and continues. It must give the same result.
    figure = tmp_path / "epochs.svg"
    fits = [reproduced("vgg4-mnist", "--points", 60, "--epochs", 3, "--seeds", 1, "--batch-size", 30, "--methods", "ours", *drawn)["methods"][0]["fits"][0]
            for drawn in ((), ("--figure", figure))]
    followed = fits[1].pop("acc_per_epoch")
    for fit in fits:
        del fit["seconds_an_epoch"]
    assert fits[0] == fits[1] and len(followed) == len(fits[0]["balance_per_epoch"]) == 3 and followed[-1] == fits[0]["acc"]
    assert figure.read_text().startswith("<svg") and "criterion of an epoch" in figure.read_text()


def test_reproduce_dekm(tmp_path):
    data = os.environ.get("COTERIE_DATA")
    if data is None or not os.path.exists(os.path.join(data, "coil-20")) or not os.path.exists(os.path.join(data, "mnist")):
        pytest.skip("COIL-20 and MNIST are not here")
    write_csv(tmp_path / "x.csv", np.eye(4))
    deep_fit("ae-kmeans", tmp_path / "x.csv", "-k", 2, "--widths", 4, "--embedding", 2, "--pretrain-epochs", 1)  # skips without LibTorch
    quick = ["--points", 60, "--pretrain-epochs", 2, "--max-iterations", 80, "--tolerance", 0, "--threads", 1]
    short = [*quick, "--seeds", 2]
    kept, figure = tmp_path / "kept", tmp_path / "curves.svg"
    followed = reproduced("dekm-coil20", *short, "--methods", "kmeans,ae-kmeans,dekm", "--variants", "--checkpoint", kept, "--figure", figure)
    assert followed["n"] == 60 and followed["d"] == 784 and followed["clusters"] == 20
    methods = {method["name"]: method for method in followed["methods"]}
    assert list(methods) == ["kmeans", "ae-kmeans", "dekm", "dekm-all", "dekm-full"]
    assert methods["dekm"]["published"] == {"acc": 0.6903, "nmi": 0.8006}
    fit = methods["dekm"]["fits"][0]
    assert fit["updates"] == 3 and fit["iterations"] == 80 and len(methods["dekm"]["fits"]) == 2
    assert fit["acc_per_update"][0] == methods["ae-kmeans"]["fits"][0]["scores"]["acc"]
    assert fit["acc_per_update"][-1] == fit["scores"]["acc"]
    assert methods["dekm-full"]["fits"][0]["updates"] == 81 and methods["dekm-all"]["fits"][0]["loss_per_update"] != fit["loss_per_update"]
    text = figure.read_text()
    ElementTree.fromstring(text)
    assert "dekm-full" in text and "nan" not in text
    # A fit without stops gives the same result as one that stopped at each update.
    autoencoders = tmp_path / "autoencoders"
    autoencoders.mkdir()
    for file in kept.glob("*.coterie"):
        shutil.copy(file, autoencoders)
    assert len(list(autoencoders.iterdir())) == 2
    plain = reproduced("dekm-coil20", *short, "--methods", "dekm", "--checkpoint", autoencoders)
    for one, other in zip(plain["methods"][0]["fits"], methods["dekm"]["fits"]):
        for key in ("scores", "objective_per_update", "changed_per_update", "loss_per_update"):
            assert one[key] == other[key], key
    phases = tmp_path / "phases.svg"
    result = reproduced("dekm-mnist", *quick, "--seeds", 1, "--methods", "kmeans", "--figure1", phases)
    assert [method["name"] for method in result["methods"]] == ["kmeans"]
    assert list(result["methods"][0]["acc"]) == ["mean"]  # one fit has no deviation
    text = phases.read_text()
    ElementTree.fromstring(text)
    assert "after pre-training" in text and "update 2" in text and "nan" not in text


def test_errors_of_dekm(tmp_path):
    assert "--methods: 'dekmm' is not accepted. Try dekm." in reproduce("dekm-usps", "--methods", "dekmm", code=2).err
    for words in (["--seeds", 0], ["--tolerance", 2], ["--points", -1], ["--max-iterations", 0], ["--figure", tmp_path / "f.png"], ["--figure1", "f.svg"]):
        assert words[0] in reproduce("dekm-usps", *words, code=2).err
    (tmp_path / "file").write_text("")
    assert "file: cannot create the folder" in reproduce("dekm-usps", "--checkpoint", tmp_path / "file", code=1).err
    assert "--figure" in reproduce("dekm-usps", "--methods", "kmeans", "--figure", tmp_path / "f.svg", code=2).err


def test_reproduce_trefoil_lambda(tmp_path):
    figure = tmp_path / "lambda.svg"
    words = ["trefoil-lambda", "--embeddings", 5]
    result = reproduced(*words, "--figure", figure)
    sets = {one["n1"]: one["lambdas"] for one in result["sets"]}
    assert list(sets) == [120, 150, 160, 200]
    lambdas = [0.00048 + 1e-4 * i for i in range(17)]
    for curves in sets.values():
        assert [curve["lambda"] for curve in curves] == pytest.approx(lambdas, rel=1e-9)
        # lambda_l does not depend on lambda. lambda_u becomes constant. All guaranteed points are preserving.
        assert len({curve["lambda_l"]["mean"] for curve in curves}) == 1
        uppers = [curve["lambda_u"]["mean"] for curve in curves]
        assert uppers[0] < uppers[-1] == pytest.approx(uppers[-2], rel=1e-6)
        assert all(curve["share_preserving_and_nonzero"] >= curve["share_guaranteed"] for curve in curves)
    # The thresholds of the paper.
    assert not any(curve["interval_nonempty"] for curve in sets[120])
    assert sets[150][-1]["interval_nonempty"] and not sets[150][-1]["lambda_inside"]
    for n1 in [160, 200]:
        assert any(curve["lambda_inside"] for curve in sets[n1])
    text = figure.read_text()
    ElementTree.fromstring(text)
    assert text.count("10000 lambda, N1 = ") >= 4 and "nan" not in text
    # Other embeddings are rotations, so results differ only by rounding.
    again = reproduced(*words, "--seed", 9)
    for one, other in zip(result["sets"], again["sets"]):
        for curve, turned in zip(one["lambdas"], other["lambdas"]):
            assert turned["lambda_u"]["mean"] == pytest.approx(curve["lambda_u"]["mean"], rel=1e-5)
    assert "--figure" in reproduce(*words, "--figure", tmp_path / "1.png", code=2).err


def test_reproduce_trefoil_n(tmp_path):
    figure = tmp_path / "n.svg"
    words = ["trefoil-n", "--step", 90, "--most", 360]
    result = reproduced(*words, "--figure", figure)
    assert [one["multiple"] for one in result["multiples"]] == [2, 5, 50]
    assert [one["published"]["nonempty_from"] for one in result["multiples"]] == [890, 300, 300]
    for one in result["multiples"]:
        assert [size["n"] for size in one["sizes"]] == [90, 180, 270, 360]
        for size in one["sizes"]:
            assert size["lambda"] == pytest.approx(one["multiple"] * size["lambda_l"]["mean"], rel=1e-9)
            assert size["share_preserving_and_nonzero"] >= size["share_guaranteed"]
        for name, flag in [("nonempty_from", "interval_nonempty"), ("inside_from", "lambda_inside")]:
            sizes = [size["n"] for size in one["sizes"]]
            holds = [size[flag] for size in one["sizes"]]
            starts = [n for i, n in enumerate(sizes) if all(holds[i:])]
            assert one[name] == (starts[0] if starts else None)
    assert result["multiples"][1]["inside_from"] == 360
    text = figure.read_text()
    ElementTree.fromstring(text)
    assert text.count("<svg") == 4 and "nan" not in text
    assert "360" in reproduce(*words).out
    assert "--step" in reproduce("trefoil-n", "--step", 31, code=2).err
    assert reproduced(*words, "--subspaces", "own")["multiples"][0]["sizes"][-1]["share_guaranteed"] == 1
    assert reproduced(*words, "--sampling", "random")["multiples"][0]["nonempty_from"] is None


ENCODER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "ner" / "bert"
VOYAGES = pathlib.Path(__file__).resolve().parent.parent / "data" / "voyages" / "voyages.conll"


def transfer_data(tmp_path):
    """A data folder in which voyages.conll stands for CoNLL-2003, and supports drawn from it: {(shots, number): path}."""
    data = tmp_path / "data"
    (data / "conll2003-en").mkdir(parents=True)
    for part in ("eng.train", "eng.testa", "eng.testb"):
        shutil.copy(VOYAGES, data / "conll2003-en" / part)
    supports = {}
    for shots in (1, 5):
        folder = data / "container-support-sets" / f"samples-conll-{shots}shot"
        folder.mkdir(parents=True)
        for number in range(2):
            supports[shots, number] = folder / f"{number}.txt"
            run("ner", "sample", VOYAGES, "--shots", shots, "--seed", number, "--out", supports[shots, number], "--quiet")
    return data, supports


def test_ner_transfer_equals_adapt_and_tag(tmp_path):
    data, supports = transfer_data(tmp_path)
    told = reproduced("ner-transfer", ENCODER, "--sets", "conll", "--supports", 2, "--quiet", env={"COTERIE_DATA": str(data)})
    assert told["layer"] == 1 and [(column["set"], column["shots"]) for column in told["columns"]] == [("conll", 1), ("conll", 5)]
    rows = {row["row"]: row for row in told["columns"][1]["rows"]}
    for title, words in (("NNShot", ["--method", "nearest-word"]), ("logistic regression", ["--method", "logistic"]),
                         ("k-means, hard, no share, dev", ["--method", "k-means", "--outside-share", "none", "--other", VOYAGES]),
                         ("k-means, soft, share .85 / .95, dev", ["--method", "k-means", "--outside-share", 0.85, "--assignment", "soft", "--other", VOYAGES])):
        assert len(rows[title]["f1"]) == 2
        for number in range(2):
            run("ner", "adapt", supports[5, number], *words, "--vectors", ENCODER, "--model-out", tmp_path / "tagger", "--quiet")
            there = document("ner", "tag", tmp_path / "tagger", VOYAGES, "--quiet")["scores"]["micro"]["f1"]
            assert rows[title]["f1"][number] == pytest.approx(there, abs=1e-9), (title, number)
    assert rows["no subspace, hard, no share, dev"]["f1"] != rows["k-means, hard, no share, dev"]["f1"]
    assert "CONTaiNER" not in rows
    lacking = reproduce("ner-transfer", ENCODER, "--sets", "wnut17", "--quiet", code=3, env={"COTERIE_DATA": str(data)})
    assert "emerging.test.annotated: the file is in none of the data folders" in lacking.err and "COTERIE_DATA" in lacking.err


def test_ner_transfer_trains_further_on_each_support(tmp_path):
    data, supports = transfer_data(tmp_path)
    contrasted = tmp_path / "contrasted"
    words = ["ner", "train-source", ENCODER, VOYAGES, "--objective", "contrastive", "--learning-rate", 1e-3, "--threads", 1, "--quiet"]
    tried = subprocess.run([COMMAND, *map(str, words), "--out", contrasted], capture_output=True)
    if b"libtorch-dev" in tried.stderr:
        pytest.skip("LibTorch is not here")
    told = reproduced("ner-transfer", contrasted, "--sets", "conll", "--supports", 2, "--quick", "--threads", 1, "--quiet",
                      env={"COTERIE_DATA": str(data)})
    for column, shots in zip(told["columns"], (1, 5)):
        rows = {row["row"]: row for row in column["rows"]}
        tuned = tmp_path / f"tuned-{shots}"
        run("ner", "train-source", contrasted, supports[shots, 1], "--objective", "support", "--threads", 1, "--out", tuned, "--quiet")
        run("ner", "adapt", supports[shots, 1], "--method", "nearest-word", "--vectors", tuned, "--model-out", tmp_path / "tagger", "--quiet")
        for title, decoding in (("CONTaiNER", "nearest"), ("CONTaiNER, Viterbi", "viterbi")):
            there = document("ner", "tag", tmp_path / "tagger", VOYAGES, "--decoding", decoding, "--quiet")["scores"]["micro"]["f1"]
            assert rows[title]["f1"][1] == pytest.approx(there, abs=1e-9), (title, shots)
