"""Workers of a cluster as the processes of one fit: connections between them, and what each of them does. coterie.dask and coterie.ray start them."""
from __future__ import annotations

import multiprocessing.connection
import threading

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


def check_estimator(estimator):
    """TypeError where the class works in one process only."""
    if not isinstance(estimator, (BlockClusterer, WeightedBlockClusterer)):
        raise TypeError(f"{type(estimator).__name__} does not work in several processes; the classes whose fit takes comm do (docs/scale.md)")


def fit_share(comm, estimator, places, parts, weights, labels):
    """One process' share of the fit: (the fitted estimator, on the first one; the labels of the parts). Closes comm.

    places: which of all rows each of the parts is; weights, labels: of the parts, or empty lists.
    """
    try:
        X = np.concatenate([np.asarray(part) for part in parts])
        more = {} if not weights else {"sample_weight": np.concatenate([np.asarray(part) for part in weights])}
        y = np.concatenate([np.asarray(part) for part in labels]) if labels else None
        estimator.fit(X, y, comm=comm, local=places, **more)
    finally:
        comm.close()
    found = np.split(estimator.labels_, np.cumsum([len(part) for part in parts])[:-1])
    return (estimator if comm.rank == 0 else None), found
