"""Files and streams that claim or need too much: depth, size and counts have limits, and messages stay short."""

import io
import json
import os
import struct
import subprocess
import threading
import time
import zipfile

import numpy as np
import pytest

from support import COMMAND, document, run, write_csv


def safetensors(path, **arrays):
    header, data = {}, b""
    for name, array in arrays.items():
        header[name] = {"dtype": "F64", "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.astype("<f8").tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


@pytest.fixture
def long_folder(tmp_path):
    folder = tmp_path / ("folder" * 30)
    folder.mkdir()
    return folder


ARRAYS = {
    "labels": (["evaluate", "{}", "data:iris"], "inf is not a label"),
    "partial labels": (["fit", "kmeans", "data:iris", "-k", "3", "--partial-labels", "{}"], "inf is not a label"),
    "truth": (["fit", "kmeans", "data:iris", "-k", "3", "--truth", "{}"], "inf is not a label"),
    "weights": (["fit", "kmeans", "data:iris", "-k", "3", "--weights", "{}"], "infinity is not a finite number"),
    "points": (["fit", "kmeans", "{}", "-k", "3"], "infinity is not a finite number"),
}


@pytest.mark.parametrize("ending", ["safetensors", "npz", "npy", "h5"])
@pytest.mark.parametrize("use", ARRAYS)
def test_messages_name_files_with_long_paths(long_folder, use, ending):
    values = np.where(np.arange(150) == 1, np.inf, 0.0)
    path = long_folder / f"a.{ending}"
    if ending == "safetensors":
        safetensors(path, t=values)
    elif ending == "npz":
        np.savez(path, t=values)
    elif ending == "npy":
        np.save(path, values)
    else:
        with pytest.importorskip("h5py").File(path, "w") as file:
            file["t"] = values
    named = f"{path}" + ("" if ending == "npy" else ":/t" if ending == "h5" else ":t")
    words, says = ARRAYS[use]
    err = run(*[word.replace("{}", named) for word in words], code=3).err
    assert f"{named}: column 1, row 2" in err and says in err


def nested(depth):
    return "[" * depth + "]" * depth


@pytest.mark.parametrize("depth, code", [(60, 0), (100_000, 3)])
def test_nesting_limit_of_json_lines(tmp_path, depth, code):
    lines = [json.dumps({"text": "Ada met Bob", "spans": [[0, 3, "PER"]]})[:-1] + f', "x": {nested(depth)}}}'] * 3
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    done = run("ner", "evaluate", "a.jsonl", "a.jsonl", cwd=tmp_path, code=code)
    assert code == 0 or "a.jsonl: line 1: the document exceeds the limit of 64 nested levels" in done.err


@pytest.mark.parametrize("text", [
    '{"a": ' + nested(100_000) + "}", '{"a":' * 100_000 + "1" + "}" * 100_000, "[" * 100_000,
], ids=["lists", "objects", "unclosed"])
def test_nesting_limit_of_json_headers(tmp_path, text):
    raw = text.encode()
    (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(raw)) + raw)
    for words in (["fit", "kmeans", "a.safetensors", "-k", "2"], ["info", "a.safetensors"]):
        run(*words, cwd=tmp_path, code=3)
    folder = tmp_path / "encoder"
    folder.mkdir()
    (folder / "config.json").write_text(text)
    (tmp_path / "a.conll").write_text("Ada\tB-PER\nmet\tO\n")
    err = run("ner", "encode", "a.conll", "encoder", "--out", "x.npy", cwd=tmp_path, code=3).err
    assert "config.json" in err and "nested levels" in err


def test_limit_on_number_of_json_values(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a b", "x": [' + "0," * 5_000_001 + "0]}\n")
    assert "5000000 values" in run("ner", "evaluate", "a.jsonl", "a.jsonl", cwd=tmp_path, code=3).err


def most_memory(*words, code, cwd):
    """The largest resident size of the command, in MiB."""
    process = subprocess.Popen([COMMAND, *words], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    err = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == code, err
    return usage.ru_maxrss / 1024, err


def test_npz_is_not_inflated_beyond_its_header(tmp_path):
    head = io.BytesIO()
    np.save(head, np.zeros((10, 1)))
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as member:
        member.write(head.getvalue()[:128])
        for _ in range(1000):
            member.write(bytes(1 << 20))
    memory, err = most_memory("fit", "kmeans", "a.npz", "-k", "2", code=3, cwd=tmp_path)
    assert "the header announces 10 x 1" in err and memory < 200


def test_encoder_layer_count_is_checked_against_tensors(tmp_path):
    folder = tmp_path / "encoder"
    folder.mkdir()
    shape = dict(model_type="bert", hidden_size=2, num_attention_heads=1, intermediate_size=2, max_position_embeddings=8, vocab_size=4,
                 type_vocab_size=1, num_hidden_layers=10_000_000)
    (folder / "config.json").write_text(json.dumps(shape))
    (folder / "tokenizer_config.json").write_text("{}")
    (folder / "vocab.txt").write_text("[UNK]\n[CLS]\n[SEP]\na\n")
    safetensors(folder / "model.safetensors", t=np.zeros(2))
    (tmp_path / "a.conll").write_text("Ada\tB-PER\nmet\tO\n")
    memory, err = most_memory("ner", "encode", "a.conll", "encoder", "--out", "x.npy", code=3, cwd=tmp_path)
    assert "too few for the 10000000 layers" in err and memory < 200


def test_many_columns_take_linear_time(tmp_path):
    def seconds(columns):
        with open(tmp_path / "a.csv", "w") as file:
            file.write(",".join(f"c{j}" for j in range(columns)) + "\n")
            for i in range(4):
                file.write(",".join(str((7 * i + j) % 10) for j in range(columns)) + "\n")
        run("fit", "kmeans", "a.csv", "-k", 2, "--model-out", "m", "--seed", 1, cwd=tmp_path)
        before = time.monotonic()
        run("predict", "m", "a.csv", "--labels-out", "l.csv", cwd=tmp_path)
        run("fit", "kmeans", "a.csv", "-k", 2, cwd=tmp_path)
        return time.monotonic() - before

    few = seconds(20_000)
    assert seconds(200_000) < 40 * max(few, 0.1)


@pytest.mark.parametrize("words", [
    ["fit", "kmeans", "/dev/zero", "-k", "2"], ["fit", "kmeans", "data:iris", "-k", "3", "--truth", "/dev/zero"],
    ["fit", "kmeans", "data:iris", "-k", "3", "--pairs", "/dev/zero"], ["evaluate", "/dev/zero", "data:iris"], ["info", "/dev/zero"],
    ["ner", "evaluate", "/dev/zero", "/dev/zero"],
])
def test_device_files_are_errors(words):
    err = run(*words, code=3).err
    assert "/dev/zero: this is a device. Give a file or a pipe" in err


def test_device_as_standard_input_is_an_error():
    with open("/dev/zero", "rb") as zeros:
        done = subprocess.run([COMMAND, "fit", "kmeans", "-", "-k", "2"], stdin=zeros, capture_output=True, timeout=60)
    assert done.returncode == 3 and b"standard input: this is a device" in done.stderr


def test_line_length_limit():
    zeros = subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE)
    try:
        done = subprocess.run([COMMAND, "fit", "kmeans", "-", "-k", "2"], stdin=zeros.stdout, capture_output=True, timeout=120)
    finally:
        zeros.kill()
        zeros.wait()
    assert done.returncode == 3 and b"a line has more than 268435456 bytes" in done.stderr


def test_points_from_a_named_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_text("1,2\n3,4\n50,60\n"))
    writer.start()
    assert document("fit", "kmeans", "pipe", "-k", 2, cwd=tmp_path)["n"] == 3
    writer.join()


def test_file_truncated_while_reading(tmp_path):
    # The points are read first. They are truncated while the command waits for the truth, which comes through a pipe.
    rows = np.random.default_rng(1).normal(size=(200_000, 8))
    np.save(tmp_path / "a.npy", rows)
    os.mkfifo(tmp_path / "truth.csv")
    process = subprocess.Popen([COMMAND, "fit", "kmeans", "a.npy", "-k", "3", "--truth", "truth.csv", "--max-iterations", "3"], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with open(tmp_path / "truth.csv", "w") as truth:  # blocks until the command opens the pipe
        os.truncate(tmp_path / "a.npy", 1000)
        truth.write("label\n" + "0\n1\n" * 100_000)
    out, err = process.communicate(timeout=120)
    assert process.returncode in (0, 4), (process.returncode, err)
    assert b"ACC" in out


def test_long_names_are_shortened_in_messages(tmp_path):
    name = "x" * 1_000_000
    rows = [[i, i * i % 7] for i in range(30)]
    write_csv(tmp_path / "a.csv", rows, [name, "b"])
    write_csv(tmp_path / "b.csv", [*rows, ["", 3]], [name, "b"])
    write_csv(tmp_path / "c.csv", rows, ["z", "b"])
    write_csv(tmp_path / "d.csv", [[i, "oak"] for i in range(30)], ["b", name])
    write_csv(tmp_path / "e.csv", [["", i] for i in range(30)], [name, "b"])
    fit = ["fit", "kmeans", "-k", "3"]
    for code, words in [(0, [*fit, "a.csv", "--model-out", "m"]), (0, ["describe", "m", "a.csv"]), (3, [*fit, "b.csv"]), (3, ["predict", "m", "c.csv"]),
                        (3, [*fit, "d.csv"]), (2, [*fit, "a.csv", "--exclude", "nowhere"]), (0, ["info", "m"]),
                        (3, [*fit, "e.csv", "--missing", "mean"]), (0, [*fit, "b.csv", "--missing", "drop"])]:
        done = run(*words, cwd=tmp_path, code=code)
        assert len(done.out) < 6000 and len(done.err) < 3000, (words, len(done.out), len(done.err))


def test_all_rank_placeholders_in_a_name_are_replaced(tmp_path):
    run("fit", "kmeans", "data:iris", "-k", 3, "--labels-out", "l-{rank}-{rank}.npy", cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["l-0-0.npy"]


def test_small_memory_is_not_printed_as_0(tmp_path):
    err = run("fit", "kmeans", "data:iris", "-k", 3, "--memory", "1M", cwd=tmp_path).err
    assert "memory is available" in err and " 0 MiB" not in err


def test_empty_column_stays_numeric(tmp_path):
    write_csv(tmp_path / "a.csv", [[i, 2 * i, "nan"] for i in range(6)], ["a", "b", "empty"])
    run("fit", "kmeans", "a.csv", "-k", 2, "--exclude", "empty", "--table-out", "x.arrow", cwd=tmp_path)
    err = run("fit", "kmeans", "x.arrow", "-k", 2, "--missing", "mean", cwd=tmp_path, code=3).err
    assert "column 'empty': this column has no value in any row. Use --exclude to leave it out" in err
