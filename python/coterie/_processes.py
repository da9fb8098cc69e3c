"""Communication between the processes of one fit, over mpi4py, torch.distributed or an object of the caller."""
import contextlib
import pickle
import sys
import types

import numpy as np

from ._errors import BadArgument, BadData, ResourceError

PIECE = 1 << 30  # largest number of bytes in a message


class _Mpi:
    def __init__(self, comm):
        from mpi4py import MPI

        # A duplicate keeps these messages apart from other messages of the program.
        self._comm, self._byte = comm.Dup(), MPI.BYTE
        self.rank, self.size = self._comm.Get_rank(), self._comm.Get_size()

    def send(self, data, to):
        for begin in range(0, len(data), PIECE):
            self._comm.Send([data[begin : begin + PIECE], self._byte], dest=to)

    def receive(self, data, source):
        for begin in range(0, len(data), PIECE):
            self._comm.Recv([data[begin : begin + PIECE], self._byte], source=source)

    def close(self):
        self._comm.Free()


class _Torch:
    def __init__(self, group):
        import torch

        self._torch, self._group = torch, group
        self.rank, self.size = torch.distributed.get_rank(group), torch.distributed.get_world_size(group)

    def _global(self, rank):
        return rank if self._group is None else self._torch.distributed.get_global_rank(self._group, rank)

    def send(self, data, to):
        if len(data):
            tensor = self._torch.frombuffer(bytearray(data), dtype=self._torch.uint8)
            self._torch.distributed.send(tensor, self._global(to), group=self._group)

    def receive(self, data, source):
        if len(data):
            tensor = self._torch.frombuffer(data, dtype=self._torch.uint8)
            self._torch.distributed.recv(tensor, self._global(source), group=self._group)

    def close(self):
        pass


def communicator_of(comm):
    """Returns an object with rank, size, send(bytes, to), receive(buffer, source) and close()."""
    if hasattr(comm, "Get_rank") and hasattr(comm, "Send"):
        return _Mpi(comm)
    torch = sys.modules.get("torch")
    if torch is not None and (comm is getattr(torch, "distributed", None) or isinstance(comm, getattr(torch.distributed, "ProcessGroup", ()))):
        return _Torch(None if comm is torch.distributed else comm)
    if all(hasattr(comm, name) for name in ("rank", "size", "send", "receive")):
        return types.SimpleNamespace(rank=comm.rank, size=comm.size, send=comm.send, receive=comm.receive, close=lambda: None)  # its owner closes comm
    raise TypeError(
        f"comm: {comm!r} is not accepted. Use a communicator of mpi4py, torch.distributed or one of its groups, or an object with rank, size, "
        "send(bytes, to) and receive(buffer, source)."
    )


def gathered(processes, value):
    """Returns the values of all processes, in the order of the ranks, on every process."""
    own = pickle.dumps(value)
    values = []
    for rank in range(processes.size):
        if rank == processes.rank:
            for to in range(processes.size):
                if to != rank:
                    processes.send(memoryview(len(own).to_bytes(8, "little")), to)
                    processes.send(memoryview(own), to)
            values.append(value)
            continue
        size = bytearray(8)
        processes.receive(memoryview(size), rank)
        data = bytearray(int.from_bytes(size, "little"))
        processes.receive(memoryview(data), rank)
        values.append(pickle.loads(data))
    return values


@contextlib.contextmanager
def in_agreement(processes, facts={}):
    """Runs the body and raises an error on all processes if it fails on one of them, or if the facts differ. The body must not communicate.

    processes: a communicator, or None for one process. facts: values that must be equal on all processes, by the name that the message uses.
    """
    failure = None
    try:
        yield
    except Exception as error:
        if processes is None:
            raise
        failure = error
    if processes is None:
        return
    text = None if failure is None else str(failure) or type(failure).__name__
    found = gathered(processes, (text, isinstance(failure, ValueError), facts))
    if failure is not None:
        raise failure
    for rank, (text, about_input, _) in enumerate(found):
        if text is not None:
            raise (BadData if about_input else ResourceError)(f"process {rank} failed: {text}")
    for name, value in found[0][2].items():
        for rank, (_, _, others) in enumerate(found):
            if others[name] != value:
                raise BadArgument(f"{name}: process 0 has {value}, process {rank} has {others[name]}; all processes must call fit in the same way")


def names_of_all(processes, rows, in_parts):
    """Returns the names of the columns on all processes. Processes without rows do not have names.

    Raises ValueError on all processes if the names differ, or if parts of the rows hold words: each process would number the words differently.
    """
    found = gathered(processes, (rows.names if rows.shape[0] else None, bool(rows.kinds) and 1 in rows.kinds))
    if in_parts and any(words for _, words in found):
        raise ValueError("X: words are not accepted in parts of the rows (local). Code them as numbers, or fit in one process.")
    all_names = [(rank, names) for rank, (names, _) in enumerate(found) if names is not None]
    for rank, each in all_names[1:]:
        if each != all_names[0][1]:
            raise ValueError(
                f"X: process {rank} has the columns {each}, process {all_names[0][0]} has {all_names[0][1]}. All processes need the same columns, in the same order."
            )
    return all_names[0][1] if all_names else None


def whole_of_parts(processes, count, places, y, weights):
    """Returns the total number of rows, and y and the weights of all rows in their order. places: see `local` of fit."""
    counts = gathered(processes, count)
    ranges = [each for part in gathered(processes, places) for each in part]
    order = np.concatenate([np.arange(begin, end) for begin, end in ranges]) if ranges else None

    def whole(name, part):
        parts = gathered(processes, None if part is None else np.asarray(part))
        if all(each is None for each in parts):
            return None
        for rank, (each, rows) in enumerate(zip(parts, counts)):
            if each is None and rows > 0 or each is not None and len(each) != rows:
                raise ValueError(f"{name}: process {rank} has {'none' if each is None else len(each)} for {rows} rows. Give one per row.")
        values = np.concatenate([each for each in parts if each is not None and len(each)])
        if order is None or len(order) != len(values):  # the library reports wrong places
            return values
        whole = np.empty_like(values)
        whole[order] = values
        return whole

    return sum(counts), whole("y", y), whole("sample_weight", weights)
