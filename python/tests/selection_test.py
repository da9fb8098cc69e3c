"""Number of clusters, comparison and consensus in Python, compared with the command."""
import copy
import json
import pickle
import re
import subprocess

import numpy as np
import pytest
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score

import coterie


@pytest.fixture(scope="module")
def three():
    random = np.random.default_rng(5)
    truth = np.repeat([0, 1, 2], 40)
    return random.normal(size=(120, 3)) + 9 * np.eye(3)[truth], truth


def test_auto_equals_that_of_the_command(three, command, tmp_path):
    X, _ = three
    model = coterie.KMeans("auto", random_state=2, scale="zscore").fit(X)
    np.save(tmp_path / "points.npy", X)
    done = subprocess.run([command, "fit", "kmeans", tmp_path / "points.npy", "-k", "auto", "--seed", "2", "--scale", "zscore", "--json", "--quiet"],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    theirs = json.loads(done.stdout)["choice"]
    mine = dict(model.cluster_choice_)
    mine.pop("seconds"), theirs.pop("seconds")
    assert mine == theirs
    assert model.n_clusters_ == 3 and model.n_clusters == "auto" and len(model.cluster_centers_) == 3
    assert (model.labels_ == coterie.KMeans(3, random_state=2, scale="zscore").fit(X).labels_).all()
    refit = model.set_params(n_clusters=2).fit(X)
    assert refit.n_clusters_ == 2 and refit.cluster_choice_ is None


def test_auto_with_y_and_weights(three):
    X, truth = three
    known = np.full(120, -1)
    known[[0, 50, 100]] = truth[[0, 50, 100]]
    assert len(coterie.KMeans("auto").fit(X, known).cluster_centers_) == 3
    with pytest.raises(ValueError, match="n_clusters='auto'\\) cannot be combined with sample_weight"):
        coterie.KMeans("auto").fit(X, sample_weight=np.arange(1.0, 121))
    with pytest.raises(ValueError, match="n_clusters"):
        coterie.Ward("many").fit(X)
    assert coterie.Ward("auto").fit(X).n_clusters_ == 3


def test_tune_selects_by_rules(three):
    X, _ = three
    for select in ("gap", "stability", "prediction-strength", "recommended"):
        tuned = coterie.tune(coterie.KMeans(), X, {"n_clusters": range(2, 7)}, select=select)
        assert tuned.best_params_ == {"n_clusters": 3} and tuned.choice_["recommended"] == 3
    tuned = coterie.tune(coterie.KMeans(), X, {"n_clusters": range(2, 6)}, select="bic")
    assert tuned.best_params_ == {"n_clusters": 3} and tuned.choice_ is None


def test_scores_agree_with_scikit_learn(three):
    X, truth = three
    labels = (truth + np.arange(120) % 7 // 6) % 3
    assert np.isclose(coterie.metrics.calinski_harabasz_score(X, labels), calinski_harabasz_score(X, labels), rtol=1e-10)
    assert np.isclose(coterie.metrics.davies_bouldin_score(X, labels), davies_bouldin_score(X, labels), rtol=1e-10)
    assert coterie.metrics.spherical_mixture_bic(X, truth) < coterie.metrics.spherical_mixture_bic(X, labels)
    assert coterie.metrics.prediction_strength(["a", "a", "a", "b", "b"], [5, 5, 7, 7, 7]) == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="Davies-Bouldin needs at least 2 clusters"):
        coterie.metrics.davies_bouldin_score(X, np.zeros(120))


def test_compare(three):
    X, truth = three
    compared = coterie.compare(X, 3, [coterie.Ward, "KMeans", "spherical-kmeans"], y_true=truth)
    assert [method["method"] for method in compared.methods_] == ["Ward", "KMeans", "SphericalKMeans"]
    assert compared.agreement_.shape == (3, 3) and compared.agreement_[0, 1] == 1 and compared.methods_[0]["scores"]["ari"] == 1
    assert (compared.labels_["Ward"] == coterie.Ward(3).fit(X).labels_).all() and compared.left_out_ == {}
    some = coterie.compare(X, 200, ["KMeans"])
    assert "n_clusters" in some.methods_[0]["error"] and some.labels_ == {} and np.isnan(some.agreement_).all()
    default = coterie.compare(X, 3)
    assert default.methods_[0]["method"] == "KMeans" and default.left_out_["MiniBatchKMeans"] == "is for at least 20,000 rows"
    with pytest.raises(ValueError, match="kmeans"):
        coterie.compare(X, 3, ["kmean"])


def test_consensus(three):
    X, truth = three
    found = coterie.consensus(X, 3, [coterie.KMeans, "Ward"], fits=20)
    assert coterie.metrics.adjusted_rand_score(truth, found.labels_) == 1
    assert found.confidence_.min() >= -1 and found.confidence_.mean() > 0.9 and found.sample_ is None
    assert np.allclose(found.confidence_of_cluster_, [found.confidence_[found.labels_ == c].mean() for c in range(3)])
    again = coterie.consensus(X, 3, [coterie.KMeans, "Ward"], fits=20, n_jobs=1)
    assert (again.confidence_ == found.confidence_).all()
    with pytest.raises(ValueError, match="n_clusters"):
        coterie.consensus(X, 121)


def part(page, pattern):
    found, = re.findall(pattern, page, re.DOTALL)
    return found


def test_comparison_page_equals_that_of_the_command(three, command, tmp_path):
    X, truth = three
    X = X.copy()
    X[7, 1] = np.nan
    compared = coterie.compare(X, 3, ["KMeans", "Ward", "Fme"], y_true=truth, missing="drop", scale="zscore", random_state=1)
    page = str(coterie.report(compared, X, truth, source="points.csv"))
    np.savetxt(tmp_path / "points.csv", X, delimiter=",", fmt="%.17g", header="a,b,c", comments="")
    np.save(tmp_path / "truth.npy", truth.astype(np.int32))
    subprocess.run([command, "compare", "points.csv", "-k", "3", "--methods", "kmeans,ward,fme", "--truth", "truth.npy", "--missing", "drop",
                    "--scale", "zscore", "--seed", "1", "--report", "page.html", "--quiet"],
                   cwd=tmp_path, check=True, timeout=120, capture_output=True)
    theirs = (tmp_path / "page.html").read_text()
    for pattern in ('<table id="agreement".*?</table>', '<script type="text/plain" id="map-data">.*?</script>', '<div id="picture">.*?</div>',
                    "<h1>.*?</h1>"):
        assert part(page, pattern) == part(theirs, pattern)
    methods = lambda text: re.sub(r'<td class="n">[^<]*</td></tr>', "</tr>", part(text, '<table id="methods">.*?</table>'))  # without seconds
    assert methods(page) == methods(theirs) and methods(page).count("<tr>") == 4


def test_report_of_comparison_checks_arguments(three):
    X, truth = three
    compared = coterie.compare(X, 3, ["KMeans", "Ward"])
    assert "ACC" not in str(coterie.report(compared, X))
    with pytest.raises(ValueError, match="^X: 119 rows, but the comparison was of 120"):
        coterie.report(compared, X[1:])
    with pytest.raises(ValueError, match="compare_with"):
        coterie.report(compared, X, compare_with=coterie.KMeans(3).fit(X))
    again = pickle.loads(pickle.dumps(compared))
    assert repr(again) == repr(compared)
    for each in (again, copy.deepcopy(compared)):
        with pytest.raises(ValueError, match="copied or loaded"):
            coterie.report(each, X)
