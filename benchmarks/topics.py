#!/usr/bin/env python3
"""Runs coterie's classes as the clustering step of BERTopic (hdbscan_model=...) and of a pipeline behind UMAP.

    PYTHONPATH=build/release/python PYTHON benchmarks/topics.py
    PYTHONPATH=build/release/python PYTHON benchmarks/topics.py --texts $COTERIE_DATA/reuters-r8/reuters-r8-test.tab --encoder FOLDER

PYTHON needs umap-learn, hdbscan, bertopic (without its sentence-transformers), pyyaml, scikit-learn and plotly. By default the texts are generated
from the words of ten topics. Their embeddings replace those of a language model: the direction of the topic in 384 dimensions, plus noise. --texts
reads a file instead, with a class, a tab and the text per line. Its embeddings are the means of the word vectors of the encoder in FOLDER (Hugging
Face format).
"""
import argparse
import pathlib
import tempfile
import time
import warnings

import hdbscan
import numpy as np
import sklearn.cluster
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.pipeline import make_pipeline

warnings.simplefilter("ignore")
import bertopic
import umap

import coterie

TOPICS, TEXTS = 10, 1000


def texts():
    random = np.random.default_rng(0)
    topic = random.integers(TOPICS, size=TEXTS)
    words = np.where(random.random((TEXTS, 30)) < 0.7, topic[:, None] * 40 + random.integers(40, size=(TEXTS, 30)), TOPICS * 40 + random.integers(300, size=(TEXTS, 30)))
    documents = [" ".join(f"word{word}" for word in row) for row in words]
    directions = random.normal(size=(TOPICS, 384))
    embeddings = directions[topic] + 1.5 * random.normal(size=(TEXTS, 384))
    return documents, (embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)).astype(np.float32), topic


def texts_of(file, encoder):
    """Like texts(), from a file with a header of three lines."""
    classes, documents = zip(*(line.split("\t", 1) for line in pathlib.Path(file).read_text().splitlines()[3:] if "\t" in line))
    words = [document.split() for document in documents]
    with tempfile.NamedTemporaryFile("w", suffix=".conll") as columns:
        columns.write("\n".join("".join(f"{word} O\n" for word in text) for text in words))
        columns.flush()
        begin = time.perf_counter()
        rows = coterie.ner.vectors(coterie.ner.read(columns.name), encoder, layer="last")
    print(f"{len(rows):,} words of {len(words):,} texts encoded in {time.perf_counter() - begin:.0f} s\n")
    embeddings = np.array([part.mean(axis=0) for part in np.split(rows, np.cumsum([len(text) for text in words])[:-1])])
    return list(documents), (embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)).astype(np.float32), np.unique(classes, return_inverse=True)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts")
    parser.add_argument("--encoder", help="folder of the encoder, for --texts")
    arguments = parser.parse_args()
    print(f"bertopic {bertopic.__version__}, umap-learn {umap.__version__}, scikit-learn {sklearn.__version__}, coterie {coterie.__version__}\n")
    documents, embeddings, topic = texts_of(arguments.texts, arguments.encoder) if arguments.texts else texts()
    count = len(np.unique(topic))
    print("| where | class | clusters | ARI, NMI with the topics | seconds of the class |\n|---|---|---|---|---|")
    models = {
        "scikit-learn's KMeans": lambda: sklearn.cluster.KMeans(count, n_init=3, random_state=0),
        "KMeans": lambda: coterie.KMeans(count, n_init=3),
        "SphericalKMeans": lambda: coterie.SphericalKMeans(count, n_init=3),
        "Ward": lambda: coterie.Ward(count),
        "Spectral": lambda: coterie.Spectral(count),
        "SoftKMeans": lambda: coterie.SoftKMeans(count, n_init=3),
        "hdbscan's HDBSCAN": lambda: hdbscan.HDBSCAN(min_cluster_size=15, prediction_data=True),
        "HDBSCAN": lambda: coterie.HDBSCAN(min_cluster_size=15),
    }

    def tell(where, name, labels, seconds, more=""):
        labels = np.asarray(labels)
        noise = f", {np.mean(labels < 0):.0%} noise" if (labels < 0).any() else ""
        agreement = f"{adjusted_rand_score(topic, labels):.3f}, {normalized_mutual_info_score(topic, labels):.3f}"
        print(f"| {where} | `{name}` | {len(np.unique(labels[labels >= 0]))}{noise} | {agreement}{more} | {seconds:.2f} |", flush=True)

    reduced = umap.UMAP(n_components=5, random_state=0).fit_transform(embeddings)
    for where, points in (("on the embeddings", embeddings), ("behind UMAP", reduced)):
        for name, make in models.items():
            begin = time.perf_counter()
            labels = make().fit_predict(points)
            tell(where, name, labels, time.perf_counter() - begin)
    assert (make_pipeline(umap.UMAP(n_components=5, random_state=0), models["KMeans"]()).fit_predict(embeddings) == models["KMeans"]().fit_predict(reduced)).all()
    for name, make in models.items():
        begin = time.perf_counter()
        model = bertopic.BERTopic(embedding_model=None, umap_model=umap.UMAP(n_components=5, random_state=0), hdbscan_model=make(), vectorizer_model=CountVectorizer(stop_words="english"))
        found, _ = model.fit_transform(documents, embeddings)
        seconds = time.perf_counter() - begin
        again, _ = model.transform(documents[:100], embeddings[:100])
        assert len(again) == 100
        tell("in BERTopic", name, found, seconds, f"; {np.mean(np.array(again) == np.array(found[:100])):.0%} of 100 repeated texts keep their topic")
        if name in ("SphericalKMeans", "HDBSCAN"):
            print(f"| topics of `{name}` | " + "; ".join(" ".join(word for word, _ in model.get_topic(number)[:3]) for number in range(5)) + " | | | |")


if __name__ == "__main__":
    main()
