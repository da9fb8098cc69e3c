"""Docstrings that share parts.

A line "**shared : a, b" of a docstring stands for the parts a and b of SHARED. Parts have the indentation 4. A part that begins a section begins with an empty
line. "returns TYPE" and "raises ERROR" begin the section Returns or Raises with this entry.
"""
from types import FunctionType

_MARK = "**shared : "


def entry(name, meaning=""):
    """Returns a part with one entry, such as a parameter and its meaning."""
    return f"    {name}\n" + (f"        {meaning}\n" if meaning else "")


def section(title, name, meaning=""):
    """Returns a part that begins a section with an entry."""
    return f"\n    {title}\n    {'-' * len(title)}\n" + entry(name, meaning)


SHARED = {  # the parts by name; other modules add theirs
    "parameter path": section("Parameters", "path : str or PathLike"),
    "unwritable path": section("Raises", "OSError", "The file cannot be written."),
    "n_jobs as in the classes": entry("n_jobs : int, default=None", "Number of threads, as in the classes."),
}


def _part(name):
    title, _, entry_name = name.partition(" ")
    return section(title.capitalize(), entry_name) if title in ("returns", "raises") else SHARED[name]


def whole_docstring(text):
    """Returns the docstring with the parts in place of their names, at the indentation of the line that names them."""
    lines = []
    for line in text.split("\n"):
        indent, mark, names = line.partition(_MARK)
        if mark:
            lines += [f"\n{_part(name)}".rstrip("\n").replace("\n    ", f"\n{indent}")[1:] for name in names.split(", ")]
        else:
            lines.append(line)
    return "\n".join(lines)


def complete_docstrings(names):
    """Completes the docstrings of a module's functions, classes and methods. names: the module's globals()."""
    own = [thing for thing in names.values() if isinstance(thing, (type, FunctionType)) and thing.__module__ == names["__name__"]]
    methods = [each for thing in own for each in vars(thing).values() if isinstance(each, FunctionType)]
    for thing in own + methods:
        if _MARK in (thing.__doc__ or ""):  # None with python -OO
            thing.__doc__ = whole_docstring(thing.__doc__)
