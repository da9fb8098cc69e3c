"""The command beside scikit-learn, where both do the same thing: from the same start, the same labels and inertia."""
import json
import os
import subprocess

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("sklearn")
from sklearn.cluster import AgglomerativeClustering, KMeans  # noqa: E402
from sklearn.metrics import adjusted_rand_score  # noqa: E402

COMMAND = os.environ["COTERIE_COMMAND"]


def fit(folder, method, points, *options, weights=None, start=None):
    np.save(folder / "points.npy", points)
    words = [COMMAND, "fit", method, folder / "points.npy", "--labels-out", folder / "labels.npy", "--json", "--quiet", *options]
    if weights is not None:
        np.save(folder / "weights.npy", weights)
        words += ["--weights", folder / "weights.npy"]
    if start is not None:
        np.save(folder / "start.npy", start)
        words += ["--initial-centroids", folder / "start.npy"]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True)
    return json.loads(done.stdout), np.load(folder / "labels.npy")


def blobs(seed, n, d, k):
    random = np.random.default_rng(seed)
    return random.normal(size=(k, d))[random.integers(k, size=n)] * 2 + random.normal(size=(n, d))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("weighted", [False, True])
def test_kmeans(tmp_path, seed, weighted):
    random = np.random.default_rng(seed)
    n, d, k = int(random.integers(50, 3000)), int(random.integers(1, 40)), int(random.integers(2, 30))
    x = blobs(seed, n, d, 8)
    weights = random.uniform(0.1, 3, size=n) if weighted else None
    start = x[:k]
    ours, labels = fit(tmp_path, "kmeans", x, "-k", k, "--tolerance", 0, "--max-iterations", 1000, weights=weights, start=start)
    theirs = KMeans(k, init=start, n_init=1, tol=0, max_iter=1000, algorithm="lloyd").fit(x, sample_weight=weights)
    assert ours["objective"] == pytest.approx(theirs.inertia_, rel=1e-9)
    assert np.array_equal(labels, theirs.labels_)


def test_kmeans_in_float32(tmp_path):
    x = blobs(3, 20000, 32, 20).astype(np.float32)
    start = x[:20]
    ours, labels = fit(tmp_path, "kmeans", x, "-k", 20, start=start)
    theirs = KMeans(20, init=start, n_init=1, algorithm="lloyd").fit(x)
    assert ours["objective"] == pytest.approx(theirs.inertia_, rel=1e-5)
    assert (labels == theirs.labels_).mean() > 0.999


@pytest.mark.parametrize("seed", range(4))
def test_ward(tmp_path, seed):
    x = blobs(seed, 600, 5, 7)
    _, labels = fit(tmp_path, "ward", x, "-k", 7)
    assert adjusted_rand_score(labels, AgglomerativeClustering(7, linkage="ward").fit(x).labels_) == 1
