"""Completion: what the command offers for a line, and what bash, zsh and fish complete with their scripts."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from support import COMMAND, document, run

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# A line up to the cursor, and the only word that completes it.
LINES = {
    "coterie pre": "predict",
    "coterie fit km": "kmeans",
    "coterie methods km": "kmeans",
    "coterie completion fi": "fish",
    "coterie fit kmeans --max": "--max-iterations",
    "coterie fit kmeans x.csv -k 3 --scale z": "zscore",
    "coterie fit kmeans x.csv --scale=mi": "--scale=minmax",
    "coterie data show di": "digits",
    "coterie fit kmeans data:ir": "data:iris",
    "coterie evaluate labels.csv data:ir": "data:iris",
    "coterie fit kmeans points.n": "points.npy",
    "coterie predict model.s": "model.safetensors",
    "coterie fit kmeans points.npy --partial-labels partial-b": "partial-blank.csv",
    "coterie fit kmeans points.npy --truth=truth.n": "--truth=truth.npy",
    "coterie fit kmeans points.npy --label-share a=1 --label-s": "--label-share",
    "coterie fit kmeans points.npy --label-col": "--label-column",
}


def offered(*words):
    out = run("completion", "words", input="\n".join(words).encode() + b"\n").out
    lines = [line.split("\t") for line in out.splitlines()]
    return {line[0]: line[1] for line in lines if line != [":files"]}, [":files"] in lines


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    """The path of a shell's script."""
    folder = tmp_path_factory.mktemp("scripts")
    for shell, name in (("bash", "coterie.bash"), ("zsh", "_coterie"), ("fish", "coterie.fish")):
        (folder / name).write_text(run("completion", shell).out)
    return lambda name: folder / name


def shell(name):
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    return name


def environment(home):
    folders = os.pathsep.join([str(pathlib.Path(COMMAND).parent), os.environ["PATH"]])
    return dict(os.environ, PATH=folders, HOME=str(home), XDG_CONFIG_HOME=str(home), XDG_DATA_HOME=str(home), TERM="dumb", LC_ALL="C.UTF-8")


def test_every_completion_has_a_description():
    commands, files = offered("")
    assert set(commands) >= {"fit", "predict", "evaluate", "geometry", "transform", "methods", "info", "data", "man", "completion"} and not files
    methods, files = offered("fit", "")
    assert methods == {method["name"]: method["summary"] for method in document("methods")["methods"]} and not files
    assert offered("help", "fit", "")[0] == methods
    for method in document("methods")["methods"]:
        flags, files = offered("fit", method["name"], "-")
        assert {option["flag"] for option in method["options"]} <= set(flags) and not files
        assert all(flags.values())


def test_completions_depend_on_position():
    scales = {"none", "minmax", "zscore", "unit"}
    assert set(offered("fit", "kmeans", "--scale", "")[0]) == scales
    assert set(offered("fit", "kmeans", "--scale=")[0]) == {"--scale=" + scale for scale in scales}
    assert offered("fit", "kmeans", "--truth", "") == ({}, True)
    points, files = offered("fit", "kmeans", "-k", "3", "")
    assert points["data:iris"] and files
    assert offered("fit", "kmeans", "-k3", "") == offered("fit", "kmeans", "--clusters=3", "") == offered("fit", "kmeans", "--", "") == (points, True)
    # Nothing is offered for a number, after the last argument, or after an unknown method or option.
    for words in (["fit", "kmeans", "-k", ""], ["fit", "kmeans", "points.csv", ""], ["fit", "nosuch", ""], ["fit", "kmeans", "--nosuch="], ["info", "m", ""]):
        assert offered(*words) == ({}, False), words
    assert run("completion", "words", input=b"").out == ""


def test_given_options_are_not_offered_again():
    flags = offered("fit", "kmeans", "points.csv", "-k", "3", "--seed=4", "--label-share", "a=1", "-")[0]
    assert not {"-k", "--clusters", "--seed"} & set(flags) and {"--label-share", "--threads", "--help"} <= set(flags)
    assert "-k" not in offered("fit", "kmeans", "points.csv", "--", "-")[0]


@pytest.mark.parametrize("line", LINES)
def test_bash_completes(files, script, tmp_path, line):
    driver = f"source '{script('coterie.bash')}'\nCOMP_LINE={line!r}\nCOMP_POINT=${{#COMP_LINE}}\n_coterie coterie\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
    done = subprocess.run(["bash", "--norc", "-s"], input=driver.encode(), capture_output=True, cwd=files, env=environment(tmp_path))
    # readline splits words at '=' and ':'. What comes before them stays in the line.
    assert done.stdout.decode().split() == [LINES[line].split("=")[-1].split(":")[-1]], done.stderr


@pytest.mark.parametrize("line", LINES)
def test_fish_completes(files, script, tmp_path, line):
    driver = f"source '{script('coterie.fish')}'; complete -C '{line}'"
    done = subprocess.run([shell("fish"), "--no-config", "-c", driver], capture_output=True, cwd=files, env=environment(tmp_path))
    assert [each.split("\t")[0] for each in done.stdout.decode().splitlines()] == [LINES[line]], done.stderr


def test_fish_shows_descriptions(files, script, tmp_path):
    driver = f"source '{script('coterie.fish')}'; complete -C 'coterie fit km'"
    done = subprocess.run([shell("fish"), "--no-config", "-c", driver], capture_output=True, cwd=files, env=environment(tmp_path))
    assert done.stdout.decode() == f"kmeans\t{offered('fit', '')[0]['kmeans']}\n"


# An interactive zsh in its own terminal: the line is typed, Tab is pressed, and a key prints the completed line.
ZSH = r"""
zmodload zsh/zpty
zpty driven zsh -f -i
zpty -w driven 'PROMPT=; unsetopt zle_bracketed_paste prompt_cr; fpath=('${(q)1:h}' $fpath); autoload -Uz compinit; compinit -u -d '${(q)2}
zpty -w driven 'show() { print -r -- "<LINE:$BUFFER>"; BUFFER=; zle -I }; zle -N show; bindkey "^X" show; cd '${(q)3}'; print READY:$_comps[coterie]'
zpty -r -m driven said '*READY:_coterie*'
zpty -w -n driven "$4"$'\t\x18'
zpty -r -m driven said $'*<LINE:*>*'
print -r -- "$said"
zpty -d driven
"""


def zsh_becomes(files, script, home, line):
    done = subprocess.run([shell("zsh"), "-f", "-c", ZSH, "driver", script("_coterie"), home / "dump", files, line], capture_output=True,
                          env=environment(home), timeout=60)
    return done.stdout.decode()


@pytest.mark.parametrize("line", LINES)
def test_zsh_completes(files, script, tmp_path, line):
    begin = line.rsplit(" ", 1)[0]
    assert f"<LINE:{begin} {LINES[line]} >" in zsh_becomes(files, script, tmp_path, line)


def test_zsh_shows_descriptions(files, script, tmp_path):
    said = zsh_becomes(files, script, tmp_path, "coterie data ")
    commands = offered("data", "")[0]
    assert set(commands) == {"list", "show", "get"}
    for word, meaning in commands.items():
        assert f"{word} " in said and f"-- {meaning[:30]}" in said


def test_scripts_have_valid_syntax(script):
    for name, file in (("bash", "coterie.bash"), ("zsh", "_coterie"), ("fish", "coterie.fish")):
        if shutil.which(name):
            assert subprocess.run([name, "-n", script(file)], capture_output=True).returncode == 0, name


def test_zsh_script_can_be_sourced(script, tmp_path):
    driver = f"autoload -Uz compinit; compinit -u -d '{tmp_path}/dump'; source '{script('_coterie')}'; print $_comps[coterie]"
    done = subprocess.run([shell("zsh"), "-f", "-c", driver], capture_output=True, env=environment(tmp_path))
    assert done.stdout == b"_coterie\n", done.stderr


def test_environment_variables_are_documented():
    """The manual page and docs/command.md have every variable that the sources read outside the tests."""
    asked = set()
    for path in [*ROOT.glob("coterie/**/*.cpp"), *ROOT.glob("cli/*.cpp")]:
        if not path.name.endswith("_test.cpp"):
            text = path.read_text()
            asked |= set(re.findall(r'"(COTERIE_[A-Z_]+|XDG_[A-Z_]+)"', text)) | set(re.findall(r'getenv\("([A-Z_]+)"\)', text))
    asked -= {"TERM", "OMP_WAIT_POLICY"}  # common to many programs
    assert asked >= {"COTERIE_DATA", "COTERIE_SHARE", "COTERIE_DEEP_LIBRARY", "COTERIE_MPI_LIBRARY", "XDG_CACHE_HOME", "NO_COLOR"}
    page, guide = run("man").out, (ROOT / "docs" / "command.md").read_text()
    assert {name for name in asked if f"\\fB{name}\\fR" not in page} == set()
    assert {name for name in asked if f"`{name}`" not in guide} == set()
