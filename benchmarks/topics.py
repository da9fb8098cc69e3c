#!/usr/bin/env python3
"""coterie's classes where BERTopic and UMAP's users put a clustering: BERTopic(hdbscan_model=...), and a pipeline behind UMAP.

    PYTHONPATH=build/release/python PYTHON benchmarks/topics.py

PYTHON has umap-learn, bertopic (without its sentence-transformers), scikit-learn and plotly. Texts are made up of the words of ten topics; their
embeddings, which stand in for a language model's, are their topic's direction in 384 dimensions and noise.
"""
import warnings

import numpy as np
import sklearn.cluster
from sklearn.metrics import adjusted_rand_score
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


def main():
    documents, embeddings, topic = texts()
    print(f"bertopic {bertopic.__version__}, umap-learn {umap.__version__}, scikit-learn {sklearn.__version__}, coterie {coterie.__version__}\n")
    print("| where | class | clusters | ARI with the topics |\n|---|---|---|---|")
    models = {
        "scikit-learn's KMeans": lambda: sklearn.cluster.KMeans(TOPICS, n_init=3, random_state=0),
        "KMeans": lambda: coterie.KMeans(TOPICS, n_init=3),
        "SphericalKMeans": lambda: coterie.SphericalKMeans(TOPICS, n_init=3),
        "Ward": lambda: coterie.Ward(TOPICS),
        "Spectral": lambda: coterie.Spectral(TOPICS),
        "SoftKMeans": lambda: coterie.SoftKMeans(TOPICS, n_init=3),
    }
    for name, make in models.items():
        labels = make_pipeline(umap.UMAP(n_components=5, random_state=0), make()).fit_predict(embeddings)
        print(f"| behind UMAP | `{name}` | {len(np.unique(labels))} | {adjusted_rand_score(topic, labels):.3f} |", flush=True)
    for name, make in models.items():
        model = bertopic.BERTopic(embedding_model=None, umap_model=umap.UMAP(n_components=5, random_state=0), hdbscan_model=make())
        found, _ = model.fit_transform(documents, embeddings)
        again, _ = model.transform(documents[:100], embeddings[:100])
        words = {word for words in model.get_topics().values() for word, _ in words}
        assert len(again) == 100 and len(words) > TOPICS
        print(f"| in BERTopic | `{name}` | {len(set(found))} | {adjusted_rand_score(topic, found):.3f}; {np.mean(np.array(again) == np.array(found[:100])):.0%} of 100 texts given again keep their topic |", flush=True)


if __name__ == "__main__":
    main()
