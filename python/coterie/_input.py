"""Converts the caller's input for the library: rows of float32 or float64, weights, labels, seeds.

Arrays of these two types with contiguous rows are passed without a copy, also memory-mapped ones. Integers of 8 and 16 bits become float32, others
float64, as in files. Tables are converted with their own methods for NumPy; the names of their columns are kept. Blocks of rows from an iterator are
written to a temporary file without a name and read from there in blocks.
"""
import datetime
import os
import tempfile
import warnings
from collections.abc import Iterable

import numpy as np

from . import _core
from ._errors import CoterieWarning


most_threads = 1024


class Rows:
    """Rows, and what came with them."""

    def __init__(self, points, names=None, index=None, kinds=None, categories=None):
        self.points = points  # a NumPy array, a _core.Table, or the tuple of sparse rows
        self.names = names
        self.kinds = kinds  # per column: 0 numbers, 1 categories, 2 dates; None: all numbers
        self.categories = categories  # per column: the number i means word i of this list
        self.index = index  # of a pandas DataFrame

    @property
    def shape(self):
        return self.points[:2] if isinstance(self.points, tuple) else tuple(self.points.shape)

    @property
    def given(self):
        """The rows as a fitted model of the library takes them: points, names and categories."""
        return self.points, self.names or [], self.categories or []

    def side(self, named=True):
        """What a problem of the library says about the columns. named: whether it has their names."""
        out = {"column_names": self.names} if self.names and named else {}
        return {**out, "kinds": self.kinds, "categories": self.categories} if self.kinds else out


def warn(messages, stacklevel):
    """Gives warnings of the library. stacklevel: as in warnings.warn, counted from this function."""
    for message in messages:
        warnings.warn(CoterieWarning._of(message), stacklevel=stacklevel)


def is_whole(value):
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_sparse(X):
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def _is_paths(X):
    if isinstance(X, (str, os.PathLike)):
        return True
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(item, (str, os.PathLike)) for item in X)


def _sorted_rows(X, what):
    """Returns a SciPy sparse matrix as csr, sorted within each row, without repeats. Checks all positions first, because SciPy does not."""
    if X.dtype.kind == "c":
        raise ValueError(f"{what}: Complex data not supported. Use real numbers.")
    _require_sound(X, what)
    rows = X.tocsr()
    if rows is not X:
        _require_sound(rows, what)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _require_sound(X, what):
    """Raises ValueError unless the positions of all entries are inside the sparse matrix."""
    kind = getattr(X, "format", None)
    if kind == "coo":
        for axis, places in zip(("row", "column"), (X.row, X.col)):
            _require_places(places, X.shape[axis == "column"], X.data, f"{what}: a damaged sparse matrix: {axis} numbers")
    elif kind in ("csr", "csc", "bsr"):
        lines, across = (X.shape[0] // X.blocksize[0], X.shape[1] // X.blocksize[1]) if kind == "bsr" else X.shape[:: 1 if kind == "csr" else -1]
        starts, entries = np.asarray(X.indptr), len(X.indices)
        if starts.shape != (lines + 1,) or starts[0] != 0 or starts[-1] > entries or (starts[1:] < starts[:-1]).any():
            raise ValueError(
                f"{what}: a damaged sparse matrix: indptr must have {lines + 1} ascending numbers from 0 to at most {entries}, the number of entries"
            )
        _require_places(X.indices, across, X.data, f"{what}: a damaged sparse matrix: indices")


def _require_places(places, end, values, what):
    if len(places) != len(values):
        raise ValueError(f"{what}: {len(places)} for {len(values)} entries; both must be equal")
    if len(places) and not (0 <= places.min() and places.max() < end):
        bad = places.min() if places.min() < 0 else places.max()
        raise ValueError(f"{what}: {bad} is outside the range 0 to {end - 1}")


def _sparse_rows(X, what, estimator):
    """Returns (rows, columns, starts, columns of the entries, their values).

    A csr matrix of float32 or float64 that is sorted within each row, without repeats, is not copied.
    """
    if X.ndim != 2:
        raise ValueError(f"{what}: Expected 2D array, got {X.ndim}D sparse array instead. Reshape your data.")
    _require_some(X.shape, what, estimator)
    rows = _sorted_rows(X, what)
    index = np.int32 if rows.indices.dtype == np.int32 and rows.indptr.dtype == np.int32 else np.int64
    return *rows.shape, *_arrays_of(rows, index, _scalar(rows.data.dtype))


def _arrays_of(rows, index, scalar):
    """Returns (starts, columns of the entries, their values) of a csr matrix, in these types."""
    return tuple(np.ascontiguousarray(array, dtype=kind) for array, kind in ((rows.indptr, index), (rows.indices, index), (rows.data, scalar)))


def _comes_in_blocks(X):
    """Whether X is an iterable of blocks of rows, not an array or a table."""
    return isinstance(X, Iterable) and not any(hasattr(X, name) for name in ("__getitem__", "__array__", "__dlpack__", "__arrow_c_array__", "to_numpy"))


def read_once(X, estimator):
    """Returns X itself. If it is an iterable of blocks, reads them, because an iterator can be read only once."""
    return _from_blocks(X, "X", estimator) if _comes_in_blocks(X) and not isinstance(X, Rows) else X


def _from_blocks(blocks, what, estimator):
    """Writes the blocks, arrays or tables, to a file in their order. Returns its rows, which have the type of the first block."""
    folder = tempfile.gettempdir()
    writer, first = None, None
    for number, block in enumerate(blocks):
        name = f"{what}: block {number}"
        if _comes_in_blocks(block):
            raise ValueError(f"{name}: {type(block).__name__} is not accepted. Use an array or a table of rows.")
        if is_sparse(block):
            raise TypeError(f"{name}: a sparse matrix was passed, but blocks must be dense. Use one matrix: scipy.sparse.vstack(blocks).")
        rows = rows_of(block, name, estimator)
        if writer is None:
            first, writer = rows, _core.Scratch(folder)
            warnings.warn(
                f"{what}: blocks of rows are written once to a temporary file in {folder} and read from there. Set TMPDIR to use another folder.",
                CoterieWarning, stacklevel=5,
            )
        if rows.shape[1] != first.shape[1] or (rows.names or []) != (first.names or []):
            raise ValueError(f"{name}: has {rows.shape[1]} columns {rows.names or ''}, but the first block has {first.shape[1]} {first.names or ''}")
        points = rows.points.array() if isinstance(rows.points, _core.Table) else rows.points
        if points.dtype != first.points.dtype:
            raise ValueError(f"{name}: has dtype {points.dtype}, but the first block has {first.points.dtype}")
        writer.write(np.ascontiguousarray(points))
    if writer is None:
        raise ValueError(f"{what}: Found array with 0 sample(s) (no blocks) while a minimum of 1 is required by {estimator}.")
    return Rows(writer.table(), first.names)


def rows_of(X, what="X", estimator="the method", sparse=False, columns=None, wanted=None, kinds=None):
    """Converts X to `Rows`.

    X: an array, a table, a path (or "data:NAME"), a list of .npy files that are read in blocks, or an iterable of blocks of rows; with `sparse` also
    a SciPy sparse matrix. columns: the options missing, categorical and dates. wanted, kinds: the names of a fitted model's columns, and their kinds.
    """
    columns = columns or {}
    if isinstance(X, Rows):
        return X
    if isinstance(X, _core.Table):
        return _of_table(X)
    if _is_paths(X):
        paths = [os.fspath(X)] if isinstance(X, (str, os.PathLike)) else [os.fspath(path) for path in X]
        table = _core.read(paths, columns)
        warn(table.notes, stacklevel=5)
        return _of_table(table)
    if is_sparse(X) and sparse:
        return Rows(_sparse_rows(X, what, estimator))
    if is_sparse(X):
        raise TypeError(f"{what}: a sparse matrix was passed, but dense data is required by {estimator}. Use X.toarray().")
    names, index = None, None
    if _comes_in_blocks(X):
        return _from_blocks(X, what, estimator)
    if (hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")) and not hasattr(X, "to_numpy"):
        import pyarrow

        X = pyarrow.table(X)
    if _is_arrow(X) or (hasattr(X, "columns") and hasattr(X, "to_numpy")):
        labels = list(X.column_names if _is_arrow(X) else X.columns)
        names = names_of(labels, what)
        index = getattr(X, "index", None)
        if names and wanted and set(wanted) <= set(names) and len(set(names)) == len(names):
            X, labels, names = X.select(list(wanted)) if _is_arrow(X) else X[list(wanted)], list(wanted), list(wanted)
        else:
            kinds = None
        X, taken, kinds, words = _table_numbers(X, labels, what, columns, kinds)
        names = names and [names[position] for position in taken]
        return Rows(_array(X, what, estimator), names, index, kinds, words)
    elif hasattr(X, "__dlpack__") and not hasattr(X, "__array__"):
        X = np.from_dlpack(X)
    return Rows(_array(X, what, estimator), names, index)


def names_of(labels, what):
    """Returns the names of a table's columns, or None if they are not strings. Raises TypeError if only some are strings."""
    labels = list(labels)
    if any(isinstance(name, str) for name in labels) and not all(isinstance(name, str) for name in labels):
        raise TypeError(
            f"{what}: feature names are only supported if all are strings, not "
            f"{sorted({type(name).__name__ for name in labels})}. Use X.columns = X.columns.astype(str)."
        )
    return labels if labels and isinstance(labels[0], str) else None


def _of_table(table):
    kinds = list(table.kinds)
    return Rows(table, list(table.column_names) or None, None, kinds or None, list(table.categories) if kinds else None)


def _is_arrow(X):
    return hasattr(X, "column_names") and hasattr(X, "itercolumns")


def _table_numbers(X, labels, what, columns, kinds):
    """Returns (array, positions of the columns used, their kinds, their words). Kinds and words are None if all columns are numbers."""
    pandas = hasattr(X, "iloc")
    column_at = (lambda position: X.iloc[:, position]) if pandas else X.column if _is_arrow(X) else (lambda position: X[labels[position]])
    # Tables other than pandas silently convert dates to numbers if they also have columns of numbers.
    named = columns.get("categorical") in ("one-hot", "drop") and any(_is_category(column_at(position)) for position in range(len(labels)))
    encoded = any(_is_arrow_dictionary(column_at(position)) for position in range(len(labels)))
    if not kinds and not named and not encoded and (
        pandas or all(column_at(position)[:0].to_numpy().dtype.kind in "fiub" for position in range(len(labels)))
    ):
        if not _is_arrow(X):
            array = X.to_numpy()
        else:
            array = np.column_stack([column.to_numpy() for column in X.itercolumns()]) if labels else np.empty((X.num_rows, 0))
        if array.dtype.kind in "fiub":
            return array, range(len(labels)), None, None
    out, taken, found, words = [], [], [], []
    for position, name in enumerate(labels):
        wanted = kinds[position] if kinds else None
        kind, values, categories = _column_numbers(column_at(position), name, what, columns, wanted)
        if kind is None:
            continue
        out.append(values)
        taken.append(position)
        found.append(kind)
        words.append(categories)
    if not out:
        raise ValueError(f"{what}: no column is left. Give at least one column of numbers.")
    plain = not any(found)
    return np.column_stack(out), taken, None if plain else found, None if plain else words


def _column_numbers(column, name, what, columns, wanted):
    """Returns (kind, values, words of categories). kind: 0 numbers, 1 categories, 2 dates, None for a column that is left out."""
    if getattr(getattr(column, "dtype", None), "tz", None) is not None and hasattr(column, "dt"):
        column = column.dt.tz_convert(None)  # pandas converts such times to numbers of an unknown unit
    as_names = _is_category(column) and (columns.get("categorical") in ("one-hot", "drop") if wanted is None else wanted == 1)
    told_type = getattr(column, "dtype", None) or getattr(column, "type", "object")
    if _is_arrow_dictionary(column):
        column = column.cast(column.type.value_type)  # its to_numpy converts nulls to words
    elif type(told_type).__name__ == "PeriodDtype":
        column = column.dt.to_timestamp()  # the period's first date
    values = column.astype(object).to_numpy() if as_names and hasattr(column, "iloc") else column.to_numpy()
    if values.dtype.kind == "c":
        raise ValueError(f"{what}: column {name!r} has dtype {told_type}: Complex data not supported. Use real numbers.")
    if values.dtype.kind == "M" and wanted != 1:
        if not columns.get("dates"):
            raise ValueError(f"{what}: column {name!r} has dtype {told_type}, not numbers. Use dates=True to convert dates to days.")
        days = (values - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")
        return 2, days.astype(np.float64), []
    if values.dtype.kind == "O" and any(hasattr(value, "__len__") and not isinstance(value, (str, bytes)) for value in values):
        raise ValueError(f"{what}: column {name!r} has dtype {told_type} and holds lists. Make one column of each list position.")
    if not as_names and (values.dtype.kind == "m" or values.dtype.kind == "O" and any(isinstance(value, datetime.timedelta) for value in values)):
        raise ValueError(
            f"{what}: column {name!r} has dtype {told_type}: durations are not accepted. Convert them to numbers, in pandas and polars "
            f"with X[{name!r}].dt.total_seconds()."
        )
    if wanted != 1 and not as_names:
        try:
            # Missing values of any kind are NaN.
            numbers = column.to_numpy(dtype=np.float64, na_value=np.nan) if hasattr(column, "iloc") else values.astype(np.float64)
            if not any(isinstance(value, str) for value in values) if values.dtype.kind == "O" else True:
                return 0, numbers, []
        except (TypeError, ValueError):
            pass
    if wanted != 1:
        texts = _words_of(values) if not as_names and (wanted is None or wanted == 2) else [""]
        days = None if "" in texts else _core.days_of([text or "" for text in texts])
        if days is not None and columns.get("dates"):
            return 2, days, []
        how = columns.get("categorical", "refuse")
        if how == "drop":
            warnings.warn(f"{what}: column {name!r} holds words and is left out. Use categorical='one-hot' to keep it.", CoterieWarning, stacklevel=6)
            return None, None, None
        if how != "one-hot":
            raise ValueError(
                f"{what}: column {name!r} has dtype {told_type}, not numbers. "
                + ("Use dates=True to convert dates to days." if days is not None else
                   "Leave it out, or use categorical='one-hot' to make a column for each word.")
            )
    texts = _words_of(values)
    categories = sorted(set(texts) - {None})
    number_of = {word: number for number, word in enumerate(categories)}
    return 1, np.array([number_of.get(text, np.nan) for text in texts], dtype=np.float64), categories


def _words_of(values):
    """The values as text, None for missing ones. A text is never missing, not even "" or "NA"."""
    return [None if _is_null(value) else str(value) for value in values]


def _is_null(value):
    """Whether a value is marked as missing: None, NaN, NaT, pandas' NA, or masked."""
    if value is None or type(value).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # for example of an array
        return False


def _is_arrow_dictionary(column):
    return type(getattr(column, "type", None)).__name__ == "DictionaryType"


def _is_category(column):
    """Whether a column has a categorical type of pandas, polars or pyarrow. Its values are then categories, even if they are numbers."""
    kind = getattr(column, "dtype", None) or getattr(column, "type", None)
    return type(kind).__name__ in ("CategoricalDtype", "Categorical", "Enum", "DictionaryType")


def _array(X, what, estimator):
    if X is None or isinstance(X, (dict, bool, int, float, complex)) or hasattr(X, "collect") or callable(X) and not hasattr(X, "__array__"):
        raise ValueError(
            f"{what}: {type(X).__name__} is not accepted. Use a 2D array, a table of pandas, polars or pyarrow"
            + (" (collect() returns one)" if hasattr(X, "collect") else ", or the path of a file") + "."
        )
    if np.ma.isMaskedArray(X):  # masked values are missing
        X = X.astype(_scalar(X.dtype)).filled(np.nan) if X.dtype.kind in "fiub" else np.where(np.ma.getmaskarray(X), None, X.data)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError(f"{what}: rows of different lengths are not accepted: {error}") from None
    if array.dtype.kind in "SU":
        raise ValueError(f"{what}: an array of words (dtype {array.dtype}) is not accepted. Use numbers; X.astype(float) converts texts of numbers.")
    if array.dtype.kind == "c":
        raise ValueError(f"{what}: Complex data not supported. Use real numbers.")
    if array.dtype.kind in "mM":
        raise ValueError(f"{what}: dates and times (dtype {array.dtype}) are not numbers. Use a table with dates=True to convert dates to days.")
    if array.ndim != 2:
        raise ValueError(
            f"{what}: Expected 2D array, got {'scalar' if array.ndim == 0 else f'{array.ndim}D'} array instead. Reshape your data either using "
            "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a single sample."
        )
    _require_some(array.shape, what, estimator)
    if array.dtype.kind == "O":
        words = [value for value in array.flat if isinstance(value, (str, bytes))]
        if words:
            raise ValueError(f"{what}: an array of words (such as {words[0]!r}) is not accepted. Use numbers, or a table with categorical='one-hot'.")
        array = np.where(np.frompyfunc(_is_null, 1, 1)(array).astype(bool), np.nan, array)
    wanted = _scalar(array.dtype)
    contiguous = array.shape[1] == 1 or array.strides[1] == array.itemsize
    stepping = array.shape[0] == 1 or (array.strides[0] >= array.shape[1] * array.itemsize and array.strides[0] % array.itemsize == 0)
    if array.dtype == wanted and contiguous and stepping and array.flags.aligned:
        return array.view(np.ndarray)
    try:
        return np.ascontiguousarray(array, dtype=wanted)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{what}: {error}. Use numbers, or a table with categorical='one-hot' for words.") from None


def _require_some(shape, what, estimator):
    for count, kind in zip(shape, ("sample", "feature")):
        if count == 0:
            raise ValueError(f"{what}: Found array with 0 {kind}(s) (shape={shape}) while a minimum of 1 is required by {estimator}.")


def _scalar(dtype):
    """The type in which numbers of type `dtype` are computed: float32 or float64."""
    if dtype.kind == "f" and dtype.itemsize in (4, 8) and dtype.isnative:
        return dtype
    small = dtype.kind in "fiub" and dtype.itemsize <= 2 or dtype.kind == "f" and dtype.itemsize == 4
    return np.dtype(np.float32 if small else np.float64)


def graph_of(X, estimator):
    """A sparse matrix of affinities as (n, starts, columns, values)."""
    if X.ndim != 2 or X.shape[0] != X.shape[1]:
        raise ValueError(f"X: affinities of {estimator} must be square, not of shape {X.shape}")
    return X.shape[0], *_arrays_of(_sorted_rows(X, "X"), np.int64, np.float64)


def weights_of(sample_weight):
    if sample_weight is None:
        return None
    if np.ma.is_masked(sample_weight):
        raise ValueError("sample_weight: some weights are masked. Give a number for every row.")
    weights = np.asarray(sample_weight)
    if weights.ndim != 1:
        raise ValueError(f"sample_weight: Sample weights must be 1D array or scalar, not of shape {weights.shape}. Give one number per row.")
    if weights.dtype.kind not in "fiub":
        raise ValueError(f"sample_weight: an array of {weights.dtype} is not accepted. Use numbers.")
    if weights.size and not weights.any():
        raise ValueError("sample_weight: all weights are zero. Give at least one row a weight above 0.")
    return np.ascontiguousarray(weights, dtype=np.float64)


def _is_missing(label):
    if label is None or (isinstance(label, (float, np.floating)) and label != label) or type(label).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(label, str):
        return label == ""
    return not isinstance(label, (bool, np.bool_)) and label == -1


def labels_of(y, rows, what="y"):
    """Converts partial labels to numbers.

    Returns (number of each row's label, -1 for unknown; the distinct labels in the order of the numbers; their names).
    """
    if np.ma.is_masked(y):
        y = np.where(np.ma.getmaskarray(y), None, np.ma.getdata(y).astype(object))
    try:
        values = np.asarray(y)
    except ValueError as error:
        raise ValueError(f"{what}: each label must be a number or a word: {error}") from None
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or len(values) != rows:
        raise ValueError(f"{what}: an array of shape {values.shape} is not accepted. Give one label per row: {rows} labels.")
    if values.dtype.kind in "iub":
        missing = values == -1 if values.dtype.kind == "i" else np.zeros(rows, dtype=bool)
    elif values.dtype.kind == "f":
        missing = np.isnan(values) | (values == -1)
        known = values[~missing]
        sound = (known == np.floor(known)) & (abs(known) < 2.0**63)
        if not sound.all():
            raise ValueError(
                f"{what}: {known[~sound][0]} is not a label. Use whole numbers below 2**63 or words, and -1, None or NaN for unknown labels."
            )
        values = np.where(missing, -1, values).astype(np.int64)
    else:
        of_numpy = isinstance(y, np.ndarray) and y.dtype.kind == "U"  # NumPy has converted numbers among words to words
        values = np.asarray(y, dtype=object).reshape(-1)
        missing = np.fromiter((_is_missing(label) or of_numpy and label in ("-1", "nan", "None") for label in values), dtype=bool, count=rows)
    if missing.all():
        raise ValueError(f"{what}: no row has a label. Omit {what} if no label is known.")
    try:
        distinct, inverse = np.unique(values[~missing], return_inverse=True)
    except TypeError:
        raise ValueError(f"{what}: labels of different types cannot be sorted. Use only numbers or only words.") from None
    numbers = np.full(rows, -1, dtype=np.int32)
    numbers[~missing] = inverse
    return numbers, distinct, [str(value) for value in distinct]


def truth_of(y_true, rows):
    """Returns the numbers of true labels and their names; (None, []) for y_true=None."""
    if y_true is None:
        return None, []
    numbers, _, names = labels_of(y_true, rows, "y_true")
    return numbers, names


def seed_of(random_state):
    """A seed from 0 to 2^64 - 1: the number itself, or a number drawn from a NumPy generator."""
    if random_state is None:
        return int(np.random.randint(2**31 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63 - 1))
    if is_whole(random_state) and 0 <= random_state < 2**64:
        return int(random_state)
    raise ValueError(
        f"random_state: {random_state!r} is not accepted. Use a whole number from 0 to 2**64 - 1, a NumPy generator or None."
    )


def threads_of(n_jobs):
    """The number of threads; 0 means all that the process may use. n_jobs=None: the limit OMP_NUM_THREADS, which joblib sets for its workers."""
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return min(int(limit), most_threads) if limit.isdecimal() else 0
    if n_jobs == -1:
        return 0
    if not is_whole(n_jobs) or n_jobs == 0 or n_jobs > most_threads:
        raise ValueError(
            f"n_jobs: {n_jobs!r} is not accepted. Use a number of threads up to {most_threads:,}, or -1 or None for all available threads."
        )
    if n_jobs > 0:
        return int(n_jobs)
    return max(1, len(os.sched_getaffinity(0)) + 1 + int(n_jobs))


def count_of(value, name, least=1):
    """Returns a whole number, at least `least`, that fits the library's type. Raises ValueError on other values."""
    if not is_whole(value) or not least <= value < 2**31:
        raise ValueError(f"{name}: {value!r} is not accepted. Use a whole number, at least {least}.")
    return int(value)


def device_of(device):
    if not isinstance(device, str):
        raise ValueError(f"device: {device!r} is not accepted. Use 'cpu', 'cuda' or 'mps'.")
    return device


def path_of(path, name):
    """A path as text; "" for None."""
    if path is None:
        return ""
    try:
        return os.fsdecode(path)
    except TypeError:
        raise TypeError(f"{name}: {path!r} is not accepted. Use the path of a file, or None.") from None
