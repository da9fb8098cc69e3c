"""Texts of the library speak of options as coterie/base/error.hpp says: between backquotes, by the names that are described, and never
as the command's flags. Read from the sources, so that a text no test provokes is looked at, too."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|R"\((?P<raw>.*?)\)"|"(?P<text>(?:[^"\\\n]|\\.)*)"|'(?:[^'\\\n]|\\.)+'""", re.DOTALL)
FLAG = re.compile(r"--[a-z]")
MARK = re.compile(r"`([A-Za-z][\w-]*)(?=[`=])")  # opened and named; a value may come from a variable
DESCRIBED = re.compile(r'\.(?:template )?(?:flag|integers?|reals?|choice|text)(?:<[\w:]+>)?\(\s*"(\w+)",\s*&')


def literals(source):
    """(line, text) of every string in C++ text."""
    for token in TOKEN.finditer(source):
        text = token["text"] if token["raw"] is None else token["raw"]
        if text is not None:
            yield source.count("\n", 0, token.start()) + 1, text


def sources():
    for path in sorted((ROOT / "coterie").rglob("*.[ch]pp")):
        if not re.search(r"_test\.cpp$|/test_\w+\.hpp$|_fixtures\.hpp$", str(path)):
            yield path, path.read_text()


def flags_in(source):
    return [(line, text) for line, text in literals(source) if FLAG.search(text)]


def unknown_in(source, known):
    return [(line, name) for line, text in literals(source) for name in MARK.findall(text) if name not in known]


def named_fields():
    header = (ROOT / "coterie/base/error.hpp").read_text()
    return re.findall(r'"(\w+)"', re.search(r"named_fields = \{(.*?)\};", header, re.DOTALL)[1])


def described():
    return {name for _, source in sources() for name in DESCRIBED.findall(source)}


def test_what_is_looked_for_is_found():
    sample = 'throw BadArgument("take `clusters`"\n "or --restarts"); // --a `b`\nwarn("`klusters=" + text + "`");'
    assert flags_in(sample) == [(2, "or --restarts")]
    assert unknown_in(sample, {"clusters"}) == [(3, "klusters")]
    assert {"clusters", "max_iterations", "scale", "pretrained"} <= described()
    assert "group_share" in named_fields()


def test_no_text_names_a_flag_of_the_command():
    assert [(str(path), *found) for path, source in sources() for found in flags_in(source)] == []


def test_every_name_between_backquotes_is_an_option_or_a_field():
    known = described() | set(named_fields())
    assert [(str(path), *found) for path, source in sources() for found in unknown_in(source, known)] == []
