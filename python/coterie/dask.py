"""Fits on rows in the memory of the workers of a Dask cluster.

    import coterie.dask
    model = coterie.dask.fit(coterie.KMeans(100), X)      # X: a dask array, or a dask data frame of numbers
    model.labels_                                          # a dask array with the same chunks

Every worker that has some of the rows runs one process of the fit (SPMD). Dask schedules; coterie computes. The result has the same bits as a fit of
all rows in one process, for any number of workers and chunks. Rows move once between workers, to balance them. Then only sums move (docs/scale.md).
"""
from __future__ import annotations

import copy
import secrets
import socket
import time
from typing import Any

import numpy as np

from . import _input
from ._cluster import Connections, check_estimator, fit_share, listen

__all__ = ["fit"]

_fits: dict[str, Connections] = {}  # this worker's fits that run, or wait for their start


def _listen(name, key, rank, host):
    """Opens a port on this worker. Returns its address."""
    listener = listen(host)
    _fits[name] = Connections(rank, listener, key)
    return listener.getsockname()


def _share(name, addresses, estimator, places, parts, weights, labels, names):
    """Runs one process's share of the fit. Returns (the fitted estimator on rank 0, None on the others; the labels of the parts)."""
    if name not in _fits:
        raise ConnectionError("this fit has ended, and its labels were lost with a worker that left the cluster. Fit again.")
    try:
        return fit_share(_fits[name], addresses, estimator, places, parts, weights, labels, names)
    finally:
        _fits.pop(name, None)


def _end(name):
    """Ends this worker's share, also if it has not started yet. Returns whether the share still runs."""
    comm = _fits.get(name)
    if comm is not None:
        comm.close()
        if not comm.size:  # the share has not started; when it does, it does not find its connections
            _fits.pop(name, None)
    return name in _fits


def _free(client, shares):
    """Lets Dask run finished shares again on any worker.

    If a share is lost later with its worker, Dask runs it on another worker, where `_share` raises its error. Otherwise Dask would wait for a worker
    that never returns.
    """

    def free(keys, dask_scheduler=None):
        for key in keys:
            if key in dask_scheduler.tasks:
                dask_scheduler.tasks[key].worker_restrictions = set()

    client.run_on_scheduler(free, [share.key for share in shares])


class _Watch:
    """Waits for the workers of a fit. If one of them fails or leaves, ends the shares of the others, then raises the error."""

    def __init__(self, client, name, workers):
        self._client, self._name, self._workers = client, name, workers

    def results(self, futures, fetch=True):
        """Waits for the futures. Returns their results; with fetch=False, None: the results stay on the workers."""
        from distributed import TimeoutError, wait

        waiting = list(futures)
        while waiting:
            try:
                wait(waiting, timeout=1, return_when="FIRST_COMPLETED")
            except TimeoutError:
                pass
            gone = set(self._workers) - set(self._client.nthreads())
            if gone:
                raise ConnectionError(f"worker {sorted(gone)[0]} left the cluster during the fit. Fit again on the remaining workers.")
            if any(future.status in ("error", "cancelled", "lost") for future in waiting):
                raise self._error(futures)
            waiting = [future for future in waiting if not future.done()]
        return self._client.gather(futures) if fetch else None

    def _error(self, futures):
        """The error to raise. Errors that only report the end of another worker come last."""
        from distributed import TimeoutError, wait

        self.end()
        try:
            wait(futures, timeout=1)
        except TimeoutError:
            pass
        errors = [future.exception() for future in futures if future.status == "error"]
        errors.sort(key=lambda error: isinstance(error, ConnectionError))
        return errors[0] if errors else ConnectionError("the cluster lost the fit. Fit again.")

    def end(self):
        """Ends all shares."""
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            here = sorted(set(self._workers) & set(self._client.nthreads()))
            if not here or not any(found is True for found in self._client.run(_end, self._name, workers=here, on_error="return").values()):
                return
            time.sleep(0.05)


def _chunks(rows, what, counts=None):
    """Returns the rows as a dask array, and its delayed chunks of consecutive rows."""
    if hasattr(rows, "to_dask_array"):
        rows = rows.to_dask_array(lengths=True)
    if not hasattr(rows, "to_delayed") or not hasattr(rows, "chunks"):
        raise TypeError(f"{what}: {type(rows).__name__} is not accepted. Use a dask array or data frame.")
    if rows.ndim == 2 and len(rows.chunks[1]) > 1:
        rows = rows.rechunk({1: -1})
    if counts is not None and rows.chunks[0] != counts:
        rows = rows.rechunk({0: counts})
    return rows, list(np.ravel(rows.to_delayed()))


def fit(estimator: Any, X: Any, y: Any = None, sample_weight: Any = None, *, client: Any = None) -> Any:
    """Fits a copy of the estimator to the rows of X, and waits for the result.

    The workers must be able to open connections to each other. The names of a data frame's columns are kept.

    Parameters
    ----------
    estimator : object of a class whose fit has the parameter comm
    X : dask array or data frame of shape (n_samples, n_features)
        Numbers.
    y : array or dask array of shape (n_samples,), default=None
        Partial labels.
    sample_weight : array or dask array of shape (n_samples,), default=None
    client : dask.distributed.Client, default=None
        None: the current client.

    Returns
    -------
    object of the estimator's class
        Its `labels_` is a dask array with the chunks of X.

    Raises
    ------
    ValueError, TypeError
        As in fit.
    ConnectionError
        A worker left the cluster. The shares of the others end, too.
    Exception
        The error that a worker raised.
    """
    import dask
    import dask.array
    from distributed import get_client, wait

    check_estimator(estimator)
    client = client or get_client()
    names = _input.names_of(getattr(X, "columns", []), "X") if hasattr(X, "to_dask_array") else None
    X, parts = _chunks(X, "X")
    if X.ndim != 2:
        raise ValueError(f"X: an array with {X.ndim} dimensions is not accepted. Use 2: rows and columns.")
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
    if not all(holders.values()):
        raise ConnectionError("a worker left the cluster before the fit started. Fit again on the remaining workers.")
    for number, future in enumerate(parts):
        mine.setdefault(sorted(holders[future.key])[0], []).append(number)
    workers = list(mine)
    ends = np.cumsum(X.chunks[0]).tolist()
    places = list(zip([0, *ends[:-1]], ends))
    name, key = secrets.token_hex(8), secrets.token_bytes(32)
    hosts = {worker: worker.split("://")[-1].rsplit(":", 1)[0].strip("[]") for worker in workers}
    hosts = {worker: host if _is_address(host) else "127.0.0.1" for worker, host in hosts.items()}
    watch = _Watch(client, name, workers)
    on = {"allow_other_workers": False, "pure": False}
    asked = []
    try:
        asked += [client.submit(_listen, name, key, rank, hosts[worker], workers=[worker], **on) for rank, worker in enumerate(workers)]
        addresses = watch.results(asked)
        shares = [
            client.submit(
                _share, name, addresses, copy.deepcopy(estimator), [places[i] for i in mine[worker]], [parts[i] for i in mine[worker]],
                [beside[0][i] for i in mine[worker]] if beside[0] else [], [beside[1][i] for i in mine[worker]] if beside[1] else [], names,
                workers=[worker], **on,
            )
            for worker in workers
        ]  # fmt: skip
        asked += shares
        watch.results(shares, fetch=False)
        [fitted] = watch.results([client.submit(lambda share: share[0], shares[0], pure=False)])
        _free(client, shares)
    except BaseException:
        client.cancel(asked, force=True)
        watch.end()
        raise
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
