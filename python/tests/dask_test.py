"""Fits on the rows of a Dask cluster's workers: the bits of one process."""
import os
import threading
import time

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
def test_fit_is_bit_identical_to_one_process(client, rows, chunks):
    model = coterie.KMeans(5, n_jobs=1)
    alone = coterie.KMeans(5, n_jobs=1).fit(rows)
    found = coterie.dask.fit(model, dask_array.from_array(rows, (chunks, 6)), client=client)
    assert found.labels_.chunks == (chunks,)
    assert np.array_equal(found.labels_.compute(), alone.labels_)
    assert np.array_equal(found.cluster_centers_, alone.cluster_centers_) and found.objective_ == alone.objective_
    assert not hasattr(model, "labels_")
    assert np.array_equal(found.predict(rows), alone.predict(rows))


def test_fit_with_weights_labels_and_data_frames(client, rows):
    import pandas
    frames = pytest.importorskip("dask.dataframe")

    weights = np.random.default_rng(1).random(9000)
    y = np.where(np.arange(9000) % 50 == 0, np.arange(9000) % 5, -1)
    alone = coterie.KMeans(5, scale="zscore", n_jobs=1).fit(rows, y, weights)
    table = frames.from_pandas(pandas.DataFrame(rows, columns=list("abcdef")), npartitions=4)
    found = coterie.dask.fit(coterie.KMeans(5, scale="zscore", n_jobs=1), table, y, weights, client=client)
    assert np.array_equal(found.labels_.compute(), alone.labels_) and found.objective_ == alone.objective_


def test_errors_are_raised_in_the_client(client, rows):
    X = dask_array.from_array(rows, (3000, 3))
    with pytest.raises(coterie.BadArgument, match="n_clusters"):
        coterie.dask.fit(coterie.KMeans(0), X, client=client)
    with pytest.raises(TypeError, match="Ward does not work in several processes"):
        coterie.dask.fit(coterie.Ward(3), X, client=client)
    with pytest.raises(TypeError, match="X: ndarray is not accepted. Use a dask array or data frame"):
        coterie.dask.fit(coterie.KMeans(3), rows, client=client)
    broken = X.map_blocks(lambda block: 1 // 0, dtype=np.float32)
    with pytest.raises(ZeroDivisionError):
        coterie.dask.fit(coterie.KMeans(3), broken, client=client)
    assert coterie.dask.fit(coterie.KMeans(3), X, client=client).labels_.compute().shape == (9000,)


def test_feature_names_are_kept(client, rows):
    import pandas
    frames = pytest.importorskip("dask.dataframe")

    whole = pandas.DataFrame(rows, columns=list("abcdef"))
    found = coterie.dask.fit(coterie.KMeans(5, n_jobs=1), frames.from_pandas(whole, npartitions=4), client=client)
    alone = coterie.KMeans(5, n_jobs=1).fit(whole)
    assert found.feature_names_in_.tolist() == alone.feature_names_in_.tolist() == list("abcdef")
    assert np.array_equal(found.predict(whole[list("fbdace")]), alone.labels_)
    with pytest.raises(coterie.BadData, match="missing: b"):
        found.predict(whole.drop(columns="b"))
    with pytest.raises(TypeError, match="feature names are only supported if all are strings"):
        coterie.dask.fit(coterie.KMeans(5), frames.from_pandas(whole.rename(columns={"a": 0}), npartitions=4), client=client)


def what_runs(client):
    """For every worker: number of fits in progress, of those that have begun, of open connections of fits, and of threads."""

    def here():
        import gc

        import coterie.dask

        fits = list(coterie.dask._fits.values())
        made = [each for each in gc.get_objects() if type(each).__name__ == "Connections"]
        return len(fits), sum(bool(fit.size) for fit in fits), sum(each.fileno() >= 0 for comm in made for each in comm._open), threading.active_count()

    return client.run(here)


def until(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("when", ["fit", "meeting"])
def test_killed_worker_ends_the_fit(rows, when):
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        X = dask_array.from_array(rows, (1000, 6))
        coterie.dask.fit(coterie.KMeans(5), X, client=client)
        before = what_runs(client)
        ended = []

        def end_one():
            begun = 2 if when == "meeting" else 3
            assert until(lambda: sum(found[1] for found in what_runs(client).values()) == begun)
            worker = sorted(client.nthreads())[1]
            process = client.run(os.getpid, workers=[worker])[worker]
            time.sleep(0.5)
            ended.append((worker, time.monotonic()))
            os.kill(process, 9)

        def never_meets():
            import coterie.dask

            coterie.dask.fit_share = lambda *arguments: time.sleep(600)

        if when == "meeting":
            client.run(never_meets, workers=[sorted(client.nthreads())[1]])
        killer = threading.Thread(target=end_one)
        killer.start()
        with pytest.raises(ConnectionError, match="left the cluster during the fit. Fit again"):
            coterie.dask.fit(coterie.KMeans(200, max_iter=10**6, tol=0, n_jobs=1, n_init=1000), X, client=client)
        assert time.monotonic() - ended[0][1] < 10
        killer.join()
        left = {worker: counts for worker, counts in what_runs(client).items() if worker in before}
        assert len(left) == 2 and not any(client.processing().values())
        for worker, (fits_left, _, connections, threads) in left.items():
            assert fits_left == 0 and connections == 0 and threads <= before[worker][3]
        found = coterie.dask.fit(coterie.KMeans(5), dask_array.from_array(rows, (1000, 6)), client=client)
        assert np.array_equal(found.labels_.compute(), coterie.KMeans(5).fit(rows).labels_)


def test_lost_labels_are_an_error(rows):
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        found = coterie.dask.fit(coterie.KMeans(5), dask_array.from_array(rows, (1000, 6)), client=client)
        worker = sorted(client.nthreads())[1]
        os.kill(client.run(os.getpid, workers=[worker])[worker], 9)
        assert until(lambda: worker not in client.nthreads())
        # If Dask has copied the labels to another worker before, they are still right.
        try:
            labels = client.compute(found.labels_).result(timeout=10)
        except ConnectionError as error:
            assert "its labels were lost with a worker that left the cluster. Fit again" in str(error)
        else:
            assert np.array_equal(labels, coterie.KMeans(5).fit(rows).labels_)
