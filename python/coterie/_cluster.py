"""Workers of a computer cluster as the processes of one fit: their connections and their work. coterie.dask and coterie.ray start them."""
from __future__ import annotations

import hmac
import secrets
import socket
import time

import numpy as np

from . import _input
from ._base import BlockClusterer, WeightedBlockClusterer

TIMEOUT = 60.0  # seconds until all workers must be connected
PROOF = 5.0  # seconds in which a new connection must prove that it knows the key


def listen(host):
    """A socket that listens on a free port."""
    return socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=1024)


class Connections:
    """A communicator with one connection between every two workers. `meet` makes the connections.

    Another thread may call `close` at any time. Calls that wait for bytes then raise ConnectionError. They also raise it if another worker ends.
    """

    def __init__(self, rank, listener, key):
        self.rank, self.size = rank, None
        self._listener, self._key, self._to, self._open = listener, key, {}, [listener]

    def meet(self, addresses):
        """Connects to the workers of lower rank and waits for the others. `addresses` has all workers, in the order of the ranks."""
        self.size = len(addresses)
        deadline = time.monotonic() + TIMEOUT
        try:
            for lower in range(self.rank):
                connection = socket.create_connection(addresses[lower][:2], timeout=TIMEOUT)
                self._open.append(connection)
                self._keep(connection, lower, self._prove(connection, b"from", b"to"))
            while len(self._to) < self.size - 1:
                self._listener.settimeout(max(0.0, deadline - time.monotonic()))
                connection, _ = self._listener.accept()
                self._open.append(connection)
                connection.settimeout(PROOF)
                try:
                    other = self._prove(connection, b"to", b"from")
                except (OSError, ValueError):  # not a worker of this fit
                    connection.close()
                    continue
                self._keep(connection, other, other)
        except OSError as error:
            self.close()
            raise ConnectionError(f"worker {self.rank}: only {len(self._to) + 1} of {self.size} workers connected: {str(error) or 'timeout'}") from None
        finally:
            self._listener.close()

    def _keep(self, connection, rank, told):
        if rank != told:
            raise ConnectionError(f"worker {told} answered instead of worker {rank}")
        connection.settimeout(None)
        # The fit exchanges small sums. Without this option, each message may wait for the acknowledgement of the previous one.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._to[rank] = connection

    def _prove(self, connection, mine, theirs):
        """Both ends prove that they know the key, with digests of the other end's random bytes. Returns the other end's rank."""
        own = self.rank.to_bytes(4, "little") + secrets.token_bytes(32)
        connection.sendall(own)
        other = _received(connection, bytearray(len(own)))
        connection.sendall(hmac.digest(self._key, mine + own + other, "sha256"))
        if not hmac.compare_digest(_received(connection, bytearray(32)), hmac.digest(self._key, theirs + other + own, "sha256")):
            raise ConnectionError("the other end does not know the key of this fit")
        return int.from_bytes(other[:4], "little")

    def send(self, data, to):
        try:
            self._to[to].sendall(data)
        except (KeyError, OSError) as error:
            raise ConnectionError(f"worker {to} ended during the fit ({error})") from None

    def receive(self, data, source):
        try:
            _received(self._to[source], data)
        except (KeyError, OSError) as error:
            raise ConnectionError(f"worker {source} ended during the fit ({error})") from None

    def close(self):
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)  # wakes the threads that wait for it
            except OSError:
                pass
            connection.close()


def _received(connection, data):
    """Fills `data` and returns it."""
    rest = memoryview(data)
    while len(rest):
        count = connection.recv_into(rest)
        if count == 0:
            raise ConnectionError("the connection is closed")
        rest = rest[count:]
    return data


def check_estimator(estimator):
    """Raises TypeError if the class works only in one process."""
    if not isinstance(estimator, (BlockClusterer, WeightedBlockClusterer)):
        raise TypeError(f"{type(estimator).__name__} does not work in several processes. Use a class whose fit takes comm (docs/scale.md).")


def fit_share(comm, addresses, estimator, places, parts, weights, labels, names):
    """Runs one process's share of the fit. Closes comm.

    places: the range of row numbers of each part. weights, labels: one array per part, or empty lists. names: of the columns, or None.
    Returns (the fitted estimator on rank 0, None on the others; the labels of each part).
    """
    try:
        comm.meet(addresses)
        X = np.concatenate([np.asarray(part) for part in parts])
        X = _input.Rows(_input.rows_of(X, estimator=type(estimator).__name__).points if len(X) else X, names)
        more = {} if not weights else {"sample_weight": np.concatenate([np.asarray(part) for part in weights])}
        y = np.concatenate([np.asarray(part) for part in labels]) if labels else None
        estimator.fit(X, y, comm=comm, local=places, **more)
    finally:
        comm.close()
    found = np.split(estimator.labels_, np.cumsum([len(part) for part in parts])[:-1])
    return (estimator if comm.rank == 0 else None), found
