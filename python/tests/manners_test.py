"""How a fit behaves in a host process: signals, threads, forks, callbacks, messages."""
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from conftest import DEEP, class_names, estimator

import coterie

# A slow fit for each kind of work, interrupted after a second. Networks do a short fit first, because their library takes long to load.
LONG = {
    "KMeans": ("(200_000, 64)", "n_clusters=2000, init='random'"),
    "MiniBatchKMeans": ("(200_000, 64)", "n_clusters=500, max_no_improvement=0, max_iter=10_000"),
    "Ward": ("(40_000, 64)", "n_clusters=3"),
    "Spectral": ("(40_000, 128)", "n_clusters=20"),
    "Cpd": ("(8_000, 20)", "n_clusters=20, n_init=500"),
    "Wmc": ("(12_000, 128)", "n_clusters=10"),
    "Entropy": ("(100_000, 64)", "n_clusters=20, epochs=1000"),
    "Dekm": ("(20_000, 64)", "n_clusters=10"),
}


@pytest.mark.parametrize("name", LONG)
def test_interrupt_ends_a_fit_within_two_seconds(name):
    shape, parameters = LONG[name]
    program = f"""
import time, numpy as np, coterie
X = np.random.default_rng(0).random({shape}, dtype=np.float32)
if "{name}" == "Dekm":
    coterie.Dekm(2, widths=(4,), embedding=2, pretrain_epochs=1, kmeans_restarts=1, max_iter=1).fit(X[:100])
print("begins", flush=True)
try:
    coterie.{name}({parameters}, n_jobs=2).fit(X)  # so that more processors do not end it sooner
    print("done")
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(coterie.KMeans(2).fit(X[:100]).labels_.shape)
"""
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begins\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    assert process.stdout.readline() == "interrupted\n"
    assert time.monotonic() - sent < 2
    assert process.stdout.read() == "(100,)\n"
    assert process.wait(timeout=60) == 0


def test_fit_releases_the_interpreter():
    X = np.random.default_rng(0).random((100_000, 64), dtype=np.float32)
    thread = threading.Thread(target=lambda: coterie.KMeans(50, init='random', n_jobs=1, max_iter=20).fit(X))
    thread.start()
    ticks, longest, last = 0, 0.0, time.monotonic()
    while thread.is_alive():
        time.sleep(0.001)
        ticks, longest, last = ticks + 1, max(longest, time.monotonic() - last), time.monotonic()
    assert ticks > 20 and longest < 0.5


def test_fits_in_several_threads_give_the_same_labels(digits):
    X, _ = digits
    alone = [coterie.KMeans(10, random_state=seed).fit(X).labels_ for seed in range(6)]
    found = [None] * 6

    def work(seed):
        found[seed] = coterie.KMeans(10, random_state=seed).fit(X).labels_

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(one, other) for one, other in zip(alone, found))


def _labels_in_a_child(queue, X):
    queue.put(coterie.KMeans(10).fit(X).labels_)


@pytest.mark.filterwarnings("ignore")
def test_fit_in_a_forked_child(digits):
    X, _ = digits
    labels = coterie.KMeans(10).fit(X).labels_
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_labels_in_a_child, args=(queue, X))
    child.start()
    assert np.array_equal(queue.get(timeout=60), labels)
    child.join(timeout=60)
    assert child.exitcode == 0


@pytest.mark.parametrize("name", [name for name in class_names() if name not in DEEP])
def test_fit_has_the_same_bits_for_any_number_of_threads(name, iris):
    X, _ = iris
    one, more = estimator(name, n_jobs=1).fit(X), estimator(name, n_jobs=4).fit(X)
    assert np.array_equal(one.labels_, more.labels_) and one.objective_ == more.objective_


def test_callback_sees_and_stops(digits):
    X, _ = digits
    seen = []
    coterie.KMeans(10, callback=seen.append).fit(X)
    assert {info["stage"] for info in seen} == {"seeding", "iterations"}
    iterations = [info for info in seen if info["stage"] == "iterations"]
    assert [info["iteration"] for info in iterations] == list(range(1, len(iterations) + 1))
    assert all(0 <= info["fraction"] <= 1 for info in seen)
    model = coterie.KMeans(10, callback=lambda info: info["stage"] == "iterations" and info["iteration"] == 3).fit(X)
    assert model.fit_report_["stopped"] == "interrupted" and 3 <= model.n_iter_ <= 4
    with pytest.raises(coterie.Cancelled):
        coterie.KMeans(10, callback=lambda info: True).fit(X)


def test_callback_exceptions_are_raised(digits):
    X, _ = digits

    def callback(info):
        raise LookupError("from the callback")

    model = coterie.KMeans(10, callback=callback)
    with pytest.raises(LookupError, match="from the callback"):
        model.fit(X)
    assert not hasattr(model, "labels_")
    assert coterie.KMeans(10).fit(X).labels_.shape == (1797,)


def test_verbose_prints_progress(digits, capsys):
    X, _ = digits
    coterie.KMeans(10, verbose=1).fit(X)
    said = capsys.readouterr()
    assert said.out == "" and "KMeans: iterations" in said.err
    coterie.KMeans(10).fit(X)
    assert capsys.readouterr() == ("", "")


def test_verbose_without_tqdm(digits, capsys, monkeypatch):
    X, _ = digits
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    coterie.KMeans(10, verbose=1).fit(X)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("KMeans: seeding 10%, iteration 0")
    assert any(line.startswith("KMeans: iterations") for line in lines)


def test_warning_classes(digits):
    X, _ = digits
    with pytest.warns(coterie.CoterieWarning, match="columns .* have the same value in every row") as caught:
        coterie.KMeans(10, scale="minmax").fit(X)
    assert caught[0].filename == __file__
    assert issubclass(coterie.ConvergenceWarning, coterie.CoterieWarning) and issubclass(coterie.CoterieWarning, UserWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        coterie.KMeans(10, n_init=2).fit(X)


def test_pickled_models_contain_the_model_file(iris, tmp_path):
    X, _ = iris
    model = coterie.Cpd(3).fit(X)
    model.save(tmp_path / "model.coterie")
    assert (tmp_path / "model.coterie").read_bytes() in pickle.dumps(model)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.labels_, model.labels_) and np.array_equal(again.predict(X), model.predict(X))
    assert again.n_iter_ == model.n_iter_ and np.array_equal(again.cluster_centers_, model.cluster_centers_)


def test_import_is_fast_and_without_scikit_learn_and_scipy():
    program = """
import time; begin = time.process_time()  # others use the machine, too
import coterie; seconds = time.process_time() - begin
import sys; coterie.KMeans(2).fit([[0.0], [1.0]]).predict([[0.5]])
assert not {"sklearn", "scipy", "pandas"} & set(sys.modules), sorted(sys.modules)
print(seconds)
"""
    took = [float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60).stdout) for _ in range(5)]
    assert min(took) < 0.1


@pytest.mark.parametrize("order", ["sklearn.cluster, coterie", "coterie, sklearn.cluster"])
def test_import_with_scikit_learn_in_either_order(order, iris):
    X, _ = iris
    program = f"""
import {order}
import numpy as np
X = coterie.datasets.load_iris().data
for _ in range(3):
    sklearn.cluster.KMeans(3, n_init=1).fit(X)
    labels = coterie.KMeans(3).fit(X).labels_
print("".join(map(str, labels)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "".join(map(str, coterie.KMeans(3).fit(X).labels_))


def test_memory_error_when_memory_is_too_small():
    program = """
import resource, numpy as np, coterie
X = np.zeros((60_000, 2)); X[:, 0] = np.arange(60_000)
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
try:
    coterie.KernelKMeans(3, kernel="precomputed").fit(np.lib.stride_tricks.as_strided(X, (60_000, 60_000), (8, 0)))
except MemoryError as error:
    print(type(error).__name__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Error" in done.stdout


def test_ctrl_c_during_a_fit_in_another_thread(digits):
    X, _ = digits
    outside = signal.getsignal(signal.SIGINT)  # ignored where a shell started the tests in the background
    before = signal.default_int_handler
    signal.signal(signal.SIGINT, before)
    try:
        thread = threading.Thread(target=lambda: coterie.KMeans(10, n_init=20).fit(X))
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(100):
                time.sleep(0.01)
        thread.join()
        assert signal.getsignal(signal.SIGINT) is before
    finally:
        signal.signal(signal.SIGINT, outside)
