#!/usr/bin/env python3
"""Counts how many of scikit-learn's estimator checks each class passes, for one or more versions of scikit-learn.

    PYTHONPATH=build/release/python COTERIE_COMMAND=build/release/cli/coterie benchmarks/contract_counts.py PYTHON [PYTHON ...]

Each PYTHON needs scikit-learn and pytest. Prints per class: passed, expected to fail (python/tests/scikit_learn_test.py has the reasons), skipped.
Other failures are listed, and the exit code is 1.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

TESTS = pathlib.Path(__file__).resolve().parent.parent / "python" / "tests" / "scikit_learn_test.py"


def counts(python):
    """Returns {class: [passed, expected failures, skipped]} and the names of failed checks."""
    out, failed = collections.defaultdict(lambda: [0, 0, 0]), []
    with tempfile.TemporaryDirectory() as folder:
        words = [python, "-W", "ignore", "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={folder}/told.xml", "-k", "test_check", str(TESTS)]
        subprocess.run(words, stdout=subprocess.DEVNULL)
        for case in xml.etree.ElementTree.parse(f"{folder}/told.xml").iter("testcase"):
            name = re.search(r"\[(\w+)\(", case.get("name"))[1]
            kinds = [child.tag for child in case]
            if "failure" in kinds or "error" in kinds:
                failed.append(case.get("name"))
            elif "skipped" in kinds:
                out[name][1 if "xfail" in case.find("skipped").get("type") else 2] += 1
            else:
                out[name][0] += 1
    return out, failed


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    versions, found = [], []
    for python in sys.argv[1:]:
        versions.append(subprocess.run([python, "-c", "import sklearn; print(sklearn.__version__)"], capture_output=True, text=True, check=True).stdout.strip())
        found.append(counts(python))
    print("| class | " + " | ".join(f"{version}: passed | expected to fail | skipped" for version in versions) + " |\n|---|" + "---|---|---|" * len(versions))
    for name in found[0][0]:
        print(f"| `{name}` | " + " | ".join(" | ".join(map(str, of_class[name])) for of_class, _ in found) + " |")
    print("| total | " + " | ".join(" | ".join(str(sum(column)) for column in zip(*of_class.values())) for of_class, _ in found) + " |")
    failed = [f"{version}: {each}" for version, (_, names) in zip(versions, found) for each in names]
    print("\n".join(failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
