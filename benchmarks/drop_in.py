#!/usr/bin/env python3
"""Runs the subjects of scikit-learn's clustering examples, with the classes of scikit-learn and with those of coterie.

    PYTHONPATH=build/release/python PYTHON benchmarks/drop_in.py

PYTHON needs scikit-learn. Each line is one data set and one class. Only the package of the class differs between the two calls. Prints the criterion
of the method (inertia, within-cluster scatter or cut: less is better; silhouette: more is better), the adjusted Rand index of each with the true
classes, and that of the two results with each other.
"""
import warnings

import numpy as np
import scipy.sparse
import sklearn.cluster
import sklearn.datasets
import sklearn.metrics
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import coterie
from sparse_peers import texts

warnings.simplefilter("ignore")


def scatter(X, labels):
    """Sum of the squared distances to the means of the clusters."""
    total = 0.0
    for label in np.unique(labels):
        rows = X[labels == label]
        if scipy.sparse.issparse(rows):
            rows = rows.toarray()
        total += ((rows - rows.mean(axis=0)) ** 2).sum()
    return total


def cut(affinity, labels):
    """Normalised cut of a graph: the sum, over the clusters, of the affinity that leaves the cluster divided by all of its affinity."""
    affinity = scipy.sparse.csr_array(affinity)
    degrees = np.asarray(affinity.sum(axis=1)).ravel()
    return sum(1 - affinity[labels == label][:, labels == label].sum() / degrees[labels == label].sum() for label in np.unique(labels))


def scaled(X):
    return StandardScaler().fit_transform(X)


def circles_image():
    """Four touching discs in a 100 x 100 image, as a graph of neighbouring pixels, and the nearest disc of each pixel."""
    y, x = np.indices((100, 100))
    centers = np.array([(28, 24), (40, 50), (67, 58), (24, 70)])
    distances = np.hypot(x[None] - centers[:, 0, None, None], y[None] - centers[:, 1, None, None]) / np.array([16, 14, 15, 14])[:, None, None]
    mask = (distances < 1).any(axis=0)
    image = mask.astype(float) + 1 + 0.2 * np.random.RandomState(0).randn(100, 100)
    from sklearn.feature_extraction.image import img_to_graph

    graph = img_to_graph(image, mask=mask)
    graph.data = np.exp(-graph.data / graph.data.std())
    return scipy.sparse.csr_array(graph), distances.argmin(axis=0)[mask]


def neighbor_graph(X):
    from sklearn.neighbors import kneighbors_graph

    graph = kneighbors_graph(X, 10, include_self=True)
    return 0.5 * (graph + graph.T)


def swiss_roll():
    X, along = sklearn.datasets.make_swiss_roll(1500, noise=0.05, random_state=0)
    X[:, 1] *= 0.5
    return X, np.digitize(along, np.quantile(along, np.arange(1, 6) / 6))


def skewed():
    X, y = sklearn.datasets.make_blobs(1500, random_state=170)
    return X @ np.array([[0.608, -0.637], [-0.408, 0.853]]), y


def unlike():
    return sklearn.datasets.make_blobs(1500, cluster_std=[1.0, 2.5, 0.5], random_state=170)


def of_texts():
    X = texts(5000, 4000)
    return X, None


def colours():
    """Pixels of a picture that consists of a few hundred patches of colour."""
    random = np.random.RandomState(0)
    patches = random.rand(300, 3)
    return np.clip(patches[random.randint(300, size=20000)] + 0.02 * random.randn(20000, 3), 0, 1), None


def k_means(k, **more):
    return lambda package: package.KMeans(n_clusters=k, n_init=4, random_state=0, **more)


def mini_batch(k):
    return lambda package: package.MiniBatchKMeans(n_clusters=k, batch_size=1024, n_init=10, random_state=0)


def ward(k):
    return lambda package: package.Ward(k) if package is coterie else package.AgglomerativeClustering(n_clusters=k, linkage="ward")


def spectral(k, **more):
    return lambda package: (package.Spectral if package is coterie else package.SpectralClustering)(n_clusters=k, random_state=0, **more)


def examples():
    """(subject, points, truth, function from a package to an estimator, criterion)"""
    digits, digit = sklearn.datasets.load_digits(return_X_y=True)

    moons, moon = sklearn.datasets.make_moons(1500, noise=0.05, random_state=30)
    rings, ring = sklearn.datasets.make_circles(1500, factor=0.5, noise=0.05, random_state=30)
    blobs, blob = sklearn.datasets.make_blobs(3000, centers=[[1, 1], [-1, -1], [1, -1]], cluster_std=0.7, random_state=0)
    graph, disc = circles_image()
    yield "digits, scaled", scaled(digits), digit, lambda p: make_pipeline(k_means(10)(p)), scatter
    yield "digits, two principal axes", PCA(2, random_state=0).fit_transform(digits), digit, k_means(10), scatter
    yield "skewed blobs", *skewed(), k_means(3), scatter
    yield "blobs of different widths", *unlike(), k_means(3), scatter
    yield "colours of a picture", *colours(), k_means(64), scatter
    yield "texts, sparse", *of_texts(), k_means(50), scatter
    yield "texts, sparse, rows of length 1", *of_texts(), lambda p: p.SphericalKMeans(50, n_init=4) if p is coterie else k_means(50)(p), scatter
    yield "three blobs", blobs, blob, k_means(3), scatter
    yield "three blobs, mini-batches", blobs, blob, mini_batch(3), scatter
    yield "digits, mini-batches", scaled(digits), digit, mini_batch(10), scatter
    yield "two moons", scaled(moons), moon, spectral(2, affinity="nearest_neighbors"), lambda X, labels: cut(neighbor_graph(X), labels)
    yield "two rings", scaled(rings), ring, spectral(2, affinity="nearest_neighbors"), lambda X, labels: cut(neighbor_graph(X), labels)
    yield "four discs of an image, a graph", graph, disc, spectral(4, affinity="precomputed"), cut
    yield "swiss roll, Ward", *swiss_roll(), ward(6), scatter
    yield "skewed blobs, Ward", *skewed(), ward(3), scatter
    yield "digits, Ward", digits, digit, ward(10), scatter


def silhouettes():
    """Silhouettes of 2 to 6 clusters: of scikit-learn, then of coterie."""
    X, _ = sklearn.datasets.make_blobs(500, centers=4, cluster_std=1, center_box=(-10, 10), shuffle=True, random_state=1)
    for package, score in ((sklearn.cluster, sklearn.metrics.silhouette_score), (coterie, coterie.metrics.silhouette_score)):
        yield [score(X, package.KMeans(n_clusters=k, n_init=4, random_state=10).fit_predict(X)) for k in range(2, 7)]


def main():
    print(f"scikit-learn {sklearn.__version__}, coterie {coterie.__version__}\n")
    print("| subject | criterion: scikit-learn | coterie | ARI with the truth: scikit-learn | coterie | with each other |\n|---|---|---|---|---|---|")
    for subject, X, truth, make, criterion in examples():
        theirs, ours = (make(package).fit_predict(X) for package in (sklearn.cluster, coterie))
        of_truth = [f"{adjusted_rand_score(truth, labels):.3f}" if truth is not None else "" for labels in (theirs, ours)]
        print(f"| {subject} | {criterion(X, theirs):.6g} | {criterion(X, ours):.6g} | {of_truth[0]} | {of_truth[1]} | {adjusted_rand_score(theirs, ours):.3f} |", flush=True)
    theirs, ours = silhouettes()
    print("\nSilhouettes of 2 to 6 clusters: scikit-learn", *(f"{each:.4f}" for each in theirs), "coterie", *(f"{each:.4f}" for each in ours))


if __name__ == "__main__":
    main()
