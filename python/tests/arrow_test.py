"""The command reads Arrow files of pyarrow, pandas and polars, and finds the same labels as in the same table as csv."""
import io
import json
import subprocess

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.feather
import pytest


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(3)
    kinds = random.integers(0, 3, 600)
    return pandas.DataFrame({
        "id": [f"row {i}" for i in range(600)],
        "x": random.normal(kinds * 4, 1),
        "y": np.where(random.random(600) < 0.05, np.nan, random.normal(kinds * -3, 1)),
        "n": random.integers(-5, 5, 600).astype("int16"),
        "kind": pandas.Categorical(np.array(["oak", "elm", "ash, grey"])[kinds]),
        "seen": pandas.Timestamp("2026-11-23") + pandas.to_timedelta(random.integers(0, 10**6, 600), "s"),
    })


WORDS = ["-k", "3", "--seed", "1", "--missing", "median", "--dates", "--categorical", "one-hot", "--scale", "zscore", "--id-column", "id"]


def labels(command, source, folder, *words, stdin=None):
    out = folder / "labels.csv"
    done = subprocess.run(
        [command, "fit", "kmeans", source, *WORDS, *words, "--labels-out", out, "--quiet"], input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL,
        capture_output=True, timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode()
    return out.read_text()


def stream(table, compression=None):
    out = io.BytesIO()
    arrow = pyarrow.Table.from_pandas(table, preserve_index=False)
    with pyarrow.ipc.new_stream(out, arrow.schema, options=pyarrow.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(arrow, max_chunksize=100)
    return out.getvalue()


@pytest.fixture(scope="module")
def expected(command, table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("csv")
    table.to_csv(folder / "table.csv", index=False)
    return labels(command, folder / "table.csv", folder)


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_feather_file(command, table, expected, tmp_path, compression):
    table.to_feather(tmp_path / "table.feather", compression=compression, chunksize=100)
    assert labels(command, tmp_path / "table.feather", tmp_path) == expected


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_stream_on_standard_input(command, table, expected, tmp_path, compression):
    assert labels(command, "-", tmp_path, stdin=stream(table, compression)) == expected


def test_several_files(command, table, expected, tmp_path):
    for part in range(3):
        (tmp_path / f"part-{part}.arrows").write_bytes(stream(table[part * 200:(part + 1) * 200]))
    assert labels(command, tmp_path / "part-*.arrows", tmp_path) == expected


def test_polars_file(command, table, expected, tmp_path):
    frame = polars.from_pandas(table)
    frame.write_ipc(tmp_path / "old.arrow", compat_level=polars.CompatLevel.oldest(), compression="zstd")
    assert labels(command, tmp_path / "old.arrow", tmp_path) == expected
    frame.write_ipc(tmp_path / "views.arrow", compat_level=polars.CompatLevel.newest())
    done = subprocess.run([command, "fit", "kmeans", tmp_path / "views.arrow", *WORDS], capture_output=True, text=True, timeout=300)
    assert done.returncode == 3 and "compat_level=polars.CompatLevel.oldest()" in done.stderr and "read_feather" in done.stderr


def test_every_number_type(command, tmp_path):
    types = [pyarrow.int8(), pyarrow.uint8(), pyarrow.int16(), pyarrow.uint16(), pyarrow.int32(), pyarrow.uint32(), pyarrow.int64(), pyarrow.uint64(),
             pyarrow.float16(), pyarrow.float32(), pyarrow.float64(), pyarrow.decimal128(21, 1), pyarrow.bool_()]
    values = [1, 0, 1, 1, 0, 0]
    arrays = [pyarrow.array(np.array(values, np.float16) if kind == pyarrow.float16() else values).cast(kind) for kind in types]
    # As slices, whose buffers have an offset.
    arrow = pyarrow.table(dict(zip(map(str, types), arrays)))
    with pyarrow.ipc.new_file(tmp_path / "t.arrow", arrow.schema) as writer:
        writer.write_table(arrow.slice(1, 4))
    done = subprocess.run([command, "fit", "kmeans", tmp_path / "t.arrow", "-k", "2", "--json", "--quiet"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    # 0 1 1 0: two groups of equal points, so the objective is 0.
    assert document["objective"] == 0


def test_pandas_index_is_not_a_column(command, table, tmp_path):
    some = table[["x", "n"]][table.n > 0]
    pyarrow.feather.write_feather(pyarrow.Table.from_pandas(some), tmp_path / "some.feather")
    done = subprocess.run([command, "fit", "kmeans", tmp_path / "some.feather", "-k", "2", "--json"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "index of pandas" in done.stderr, done.stderr


def test_list_column_is_an_error(command, tmp_path):
    pyarrow.feather.write_feather(pyarrow.table({"x": [1.0, 2.0], "tags": [[1], [2, 3]]}), tmp_path / "t.feather")
    done = subprocess.run([command, "fit", "kmeans", tmp_path / "t.feather", "-k", "2"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 3 and "column 'tags'" in done.stderr and "list" in done.stderr
    done = subprocess.run([command, "fit", "kmeans", tmp_path / "t.feather", "-k", "2", "--exclude", "tags", "--quiet"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def said_of(command, source, folder, *words, stdin=None):
    """(text on stderr with FILE for the source, content of the file of labels)"""
    out = folder / "labels.csv"
    done = subprocess.run([command, "fit", "kmeans", source, "-k", "2", *words, "--labels-out", out], input=stdin, capture_output=True, timeout=300)
    said = done.stderr.decode().replace("standard input" if source == "-" else str(source), "FILE")
    return said, out.read_text() if done.returncode == 0 else None


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_unnamed_column_holds_row_names(command, table, tmp_path, name):
    some = pandas.DataFrame({name: range(600), "x": table.x, "n": table.n})
    some.to_csv(tmp_path / "t.csv", index=False)
    some.to_feather(tmp_path / "t.feather")
    expected = said_of(command, tmp_path / "t.csv", tmp_path)
    assert "so it is taken as row names and not used" in expected[0]
    assert said_of(command, tmp_path / "t.feather", tmp_path) == expected
    assert said_of(command, "-", tmp_path, stdin=stream(some)) == expected


@pytest.mark.parametrize("unit, digits", [("ms", 3), ("us", 6), ("ns", 9)])
def test_ids_keep_fractions_of_seconds(command, tmp_path, unit, digits):
    steps = np.arange(-4, 8) * 5
    some = pandas.DataFrame({"at": (np.datetime64("1970-01-01T00:00:01", unit) + steps.astype(f"m8[{unit}]")), "x": steps % 7})
    some.to_feather(tmp_path / "t.feather")
    _, labels = said_of(command, tmp_path / "t.feather", tmp_path, "--id-column", "at")
    names = [line.split(",")[0] for line in labels.splitlines()[1:]]
    assert names == [str(moment).replace("T", " ").removesuffix("." + "0" * digits) for moment in some["at"].to_numpy()]


def test_messages_suggest_only_options_for_arrow(command, tmp_path):
    pyarrow.feather.write_feather(pyarrow.table({"x": [1.0, 2, 3], "amount": ["0,5", "1,5", "2,5"]}), tmp_path / "t.feather")
    said, _ = said_of(command, tmp_path / "t.feather", tmp_path)
    assert "'0,5' is not a number. Write a decimal point" in said and "--decimal" not in said
