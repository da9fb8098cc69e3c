"""Interrupts, terminals, full disks."""

import json
import os
import pty
import select
import signal
import subprocess
import time

import numpy as np
import pytest

from support import COMMAND, default_interrupt, run


@pytest.fixture(scope="session")
def long_points(tmp_path_factory):
    folder = tmp_path_factory.mktemp("long")
    np.save(folder / "p.npy", np.random.default_rng(2).normal(size=(4000, 8)))
    return folder / "p.npy"


LONG = ["-k", "20", "--restarts", "1000000", "--tolerance", "0"]


def start_long(long_points, *words, **options):
    return subprocess.Popen([COMMAND, "fit", "kmeans", str(long_points), *LONG, *map(str, words)], preexec_fn=default_interrupt, **options)


def test_interrupt_writes_results_so_far(long_points, tmp_path):
    process = start_long(long_points, "--labels-out", tmp_path / "l.csv", "--model-out", tmp_path / "m.safetensors",
                         "--report", tmp_path / "r.html", "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(2.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert json.loads(out)["stopped"] == "interrupted" and b"interrupted" in err
    assert len((tmp_path / "l.csv").read_text().splitlines()) == 4001
    assert sorted(path.name for path in tmp_path.iterdir()) == ["l.csv", "m.safetensors", "r.html"]
    run("predict", tmp_path / "m.safetensors", long_points)


def test_interrupt_before_any_result_writes_nothing(tmp_path):
    process = subprocess.Popen([COMMAND, "fit", "kmeans", "-", "--labels-out", str(tmp_path / "l.csv"), "--json"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=default_interrupt)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)
    assert process.returncode == 130
    assert process.stdout.read() == b"" and b"interrupted" in process.stderr.read()
    process.stdin.close()
    assert list(tmp_path.iterdir()) == []


def test_interrupted_tune_reports_finished_cells(long_points, tmp_path):
    # The first cell ends, the second one does not.
    words = ["tune", "kmeans", long_points, "--grid", "restarts=1,1000000", "-k", "20", "--tolerance", "0", "--labels-out",
             tmp_path / "l.csv", "--json"]
    process = subprocess.Popen([COMMAND, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=default_interrupt)
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    value = json.loads(out)
    assert value["interrupted"] and len(value["cells"]) == 1 and value["cells_asked"] == 2 and value["best"] == 0 and "fit" not in value
    assert b"interrupted after 1 of 2 cells" in err and list(tmp_path.iterdir()) == []


def test_truncated_mapped_file_ends_with_a_message(long_points, tmp_path):
    # Only files larger than half of the memory are mapped, so the test sends the signal that truncation would raise.
    process = start_long(long_points, "--labels-out", tmp_path / "l.csv", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1)
    process.send_signal(signal.SIGBUS)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 3 and out == b""
    assert b"a file became shorter while it was read" in err and list(tmp_path.iterdir()) == []


def on_terminal(words, seconds, env=None):
    parent, child = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", **(env or {})}
    process = subprocess.Popen([COMMAND, *map(str, words)], stdout=subprocess.PIPE, stderr=child, env=environment, preexec_fn=default_interrupt)
    os.close(child)
    seen = b""
    end = time.time() + seconds
    while time.time() < end:
        if select.select([parent], [], [], 0.1)[0]:
            try:
                piece = os.read(parent, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        while select.select([parent], [], [], 5)[0]:
            try:
                piece = os.read(parent, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
    process.communicate(timeout=60)
    os.close(parent)
    return process.returncode, seen.decode()


def test_progress_bar_on_a_terminal_only(long_points):
    code, seen = on_terminal(["fit", "kmeans", long_points, *LONG], 2)
    assert code == 130 and "%" in seen and "[" in seen and "\r" in seen and "iteration" in seen
    code, seen = on_terminal(["fit", "kmeans", long_points, *LONG, "--quiet"], 1)
    assert code == 130 and "%" not in seen
    process = start_long(long_points, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert b"%" not in err and b"\r" not in err and b"\033" not in err


def test_no_color_variable_disables_colors():
    words = ["fit", "nothing"]
    assert "\033[" in on_terminal(words, 2, {"NO_COLOR": ""})[1]
    code, seen = on_terminal(words, 2, {"NO_COLOR": "1"})
    assert code == 2 and "\033" not in seen and "coterie:" in seen
    assert "\033" not in on_terminal(words, 2, {"TERM": "dumb", "NO_COLOR": ""})[1]


def test_closed_pipe_is_not_an_error(files, tmp_path):
    done = subprocess.run(["bash", "-c", f"'{COMMAND}' fit kmeans --help | true; echo ${{PIPESTATUS[0]}}"], capture_output=True)
    assert done.stdout.split()[-1] == b"0" and done.stderr == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_full_disk_is_reported(files):
    with open("/dev/full", "w") as full:
        done = subprocess.run([COMMAND, "methods"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1 and b"standard output" in done.stderr


def test_sigterm_and_sighup_act_like_ctrl_c(long_points, tmp_path):
    for number, name in enumerate([signal.SIGTERM, signal.SIGHUP]):
        labels = tmp_path / f"{number}.csv"
        process = start_long(long_points, "--labels-out", labels, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(3)
        process.send_signal(name)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130 and labels.exists(), err
        assert b"stopping as soon as there is a result" in err and b"interrupted after" in err


def test_output_beyond_file_size_limit_is_an_error(files, tmp_path):
    done = subprocess.run(["bash", "-c", f"ulimit -f 0; exec {COMMAND} fit kmeans {files}/points.npy -k 3 --quiet --labels-out {tmp_path}/l.csv"],
                          capture_output=True, timeout=60)
    assert done.returncode == 1 and b"l.csv" in done.stderr and b"File too large" in done.stderr, done.stderr
    assert list(tmp_path.iterdir()) == []
