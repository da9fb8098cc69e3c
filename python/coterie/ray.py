"""Fits on rows in the object stores of the nodes of a Ray cluster.

    import coterie.ray
    model = coterie.ray.fit(coterie.KMeans(100), blocks)   # references to blocks of rows, or a ray.data.Dataset of numbers
    ray.get(model.labels_)                                  # references to the labels of each block

Every node that has some of the blocks runs one process of the fit (SPMD). Ray places and schedules; coterie computes. The result has the same bits as
a fit of all rows in one process, for any number of nodes and blocks. Rows move once between nodes, to balance them. Then only sums move
(docs/scale.md).
"""
from __future__ import annotations

import copy
import secrets
from typing import Any

import numpy as np

from . import _input
from ._cluster import Connections, check_estimator, fit_share, listen

__all__ = ["fit"]


class _Process:
    """The process on a node: its blocks, and its share of the fit."""

    def __init__(self, estimator):
        self._estimator = estimator

    def hold(self, blocks):
        """Fetches the blocks from their references. Returns the number of rows and the names of the columns of each."""
        import ray

        self._parts = [_rows(block) for block in ray.get(blocks)]
        return [(part.shape[0], part.names) for part in self._parts]

    def listen(self, key, rank):
        import ray

        self._listener = listen(ray.util.get_node_ip_address())
        self._comm = Connections(rank, self._listener, key)
        return self._listener.getsockname()

    def share(self, addresses, places, weights, labels, names):
        fitted, found = fit_share(self._comm, addresses, self._estimator, places, [part.points for part in self._parts], weights, labels, names)
        return [fitted, *found]


def _rows(block):
    """The rows of a block: an array, a table, or a dict of columns from a Dataset."""
    if isinstance(block, dict):
        names = list(block) if all(np.ndim(column) == 1 for column in block.values()) else None
        return _input.Rows(np.column_stack(list(block.values())), names)
    if np.ndim(block) != 2:
        raise ValueError(f"X: a block has {np.ndim(block)} dimensions. Use 2: rows and columns.")
    return _input.rows_of(block) if np.shape(block)[0] else _input.Rows(np.asarray(block))


def _ended(references):
    """Waits for all references and returns their values. Raises the first error as soon as it occurs."""
    import ray

    waiting = list(references)
    while waiting:
        done, waiting = ray.wait(waiting, num_returns=1, fetch_local=False)
        ray.get(done)
    return ray.get(references)


def _blocks_of(X):
    import ray

    if isinstance(X, (list, tuple)) and X and all(isinstance(block, ray.ObjectRef) for block in X):
        return list(X)
    if hasattr(X, "to_numpy_refs"):
        return X.to_numpy_refs()
    raise TypeError(f"X: {type(X).__name__} is not accepted. Use a list of references to blocks of rows (ray.put), or a ray.data.Dataset.")


def _split(what, values, counts):
    """Splits values by block. Returns a list per block: with the block's array, or empty if there are no values."""
    if values is None:
        return [[]] * len(counts)
    values = np.asarray(values)
    if values.shape != (sum(counts),):
        raise ValueError(f"{what}: an array of shape {values.shape} for {sum(counts)} rows. Give one value per row.")
    return [[part] for part in np.split(values, np.cumsum(counts)[:-1])]


def fit(estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Fits a copy of the estimator to the rows of X, and waits for the result.

    The nodes must be able to open connections to each other. Ray keeps blocks below 100 kB with the caller; they are fitted on the caller's node. The
    names of columns are kept, from a Dataset and from blocks that are tables.

    Parameters
    ----------
    estimator : object of a class whose fit has the parameter comm
        Each node uses n_jobs threads, or 1 with n_jobs=None.
    X : list of references, or ray.data.Dataset
        References to blocks, in the order of the rows; each block is an array of shape (n_i, n_features) of consecutive rows. Or a Dataset of numbers, whose
        rows are in the order of its blocks.
    y : array of shape (n_samples,), default=None
        Partial labels.
    sample_weight : array of shape (n_samples,), default=None

    Returns
    -------
    object of the estimator's class
        Its `labels_` is a list of references to arrays, one for each block of X. `ray.data.from_numpy_refs(model.labels_)` makes a Dataset of them.

    Raises
    ------
    ValueError, TypeError
        As in the estimator's fit.
    ConnectionError
        A node was lost. The processes on the others end, too.
    Exception
        The error that a node raised.
    """
    import ray
    from ray.exceptions import RayActorError, RayTaskError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    check_estimator(estimator)
    blocks = _blocks_of(X)
    ray.wait(blocks, num_returns=len(blocks), fetch_local=False)
    located = ray.experimental.get_object_locations(blocks)
    here = ray.get_runtime_context().get_node_id()
    mine: dict[str, list[int]] = {}
    for number, block in enumerate(blocks):
        mine.setdefault(sorted(located[block]["node_ids"] or [here])[0], []).append(number)
    numbers = list(mine.values())
    key = secrets.token_bytes(32)
    processes = []
    try:
        for node in mine:
            place = NodeAffinitySchedulingStrategy(node, soft=False)
            processes.append(ray.remote(_Process).options(num_cpus=0, scheduling_strategy=place).remote(copy.deepcopy(estimator)))
        counts = [0] * len(blocks)
        held = _ended([process.hold.remote([blocks[number] for number in own]) for process, own in zip(processes, numbers)])
        columns = [None] * len(blocks)
        for own, rows in zip(numbers, held):
            for number, (count, names) in zip(own, rows):
                counts[number], columns[number] = count, names
        for number, names in enumerate(columns):
            if names != columns[0]:
                raise ValueError(f"X: block {number} has the columns {names}, block 0 has {columns[0]}. All blocks need the same columns, in the same order.")
        ends = np.cumsum(counts).tolist()
        places = list(zip([0, *ends[:-1]], ends))
        weights, labels = _split("sample_weight", sample_weight, counts), _split("y", y, counts)
        addresses = _ended([process.listen.remote(key, rank) for rank, process in enumerate(processes)])
        shares = [
            process.share.options(num_returns=1 + len(own)).remote(
                addresses, [places[number] for number in own], sum((weights[number] for number in own), []), sum((labels[number] for number in own), []),
                columns[0],
            )
            for process, own in zip(processes, numbers)
        ]
        fitted = _ended([share[0] for share in shares])[0]
    except RayTaskError as error:
        raise error.cause from None
    except RayActorError as error:
        raise ConnectionError(f"a node's process ended during the fit ({str(error).splitlines()[0]}). Fit again on the remaining nodes.") from None
    finally:
        for process in processes:  # also those that are still working
            ray.kill(process)
    found: list[Any] = [None] * len(blocks)
    for own, share in zip(numbers, shares):
        for number, reference in zip(own, share[1:]):
            found[number] = reference
    fitted.labels_ = found
    return fitted
