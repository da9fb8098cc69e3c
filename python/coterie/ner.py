"""Named entities from a few annotated sentences: the command's `ner`.

    from coterie import ner
    support, letters = ner.read("support.jsonl"), ner.read("letters.txt")
    tagger = ner.adapt(support, ner.vectors(support, "all-MiniLM-L6-v2"), ner.vectors(letters, "all-MiniLM-L6-v2"))
    found = tagger.tag(letters, ner.vectors(letters, "all-MiniLM-L6-v2"))
    found.mentions, found.write("found.jsonl")

Row i of an array of vectors is word i of its corpus, counted through all sentences.
"""
from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _core, _input
from ._errors import BadArgument, BadData, CoterieWarning
from ._report import Page

__all__ = ["Corpus", "Tagger", "adapt", "find_sentences", "from_words", "load", "load_voyages", "read", "sample_support", "score", "train_source", "vectors"]


class Corpus:
    """Sentences of words, with the mentions marked in them.

    Attributes
    ----------
    words : list of list of str
        The words of every sentence.
    mentions : list of list of (begin, end, type, margin, probability)
        Of every sentence: words begin to end - 1, and how sure a tagger was: the margin ranks mentions, the probability is calibrated on words of the
        support that were left out (0: nobody asked a tagger, or it has none).
    annotated : list of bool
        Whether somebody said what is a mention in a sentence.
    types : list of str
    texts : list of str
        The documents.
    tags : (n_words,) int32 array
        0 outside mentions, 1 + the number of the type, -1 where a sentence is not annotated.
    notes : list of str
        What reading found, the scheme of the tags for example.
    format : str
    """

    def __init__(self, core: Any):
        self._core = core

    words = property(lambda self: self._core.words)
    mentions = property(lambda self: self._core.mentions)
    annotated = property(lambda self: self._core.annotated)
    types = property(lambda self: self._core.types)
    texts = property(lambda self: self._core.texts)
    tags = property(lambda self: self._core.tags)
    notes = property(lambda self: self._core.notes)
    format = property(lambda self: self._core.format)

    def subset(self, sentences: Any) -> Corpus:
        """Some of the sentences, by their numbers from 0, or by one True or False for each of them. ValueError on others."""
        count = len(self.annotated)
        numbers = np.asarray(sentences if isinstance(sentences, np.ndarray) else list(sentences))
        if numbers.dtype.kind == "b" and numbers.shape == (count,):
            numbers = np.flatnonzero(numbers)
        if numbers.size == 0:
            numbers = numbers.astype(np.int64)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise BadArgument(
                f"sentences: an array of {numbers.dtype} of shape {numbers.shape} is not accepted; whole numbers from 0 to {count - 1} are, "
                "or one True or False for each sentence"
            )
        for number in numbers:
            if not 0 <= number < count:
                raise BadArgument(f"sentences: there is no number {number}; from 0 to {count - 1} are accepted")
        return Corpus(self._core.subset(numbers.tolist()))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Into the file `path`, as `coterie ner tag --out`: columns as columns, all else as JSON lines; whole or not at all. OSError where it cannot be."""
        self._core.write(os.fspath(path))

    def __repr__(self) -> str:
        return f"Corpus({len(self.annotated)} sentences, {len(self.tags)} words, types {', '.join(self.types) or 'none'})"


class Tagger:
    """What `adapt` makes and `load` reads.

    Attributes
    ----------
    types : list of str
    method : str
        How it was adapted.
    encoder, layer : str
        Where the vectors of words were from, where the command has adapted it; else empty.
    outside_share : (low, high) or None
        The share of all words outside mentions, given or estimated, that probabilities are those of; None: not known.
    support_outside_share : float
        Of the words of the support, whose sentences were chosen for their mentions: probabilities are shifted from it to `outside_share`.
    report : dict or None
        Of `adapt`: method, chosen_because, compared (counts and f1 of each method in the sentences left out), outside_share (low, high), share_origin.
    """

    def __init__(self, core: Any, report: dict[str, Any] | None = None):
        self._core = core
        self.report = report

    types = property(lambda self: self._core.types)
    method = property(lambda self: self._core.method)
    encoder = property(lambda self: self._core.encoder)
    layer = property(lambda self: self._core.layer)
    outside_share = property(lambda self: self._core.outside_share)
    support_outside_share = property(lambda self: self._core.support_outside_share)

    def scores(self, vectors: Any, *, n_jobs: int | None = None) -> np.ndarray:
        """(n_words, 1 + n_types) scores of O and of each type; larger is better.

        vectors: n_words x d; n_jobs: threads, as of the classes. ValueError on another d.
        """
        return self._core.scores(_rows(vectors), _input.threads_of(n_jobs))

    def tag(self, corpus: Corpus, vectors: Any, *, decoding: str = "nearest", n_jobs: int | None = None) -> Corpus:
        """A copy of the corpus with the mentions found in place of its own.

        vectors: n_words x d, of the corpus' words; decoding: 'nearest' (the best type of each word) or 'viterbi' (of each sentence); n_jobs: threads, as of
        the classes. ValueError on vectors that do not fit.
        """
        return Corpus(self._core.tag(_corpus(corpus, "corpus"), _rows(vectors), {"decoding": decoding}, _input.threads_of(n_jobs)))

    def suggest(self, corpus: Corpus, vectors: Any, count: int = 5, *, n_jobs: int | None = None) -> list[tuple[int, str, float]]:
        """(sentence, type, value from 0 to 1) of `count` sentences of the corpus worth annotating next; those that are annotated are left out.

        vectors: n_words x d, of the corpus' words; n_jobs: threads, as of the classes. ValueError on vectors that do not fit.
        """
        return self._core.suggest(_corpus(corpus, "corpus"), _rows(vectors), {"count": count}, _input.threads_of(n_jobs))

    def page(self, corpus: Corpus, vectors: Any, *, decoding: str = "nearest", count: int = 5, n_jobs: int | None = None) -> Page:
        """A page of HTML that stands alone: the text with the mentions found, to look at, to correct and to download as a support for `adapt`.

        vectors: n_words x d, of the corpus' words; decoding: as of `tag`; count: sentences worth annotating that stand first (`suggest`); n_jobs: threads, as
        of the classes. Shown are at most 1,000 sentences and 100,000 words; the page says which. ValueError on vectors that do not fit.
        """
        return Page(self._core.page(_corpus(corpus, "corpus"), _rows(vectors), {"decoding": decoding}, {"count": count}, _input.threads_of(n_jobs)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the tagger to the file `path`, whole or not at all; the command and `load` read it. OSError where it cannot be."""
        self._core.save(os.fspath(path))

    def __repr__(self) -> str:
        return f"Tagger({self.method}, types {', '.join(self.types)})"


def _corpus(corpus, name):
    if not isinstance(corpus, Corpus):
        raise TypeError(f"{name}: {corpus!r} is not accepted; a Corpus is, as coterie.ner.read and from_words give it")
    return corpus._core


def _rows(vectors):
    array = np.asarray(vectors)
    if array.ndim != 2:
        raise ValueError(f"vectors: an array of one row per word is wanted, not shape {array.shape}")
    return np.ascontiguousarray(array, dtype=array.dtype if array.dtype in (np.float32, np.float64) else np.float64)


def read(path: str | os.PathLike[str], *, format: str = "auto", lenient: bool = False) -> Corpus:
    """A corpus in a file: CoNLL columns, JSON lines (doccano, spaCy, Prodigy), brat's FILE.ann or plain text.

    Parameters
    ----------
    path : str
        The file; of brat FILE.ann, beside which FILE.txt lies.
    format : {'auto', 'conll', 'json-lines', 'text', 'brat'}, default='auto'
    lenient : bool, default=False
        Tags that do not fit together are read as the script conlleval reads them.

    Raises
    ------
    BadData
        Naming file and line.
    """
    return Corpus(_core.ner_read(os.fspath(path), {"format": format}, lenient))


def from_words(sentences: Any) -> Corpus:
    """A corpus of sentences that are cut into words already, none of them annotated.

    sentences: lists of str, each of at least one word. BadData on a sentence or a word that is empty; TypeError on what is no list of words.
    """
    if isinstance(sentences, str):
        raise TypeError(f"sentences: {sentences!r} is not accepted; lists of words are, [['Hello', 'world']] for example")
    lists = []
    for number, words in enumerate(sentences):
        if isinstance(words, str) or not isinstance(words, Iterable):
            raise TypeError(f"sentences: sentence {number} is {words!r}; a list of words is wanted")
        lists.append(list(words))
        for word in lists[-1]:
            if not isinstance(word, str):
                raise TypeError(f"sentences: sentence {number} has {word!r}, which is no word (str)")
    return Corpus(_core.ner_words([[str(word) for word in words] for words in lists]))


def load_voyages() -> tuple[Corpus, np.ndarray]:
    """40 sentences about ships with three types of mentions, and the vectors of their 494 words: the corpus that comes with coterie.

    The vectors are 494 x 48, float32. BadData where the package lacks them.
    """
    for folder in _core.data_folders():
        place = os.path.join(folder, "voyages")
        if os.path.isdir(place):
            return read(os.path.join(place, "voyages.conll")), np.load(os.path.join(place, "voyages.npy"))
    raise BadData("the folder voyages is in none of " + ", ".join(_core.data_folders()))


def vectors(corpus: Corpus, source: str | os.PathLike[str], *, layer: str | int = "auto", n_jobs: int | None = None) -> np.ndarray:
    """(n_words, d) vectors of the words of a corpus.

    source: an encoder's folder (BERT, DistilBERT, MPNet), a file of static vectors, or FILE.npy; layer: of an encoder, 'last', 'middle' or a number; n_jobs:
    threads, as of the classes. ValueError on what is not accepted, BadData on a file that is not sound; a CoterieWarning tells words without a vector.
    An encoder that `train_source` wrote gives its last layer, others their middle one.
    """
    found, _, notes = _core.ner_vectors(os.fspath(source), _corpus(corpus, "corpus"), {"layer": str(layer)}, _input.threads_of(n_jobs))
    for note in notes:
        if "no vector" in note:
            warnings.warn(note, CoterieWarning, stacklevel=2)
    return found


def adapt(
    support: Corpus,
    support_vectors: Any,
    other_vectors: Any = None,
    *,
    method: str = "auto",
    outside_share: str | float = "auto",
    assignment: str = "hard",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Tagger:
    """A tagger from annotated sentences and the vectors of words that are not annotated.

    Parameters
    ----------
    support : Corpus
        The annotated sentences.
    support_vectors, other_vectors : array of shape (n_words, d), or None
        Vectors of the words of the support, and of words that are not annotated.
    method : {'auto', 'k-means', 'support-space', 'discriminant', 'logistic', 'prototypes', 'nearest-word'}, default='auto'
        auto compares the first four by leaving out one sentence of the support after the other.
    outside_share : float or str, default='auto'
        Share of all words outside mentions: a number, 'LOW:HIGH', 'none' or 'auto' (estimated where every type has 5 mentions).
    assignment : {'hard', 'soft'}, default='hard'
        Of k-means.
    random_state : int, default=0
        Draws the words that take part in the comparison where there are more than 10,000.
    n_jobs : int, default=None
        Threads, as of the classes.

    Raises
    ------
    ValueError
        A parameter is not accepted, a sentence is not annotated, a type has no mention, or vectors do not fit.
    """
    core, report = _core.ner_adapt(
        _corpus(support, "support"), _rows(support_vectors), None if other_vectors is None else _rows(other_vectors),
        {"method": method, "outside_share": str(outside_share), "assignment": assignment}, _input.seed_of(random_state), _input.threads_of(n_jobs),
    )
    for text in report.pop("warnings"):
        warnings.warn(text, CoterieWarning, stacklevel=2)
    return Tagger(core, report)


def train_source(
    encoder: str | os.PathLike[str],
    corpora: Any,
    out: str | os.PathLike[str],
    *,
    objective: str = "prototypes",
    epochs: int = 1,
    learning_rate: float = 5e-5,
    checkpoint: str | os.PathLike[str] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> dict[str, Any]:
    """Trains an encoder on annotated corpora of other domains and writes it as a folder, which `vectors` takes as any other.

    Needs LibTorch and coterie's library for it.

    Parameters
    ----------
    encoder : str
        A folder as Hugging Face's programs write it: BERT, DistilBERT or MPNet.
    corpora : list of Corpus
        Sentences that are all annotated; the corpora may have different types. Of a support one.
    out : str
        The folder to write; it must not be there yet.
    objective : {'prototypes', 'contrastive', 'support'}, default='prototypes'
        prototypes: one for each tag of each corpus is trained along; the loss is -ln p of the words' tags, p_t proportional to exp(-1/2 ||x - c_t||^2).
        contrastive: each word becomes a Gaussian, and those of one tag are drawn together (CONTaiNER); what makes them is kept beside the encoder.
        support: the same on the sentences that a tagger is to be adapted from, of an encoder that 'contrastive' has trained.
    epochs : int, default=1
        Passes over the corpora; over a support they go on until the loss rises.
    learning_rate : float, default=5e-5
        The largest of AdamW; it rises through the first tenth of the words and falls to 0; over a support it stays.
    checkpoint : str, default=None
        A file that keeps the state: a training that was interrupted goes on from it, to the same bits.
    random_state : int, default=0
        The order of the sentences and what is dropped.
    n_jobs : int, default=None
        Threads, as of the classes.

    Returns
    -------
    dict
        loss_per_epoch (means over the words), words, words_trained, distance (between words, where they are contrasted, else None) and seconds.

    Raises
    ------
    ValueError
        A parameter is not accepted, `out` is there, the training diverges, or (BadData) a folder or a corpus is not sound.
    OSError
        LibTorch is not there.
    """
    report = _core.ner_train(
        os.fspath(encoder), [_corpus(corpus, "corpora") for corpus in corpora], os.fspath(out),
        {"objective": objective, "epochs": epochs, "learning_rate": learning_rate},
        _input.seed_of(random_state), _input.threads_of(n_jobs), "" if checkpoint is None else os.fspath(checkpoint),
    )
    for text in report.pop("warnings"):
        warnings.warn(text, CoterieWarning, stacklevel=2)
    return report


def load(path: str | os.PathLike[str]) -> Tagger:
    """The tagger in the file `path` that `Tagger.save`, or `coterie ner adapt --model-out`, has written. BadData on what is none."""
    return Tagger(_core.ner_load(os.fspath(path)))


def sample_support(corpus: Corpus, shots: int = 5, *, random_state: Any = 0) -> list[int]:
    """Numbers of sentences with at least `shots` mentions of every type of the corpus, drawn by the greedy rule of Yang and Katiyar (2020).

    random_state: the seed. BadData where a type has fewer mentions.
    """
    return _core.ner_sample(_corpus(corpus, "corpus"), {"shots": shots}, _input.seed_of(random_state))


def find_sentences(some: Corpus, all: Corpus) -> list[int]:
    """For every sentence of `some` the number of one in `all` with the same words, each taken once. BadData where there is none."""
    return _core.ner_find(_corpus(some, "some"), _corpus(all, "all"))


def score(gold: Corpus, found: Corpus) -> dict[str, Any]:
    """marked, found, right, precision, recall and f1 as conlleval counts them, and under "types" the same of each type.

    gold: the corpus as annotated; found: the same sentences as tagged. ValueError where they are not the same.
    """
    micro, types = _core.ner_score(_corpus(gold, "gold"), _corpus(found, "found"))
    ours, theirs = (["".join("".join(words).split()) for words in corpus.words] for corpus in (gold, found))
    if "".join(ours) != "".join(theirs) and sorted(ours) != sorted(theirs):  # words, and sentences, may be cut otherwise
        raise BadData(f"gold and found: not the same sentences; gold has {len(ours)}, found {len(theirs)}")
    return {**micro, "types": types}
