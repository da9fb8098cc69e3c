"""Makes a method with scripts/new-method in a copy of the sources, builds it, and fits it from the command, C++ and Python.

    tests/new_method_test.py --source SOURCE --work FOLDER

The build in FOLDER is kept, so that a second run compiles only what changed.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys

CHANGED = {"coterie/methods.cpp", "coterie/coterie.hpp", "docs/README.md", "CHANGELOG.md"}
IN_PYTHON = """
import numpy as np, coterie
X = np.random.default_rng(0).normal(size=(40, 3))
model = coterie.TrialDraw(4).fit(X)
assert (model.predict(X) == model.labels_).all() and model.n_clusters_ == 4
"""


def call(*words, cwd=None, **more):
    print("+", *words, flush=True)
    return subprocess.run([str(word) for word in words], cwd=cwd, check=True, **more)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    tree, build = arguments.work / "source", arguments.work / "build"
    if tree.exists():
        shutil.rmtree(tree)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=arguments.source, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(arguments.source / name, tree / name)
    call("git", "init", "-q", cwd=tree)
    call("git", "add", "-A", cwd=tree)
    call("git", "-c", "user.name=t", "-c", "user.email=t", "commit", "-qm", "before", cwd=tree)

    call("scripts/new-method", "trial-draw", "--module", "density", cwd=tree)
    status = subprocess.run(["git", "diff", "--name-only"], cwd=tree, check=True, capture_output=True, text=True).stdout
    assert set(status.split()) == CHANGED, status

    call("cmake", "-G", "Ninja", "-S", tree, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DCOTERIE_BUILD_TESTS=ON", "-DCOTERIE_PYTHON=ON", "-DCOTERIE_TORCH=OFF",
         f"-DPython_EXECUTABLE={sys.executable}", *(["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []), stdout=subprocess.DEVNULL)
    call("ninja", "-C", build, "cli/coterie", "test_density", "coterie_core")

    call(build / "tests" / "test_density", "--gtest_filter=TrialDraw.*")
    fitted = call(build / "cli" / "coterie", "fit", "trial-draw", "data:iris", "-k", "3", "--json", capture_output=True, text=True)
    assert json.loads(fitted.stdout)["clusters_found"] == 3
    environment = {"PYTHONPATH": str(build / "python"), "PATH": "/usr/bin:/bin"}
    call(sys.executable, "scripts/make-estimators", cwd=tree, env=environment)
    call(sys.executable, "-c", IN_PYTHON, cwd=arguments.work, env=environment)


if __name__ == "__main__":
    main()
