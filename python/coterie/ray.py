"""Fits on rows that lie in the object stores of a Ray cluster's nodes.

    import coterie.ray
    model = coterie.ray.fit(coterie.KMeans(100), blocks)   # references to blocks of rows, or a ray.data.Dataset of numbers
    ray.get(model.labels_)                                  # references to the labels of each block

Every node that holds some of the blocks runs one process' share of the fit (SPMD) on them; Ray places and schedules, coterie computes. The result has the
bits of a fit of all rows in one process, whatever the number of nodes and blocks. Rows travel once between nodes, to even out what they hold; then only
sums do (docs/scale.md).
"""
from __future__ import annotations

import copy
import multiprocessing.connection
import secrets
from typing import Any

import numpy as np

from ._cluster import Connections, check_estimator, fit_share

__all__ = ["fit"]


class _Process:
    """What runs on a node: its blocks, and its share of the fit."""

    def __init__(self, estimator):
        self._estimator = estimator

    def hold(self, blocks):
        """Takes the blocks, whose references are given; how many rows each has."""
        import ray

        self._parts = [_rows(block) for block in ray.get(blocks)]
        return [len(part) for part in self._parts]

    def listen(self, key):
        import ray

        self._listener = multiprocessing.connection.Listener((ray.util.get_node_ip_address(), 0), backlog=64, authkey=key)
        return self._listener.address

    def share(self, key, rank, addresses, places, weights, labels):
        fitted, found = fit_share(Connections(rank, self._listener, addresses, key), self._estimator, places, self._parts, weights, labels)
        return [fitted, *found]


def _rows(block):
    """n x p of a block: an array, or the columns of a Dataset's."""
    rows = np.column_stack(list(block.values())) if isinstance(block, dict) else np.asarray(block)
    if rows.ndim != 2:
        raise ValueError(f"X: a block has {rows.ndim} dimensions; rows of numbers have 2")
    return rows


def _blocks_of(X):
    import ray

    if isinstance(X, (list, tuple)) and X and all(isinstance(block, ray.ObjectRef) for block in X):
        return list(X)
    if hasattr(X, "to_numpy_refs"):
        return X.to_numpy_refs()
    raise TypeError(f"X: {type(X).__name__} is not accepted; a list of references to blocks of rows (ray.put), or a ray.data.Dataset")


def _split(what, values, counts):
    """The values of each block, or nothing."""
    if values is None:
        return [[]] * len(counts)
    values = np.asarray(values)
    if values.shape != (sum(counts),):
        raise ValueError(f"{what}: an array of shape {values.shape} for {sum(counts)} rows")
    return [[part] for part in np.split(values, np.cumsum(counts)[:-1])]


def fit(estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """A copy of the estimator, fitted to the rows of X; its labels_ are references to arrays, one for each block of X.

    estimator: of a class whose fit takes comm; each node works with n_jobs threads, or 1. X: references to blocks of consecutive rows (arrays n_i x p), in
    their order, or a ray.data.Dataset of numbers, whose order is then that of its blocks (`ray.data.from_numpy_refs(model.labels_)` makes a Dataset of the
    labels). y: n, partial labels; sample_weight: n numbers. Blocks until the fit is done. Nodes must be able to open connections to each other; blocks that
    Ray keeps with the caller, as it does below 100 kB, are fitted on the caller's node. ValueError and TypeError as of fit; what a node raises comes out.
    """
    import ray
    from ray.exceptions import RayTaskError
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
        held = ray.get([process.hold.remote([blocks[number] for number in own]) for process, own in zip(processes, numbers)])
        for own, rows in zip(numbers, held):
            for number, count in zip(own, rows):
                counts[number] = count
        ends = np.cumsum(counts).tolist()
        places = list(zip([0, *ends[:-1]], ends))
        weights, labels = _split("sample_weight", sample_weight, counts), _split("y", y, counts)
        addresses = ray.get([process.listen.remote(key) for process in processes])
        shares = [
            process.share.options(num_returns=1 + len(own)).remote(
                key, rank, addresses, [places[number] for number in own], sum((weights[number] for number in own), []), sum((labels[number] for number in own), [])
            )
            for rank, (process, own) in enumerate(zip(processes, numbers))
        ]
        fitted = ray.get([share[0] for share in shares])[0]
    except RayTaskError as error:
        raise error.cause from None
    finally:
        for process in processes:
            ray.kill(process)
    found: list[Any] = [None] * len(blocks)
    for own, share in zip(numbers, shares):
        for number, reference in zip(own, share[1:]):
            found[number] = reference
    fitted.labels_ = found
    return fitted
