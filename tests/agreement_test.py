"""Compares the command with scikit-learn where both do the same: same start, same labels and inertia."""
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
def test_subspace_with_all_labels_equals_discriminant_analysis(tmp_path, seed):
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
    # Signs in scikit-learn are arbitrary. Both programs scale to variance 1 within classes.
    signs = np.sign((ours * theirs).sum(1, keepdims=True))
    assert np.abs(ours - signs * theirs).max() <= 1e-8 * np.abs(theirs).max()


@pytest.mark.parametrize("seed", range(6))
def test_kmeans_with_sizes_solves_the_transport_problem(tmp_path, seed):
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist
    random = np.random.default_rng(seed)
    n, k = 120, 6
    x = blobs(seed, n, 3, 4)
    start = x[random.choice(n, k, replace=False)]
    # With exactly n / k rows per cluster, this is an assignment problem in which each cluster appears n / k times.
    ours, labels = fit(tmp_path, "kmeans", x, "-k", k, "--sizes", n // k, "--max-iterations", 1, "--tolerance", 0, start=start)
    costs = np.repeat(cdist(x, start, "sqeuclidean"), n // k, axis=1)
    first = linear_sum_assignment(costs)[1] // (n // k)
    means = np.array([x[first == j].mean(0) for j in range(k)])
    costs = np.repeat(cdist(x, means, "sqeuclidean"), n // k, axis=1)
    rows, columns = linear_sum_assignment(costs)
    assert np.array_equal(labels, columns // (n // k))
    assert ours["objective"] == pytest.approx(costs[rows, columns].sum(), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_rpca_om_equals_iterative_reweighting(tmp_path, seed):
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
def test_fme_objective_is_the_sum_of_least_eigenvalues(tmp_path, seed, kernel):
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
    # scikit-learn counts a row among its own neighbours.
    theirs = SpectralClustering(k, affinity=affinity, n_neighbors=31, gamma=1 / 4.5, random_state=0).fit(x)
    if affinity == "nearest_neighbors":
        assert adjusted_rand_score(labels, theirs.labels_) == 1
    assert adjusted_rand_score(labels, theirs.labels_) > 0.99
    assert adjusted_rand_score(labels, truth) > 0.95


def fitted(folder, method, points, *options):
    found, _ = fit(folder, method, points, "-k", 2, "--normalize", "none", *options)
    return found["details"]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("l1_share", [1, 0.8])
def test_representations_equal_lasso_and_elastic_net(tmp_path, seed, l1_share):
    from sklearn.linear_model import ElasticNet
    random = np.random.default_rng(seed)
    n, d, a = int(random.integers(20, 60)), int(random.integers(5, 30)), 8
    x = random.normal(size=(n, d))
    words = ["ensc", x, "--l1-share", l1_share] if l1_share < 1 else ["ssc", x]
    ours = fitted(tmp_path, *words, "--lambda", a)
    nonzeros = 0
    for i in range(n):
        others, y = np.delete(x, i, 0), x[i]
        # scikit-learn's objective: ||y - Xc||^2 / (2 d) + alpha (l1_ratio ||c||_1 + (1 - l1_ratio) / 2 ||c||^2).
        lam = a * l1_share / np.abs(others @ y).max()
        theirs = ElasticNet(alpha=1 / (lam * d), l1_ratio=l1_share, fit_intercept=False, tol=1e-13, max_iter=1_000_000).fit(others.T, y)
        nonzeros += (np.abs(theirs.coef_) > 1e-9).sum()
    assert ours["nonzeros_per_point"] == pytest.approx(nonzeros / n, abs=1e-12)
    assert ours["kkt_residual"] < 1e-7


@pytest.mark.parametrize("seed", range(4))
def test_matching_pursuit_equals_scikit_learns(tmp_path, seed):
    from sklearn.linear_model import orthogonal_mp
    random = np.random.default_rng(seed)
    n, d, nonzeros = 60, 12, 4
    x = random.normal(size=(n, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    ours = fitted(tmp_path, "ssc-omp", x, "--nonzeros", nonzeros, "--residual", 0)
    left = []
    for i in range(n):
        others = np.delete(x, i, 0)
        left.append(np.linalg.norm(x[i] - others.T @ orthogonal_mp(others.T, x[i], n_nonzero_coefs=nonzeros)))
    assert ours["mean_residual"] == pytest.approx(np.mean(left), rel=1e-9)
    assert ours["nonzeros_per_point"] == nonzeros


def write_safetensors(path, tensors):
    header, place = {}, 0
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [place, place + values.nbytes]}
        place += values.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for values in tensors.values():
            file.write(values.tobytes())


@pytest.mark.parametrize("side", [16, 72])
def test_resnet18_from_pytorchs_weights(tmp_path, side):
    """Reads weights with torchvision's names. One training pass changes only the running means. Then compares the features."""
    torch = pytest.importorskip("torch")
    nn = torch.nn
    torch.manual_seed(3)

    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outputs)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outputs)
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)) if stride == 2 else None

        def forward(self, x):
            out = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
            return torch.relu(out + (x if self.downsample is None else self.downsample(x)))

    class ResNet18(nn.Module):
        def __init__(self, small):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False) if small else nn.Conv2d(3, 64, 7, 2, 3, bias=False)
            self.bn1 = nn.BatchNorm2d(64)
            self.pool = nn.Identity() if small else nn.MaxPool2d(3, 2, 1)
            widths = [64, 64, 128, 256, 512]
            for s in range(4):
                setattr(self, f"layer{s + 1}", nn.Sequential(Block(widths[s], widths[s + 1], 1 if s == 0 else 2), Block(widths[s + 1], widths[s + 1], 1)))

        def forward(self, x):
            x = self.pool(torch.relu(self.bn1(self.conv1(x))))
            return self.layer4(self.layer3(self.layer2(self.layer1(x)))).mean((2, 3))

    network = ResNet18(side <= 64)
    images = torch.rand(6, 3, side, side)
    with torch.no_grad():
        network.train()
        network(torch.rand(8, 3, side, side))  # changes the running means from their initial values
        state = {"module." + name: values.numpy().copy() for name, values in network.state_dict().items() if "num_batches" not in name}
        write_safetensors(tmp_path / "weights.safetensors", state)
        network(torch.cat([images, images]))  # the two views
        network.eval()
        features = network(images).numpy()
    np.save(tmp_path / "images.npy", images.reshape(6, -1).numpy())
    words = [COMMAND, "fit", "entropy-net", tmp_path / "images.npy", "-k", "2", "--image", f"3x{side}x{side}", "--network", "resnet18", "--pretrained",
             tmp_path / "weights.safetensors", "--backbone-rate", "1e-30", "--augment", "none", "--epochs", "1", "--batch-size", "6", "--quiet", "--model-out",
             tmp_path / "model"]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if "need LibTorch" in done.stderr:
        pytest.skip("coterie was built without LibTorch")
    assert done.returncode == 0, done.stderr
    subprocess.run([str(word) for word in [COMMAND, "transform", tmp_path / "model", tmp_path / "images.npy", "--points-out", tmp_path / "out.npy", "--quiet"]],
                   check=True, capture_output=True)
    assert np.abs(np.load(tmp_path / "out.npy") - features).max() < 1e-4 * np.abs(features).max()
