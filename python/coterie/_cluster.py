"""Workers of a cluster as the processes of one fit: connections between them, and what each of them does. coterie.dask and coterie.ray start them."""
from __future__ import annotations

import hmac
import secrets
import socket
import time

import numpy as np

from . import _input
from ._base import BlockClusterer, WeightedBlockClusterer

TIMEOUT = 60.0  # seconds until all workers must have met
PROOF = 5.0  # seconds for one who connects to prove that it knows the key


def listen(host):
    """A socket that listens on a port of its own."""
    return socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=1024)


class Connections:
    """A communicator of one connection between every two workers; `meet` makes them. Another thread may `close` it at any time, which ends whatever
    waits for bytes with ConnectionError, as does the end of another worker."""

    def __init__(self, rank, listener, key):
        self.rank, self.size = rank, None
        self._listener, self._key, self._to, self._open = listener, key, {}, [listener]

    def meet(self, addresses):
        """Connects to the workers of lower rank and waits for the others. `addresses`: of all, in the order of their ranks."""
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
                except (OSError, ValueError):  # of somebody else
                    connection.close()
                    continue
                self._keep(connection, other, other)
        except OSError as error:
            self.close()
            raise ConnectionError(f"worker {self.rank}: {len(self._to) + 1} of {self.size} workers have met: {str(error) or 'the time is over'}") from None
        finally:
            self._listener.close()

    def _keep(self, connection, rank, told):
        if rank != told:
            raise ConnectionError(f"worker {told} answers in the place of worker {rank}")
        connection.settimeout(None)
        # Sums are small and waited for: without this, each of them may wait for the acknowledgement of the last.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._to[rank] = connection

    def _prove(self, connection, mine, theirs):
        """Both ends show that they know the key, by digests of what the other one drew; the other's rank."""
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
            raise ConnectionError(f"worker {to} has ended during the fit ({error})") from None

    def receive(self, data, source):
        try:
            _received(self._to[source], data)
        except (KeyError, OSError) as error:
            raise ConnectionError(f"worker {source} has ended during the fit ({error})") from None

    def close(self):
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)  # wakes who waits for it
            except OSError:
                pass
            connection.close()


def _received(connection, data):
    """`data`, filled."""
    rest = memoryview(data)
    while len(rest):
        count = connection.recv_into(rest)
        if count == 0:
            raise ConnectionError("the connection is closed")
        rest = rest[count:]
    return data


def check_estimator(estimator):
    """TypeError where the class works in one process only."""
    if not isinstance(estimator, (BlockClusterer, WeightedBlockClusterer)):
        raise TypeError(f"{type(estimator).__name__} does not work in several processes; the classes whose fit takes comm do (docs/scale.md)")


def fit_share(comm, addresses, estimator, places, parts, weights, labels, names):
    """One process' share of the fit: (the fitted estimator, on the first one; the labels of the parts). Closes comm.

    places: which of all rows each of the parts is; weights, labels: of the parts, or empty lists; names: of the columns, or None.
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
