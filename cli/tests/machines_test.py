"""Processes on two machines. Two network namespaces, each with its own host name and address, stand for the machines, so messages go over TCP.
Needs root, iproute2 and Open MPI; skipped elsewhere."""

import os
import shutil
import subprocess
import time

import pytest

from processes_test import ENVIRONMENT, FITS, MPIRUN, fitted, killed, shards  # noqa: F401
from support import COMMAND

NAMES = ["coterie-1", "coterie-2"]
LINKS = ["coterie-a", "coterie-b"]
NETWORK = "10.93.71."
# mpirun starts processes on another machine by `AGENT ADDRESS COMMAND...`.
AGENT = f"""#!/bin/sh
name=coterie-${{1##*.}}
shift
exec ip netns exec $name unshare --uts sh -c "hostname $name; $*"
"""


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    if MPIRUN is None or shutil.which("ip") is None or os.getuid() != 0:
        pytest.skip("two machines need mpirun, ip (iproute2) and root")
    made = []
    try:
        for name in NAMES:
            if subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode != 0:
                pytest.skip("this machine makes no network namespaces")
            made.append(name)
        subprocess.run(["ip", "link", "add", LINKS[0], "netns", NAMES[0], "type", "veth", "peer", "name", LINKS[1], "netns", NAMES[1]], check=True)
        for number, (name, link) in enumerate(zip(NAMES, LINKS), start=1):
            subprocess.run(["ip", "-n", name, "addr", "add", f"{NETWORK}{number}/24", "dev", link], check=True)
            for device in ("lo", link):
                subprocess.run(["ip", "-n", name, "link", "set", device, "up"], check=True)
        agent = tmp_path_factory.mktemp("agent") / "agent"
        agent.write_text(AGENT)
        agent.chmod(0o755)
        network = f"{NETWORK}0/24"
        yield ["ip", "netns", "exec", NAMES[0], "unshare", "--uts", "sh", "-c", f'hostname {NAMES[0]}; exec "$@"', "sh", MPIRUN, "--host",
               f"{NETWORK}1:2,{NETWORK}2:2", "--bind-to", "none", "--mca", "plm_rsh_agent", str(agent), "--mca", "btl", "self,tcp", "--mca",
               "btl_tcp_if_include", network, "--mca", "oob_tcp_if_include", network]
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "del", name])


def start_on(machines, processes):
    def start(*words, code=0):
        done = subprocess.run([*machines, "-n", str(processes), COMMAND, *map(str, words)], env=ENVIRONMENT, capture_output=True, text=True,
                              timeout=300)
        done.out, done.err = done.stdout, done.stderr
        assert done.returncode == code, f"exit {done.returncode}, not {code}\n{done.out}\n{done.err}"
        return done

    return start


def bytes_sent(name, link):
    listed = subprocess.run(["ip", "-n", name, "-s", "link", "show", link], capture_output=True, text=True, check=True).stdout.split("\n")
    return int(listed[[line.split()[:1] == ["TX:"] for line in listed].index(True) + 1].split()[0])


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_two_machines_give_the_same_bits(shards, tmp_path, machines, fit):  # noqa: F811
    whole = fitted(tmp_path, fit, shards / "whole.npy")
    before = bytes_sent(NAMES[1], LINKS[1])
    assert fitted(tmp_path, fit, shards / "part-*.npy", start_on(machines, 4), "--threads", 1) == whole
    assert bytes_sent(NAMES[1], LINKS[1]) > before + 1000


def test_killed_process_on_other_machine_ends_all(shards, tmp_path, machines):  # noqa: F811
    words = ["fit", "kmeans", shards / "whole.npy", "-k", "50", "--restarts", "100000", "--tolerance", "0", "--labels-out", tmp_path / "l.npy"]
    process = subprocess.Popen([*machines, "-n", "4", COMMAND, *map(str, words)], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    workers = []
    while len(workers) < 2:
        assert process.poll() is None
        time.sleep(0.2)
        there = subprocess.run(["ip", "netns", "pids", NAMES[1]], capture_output=True, text=True).stdout.split()
        workers = [int(pid) for pid in there if os.path.exists(f"/proc/{pid}/exe") and os.path.samefile(f"/proc/{pid}/exe", COMMAND)]
    time.sleep(2)
    assert "signal 9" in killed(process, workers[0])
    assert list(tmp_path.iterdir()) == []
