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
from typing import Any

import numpy as np

from ._cluster import Connections, check_estimator, fit_share

__all__ = ["fit"]

_listeners: dict[str, multiprocessing.connection.Listener] = {}


def _listen(name, key, host):
    """Opens a port of this worker; where it can be reached."""
    _listeners[name] = multiprocessing.connection.Listener((host, 0), backlog=64, authkey=key)
    return _listeners[name].address


def _share(name, key, rank, addresses, estimator, places, parts, weights, labels):
    """One process' share of the fit: (the fitted estimator, on the first one; the labels of the parts)"""
    return fit_share(Connections(rank, _listeners.pop(name), addresses, key), estimator, places, parts, weights, labels)


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

    check_estimator(estimator)
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
