"""Exceptions and warnings. Each error is also the standard one that Python's users expect, and carries what it is about."""
from ._names import in_python, parameter


class CoterieError(Exception):
    """What the library refuses or cannot do.

    Attributes
    ----------
    option, value, accepted : str
        The parameter that is meant, by its name in Python, what was given, and what is accepted. Empty where they do not apply.
    file, column : str
        Where the matter is.
    row : int or None
        Counted from 1.
    """

    option = value = accepted = file = column = ""
    row = None


class BadArgument(CoterieError, ValueError):
    """A parameter, or a combination of inputs, that is not accepted."""


class BadData(CoterieError, ValueError):
    """A file or an array whose content cannot be used."""


class ResourceError(CoterieError, MemoryError, OSError):
    """Memory, disk, network or a library that could not be had."""


class Cancelled(CoterieError, RuntimeError):
    """The callback ended a fit that had no result yet."""


class InternalError(CoterieError, RuntimeError):
    """A fault of coterie itself; please report it."""


class NotFittedError(CoterieError, ValueError, AttributeError):
    """The model was not fitted yet. Where scikit-learn is loaded, its exception of this name is raised."""


class CoterieWarning(UserWarning):
    """What the caller should know about a result."""


class ConvergenceWarning(CoterieWarning):
    """A fit ended at its limit of iterations."""


def error_of(kind, message, fields):
    """The exception that an error of the library becomes."""
    error = globals()[kind](in_python(message))
    error.option = parameter(fields["option"])
    error.value, error.file, error.row, error.column = fields["value"], fields["file"], fields["row"], fields["column"]
    error.accepted = in_python(fields["accepted"])
    return error
