"""Fits on rows that lie in the memory of a Dask cluster's workers.

    import coterie.dask
    model = coterie.dask.fit(coterie.KMeans(100), X)      # X: a dask array, or a dask data frame of numbers
    model.labels_                                          # a dask array of the same chunks

Every worker that holds some of the rows starts one process' share of the fit (SPMD) on them; Dask schedules, coterie computes. The result has the bits of
a fit of all rows in one process, whatever the number of workers and chunks. Rows travel once between workers, to even out what they hold; then only sums
do (docs/scale.md).
"""
from __future__ import annotations

import copy
import multiprocessing.connection
import secrets
import socket
import threading
from typing import Any

import numpy as np

from ._base import BlockClusterer, WeightedBlockClusterer

TIMEOUT = 60.0  # seconds until all workers must have answered
PIECE = 1 << 28  # bytes in a message


class Connections:
    """A communicator of one connection between every two workers. `addresses`: of all, in the order of their ranks."""

    def __init__(self, rank, listener, addresses, key):
        self.rank, self.size = rank, len(addresses)
        self._to = {}
        others = threading.Thread(target=self._accept, args=(listener, self.size - 1 - rank), daemon=True)
        others.start()
        for lower in range(rank):
            connection = multiprocessing.connection.Client(addresses[lower], authkey=key)
            connection.send_bytes(rank.to_bytes(4, "little"))
            self._to[lower] = connection
        others.join(TIMEOUT)
        listener.close()
        if len(self._to) != self.size - 1:
            raise ConnectionError(f"of {self.size} workers {len(self._to) + 1} have met within {TIMEOUT:.0f} seconds")

    def _accept(self, listener, count):
        try:
            for _ in range(count):
                connection = listener.accept()
                self._to[int.from_bytes(connection.recv_bytes(4), "little")] = connection
        except OSError:
            pass  # closed: the time is over

    def send(self, data, to):
        for begin in range(0, len(data), PIECE):
            self._to[to].send_bytes(data[begin : begin + PIECE])

    def receive(self, data, source):
        for begin in range(0, len(data), PIECE):
            piece = data[begin : begin + PIECE]
            if self._to[source].recv_bytes_into(piece) != len(piece):
                raise ConnectionError(f"worker {source} sent another number of bytes than was expected")

    def close(self):
        for connection in self._to.values():
            connection.close()


_listeners: dict[str, multiprocessing.connection.Listener] = {}


def _listen(name, key, host):
    """Opens a port of this worker; where it can be reached."""
    _listeners[name] = multiprocessing.connection.Listener((host, 0), backlog=64, authkey=key)
    return _listeners[name].address


def _share(name, key, rank, addresses, estimator, places, parts, weights, labels):
    """One process' share of the fit: (the fitted estimator, on the first one; the labels of the parts)"""
    comm = Connections(rank, _listeners.pop(name), addresses, key)
    try:
        X = np.concatenate([np.asarray(part) for part in parts])
        more = {} if not weights else {"sample_weight": np.concatenate([np.asarray(part) for part in weights])}
        y = np.concatenate([np.asarray(part) for part in labels]) if labels else None
        estimator.fit(X, y, comm=comm, local=places, **more)
    finally:
        comm.close()
    found = np.split(estimator.labels_, np.cumsum([len(part) for part in parts])[:-1])
    return (estimator if rank == 0 else None), found


def _chunks(rows, what, counts=None):
    """Delayed chunks of consecutive rows."""
    if hasattr(rows, "to_dask_array"):
        rows = rows.to_dask_array(lengths=True)
    if not hasattr(rows, "to_delayed") or not hasattr(rows, "chunks"):
        raise TypeError(f"{what}: {type(rows).__name__} is not accepted; a dask array or data frame")
    if rows.ndim == 2 and len(rows.chunks[1]) > 1:
        rows = rows.rechunk({1: -1})
    if counts is not None and rows.chunks[0] != counts:
        rows = rows.rechunk({0: counts})
    return rows, list(np.ravel(rows.to_delayed()))


def fit(estimator: Any, X: Any, y: Any = None, sample_weight: Any = None, *, client: Any = None) -> Any:
    """A copy of the estimator, fitted to the rows of X; its labels_ are a dask array of X's chunks.

    estimator: of a class whose fit takes comm. X: n x p, a dask array or data frame of numbers. y: n, partial labels; sample_weight: n; dask arrays or
    None. client: of dask.distributed; by default the current one. Blocks until the fit is done. Workers must be able to open connections to each
    other. ValueError and TypeError as of fit; what a worker raises comes out.
    """
    import dask
    import dask.array
    from distributed import get_client, wait

    if not isinstance(estimator, (BlockClusterer, WeightedBlockClusterer)):
        raise TypeError(f"{type(estimator).__name__} does not work in several processes; the classes whose fit takes comm do (docs/scale.md)")
    client = client or get_client()
    X, parts = _chunks(X, "X")
    if X.ndim != 2:
        raise ValueError(f"X: {X.ndim} dimensions; rows of numbers have 2")
    if np.isnan(X.shape[0]):
        X.compute_chunk_sizes()
    beside = []
    for what, values in (("sample_weight", sample_weight), ("y", y)):
        beside.append([] if values is None else _chunks(values if hasattr(values, "chunks") else dask.array.from_array(values, X.chunks[0]), what, X.chunks[0])[1])
    parts = client.compute(parts)
    beside = [client.compute(each) for each in beside]
    wait([*parts, *beside[0], *beside[1]])
    for future in parts:
        if future.status == "error":
            future.result()
    holders = client.who_has(parts)
    mine: dict[str, list[int]] = {}
    for number, future in enumerate(parts):
        mine.setdefault(sorted(holders[future.key])[0], []).append(number)
    workers = list(mine)
    ends = np.cumsum(X.chunks[0]).tolist()
    places = list(zip([0, *ends[:-1]], ends))
    name, key = secrets.token_hex(8), secrets.token_bytes(32)
    hosts = {worker: worker.split("://")[-1].rsplit(":", 1)[0].strip("[]") for worker in workers}
    hosts = {worker: host if _is_address(host) else "127.0.0.1" for worker, host in hosts.items()}
    addresses = [
        future.result()
        for future in [client.submit(_listen, name, key, hosts[worker], workers=[worker], allow_other_workers=False, pure=False) for worker in workers]
    ]
    shares = [
        client.submit(
            _share, name, key, rank, addresses, copy.deepcopy(estimator), [places[i] for i in mine[worker]], [parts[i] for i in mine[worker]],
            [beside[0][i] for i in mine[worker]] if beside[0] else [], [beside[1][i] for i in mine[worker]] if beside[1] else [],
            workers=[worker], allow_other_workers=False, pure=False,
        )
        for rank, worker in enumerate(workers)
    ]  # fmt: skip
    wait(shares)
    for share in shares:
        if share.status == "error":
            share.result()
    first = client.submit(lambda share: share[0], shares[0], pure=False)
    fitted = first.result()
    of_chunk: list[Any] = [None] * len(parts)
    for share, worker in zip(shares, workers):
        for place, number in enumerate(mine[worker]):
            of_chunk[number] = client.submit(lambda share, place=place: share[1][place], share, pure=False)
    pieces = [dask.array.from_delayed(dask.delayed(future), (rows,), fitted.labels_.dtype) for future, rows in zip(of_chunk, X.chunks[0])]
    fitted.labels_ = dask.array.concatenate(pieces)
    return fitted


def _is_address(host):
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
            return True
        except OSError:
            pass
    return False
