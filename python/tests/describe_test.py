"""Descriptions in Python."""

import itertools

import numpy as np
import pandas
import pytest
import sklearn.metrics

import coterie


@pytest.fixture(scope="module")
def iris():
    from sklearn.datasets import load_iris

    return load_iris(as_frame=True).data


def test_statistics_agree_with_pandas_and_scikit_learn(iris):
    from sklearn.metrics import silhouette_samples

    model = coterie.KMeans(n_clusters=3, random_state=0).fit(iris)
    told = model.describe(iris)
    assert told["silhouettes"] == "exact" and len(told["clusters"]) == 3
    samples = silhouette_samples(iris, model.labels_)
    assert told["silhouette"] == pytest.approx(samples.mean())
    for number, cluster in enumerate(told["clusters"]):
        inside, outside = iris[model.labels_ == number], iris[model.labels_ != number]
        assert cluster["points"] == len(inside) and cluster["silhouette"] == pytest.approx(samples[model.labels_ == number].mean())
        pooled = np.sqrt((((inside - inside.mean()) ** 2).sum() + ((outside - outside.mean()) ** 2).sum()) / len(iris))
        differences = (inside.mean() - outside.mean()) / pooled
        for column in cluster["columns"]:
            assert column["difference"] == pytest.approx(differences[column["name"]])
            assert column["quartiles"] == pytest.approx(list(inside[column["name"]].quantile([0.25, 0.5, 0.75])))
        assert [column["name"] for column in cluster["columns"]] == [name for name in differences.abs().sort_values(ascending=False).index if abs(differences[name]) >= 0.2]
        assert all(model.labels_[row] == number for row in cluster["typical"] + cluster["doubtful"])


def test_describe_model_file_weights_and_other_rows(iris, tmp_path):
    model = coterie.KMeans(n_clusters=3, random_state=0).fit(iris)
    model.save(tmp_path / "m.st")
    assert coterie.describe(tmp_path / "m.st", iris) == coterie.describe(model, iris)
    weights = np.arange(len(iris)) % 3
    copies = iris.loc[np.repeat(np.arange(len(iris)), weights)]
    by_weight, by_copies = model.describe(iris, sample_weight=weights), model.describe(copies)
    for one, other in zip(by_weight["clusters"], by_copies["clusters"]):
        assert one["share"] == pytest.approx(other["share"])
        assert [column["quartiles"] for column in one["columns"]] == [pytest.approx(column["quartiles"]) for column in other["columns"]]
    with pytest.warns(coterie._errors.CoterieWarning, match="lie outside the training data"):
        model.describe(iris * 1000)
    with pytest.raises(ValueError):
        model.describe(iris * np.nan)


def test_constant_column_per_cluster_has_infinite_difference():
    table = pandas.DataFrame({"kind": [0.0] * 5 + [1.0] * 5, "noise": np.arange(10) % 5 * 1e-3})
    told = coterie.KMeans(n_clusters=2, random_state=0).fit(table).describe(table)
    assert sorted(cluster["columns"][0]["difference"] for cluster in told["clusters"]) == [-np.inf, np.inf]


def test_comparison_with_another_model(iris, tmp_path):
    three, two = (coterie.KMeans(n_clusters=k, scale="zscore", random_state=0).fit(iris) for k in (3, 2))
    told = three.describe(iris, compare_with=two)["comparison"]
    best = max(sum((three.labels_ == a) & (two.labels_ == b) for a, b in zip(pair, (0, 1))).sum() for pair in itertools.permutations(range(3), 2))
    assert told["scored"] == len(iris) and told["moved"] == len(iris) - best == sum(move["points"] for move in told["moves"])
    for move in told["moves"]:
        assert all(str(three.labels_[row]) == move["to"] and str(two.labels_[row]) == move["from"] for row in move["rows"])
    assert told["ari"] == pytest.approx(sklearn.metrics.adjusted_rand_score(two.labels_, three.labels_))
    two.save(tmp_path / "two.st")
    assert coterie.describe(three, iris, compare_with=tmp_path / "two.st")["comparison"]["moves"] == told["moves"]
    # A model of other columns in another order: each model finds its own columns.
    narrow = coterie.KMeans(n_clusters=2, random_state=0).fit(iris[iris.columns[::-1][:2]])
    assert three.describe(iris, compare_with=narrow)["comparison"]["scored"] == len(iris)
    page = str(coterie.report(three, iris, compare_with=two))
    assert "Rows that moved, compared with kmeans of" in page and f"{told['moved']} of 150 rows have moved" in page


def test_report_of_a_loaded_model(iris, tmp_path):
    coterie.KMeans(n_clusters=3, random_state=0).fit(iris).save(tmp_path / "m.st")
    page = str(coterie.report(coterie.load(tmp_path / "m.st"), iris[:100], source="some <irises>"))
    assert "kmeans of a loaded model on some &lt;irises&gt;" in page and 'id="map-data"' in page and "typical rows" in page


def test_model_arguments_are_checked(iris):
    model = coterie.KMeans(3).fit(iris)
    for ask, name in (
        (lambda: model.describe(iris, compare_with="path"), "compare_with"),
        (lambda: coterie.report("path", iris), "model"),
        (lambda: coterie.report(model, iris, compare_with="path"), "compare_with"),
    ):
        with pytest.raises(TypeError, match=f"^{name}: 'path' is not accepted. Use a fitted model"):
            ask()
    with pytest.raises(TypeError):
        coterie.describe(None, iris)
