"""The connections between the workers of a Dask or Ray cluster."""
import socket
import threading
import time

import numpy as np
import pytest

import coterie
from coterie import _cluster

KEY = b"k" * 32


def in_threads(*calls):
    """What each call returns or raises. Each runs in its own thread."""
    out = [None] * len(calls)

    def run(place):
        try:
            out[place] = calls[place]()
        except Exception as error:
            out[place] = error

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    return out


@pytest.fixture
def workers():
    listeners = [_cluster.listen("127.0.0.1") for _ in range(3)]
    comms = [_cluster.Connections(rank, listener, KEY) for rank, listener in enumerate(listeners)]
    yield comms, [listener.getsockname() for listener in listeners]
    for comm in comms:
        comm.close()


def test_connections_have_no_send_delay(workers):
    comms, addresses = workers
    assert in_threads(*(lambda comm=comm: comm.meet(addresses) for comm in comms)) == [None] * 3
    for comm in comms:
        assert sorted(comm._to) == [rank for rank in range(3) if rank != comm.rank]
        for connection in comm._to.values():
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) and connection.gettimeout() is None


def test_fit_is_bit_identical_to_one_process(workers):
    comms, addresses = workers
    rows = np.random.default_rng(0).normal(size=(3000, 4))
    parts = np.split(rows, [500, 500])  # one has no rows
    found = in_threads(*(
        lambda comm=comm, part=part, begin=begin: _cluster.fit_share(
            comm, addresses, coterie.KMeans(5, n_jobs=1), [(begin, begin + len(part))], [part], [], [], list("abcd")
        )
        for comm, part, begin in zip(comms, parts, (0, 500, 500))
    ))
    alone = coterie.KMeans(5, n_jobs=1).fit(rows)
    assert np.array_equal(np.concatenate([labels[0] for _, labels in found]), alone.labels_)
    assert found[0][0].feature_names_in_.tolist() == list("abcd") and found[1][0] is None


def fits(workers, table_of, **options):
    """The result of the fit in every process, each with its own table."""
    comms, addresses = workers

    def fit(comm):
        comm.meet(addresses)
        return coterie.KMeans(2, categorical="one-hot").fit(table_of(comm.rank), comm=comm, **options)

    return in_threads(*(lambda comm=comm: fit(comm) for comm in comms))


@pytest.mark.parametrize("options", [{}, {"local": True}], ids=str)
def test_different_columns_are_an_error(workers, options):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    for error in fits(workers, lambda rank: table if rank < 2 else table[["b", "a"]], **options):
        assert isinstance(error, ValueError) and "process 2 has the columns ['b', 'a'], process 0 has ['a', 'b']" in str(error)


@pytest.mark.parametrize("options", [{}, {"local": True}], ids=str)
def test_feature_names_are_kept(workers, options):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    for model in fits(workers, lambda rank: table[20 * rank : 20 * rank + 20] if options else table, **options):
        assert model.feature_names_in_.tolist() == ["a", "b"]


def test_text_columns_in_parts_are_an_error(workers):
    pandas = pytest.importorskip("pandas")
    for error in fits(workers, lambda rank: pandas.DataFrame({"a": range(20), "w": [f"of {rank}", "any"] * 10}), local=True):
        assert isinstance(error, ValueError) and "words are not accepted in parts of the rows (local)" in str(error)


def test_unauthenticated_connections_are_closed(workers, monkeypatch):
    monkeypatch.setattr(_cluster, "PROOF", 0.3)
    comms, addresses = workers
    silent = [socket.create_connection(address) for address in addresses]  # sends nothing
    wrong = _cluster.Connections(1, _cluster.listen("127.0.0.1"), b"another key" * 3)
    assert isinstance(in_threads(lambda: wrong.meet([addresses[0], addresses[1]]), *(lambda comm=comm: comm.meet(addresses) for comm in comms))[0], ConnectionError)
    assert all(len(comm._to) == 2 for comm in comms)
    for each in silent:
        each.close()


def test_end_of_one_worker_ends_the_others(workers):
    comms, addresses = workers
    in_threads(*(lambda comm=comm: comm.meet(addresses) for comm in comms))
    errors = in_threads(lambda: comms[0].receive(bytearray(8), 2), lambda: comms[1].receive(bytearray(8), 2), lambda: time.sleep(0.2) or comms[2].close())
    assert [str(error) for error in errors[:2]] == ["worker 2 ended during the fit (the connection is closed)"] * 2


def test_waiting_worker_ends_on_close_or_timeout(workers, monkeypatch):
    comms, addresses = workers
    started = time.monotonic()
    error = in_threads(lambda: comms[0].meet(addresses), lambda: time.sleep(0.2) or comms[0].close())[0]
    assert isinstance(error, ConnectionError) and "worker 0: only 1 of 3 workers connected" in str(error) and time.monotonic() - started < 5
    monkeypatch.setattr(_cluster, "TIMEOUT", 0.2)
    error = in_threads(lambda: comms[1].meet(addresses))[0]
    assert isinstance(error, ConnectionError) and "worker 1: only 1 of 3 workers connected" in str(error)
