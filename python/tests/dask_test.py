"""Fits on the rows of a Dask cluster's workers: the bits of one process."""
import numpy as np
import pytest

import coterie

dask_array = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

import coterie.dask  # noqa: E402


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:
        with distributed.Client(cluster) as found:
            yield found


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    return (random.normal(size=(9000, 6)) + 3 * random.normal(size=(5, 6))[random.integers(5, size=9000)]).astype(np.float32)


@pytest.mark.parametrize("chunks", [(2000, 100, 3000, 3900), (9000,), (1,) * 5 + (8995,)], ids=str)
def test_a_cluster_has_the_bits_of_one_process(client, rows, chunks):
    model = coterie.KMeans(5, n_jobs=1)
    alone = coterie.KMeans(5, n_jobs=1).fit(rows)
    found = coterie.dask.fit(model, dask_array.from_array(rows, (chunks, 6)), client=client)
    assert found.labels_.chunks == (chunks,)
    assert np.array_equal(found.labels_.compute(), alone.labels_)
    assert np.array_equal(found.cluster_centers_, alone.cluster_centers_) and found.objective_ == alone.objective_
    assert not hasattr(model, "labels_")
    assert np.array_equal(found.predict(rows), alone.predict(rows))


def test_weights_labels_and_data_frames(client, rows):
    import pandas
    frames = pytest.importorskip("dask.dataframe")

    weights = np.random.default_rng(1).random(9000)
    y = np.where(np.arange(9000) % 50 == 0, np.arange(9000) % 5, -1)
    alone = coterie.KMeans(5, scale="zscore", n_jobs=1).fit(rows, y, weights)
    table = frames.from_pandas(pandas.DataFrame(rows, columns=list("abcdef")), npartitions=4)
    found = coterie.dask.fit(coterie.KMeans(5, scale="zscore", n_jobs=1), table, y, weights, client=client)
    assert np.array_equal(found.labels_.compute(), alone.labels_) and found.objective_ == alone.objective_


def test_what_goes_wrong_comes_out(client, rows):
    X = dask_array.from_array(rows, (3000, 3))
    with pytest.raises(coterie.BadArgument, match="n_clusters"):
        coterie.dask.fit(coterie.KMeans(0), X, client=client)
    with pytest.raises(TypeError, match="Ward does not work in several processes"):
        coterie.dask.fit(coterie.Ward(3), X, client=client)
    with pytest.raises(TypeError, match="X: ndarray is not accepted; a dask array or data frame"):
        coterie.dask.fit(coterie.KMeans(3), rows, client=client)
    broken = X.map_blocks(lambda block: 1 // 0, dtype=np.float32)
    with pytest.raises(ZeroDivisionError):
        coterie.dask.fit(coterie.KMeans(3), broken, client=client)
    assert coterie.dask.fit(coterie.KMeans(3), X, client=client).labels_.compute().shape == (9000,)
