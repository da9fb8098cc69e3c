"""The catalogue of data sets and the manual page."""

import pathlib
import re
import shutil
import subprocess

import pytest

from support import document, run


def test_method_help_lists_accepted_inputs():
    for method in document("methods")["methods"]:
        text = run("fit", method["name"], "--help").out
        for flag, part in (("--weights", "weights"), ("--partial-labels", "partial_labels"), ("--label-share", "label_shares"),
                           ("--clusters-per-label", "partial_labels"), ("--sizes", "sizes")):
            assert (f" {flag} " in text) == method["takes"][part], (method["name"], flag)
        takes = run("methods", method["name"]).out
        assert ("partial labels" in takes) == method["takes"]["partial_labels"] and ("size bounds" in takes) == method["takes"]["sizes"]
    text = re.sub(r"\s+", " ", run("fit", "kmeans", "--help").out)
    assert re.search(r"--label-share [^-]*\(may be repeated\)", text)


def test_data_list_and_show(tmp_path):
    names = [entry["name"] for entry in document("data", "list")["data"]]
    assert {"digits", "iris", "wine", "breast-cancer", "mnist"} <= set(names) and "data:digits" in run("data", "list").out
    value = document("data", "show", "digits")
    assert value["rows"] == 1797 and value["shipped"] and value["here"] and value["citation"]
    assert "1,797" in run("data", "show", "digits").out and run("data", "show", "data:digits").out
    assert "Try iris" in run("data", "show", "irris", code=2).err


def test_generated_data_sets_match_their_script(tmp_path):
    data = pathlib.Path(__file__).resolve().parents[2] / "data"
    subprocess.run([data / "make-shapes", tmp_path], check=True)
    drawn = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.csv"))
    assert [str(path) for path in drawn] == ["clouds/clouds.csv", "moons/moons.csv", "rings/rings.csv"]
    for path in drawn:
        assert (tmp_path / path).read_bytes() == (data / path).read_bytes(), path


def test_man_page():
    page = run("man").out
    for needed in (".TH COTERIE 1", ".SH EXIT STATUS", "\\-\\-partial\\-labels", "may be repeated", "\\-\\-max\\-iterations", "coterie fit kmeans".replace("-", "\\-"), "NO_COLOR"):
        assert needed in page
    if not shutil.which("mandoc"):
        pytest.skip("mandoc is not installed")
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=page.encode(), capture_output=True)
    assert lint.returncode == 0, lint.stdout.decode()
    shown = subprocess.run(["mandoc", "-T", "utf8"], input=page.encode(), capture_output=True).stdout.decode()
    shown = re.sub(".\\x08", "", shown)  # bold characters are overstruck
    assert "130" in shown and "predict" in shown
