"""The package and the command give the same labels for the same seed and read each other's model files."""
import json
import subprocess

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from conftest import class_names, estimator

import coterie
from coterie import _names


def flags(model):
    """The options of the command for the parameters of the object."""
    words = []
    for parameter, default in type(model)._defaults().items():
        value = getattr(model, parameter)
        option = model._options.get(parameter)
        if option and value != default:
            words += ["--" + option.replace("_", "-"), ",".join(map(str, value)) if isinstance(value, tuple) else str(value)]
    return [*words, "--seed", str(model.random_state)]


def fit(command, model, data, folder, *words):
    model_file, labels_file = folder / "model.coterie", folder / "labels.npy"
    done = subprocess.run(
        [command, "fit", model._method, data, *flags(model), *words, "--labels-out", labels_file, "--model-out", model_file, "--quiet"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL, timeout=300,
    )
    assert done.returncode == 0, done.stdout
    return model_file, np.load(labels_file)


@pytest.mark.parametrize("name", class_names())
def test_labels_and_files_equal_those_of_the_command(name, command, iris, tmp_path):
    X, _ = iris
    model = estimator(name, random_state=5)
    theirs, labels = fit(command, model, "data:iris", tmp_path)
    model.fit(X)
    assert np.array_equal(model.labels_, labels)
    # The command's model in Python.
    loaded = coterie.load(theirs)
    assert type(loaded) is type(model)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert loaded.n_iter_ == model.n_iter_ and np.isclose(loaded.objective_, model.objective_, rtol=1e-12, equal_nan=True)
    # Python's model in the command.
    ours, predicted = tmp_path / "ours.coterie", tmp_path / "predicted.npy"
    coterie.save(model, ours)
    subprocess.run([command, "predict", ours, "data:iris", "--labels-out", predicted, "--quiet"], check=True, stdout=subprocess.DEVNULL, timeout=300)
    assert np.array_equal(np.load(predicted), model.predict(X))


def test_scaling_is_stored_in_the_model(command, tmp_path):
    model = coterie.KMeans(3, scale="zscore", center=True)
    theirs, labels = fit(command, model, "data:wine", tmp_path, "--scale", "zscore", "--center")
    X = coterie.datasets.load_wine().data
    assert np.array_equal(model.fit(X).labels_, labels)
    loaded = coterie.load(theirs)
    assert loaded.scale == "zscore" and loaded.center is True
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert not np.array_equal(coterie.KMeans(3).fit(X).labels_, labels)


def test_sample_equals_that_of_the_command(command, digits, tmp_path):
    X, _ = digits
    model = coterie.Spectral(10, sample=900)
    _, labels = fit(command, model, "data:digits", tmp_path, "--sample", "900")
    model.fit(X)
    assert np.array_equal(model.labels_, labels) and len(labels) == len(X)
    assert sum(model.fit_report_["sizes"]) == len(X) and model.fit_report_["details"]["sample"] == 900
    with pytest.raises(coterie.BadArgument, match="sample"):
        coterie.Spectral(10, sample=0).fit(X)


def test_column_names_are_stored_in_the_model(command, tmp_path):
    frame = coterie.datasets.load_wine(as_frame=True).data
    model = coterie.KMeans(3).fit(frame)
    ours, predicted = tmp_path / "ours.coterie", tmp_path / "predicted.npy"
    model.save(ours)
    frame[frame.columns[::-1]].to_csv(tmp_path / "turned.csv", index=False)
    subprocess.run([command, "predict", ours, tmp_path / "turned.csv", "--labels-out", predicted, "--quiet"], check=True, stdout=subprocess.DEVNULL, timeout=300)
    assert np.array_equal(np.load(predicted), model.labels_)
    assert list(coterie.load(ours).feature_names_in_) == list(frame.columns)


def test_partial_labels_give_the_result_of_the_command(command, digits, tmp_path):
    X, y = digits
    known = np.where(np.arange(len(y)) % 20 == 0, y, -1)
    file = tmp_path / "known.csv"
    file.write_text("label\n" + "\n".join("" if label < 0 else str(label) for label in known) + "\n")
    model = coterie.Subspace(n_clusters=None, label_share={0: 0.1}, clusters_per_label={1: 2})
    theirs, labels = fit(command, model, "data:digits", tmp_path, "--partial-labels", file, "--label-share", "0=0.1", "--clusters-per-label", "1=2")
    model.fit(X, known)
    assert np.array_equal(model.cluster_labels_[model.labels_], labels)
    assert list(model.cluster_labels_) == [0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert (model.labels_ == 0).sum() == len(X) // 10
    assert np.array_equal(coterie.load(theirs).cluster_labels_, model.cluster_labels_)


def test_every_option_has_a_parameter_name():
    for name in class_names():
        for option in getattr(coterie, name)._options.values():
            assert not _names.parameter(option).endswith("_")


def test_damaged_model_file_is_an_error(tmp_path, iris):
    X, _ = iris
    path = tmp_path / "model.coterie"
    coterie.KMeans(3).fit(X).save(path)
    bytes_ = bytearray(path.read_bytes())
    bytes_[-1] ^= 1
    path.write_bytes(bytes_)
    with pytest.raises(coterie.BadData, match=str(path)):
        coterie.load(path)
    with pytest.raises(coterie.BadData, match="nowhere.coterie"):
        coterie.load(tmp_path / "nowhere.coterie")


@pytest.fixture
def counts():
    random = np.random.default_rng(0)
    groups = np.arange(200) % 4
    columns = np.where(random.random((200, 9)) < 0.3, random.integers(300, size=(200, 9)), groups[:, None] * 75 + random.integers(75, size=(200, 9)))
    return scipy.sparse.coo_matrix((np.ones(1800, np.float32), (np.repeat(np.arange(200), 9), columns.ravel())), shape=(200, 300)).tocsr()


@pytest.mark.parametrize("name", ["KMeans", "SoftKMeans", "SphericalKMeans"])
def test_sparse_points_give_the_result_of_the_command(name, command, counts, tmp_path):
    wide = scipy.sparse.csr_array((counts.data.astype(">f8"), counts.indices.astype(np.int64), counts.indptr.astype(np.int64)), shape=counts.shape)
    for X, compressed in ((counts, True), (counts.astype(np.float64), False), (wide, True)):
        path = tmp_path / "x.npz"
        scipy.sparse.save_npz(path, X, compressed=compressed)
        model = getattr(coterie, name)(4, random_state=3)
        file, labels = fit(command, model, path, tmp_path)
        assert np.array_equal(model.fit(X).labels_, labels)
        assert np.array_equal(coterie.load(file).predict(X), labels)
        predicted = tmp_path / "predicted.npy"
        subprocess.run([command, "predict", file, path, "--labels-out", predicted, "--quiet"], check=True, stdout=subprocess.DEVNULL, timeout=300)
        assert np.array_equal(np.load(predicted), labels)
        assert np.array_equal(getattr(coterie, name)(4, random_state=3).fit(path).labels_, labels)
    scipy.io.mmwrite(tmp_path / "x.mtx", counts)
    assert np.array_equal(fit(command, model, tmp_path / "x.mtx", tmp_path)[1], model.fit(counts.astype(np.float64)).labels_)


def test_rejected_sparse_points(command, counts, tmp_path):
    def message(X, *words, method="kmeans", edit=None):
        path = tmp_path / "x.npz"
        scipy.sparse.save_npz(path, X)
        if edit:
            arrays = dict(np.load(path))
            edit(arrays)
            np.savez(path, **arrays)
        done = subprocess.run(
            [command, "fit", method, path, "-k", "3", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL, timeout=300
        )
        assert done.returncode in (2, 3), done.stderr
        return done.stderr

    assert "method ward does not support sparse matrices. Use a dense matrix (" in message(counts, method="ward")
    assert "the sparse format 'csc' is not supported for rows" in message(counts.tocsc())
    assert "sparse rows cannot be centred" in message(counts, "--scale", "zscore")
    assert "they are sparse" in message(counts, "--picture", str(tmp_path / "x.svg"))
    assert "column number 300 is not from 0 to 299" in message(counts, edit=lambda arrays: arrays["indices"].__setitem__(5, 300))
    assert "must ascend" in message(counts, edit=lambda arrays: arrays["indices"].__setitem__(1, arrays["indices"][0]))
    assert "row starts; " in message(counts, edit=lambda arrays: arrays.update(indptr=arrays["indptr"][:-1]))
    assert "1 column numbers for" in message(counts, edit=lambda arrays: arrays.update(indices=arrays["indices"][:1]))
    assert "but whole numbers are needed" in message(counts, edit=lambda arrays: arrays.update(indices=arrays["indices"] + 0.5))
    assert "row 1: the value is NaN, which stands for a missing value" in message(counts, edit=lambda arrays: arrays["data"].__setitem__(0, np.nan))
    assert "does not hold two numbers" in message(counts, edit=lambda arrays: arrays.update(shape=np.array([200])))
    assert "sum_duplicates()" in message(counts, edit=lambda arrays: arrays["indptr"].__setitem__(3, 10**6))


def test_sparse_points_without_entries(command, counts, tmp_path):
    scipy.sparse.save_npz(tmp_path / "x.npz", scipy.sparse.csr_matrix((5, 7)))
    done = subprocess.run([command, "fit", "kmeans", tmp_path / "x.npz", "-k", "2", "--quiet", "--json"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and json.loads(done.stdout)["objective"] == 0


def test_seeds_are_exact(command):
    """2^53 + 1 is not a double. The command, whose documents are JSON, rejects it. Python uses it exactly."""
    for seed, accepted in (("9007199254740992", True), ("9007199254740993", False), ("9007199254740993.0", False), ("-1", False), ("18446744073709551615", False)):
        done = subprocess.run([command, "fit", "kmeans", "data:iris", "-k", "3", "--seed", seed, "--quiet"], capture_output=True, text=True, timeout=300)
        assert done.returncode == (0 if accepted else 2), done.stderr
        assert accepted or " is not accepted. Use a whole number, from 0 to 9007199254740992." in done.stderr and f"--seed: {seed}" in done.stderr.replace("'", "")
    X = coterie.datasets.load_iris().data
    for seed in (2**53, 2**53 + 1, 2**64 - 1):
        assert coterie.KMeans(3, random_state=seed).fit(X).fit_report_["seed"] == seed
    for seed in (2**64, -1, float(2**53)):
        with pytest.raises(ValueError, match="^random_state: "):
            coterie.KMeans(3, random_state=seed).fit(X)
