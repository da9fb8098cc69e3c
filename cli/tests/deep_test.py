"""coterie transform, and the methods with networks."""

import json
import os
import subprocess

import numpy as np
import pytest

from support import blobs, deep_fit, document, read_words, run, short, texts, write_csv, write_labels


def test_transform_writes_the_embedding(tmp_path):
    points, truth = blobs(d=4)
    np.save(tmp_path / "x.npy", points)
    model, out = tmp_path / "m.coterie", tmp_path / "z.npy"
    run("fit", "subspace", tmp_path / "x.npy", "-k", 3, "--scale", "zscore", "--model-out", model, "--quiet")
    result = document("transform", model, tmp_path / "x.npy", "--points-out", out)
    moved = np.load(out)
    assert moved.shape == (300, result["dimensions"]) and result["n"] == 300 and result["d"] == 4
    # Distant clusters stay apart: the nearest mean in the new space gives the label.
    means = np.stack([moved[truth == c].mean(0) for c in range(3)])
    assert (((moved[:, None] - means) ** 2).sum(2).argmin(1) == truth).all()
    table = tmp_path / "z.csv"
    assert "columns" in run("transform", model, tmp_path / "x.npy", "--points-out", table).out
    assert np.allclose(np.loadtxt(table, delimiter=",", ndmin=2), moved)
    run("fit", "kmeans", tmp_path / "x.npy", "-k", 3, "--model-out", model, "--quiet")
    assert "nothing to transform" in run("transform", model, tmp_path / "x.npy", "--points-out", out, code=2).err
    assert "--points-out" in run("transform", model, tmp_path / "x.npy", code=2).err
    assert "--points-out" in run("transform", model, tmp_path / "x.npy", "--points-out", tmp_path / "z.txt", code=2).err


def test_message_without_libtorch_says_what_to_install(tmp_path):
    points, _ = blobs(n=30)
    np.save(tmp_path / "x.npy", points)
    failed = run("fit", "dekm", tmp_path / "x.npy", "-k", 3, code=1, env={"COTERIE_DEEP_LIBRARY": "/nowhere/libcoterie-deep.so"})
    assert "libtorch-dev" in failed.err and "COTERIE_DEEP_LIBRARY" in failed.err


def test_second_loaded_libtorch_is_an_error(tmp_path):
    words = ["fit", "ae-kmeans", "data:iris", "-k", 3, *short("ae-kmeans"), "--quiet"]  # skips without LibTorch
    other = tmp_path / "other" / "lib" / "libtorch_cpu.so.0"
    other.parent.mkdir(parents=True)
    subprocess.run(["cc", "-shared", "-x", "c", os.devnull, "-o", other], check=True)
    failed = run(*words, code=1, env={"LD_PRELOAD": str(other)})
    assert f"has loaded another LibTorch, {other}" in failed.err and f"COTERIE_TORCH={tmp_path / 'other'}" in failed.err


def test_autoencoder_methods(tmp_path):
    points, truth = blobs(n=240, d=6)
    np.save(tmp_path / "x.npy", points)
    np.save(tmp_path / "y.npy", truth.astype(np.int32))
    model = tmp_path / "m.coterie"
    short = ["--scale", "minmax", "-k", 3, "--widths", 16, "--embedding", 2, "--truth", tmp_path / "y.npy"]
    result = deep_fit("ae-kmeans", tmp_path / "x.npy", *short, "--pretrain-epochs", 60, "--pretrain-batch-size", 32, "--model-out", model)
    assert result["scores"]["acc"] > 0.9 and result["details"]["backend"].startswith("LibTorch")
    errors = result["details"]["reconstruction_per_epoch"]
    assert len(errors) == 60 and errors[-1] < 0.5 * errors[0]
    labels = tmp_path / "labels.csv"
    run("predict", model, tmp_path / "x.npy", "--labels-out", labels, "--quiet")
    assert len(read_words(labels)) == 240
    assert document("transform", model, tmp_path / "x.npy", "--points-out", tmp_path / "h.npy")["dimensions"] == 2
    for method in ("dekm", "dec", "idec", "dcn"):
        found = deep_fit(method, tmp_path / "x.npy", *short, "--pretrained", model, "--max-iterations", 20, "--update-interval", 5)
        assert found["scores"]["acc"] > 0.9, method
        assert "reconstruction" not in found["details"]
    assert "28x28" in run("fit", "dekm", tmp_path / "x.npy", *short, "--image", "28", code=2).err


def test_two_view_methods(tmp_path):
    points, truth = blobs(n=240, d=64)
    np.save(tmp_path / "x.npy", points)
    np.save(tmp_path / "y.npy", truth.astype(np.int32))
    model = tmp_path / "m.coterie"
    found = deep_fit("entropy-net", tmp_path / "x.npy", "-k", 3, "--scale", "minmax", "--image", "8x8", "--epochs", 3, "--batch-size", 60,
                     "--augment", "shift,colour", "--truth", tmp_path / "y.npy", "--model-out", model)
    assert found["details"]["network"] == "vgg4" and found["iterations"] == 3 and len(found["details"]["balance_per_epoch"]) == 3
    assert document("transform", model, tmp_path / "x.npy", "--points-out", tmp_path / "f.npy")["dimensions"] == 512
    run("predict", model, tmp_path / "x.npy", "--scores-out", tmp_path / "p.csv", "--quiet")
    assert (tmp_path / "p.csv").read_text().startswith("cluster-0,cluster-1,cluster-2\n")
    scores = np.loadtxt(tmp_path / "p.csv", delimiter=",", skiprows=1)
    assert scores.shape == (240, 3) and np.allclose(scores.sum(1), 1)
    # Some points have labels, which are words. The others get the same words.
    write_labels(tmp_path / "partial.csv", [["ash", "birch", "elm"][c] if i < 30 else "" for i, c in enumerate(truth)])
    found = deep_fit("iic", tmp_path / "x.npy", "-k", "auto", *short("iic")[2:], "--scale", "minmax", "--partial-labels", tmp_path / "partial.csv",
                     "--truth", tmp_path / "y.npy")
    assert found["clusters_found"] == 3 and found["scores"]["acc"] > 0.95
    assert "vgg4 needs --image" in run("fit", "imsat", tmp_path / "x.npy", "-k", 3, "--network", "vgg4", code=2).err
    assert "flip needs --image" in run("fit", "imsat", tmp_path / "x.npy", "-k", 3, "--augment", "flip", code=2).err


@pytest.mark.parametrize("words", [["dekm", "--widths", 8, "--embedding", 2, "--pretrain-epochs", 3, "--max-iterations", 10],
                                   ["entropy-net", "--widths", 8, "--epochs", 3], ["imsat", "--widths", 8, "--epochs", 3]], ids=lambda words: words[0])
def test_truth_is_not_used_in_training(tmp_path, words):
    points, truth = blobs(n=120, d=6)
    np.save(tmp_path / "x.npy", points)
    models = []
    for seed in (1, 2):
        np.random.default_rng(seed).shuffle(truth)
        np.save(tmp_path / "y.npy", truth.astype(np.int32))
        models.append(tmp_path / f"{seed}.coterie")
        deep_fit(words[0], tmp_path / "x.npy", "-k", 3, "--scale", "minmax", *words[1:], "--truth", tmp_path / "y.npy", "--model-out", models[-1])
    assert models[0].read_bytes() == models[1].read_bytes()


def test_deep_fits_reject_bad_options_and_files(tmp_path):
    points, truth = blobs(n=60, d=4)
    np.save(tmp_path / "x.npy", points)
    x, ae, net, checkpoint = (tmp_path / name for name in ("x.npy", "ae.coterie", "net.coterie", "c"))
    small = ["-k", 3, "--scale", "minmax", "--widths", 8, "--quiet"]
    deep_fit("ae-kmeans", x, *small[:-1], "--embedding", 2, "--pretrain-epochs", 1, "--model-out", ae)
    run("fit", "entropy-net", x, *small, "--epochs", 1, "--model-out", net)
    # Models of the wrong method, damaged models, checkpoints.
    assert "use a model of ae-kmeans" in run("fit", "dekm", x, *small, "--pretrained", net, code=3).err
    assert "use a model of entropy-net" in run("fit", "iic", x, *small, "--pretrained", ae, code=3).err
    changed = bytearray(net.read_bytes())
    changed[-5] ^= 1
    net.write_bytes(changed)
    assert "damaged" in run("fit", "iic", x, *small, "--epochs", 1, "--pretrained", net, code=3).err
    assert "--checkpoint" in run("fit", "dekm", x, *small, "--checkpoint", "-", code=2).err
    kept = ["fit", "dekm", x, *small, "--embedding", 2, "--pretrain-epochs", 1, "--checkpoint", checkpoint]
    run(*kept, "--max-iterations", 20)
    assert checkpoint.exists()
    assert "other options (--max-iterations 20)" in run(*kept, "--max-iterations", 30, code=3).err
    assert "other method (dekm)" in run("fit", "dec", x, *small, "--checkpoint", checkpoint, code=3).err
    assert "is a model of ae-kmeans, not a checkpoint" in run("fit", "dekm", x, *small, "--checkpoint", ae, code=3).err
    assert "is a checkpoint" in run("fit", "dekm", x, *small, "--pretrained", checkpoint, code=3).err
    assert "is a checkpoint of a fit with dekm" in run("predict", checkpoint, x, code=3).err
    # Options that would change nothing.
    for method, words in (("dekm", ["--pretrained", ae, "--pretrain-epochs", 3]), ("dekm", ["--image", "2x2", "--widths", 8]), ("imsat", ["--view", "augmented", "--rotation", 9]),
                          ("iic", ["--kernel", 5]), ("iic", ["--augment", "none", "--noise", 1]), ("iic", ["--image", "2x2", "--network", "resnet18", "--widths", 5])):
        assert words[-2] in run("fit", method, x, "-k", 3, *words, code=2).err, words
    # Networks scale the points, so large values fit into single precision. A value whose square overflows is an error that names the file.
    points[5, 1] = 1e20
    np.save(x, points)
    run("fit", "dekm", x, "-k", 3, "--widths", 8)
    points[5, 1] = 1e200
    np.save(x, points)
    done = run("fit", "dekm", x, "-k", 3, "--widths", 8, code=3)
    assert str(x) in done.err and "1e+200" in done.err


def test_tune_grid_of_options_with_commas(tmp_path):
    points, _ = blobs(n=60, d=4)
    np.save(tmp_path / "x.npy", points)
    deep_fit("iic", tmp_path / "x.npy", "-k", 3, "--widths", "8,4", "--epochs", 1)  # skips without LibTorch
    result = document("tune", "iic", tmp_path / "x.npy", "-k", 3, "--scale", "minmax", "--epochs", 2, "--grid", "widths=8,4;6", "--grid", "augment=noise;none")
    assert [(cell["options"]["widths"], cell["options"]["augment"]) for cell in result["cells"]] == [([8, 4], "noise"), ([8, 4], "none"), ([6], "noise"), ([6], "none")]


def test_deep_fits_report_why_they_stopped(tmp_path):
    points, truth = blobs(n=60, d=4)
    np.save(tmp_path / "x.npy", points)
    x, ae = tmp_path / "x.npy", tmp_path / "ae.coterie"
    done = deep_fit("entropy-net", x, "-k", 3, "--scale", "minmax", "--widths", 8, "--epochs", 20, "--batch-size", 20, "--learning-rate", 0.01, "--strict")
    assert done["stopped"] == "completed"
    np.save(tmp_path / "same.npy", np.ones((60, 4)))
    collapsed = run("fit", "iic", tmp_path / "same.npy", "-k", 3, "--widths", 8, "--epochs", 2, "--strict", "--json", code=4)
    assert json.loads(collapsed.out)["stopped"] == "collapsed" and "collapsed after 2" in collapsed.err
    # A fit that diverges keeps what was valid.
    deep_fit("ae-kmeans", x, "-k", 3, "--scale", "minmax", "--widths", 8, "--embedding", 2, "--pretrain-epochs", 1, "--model-out", ae)
    found = document("fit", "dekm", x, "-k", 3, "--widths", 8, "--embedding", 2, "--pretrained", ae, "--learning-rate", 1e30)
    assert found["stopped"] == "collapsed" and any("diverged" in text and "update 0" in text for text in texts(found["warnings"]))
    assert any("other preprocessing" in text for text in texts(found["warnings"]))  # scaled in the pretrained model, not here
    assert all(np.isfinite(loss) for loss in found["details"]["loss_per_update"])


@pytest.mark.parametrize("words", [["dekm", "--image", "8x8", "--embedding", 4, "--pretrain-epochs", 2, "--max-iterations", 80, "--tolerance", 0],
                                   ["entropy-net", "--image", "8x8", "--epochs", 1], ["imsat", "--epochs", 2]], ids=lambda words: words[0])
def test_network_fits_are_the_same_for_any_number_of_threads(tmp_path, words):
    points, _ = blobs(n=200, d=64)
    np.save(tmp_path / "x.npy", points)
    models = []
    for threads in (1, 3):
        models.append(tmp_path / f"{threads}.coterie")
        deep_fit(words[0], tmp_path / "x.npy", "-k", 3, "--scale", "minmax", *words[1:], "--threads", threads, "--model-out", models[-1])
    assert models[0].read_bytes() == models[1].read_bytes()


def test_deep_fits_do_not_overwrite_their_inputs(tmp_path):
    write_csv(tmp_path / "x.csv", [[i % 2 * 5 + 0.01 * i, i % 3] for i in range(40)])
    model, checkpoint = tmp_path / "ae.coterie", tmp_path / "fit.checkpoint"
    shape = ["-k", 2, "--widths", 4, "--embedding", 2]
    small = [*shape, "--pretrain-epochs", 1]
    deep_fit("ae-kmeans", tmp_path / "x.csv", *small, "--model-out", model)  # skips without LibTorch
    before = model.read_bytes()
    done = run("fit", "dekm", tmp_path / "x.csv", *shape, "--pretrained", model, "--model-out", model, code=2)
    assert "would be overwritten" in done.err and model.read_bytes() == before
    done = run("fit", "dekm", tmp_path / "x.csv", *small, "--checkpoint", checkpoint, "--model-out", checkpoint, code=2)
    assert "would be overwritten" in done.err and not checkpoint.exists()
    done = run("fit", "dekm", tmp_path / "x.csv", *small, "--checkpoint", tmp_path / "no" / "fit.checkpoint", code=1)
    assert "--checkpoint" in done.err
    done = run("tune", "dekm", tmp_path / "x.csv", "--grid", "embedding=1,2", "--checkpoint", checkpoint, code=2)
    assert "--checkpoint" in done.err
    run("fit", "ae-kmeans", tmp_path / "x.csv", *small, "--checkpoint", checkpoint, "--model-out", tmp_path / "again.coterie")
    assert (tmp_path / "again.coterie").read_bytes() == before  # the path of the checkpoint is not stored in the model
    done = run("fit", "ae-kmeans", tmp_path / "x.csv", *small, "--pretrain-rate", 1e30, "--pretrain-batch-size", 100, code=2)
    assert "--pretrain-rate" in done.err
    write_csv(tmp_path / "large.csv", [[1, 2], [3, 1e39], [5, 6]])
    assert "column 2: this column holds 100 % of the variance" in run("fit", "ae-kmeans", tmp_path / "large.csv", *small).err


def test_strict_reports_a_collapse(tmp_path):
    random = __import__("random").Random(3)
    write_csv(tmp_path / "x.csv", [[random.gauss(0, 1) for _ in range(4)] for _ in range(80)])
    words = ["dcn", tmp_path / "x.csv", "-k", 4, "--widths", 8, "--embedding", 2, "--pretrain-epochs", 2, "--learning-rate", 0.05, "--distortion", 1e5,
             "--max-iterations", 400, "--batch-size", 20, "--update-interval", 20, "--tolerance", 0.05]
    result = deep_fit(*words)
    if not any("collapsed" in warning for warning in texts(result["warnings"])):
        pytest.fail(f"no collapse: {result['details']['balance_per_update']}")
    if result["stopped"] == "collapsed":
        run("fit", *words, "--strict", code=4)
