"""A fit in several processes has the same bits as in one."""
import concurrent.futures
import multiprocessing
import queue
import subprocess
import sys

import numpy as np
import pytest
from conftest import estimator

import coterie
from coterie import _processes


class Pipes:
    """A communicator over pipes, one for each pair of processes and direction."""

    def __init__(self, rank, size, pipes):
        self.rank, self.size, self._pipes = rank, size, pipes

    def send(self, data, to):
        self._pipes[self.rank, to][1].send_bytes(bytes(data))

    def receive(self, data, source):
        data[:] = self._pipes[source, self.rank][0].recv_bytes()


def _work(rank, size, pipes, name, X, parameters, out, local=None):
    try:
        if local is None:
            model = estimator(name, **parameters).fit(X, comm=Pipes(rank, size, pipes))
        else:
            model = estimator(name, **parameters).fit(*X[rank], comm=Pipes(rank, size, pipes), local=local[rank])
        out.put((rank, model.labels_, model.objective_, model.cluster_centers_))
    except Exception as error:
        out.put((rank, type(error).__name__, str(error), None))


def in_processes(size, name, X, *, local=None, **parameters):
    context = multiprocessing.get_context("spawn")
    pipes = {(a, b): context.Pipe(duplex=False) for a in range(size) for b in range(size) if a != b}
    out = context.Queue()
    processes = [context.Process(target=_work, args=(rank, size, pipes, name, X, parameters, out, local)) for rank in range(size)]
    for process in processes:
        process.start()
    try:
        return sorted((out.get(timeout=60) for _ in range(size)), key=lambda each: each[0])
    finally:
        for process in processes:
            process.join(timeout=5)
            process.kill()  # it may wait for one that has failed


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    X = (np.random.default_rng(0).normal(size=(20_000, 8)) + 3).astype(np.float32)
    names = []
    for part, rows in enumerate(np.array_split(X, 3)):
        names.append(str(folder / f"part-{part}.npy"))
        np.save(names[-1], rows)
    return names


@pytest.mark.parametrize("name", ["KMeans", "SoftKMeans"])
def test_three_processes_are_bit_identical_to_one(name, files):
    alone = estimator(name, n_clusters=5, n_jobs=1).fit(files)
    found = in_processes(3, name, files, n_clusters=5, n_jobs=1)
    assert [len(labels) < 20_000 for _, labels, _, _ in found] == [True] * 3
    assert np.array_equal(np.concatenate([labels for _, labels, _, _ in found]), alone.labels_)
    for _, _, objective, centers in found:
        assert objective == alone.objective_ and np.array_equal(centers, alone.cluster_centers_)


@pytest.mark.parametrize("places", [[True] * 3, [[(600, 700)], [], [(0, 600), (700, 3000)]]], ids=["behind each other", "placed"])
def test_processes_with_local_rows(places):
    random = np.random.default_rng(0)
    X, weights = random.normal(size=(3000, 5)).astype(np.float32), random.random(3000)
    y = np.where(np.arange(3000) % 9 == 0, np.arange(3000) % 3, -1)
    rows = [[range(10)], [range(0)], [range(10, 3000)]] if places[0] is True else [[range(*each) for each in part] for part in places]
    rows = [np.concatenate([np.arange(0), *map(np.array, part)]).astype(int) for part in rows]
    for name, more, beside in [("KMeans", dict(n_clusters=4), (y, weights)), ("SoftKMeans", dict(scale="zscore"), ())]:
        alone = estimator(name, n_jobs=1, **more).fit(X, *beside)
        found = in_processes(3, name, [[each[part] for each in (X, *beside)] for part in rows], local=places, n_jobs=1, **more)
        for (_, labels, objective, centers), part in zip(found, rows):
            assert np.array_equal(labels, alone.labels_[part])
            assert objective == alone.objective_ and np.array_equal(centers, alone.cluster_centers_)


def test_inconsistent_parts_raise_on_every_process():
    X = np.random.default_rng(0).normal(size=(20, 3))
    for parts, places, said in [
        ([[X], [X[:, :2]]], [True] * 2, "process 1 holds rows with 2 columns of float64, process 0 with 3"),
        ([[X], [X]], [[(0, 20)], [(10, 30)]], "the places leave a gap or overlap between rows"),
        ([[X, None, np.ones(20)], [X, None, np.ones(19)]], [True] * 2, "sample_weight"),
    ]:
        found = in_processes(2, "KMeans", parts, local=places)
        assert any(said in str(text) for _, _, text, _ in found) and not any(isinstance(kind, np.ndarray) for _, kind, _, _ in found), found
    with pytest.raises(ValueError, match="local: X can be a part of the rows only in a fit of several processes"):
        coterie.KMeans(3).fit(X, local=True)


def test_bad_parameter_raises_on_every_process(files):
    found = in_processes(2, "KMeans", files, n_clusters=0)
    assert all(kind == "BadArgument" and "n_clusters" in text for _, kind, text, _ in found)


class Queues:
    """A communicator between threads. A thread that waits longer than ten seconds fails."""

    def __init__(self, rank, size, queues):
        self.rank, self.size, self._queues = rank, size, queues

    def send(self, data, to):
        self._queues[self.rank, to].put(bytes(data))

    def receive(self, data, source):
        data[:] = self._queues[source, self.rank].get(timeout=10)


TABLE = np.random.default_rng(1).normal(size=(60, 3))
ROW = np.arange(60) % 3
# What the second of three processes does differently: parameters of the estimator, arguments of fit, and a part of the message.
DIFFERENCES = [
    (dict(n_clusters=4), {}, "n_clusters"),
    (dict(n_clusters=0), {}, "n_clusters"),
    (dict(n_clusters="many"), {}, "n_clusters"),
    (dict(n_clusters="auto"), {}, "n_clusters"),
    (dict(random_state=5), {}, "seed"),
    (dict(random_state="five"), {}, "random_state"),
    (dict(init=np.zeros((2, 2))), {}, "init"),
    (dict(init="unknown"), {}, "init"),
    (dict(n_init=0), {}, "n_init"),
    (dict(n_jobs=0), {}, "n_jobs"),
    (dict(missing="guess"), {}, "missing"),
    (dict(scale="half"), {}, "scale"),
    (dict(sizes=(1, 2, 3)), {}, "sizes"),
    (dict(label_share={"a": 0.5}), {}, "label_share"),
    (dict(must_links=[[0, 99]]), {}, "must_links"),
    (dict(algorithm="lloyd"), {}, "algorithm"),
    (dict(checkpoint=3), {}, "checkpoint"),
    ({}, dict(X=None), "X"),
    ({}, dict(X=[["a", "b", "c"]] * 60), "X"),
    ({}, dict(X=TABLE[:50]), "rows"),
    ({}, dict(X=TABLE[:, :2]), "columns"),
    ({}, dict(X=TABLE.astype(np.float32)), "float"),
    ({}, dict(X=np.full((60, 3), np.nan)), "NaN"),
    ({}, dict(X="nowhere.npy"), "nowhere"),
    ({}, dict(y=np.where(ROW > 1, ROW, -1)), "y"),
    ({}, dict(y=np.zeros(7)), "y"),
    ({}, dict(sample_weight=np.full(60, 2.0)), "sample_weight"),
    ({}, dict(sample_weight=["heavy"] * 60), "sample_weight"),
    ({}, dict(local=True), "local"),
    ({}, dict(local=[(0, 10, 20)]), "local"),
    ({}, dict(local=3), "local"),
]


def outcomes(*calls):
    """What each call returns or raises. The calls take a communicator, and each runs in its own thread."""
    queues = {(a, b): queue.Queue() for a in range(len(calls)) for b in range(len(calls))}
    with concurrent.futures.ThreadPoolExecutor(len(calls)) as pool:
        running = [pool.submit(call, Queues(rank, len(calls), queues)) for rank, call in enumerate(calls)]
        return [each.exception() or each.result() for each in running]


@pytest.mark.parametrize("parameters, given, said", DIFFERENCES, ids=lambda each: (str(list(each)) if isinstance(each, dict) else None))
@pytest.mark.filterwarnings("ignore")
def test_different_arguments_raise_on_every_process(parameters, given, said):
    def fit(more, arguments):
        return lambda comm: coterie.KMeans(**{"n_clusters": 3, **more}).fit(**{"X": TABLE, "comm": comm, **arguments})

    found = outcomes(fit({}, {}), fit(parameters, given), fit({}, {}))
    for each in found:
        assert isinstance(each, (ValueError, TypeError, coterie.CoterieError)) and said in str(each), found


def test_error_without_text_is_named():
    def fail(comm):
        with _processes.in_agreement(comm):
            if comm.rank == 1:
                raise LookupError

    found = outcomes(fail, fail)
    assert isinstance(found[1], LookupError) and isinstance(found[0], coterie.ResourceError)
    assert "process 1 failed: LookupError" in str(found[0])


def test_processes_without_a_seed_share_one():
    models = outcomes(*[lambda comm: coterie.KMeans(3, random_state=None).fit(TABLE, comm=comm)] * 3)
    assert all(np.array_equal(each.cluster_centers_, models[0].cluster_centers_) for each in models)


def test_communicator_type_is_checked(iris):
    X, _ = iris
    with pytest.raises(TypeError, match="comm: 3 is not accepted. Use a communicator of mpi4py"):
        coterie.KMeans(3).fit(X, comm=3)
    with pytest.raises(TypeError, match="comm"):
        coterie.Ward(3).fit(X, comm=3)


def test_communicator_errors_are_raised(iris):
    X, _ = iris

    class Broken:
        rank, size = 0, 2

        def send(self, data, to):
            raise LookupError("the line is cut")

        receive = send

    with pytest.raises((LookupError, coterie.CoterieError), match="the line is cut"):
        coterie.KMeans(3).fit(X, comm=Broken())


TORCHRUN = """
import sys
import numpy as np, torch.distributed as dist, coterie
dist.init_process_group("gloo")
model = coterie.KMeans(5, n_jobs=1).fit(sys.argv[2:], comm=dist)
pair = dist.new_group([0, 2])
if dist.get_rank() != 1:  # a group of some of them, whose ranks are others
    again = coterie.KMeans(5, n_jobs=1).fit(sys.argv[2:], comm=pair)
    assert np.array_equal(again.cluster_centers_, model.cluster_centers_)
np.savez(f"{sys.argv[1]}/{dist.get_rank()}.npz", labels=model.labels_, centers=model.cluster_centers_, objective=model.objective_)
dist.barrier()
"""


def test_torchrun_with_gloo_is_bit_identical_to_one_process(files, tmp_path, environment):
    program = tmp_path / "fit.py"
    program.write_text(TORCHRUN)
    # The default for where the output goes does not work with torch 1.13 under Python 3.11.
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "3", "--redirects", "1", "--tee", "1", "--log_dir", str(tmp_path / "log")]
    words = [sys.executable, "-W", "ignore", *torchrun, str(program), str(tmp_path), *files]
    done = subprocess.run(words, env=dict(environment, OMP_NUM_THREADS="1"), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    alone = coterie.KMeans(5, n_jobs=1).fit(files)
    found = [np.load(tmp_path / f"{rank}.npz") for rank in range(3)]
    assert np.array_equal(np.concatenate([each["labels"] for each in found]), alone.labels_)
    for each in found:
        assert np.array_equal(each["centers"], alone.cluster_centers_) and each["objective"] == alone.objective_
