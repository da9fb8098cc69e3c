"""A user's script, only read by mypy --strict (typing_test.py). Wrong lines name the error that mypy must report."""
from typing import Any

import numpy as np

import coterie
from coterie import BadArgument, KMeans, NotFittedError, load
from coterie.metrics import adjusted_rand_score

X, y = coterie.datasets.load_digits(return_X_y=True)
model: KMeans = coterie.KMeans(n_clusters=10, n_init=10, scale="zscore", random_state=np.random.default_rng(0)).fit(X)
same: KMeans = model.set_params(n_clusters=3).fit(X, sample_weight=np.ones(len(X)))
labels: np.ndarray = model.labels_
inertia: float = model.inertia_
iterations: int = model.n_iter_
report: dict[str, Any] = model.fit_report_
share: np.ndarray = coterie.SoftKMeans(3).fit(X).predict_proba(X)
near: np.ndarray = model.distances(X)
value: float = adjusted_rand_score(y, model.predict(X)) + model.score(X) + coterie.metrics.silhouette_score(X, labels)


def enough(info: dict[str, Any]) -> bool:
    return bool(info["fraction"] > 0.5)


coterie.Ward(3, callback=enough).fit(X).save("ward.coterie")
again: coterie._base.Clusterer = load("ward.coterie")
coterie.to_onnx(model, "model.onnx", dtype="float32")
coterie.report(model, X, y, source="digits").save("page.html")
best: dict[str, Any] = coterie.tune(KMeans(), X, {"n_clusters": range(2, 7)}, select="silhouette").best_params_
names: list[str] = coterie.datasets.names()
coterie.describe(model, X)["clusters"]
corpus, vectors = coterie.ner.load_voyages()
f1: float = coterie.ner.score(corpus, coterie.ner.Tagger().fit(corpus, support_vectors=vectors).tag(corpus, vectors))["f1"]
coterie.plot.sizes(model)
try:
    coterie.Subspace(None, max_iter=100).fit(X, y)
except (BadArgument, NotFittedError) as error:
    print(error.option, error.accepted, error.row)

coterie.KMeans(clusters=3)  # type: ignore[call-arg]
coterie.KMeans("three")  # type: ignore[arg-type]
coterie.Ward(3).predict_proba(X)  # type: ignore[attr-defined]
coterie.KMeans(3).fit(X).save(3)  # type: ignore[arg-type]
coterie.nothing  # type: ignore[attr-defined]
