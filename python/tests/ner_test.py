"""Named entities, beside the command's."""
import json
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


def test_the_same_as_the_command(voyages, command, tmp_path):
    corpus, vectors = voyages
    chosen = ner.sample_support(corpus, 3)
    support = corpus.subset(chosen)
    known = rows_of(corpus, chosen)
    tagger = ner.adapt(support, vectors[known], np.delete(vectors, known, axis=0))
    found = tagger.tag(corpus, vectors)
    scores = ner.score(corpus, found)
    run = lambda *words: subprocess.run([command, "ner", *map(str, words), "--quiet", "--json"], capture_output=True, text=True, check=True, timeout=120).stdout
    run("sample", VOYAGES / "voyages.conll", "--shots", 3, "--out", tmp_path / "support.conll")
    told = json.loads(run("adapt", tmp_path / "support.conll", "--other", VOYAGES / "voyages.conll", "--vectors", VOYAGES / "voyages.npy",
                          "--model-out", tmp_path / "theirs"))
    theirs = json.loads(run("tag", tmp_path / "theirs", VOYAGES / "voyages.conll", "--vectors", VOYAGES / "voyages.npy"))
    assert told["method"] == tagger.method and tagger.report["compared"] == told["compared"]
    assert tagger.outside_share is None and tagger.support_outside_share == told["support_outside_share"]
    given = ner.adapt(support, vectors[known], np.delete(vectors, known, axis=0), method="prototypes", outside_share="0.7:0.9")
    assert given.outside_share == (0.7, 0.9)
    assert {key: value for key, value in scores.items() if key != "types"} == theirs["scores"]["micro"]
    assert scores["types"] == theirs["scores"]["types"]
    # Types come in another order from the file, and sums with them.
    for mine, other in zip(found.mentions, ner.load(tmp_path / "theirs").tag(corpus, vectors).mentions):
        assert [mention[:3] for mention in mine] == [mention[:3] for mention in other]
        assert [mention[3] for mention in mine] == pytest.approx([mention[3] for mention in other], rel=1e-6)
    assert ner.find_sentences(support, corpus) == chosen


def test_what_a_corpus_is(voyages, tmp_path):
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
    tagger = ner.adapt(support, ner.vectors(support, ENCODER, layer=2), vectors, method="prototypes")
    scores = tagger.scores(vectors)
    assert scores.shape == (8, 2)
    found = tagger.tag(corpus, vectors)
    assert list(found.tags) == list(np.argmax(scores, axis=1))
    assert sorted(sentence for sentence, _, _ in tagger.suggest(corpus, vectors, 5)) == [0, 1]
    tagger.save(tmp_path / "t")
    assert np.array_equal(ner.load(tmp_path / "t").scores(vectors), scores)


def test_the_page_is_that_of_the_command(voyages, command, tmp_path):
    corpus, vectors = voyages
    chosen = ner.sample_support(corpus, 3)
    known = rows_of(corpus, chosen)
    tagger = ner.adapt(corpus.subset(chosen), vectors[known], np.delete(vectors, known, axis=0))
    tagger.save(tmp_path / "t")
    (tmp_path / "bare.conll").write_text("".join("\n".join(words) + "\n\n" for words in corpus.words))
    bare = ner.read(tmp_path / "bare.conll")
    page = tagger.page(bare, vectors, count=3)
    page.save(tmp_path / "mine.html")
    subprocess.run([command, "ner", "suggest", tmp_path / "t", tmp_path / "bare.conll", "--vectors", VOYAGES / "voyages.npy", "--count", "3", "--quiet",
                    "--report", tmp_path / "theirs.html"], check=True, timeout=120, capture_output=True)
    data = lambda name: json.loads((tmp_path / name).read_text().split('id="mentions-about">')[1].split("</script>")[0])
    mine, theirs = data("mine.html"), data("theirs.html")
    assert mine == theirs and len(mine["sentences"]) == 40 and mine["types"] == tagger.types
    first = [sentence for sentence, _, _ in tagger.suggest(bare, vectors, 3)]
    assert [one["text"] for one in mine["sentences"][:3]] == [" ".join(corpus.words[s]) for s in first]
    with pytest.raises(coterie.BadData, match="494 words"):
        tagger.page(bare, vectors[:5])


def test_what_is_refused(voyages, tmp_path):
    corpus, vectors = voyages
    with pytest.raises(coterie.BadData, match="494 words"):
        ner.adapt(corpus, vectors[:5])
    with pytest.raises(ValueError, match="outside_share: '2' is not accepted"):
        ner.adapt(corpus, vectors, outside_share=2)
    with pytest.raises(ValueError, match="method"):
        ner.adapt(corpus, vectors, method="best")
    with pytest.raises(ValueError, match="there is no number 40"):
        corpus.subset([40])
    with pytest.raises(ValueError, match="one row per word"):
        ner.adapt(corpus, vectors[0])
    with pytest.raises(coterie.BadData, match="no such file"):
        ner.vectors(corpus, tmp_path / "nothing")
    with pytest.raises(ValueError, match="from 0 to 3"):
        ner.vectors(corpus, ENCODER, layer=4)
    (tmp_path / "bad.conll").write_text("a B-X\nb I-Y\n")
    with pytest.raises(coterie.BadData, match="line 2: tag 'I-Y'") as caught:
        ner.read(tmp_path / "bad.conll")
    assert caught.value.row == 2
    assert ner.read(tmp_path / "bad.conll", lenient=True).types == ["X", "Y"]


def test_sentences_by_number_and_by_mask(voyages):
    corpus, _ = voyages
    mask = np.arange(40) % 7 == 2
    expected = [corpus.words[number] for number in np.flatnonzero(mask)]
    for sentences in (mask, list(mask), np.flatnonzero(mask), range(2, 40, 7), (number for number in range(2, 40, 7))):
        assert corpus.subset(sentences).words == expected
    assert corpus.subset([]).words == []
    for sentences in ([-1], [1.7], [True, False], mask[1:], "ab", [[1, 2]], [40], [2**70]):
        with pytest.raises(ValueError, match="^sentences: .* (accepted|one True or False)"):
            corpus.subset(sentences)


def test_scores_are_of_the_same_sentences(voyages):
    corpus, _ = voyages
    shuffled = np.random.default_rng(1).permutation(40)
    assert ner.score(corpus, corpus.subset(shuffled))["f1"] == 1
    with pytest.raises(ValueError, match="gold and found: not the same sentences; gold has 40, found 3"):
        ner.score(corpus, corpus.subset([0, 1, 2]))
    with pytest.raises(ValueError, match="not the same sentences"):
        ner.score(corpus, corpus.subset([0] * 40))


@pytest.mark.parametrize("sentences", ["hello world", ["hello world"], [["a", None]], [["a", 1]], [None]])
def test_words_are_words(sentences):
    with pytest.raises(TypeError, match="^sentences: "):
        ner.from_words(sentences)
    assert ner.from_words(iter([np.array(["a", "b"]), ("c",)])).words == [["a", "b"], ["c"]]


def test_what_is_no_corpus_is_named(voyages):
    corpus, vectors = voyages
    for ask, name in (
        (lambda: ner.adapt(None, vectors), "support"), (lambda: ner.score(corpus, "found"), "found"),
        (lambda: ner.vectors("text", "static"), "corpus"), (lambda: ner.find_sentences(3, corpus), "some"),
        (lambda: ner.sample_support(None), "corpus"),
    ):
        with pytest.raises(TypeError, match=f"^{name}: .* is not accepted; a Corpus is"):
            ask()


def test_a_trained_encoder_is_the_commands(command, tmp_path):
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
    with pytest.raises(ValueError, match="is there already"):
        ner.train_source(ENCODER, [corpus], tmp_path / "mine")
    with pytest.raises(ValueError, match="epochs"):
        ner.train_source(ENCODER, [corpus], tmp_path / "new", epochs=0)


def test_contrasts_are_the_commands(command, tmp_path):
    file = tmp_path / "source.conll"
    file.write_text("plain\tB-A\nwords\tO\nstop\tO\n\ntext\tB-B\nstop\tO\nwords\tO\n\n" * 40)
    corpus = ner.read(file)
    with pytest.raises(ValueError, match="objective"):
        ner.train_source(ENCODER, [corpus], tmp_path / "new", objective="best")
    with pytest.raises(coterie.BadData, match="has no projection.coterie: a support is for what objective='contrastive' has trained"):
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
