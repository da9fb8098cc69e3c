"""Named entities from a few annotated sentences: the command's `ner`.

    from coterie import ner
    tagger = ner.Tagger("all-MiniLM-L6-v2").fit("support.jsonl", "letters.txt")
    for span in tagger.predict(["The Grey Heron left Marwick on Monday."])[0]:
        print(span.label, span.text, span.probability)

Row i of an array of vectors is word i of its corpus, counted through all sentences.
"""
from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _core, _input
from ._base import Parameters
from ._errors import BadArgument, BadData, CoterieWarning, NotFittedError
from ._report import Page

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "Corpus", "Span", "Tagger", "find_sentences", "from_texts", "from_words", "load", "load_voyages", "read", "sample_support", "score", "train_source",
    "vectors",
]


class Span(NamedTuple):
    """A mention as a piece of its text: text[start:end], its type, and how sure a tagger was (`Corpus.mentions` says what the two are)."""

    start: int
    end: int
    label: str
    text: str
    margin: float
    probability: float


class Corpus:
    """Sentences of words, with the mentions marked in them.

    Attributes
    ----------
    words : list of list of str
        The words of every sentence.
    mentions : list of list of (begin, end, type, margin, probability)
        Of every sentence: words begin to end - 1, and how sure a tagger was: the margin ranks mentions, the probability is calibrated on words of the
        support that were left out (0: nobody asked a tagger, or it has none).
    spans : list of list of Span
        The mentions of every document, by characters of its text.
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
    spans = property(lambda self: [[Span(*each) for each in document] for document in self._core.spans])
    annotated = property(lambda self: self._core.annotated)
    types = property(lambda self: self._core.types)
    texts = property(lambda self: self._core.texts)
    tags = property(lambda self: self._core.tags)
    notes = property(lambda self: [note.text for note in self._core.notes])
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

    def __getstate__(self):
        return self._core.state

    def __setstate__(self, state):
        self._core = _core.ner_corpus(state)

    def __repr__(self) -> str:
        return f"Corpus({len(self.annotated)} sentences, {len(self.tags)} words, types {', '.join(self.types) or 'none'})"


class Tagger(Parameters):
    """A tagger, adapted from a few annotated sentences and many that are not.

    Parameters
    ----------
    encoder : str, default=None
        Where the vectors of words come from: an encoder's folder (BERT, DistilBERT, MPNet) or a file of static vectors. None: `fit`, `tag`, `suggest` and
        `page` are given vectors.
    layer : {'auto', 'last', 'middle'} or int, default='auto'
        Of an encoder. 'auto' is the last one of an encoder that `train_source` wrote, of others the middle one.
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

    Attributes
    ----------
    types_ : list of str
    method_ : str
        How it was adapted.
    layer_ : str
        The encoder's layer that was taken; empty where there is none.
    n_features_in_ : int
        Numbers per vector.
    outside_share_ : (low, high) or None
        The share of all words outside mentions, given or estimated, that probabilities are those of; None: not known.
    support_outside_share_ : float
        Of the words of the support, whose sentences were chosen for their mentions: probabilities are shifted from it to `outside_share_`.
    report_ : dict
        Of `fit`: method, chosen_because, compared (counts and f1 of each method in the sentences left out), outside_share (low, high), share_origin. Not of
        a tagger that was loaded.
    """

    def __init__(
        self,
        encoder: str | os.PathLike[str] | None = None,
        *,
        layer: str | int = "auto",
        method: str = "auto",
        outside_share: str | float = "auto",
        assignment: str = "hard",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ):
        self.encoder = encoder
        self.layer = layer
        self.method = method
        self.outside_share = outside_share
        self.assignment = assignment
        self.random_state = random_state
        self.n_jobs = n_jobs

    types_ = property(lambda self: self._fitted().types)
    method_ = property(lambda self: self._fitted().method)
    layer_ = property(lambda self: self._fitted().layer)
    n_features_in_ = property(lambda self: self._fitted().dimensions)
    outside_share_ = property(lambda self: self._fitted().outside_share)
    support_outside_share_ = property(lambda self: self._fitted().support_outside_share)

    def fit(self, support: Any, unlabelled: Any = None, *, support_vectors: Any = None, unlabelled_vectors: Any = None) -> Self:
        """Adapts the tagger; returns self.

        Parameters
        ----------
        support : Corpus, path, or list of records
            The annotated sentences: a corpus, a file that `read` takes, or records that `from_texts` takes, such as {"text": "Ida left Marwick.", "spans":
            [{"start": 9, "end": 16, "label": "PLACE"}]}.
        unlabelled : Corpus, path, list of str, or None
            Text of the same kind that nobody annotated; what is marked in it is not used. The more, the better.
        support_vectors, unlabelled_vectors : array of shape (n_words, d), or None
            Vectors of the words of both, where they do not come from `encoder`. Vectors of words that are not annotated may come without their corpus.

        Raises
        ------
        ValueError
            A parameter is not accepted, a sentence is not annotated, a type has no mention, or vectors do not fit or come from nowhere.
        BadData
            Naming file and line, or the number of the record as its line.
        """
        annotated = _corpus_of(support, "support")
        own, layer = self._vectors_of(annotated, support_vectors, "support_vectors")
        others = None if unlabelled_vectors is None else _rows(unlabelled_vectors)
        if others is None and unlabelled is not None:
            others, _ = self._vectors_of(_corpus_of(unlabelled, "unlabelled"), None, "unlabelled_vectors")
        core, report = _core.ner_adapt(
            annotated._core, own, others,
            {"method": self.method, "outside_share": str(self.outside_share), "assignment": self.assignment},
            _input.seed_of(self.random_state), _input.threads_of(self.n_jobs),
        )
        for message in report.pop("warnings"):
            warnings.warn(CoterieWarning._of(message), stacklevel=2)
        if support_vectors is None:
            core.encoder, core.layer = os.fspath(self.encoder), layer
        self._core, self.report_ = core, report
        return self

    def predict(self, texts: Iterable[str], *, decoding: str = "nearest") -> list[list[Span]]:
        """The mentions of every text, in their order.

        texts: list of str, cut into sentences and words by Unicode's rules; decoding: 'nearest' (the best type of each word) or 'viterbi' (of each
        sentence). TypeError on what is no list of str, ValueError where the tagger has no encoder.
        """
        if isinstance(texts, str):
            raise TypeError(f"texts: {texts!r} is not accepted; a list of texts is")
        texts = list(texts)
        for number, text in enumerate(texts):
            if not isinstance(text, str):
                raise TypeError(f"texts: number {number} is {text!r}; a str is wanted")
        self._fitted()
        if not any(text.strip() for text in texts):
            return [[] for _ in texts]
        return self.tag(from_texts(texts), decoding=decoding).spans

    def scores(self, vectors: Any) -> np.ndarray:
        """(n_words, 1 + n_types) scores of O and of each type; larger is better.

        vectors: n_words x d. ValueError on another d.
        """
        return self._fitted().scores(_rows(vectors), _input.threads_of(self.n_jobs))

    def tag(self, corpus: Corpus, vectors: Any = None, *, decoding: str = "nearest") -> Corpus:
        """A copy of the corpus with the mentions found in place of its own.

        vectors: n_words x d, of the corpus' words; None: from the tagger's encoder; decoding: as of `predict`. ValueError on vectors that do not fit.
        """
        return Corpus(self._on_words("tag", corpus, vectors, {"decoding": decoding}))

    def suggest(self, corpus: Corpus, vectors: Any = None, count: int = 5) -> list[tuple[int, str, float]]:
        """(sentence, type, value from 0 to 1) of `count` sentences of the corpus worth annotating next; those that are annotated are left out.

        vectors: as of `tag`. ValueError on vectors that do not fit.
        """
        return self._on_words("suggest", corpus, vectors, {"count": count})

    def page(self, corpus: Corpus, vectors: Any = None, *, decoding: str = "nearest", count: int = 5) -> Page:
        """A page of HTML that stands alone: the corpus with the mentions found, to look at, to correct and to download as a support for `fit`.

        vectors, decoding: as of `tag`; count: sentences worth annotating that stand first (`suggest`). Shown are at most 1,000 sentences and 100,000
        words; the page says which. ValueError on vectors that do not fit.
        """
        return Page(self._on_words("page", corpus, vectors, {"decoding": decoding}, {"count": count}))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the tagger to the file `path`, whole or not at all; the command and `load` read it. OSError where it cannot be."""
        self._fitted().save(os.fspath(path))

    def _on_words(self, ask, corpus, vectors, *options):
        own = _corpus(corpus, "corpus")
        fitted = self._fitted()
        rows, _ = self._vectors_of(corpus, vectors, "vectors")
        return getattr(fitted, ask)(own, rows, *options, _input.threads_of(self.n_jobs))

    def _vectors_of(self, corpus, given, name):
        if given is not None:
            return _rows(given, name), ""
        fitted = self.__dict__.get("_core")
        layer = fitted.layer if self.layer == "auto" and fitted and fitted.layer and fitted.encoder == self._place() else self.layer
        return _encoded(corpus, self._place(), layer, self.n_jobs)

    def _place(self):
        """Where vectors of any words come from."""
        place = "" if self.encoder is None else os.fspath(self.encoder)
        if not place or place.endswith(".npy"):
            what = f"{place} has the vectors of one corpus" if place else "None"
            raise ValueError(f"encoder: {what}; name an encoder's folder or a file of static vectors, or give the vectors of the words")
        return place

    def _fitted(self):
        if "_core" not in self.__dict__:
            raise NotFittedError("This Tagger instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator.")
        return self._core

    def __sklearn_is_fitted__(self):
        return "_core" in self.__dict__

    def __getstate__(self):
        return {name: value.to_bytes() if name == "_core" else value for name, value in self.__dict__.items()}

    def __setstate__(self, state):
        self.__dict__.update({name: _core.ner_from_bytes(value) if name == "_core" else value for name, value in state.items()})


def _corpus(corpus, name):
    if not isinstance(corpus, Corpus):
        raise TypeError(f"{name}: {corpus!r} is not accepted; a Corpus is, as coterie.ner.read and from_words give it")
    return corpus._core


def _corpus_of(what, name):
    if isinstance(what, Corpus):
        return what
    if isinstance(what, (str, os.PathLike)):
        return read(what)
    if not isinstance(what, Iterable) or isinstance(what, (bytes, dict)):
        raise TypeError(f"{name}: {what!r} is not accepted; a Corpus is, a file's path, or a list of texts or records")
    return _parsed(what, name)


def _rows(vectors, name="vectors"):
    array = np.asarray(vectors)
    if array.ndim != 2:
        raise ValueError(f"{name}: an array of one row per word is wanted, not shape {array.shape}")
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


def from_texts(texts: Any) -> Corpus:
    """A corpus of texts, which are cut into sentences and words by Unicode's rules, with the pieces that are marked in them.

    Parameters
    ----------
    texts : list of str, dict or tuple
        Each a document: a text; a record as a line of a JSON lines file, {"text": ..., "spans": [{"start": 0, "end": 4, "label": "SHIP"}]} (Prodigy, spaCy)
        or {"text": ..., "label": [[0, 4, "SHIP"]]} (doccano); or (text, {"entities": [(0, 4, "SHIP")]}) (spaCy's training data). Offsets are characters
        of the text. What has no key for marks is not annotated.

    Raises
    ------
    TypeError
        On what is none of these.
    BadData
        Naming the number of the record, counted from 1, as its line.
    """
    if isinstance(texts, (str, bytes, dict)) or not isinstance(texts, Iterable):
        raise TypeError(f"texts: {texts!r} is not accepted; a list of texts or records is")
    return _parsed(texts, "texts")


def _parsed(texts, name):
    lines = []
    for number, each in enumerate(texts):
        if not isinstance(each, (str, dict, list, tuple)):
            raise TypeError(f"{name}: number {number} is {each!r}; a text is wanted, or a record with one")
        lines.append(json.dumps({"text": each} if isinstance(each, str) else each, default=_plain))
    return Corpus(_core.ner_parse("\n".join(lines), name, {"format": "json-lines"}))


def _plain(value):
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"texts: {value!r} cannot be written as JSON")


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
    _corpus(corpus, "corpus")
    return _encoded(corpus, os.fspath(source), layer, n_jobs)[0]


def _encoded(corpus, source, layer, n_jobs):
    found, taken, notes = _core.ner_vectors(source, corpus._core, {"layer": str(layer)}, _input.threads_of(n_jobs))
    for note in notes:
        if note.code == "no-vector":
            warnings.warn(CoterieWarning._of(note), stacklevel=4)
    return found, taken


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
    for message in report.pop("warnings"):
        warnings.warn(CoterieWarning._of(message), stacklevel=2)
    return report


def load(path: str | os.PathLike[str]) -> Tagger:
    """The tagger in the file `path` that `Tagger.save`, or `coterie ner adapt --model-out`, has written. BadData on what is none."""
    core = _core.ner_load(os.fspath(path))
    out = Tagger(core.encoder or None, layer=core.layer or "auto", method=core.method)
    out._core = core
    return out


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
