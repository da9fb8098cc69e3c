"""Checks that an installed package works with NumPy alone: without a compiler, scikit-learn or the build folder."""
import os
import pickle
import sys
import tempfile

import numpy as np

import coterie

for absent in ("sklearn", "scipy", "pandas"):
    try:
        __import__(absent)
        sys.exit(f"smoke: {absent} is here, so that this says nothing of a bare environment")
    except ImportError:
        pass

X, y = coterie.datasets.load_digits(return_X_y=True)
model = coterie.KMeans(10, n_init=3).fit(X)
assert coterie.metrics.accuracy_score(y, model.labels_) > 0.7
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.coterie")
    coterie.save(model, path)
    assert np.array_equal(coterie.load(path).predict(X), model.labels_)
    np.savez(os.path.join(folder, "x.npz"), X)
    assert np.array_equal(coterie.KMeans(10, n_init=3).fit(os.path.join(folder, "x.npz")).labels_, model.labels_)
assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.labels_)
known = np.where(np.arange(len(y)) % 20 == 0, y, -1)
few = coterie.Subspace(n_clusters=None).fit(X, known)
assert (few.cluster_labels_[few.labels_] == y).mean() > 0.85
for name in ("Ward", "Spectral", "Cpd", "Entropy", "Wmc"):
    assert getattr(coterie, name)(3).fit(X[:300]).labels_.shape == (300,), name
corpus = coterie.ner.from_texts(["The Grey Heron left Marwick.", "我们去北京大学读书。", "สวัสดีครับผมชื่อสมชาย", "吾輩は猫である。"])
assert corpus.words[1:] == [["我们", "去", "北京", "大学", "读书", "。"], ["สวัสดี", "ครับ", "ผม", "ชื่อ", "สมชาย"], ["吾輩", "は", "猫", "で", "ある", "。"]], corpus.words
with tempfile.TemporaryDirectory() as folder:
    words = os.path.join(folder, "words.txt")
    with open(words, "w") as file:
        file.write("Grey 1 0\nHeron 1 0.1\nMarwick 0 1\nThe -1 -1\nleft -1 -0.9\n. -0.9 -1\n")
    support = [{"text": "The Grey Heron left Marwick.", "spans": [{"start": 4, "end": 14, "label": "SHIP"}, {"start": 20, "end": 27, "label": "PLACE"}]}]
    tagger = coterie.ner.Tagger(words, method="prototypes").fit(support)
    assert [(span.label, span.text) for span in tagger.predict(["Marwick left Grey Heron"])[0]] == [("PLACE", "Marwick"), ("SHIP", "Grey Heron")]
try:
    coterie.Dekm(3).fit(X)
    print("networks are there")
except coterie.ResourceError as error:
    assert "LibTorch" in str(error)
try:
    coterie.KMeans(10).fit("x.h5")
except ValueError as error:
    assert "x.h5" in str(error)
print(f"coterie {coterie.__version__} works with NumPy {np.__version__} and Python {sys.version.split()[0]}")
