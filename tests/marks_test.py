"""Messages of the library name options as coterie/base/error.hpp explains: between backquotes, by their described names, and never as flags
of the command. Every code of coterie/base/message.hpp is used. Each source except tests begins with a comment that says what it does. These
tests read the sources, so they also check messages that no other test triggers."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|R"\((?P<raw>.*?)\)"|"(?P<text>(?:[^"\\\n]|\\.)*)"|'(?:[^'\\\n]|\\.)+'""", re.DOTALL)
FLAG = re.compile(r"--[a-z]")
MARK = re.compile(r"`([A-Za-z][\w-]*)(?=[`=])")  # a backquote and a name; the value may come from a variable
HEAD = re.compile(r"// \S+ \S")
DESCRIBED = re.compile(r'\.(?:template )?(?:flag|integers?|reals?|choice|text)(?:<[\w:]+>)?\(\s*"(\w+)",\s*&')
# Fields of Problem, Run, ReadOptions and option searches. Messages name them in the same way as options.
NAMED_FIELDS = set("points weights initial_centroids partial_labels clusters_per_label label_share sizes graph seed threads columns label_column separator precision grid runs "
                   "device checkpoint header decimal exclude id_column must_links cannot_links pairs methods vectors".split())


def literals(source):
    """(line, text) of each string literal in a C++ source."""
    for token in TOKEN.finditer(source):
        text = token["text"] if token["raw"] is None else token["raw"]
        if text is not None:
            yield source.count("\n", 0, token.start()) + 1, text


def sources():
    for path in sorted((ROOT / "coterie").rglob("*.[ch]pp")):
        if not re.search(r"_test\.cpp$|/test_\w+\.hpp$|_fixtures\.hpp$", str(path)):
            yield path, path.read_text()


def without_head(paths):
    """The sources that do not begin with a comment."""
    return [str(path) for path in paths if not HEAD.match(path.read_text())]


def flags_in(source):
    return [(line, text) for line, text in literals(source) if FLAG.search(text)]


def unknown_in(source, known):
    return [(line, name) for line, text in literals(source) for name in MARK.findall(text) if name not in known]


def described():
    return {name for _, source in sources() for name in DESCRIBED.findall(source)}


def test_the_patterns_find_flags_and_names():
    sample = 'throw BadArgument("take `clusters`"\n "or --restarts"); // --a `b`\nwarn("`klusters=" + text + "`");'
    assert flags_in(sample) == [(2, "or --restarts")]
    assert unknown_in(sample, {"clusters"}) == [(3, "klusters")]
    assert {"clusters", "max_iterations", "scale", "pretrained"} <= described()


def test_no_message_names_a_flag_of_the_command():
    assert [(str(path), *found) for path, source in sources() for found in flags_in(source)] == []


def test_every_name_between_backquotes_is_an_option_or_a_field():
    known = described() | NAMED_FIELDS | {"auto", "row"}
    assert [(str(path), *found) for path, source in sources() for found in unknown_in(source, known)] == []


def test_every_code_is_used():
    listed = re.search(r"enum class Code[^{]*\{(.*?)\};", (ROOT / "coterie/base/message.hpp").read_text(), re.DOTALL)[1]
    codes = set(re.findall(r"^ *(\w+),?$", re.sub(r"//.*", "", listed), re.MULTILINE))
    folders = [ROOT / name for name in ("coterie", "cli", "python/src")]
    texts = [path.read_text() for folder in folders for path in folder.rglob("*.[ch]pp") if path.name != "message.cpp" and "_test" not in path.name]
    assert len(codes) > 50
    assert codes - set(re.findall(r"Code::(\w+)", "".join(texts))) == set()


def test_sources_without_a_head_comment_are_found(tmp_path):
    sources = {
        "none": '#include "a.hpp"\n',
        "late": '#include "a.hpp"\n\n// Reads a,\n// then b.\n',
        "empty": "//\n//\n",
        "two": "// Reads a,\n// then b.\n",
        "apart": "// Reads a.\n//\n// Then b.\n",
    }
    paths = [tmp_path / name for name in sources]
    for path in paths:
        path.write_text(sources[path.name])
    assert without_head(paths) == [str(tmp_path / name) for name in ("none", "late", "empty")]


def test_every_source_begins_with_a_comment():
    folders = [ROOT / name for name in ("coterie", "cli", "reproduce")]
    paths = [path for folder in folders for path in sorted(folder.rglob("*.cpp")) if not path.name.endswith("_test.cpp")]
    assert len(paths) > 100
    assert without_head(paths) == []
