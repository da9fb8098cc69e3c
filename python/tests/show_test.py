"""Results as text and as HTML in a notebook: both show the numbers of the result and are well-formed."""

import xml.etree.ElementTree

import numpy as np
import pandas
import pytest

import coterie

HOSTILE = '<b>a & "b"</b>'


@pytest.fixture(scope="module")
def wine():
    table = coterie.datasets.load_wine()
    return pandas.DataFrame(table.data, columns=[HOSTILE, *table.feature_names[1:]]), table.target


def tables_of(shown):
    """The tables of its HTML as lists of dictionaries by header, parsed as XML, and the text around them."""
    root = xml.etree.ElementTree.fromstring(f"<div>{shown._repr_html_()}</div>")
    found = []
    for table in root.iter("table"):
        header = [field.text for field in table.iter("th")]
        found.append([dict(zip(header, (field.text for field in row.iter("td")))) for row in table.find("tbody")])
        assert all(len(row) == len(header) for row in found[-1])
    return found, [part.text for part in root.iter("p")]


def lines_of(shown):
    assert str(shown) == repr(shown)
    return str(shown).splitlines()


def test_html_of_a_description(wine):
    rows, _ = wine
    model = coterie.KMeans(3, scale="zscore", random_state=0).fit(rows)
    told = model.describe(rows, compare_with=coterie.KMeans(2, scale="zscore", random_state=0).fit(rows))
    assert isinstance(told, dict) and dict(told) == told
    found, lines = tables_of(told)
    moves, *profiles = found
    assert [int(row["rows"]) for row in moves] == [move["points"] for move in told["comparison"]["moves"]]
    assert len(profiles) == 3
    for cluster, profile in zip(told["clusters"], profiles):
        assert [row["column"] for row in profile] == [column["name"] for column in cluster["columns"]]
        assert [float(row["mean"]) for row in profile] == pytest.approx([column["mean"] for column in cluster["columns"]], rel=1e-3)
        assert [float(row["difference"]) for row in profile] == pytest.approx([column["difference"] for column in cluster["columns"]], abs=0.006)
        assert f"typical rows {' '.join(map(str, cluster['typical']))}; doubtful rows {' '.join(map(str, cluster['doubtful']))}" in lines
    assert HOSTILE not in told._repr_html_() and any(HOSTILE in line for line in lines_of(told))
    assert f"cluster 1: {np.sum(model.labels_ == 1)} rows" in str(told)


def test_html_of_one_cluster_and_infinite_differences():
    rows = np.repeat([0.0, 1.0], 5)[:, None]
    told = coterie.KMeans(2, random_state=0).fit(rows).describe(rows)
    assert {row["difference"] for table in tables_of(told)[0] for row in table} == {"+inf", "-inf"}
    told = coterie.KMeans(1).fit(rows).describe(rows)
    [[row]] = tables_of(told)[0]
    assert "cluster 0: 10 rows (100.0 %)" in str(told)
    assert row["column"] == "column 1" and float(row["mean"]) == 0.5 and row["difference"] is None and row["elsewhere"] is None


def test_html_of_compared_methods(wine):
    rows, target = wine
    compared = coterie.compare(rows, 3, ["KMeans", "Ward", "Fme"], y_true=target, scale="zscore")
    (methods, agreement), lines = tables_of(compared)
    fitted = [method for method in compared.methods_ if not method["error"]]
    assert [row["method"] for row in methods] == [method["method"] for method in fitted]
    assert [float(row["ACC"]) for row in methods] == pytest.approx([method["scores"]["acc"] for method in fitted], abs=1e-4)
    shown = np.array([[float(row[method["method"]] or "nan") for method in compared.methods_] for row in agreement])
    np.testing.assert_allclose(shown, compared.agreement_, atol=0.006)
    for method in compared.methods_:
        assert (f"{method['method']}: {method['error']}" in lines) == bool(method["error"])
    left_out = str(coterie.compare(rows, 3))
    assert left_out.count("(it trains a network)") == 1 and "Dekm" in left_out


def test_html_of_tuned_cells_and_choice(wine):
    rows, target = wine
    model, grid = coterie.KMeans(scale="zscore"), {"n_clusters": [2, 3, 400]}
    tuned = coterie.tune(model, rows, grid, y_true=target)
    (cells,), lines = tables_of(tuned)
    assert [row["cell"] for row in cells] == ["0", "1 *", "2"] and [row["n_clusters"] for row in cells] == ["2", "3", "400"]
    assert float(cells[1]["ARI, seen"]) == pytest.approx(tuned.cells_[1]["seen"]["adjusted_rand_index"], rel=1e-3) and cells[2]["ARI, seen"] is None
    assert any(line.startswith("cell 2: ") for line in lines)
    tuned = coterie.tune(model, rows, grid, select="recommended")
    (cells, choice), lines = tables_of(tuned)
    silhouette = next(curve for curve in tuned.choice_["criteria"] if curve["name"] == "silhouette")
    assert float(choice[1]["silhouette"]) == pytest.approx(silhouette["values"][1], rel=1e-3) and choice[2]["silhouette"] is None
    assert choice[3] == {"k": "chooses", **{curve["name"]: str(curve["chosen"]) if curve["chosen"] else None for curve in tuned.choice_["criteria"]}}
    model = coterie.KMeans("auto", scale="zscore", random_state=0).fit(rows)
    assert str(model.cluster_choice_).startswith(f"{model.n_clusters_} clusters, {model.cluster_choice_['sureness']}, ")


def test_html_of_a_consensus(wine):
    rows, _ = wine
    found = coterie.consensus(rows, 3, scale="zscore", fits=20)
    (clusters,), lines = tables_of(found)
    assert [int(row["rows"]) for row in clusters] == np.bincount(found.labels_).tolist()
    assert [float(row["cohesion"]) for row in clusters] == pytest.approx(found.cohesion_.tolist(), rel=1e-3)
    assert lines[0].startswith("3 clusters of 178 rows")
