"""Networks with the interpreter's torch and with the library's own part (libcoterie-deep.so) give the same results up to rounding."""
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

NOWHERE = "/nowhere/libcoterie-deep.so"

FITS = {
    "AeKMeans": ("AeKMeans(3, widths=(12,), embedding=2, pretrain_epochs=4, kmeans_restarts=2)", "X"),
    "Dekm": ("Dekm(3, widths=(12,), embedding=2, pretrain_epochs=3, kmeans_restarts=2, max_iter=20)", "X"),
    "Dec": ("Dec(3, widths=(12,), embedding=2, pretrain_epochs=3, kmeans_restarts=2, max_iter=20)", "X"),
    "convolutional": ("Idec(3, image=(8, 8), embedding=2, pretrain_epochs=1, kmeans_restarts=2, max_iter=10)", "digits"),
    "EntropyNet": ("EntropyNet(3, widths=(12,), epochs=3, backbone_rate=1e-4)", "X"),
    "Imsat": ("Imsat(3, widths=(12,), epochs=3)", "X"),
    "vgg4": ("SelaNet(3, image=(8, 8), epochs=1, batch_size=64)", "digits[:192]"),
    "resnet18": ("Iic(3, image=(8, 8), network='resnet18', augment='flip,rotation,shift,zoom,colour,noise', epochs=1, batch_size=64)", "digits[:128]"),
}
PROGRAM = """
import json, sys
import numpy as np, coterie
random = np.random.default_rng(0)
centres = 2 * random.normal(size=(3, 6))
X = (centres[np.arange(600) % 3] + random.normal(size=(600, 6))).astype(np.float32)
digits = coterie.datasets.load_digits(return_X_y=True)[0][:400]
digits = np.kron(digits[:, :8, None], np.ones((1, 1, 8))).reshape(len(digits), 64) if digits.shape[1] != 64 else digits
def told(model, X):
    space = model.transform(X) if hasattr(model, "transform") else np.zeros((1, 1))
    return dict(backend=model.fit_report_["details"]["backend"], objective=model.fit_report_["objective_per_iteration"],
                labels=model.labels_.tolist(), predicted=model.predict(X).tolist(), space=np.asarray(space, float).tolist())
"""


def printed(program, environment, **more):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM + program], env=dict(environment, **more), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="session")
def both(environment):
    """The results of every fit with torch, and with the library's own part."""
    program = "found = {}\n" + "".join(f"found[{name!r}] = told(coterie.{made}.fit({points}), {points})\n" for name, (made, points) in FITS.items())
    program += "print(json.dumps(found))"
    by_torch = printed(program, environment, COTERIE_DEEP_LIBRARY=NOWHERE)
    try:
        return by_torch, printed(program, environment)
    except AssertionError as error:
        if "could not be loaded" in str(error):
            pytest.skip("libcoterie-deep.so is not here")
        raise


@pytest.mark.parametrize("name", FITS)
def test_torch_and_library_agree(both, name):
    by_torch, by_library = (found[name] for found in both)
    assert by_torch["backend"].startswith("torch ") and by_library["backend"].startswith("LibTorch ")
    np.testing.assert_allclose(by_torch["objective"], by_library["objective"], rtol=2e-3)
    assert np.mean(np.equal(by_torch["labels"], by_library["labels"])) >= 0.99
    assert np.mean(np.equal(by_torch["predicted"], by_torch["labels"])) >= 0.99
    size = np.abs(by_library["space"]).max()
    np.testing.assert_allclose(by_torch["space"], by_library["space"], atol=0.02 * size)


def test_checkpoint_holds_optimizer_state_of_torch(environment, tmp_path):
    fit = "coterie.Dec(3, widths=(12,), embedding=2, pretrain_epochs=2, kmeans_restarts=2, max_iter=24, update_interval=4, tol=0, checkpoint={}, callback={}).fit(X)"
    program = f"""
told_of = []
def stop(info):
    told_of.append(info["stage"] if isinstance(info, dict) else info.stage)
    return told_of.count("clustering") == 3
whole = {fit.format(None, None)}
try:
    cut = {fit.format(repr(str(tmp_path / "c")), "stop")}
except KeyboardInterrupt:
    pass
again = {fit.format(repr(str(tmp_path / "c")), None)}
print(json.dumps([told_of.count("clustering"), bool((whole.labels_ == again.labels_).all()), whole.fit_report_["objective_per_iteration"] == again.fit_report_["objective_per_iteration"]]))
"""
    told_of, labels, objectives = printed(program, environment, COTERIE_DEEP_LIBRARY=NOWHERE, OMP_NUM_THREADS="1")
    assert told_of == 3 and labels and objectives


def test_message_without_torch_says_what_to_install():
    program = "import sys; sys.modules['torch'] = None\nimport coterie\ncoterie.Dekm(2).fit([[0.0, 1], [1, 0], [1, 1]])"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], env=dict(os.environ, COTERIE_DEEP_LIBRARY=NOWHERE), capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "ResourceError" in done.stderr and "pip install torch" in done.stderr, done.stderr


def test_errors_in_torch_are_raised(environment):
    program = """
import torch, coterie._networks as networks
step = networks.Optimizer.step
def broken(self): raise ValueError("no step today")
networks.Optimizer.step = broken
try:
    coterie.AeKMeans(2, widths=(4,), embedding=2, pretrain_epochs=1).fit(X)
except coterie.ResourceError as error:
    said = str(error)
networks.Optimizer.step = step
before = torch.get_num_threads()
coterie.AeKMeans(2, widths=(4,), embedding=2, pretrain_epochs=1, n_jobs=before + 1).fit(X)
print(json.dumps([said, len(networks.networks), torch.get_num_threads() == before]))
"""
    said, left, same_threads = printed(program, environment, COTERIE_DEEP_LIBRARY=NOWHERE)
    assert said == "the network failed: no step today" and left == 0 and same_threads


def test_interrupt_in_torch_ends_the_fit(environment):
    program = """
training = []
def callback(info):
    if not training:
        print("training", flush=True)
    training.append(info["stage"])
try:
    coterie.Dekm(3, widths=(200, 200), embedding=2, pretrain_epochs=100000, callback=callback).fit(X)
    print("done")
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(coterie.KMeans(2).fit(X).labels_.shape)
"""
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", PROGRAM + program], env=dict(environment, COTERIE_DEEP_LIBRARY=NOWHERE), stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "training\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    assert process.stdout.readline() == "interrupted\n"
    assert time.monotonic() - sent < 2
    assert process.stdout.read() == "(600,)\n"
    assert process.wait(timeout=60) == 0
