"""coterie ner."""

import json
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

from support import COMMAND, document, run, texts

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ENCODER = ROOT / "tests" / "ner" / "bert"
VOYAGES = ROOT / "data" / "voyages"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A support and a tagger from the shipped corpus."""
    folder = tmp_path_factory.mktemp("ner")
    run("ner", "sample", VOYAGES / "voyages.conll", "--shots", 3, "--out", folder / "support.conll", "--quiet")
    run("ner", "adapt", folder / "support.conll", "--other", VOYAGES / "voyages.conll", "--vectors", VOYAGES / "voyages.npy",
        "--model-out", folder / "tagger.coterie", "--quiet")
    return folder


def mentions_in(path):
    """(sentence, first word, word after the last, type) of a file of BIO tags, read without coterie."""
    out, sentence, word, open_mention = set(), 0, 0, None
    for line in [*pathlib.Path(path).read_text().split("\n"), ""]:
        tag = line.split("\t")[1] if line else "O"
        if open_mention and not tag.startswith("I-"):
            out.add((sentence, open_mention[0], word, open_mention[1]))
            open_mention = None
        if tag.startswith("B-"):
            open_mention = (word, tag[2:])
        word += 1
        if not line:
            sentence, word = sentence + 1, 0
    return out


def test_scores_agree_with_counts_from_files(made, tmp_path):
    found = tmp_path / "found.conll"
    tagged = document("ner", "tag", made / "tagger.coterie", VOYAGES / "voyages.conll", "--vectors", VOYAGES / "voyages.npy", "--out", found, "--quiet")
    marked, there = mentions_in(VOYAGES / "voyages.conll"), mentions_in(found)
    scores = document("ner", "evaluate", found, VOYAGES / "voyages.conll", "--quiet")
    assert scores["micro"] == tagged["scores"]["micro"]
    assert (scores["micro"]["marked"], scores["micro"]["found"], scores["micro"]["right"]) == (len(marked), len(there), len(marked & there))
    for kind, counts in scores["types"].items():
        assert counts["right"] == len({mention for mention in marked & there if mention[3] == kind})
    assert scores["micro"]["f1"] > 0.4


def test_adapt_reports_the_chosen_method(made):
    told = document("ner", "adapt", made / "support.conll", "--other", VOYAGES / "voyages.conll", "--vectors", VOYAGES / "voyages.npy", "--quiet")
    assert set(told["compared"]) == {"k-means", "support-space", "discriminant", "logistic"}
    largest = max(counts["f1"] for counts in told["compared"].values())
    assert (told["compared"][told["method"]]["f1"] == largest) == told["chosen_because"].startswith("largest F1")
    assert told["outside_share"] is None and "each type needs 5" in told["share_origin"]
    assert told["calibrated_on"] > 20
    tags = [line.split("\t")[1] for line in (made / "support.conll").read_text().split("\n") if line]
    assert told["support_outside_share"] == pytest.approx(tags.count("O") / len(tags), abs=1e-12)


def test_reported_outside_shares(made, tmp_path):
    words = ["ner", "adapt", made / "support.conll", "--other", VOYAGES / "voyages.conll", "--vectors", VOYAGES / "voyages.npy", "--quiet"]
    given = document(*words, "--method", "k-means", "--outside-share", "0.8:0.9", "--model-out", tmp_path / "t")
    assert given["outside_share"] == [0.8, 0.9] and given["share_origin"] == "as given"
    kept = document("info", tmp_path / "t")
    assert kept["outside_share"] == [0.8, 0.9] and kept["support_outside_share"] == given["support_outside_share"]
    own = f"{given['support_outside_share']:.4f} in the support"
    assert f"0.8000 to 0.9000; {own}" in run("info", tmp_path / "t").out
    told = run(*words, "--method", "discriminant", "--outside-share", "0.85").out
    assert f"0.8500, as given; discriminant uses it only for probabilities; {own}" in " ".join(told.split())
    assert document("info", made / "tagger.coterie")["outside_share"] is None and f"not known; {own}" in run("info", made / "tagger.coterie").out


def test_vectors_are_the_same_for_any_number_of_threads(tmp_path):
    text = tmp_path / "a.txt"
    text.write_text("Plain words stop. " * 300)
    for threads in (1, 2, 8):
        run("ner", "encode", text, ENCODER, "--layer", "last", "--out", tmp_path / f"{threads}.npy", "--threads", threads, "--quiet")
    assert (tmp_path / "1.npy").read_bytes() == (tmp_path / "2.npy").read_bytes() == (tmp_path / "8.npy").read_bytes()
    assert np.load(tmp_path / "1.npy").shape == (1200, 24)


def test_offsets_are_code_points(tmp_path):
    support = tmp_path / "support.jsonl"
    text = "\u00e9\U0001f600 plain stop. words play text."
    support.write_text(json.dumps({"text": text, "label": [[3, 8, "A"], [21, 25, "B"]]}) + "\n"
                       + json.dumps({"text": "text plain words.", "label": [[5, 10, "A"]], "id": 7}) + "\n")
    run("ner", "adapt", support, "--vectors", ENCODER, "--method", "nearest-word", "--model-out", tmp_path / "t", "--quiet")
    done = run("ner", "tag", tmp_path / "t", support, "--out", "-", "--quiet")
    first, second = [json.loads(line) for line in done.out.splitlines()]
    assert [first["text"][span["start"] : span["end"]] for span in first["spans"]] == ["plain", "play"]
    assert [(span["start"], span["end"], span["label"]) for span in second["spans"]] == [(5, 10, "A")]
    assert second["id"] == 7 and second["spans"][0]["margin"] > 0


def test_info_of_a_tagger(made):
    told = document("info", made / "tagger.coterie")
    assert told["method"] == "ner-tagger" and set(told["types"]) == {"PERSON", "PLACE", "SHIP"} and told["sharpness"] > 0
    text = run("info", made / "tagger.coterie").out
    assert "tagger of named entities, adapted by" in text and "PERSON, PLACE, SHIP" in text and "prototypes" in text


def test_suggest_writes_a_corpus(made, tmp_path):
    bare = tmp_path / "bare.conll"
    bare.write_text("".join(line.split("\t")[0] + "\n" for line in (VOYAGES / "voyages.conll").read_text().split("\n")))
    told = document("ner", "suggest", made / "tagger.coterie", bare, "--vectors", VOYAGES / "voyages.npy", "--count", 4, "--out", tmp_path / "next.conll", "--quiet")
    assert [one["type"] for one in told["sentences"]] == ["PERSON", "PLACE", "SHIP", "PERSON"]
    written = [" ".join(words.split("\n")) for words in (tmp_path / "next.conll").read_text().strip().split("\n\n")]
    assert written == [one["text"] for one in told["sentences"]]


SENTENCES = ["Plain words play.", "Text stops here.", "Words stop.", "Play plain text.", "Stop words."]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A tagger, and one annotated text in every format."""
    folder = tmp_path_factory.mktemp("formats")
    (folder / "s.conll").write_text("plain B-A\nwords O\n\nstop O\ntext B-B\n")
    run("ner", "adapt", folder / "s.conll", "--vectors", ENCODER, "--model-out", folder / "t", "--quiet")
    (folder / "plain.txt").write_text("\n".join(SENTENCES) + "\n")
    (folder / "wrapped.txt").write_text("\n\n " + " ".join(SENTENCES).replace(" here", "\n  here"))
    (folder / "brat.txt").write_text("\n".join(SENTENCES) + "\n")
    (folder / "brat.ann").write_text("T1\tA 0 5\tPlain\nT2\tB 18 22\tText\n")
    lines = [{"text": text, "label": []} for text in SENTENCES]
    lines[0]["label"], lines[1]["label"] = [[0, 5, "A"]], [[0, 4, "B"]]
    (folder / "lines.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "one.jsonl").write_text(json.dumps({"text": " ".join(SENTENCES), "label": [[0, 5, "A"], [18, 22, "B"]]}) + "\n")
    tags = {0: "B-A", 4: "B-B"}
    words = [word for text in SENTENCES for word in text.replace(".", " . ").split()]
    (folder / "columns.conll").write_text("".join(f"{word}\t{tags.get(number, 'O')}\n" + ("\n" if word == "." else "") for number, word in enumerate(words)))
    return folder


@pytest.mark.parametrize("gold", ["brat.ann", "lines.jsonl", "one.jsonl", "columns.conll"])
@pytest.mark.parametrize("tagged", ["plain.txt", "wrapped.txt", "brat.ann", "lines.jsonl", "one.jsonl", "columns.conll"])
def test_evaluate_accepts_files_written_by_tag(small, tmp_path, tagged, gold):
    out = tmp_path / ("found.conll" if tagged.endswith(".conll") else "found.jsonl")
    run("ner", "tag", small / "t", small / tagged, "--out", out, "--quiet")
    scores = document("ner", "evaluate", out, small / gold, "--quiet")["micro"]
    assert scores["marked"] == 2 and scores["found"] > 0
    if tagged == gold:
        assert scores == document("ner", "tag", small / "t", small / tagged, "--quiet")["scores"]["micro"]


@pytest.mark.parametrize("name", ["plain.txt", "bare.jsonl", "bare.conll"])
def test_suggest_writes_the_reported_number_of_sentences(small, tmp_path, name):
    bare = tmp_path / name
    if name == "plain.txt":
        bare.write_text("\n".join(SENTENCES))
    elif name == "bare.jsonl":
        bare.write_text(json.dumps({"text": " ".join(SENTENCES), "id": 3}) + "\n")
    else:
        bare.write_text("".join(line.split("\t")[0] + "\n" for line in (small / "columns.conll").read_text().split("\n")))
    for count in (1, 3):
        out = tmp_path / ("next" + bare.suffix.replace("txt", "jsonl"))
        told = document("ner", "suggest", small / "t", bare, "--count", count, "--out", out, "--quiet")
        if bare.suffix == ".conll":
            written = [" ".join(words.split("\n")) for words in out.read_text().strip().split("\n\n")]
        else:
            written = [json.loads(line)["text"] for line in out.read_text().splitlines()]
        assert written == [one["text"] for one in told["sentences"]] and len(written) == count


def test_sample_writes_only_the_chosen_sentences_of_a_document(tmp_path):
    """If the other sentences were written, they would be read as sentences without mentions."""
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": "Ada left. Bob stayed. Cid slept.", "label": [[0, 3, "P"], [10, 13, "P"], [22, 25, "P"]]}) + "\n")
    run("ner", "sample", tmp_path / "a.jsonl", "--shots", 1, "--out", tmp_path / "s.jsonl", "--quiet")
    (line,) = map(json.loads, (tmp_path / "s.jsonl").read_text().splitlines())
    assert line["text"] in ("Ada left.", "Bob stayed.", "Cid slept.") and [span["text"] for span in line["spans"]] == [line["text"][:3]]


def test_annotation_inside_a_word_is_reported(small, tmp_path):
    (tmp_path / "s.jsonl").write_text(json.dumps({"text": "plain words stop", "label": [[0, 3, "A"]]}) + "\n")
    words = ["ner", "adapt", tmp_path / "s.jsonl", "--vectors", ENCODER, "--method", "nearest-word"]
    assert "s.jsonl: line 1: span [0, 3, A] ends inside the word 'plain', which is split there." in run(*words).err
    assert any("inside the word 'plain'" in note for note in texts(document(*words, "--quiet")["notes"]))
    assert run(*words, "--quiet").err == ""


@pytest.mark.parametrize("words, code, said", [
    (["adapt", "{support}"], 2, "--vectors: the source of the word vectors is missing"),
    (["adapt", "{support}", "--vectors", "{voyages}.npy"], 3, "voyages.npy: 494 rows for the"),
    (["adapt", "{support}", "--vectors", "{encoder}", "--layer", "9"], 2, "--layer: '9' is not accepted. Use auto, last, middle, or a number from 0 to 3"),
    (["adapt", "{support}", "--vectors", "{encoder}", "--outside-share", "2"], 2, "--outside-share: '2' is not accepted"),
    (["adapt", "{strange}", "--other", "{voyages}.conll", "--vectors", "{voyages}.npy"], 3, "strange.conll: line 1: the sentence does not occur in"),
    (["adapt", "{broken}", "--vectors", "{encoder}"], 3, "broken.conll: line 3: tag 'I-B'"),
    (["tag", "{tagger}", "{voyages}.conll"], 2, "--vectors FILE.npy"),
    (["tag", "{support}", "{voyages}.conll"], 3, "support.conll"),
    (["tag", "{tagger}", "{voyages}.conll", "--vectors", "{encoder}"], 3, "24 columns, but the tagger needs 48"),
    (["suggest", "{tagger}", "{voyages}.conll", "--vectors", "{voyages}.npy"], 3, "voyages.conll: every sentence is annotated"),
    (["sample", "{voyages}.conll", "--shots", "0"], 2, "--shots: 0 is not accepted"),
    (["sample", "{voyages}.conll", "--shots", "13"], 3, "type SHIP has 12 mentions"),
    (["evaluate", "{support}", "{voyages}.conll"], 3, "the text differs from"),
    (["encode", "{voyages}.conll", "{encoder}"], 2, "--out: the output file is missing"),
    (["encode", "{voyages}.conll", "nowhere", "--out", "{out}.npy"], 3, "nowhere"),
    (["encode", "{voyages}.conll", "{encoder}", "--out", "{out}.txt"], 2, ".npy"),
])
def test_bad_arguments_and_files(made, tmp_path, words, code, said):
    (tmp_path / "strange.conll").write_text("never O\nseen B-X\n")
    (tmp_path / "broken.conll").write_text("a B-A\nb I-A\nc I-B\nd B-B\n")
    places = {"support": made / "support.conll", "voyages": VOYAGES / "voyages", "encoder": ENCODER, "strange": tmp_path / "strange.conll",
              "broken": tmp_path / "broken.conll", "tagger": made / "tagger.coterie", "out": tmp_path / "out"}
    done = run("ner", *[word.format(**places) for word in words], "--quiet", code=code)
    assert said in done.err
    assert done.out == "" and not list(tmp_path.glob("out*"))


def test_missing_encoder_of_a_tagger(tmp_path):
    encoder = tmp_path / "encoder"
    shutil.copytree(ENCODER, encoder)
    (tmp_path / "s.conll").write_text("plain B-A\nwords O\n\nstop O\ntext B-A\n")
    run("ner", "adapt", tmp_path / "s.conll", "--vectors", encoder, "--model-out", tmp_path / "t", "--quiet")
    run("ner", "tag", tmp_path / "t", tmp_path / "s.conll", "--quiet")
    shutil.rmtree(encoder)
    assert str(encoder) in run("ner", "tag", tmp_path / "t", tmp_path / "s.conll", "--quiet", code=3).err


def test_trained_encoder_uses_its_last_layer(tmp_path):
    for name, types in (("one", "AB"), ("two", "CD")):
        (tmp_path / f"{name}.conll").write_text(
            f"plain\tB-{types[0]}\nwords\tO\nstop\tO\n\ntext\tB-{types[1]}\nstop\tO\nwords\tO\n\n" * 40)
    words = ["ner", "train-source", ENCODER, tmp_path / "one.conll", tmp_path / "two.conll", "--epochs", 3, "--learning-rate", 1e-3, "--quiet"]
    lacking = run(*words, "--out", tmp_path / "none", code=1, env={"COTERIE_DEEP_LIBRARY": str(tmp_path / "nothing.so")})
    assert "training an encoder needs LibTorch" in lacking.err and not (tmp_path / "none").exists()
    assert "--out: the output folder is missing" in run(*words, code=2).err
    assert "CORPUS is missing" in run("ner", "train-source", ENCODER, "--out", tmp_path / "x", code=2).err
    tried = subprocess.run([COMMAND, *map(str, words), "--out", tmp_path / "tried"], capture_output=True)
    if b"libtorch-dev" in tried.stderr:
        pytest.skip("LibTorch is not here")
    told = document(*words, "--out", tmp_path / "trained")
    assert told["words"] == 480 and told["words_trained"] == 1440 and told["words_per_second"] > 0
    assert told["loss_per_epoch"][2] < told["loss_per_epoch"][0]
    assert json.loads((tmp_path / "trained" / "config.json").read_text())["coterie_trained_on_tags"] is True
    run("ner", "encode", tmp_path / "one.conll", tmp_path / "trained", "--out", tmp_path / "auto.npy", "--quiet")
    run("ner", "encode", tmp_path / "one.conll", tmp_path / "trained", "--layer", "last", "--out", tmp_path / "last.npy", "--quiet")
    assert (tmp_path / "auto.npy").read_bytes() == (tmp_path / "last.npy").read_bytes()
    assert "already exists" in run(*words, "--out", tmp_path / "trained", code=2).err


def test_contrastive_training_then_support(tmp_path):
    source, support = tmp_path / "source.conll", tmp_path / "support.conll"
    source.write_text("plain\tB-A\nwords\tO\nstop\tO\n\ntext\tB-B\nstop\tO\nwords\tO\n\n" * 40)
    support.write_text("plain\tB-A\nwords\tO\n\ntext\tB-B\nstop\tO\n\nplain\tB-A\nstop\tO\n\ntext\tB-B\nwords\tO\n")
    words = ["ner", "train-source", ENCODER, source, "--objective", "contrastive", "--epochs", 3, "--learning-rate", 1e-3, "--quiet"]
    lacking = run("ner", "train-source", ENCODER, support, "--objective", "support", "--out", tmp_path / "none", "--quiet", code=3)
    assert "projection.coterie: the file does not exist, but --objective support needs it. Use an encoder that was trained with --objective contrastive" in lacking.err
    two = run(*words[:4], source, "--objective", "support", "--out", tmp_path / "none", "--quiet", code=2)
    assert "--objective: 'support' needs one corpus" in two.err
    longer = run(*words[:4], "--objective", "support", "--epochs", 2, "--out", tmp_path / "none", "--quiet", code=2)
    assert "--epochs: 2 is not accepted with --objective support" in longer.err
    assert "--objective: 'best' is not accepted" in run(*words[:4], "--objective", "best", "--out", tmp_path / "none", code=2).err
    assert not (tmp_path / "none").exists()
    tried = subprocess.run([COMMAND, *map(str, words), "--out", tmp_path / "tried"], capture_output=True)
    if b"libtorch-dev" in tried.stderr:
        pytest.skip("LibTorch is not here")
    told = document(*words, "--out", tmp_path / "contrasted")
    assert told["distance"] == "divergence of Gaussians" and told["options"]["objective"] == "contrastive"
    assert told["loss_per_epoch"][2] < told["loss_per_epoch"][0]
    assert (tmp_path / "contrasted" / "projection.coterie").exists()
    on_support = ["ner", "train-source", tmp_path / "contrasted", support, "--objective", "support", "--quiet"]
    tuned = document(*on_support, "--out", tmp_path / "tuned")
    assert tuned["distance"] == "divergence of Gaussians" and 2 <= len(tuned["loss_per_epoch"]) <= 100
    support.write_text("plain\tB-A\nwords\tO\n\ntext\tB-B\nstop\tO\n")
    assert "between directions of means: type A has one mention" in run(*on_support, "--out", tmp_path / "one").out
    adapted = document("ner", "adapt", support, "--vectors", tmp_path / "tuned", "--method", "nearest-word", "--quiet")
    assert adapted["layer"] == "3" and adapted["method"] == "nearest-word"


@pytest.mark.parametrize("command, corpus", [("tag", "lines.jsonl"), ("suggest", "plain.txt")])
def test_failed_output_does_not_lose_the_other(small, tmp_path, command, corpus):
    (tmp_path / "full.jsonl").symlink_to("/dev/full")
    (tmp_path / "full.html").symlink_to("/dev/full")
    words = ["ner", command, small / "t", small / corpus]
    done = run(*words, "--out", tmp_path / "full.jsonl", "--report", tmp_path / "page.html", "--json", code=1)
    told = json.loads(done.out)
    assert "No space left" in done.err and "written" not in told and told["report"] == str(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().rstrip().endswith("</html>")
    done = run(*words, "--out", tmp_path / "out.jsonl", "--report", tmp_path / "full.html", "--json", code=1)
    told = json.loads(done.out)
    assert "No space left" in done.err and "report" not in told and told["written"] == str(tmp_path / "out.jsonl")
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full.html", "full.jsonl", "out.jsonl", "page.html"]
