"""The spaCy component, compared with its tagger."""
import numpy as np
import pytest
from conftest import ROOT

from coterie import ner

spacy = pytest.importorskip("spacy", reason="spaCy is not here")

import coterie.spacy  # noqa: E402

ENCODER = ROOT / "tests" / "ner" / "bert"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A tagger that finds `plain` (A) and `text` (B) wherever they occur, from static vectors."""
    folder = tmp_path_factory.mktemp("spacy")
    random = np.random.default_rng(0)
    vocabulary = ["plain", "words", "stop", "text", "players", "play", "."]
    (folder / "vectors.txt").write_text("".join(word + " " + " ".join(f"{x:.4f}" for x in random.normal(size=8)) + "\n" for word in vocabulary))
    (folder / "s.conll").write_text("plain B-A\nwords O\nstop O\n\ntext B-B\nstop O\nwords O\n\nplay O\n. O\nplain B-A\ntext B-B\n")
    support = ner.read(folder / "s.conll")
    tagger = ner.Tagger(method="nearest-word").fit(support, support_vectors=ner.vectors(support, folder / "vectors.txt"))
    tagger.save(folder / "t")
    return folder


@pytest.fixture()
def nlp(saved):
    out = spacy.blank("en")
    out.add_pipe("sentencizer")
    out.add_pipe("coterie_ner", config={"tagger": str(saved / "t"), "vectors": str(saved / "vectors.txt")})
    return out


def test_entities_equal_mentions_of_the_tagger(saved, nlp):
    doc = nlp("text stop. \n\n plain words play. ")
    assert [(span.text, span.label_, span.start_char) for span in doc.ents] == [("text", "B", 0), ("plain", "A", 14)]
    tagger = ner.load(saved / "t")
    corpus = ner.from_words([["text", "stop", "."], ["plain", "words", "play", "."]])
    found = tagger.tag(corpus, ner.vectors(corpus, saved / "vectors.txt"))
    assert [mention[:3] for mentions in found.mentions for mention in mentions] == [(0, 1, "B"), (0, 1, "A")]
    assert [span._.coterie_probability for span in doc.ents] == [mention[4] for mentions in found.mentions for mention in mentions]
    assert all(0 < span._.coterie_probability < 1 for span in doc.ents)


def test_pipe_equals_single_calls(nlp):
    texts = ["plain words", "", "  \n", "stop. text plain stop", "\U0001f600 plain"]
    ends = lambda doc: [(span.start_char, span.end_char, span.label_) for span in doc.ents]
    assert [ends(doc) for doc in nlp.pipe(texts, batch_size=2)] == [ends(nlp(text)) for text in texts]
    assert ends(nlp(texts[4]))[-1][1:] == (7, "A") and ends(nlp(texts[1])) == []


def test_pipeline_round_trip(nlp, tmp_path):
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    assert [span.label_ for span in again("plain text").ents] == [span.label_ for span in nlp("plain text").ents] != []


def test_bad_configuration(saved):
    for config, said in [({"tagger": str(saved / "t")}, "encoder: None does not give vectors. Use"), ({"tagger": str(saved / "none"), "vectors": str(ENCODER)}, "none"),
                         ({"tagger": str(saved / "t"), "vectors": "nowhere"}, "nowhere does not exist")]:
        with pytest.raises((ValueError, OSError), match=said):
            spacy.blank("en").add_pipe("coterie_ner", config=config)
    with pytest.raises(ValueError, match="sentence 1 has no words"):
        ner.from_words([["a"], []])
