#!/usr/bin/env python3
"""Compares the speed of encoding words with ONNX Runtime and PyTorch. All three run in turns.

    PYTHONPATH=build/release/python build/peers/bin/python benchmarks/encoder_peers.py ENCODER [--corpus FILE] [--words 20000] [--threads 1,2] [--repeats 5]

ENCODER is a folder of all-MiniLM-L6-v2 or of another BERT. The corpus has CoNLL's format; default: COTERIE_DATA/conll2003-en/eng.testa. build/peers
needs the packages of requirements-encoder.txt. All programs get the same sentences and words, compute all layers, and average the first and last
piece of each word. Times include the tokenizer and, for coterie, loading the folder. Peers get batches of up to 64 sentences of equal length, so
nothing is padded. ONNX Runtime gets a graph in which its optimiser fused attention, normalisation and GELU. Each program runs in its own process, and
waiting threads do not spin. Prints words per second, by elapsed and by processor time: the fastest of the repeats, and the median.
Exit code 1 if states differ by more than 1e-4, or if coterie has less than 0.9 of the processor speed of the faster peer.
"""
import argparse
import itertools
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from kmeans_peers import data_folder, fair_environment

MOST_TOGETHER = 64


def sentences_of(path, most):
    out, words = [], []
    count = 0
    for line in [*pathlib.Path(path).read_text(encoding="utf-8").split("\n"), ""]:
        fields = line.split()
        if fields and fields[0] != "-DOCSTART-":
            words.append(fields[0])
        elif words:
            out.append(words)
            count += len(words)
            words = []
            if count >= most:
                break
    return out


class Coterie:
    def __init__(self, folder, sentences, threads, scratch):
        from coterie import ner
        file = pathlib.Path(scratch) / "words.conll"
        file.write_text("".join("".join(f"{word}\tO\n" for word in words) + "\n" for words in sentences))
        corpus = ner.read(file)
        assert corpus.words == sentences
        self.encode = lambda: ner.vectors(corpus, folder, layer="last", n_jobs=threads)


class Peer:
    """Tokenizes with the crate tokenizers, batches sentences of equal length, and calls `states` with (sentences, pieces) numbers."""

    def __init__(self, folder, sentences):
        from tokenizers import Tokenizer
        tokenizer = Tokenizer.from_file(str(pathlib.Path(folder) / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self.tokenizer, self.sentences = tokenizer, sentences

    def encode(self):
        encoded = self.tokenizer.encode_batch(self.sentences, is_pretokenized=True)
        order = sorted(range(len(encoded)), key=lambda s: len(encoded[s].ids))
        first_word = np.cumsum([0, *map(len, self.sentences)])
        out = None
        for _, group in itertools.groupby(order, key=lambda s: len(encoded[s].ids)):
            group = list(group)
            for start in range(0, len(group), MOST_TOGETHER):
                part = group[start : start + MOST_TOGETHER]
                states = self.states(np.array([encoded[s].ids for s in part], dtype=np.int64))
                if out is None:
                    out = np.empty((first_word[-1], states.shape[2]), np.float32)
                for s, own in zip(part, states):
                    words = np.array([-1 if word is None else word for word in encoded[s].word_ids])
                    begins = np.flatnonzero((words >= 0) & (words != np.roll(words, 1)))
                    ends = np.flatnonzero((words >= 0) & (words != np.roll(words, -1)))
                    out[first_word[s] : first_word[s + 1]] = (own[begins] + own[ends]) / 2
        return out


def bert(folder):
    import torch
    import transformers
    transformers.utils.logging.set_verbosity_error()
    return transformers.BertModel.from_pretrained(folder, add_pooling_layer=False, dtype=torch.float32).eval()


class PyTorch(Peer):
    def __init__(self, folder, sentences, threads, scratch):
        super().__init__(folder, sentences)
        import torch
        torch.set_num_threads(threads)
        model = bert(folder)

        def states(ids):
            with torch.inference_mode():
                return model(input_ids=torch.from_numpy(ids)).last_hidden_state.numpy()
        self.states = states


class OnnxRuntime(Peer):
    def __init__(self, folder, sentences, threads, scratch):
        super().__init__(folder, sentences)
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session = onnxruntime.InferenceSession(str(pathlib.Path(scratch) / "fused.onnx"), options, providers=["CPUExecutionProvider"])
        names = [one.name for one in session.get_inputs()]
        self.states = lambda ids: session.run(None, {name: ids if name == "input_ids" else np.ones_like(ids) if name == "attention_mask" else np.zeros_like(ids)
                                                     for name in names})[0]


def export(folder, scratch):
    """Writes bert.onnx with torch's exporter and fused.onnx with ONNX Runtime's optimiser. Returns the fused operators and their counts."""
    import torch
    from onnxruntime.transformers import optimizer
    model = bert(folder)
    model.set_attn_implementation("eager")

    class States(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask, token_type_ids):
            return self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).last_hidden_state
    example = torch.ones(2, 7, dtype=torch.int64)
    axes = {0: "batch", 1: "pieces"}
    names = ["input_ids", "attention_mask", "token_type_ids"]
    torch.onnx.export(States(), (example, example, 0 * example), str(pathlib.Path(scratch) / "bert.onnx"), input_names=names, output_names=["states"],
                      dynamic_axes={name: axes for name in [*names, "states"]}, opset_version=17, dynamo=False)
    config = model.config
    fused = optimizer.optimize_model(str(pathlib.Path(scratch) / "bert.onnx"), model_type="bert", num_heads=config.num_attention_heads, hidden_size=config.hidden_size)
    fused.save_model_to_file(str(pathlib.Path(scratch) / "fused.onnx"))
    return {kind: count for kind, count in fused.get_fused_operator_statistics().items() if count}


PROGRAMS = {"coterie": Coterie, "onnxruntime": OnnxRuntime, "torch": PyTorch}


def work(program, folder, corpus, words, threads, scratch):
    """Runs in a process: encodes once for each input line."""
    encoder = PROGRAMS[program](folder, sentences_of(corpus, words), threads, scratch)
    np.save(pathlib.Path(scratch) / f"{program}.npy", encoder.encode())  # the first is not timed
    print("ready", flush=True)
    for _ in sys.stdin:
        before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        encoder.encode()
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
        print(json.dumps([wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder")
    parser.add_argument("--corpus", default=str(data_folder() / "conll2003-en" / "eng.testa"))
    parser.add_argument("--words", type=int, default=20000)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        program, threads, scratch = given.work
        return work(program, given.encoder, given.corpus, given.words, int(threads), scratch)
    sentences = sentences_of(given.corpus, given.words)
    words = sum(map(len, sentences))
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        print("fused:", export(given.encoder, scratch))
        import onnxruntime
        import torch
        import transformers
        print(f"onnxruntime {onnxruntime.__version__}, torch {torch.__version__}, transformers {transformers.__version__}; {len(sentences)} sentences, {words} words; "
              f"load of the machine {os.getloadavg()[0]:.1f}")
        for threads in map(int, given.threads.split(",")):
            environment = {**fair_environment(threads), "OMP_WAIT_POLICY": "passive", "TOKENIZERS_PARALLELISM": "false" if threads == 1 else "true",
                           "RAYON_NUM_THREADS": str(threads)}
            running = {}
            for program in PROGRAMS:
                running[program] = subprocess.Popen([sys.executable, __file__, given.encoder, "--corpus", given.corpus, "--words", str(given.words), "--work", program,
                                                     str(threads), scratch], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
                if running[program].stdout.readline() != "ready\n":
                    sys.exit(f"{program} failed")
            times = {program: [] for program in PROGRAMS}
            for _ in range(given.repeats):
                for program, process in running.items():
                    process.stdin.write("\n")
                    process.stdin.flush()
                    times[program].append(json.loads(process.stdout.readline()))
            for process in running.values():
                process.stdin.close()
                process.wait()
            states = {program: np.load(pathlib.Path(scratch) / f"{program}.npy") for program in PROGRAMS}
            print(f"\nthreads {threads}: words per elapsed second (fastest, median), per processor second (fastest, median), largest difference from coterie's states")
            speeds = {}
            for program, pairs in times.items():
                wall, processor = zip(*pairs)
                speeds[program] = words / min(processor)
                difference = abs(states[program] - states["coterie"]).max()
                failed |= not difference <= 1e-4
                print(f"{program:12} {words / min(wall):8.0f} {words / statistics.median(wall):8.0f} {speeds[program]:8.0f} {words / statistics.median(processor):8.0f}   {difference:.1e}")
            ratio = speeds["coterie"] / max(speed for program, speed in speeds.items() if program != "coterie")
            failed |= ratio < 0.9
            print(f"coterie / the faster peer, processor time: {ratio:.2f}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
