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


def tensor(path, name):
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    entry = json.loads(raw[8:8 + size])[name]
    begin, end = entry["data_offsets"]
    kind = {"F64": np.float64, "F32": np.float32, "I32": np.int32}[entry["dtype"]]
    return np.frombuffer(raw[8 + size + begin:8 + size + end], kind).reshape(entry["shape"])


@pytest.mark.parametrize("seed", range(6))
def test_subspace_of_known_labels_is_discriminant_analysis(tmp_path, seed):
    from sklearn.covariance import OAS
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    random = np.random.default_rng(seed)
    n, d, k = int(random.integers(60, 400)), int(random.integers(3, 30)), int(random.integers(2, 6))
    y = np.arange(n) % k
    x = random.normal(size=(n, d)) @ random.normal(size=(d, d)) + random.normal(size=(k, d))[y]
    np.save(tmp_path / "y.npy", y.astype(np.int32))
    fit(tmp_path, "subspace", x, "--partial-labels", tmp_path / "y.npy", "--max-iterations", 1, "--model-out", tmp_path / "m.safetensors")
    ours = tensor(tmp_path / "m.safetensors", "directions")
    theirs = LinearDiscriminantAnalysis(solver="eigen", covariance_estimator=OAS()).fit(x, y).scalings_[:, :len(ours)].T
    # scikit-learn leaves signs open; both scale to variance 1 within classes.
    signs = np.sign((ours * theirs).sum(1, keepdims=True))
    assert np.abs(ours - signs * theirs).max() <= 1e-8 * np.abs(theirs).max()


@pytest.mark.parametrize("seed", range(6))
def test_kmeans_within_sizes_is_a_transport_optimum(tmp_path, seed):
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist
    random = np.random.default_rng(seed)
    n, k = 120, 6
    x = blobs(seed, n, 3, 4)
    start = x[random.choice(n, k, replace=False)]
    # Exactly n / k points a cluster: an assignment problem with every cluster n / k times.
    ours, labels = fit(tmp_path, "kmeans", x, "-k", k, "--sizes", n // k, "--max-iterations", 1, "--tolerance", 0, start=start)
    costs = np.repeat(cdist(x, start, "sqeuclidean"), n // k, axis=1)
    first = linear_sum_assignment(costs)[1] // (n // k)
    means = np.array([x[first == j].mean(0) for j in range(k)])
    costs = np.repeat(cdist(x, means, "sqeuclidean"), n // k, axis=1)
    rows, columns = linear_sum_assignment(costs)
    assert np.array_equal(labels, columns // (n // k))
    assert ours["objective"] == pytest.approx(costs[rows, columns].sum(), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_rpca_om_is_its_reweighting(tmp_path, seed):
    random = np.random.default_rng(seed)
    x = random.normal(size=(90, 5)) * [4, 3, 2, 1, 0.5]
    x[::15] += random.normal(size=(6, 5)) * 10
    ours, _ = fit(tmp_path, "rpca-om", x, "-k", 3, "--dimensions", 2, "--tolerance", 0, "--max-iterations", 12)
    weights, objectives = np.ones(len(x)), []
    for _ in range(12):
        mean = weights @ x / weights.sum()
        axes = np.linalg.svd(np.sqrt(weights)[:, None] * (x - mean), full_matrices=False)[2][:2]
        lengths = np.linalg.norm((x - mean) - (x - mean) @ axes.T @ axes, axis=1)
        objectives.append(lengths.sum())
        weights = 0.5 / lengths
    assert ours["objective_per_iteration"] == pytest.approx(objectives[:len(ours["objective_per_iteration"])], rel=1e-9)
    assert ours["iterations"] > 5


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kernel", ["none", "rbf"])
def test_fme_is_the_sum_of_least_eigenvalues(tmp_path, seed, kernel):
    from sklearn.decomposition import KernelPCA
    from sklearn.neighbors import kneighbors_graph
    random = np.random.default_rng(seed)
    x = blobs(seed, 120, 4, 3)
    mu, gamma = random.uniform(0.1, 2, size=2)
    ours, _ = fit(tmp_path, "fme", x, "-k", 4, "--mu", mu, "--gamma", gamma, "--neighbors", 7, "--kernel", kernel, "--kernel-width", 2)
    graph = kneighbors_graph(x, 7).toarray()
    graph = (graph + graph.T) / 2
    scale = graph.sum(1) ** -0.5
    if kernel == "rbf":
        x = KernelPCA(kernel="rbf", gamma=1 / 8, eigen_solver="dense").fit_transform(x)
    x = x - x.mean(0)
    ridge = np.linalg.solve(x.T @ x + np.eye(x.shape[1]) / gamma, x.T)
    matrix = np.eye(120) - scale[:, None] * graph * scale + mu * gamma * (np.eye(120) - x @ ridge)
    rest = np.linalg.qr(np.column_stack([np.ones(120), random.normal(size=(120, 119))]))[0][:, 1:]
    assert ours["objective"] == pytest.approx(np.linalg.eigvalsh(rest.T @ matrix @ rest)[:3].sum(), rel=1e-8)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kernel", ["none", "rbf"])
def test_aml_objective_of_its_labels(tmp_path, seed, kernel):
    from sklearn.metrics.pairwise import rbf_kernel
    x = blobs(seed, 150, 5, 4)
    weight = 0.7
    ours, labels = fit(tmp_path, "aml", x, "-k", 4, "--lambda", weight, "--kernel", kernel, "--kernel-width", 3)
    assert ours["stopped"] == "converged"
    centring = np.eye(150) - 1 / 150
    gram = centring @ (x @ x.T if kernel == "none" else rbf_kernel(x, gamma=1 / 18)) @ centring
    indicator = (labels[:, None] == np.arange(4)) / np.sqrt(np.bincount(labels, minlength=4))
    trace = np.trace(indicator.T @ gram @ np.linalg.solve(gram + weight * np.eye(150), indicator))
    assert ours["objective"] == pytest.approx(4 - trace, rel=1e-8)


def neighbour_graph(x, neighbours):
    from sklearn.neighbors import kneighbors_graph

    directed = kneighbors_graph(x, neighbours, include_self=False)
    return (0.5 * (directed + directed.T)).tocsr()


@pytest.mark.parametrize("n", [300, 2500])  # dense, Lanczos
@pytest.mark.parametrize("given", ["points", "csr", "coo", "mtx"])
def test_spectral_embedding(tmp_path, n, given):
    import scipy.io
    import scipy.linalg
    import scipy.sparse
    import scipy.sparse.linalg

    k = 6
    x = blobs(5, n, 5, 6)
    graph = neighbour_graph(x, 10)
    options = ["-k", k, "--model-out", tmp_path / "model", "--labels-out", tmp_path / "labels.npy", "--json", "--quiet"]
    if given == "points":
        np.save(tmp_path / "points.npy", x)
        words = [tmp_path / "points.npy", "--neighbors", 10]
    elif given == "mtx":
        scipy.io.mmwrite(tmp_path / "graph.mtx", graph)
        words = [tmp_path / "graph.mtx", "--affinity", "precomputed"]
    else:
        scipy.sparse.save_npz(tmp_path / "graph.npz", graph.asformat(given))
        words = [tmp_path / "graph.npz", "--affinity", "precomputed"]
    done = subprocess.run([str(word) for word in [COMMAND, "fit", "spectral", *words, *options]], capture_output=True, text=True, check=True)
    details = json.loads(done.stdout)["details"]
    assert details["eigen_residual"] < 1e-9
    assert details["edges"] == graph.nnz // 2

    degrees = np.asarray(graph.sum(axis=1)).ravel()
    scale = scipy.sparse.diags(1 / np.sqrt(degrees))
    normalised = scale @ graph @ scale
    values, vectors = scipy.sparse.linalg.eigsh(normalised, k=k + 1, which="LA", v0=np.ones(n))
    order = np.argsort(-values)
    assert values[order[k - 1]] - values[order[k]] > 1e-4  # so that the subspace is well defined
    assert details["eigenvalues"] == pytest.approx(1 - values[order[:k]], abs=1e-9)
    ours = tensor(tmp_path / "model", "vectors") * np.sqrt(degrees)[:, None]
    assert scipy.linalg.subspace_angles(ours, vectors[:, order[:k]]).max() < 1e-6


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "rbf"])
@pytest.mark.parametrize("seed", [0, 1])
def test_spectral_clustering(tmp_path, affinity, seed):
    from sklearn.cluster import SpectralClustering

    random = np.random.default_rng(seed)
    k, n = 4, 900
    truth = random.integers(k, size=n)
    x = 4 * random.normal(size=(k, 4))[truth] + random.normal(size=(n, 4))
    if affinity == "rbf":
        _, labels = fit(tmp_path, "spectral", x, "-k", k, "--affinity", "rbf", "--width", 1.5)
    else:
        _, labels = fit(tmp_path, "spectral", x, "-k", k, "--neighbors", 30)
    # scikit-learn counts a point among its neighbours.
    theirs = SpectralClustering(k, affinity=affinity, n_neighbors=31, gamma=1 / 4.5, random_state=0).fit(x)
    if affinity == "nearest_neighbors":
        assert adjusted_rand_score(labels, theirs.labels_) == 1
    assert adjusted_rand_score(labels, theirs.labels_) > 0.99
    assert adjusted_rand_score(labels, truth) > 0.95
