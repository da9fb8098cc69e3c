"""The order of the library's modules. A module includes only headers of modules before it in MODULES, and no internal/ headers of other modules.
Internal headers have their own namespace. The installed headers are those of coterie/coterie.hpp. They include only each other."""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
# From the lowest level up. Modules in the same tuple do not include each other.
MODULES = [("base",), ("io", "linalg"), ("data", "metrics"), ("model",), ("constraints",), ("kmeans",), ("spectral", "entropy", "density"),
           ("subspace", "deformation", "manifold", "deep"), ("methods",), ("pipeline",), ("selection",), ("report",), ("ner",)]
LEVELS = {module: level for level, modules in enumerate(MODULES) for module in modules}
OWN = re.compile(r'^#include "(coterie/[^"]+)"', re.MULTILINE)


def module_of(path):
    """The module of a path relative to the project; None outside the library. The files directly in coterie/ are the module `methods`."""
    parts = path.split("/")
    if parts[0] != "coterie" or path == "coterie/coterie.hpp":
        return None
    return parts[1] if len(parts) > 2 else "methods"


def included(path):
    return OWN.findall((ROOT / path).read_text(encoding="utf-8"))


def sources():
    for folder in ("coterie", "cli", "python/src", "reproduce", "fuzz", "benchmarks", "examples", "tests"):
        for path in sorted((ROOT / folder).rglob("*.[ch]pp")):
            if "vendor" not in path.parts:
                yield str(path.relative_to(ROOT))


def out_of_order(path, header):
    """Whether the source must not include the header, because of the order of their modules. Tests may include any header."""
    here, there = module_of(path), module_of(header)
    if here is None or there is None or here == there or path.endswith("_test.cpp"):
        return False
    return LEVELS[there] >= LEVELS[here]


def not_its_own(path, header):
    """Whether `header` is internal to a module other than that of `path`."""
    return "internal" in header.split("/") and module_of(path) != module_of(header)


def not_its_namespace(path, source):
    """The namespaces that an internal header opens, except coterie::MODULE::internal."""
    return set(re.findall(r"^namespace ([\w:]+) \{", source, re.MULTILINE)) - {f"coterie::{module_of(path)}::internal"}


def test_every_module_is_in_the_list():
    assert {path.name for path in (ROOT / "coterie").iterdir() if path.is_dir()} == set(LEVELS) - {"methods"}


@pytest.mark.parametrize("rule, path, header", [
    (out_of_order, "coterie/base/run.cpp", "coterie/io/reader.hpp"), (out_of_order, "coterie/io/reader.cpp", "coterie/linalg/dense.hpp"),
    (not_its_own, "coterie/kmeans/kmeans.cpp", "coterie/io/internal/reader_process.hpp"), (not_its_own, "cli/fit.cpp", "coterie/io/internal/reader_process.hpp"),
])
def test_the_rules_find_violations(rule, path, header):
    assert rule(path, header) and not rule("coterie/report/page.cpp", "coterie/base/run.hpp")


def test_modules_include_only_modules_before_them():
    assert [(path, header) for path in sources() for header in included(path) if out_of_order(path, header)] == []


def test_internal_headers_belong_to_their_module():
    assert [(path, header) for path in sources() for header in included(path) if not_its_own(path, header)] == []


def test_internal_headers_have_the_namespace_of_their_module():
    assert not_its_namespace("coterie/io/internal/a.hpp", "namespace coterie::internal {\nnamespace coterie::io::internal {\n") == {"coterie::internal"}
    headers = [path for path in sources() if path.endswith(".hpp") and "internal" in path.split("/") and path.startswith("coterie/")
               and not {"torch", "mpi", "reader"} & set(path.split("/"))]
    assert len(headers) > 40
    assert [(path, found) for path in headers if (found := not_its_namespace(path, (ROOT / path).read_text(encoding="utf-8")))] == []


def test_public_headers_include_public_headers():
    public = included("coterie/coterie.hpp")
    assert len(public) > 50 and not [header for header in public if "internal" in header.split("/")]
    assert [(path, header) for path in public for header in included(path) if header not in public] == []
