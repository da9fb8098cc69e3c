"""A tagger as a component of a spaCy pipeline.

    import coterie.spacy, spacy
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("coterie_ner", config={"tagger": "tagger.coterie"})
    [(span.text, span.label_, span._.coterie_probability) for span in nlp("The Grey Heron left Marwick.").ents]

Words and sentences are spaCy's; a document without sentences is one. Where the package is installed, spaCy finds the component by itself, and a pipeline that
was saved names the tagger by its path.
"""
from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import minibatch

from . import ner

__all__ = ["EntityTagger", "make_coterie_ner"]

if not Span.has_extension("coterie_probability"):
    Span.set_extension("coterie_probability", default=0.0)


class EntityTagger:
    """Sets the entities of documents, in place of those that they have: the mentions that a tagger finds, each with `span._.coterie_probability` (0: it has none).

    Parameters
    ----------
    tagger : str
        The file that `coterie ner adapt --model-out`, or `Tagger.save`, has written.
    vectors : str, default=None
        Where the vectors of words come from: an encoder's folder or a file of static vectors. None: as the tagger was adapted.
    layer : str, default='auto'
        Of an encoder: 'last', 'middle' or a number; 'auto' is the tagger's own.
    decoding : {'nearest', 'viterbi'}, default='nearest'
    n_jobs : int, default=None
        Threads, as of the classes.

    Raises
    ------
    ValueError
        Where `vectors` is not given and the tagger does not know, or they were those of one corpus.
    BadData
        Naming the file, where the tagger or the vectors are not sound.
    """

    def __init__(self, tagger: str, vectors: str | None = None, layer: str = "auto", decoding: str = "nearest", n_jobs: int | None = None):
        self._tagger = ner.load(tagger)
        if vectors:
            self._tagger.set_params(encoder=vectors, layer=layer)
        elif layer != "auto":
            self._tagger.set_params(layer=layer)
        place = self._tagger._place()
        if not os.path.exists(place):
            raise ValueError(f"vectors: {place} is not there")
        self._tagger.set_params(n_jobs=n_jobs)
        self._decoding = decoding

    def __call__(self, doc: Doc) -> Doc:
        self._set([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], batch_size: int = 128) -> Iterator[Doc]:
        """The same of many documents, `batch_size` together."""
        for docs in minibatch(stream, batch_size):
            self._set(docs)
            yield from docs

    def _set(self, docs: list[Doc]) -> None:
        sentences = [(doc, [token for token in sentence if not token.is_space])
                     for doc in docs for sentence in (doc.sents if doc.has_annotation("SENT_START") else [doc[:]])]
        sentences = [(doc, tokens) for doc, tokens in sentences if tokens]
        found: dict[int, list[Any]] = {id(doc): [] for doc in docs}
        if sentences:
            tagged = self._tagger.tag(ner.from_words([[token.text for token in tokens] for _, tokens in sentences]), decoding=self._decoding)
            for (doc, tokens), mentions in zip(sentences, tagged.mentions):
                for begin, end, kind, _, probability in mentions:
                    span = Span(doc, tokens[begin].i, tokens[end - 1].i + 1, label=kind)
                    span._.coterie_probability = probability
                    found[id(doc)].append(span)
        for doc in docs:
            doc.ents = found[id(doc)]


@Language.factory("coterie_ner", assigns=["doc.ents"], default_config={"vectors": None, "layer": "auto", "decoding": "nearest", "n_jobs": None})
def make_coterie_ner(nlp: Language, name: str, tagger: str, vectors: str | None, layer: str, decoding: str, n_jobs: int | None) -> EntityTagger:
    """What `nlp.add_pipe("coterie_ner", config=...)` calls: EntityTagger of the configuration."""
    return EntityTagger(tagger, vectors, layer, decoding, n_jobs)
