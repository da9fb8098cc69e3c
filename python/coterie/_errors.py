"""Exceptions and warnings. Each exception also derives from the standard one that Python's users expect."""


class _Fields:
    """What an exception or a warning is about.

    Attributes
    ----------
    code : str
        The kind of error or warning, such as "missing-value". Codes are stable; the guide "Messages" lists them.
    option, value, accepted : str
        The parameter by its name in Python, its value, and what is accepted. Empty if they do not apply.
    remedy : str
        What to do. Empty if the text says it.
    file, column : str
        The file, and the name of the column.
    line, row, column_number : int or None
        The place in a text file or table, counted from 1.
    """

    code = context = option = value = accepted = remedy = file = column = ""
    line = row = column_number = None

    @classmethod
    def _of(cls, message):
        """The exception or warning of a message of the library."""
        made = cls(message.text)
        made._take(message)
        return made

    def _take(self, message):
        self.args = (message.text,)
        self._message = message
        for name in ("code", "context", "option", "value", "accepted", "remedy", "file", "column", "line", "row", "column_number"):
            setattr(self, name, getattr(message, name))


class CoterieError(_Fields, Exception):
    __doc__ = "An error of coterie.\n" + _Fields.__doc__.split("\n", 1)[1]


class BadArgument(CoterieError, ValueError):
    """A parameter, or a combination of inputs, that is not accepted."""


class BadData(CoterieError, ValueError):
    """A file or an array whose content cannot be used."""


class ResourceError(CoterieError, MemoryError, OSError):
    """Memory, disk, network or a library was not available."""


class Cancelled(CoterieError, RuntimeError):
    """The callback ended a fit that had no result yet."""


class InternalError(CoterieError, RuntimeError):
    """A fault of coterie itself; please report it."""


class NotFittedError(CoterieError, ValueError, AttributeError):
    """The model was not fitted yet. If scikit-learn is loaded, its exception of this name is raised."""


class CoterieWarning(_Fields, UserWarning):
    __doc__ = "A warning about the data or a result.\n" + _Fields.__doc__.split("\n", 1)[1]


class ConvergenceWarning(CoterieWarning):
    """A fit stopped at its limit of iterations before it converged."""


def warning_of(entry):
    """The warning of an entry of a JSON document."""
    made = CoterieWarning(entry["text"])
    for name, value in entry.items():
        if name != "text":
            setattr(made, name, value)
    return made


def error_of(kind, message):
    """The exception that an error of the library becomes."""
    return globals()[kind]._of(message)
