"""Named entities in Python, compared with the command."""
import json
import pickle
import subprocess

import numpy as np
import pytest
from conftest import ROOT

import coterie
from coterie import ner

VOYAGES = ROOT / "data" / "voyages"
ENCODER = ROOT / "tests" / "ner" / "bert"


@pytest.fixture(scope="module")
def voyages():
    return ner.load_voyages()


def rows_of(corpus, sentences):
    first = np.cumsum([0, *map(len, corpus.words)])
    return np.concatenate([np.arange(first[s], first[s + 1]) for s in sentences])


def test_tagging_equals_that_of_the_command(voyages, command, tmp_path):
    corpus, vectors = voyages
    chosen = ner.sample_support(corpus, 3)
    support = corpus.subset(chosen)
    known = rows_of(corpus, chosen)
    tagger = ner.Tagger().fit(support, support_vectors=vectors[known], unlabelled_vectors=np.delete(vectors, known, axis=0))
    found = tagger.tag(corpus, vectors)
    scores = ner.score(corpus, found)
    run = lambda *words: subprocess.run([command, "ner", *map(str, words), "--quiet", "--json"], capture_output=True, text=True, check=True, timeout=120).stdout
    run("sample", VOYAGES / "voyages.conll", "--shots", 3, "--out", tmp_path / "support.conll")
    told = json.loads(run("adapt", tmp_path / "support.conll", "--other", VOYAGES / "voyages.conll", "--vectors", VOYAGES / "voyages.npy",
                          "--model-out", tmp_path / "theirs"))
    theirs = json.loads(run("tag", tmp_path / "theirs", VOYAGES / "voyages.conll", "--vectors", VOYAGES / "voyages.npy"))
    assert told["method"] == tagger.method_ and tagger.report_["compared"] == told["compared"]
    assert tagger.outside_share_ is None and tagger.support_outside_share_ == told["support_outside_share"]
    given = ner.Tagger(method="prototypes", outside_share="0.7:0.9")
    given.fit(support, support_vectors=vectors[known], unlabelled_vectors=np.delete(vectors, known, axis=0))
    assert given.outside_share_ == (0.7, 0.9)
    assert {key: value for key, value in scores.items() if key != "types"} == theirs["scores"]["micro"]
    assert scores["types"] == theirs["scores"]["types"]
    # In the file, types have another order, which changes the rounding of sums.
    for mine, other in zip(found.mentions, ner.load(tmp_path / "theirs").tag(corpus, vectors).mentions):
        assert [mention[:3] for mention in mine] == [mention[:3] for mention in other]
        assert [mention[3] for mention in mine] == pytest.approx([mention[3] for mention in other], rel=1e-6)
    assert ner.find_sentences(support, corpus) == chosen


def test_corpus_attributes(voyages, tmp_path):
    corpus, vectors = voyages
    assert len(corpus.words) == 40 and corpus.types == ["SHIP", "PLACE", "PERSON"] and corpus.format == "conll" and all(corpus.annotated)
    assert corpus.mentions[0] == [(1, 3, "SHIP", 0.0, 0.0), (4, 5, "PLACE", 0.0, 0.0)]
    assert corpus.tags.dtype == np.int32 and list(corpus.tags[:6]) == [0, 1, 1, 0, 2, 0]
    assert repr(corpus) == "Corpus(40 sentences, 494 words, types SHIP, PLACE, PERSON)"
    corpus.write(tmp_path / "again.conll")
    assert ner.read(tmp_path / "again.conll").mentions == corpus.mentions


def test_encoders_scores_and_suggestions(tmp_path):
    (tmp_path / "a.txt").write_text("Plain words stop. Players text words.")
    corpus = ner.read(tmp_path / "a.txt")
    vectors = ner.vectors(corpus, ENCODER, layer=2)
    assert vectors.shape == (8, 24) and vectors.dtype == np.float32 and np.isfinite(vectors).all()
    (tmp_path / "s.conll").write_text("plain B-A\nwords O\n\nstop O\ntext B-A\n")
    support = ner.read(tmp_path / "s.conll")
    tagger = ner.Tagger(ENCODER, layer=2, method="prototypes").fit(support, tmp_path / "a.txt")
    scores = tagger.scores(vectors)
    assert scores.shape == (8, 2)
    found = tagger.tag(corpus, vectors)
    assert list(found.tags) == list(np.argmax(scores, axis=1))
    assert sorted(sentence for sentence, _, _ in tagger.suggest(corpus, vectors, 5)) == [0, 1]
    tagger.save(tmp_path / "t")
    again = ner.load(tmp_path / "t")
    assert np.array_equal(again.scores(vectors), scores) and again.layer_ == "2" and again.tag(corpus).spans == found.spans
    assert again.get_params() | {"encoder": ENCODER, "layer": 2} == tagger.get_params()


SUPPORT = [
    {"text": "Plain words stop.", "spans": [{"start": np.int64(0), "end": 5, "label": "A"}]},
    ("Players text words.", {"entities": [(8, 12, "B")]}),
    {"text": "Words stop.", "label": [], "source": "note 3"},
]


def test_fit_and_predict_accept_records_and_texts(command, tmp_path):
    letters = ["Plain text. \U0001f600 Text words!", "", "  \n", "Words"]
    tagger = ner.Tagger(ENCODER, method="prototypes").fit(SUPPORT, letters)
    found = tagger.predict(letters)
    assert found[0] and found[1:3] == [[], []]
    for text, spans in zip(letters, found):
        for span in spans:
            assert text[span.start:span.end] == span.text and span.label in tagger.types_ and 0 < span.probability < 1 and span.margin > 0
    assert any(span.start > 13 for span in found[0])  # after a character of two units in UTF-16, four bytes in UTF-8
    # The command with the same records.
    lines = lambda records: "".join(json.dumps(each, default=int) + "\n" for each in records)
    (tmp_path / "support.jsonl").write_text(lines(SUPPORT))
    (tmp_path / "letters.jsonl").write_text(lines({"text": text} for text in letters))
    run = lambda *words: subprocess.run([command, "ner", *map(str, words), "--quiet"], capture_output=True, check=True, timeout=120)
    run("adapt", tmp_path / "support.jsonl", "--other", tmp_path / "letters.jsonl", "--vectors", ENCODER, "--method", "prototypes", "--model-out", tmp_path / "t")
    run("tag", tmp_path / "t", tmp_path / "letters.jsonl", "--out", tmp_path / "theirs.jsonl")
    tagger.save(tmp_path / "mine")
    assert (tmp_path / "mine").read_bytes() == (tmp_path / "t").read_bytes()
    theirs = [json.loads(line)["spans"] if "spans" in line else [] for line in (tmp_path / "theirs.jsonl").read_text().splitlines()]
    assert [[span._asdict() for span in spans] for spans in found] == theirs
    corpus = ner.from_texts(SUPPORT)
    assert corpus.spans[1] == [(8, 12, "B", "text", 0.0, 0.0)] and corpus.annotated == [True] * 3
    corpus.write(tmp_path / "again.jsonl")
    assert ner.read(tmp_path / "again.jsonl").spans == corpus.spans


def test_taggers_and_corpora_are_pickled_and_cloned():
    base = pytest.importorskip("sklearn.base")
    tagger = ner.Tagger(str(ENCODER), method="prototypes", layer=2).fit(SUPPORT)
    corpus = tagger.tag(ner.from_texts(["Plain text words", "stop"]))
    again, copied = pickle.loads(pickle.dumps((tagger, corpus)))
    assert again.predict(["Text stop"]) == tagger.predict(["Text stop"]) and again.get_params() == tagger.get_params() and again.report_ == tagger.report_
    for name in ("words", "mentions", "spans", "annotated", "types", "texts", "notes", "format"):
        assert getattr(copied, name) == getattr(corpus, name), name
    fresh = base.clone(tagger).set_params(layer=1)
    assert fresh.get_params() == tagger.get_params() | {"layer": 1} and repr(fresh).startswith("Tagger(encoder=")
    with pytest.raises(coterie.NotFittedError):
        fresh.predict(["Text"])


@pytest.mark.parametrize("texts, said", [("Text", "texts: 'Text' is not accepted. Use a list"), (["a", None], "texts: number 1 is None")])
def test_predict_rejects_wrong_texts(texts, said):
    with pytest.raises(TypeError, match=said):
        ner.Tagger(ENCODER, method="prototypes").fit(SUPPORT).predict(texts)


def test_fit_rejects_wrong_supports():
    for support, error, said in [
        (3, TypeError, "support: 3 is not accepted. Use a Corpus"), ([3], TypeError, "support: number 0 is 3"), ([], coterie.BadData, "support: there are no words"),
        ([{"text": "Plain", "spans": [{"start": 0, "end": 9, "label": "A"}]}], coterie.BadData, "support: line 1: span .0, 9, A. is not inside the text"),
        (["Plain words"], ValueError, "annotated"), ([{"txt": "Plain"}], coterie.BadData, "support: line 1: the line is not a document"),
        ([{"text": object()}], TypeError, "cannot be written as JSON"),
    ]:
        with pytest.raises(error, match=said):
            ner.Tagger(ENCODER).fit(support)
    for encoder in (None, "rows.npy"):
        with pytest.raises(ValueError, match="^encoder: .*Use an encoder's folder"):
            ner.Tagger(encoder).fit(SUPPORT)


def test_page_equals_that_of_the_command(voyages, command, tmp_path):
    corpus, vectors = voyages
    chosen = ner.sample_support(corpus, 3)
    known = rows_of(corpus, chosen)
    tagger = ner.Tagger().fit(corpus.subset(chosen), support_vectors=vectors[known], unlabelled_vectors=np.delete(vectors, known, axis=0))
    tagger.save(tmp_path / "t")
    (tmp_path / "bare.conll").write_text("".join("\n".join(words) + "\n\n" for words in corpus.words))
    bare = ner.read(tmp_path / "bare.conll")
    page = tagger.page(bare, vectors, count=3)
    page.save(tmp_path / "mine.html")
    subprocess.run([command, "ner", "suggest", tmp_path / "t", tmp_path / "bare.conll", "--vectors", VOYAGES / "voyages.npy", "--count", "3", "--quiet",
                    "--report", tmp_path / "theirs.html"], check=True, timeout=120, capture_output=True)
    data = lambda name: json.loads((tmp_path / name).read_text().split('id="mentions-about">')[1].split("</script>")[0])
    mine, theirs = data("mine.html"), data("theirs.html")
    assert mine == theirs and len(mine["sentences"]) == 40 and mine["types"] == tagger.types_
    first = [sentence for sentence, _, _ in tagger.suggest(bare, vectors, 3)]
    assert [one["text"] for one in mine["sentences"][:3]] == [" ".join(corpus.words[s]) for s in first]
    with pytest.raises(coterie.BadData, match="494 words"):
        tagger.page(bare, vectors[:5])


def test_bad_arguments(voyages, tmp_path):
    corpus, vectors = voyages
    with pytest.raises(coterie.BadData, match="494 words"):
        ner.Tagger().fit(corpus, support_vectors=vectors[:5])
    with pytest.raises(ValueError, match="outside_share: '2' is not accepted"):
        ner.Tagger(outside_share=2).fit(corpus, support_vectors=vectors)
    with pytest.raises(ValueError, match="method"):
        ner.Tagger(method="best").fit(corpus, support_vectors=vectors)
    with pytest.raises(ValueError, match="sentences: 40 is not accepted. Use numbers from 0 to 39"):
        corpus.subset([40])
    with pytest.raises(ValueError, match="one row per word"):
        ner.Tagger().fit(corpus, support_vectors=vectors[0])
    with pytest.raises(coterie.BadData, match="no such file"):
        ner.vectors(corpus, tmp_path / "nothing")
    with pytest.raises(ValueError, match="from 0 to 3"):
        ner.vectors(corpus, ENCODER, layer=4)
    (tmp_path / "bad.conll").write_text("a B-X\nb I-Y\n")
    with pytest.raises(coterie.BadData, match="line 2: tag 'I-Y'") as caught:
        ner.read(tmp_path / "bad.conll")
    assert caught.value.line == 2 and caught.value.code == "malformed"
    assert ner.read(tmp_path / "bad.conll", lenient=True).types == ["X", "Y"]


def test_sentences_by_number_and_by_mask(voyages):
    corpus, _ = voyages
    mask = np.arange(40) % 7 == 2
    expected = [corpus.words[number] for number in np.flatnonzero(mask)]
    for sentences in (mask, list(mask), np.flatnonzero(mask), range(2, 40, 7), (number for number in range(2, 40, 7))):
        assert corpus.subset(sentences).words == expected
    assert corpus.subset([]).words == []
    for sentences in ([-1], [1.7], [True, False], mask[1:], "ab", [[1, 2]], [40], [2**70]):
        with pytest.raises(ValueError, match="^sentences: .* is not accepted"):
            corpus.subset(sentences)


def test_score_needs_the_same_sentences(voyages):
    corpus, _ = voyages
    shuffled = np.random.default_rng(1).permutation(40)
    assert ner.score(corpus, corpus.subset(shuffled))["f1"] == 1
    with pytest.raises(ValueError, match="gold and found: not the same sentences; gold has 40, found 3"):
        ner.score(corpus, corpus.subset([0, 1, 2]))
    with pytest.raises(ValueError, match="not the same sentences"):
        ner.score(corpus, corpus.subset([0] * 40))


@pytest.mark.parametrize("sentences", ["hello world", ["hello world"], [["a", None]], [["a", 1]], [None]])
def test_from_words_checks_its_input(sentences):
    with pytest.raises(TypeError, match="^sentences: "):
        ner.from_words(sentences)
    assert ner.from_words(iter([np.array(["a", "b"]), ("c",)])).words == [["a", "b"], ["c"]]


def test_corpus_arguments_are_checked(voyages):
    corpus, vectors = voyages
    for ask, name in (
        (lambda: ner.Tagger().tag(None, vectors), "corpus"), (lambda: ner.score(corpus, "found"), "found"),
        (lambda: ner.vectors("text", "static"), "corpus"), (lambda: ner.find_sentences(3, corpus), "some"),
        (lambda: ner.sample_support(None), "corpus"),
    ):
        with pytest.raises(TypeError, match=f"^{name}: .* is not accepted. Use a Corpus"):
            ask()


def test_trained_encoder_equals_that_of_the_command(command, tmp_path):
    file = tmp_path / "source.conll"
    file.write_text("plain\tB-A\nwords\tO\nstop\tO\n\ntext\tB-B\nstop\tO\nwords\tO\n\n" * 40)
    try:
        told = ner.train_source(ENCODER, [ner.read(file)], tmp_path / "mine", epochs=2, learning_rate=1e-3, n_jobs=1)
    except OSError as error:
        assert "training an encoder needs LibTorch" in str(error)
        pytest.skip("LibTorch is not here")
    assert told["words"] == 240 and told["words_trained"] == 480 and told["loss_per_epoch"][1] < told["loss_per_epoch"][0]
    subprocess.run([command, "ner", "train-source", str(ENCODER), str(file), "--epochs", "2", "--learning-rate", "1e-3", "--threads", "1", "--quiet",
                    "--out", str(tmp_path / "theirs")], check=True, timeout=120, capture_output=True)
    assert (tmp_path / "mine" / "model.safetensors").read_bytes() == (tmp_path / "theirs" / "model.safetensors").read_bytes()
    corpus = ner.read(file)
    assert np.array_equal(ner.vectors(corpus, tmp_path / "mine"), ner.vectors(corpus, tmp_path / "mine", layer="last"))
    with pytest.raises(ValueError, match="already exists"):
        ner.train_source(ENCODER, [corpus], tmp_path / "mine")
    with pytest.raises(ValueError, match="epochs"):
        ner.train_source(ENCODER, [corpus], tmp_path / "new", epochs=0)


def test_contrastive_training_equals_that_of_the_command(command, tmp_path):
    file = tmp_path / "source.conll"
    file.write_text("plain\tB-A\nwords\tO\nstop\tO\n\ntext\tB-B\nstop\tO\nwords\tO\n\n" * 40)
    corpus = ner.read(file)
    with pytest.raises(ValueError, match="objective"):
        ner.train_source(ENCODER, [corpus], tmp_path / "new", objective="best")
    with pytest.raises(coterie.BadData, match="projection.coterie: the file does not exist, but objective='support' needs it"):
        ner.train_source(ENCODER, [corpus], tmp_path / "new", objective="support")
    try:
        told = ner.train_source(ENCODER, [corpus], tmp_path / "mine", objective="contrastive", learning_rate=1e-3, n_jobs=1)
    except OSError as error:
        assert "training an encoder needs LibTorch" in str(error)
        pytest.skip("LibTorch is not here")
    assert told["distance"] == "divergence of Gaussians" and len(told["loss_per_epoch"]) == 1
    subprocess.run([command, "ner", "train-source", str(ENCODER), str(file), "--objective", "contrastive", "--learning-rate", "1e-3",
                    "--threads", "1", "--quiet", "--out", str(tmp_path / "theirs")], check=True, timeout=120, capture_output=True)
    for name in ("model.safetensors", "projection.coterie"):
        assert (tmp_path / "mine" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes()
    tuned = ner.train_source(tmp_path / "mine", [corpus.subset([0, 1])], tmp_path / "tuned", objective="support", n_jobs=1)
    assert tuned["distance"] == "between directions of means: type A has one mention" and len(tuned["loss_per_epoch"]) >= 2
