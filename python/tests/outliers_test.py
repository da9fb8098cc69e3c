"""Outlier scores of every class, and noise."""
import pickle
import subprocess

import numpy as np
import pytest

import coterie
from conftest import DEEP, class_names, estimator


@pytest.fixture(scope="module")
def points():
    random = np.random.default_rng(5)
    groups = np.repeat([[0.0, 0.0, 1.0], [9.0, 0.0, 1.0], [4.0, 8.0, 1.0]], 30, axis=0) + random.normal(size=(90, 3))
    return np.concatenate([groups, [[30.0, 30.0, 1.0]]])


@pytest.mark.parametrize("name", [name for name in class_names() if name not in DEEP])
def test_every_class_has_score_samples(name, points):
    model = estimator(name).fit(points)
    scores = model.score_samples(points)
    assert scores.shape == (91,) and np.isfinite(scores).all() and (scores <= 0).all()
    assert (scores == -model.outlier_score(points)).all()
    assert (pickle.loads(pickle.dumps(model)).score_samples(points) == scores).all()


def test_scores_agree_with_the_definition(points):
    model = coterie.KMeans(3, n_init=10).fit(points)
    distances = model.distances(points).min(axis=1)
    means = np.array([points[model.labels_ == j].mean(axis=0) for j in range(3)])
    assert model.outlier_centroids_ == pytest.approx(means)
    assert model.outlier_spreads_ == pytest.approx(np.sqrt([np.mean(distances[model.labels_ == j] ** 2) for j in range(3)]))
    assert model.outlier_score(points) == pytest.approx(np.linalg.norm(points - means[model.labels_], axis=1) / model.outlier_spreads_[model.labels_])
    assert model.describe(points)["outliers"][0] == {"row": 90, "score": pytest.approx(model.outlier_score(points)[90])}


def test_noise_equals_that_of_the_command(points, tmp_path, command):
    model = coterie.KMeans(3, noise_share=0.05).fit(points)
    assert (model.labels_ == -1).sum() == 5 and model.labels_[90] == -1  # round(4.55)
    scores = model.outlier_score(points)
    assert ((scores > model.noise_beyond_) == (model.labels_ < 0)).all()
    assert (model.predict(points) == model.labels_).all()
    np.save(tmp_path / "points.npy", points)
    subprocess.run([command, "fit", "kmeans", "points.npy", "-k", "3", "--noise-share", "0.05", "--labels-out", "l.npy", "--model-out", "m", "--quiet"],
                   cwd=tmp_path, check=True, capture_output=True)
    assert (np.load(tmp_path / "l.npy") == model.labels_).all()
    loaded = coterie.load(tmp_path / "m")
    assert (loaded.outlier_score(points) == scores).all() and (loaded.predict(points) == model.labels_).all()
    with pytest.raises(ValueError, match="noise_share"):
        model.to_onnx()


def test_noise_share_rejects_bad_values_and_combinations(points):
    with pytest.raises(ValueError, match="^noise_share: method hdbscan itself finds"):
        coterie.HDBSCAN(noise_share=0.1).fit(points)
    with pytest.raises(ValueError, match="noise_share"):
        coterie.KMeans(3, noise_share=0.7).fit(points)
    with pytest.raises(ValueError, match="noise_share cannot be combined with y, label_share or sizes"):
        coterie.KMeans(3, noise_share=0.1).fit(points, np.where(np.arange(91) == 0, 1, -1))


@pytest.mark.parametrize("parameters", [{"sample": 60}, {"missing": "drop"}, {"sample": 60, "missing": "drop", "scale": "zscore"}])
def test_hdbscan_attributes_cover_every_row(points, parameters):
    gaps = "missing" in parameters
    X = points.copy()
    if gaps:
        X[::9, 0] = np.nan
    model = coterie.HDBSCAN(**parameters).fit(X)
    assert model.probabilities_.shape == model.outlier_scores_.shape == model.labels_.shape == (91,)
    dropped = np.isnan(X).any(axis=1)
    assert (np.isnan(model.outlier_scores_) == dropped).all() and (np.isnan(model.probabilities_) == dropped).all()
    assert ((model.probabilities_ > 0) == (model.labels_ >= 0))[~dropped].all()
    assert np.array_equal(model.outlier_scores_, model.outlier_score(X), equal_nan=True)
    assert (pickle.loads(pickle.dumps(model)).probabilities_[~dropped] == model.probabilities_[~dropped]).all()
    assert len(model.core_distances_) == len(model.points_) == (60 if "sample" in parameters else 91 - dropped.sum())
    if "sample" not in parameters:  # the same fit without these rows
        alone = coterie.HDBSCAN().fit(X[~dropped])
        assert model.probabilities_[~dropped] == pytest.approx(alone.probabilities_, abs=1e-12)
        assert (model.outlier_scores_[~dropped] == alone.outlier_scores_).all()
