"""A tagger as a component of a spaCy pipeline.

    import coterie.spacy, spacy
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("coterie_ner", config={"tagger": "tagger.coterie"})
    [(span.text, span.label_, span._.coterie_probability) for span in nlp("The Grey Heron left Marwick.").ents]

spaCy determines words and sentences; a document without sentence boundaries is one sentence. If the package is installed, spaCy finds the component without an
import. A saved pipeline contains the path of the tagger, not the tagger.
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
    """Replaces the entities of documents by the mentions that a tagger finds. `span._.coterie_probability` is the probability of each (0: unknown).

    Parameters
    ----------
    tagger : str
        A file that `coterie ner adapt --model-out` or `Tagger.save` wrote.
    vectors : str, default=None
        The source of word vectors: an encoder's folder or a file of static vectors. None: the source with which the tagger was adapted.
    layer : str, default='auto'
        The encoder's layer: 'last', 'middle' or a number. 'auto': the tagger's layer.
    decoding : {'nearest', 'viterbi'}, default='nearest'
        The best type of each word, or of each sentence.
    n_jobs : int, default=None
        Number of threads, as in the classes.

    Raises
    ------
    ValueError
        `vectors` is not given, and the tagger's source is unknown or has the vectors of only one corpus. Or the source does not exist.
    BadData
        The file of the tagger or of the vectors is not valid. The message names it.
    """

    def __init__(self, tagger: str, vectors: str | None = None, layer: str = "auto", decoding: str = "nearest", n_jobs: int | None = None):
        self._tagger = ner.load(tagger)
        if vectors:
            self._tagger.set_params(encoder=vectors, layer=layer)
        elif layer != "auto":
            self._tagger.set_params(layer=layer)
        place = self._tagger._place()
        if not os.path.exists(place):
            raise ValueError(f"vectors: {place} does not exist")
        self._tagger.set_params(n_jobs=n_jobs)
        self._decoding = decoding

    def __call__(self, doc: Doc) -> Doc:
        self._set([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], batch_size: int = 128) -> Iterator[Doc]:
        """Tags many documents, `batch_size` at a time."""
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
    """Makes an EntityTagger from the configuration of `nlp.add_pipe("coterie_ner", config=...)`."""
    return EntityTagger(tagger, vectors, layer, decoding, n_jobs)
