"""Shared by the tests of the package. They use the built package (its folder is in PYTHONPATH) and the built command (COTERIE_COMMAND)."""
import os
import pathlib
import subprocess
import sys

import pytest

import coterie

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Debian's torch is outside a virtual environment.
DEBIAN = pathlib.Path("/usr/lib/python3/dist-packages")
NEEDED = ("torch", "torchgen", "typing_extensions.py")
DEEP = ("AeKMeans", "Dekm", "Dec", "Idec", "Dcn", "EntropyNet", "Imsat", "Iic", "SelaNet", "MiadmNet")
# Parameters with which networks train in a moment.
QUICK = {
    **dict.fromkeys(DEEP[:1], dict(widths=(4,), embedding=2, pretrain_epochs=1, kmeans_restarts=1)),
    **dict.fromkeys(DEEP[1:5], dict(widths=(4,), embedding=2, pretrain_epochs=1, kmeans_restarts=1, max_iter=2)),
    **dict.fromkeys(DEEP[5:], dict(widths=(4,), epochs=1)),
    "Fme": dict(n_neighbors=3),
}


def estimator(name, **parameters):
    """An estimator of the class, with parameters for a fast fit."""
    cls = getattr(coterie, name)
    clusters = {"n_clusters": 3} if "n_clusters" in cls._defaults() else {}
    return cls(**{**clusters, **QUICK.get(name, {}), **parameters})


def class_names():
    from coterie import _estimators

    return _estimators.__all__


@pytest.fixture(scope="session")
def command():
    path = os.environ.get("COTERIE_COMMAND")
    assert path, "COTERIE_COMMAND names the command that the package is compared with"
    return path


@pytest.fixture(scope="session")
def digits():
    return coterie.datasets.load_digits(return_X_y=True)


@pytest.fixture(scope="session")
def iris():
    return coterie.datasets.load_iris(return_X_y=True)


@pytest.fixture(scope="session")
def environment(tmp_path_factory):
    """An environment in which torch can be imported."""
    found = dict(os.environ, OMP_WAIT_POLICY="passive")
    ways = [found]
    if all((DEBIAN / name).exists() for name in NEEDED):
        folder = tmp_path_factory.mktemp("torch")
        for name in NEEDED:
            (folder / name).symlink_to(DEBIAN / name)
        ways.append(dict(found, PYTHONPATH=os.pathsep.join([found.get("PYTHONPATH", ""), str(folder)])))
    for way in ways:
        if subprocess.run([sys.executable, "-W", "ignore", "-c", "import torch"], env=way, capture_output=True, timeout=300).returncode == 0:
            return way
    pytest.skip("this interpreter has no torch")
