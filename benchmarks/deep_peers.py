#!/usr/bin/env python3
"""Compares the training time of networks with PyTorch, and measures the start of commands that need no network.

    benchmarks/deep_peers.py --command build/release/cli/coterie [--only epochs,start] [--networks dense,convolutional,vgg4,vgg4-half] [--images 10000] [--epochs 2] [--rounds 3] [--threads 2]

epochs: seconds per epoch on the first images of MNIST's test file. coterie and PyTorch run the same network, loss and optimizer in turns; the fastest
round counts. Bound: 1.1 times PyTorch's time.
  dense, convolutional: pre-training of fit ae-kmeans, batches of 256, Adam. The reconstruction errors must agree within a tenth.
  vgg4, vgg4-half (bfloat16, AVX-512): fit iic, batches of 250 images with two views, Adam, then a pass over all images. The mutual informations must
  be similar.
start: `coterie --version` and `coterie methods`, the fastest of 100. Bound: 20 ms, without loading LibTorch.
Needs COTERIE_DATA, and torch for this Python. Exit code 1 on a missed bound.
"""
import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BATCH = 256


def data_folder():
    return pathlib.Path(os.environ.get("COTERIE_DATA", ""))


def mnist(count):
    import numpy as np
    raw = gzip.open(data_folder() / "mnist" / "t10k-images-idx3-ubyte.gz").read()
    return np.frombuffer(raw, np.uint8, offset=16).reshape(-1, 784)[:count].astype(np.float32) / 255


def fitted(arguments, method, points, *words):
    """The JSON report of a fit with ten clusters."""
    done = subprocess.run([str(w) for w in (arguments.command, "fit", method, points, "-k", 10, *words, "--threads", arguments.threads, "--json", "--quiet")],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def coterie_epoch(arguments, points, network):
    """Seconds per epoch, and the last reconstruction error."""
    words = ["--image", "28x28"] if network == "convolutional" else []
    found = fitted(arguments, "ae-kmeans", points, "--kmeans-restarts", 1, "--pretrain-epochs", arguments.epochs, "--network", network, *words)
    return found["seconds"]["pretraining"] / arguments.epochs, found["details"]["reconstruction"]


def peer(network):
    """The autoencoder of coterie/deep/architecture.cpp: (parameters, function from a batch to its reconstruction)."""
    import torch
    from torch.nn import functional as F
    parameters = []

    def tensors(shape, biases, bound):
        pair = [(torch.rand(shape) * 2 - 1) * bound, torch.zeros(biases)]
        for tensor in pair:
            parameters.append(tensor.requires_grad_())
        return pair

    def glorot(inputs, outputs):
        return (6 / (inputs + outputs)) ** 0.5

    if network == "dense":
        sizes = [784, 500, 500, 2000, 10, 2000, 500, 500, 784]
        layers = [tensors((after, before), after, 0.05) for before, after in zip(sizes, sizes[1:])]

        def forward(x):
            for number, (weight, bias) in enumerate(layers):
                x = F.linear(x, weight, bias)
                if number not in (3, 7):
                    x = torch.relu(x)
            return x
        return parameters, forward
    down = [(*tensors((after, before, kernel, kernel), after, 0.05), pad) for before, after, kernel, pad in
            [(1, 32, 5, (1, 2, 1, 2)), (32, 64, 5, (1, 2, 1, 2)), (64, 128, 3, (0, 0, 0, 0))]]
    embed = tensors((10, 1152), 10, glorot(1152, 10))
    unembed = tensors((1152, 10), 1152, glorot(1152, 10))
    up = [(*tensors((before, after, kernel, kernel), after, glorot(before * kernel ** 2, after * kernel ** 2)), side) for before, after, kernel, side in
          [(128, 64, 3, 7), (64, 32, 5, 14), (32, 1, 5, 28)]]

    def forward(x):
        x = x.reshape(-1, 1, 28, 28)
        for weight, bias, pad in down:
            x = torch.relu(F.conv2d(F.pad(x, pad), weight, bias, stride=2))
        x = torch.relu(F.linear(F.linear(x.flatten(1), *embed), *unembed)).reshape(-1, 128, 3, 3)
        for number, (weight, bias, side) in enumerate(up):
            x = F.conv_transpose2d(x, weight, bias, stride=2)
            cut = (x.shape[2] - side) // 2
            x = x[:, :, cut:cut + side, cut:cut + side]
            if number < 2:
                x = torch.relu(x)
        return x.flatten(1)
    return parameters, forward


def torch_epoch(arguments, points, network):
    import torch
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    parameters, forward = peer(network)
    optimizer = torch.optim.Adam(parameters, lr=1e-3)
    x = torch.from_numpy(points)
    start = time.perf_counter()
    for _ in range(arguments.epochs):
        total = 0
        for rows in torch.randperm(len(x)).split(BATCH):
            optimizer.zero_grad(set_to_none=True)
            batch = x[rows]
            loss = torch.nn.functional.mse_loss(forward(batch), batch)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
    return (time.perf_counter() - start) / arguments.epochs, total / len(x)


def coterie_classifier(arguments, points, network):
    """Seconds per epoch, and the last mean mutual information between the clusters of two views."""
    words = ["--half"] if network == "vgg4-half" else []
    found = fitted(arguments, "iic", points, "--image", "28x28", "--network", "vgg4", "--augmentations", 2, "--epochs", arguments.epochs, "--batch-size", 250,
                   "--learning-rate", 1e-4, *words)
    return found["seconds"]["training"] / arguments.epochs, -found["objective_per_iteration"][-1]


def torch_classifier(arguments, points, network):
    import math
    import torch
    from torch import nn
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    layers, before = [], 1
    for channels in (64, 128, 256, 512):
        layers += [nn.MaxPool2d(2)] if channels > 64 else []
        layers += [nn.Conv2d(before, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels), nn.ReLU()]
        nn.init.kaiming_normal_(layers[-3].weight, nonlinearity="relu")
        before = channels
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(512 * 9, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, weight_decay=1e-4)
    x = torch.from_numpy(points).reshape(-1, 1, 28, 28)

    def within(count, width):
        return (torch.rand(count) * 2 - 1) * width

    def changed(images):  # the defaults of --augment: rotation, shift, zoom, colour
        count = len(images)
        angle, zoom = within(count, math.pi / 12), torch.exp(within(count, math.log(1.1)))
        cosine, sine = torch.cos(angle) / zoom, torch.sin(angle) / zoom
        affine = torch.stack([cosine, sine, within(count, 0.2), -sine, cosine, within(count, 0.2)], 1).reshape(count, 2, 3)
        images = nn.functional.grid_sample(images, nn.functional.affine_grid(affine, images.shape, align_corners=False), align_corners=False)
        return images * (1 + within(count, 0.2)).reshape(-1, 1, 1, 1) + within(count, 0.2).reshape(-1, 1, 1, 1) * points.std()

    start = time.perf_counter()
    for _ in range(arguments.epochs):
        total = 0
        model.train()
        for rows in torch.randperm(len(x)).tensor_split(math.ceil(len(x) / 250)):
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cpu", torch.bfloat16, enabled=network == "vgg4-half"):
                logits = model(changed(x[torch.cat([rows, rows])]))
            first, second = torch.softmax(logits.float(), 1).tensor_split(2)
            joint = first.T @ second / len(rows)
            joint = (joint + joint.T) / 2
            information = (joint * (joint.log() - joint.sum(0).log() - joint.sum(1, keepdim=True).log())).sum()
            (-information).backward()
            optimizer.step()
            total += information.item() * len(rows)
        model.eval()
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=network == "vgg4-half"):
            for batch in x.split(250):
                model(batch)
    return (time.perf_counter() - start) / arguments.epochs, total / len(x)


def epochs(arguments, folder):
    import numpy as np
    x = mnist(arguments.images)
    np.save(folder / "x.npy", x)
    ok = True
    print("network          coterie s  PyTorch s  ratio  errors or informations", flush=True)
    for network in arguments.networks:
        classifier = network.startswith("vgg4")
        own, other = [], []
        for _ in range(arguments.rounds):
            own.append((coterie_classifier if classifier else coterie_epoch)(arguments, folder / "x.npy", network))
            other.append((torch_classifier if classifier else torch_epoch)(arguments, x, network))
        ratio = min(own)[0] / min(other)[0]
        ends = own[0][1], other[0][1]
        ok &= ratio <= 1.1 and max(ends) <= (1.5 if classifier else 1.1) * min(ends)
        print(f"{network:15s} {min(own)[0]:10.3f} {min(other)[0]:10.3f} {ratio:6.2f}  {ends[0]:.5f} {ends[1]:.5f}", flush=True)
    return ok


def start(arguments, folder):
    ok = True
    for words in (["--version"], ["methods"]):
        command = [str(arguments.command), *words]
        times = []
        for _ in range(100):
            begin = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            times.append(time.perf_counter() - begin)
        loaded = subprocess.run(command, env={**os.environ, "LD_DEBUG": "libs"}, capture_output=True, text=True).stderr
        if "libc.so" not in loaded:
            sys.exit("LD_DEBUG=libs does not list the libraries")
        torch = "libtorch" in loaded or "libcoterie-deep" in loaded
        ok &= min(times) <= 0.020 and not torch
        print(f"coterie {' '.join(words):10s} {1000 * min(times):6.1f} ms, LibTorch {'loaded' if torch else 'not loaded'}", flush=True)
    return ok


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = lambda text: text.split(",")
    parser.add_argument("--command", type=pathlib.Path, default=ROOT / "build" / "release" / "cli" / "coterie")
    parser.add_argument("--only", type=words, default=["epochs", "start"])
    parser.add_argument("--networks", type=words, default=["dense", "convolutional", "vgg4"])
    parser.add_argument("--images", type=int, default=10000)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", str(arguments.threads))
    ok = True
    with tempfile.TemporaryDirectory() as folder:
        for part in ("epochs", "start"):
            if part in arguments.only:
                ok &= {"epochs": epochs, "start": start}[part](arguments, pathlib.Path(folder))
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
