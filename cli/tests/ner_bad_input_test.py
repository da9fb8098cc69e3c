"""Wrong input to coterie ner: an error that names the file, the place and what is accepted, without output files, or the result in the guide."""

import json
import pathlib
import shutil

import pytest

from support import document, run

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ENCODER = ROOT / "tests" / "ner" / "bert"
SOUND = "plain B-A\nwords O\n\nstop O\ntext B-B\n"


def jsonl(text, marks):
    return json.dumps({"text": text, "label": marks}) + "\n"


@pytest.mark.parametrize("name, content, said", [
    ("s.conll", b"plain B-A\nwords X-B\n", ["s.conll: line 2", "'X-B'"]),
    ("s.conll", b"plain B-A\nwords O\nstop I-B\n", ["s.conll: line 3", "'I-B'"]),
    ("s.conll", b"\n\n \n\n", ["s.conll: there are no words"]),
    ("s.conll", b"plain B-A\nw\xffrds O\n", ["s.conll: line 2", "not UTF-8"]),
    ("s.jsonl", jsonl("plain words", [[0, 5, "A"]]).encode() + b'{"text": "w\xc0rds", "label": []}\n', ["s.jsonl: line 2", "not UTF-8"]),
    ("s.jsonl", jsonl("plain words", [[0, 5, "A"], [3, 8, "B"]]).encode(), ["s.jsonl: line 1", "[0, 5, A] and span [3, 8, B] overlap"]),
    ("s.jsonl", jsonl("plain words", [[0, 50, "A"]]).encode(), ["s.jsonl: line 1", "[0, 50, A]", "11 code points"]),
    ("s.jsonl", jsonl("plain words", []).encode(), ["s.jsonl", "no mention"]),
    ("s.jsonl", b'{"text": "plain words"}\n', ["s.jsonl: line 1", "not annotated"]),
    ("s.conll", b"plain B-A\nwords I-A\n", ["s.conll", "no word outside"]),
])
def test_invalid_support_files(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    done = run("ner", "adapt", tmp_path / name, "--vectors", ENCODER, "--model-out", tmp_path / "model", "--quiet", code=3)
    for words in said:
        assert words in done.err
    assert done.out == "" and [path.name for path in tmp_path.iterdir()] == [name]


def test_support_sentence_missing_from_corpus(tmp_path):
    (tmp_path / "s.conll").write_text(SOUND)
    (tmp_path / "other.txt").write_text("plain words\nwords stop\n")
    run("ner", "encode", tmp_path / "other.txt", ENCODER, "--out", tmp_path / "other.npy", "--quiet")
    done = run("ner", "adapt", tmp_path / "s.conll", "--other", tmp_path / "other.txt", "--vectors", tmp_path / "other.npy", "--model-out", tmp_path / "model", "--quiet", code=3)
    assert "s.conll: line 4: the sentence does not occur in" in done.err and not (tmp_path / "model").exists()


@pytest.fixture(scope="module")
def tagger(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tagger")
    (folder / "s.conll").write_text(SOUND)
    run("ner", "adapt", folder / "s.conll", "--vectors", ENCODER, "--model-out", folder / "t", "--quiet")
    return folder / "t"


def test_unknown_types_count_as_missed(tagger, tmp_path):
    (tmp_path / "gold.conll").write_text("plain B-NEW\nwords O\n")
    scores = document("ner", "tag", tagger, tmp_path / "gold.conll", "--quiet")["scores"]
    assert scores["types"]["NEW"]["marked"] == 1 and scores["types"]["NEW"]["found"] == 0 and scores["micro"]["marked"] == 1


def test_empty_lines_and_documents_are_kept(tagger, tmp_path):
    lines = [{"text": "plain words", "id": 1}, {"text": "", "id": 2}, {"text": " \n ", "id": 3}, {"text": "stop", "id": 4}]
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(line) for line in lines[:2]) + "\n\n\n" + "\n".join(json.dumps(line) for line in lines[2:]) + "\n")
    written = [json.loads(line) for line in run("ner", "tag", tagger, tmp_path / "a.jsonl", "--out", "-", "--quiet").out.splitlines()]
    assert [(line["text"], line["id"]) for line in written] == [(line["text"], line["id"]) for line in lines]
    (tmp_path / "a.conll").write_text("\n\nplain O\n\n\n \nstop O\n\n")
    assert document("ner", "tag", tagger, tmp_path / "a.conll", "--out", tmp_path / "b.conll", "--quiet")["scores"]["micro"]["marked"] == 0
    assert [line.split("\t")[0] for line in (tmp_path / "b.conll").read_text().split("\n")] == ["plain", "", "stop", "", ""]


def test_very_long_sentence(tagger, tmp_path):
    words = ["plain", "words", "stop"] * 3334
    (tmp_path / "long.conll").write_text("".join(f"{word}\tO\n" for word in words))
    run("ner", "tag", tagger, tmp_path / "long.conll", "--out", tmp_path / "found.conll", "--report", tmp_path / "page.html", "--quiet")
    assert [line.split("\t")[0] for line in (tmp_path / "found.conll").read_text().split("\n") if line] == words
    text = (tmp_path / "page.html").read_text()
    assert "0 of 1 sentences are shown" in text and "1 is left out for having more than 2,000 words" in text


def test_encoder_config_contradicts_tensors(tmp_path):
    shutil.copytree(ENCODER, tmp_path / "encoder")
    config = json.loads((tmp_path / "encoder" / "config.json").read_text())
    (tmp_path / "encoder" / "config.json").write_text(json.dumps({**config, "hidden_size": 48}))
    (tmp_path / "s.conll").write_text(SOUND)
    done = run("ner", "adapt", tmp_path / "s.conll", "--vectors", tmp_path / "encoder", "--model-out", tmp_path / "model", "--quiet", code=3)
    assert "model.safetensors" in done.err and "config.json says" in done.err and not (tmp_path / "model").exists()


def test_predict_rejects_a_tagger(tagger):
    assert "this is a tagger of named entities, not a model of clusters. Use it with ner tag." in run("predict", tagger, "data:iris", code=3).err


def test_input_vectors_are_not_overwritten(tmp_path):
    (tmp_path / "s.conll").write_text(SOUND)
    (tmp_path / "v.csv").write_text("plain 1 2\nwords 3 4\nstop 5 6\ntext 7 8\n")
    before = (tmp_path / "v.csv").read_text()
    done = run("ner", "encode", tmp_path / "s.conll", tmp_path / "v.csv", "--out", tmp_path / "v.csv", code=2)
    assert "is an input, and would be overwritten" in done.err and (tmp_path / "v.csv").read_text() == before
    (tmp_path / "v.txt").write_text("plain,1,2\nwords,3,4\n")
    done = run("ner", "adapt", tmp_path / "s.conll", "--vectors", tmp_path / "v.txt", "--model-out", tmp_path / "t", code=3)
    assert "v.txt: line 1: there are no numbers. Write a word and its numbers" in done.err
