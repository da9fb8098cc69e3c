"""Named entities from a few annotated sentences: the command's `ner`.

    from coterie import ner
    tagger = ner.Tagger("all-MiniLM-L6-v2").fit("support.jsonl", "letters.txt")
    for span in tagger.predict(["The Grey Heron left Marwick on Monday."])[0]:
        print(span.label, span.text, span.probability)

Row i of an array of vectors is the vector of word i of its corpus. Words are counted through all sentences.
"""
from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _core, _input
from ._base import Parameters
from ._docstrings import SHARED, complete_docstrings, entry, section
from ._errors import BadArgument, BadData, NotFittedError
from ._report import Page

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "Corpus", "Span", "Tagger", "find_sentences", "from_texts", "from_words", "load", "load_voyages", "read", "sample_support", "score", "train_source",
    "vectors",
]

SHARED.update({
    "corpus": section("Parameters", "corpus : Corpus"),
    "layer": entry(
        "layer : {'auto', 'last', 'middle'} or int, default='auto'",
        "The encoder's layer. 'auto': the last layer of an encoder that `train_source` wrote, the middle layer of others.",
    ),
    "vectors as in tag": entry("vectors : array of shape (n_words, d), default=None", "As in `tag`."),
    "decoding as in predict": entry("decoding : {'nearest', 'viterbi'}, default='nearest'", "As in `predict`."),
    "wrong vectors": section("Raises", "ValueError", "The vectors have the wrong shape."),
})


class Span(NamedTuple):
    """A mention by the characters of its document: document[start:end], its type (label), and the tagger's certainty, as in `Corpus.mentions`."""

    start: int
    end: int
    label: str
    text: str
    margin: float
    probability: float


class Corpus:
    """Sentences of words, with their mentions.

    Attributes
    ----------
    words : list of list of str
        The words of each sentence.
    mentions : list of list of (begin, end, type, margin, probability)
        The mentions of each sentence: words begin to end - 1. The margin orders mentions by the tagger's certainty. The probability is calibrated on
        words of the support that were left out; 0: unknown.
    spans : list of list of Span
        The mentions of each document, by characters of its text.
    annotated : list of bool
        Whether the sentence is annotated.
    types : list of str
        The types of mentions.
    texts : list of str
        The documents.
    tags : array of int32 of shape (n_words,)
        0 outside mentions, 1 + the number of the type inside, -1 in sentences that are not annotated.
    notes : list of str
        Notes of the reader, for example the scheme of the tags.
    format : str
        The format of the file.
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
        """Returns a corpus of some of the sentences.

        Parameters
        ----------
        sentences : array of int, or array of bool of shape (n_sentences,)
            The numbers of the sentences, from 0; or True for each sentence to keep.
        **shared : returns Corpus, raises ValueError
            A number is out of range, or the array has another type or shape.
        """
        count = len(self.annotated)
        numbers = np.asarray(sentences if isinstance(sentences, np.ndarray) else list(sentences))
        if numbers.dtype.kind == "b" and numbers.shape == (count,):
            numbers = np.flatnonzero(numbers)
        if numbers.size == 0:
            numbers = numbers.astype(np.int64)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise BadArgument(
                f"sentences: an array of {numbers.dtype} of shape {numbers.shape} is not accepted. Use whole numbers from 0 to {count - 1}, "
                "or one True or False for each sentence."
            )
        for number in numbers:
            if not 0 <= number < count:
                raise BadArgument(f"sentences: {number} is not accepted. Use numbers from 0 to {count - 1}.")
        return Corpus(self._core.subset(numbers.tolist()))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the corpus to a file as `coterie ner tag --out` does, completely or not at all.

        A corpus read from columns is written as columns; all others are written as JSON lines.
        **shared : parameter path, unwritable path
        """
        self._core.write(os.fspath(path))

    def __getstate__(self):
        return self._core.state

    def __setstate__(self, state):
        self._core = _core.ner_corpus(state)

    def __repr__(self) -> str:
        return f"Corpus({len(self.annotated)} sentences, {len(self.tags)} words, types {', '.join(self.types) or 'none'})"


class Tagger(Parameters):
    """A tagger, adapted from a few annotated sentences and many sentences without annotation.

    Parameters
    ----------
    encoder : str or PathLike, default=None
        The source of word vectors: an encoder's folder (BERT, DistilBERT, MPNet) or a file of static vectors. None: pass vectors to `fit`, `tag`,
        `suggest` and `page`.
    **shared : layer
    method : {'auto', 'k-means', 'support-space', 'discriminant', 'logistic', 'prototypes', 'nearest-word'}, default='auto'
        How to adapt. 'auto' compares the four methods from 'k-means' to 'logistic' by leaving out each sentence of the support in turn.
    outside_share : float or str, default='auto'
        Share of words outside mentions, among all words: a number, 'LOW:HIGH', 'none' or 'auto' (estimated if every type has at least 5 mentions).
    assignment : {'hard', 'soft'}, default='hard'
        How k-means assigns words to clusters.
    random_state : int, default=0
        Draws the words for the comparison of methods if there are more than 10,000.
    **shared : n_jobs as in the classes

    Attributes
    ----------
    types_ : list of str
        The types of mentions.
    method_ : str
        The method that was used.
    layer_ : str
        The encoder's layer that was used; "" without an encoder.
    n_features_in_ : int
        Length of a vector.
    outside_share_ : (low, high) or None
        Share of words outside mentions among all words, given or estimated, for which probabilities are computed. None: unknown.
    support_outside_share_ : float
        The same share in the support. The support was chosen for its mentions, so probabilities are shifted from this share to `outside_share_`.
    report_ : dict
        The report of `fit`: method, chosen_because, compared (counts and f1 of each method in the sentences left out), outside_share (low, high),
        share_origin. A loaded tagger does not have it.
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
        """Adapts the tagger.

        Parameters
        ----------
        support : Corpus, path, or list of records
            The annotated sentences: a corpus, a file for `read`, or records for `from_texts`, such as
            {"text": "Ida left Marwick.", "spans": [{"start": 9, "end": 16, "label": "PLACE"}]}.
        unlabelled : Corpus, path, list of str, or None
            Similar text without annotation. Mentions in it are ignored. More text gives better results.
        support_vectors, unlabelled_vectors : array of shape (n_words, d), or None
            Vectors of the words, if they do not come from `encoder`. `unlabelled_vectors` may be given without `unlabelled`.
        **shared : returns self, raises ValueError
            A parameter is not accepted, a sentence is not annotated, a type has no mention, or vectors are missing or have the wrong shape.
        BadData
            A file or record is not valid. The message has the file and line; for a record, the line is its number.
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
        _input.warn(report.pop("warnings"), stacklevel=3)
        if support_vectors is None:
            core.encoder, core.layer = os.fspath(self.encoder), layer
        self._core, self.report_ = core, report
        return self

    def predict(self, texts: Iterable[str], *, decoding: str = "nearest") -> list[list[Span]]:
        """Finds the mentions of texts.

        Parameters
        ----------
        texts : list of str
            Unicode's rules divide them into sentences and words.
        decoding : {'nearest', 'viterbi'}, default='nearest'
            'nearest': the best type of each word. 'viterbi': the best types of each sentence.
        **shared : returns list of list of Span
            The mentions of each text, in their order.
        **shared : raises TypeError
            `texts` is not a list of str.
        ValueError
            The tagger does not have an encoder.
        """
        if isinstance(texts, str):
            raise TypeError(f"texts: {texts!r} is not accepted. Use a list of texts.")
        texts = list(texts)
        for number, text in enumerate(texts):
            if not isinstance(text, str):
                raise TypeError(f"texts: number {number} is {text!r}, not a str")
        self._fitted()
        if not any(text.strip() for text in texts):
            return [[] for _ in texts]
        return self.tag(from_texts(texts), decoding=decoding).spans

    def scores(self, vectors: Any) -> np.ndarray:
        """Returns the scores of O (outside mentions) and of each type for each word. Larger is better.

        Parameters
        ----------
        vectors : array of shape (n_words, d)

        Returns
        -------
        array of shape (n_words, 1 + n_types)
        **shared : raises ValueError
            d is not n_features_in_.
        """
        return self._fitted().scores(_rows(vectors), _input.threads_of(self.n_jobs))

    def tag(self, corpus: Corpus, vectors: Any = None, *, decoding: str = "nearest") -> Corpus:
        """Returns a copy of the corpus with the mentions that the tagger finds.
        **shared : corpus
        vectors : array of shape (n_words, d), default=None
            The vectors of the words of the corpus. None: from the tagger's encoder.
        **shared : decoding as in predict, returns Corpus, wrong vectors
        """
        return Corpus(self._on_words("tag", corpus, vectors, {"decoding": decoding}))

    def suggest(self, corpus: Corpus, vectors: Any = None, count: int = 5) -> list[tuple[int, str, float]]:
        """Suggests which sentences to annotate next.
        **shared : corpus
            Annotated sentences are not suggested.
        **shared : vectors as in tag
        count : int, default=5
            The number of suggestions.

        Returns
        -------
        list of (sentence, type, value)
            The number of the sentence, the type for which it is suggested, and the value of annotating it, from 0 to 1.
        **shared : wrong vectors
        """
        return self._on_words("suggest", corpus, vectors, {"count": count})

    def page(self, corpus: Corpus, vectors: Any = None, *, decoding: str = "nearest", count: int = 5) -> Page:
        """Makes a self-contained page of HTML that shows the mentions found. You can correct them there and download them as a support for `fit`.

        The page shows at most 1,000 sentences and 100,000 words, and says which ones.
        **shared : corpus, vectors as in tag, decoding as in predict
        count : int, default=5
            The number of suggested sentences (`suggest`), which are shown first.
        **shared : returns Page, wrong vectors
        """
        return Page(self._on_words("page", corpus, vectors, {"decoding": decoding}, {"count": count}))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the tagger to a file, completely or not at all. `load` and the command read it.
        **shared : parameter path, unwritable path
        """
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
        """The encoder or file that gives vectors for any corpus."""
        place = "" if self.encoder is None else os.fspath(self.encoder)
        if not place or place.endswith(".npy"):
            what = f"{place} has the vectors of only one corpus" if place else "None does not give vectors"
            raise ValueError(f"encoder: {what}. Use an encoder's folder or a file of static vectors, or pass the vectors of the words.")
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
        raise TypeError(f"{name}: {corpus!r} is not accepted. Use a Corpus, for example from coterie.ner.read.")
    return corpus._core


def _corpus_of(what, name):
    if isinstance(what, Corpus):
        return what
    if isinstance(what, (str, os.PathLike)):
        return read(what)
    if not isinstance(what, Iterable) or isinstance(what, (bytes, dict)):
        raise TypeError(f"{name}: {what!r} is not accepted. Use a Corpus, the path of a file, or a list of texts or records.")
    return _parsed(what, name)


def _rows(vectors, name="vectors"):
    array = np.asarray(vectors)
    if array.ndim != 2:
        raise ValueError(f"{name}: an array of shape {array.shape} is not accepted. Use an array with one row per word.")
    return np.ascontiguousarray(array, dtype=array.dtype if array.dtype in (np.float32, np.float64) else np.float64)


def read(path: str | os.PathLike[str], *, format: str = "auto", lenient: bool = False) -> Corpus:
    """Reads a corpus from a file: CoNLL columns, JSON lines (doccano, spaCy, Prodigy), brat's FILE.ann or plain text.
    **shared : parameter path
        The file. For brat: FILE.ann, with FILE.txt in the same folder.
    format : {'auto', 'conll', 'json-lines', 'text', 'brat'}, default='auto'
    lenient : bool, default=False
        Whether to read inconsistent tags as the script conlleval does. Otherwise they are an error.
    **shared : returns Corpus, raises BadData
        The file is not valid. The message has the file and line.
    """
    return Corpus(_core.ner_read(os.fspath(path), {"format": format}, lenient))


def from_words(sentences: Any) -> Corpus:
    """Makes a corpus from sentences that are already divided into words, without annotation.

    Parameters
    ----------
    sentences : list of list of str
        Each sentence has at least one word.
    **shared : returns Corpus, raises BadData
        A sentence or a word is empty.
    TypeError
        `sentences` is not a list of lists of str.
    """
    if isinstance(sentences, str):
        raise TypeError(f"sentences: {sentences!r} is not accepted. Use lists of words, for example [['Hello', 'world']].")
    lists = []
    for number, words in enumerate(sentences):
        if isinstance(words, str) or not isinstance(words, Iterable):
            raise TypeError(f"sentences: sentence {number} is {words!r}, not a list of words")
        lists.append(list(words))
        for word in lists[-1]:
            if not isinstance(word, str):
                raise TypeError(f"sentences: sentence {number} has {word!r}, which is not a str")
    return Corpus(_core.ner_words([[str(word) for word in words] for words in lists]))


def from_texts(texts: Any) -> Corpus:
    """Makes a corpus from texts and their mentions. Unicode's rules divide the texts into sentences and words.

    Parameters
    ----------
    texts : list of str, dict or tuple
        Each is a document:

        - a text
        - a record as in a JSON lines file: {"text": ..., "spans": [{"start": 0, "end": 4, "label": "SHIP"}]} (Prodigy, spaCy) or
          {"text": ..., "label": [[0, 4, "SHIP"]]} (doccano)
        - (text, {"entities": [(0, 4, "SHIP")]}) (spaCy's training data)

        Offsets are characters of the text. A document without a key for mentions is not annotated.
    **shared : returns Corpus, raises TypeError
        `texts` is not a list of these.
    BadData
        A record is not valid. The message has the number of the record, counted from 1, as the line.
    """
    if isinstance(texts, (str, bytes, dict)) or not isinstance(texts, Iterable):
        raise TypeError(f"texts: {texts!r} is not accepted. Use a list of texts or records.")
    return _parsed(texts, "texts")


def _parsed(texts, name):
    lines = []
    for number, each in enumerate(texts):
        if not isinstance(each, (str, dict, list, tuple)):
            raise TypeError(f"{name}: number {number} is {each!r}, not a text or a record with a text")
        lines.append(json.dumps({"text": each} if isinstance(each, str) else each, default=_plain))
    return Corpus(_core.ner_parse("\n".join(lines), name, {"format": "json-lines"}))


def _plain(value):
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"texts: {value!r} cannot be written as JSON")


def load_voyages() -> tuple[Corpus, np.ndarray]:
    """Loads coterie's example corpus: 40 sentences about ships with three types of mentions, and the vectors of their 494 words.

    Returns
    -------
    (Corpus, array of float32 of shape (494, 48))
    **shared : raises BadData
        The package does not have the corpus.
    """
    for folder in _core.data_folders():
        place = os.path.join(folder, "voyages")
        if os.path.isdir(place):
            return read(os.path.join(place, "voyages.conll")), np.load(os.path.join(place, "voyages.npy"))
    raise BadData("the folder voyages is missing in " + ", ".join(_core.data_folders()))


def vectors(corpus: Corpus, source: str | os.PathLike[str], *, layer: str | int = "auto", n_jobs: int | None = None) -> np.ndarray:
    """Computes the vectors of the words of a corpus. Warns of words without a vector.
    **shared : corpus
    source : str or PathLike
        An encoder's folder (BERT, DistilBERT, MPNet), a file of static vectors, or FILE.npy.
    **shared : layer, n_jobs as in the classes

    Returns
    -------
    array of shape (n_words, d)
    **shared : raises ValueError
        A parameter is not accepted.
    BadData
        A file is not valid.
    """
    _corpus(corpus, "corpus")
    return _encoded(corpus, os.fspath(source), layer, n_jobs)[0]


def _encoded(corpus, source, layer, n_jobs):
    found, taken, notes = _core.ner_vectors(source, corpus._core, {"layer": str(layer)}, _input.threads_of(n_jobs))
    _input.warn([note for note in notes if note.code == "no-vector"], stacklevel=5)
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
    """Trains an encoder on annotated corpora of other domains, and writes it as a folder for `vectors` and `Tagger`.

    Needs LibTorch and coterie's library for networks.

    Parameters
    ----------
    encoder : str or PathLike
        A folder in the format of Hugging Face: BERT, DistilBERT or MPNet.
    corpora : list of Corpus
        All sentences are annotated. The corpora may have different types. With objective='support', one corpus.
    out : str or PathLike
        The folder to write. It must not exist.
    objective : {'prototypes', 'contrastive', 'support'}, default='prototypes'
        'prototypes': also trains one prototype c_t for each tag of each corpus; the loss is -ln p of the words' tags, with p_t proportional to
        exp(-1/2 ||x - c_t||^2). 'contrastive': each word becomes a Gaussian, and the Gaussians of one tag are drawn together (CONTaiNER); their
        projection is saved in the encoder's folder. 'support': the same on the support of a tagger, for an encoder trained with 'contrastive'.
    epochs : int, default=1
        Passes over the corpora. With 'support', training continues until the loss rises.
    learning_rate : float, default=5e-5
        The largest learning rate of AdamW. It rises over the first tenth of the words and then falls to 0. With 'support' it is constant.
    checkpoint : str or PathLike, default=None
        A file for the state. An interrupted training continues from it, with the same bits as without the interruption.
    random_state : int, default=0
        Draws the order of the sentences and the dropout.
    **shared : n_jobs as in the classes, returns dict
        loss_per_epoch (means over the words), words, words_trained, distance (between contrasted words, otherwise None) and seconds.
    **shared : raises ValueError
        A parameter is not accepted, `out` exists, the training diverges, or a folder or corpus is not valid (BadData).
    OSError
        LibTorch is missing.
    """
    report = _core.ner_train(
        os.fspath(encoder), [_corpus(corpus, "corpora") for corpus in corpora], os.fspath(out),
        {"objective": objective, "epochs": epochs, "learning_rate": learning_rate},
        _input.seed_of(random_state), _input.threads_of(n_jobs), "" if checkpoint is None else os.fspath(checkpoint),
    )
    _input.warn(report.pop("warnings"), stacklevel=3)
    return report


def load(path: str | os.PathLike[str]) -> Tagger:
    """Loads a tagger from a file.
    **shared : parameter path
        A file that `Tagger.save` or `coterie ner adapt --model-out` wrote.
    **shared : returns Tagger, raises BadData
        The file does not hold a valid tagger.
    """
    core = _core.ner_load(os.fspath(path))
    out = Tagger(core.encoder or None, layer=core.layer or "auto", method=core.method)
    out._core = core
    return out


def sample_support(corpus: Corpus, shots: int = 5, *, random_state: Any = 0) -> list[int]:
    """Draws sentences with at least `shots` mentions of every type, by the greedy rule of Yang and Katiyar (2020).
    **shared : corpus
    shots : int, default=5
    random_state : int or generator, default=0
    **shared : returns list of int
        The numbers of the sentences.
    **shared : raises BadData
        A type has fewer than `shots` mentions.
    """
    return _core.ner_sample(_corpus(corpus, "corpus"), {"shots": shots}, _input.seed_of(random_state))


def find_sentences(some: Corpus, all: Corpus) -> list[int]:
    """Finds the sentences of one corpus in another.

    Parameters
    ----------
    some : Corpus
        The sentences to find.
    all : Corpus
        Where to look.
    **shared : returns list of int
        For each sentence of `some`, the number of a sentence of `all` with the same words. Each number occurs once.
    **shared : raises BadData
        A sentence is missing in `all`.
    """
    return _core.ner_find(_corpus(some, "some"), _corpus(all, "all"))


def score(gold: Corpus, found: Corpus) -> dict[str, Any]:
    """Compares found mentions with annotated ones, as conlleval does.

    Parameters
    ----------
    gold : Corpus
        The annotated sentences.
    found : Corpus
        The same sentences, tagged.
    **shared : returns dict
        marked, found, right, precision, recall and f1. "types" has the same for each type.
    **shared : raises ValueError
        The sentences differ.
    """
    micro, types = _core.ner_score(_corpus(gold, "gold"), _corpus(found, "found"))
    ours, theirs = (["".join("".join(words).split()) for words in corpus.words] for corpus in (gold, found))
    if "".join(ours) != "".join(theirs) and sorted(ours) != sorted(theirs):  # the corpora may divide the texts differently
        raise BadData(f"gold and found: not the same sentences; gold has {len(ours)}, found {len(theirs)}")
    return {**micro, "types": types}


complete_docstrings(globals())
