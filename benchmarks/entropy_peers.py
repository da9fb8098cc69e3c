#!/usr/bin/env python3
"""Compares linear entropy clustering with the same computation in PyTorch (python3-torch), or in NumPy if PyTorch is not installed.

    benchmarks/entropy_peers.py --build build/benchmark [--threads 1,2] [--repeats 3] [--only rounds,training]

rounds: one EM round of the label solver (float32), N = 5,000, K = 2, 20, 200 (`coterie-reproduce entropy-em`). training: ten epochs of self-labelling
on MNIST / 255 (70,000 x 784, K = 10, batch 250, EM 10). The two start from different weights.
Each peer runs in its own process, with OPENBLAS_CORETYPE=SkylakeX if the processor has AVX-512.
Exit code 1 if a round is less than 3 times as fast as PyTorch's, training is slower, or its ACC is below 0.45.
"""
import argparse
import importlib.util
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from kmeans_peers import ROOT, fair_environment, mnist


def peer_name():
    return "torch" if importlib.util.find_spec("torch") else "numpy"


def em_numpy(sigma, rounds, lam):
    import numpy as np
    n, k = sigma.shape
    y = sigma
    for _ in range(rounds):
        t = y * np.float32(lam * n / k) / y.sum(0)
        y = (sigma + t) / (1 + t.sum(1, keepdims=True))
    return y


def em_torch(sigma, rounds, lam):
    n, k = sigma.shape
    y = sigma
    for _ in range(rounds):
        t = y * (lam * n / k) / y.sum(0)
        y = (sigma + t) / (1 + t.sum(1, keepdim=True))
    return y


def peer_rounds(n, k):
    import numpy as np
    logits = np.random.default_rng(0).standard_normal((n, k), dtype=np.float32) * 3
    sigma = np.exp(logits - logits.max(1, keepdims=True))
    sigma /= sigma.sum(1, keepdims=True)
    em = em_numpy
    if peer_name() == "torch":
        import torch
        sigma, em = torch.from_numpy(sigma), em_torch
    em(sigma, 3, 100.0)
    rounds = max(3, 2000000 // (n * k))
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        em(sigma, rounds, 100.0)
        seconds.append((time.perf_counter() - start) / rounds)
    print(json.dumps({"seconds": min(seconds)}))


def peer_training(path, epochs, gamma, rate, momentum):
    import numpy as np
    x = np.load(path)
    n, d = x.shape
    k, batch, scale = 10, 250, 0.1 / np.sqrt(d)
    random = np.random.default_rng(0)
    v = random.uniform(-scale, scale, (d, k)).astype(np.float32)
    b = random.uniform(-scale, scale, k).astype(np.float32)
    start = time.perf_counter()
    if peer_name() == "torch":
        import torch
        x, v, b = torch.from_numpy(x), torch.from_numpy(v).requires_grad_(), torch.from_numpy(b).requires_grad_()
        descent = torch.optim.SGD([v, b], lr=rate, momentum=momentum)
        for _ in range(epochs):
            for rows in torch.randperm(n).split(batch):
                sigma = torch.softmax(x[rows] @ v + b, 1)
                with torch.no_grad():
                    slope = -em_torch(sigma, 10, 100.0).clamp_min(1e-30).log()
                loss = (sigma * slope).sum() / len(rows) + gamma * (v * v).sum()
                descent.zero_grad()
                loss.backward()
                descent.step()
        seconds = time.perf_counter() - start
        labels = (x @ v + b).argmax(1).numpy()
    else:
        dv, db = np.zeros_like(v), np.zeros_like(b)
        for _ in range(epochs):
            order = random.permutation(n)
            for begin in range(0, n, batch):
                part = x[order[begin:begin + batch]]
                logits = part @ v + b
                sigma = np.exp(logits - logits.max(1, keepdims=True))
                sigma /= sigma.sum(1, keepdims=True)
                slope = -np.log(np.maximum(em_numpy(sigma, 10, 100.0), np.float32(1e-30)))
                g = sigma * (slope - (sigma * slope).sum(1, keepdims=True)) / np.float32(len(part))
                dv = momentum * dv + part.T @ g + np.float32(2 * gamma) * v
                db = momentum * db + g.sum(0)
                v = v - np.float32(rate) * dv
                b = b - np.float32(rate) * db
        seconds = time.perf_counter() - start
        labels = (x @ v + b).argmax(1)
    np.save(path.parent / "peer_labels.npy", labels.astype(np.int32))
    print(json.dumps({"seconds": seconds}))


def in_process(threads, *arguments):
    done = subprocess.run([sys.executable, __file__, *map(str, arguments)], env=fair_environment(threads), stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def fit(build, method, points, truth, threads, *options):
    command = [build / "cli" / "coterie", "fit", method, points, "-k", "10", "--truth", truth, "--threads", str(threads), "--json", "--quiet", *map(str, options)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def rounds(build, threads):
    failed = False
    command = [build / "reproduce" / "coterie-reproduce", "entropy-em", "--seconds", "0.01", "--threads", str(threads), "--json"]
    for own in json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)["em_round_seconds"]:
        k, seconds = own["clusters"], own["float32"]
        peer = in_process(threads, "--peer-rounds", 5000, k)["seconds"]
        print(f"EM round, N 5,000, K {k:3}, {threads} threads: coterie {seconds * 1e3:8.4f} ms, {peer_name()} {peer * 1e3:8.4f} ms, {peer / seconds:5.1f} times", flush=True)
        failed |= peer_name() == "torch" and peer < 3 * seconds
    return failed


def training(build, folder, threads, repeats):
    own, peer = [], []
    for seed in range(repeats):
        document = fit(build, "entropy", folder / "x.npy", folder / "y.npy", threads, "--epochs", 10, "--seed", seed)
        own.append((document["seconds"]["training"], document["scores"]["acc"]))
        peer.append(in_process(threads, "--peer-training", folder / "x.npy")["seconds"])
    print(f"training, ten epochs of 70,000 x 784, {threads} threads: coterie {min(own)[0]:.2f} s, {peer_name()} {min(peer):.2f} s, "
          f"{min(peer) / min(own)[0]:.1f} times; ACC {statistics.mean(acc for _, acc in own):.3f}", flush=True)
    return min(own)[0] > min(peer) or min(acc for _, acc in own) < 0.45


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build" / "benchmark", type=pathlib.Path)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--repeats", default=3, type=int)
    parser.add_argument("--only", default="rounds,training")
    parser.add_argument("--peer-rounds", nargs=2, type=int, help=argparse.SUPPRESS)
    parser.add_argument("--peer-training", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer_rounds:
        return peer_rounds(*arguments.peer_rounds)
    if arguments.peer_training:
        return peer_training(arguments.peer_training, 10, 0.003, 0.1, 0.9)
    import numpy as np
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        x, y = mnist()
        np.save(folder / "x.npy", x)
        np.save(folder / "y.npy", y.astype(np.int32))
        for threads in map(int, arguments.threads.split(",")):
            if "rounds" in arguments.only:
                failed |= rounds(arguments.build, threads)
            if "training" in arguments.only:
                failed |= training(arguments.build, folder, threads, arguments.repeats)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
