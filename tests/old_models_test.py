"""Models written by earlier versions load, and predict what they did then: the same labels, and numbers within 1e-6 of the largest of their output.

tests/models/make_models.py writes a folder per version.
"""
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

COMMAND = os.environ["COTERIE_COMMAND"]
MODELS = pathlib.Path(__file__).resolve().parent / "models"
CASES = [(folder, name, case) for folder in sorted(path for path in MODELS.iterdir() if path.is_dir() and (path / "expected.json").exists())
         for name, case in json.loads((folder / "expected.json").read_text()).items()]


def table(path):
    lines = path.read_text().splitlines()[1:]
    return np.array([[float(value) if value else np.nan for value in line.split(",")] for line in lines])


def test_there_are_models():
    assert len(CASES) >= 41 and {"numbers.csv", "table.csv"} <= {case["points"] for _, _, case in CASES}


@pytest.mark.parametrize("folder, name, case", CASES, ids=[f"{folder.name}-{name}" for folder, name, _ in CASES])
def test_old_model(folder, name, case, tmp_path):
    outputs = [word for output in case["outputs"] for word in (f"--{output}-out", tmp_path / f"{output}.csv")]
    words = [COMMAND, "predict", folder / f"{name}.coterie", folder / case["points"], "--json", "--labels-out", tmp_path / "labels.csv", *outputs]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode == 1 and json.loads(done.stdout)["error"]["code"] == "missing-library":
        pytest.skip("no LibTorch")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["method"] == case["method"]
    assert (tmp_path / "labels.csv").read_text().splitlines()[1:] == case["labels"]
    for output, values in case["outputs"].items():
        expected = np.array([[np.nan if value is None else value for value in row] for row in values])
        assert np.array_equal(np.isnan(table(tmp_path / f"{output}.csv")), np.isnan(expected))
        np.testing.assert_allclose(table(tmp_path / f"{output}.csv"), expected, rtol=0, atol=1e-6 * np.nanmax(np.abs(expected)), err_msg=output)
