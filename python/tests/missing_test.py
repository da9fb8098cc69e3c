"""Missing values mean the same in every type of table, method and function, and in the command for the same file.

In Python, a value is missing if it is None, NaN, NaT, NA, masked or null. In a file, a list of words means missing (docs/your-own-table.md).
"""
import datetime
import inspect
import re
import subprocess
import warnings

import numpy as np
import pytest

import coterie
from conftest import DEEP, ROOT, class_names, estimator
from coterie import _names

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

X = [1.0, 2.0, 1.5, 9.0, 8.0, 9.5]
DAYS = [datetime.date(2026, 1, day) for day in (1, 2, 1, 20, 21, 20)]
VALUES = {"numbers": [1.25, 2.0, None, 7.5, 8.25, 7.0], "words": ["a", "a", None, "b", "b", "b"], "dates": [*DAYS[:2], None, *DAYS[3:]]}
OPTIONS = {"numbers": {}, "words": {"categorical": "one-hot"}, "dates": {"dates": True}}


def with_missing(kind, marker):
    return [marker if value is None else value for value in VALUES[kind]]


def of_pandas(values, dtype=None):
    return pandas.DataFrame({"x": X, "c": pandas.Series(values, dtype=dtype)})


def of_polars(values, dtype=None):
    return polars.DataFrame({"x": X, "c": polars.Series(values, dtype=dtype, strict=False)})


def of_arrow(values, dtype=None):
    return pyarrow.table({"x": X, "c": pyarrow.array(values, type=dtype) if not isinstance(values, pyarrow.Array) else values})


def of_numpy(marker):
    return np.array([[x, marker if value is None else value] for x, value in zip(X, VALUES["numbers"])], dtype=object)


def masked(values, dtype):
    hidden = [[False, value is None] for value in values]
    filled = [[x, 99 if value is None else value] for x, value in zip(X, values)]
    return np.ma.array(np.array(filled, dtype=dtype), mask=hidden)


NUMBERS, WORDS, DATES = VALUES["numbers"], VALUES["words"], VALUES["dates"]
MOMENTS = [None if day is None else datetime.datetime.combine(day, datetime.time()) for day in DATES]
TEXT_DAYS = [None if day is None else str(day) for day in DATES]
TABLES = {
    "pandas numbers None": ("numbers", lambda: of_pandas(NUMBERS, object)),
    "pandas numbers NaN": ("numbers", lambda: of_pandas(NUMBERS, float)),
    "pandas numbers NaN float32": ("numbers", lambda: of_pandas(NUMBERS, np.float32)),
    "pandas numbers NA": ("numbers", lambda: of_pandas(NUMBERS, "Float64")),
    "pandas numbers NA object": ("numbers", lambda: of_pandas(with_missing("numbers", pandas.NA), object)),
    "pandas numbers NaT object": ("numbers", lambda: of_pandas(with_missing("numbers", pandas.NaT), object)),
    "pandas numbers arrow": ("numbers", lambda: of_pandas(NUMBERS, "double[pyarrow]")),
    "pandas words None": ("words", lambda: of_pandas(WORDS, object)),
    "pandas words NaN": ("words", lambda: of_pandas(with_missing("words", np.nan), object)),
    "pandas words NA": ("words", lambda: of_pandas(with_missing("words", pandas.NA), object)),
    "pandas words string": ("words", lambda: of_pandas(WORDS, "string")),
    "pandas words str": ("words", lambda: of_pandas(WORDS, "str")),
    "pandas words arrow": ("words", lambda: of_pandas(WORDS, "string[pyarrow]")),
    "pandas words category": ("words", lambda: of_pandas(WORDS, "category")),
    "pandas words arrow dictionary": ("words", lambda: of_pandas(WORDS, pandas.ArrowDtype(pyarrow.dictionary(pyarrow.int32(), pyarrow.string())))),
    "pandas dates NaT": ("dates", lambda: of_pandas(pandas.to_datetime(DATES))),
    "pandas dates NaT zone": ("dates", lambda: of_pandas(pandas.to_datetime(DATES).tz_localize("UTC"))),
    "pandas dates None": ("dates", lambda: of_pandas(DATES, object)),
    "pandas dates NaT object": ("dates", lambda: of_pandas(with_missing("dates", pandas.NaT), object)),
    "pandas dates text": ("dates", lambda: of_pandas(TEXT_DAYS, object)),
    "pandas dates arrow": ("dates", lambda: of_pandas(DATES, "date32[pyarrow]")),
    "pandas dates period": ("dates", lambda: of_pandas(pandas.PeriodIndex(DATES, freq="D"))),
    "polars numbers null": ("numbers", lambda: of_polars(NUMBERS, polars.Float64)),
    "polars numbers NaN": ("numbers", lambda: of_polars(with_missing("numbers", np.nan), polars.Float64)),
    "polars words null": ("words", lambda: of_polars(WORDS, polars.String)),
    "polars words categorical": ("words", lambda: of_polars(WORDS, polars.Categorical)),
    "polars words enum": ("words", lambda: of_polars(WORDS, polars.Enum(["b", "a"]))),
    "polars dates null": ("dates", lambda: of_polars(DATES, polars.Date)),
    "polars dates datetime": ("dates", lambda: of_polars(MOMENTS, polars.Datetime)),
    "polars dates text": ("dates", lambda: of_polars(TEXT_DAYS, polars.String)),
    "pyarrow numbers null": ("numbers", lambda: of_arrow(NUMBERS)),
    "pyarrow numbers NaN": ("numbers", lambda: of_arrow(with_missing("numbers", np.nan))),
    "pyarrow numbers batch": ("numbers", lambda: pyarrow.record_batch({"x": X, "c": NUMBERS})),
    "pyarrow numbers dictionary": ("numbers", lambda: of_arrow(pyarrow.array(NUMBERS).dictionary_encode())),
    "pyarrow words null": ("words", lambda: of_arrow(WORDS)),
    "pyarrow words large": ("words", lambda: of_arrow(WORDS, pyarrow.large_string())),
    "pyarrow words dictionary": ("words", lambda: of_arrow(pyarrow.array(WORDS).dictionary_encode())),
    "pyarrow words dictionary that holds null": (
        "words", lambda: of_arrow(pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 0, 1, 2, 2, 2]), pyarrow.array(["a", None, "b"])))),
    "pyarrow words batch": ("words", lambda: pyarrow.record_batch({"x": X, "c": pyarrow.array(WORDS).dictionary_encode()})),
    "pyarrow dates date32": ("dates", lambda: of_arrow(DATES)),
    "pyarrow dates timestamp": ("dates", lambda: of_arrow(MOMENTS)),
    "pyarrow dates text": ("dates", lambda: of_arrow(TEXT_DAYS)),
    "numpy None": ("numbers", lambda: of_numpy(None)),
    "numpy NaN": ("numbers", lambda: of_numpy(np.nan).astype(float)),
    "numpy NaN object": ("numbers", lambda: of_numpy(np.nan)),
    "numpy NA": ("numbers", lambda: of_numpy(pandas.NA)),
    "numpy NaT": ("numbers", lambda: of_numpy(pandas.NaT)),
    "numpy masked": ("numbers", lambda: masked(NUMBERS, float)),
    "numpy masked object": ("numbers", lambda: masked(NUMBERS, object)),
    "lists None": ("numbers", lambda: of_numpy(None).tolist()),
}
FILES = {f"path {kind} {word!r}": (kind, word) for kind in VALUES for word in ("", "NA", "null", "NaN", "?")}


def written(folder, kind, word):
    path = folder / "table.csv"
    path.write_text("x,c\n" + "".join(f"{x},{value}\n" for x, value in zip(X, with_missing(kind, word))))
    return str(path)


@pytest.fixture(params=[*TABLES, *FILES])
def case(request, tmp_path):
    """(kind of column, table with a missing value in row 3 of column c)"""
    if request.param in FILES:
        kind, word = FILES[request.param]
        return kind, written(tmp_path, kind, word)
    kind, make = TABLES[request.param]
    return kind, make()


def prepared(model, table):
    """The rows as the method sees them."""
    rows = model._new_rows(table)
    return model._fitted.prepared(rows.given, 1)


def quietly(call, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*arguments, **options)


PLACE = r"column ('c'|2), row 3\b"


def place_in(table):
    return "column 'c', line 4" if isinstance(table, str) else PLACE  # lines of files include the header


@pytest.mark.parametrize("scale", ["none", "zscore", "minmax", "unit"])
def test_missing_value_error_names_row_and_column(case, scale):
    kind, table = case
    with pytest.raises(ValueError, match=place_in(table)) as caught:
        coterie.KMeans(2, scale=scale, **OPTIONS[kind]).fit(table)
    assert "missing='drop'" in str(caught.value) and "overflow" not in str(caught.value) and "exclude" not in str(caught.value)


@pytest.mark.parametrize("how", ["drop", "mean", "median"])
def test_missing_value_is_dropped_or_filled(case, how, tmp_path):
    kind, table = case
    model = coterie.KMeans(2, missing=how, **OPTIONS[kind])
    with pytest.warns(coterie.CoterieWarning, match="1 row of 6 has a missing value" if how == "drop" else f"replaced by the {how} of the training data"):
        model.fit(table)
    whole = coterie.KMeans(2, missing=how, **OPTIONS[kind])
    file = written(tmp_path, kind, "")
    quietly(whole.fit, file)
    assert (model.labels_ < 0).tolist() == [False, False, how == "drop", False, False, False]
    np.testing.assert_array_equal(model.labels_, whole.labels_)
    np.testing.assert_allclose(prepared(model, table), prepared(whole, file), rtol=1e-6)
    np.testing.assert_array_equal(quietly(model.predict, table), model.labels_)
    assert (np.isnan(quietly(model.transform, table)).any(axis=1) == (model.labels_ < 0)).all()


def test_predict_rejects_missing_values(case):
    kind, table = case
    whole = {name: [value if value is not None else VALUES[kind][0] for value in values] for name, values in (("x", X), ("c", VALUES[kind]))}
    if isinstance(table, (np.ndarray, list)):
        whole = np.column_stack(list(whole.values())).astype(float)
    else:
        whole = pandas.DataFrame(whole)
        if kind == "dates":
            whole["c"] = pandas.to_datetime(whole["c"])
    model = coterie.KMeans(2, **OPTIONS[kind]).fit(whole)
    for call in (model.predict, model.transform, model.distances, model.score, model.outlier_score, model.describe):
        with pytest.raises(ValueError, match=place_in(table)):
            call(table)


@pytest.mark.parametrize("kind", VALUES)
def test_functions_reject_missing_values(kind):
    table = {"numbers": lambda: of_pandas(NUMBERS, float), "words": lambda: of_arrow(pyarrow.array(WORDS).dictionary_encode()), "dates": lambda: of_polars(DATES)}[kind]()
    options = OPTIONS[kind]
    for call in (
        lambda: coterie.compare(table, 2, methods=["kmeans", "ward"], **options),
        lambda: coterie.consensus(table, 2, fits=3, **options),
        lambda: coterie.tune(coterie.KMeans(2, **options), table, {"n_clusters": [2, 3]}),
        lambda: coterie.tune(coterie.KMeans(2, **options), table, {"n_clusters": [2, 3]}, select="gap"),
        lambda: coterie.KMeans("auto", **options).fit(table),
        lambda: coterie.KMeans(2, sample=4, **options).fit(table),
    ):
        with pytest.raises(ValueError, match=PLACE):
            call()


@pytest.mark.parametrize("text", ["", "NA", "nan", "null", "?", "None"])
@pytest.mark.parametrize("make", [of_pandas, of_polars, of_arrow])
def test_text_in_a_table_is_not_missing(make, text):
    model = coterie.KMeans(2, categorical="one-hot").fit(make(with_missing("words", text)))
    assert prepared(model, make(WORDS[:2] + [text] + WORDS[3:])).shape == (6, 4)
    assert prepared(model, make(with_missing("words", text)))[2, 1:].max() > 0.7


def test_text_array_is_an_error():
    for text in ("", "NA", "nan", "1.5"):
        with pytest.raises(ValueError, match="an array of words .* is not accepted. Use numbers"):
            coterie.KMeans(2, missing="drop").fit(of_numpy(text))


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("how", ["refuse", "drop", "mean", "median"])
def test_command_gives_the_same_result(command, tmp_path, kind, how):
    file = written(tmp_path, kind, "NA")
    table = pandas.DataFrame({"x": X, "c": VALUES[kind]})
    if kind == "dates":
        table["c"] = pandas.to_datetime(table["c"])
    flags = [f"--{name}" if value is True else f"--{name}={value}" for name, value in OPTIONS[kind].items()]
    done = subprocess.run([command, "fit", "kmeans", file, "-k", "2", f"--missing={how}", *flags, "--labels-out", "-", "--quiet"], capture_output=True, text=True)
    model = coterie.KMeans(2, missing=how, **OPTIONS[kind])
    if how == "refuse":
        assert done.returncode == 3 and place_in(file) in done.stderr
        with pytest.raises(ValueError, match=PLACE):
            model.fit(table)
        return
    assert done.returncode == 0, done.stderr
    quietly(model.fit, table)
    assert [int(label) if label.isdecimal() else -1 for label in done.stdout.split("\n")[1:7]] == model.labels_.tolist()


@pytest.fixture(scope="module")
def mixed():
    """Thirty rows of numbers and words."""
    points, _ = coterie.datasets.load_iris(return_X_y=True)
    table = pandas.DataFrame(points[::5], columns=list("abcd"))
    table["w"] = ["red", "green", "blue"] * 10
    return table


HOLES = {"numbers": ("a", np.nan, {}), "words": ("w", None, {"categorical": "one-hot"})}
KINDS = {"pandas": lambda table: table, "polars": polars.from_pandas, "pyarrow": pyarrow.Table.from_pandas}


@pytest.mark.parametrize("hole", HOLES)
@pytest.mark.parametrize("of", KINDS)
@pytest.mark.parametrize("name", class_names())
def test_every_estimator_handles_missing_values(name, of, hole, mixed):
    column, marker, options = HOLES[hole]
    table = mixed.copy() if options else mixed.drop(columns="w")
    table.loc[2, column] = marker
    table = KINDS[of](table)
    place = rf"column '{column}', row 3\b"
    for scale in ("none", "zscore"):
        with pytest.raises(ValueError, match=place) as caught:
            quietly(estimator(name, scale=scale, **options).fit, table)
        assert "missing='drop'" in str(caught.value) and "overflow" not in str(caught.value)
    for how in ("drop", "median"):
        model = estimator(name, missing=how, scale="zscore", **options)
        try:
            quietly(model.fit, table)
        except coterie.ResourceError:
            assert name in DEEP
            pytest.skip("networks are not here")
        assert len(model.labels_) == 30 and ((model.labels_[2] < 0) or how == "median")
        found = quietly(model.predict, table)
        assert found[2] == -1 or how == "median"
        scores = quietly(model.outlier_score, table)
        assert np.isnan(scores).tolist() == [how == "drop" and row == 2 for row in range(30)]


@pytest.mark.parametrize("how", ["refuse", "drop", "mean", "median"])
@pytest.mark.parametrize("scale", ["none", "zscore", "minmax", "unit"])
@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
def test_infinity_error_names_row_and_column(how, scale, infinite):
    place = rf"column ('c'|2), row 4\b.*: {'-' if infinite < 0 else ''}infinity is not a finite number"
    for table in (of_pandas(NUMBERS, float), of_arrow(NUMBERS), of_numpy(np.nan).astype(np.float32)):
        if isinstance(table, pyarrow.Table):
            values = list(NUMBERS)
            values[3] = infinite
            broken = of_arrow(values if how != "refuse" else [1.0 if value is None else value for value in values])
        else:
            broken = table.copy()
            (broken.iloc if hasattr(broken, "iloc") else broken)[3, 1] = infinite
            if how == "refuse":
                (broken.iloc if hasattr(broken, "iloc") else broken)[2, 1] = 1.0
        with pytest.raises(ValueError, match=place) as caught:
            coterie.KMeans(2, missing=how, scale=scale).fit(broken)
        assert "overflow" not in str(caught.value)
        whole = np.nan_to_num(of_numpy(np.nan).astype(float), nan=3.0)
        model = coterie.KMeans(2, missing=how, scale=scale).fit(whole)
        with pytest.raises(ValueError, match=place):
            quietly(model.predict, broken)


def test_message_about_an_empty_column():
    table = of_pandas([None] * 6, float)
    for how in ("mean", "median", "drop"):
        with pytest.raises(ValueError, match=r"Use .*X\.drop\(columns=\.\.\.\)") as caught:
            coterie.KMeans(2, missing=how).fit(table)
        assert "exclude" not in str(caught.value)


def test_file_errors_name_python_parameters(tmp_path):
    file = tmp_path / "words.csv"
    file.write_text("x,c\n1,red\n2,blue\n3,red\n")
    with pytest.raises(ValueError, match=r"leave this one out, or categorical='one-hot' to turn its words into numbers\.$"):
        coterie.KMeans(2).fit(str(file))
    file.write_text("x,c\n" + "".join(f"{row},name{row}\n" for row in range(40)))
    with pytest.raises(ValueError, match=r"40 different values in 40 rows are too many for categories\. Use X\.drop\(columns=\.\.\.\)"):
        coterie.KMeans(2, categorical="one-hot").fit(str(file))
    for text, said in (
        ("x,y\n1.5,2\n2,3\n", ""),
        ("0,1\n0.5,2\n3,4.5\n5,6.5\n", r"Use pandas\.read_csv\(path, header=0\) or pandas\.read_csv\(path, header=None\)\.$"),
        ("x;y\n1.5;2\n2;\"3,5\"\n", r"Use pandas\.read_csv\(path, decimal=','\) if the comma is the decimal sign"),
        ("1,2\na,4\n", "column 1, line 2: 'a' is not a number"),
    ):
        file.write_text(text)
        if not said:
            coterie.KMeans(2).fit(str(file))
            continue
        with pytest.raises(ValueError, match=said) as caught:
            coterie.KMeans(2).fit(str(file))
        assert not re.search("separator|decimal='comma'|header='|exclude|id_column|columns=", str(caught.value))


def test_messages_name_existing_parameters():
    known = {name for cls in class_names() for name in getattr(coterie, cls)._defaults()}
    calls = [coterie.compare, coterie.consensus, coterie.tune, coterie.report, coterie.ner.Tagger.__init__, coterie.KMeans.fit]
    for call in calls + [call for call in vars(coterie.ner).values() if inspect.isfunction(call)]:
        known |= set(inspect.signature(call).parameters)
    known |= {"auto", "row", _names.parameter("pairs")}  # marks of a value and a place; two parameters
    known |= {"curvature", "dim", "multiple", "unit"}  # of the command's geometry, which Python does not have
    unknown = set()
    for source in (ROOT / "coterie").rglob("*.cpp"):
        lines = [line for line in source.read_text().splitlines() if not line.strip().startswith("//")] if not source.name.endswith("_test.cpp") else []
        for text in re.findall(r'"(?:[^"\\\n]|\\.)*"', "\n".join(lines)):
            unknown |= {name for name in re.findall(r"`([a-z][a-z0-9_]*)", text) if _names.parameter(name) not in known}
    # _names.py replaces the names of options for reading files, as tested above.
    assert unknown <= {"columns", "decimal", "exclude", "header", "id_column", "label_column", "separator"}


def test_durations_are_an_error_and_periods_are_dates():
    waits = pandas.to_timedelta([1, 2, 3, 40, 50, 60], unit="h")
    for table in (of_pandas(waits), of_pandas(list(waits.to_pytimedelta()), object), polars.from_pandas(of_pandas(waits)), pyarrow.Table.from_pandas(of_pandas(waits))):
        for options in ({}, {"categorical": "one-hot"}, {"categorical": "drop"}, {"dates": True}):
            with pytest.raises(ValueError, match=r"column 'c' has dtype .*: durations are not accepted.*X\['c'\]\.dt\.total_seconds\(\)"):
                coterie.KMeans(2, **options).fit(table)
    months = pandas.period_range("2026-01", periods=6, freq="M")
    with pytest.raises(ValueError, match=r"column 'c' has dtype period\[M\].*dates=True"):
        coterie.KMeans(2, categorical="one-hot").fit(of_pandas(months))
    model = coterie.KMeans(2, dates=True).fit(of_pandas(months))
    expected = coterie.KMeans(2, dates=True).fit(of_pandas(months.to_timestamp()))
    np.testing.assert_array_equal(model.cluster_centers_, expected.cluster_centers_)


def test_missing_values_in_blocks():
    blocks = lambda: iter([of_pandas(NUMBERS, float)[:4], of_pandas(NUMBERS, float)[4:]])  # noqa: E731
    with pytest.raises(ValueError, match=PLACE):
        quietly(coterie.KMeans(2, scale="zscore").fit, blocks())
    assert quietly(coterie.KMeans(2, missing="drop").fit, blocks()).labels_[2] == -1
