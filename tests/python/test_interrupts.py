"""Ctrl-C: it ends what takes long, nothing is half written, and the process goes on with all it had."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

SECONDS = 20  # that an interrupted call may take on a busy machine; what is interrupted takes longer

BEGIN = """
import os, signal, sys, time
import jitgemm as jg
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by what a shell runs in the background

def interrupted(call):
    print("begins", flush=True)
    begun = time.monotonic()
    try:
        call()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    else:
        print("was done after", time.monotonic() - begun, flush=True)
"""


def alive_in_group(group):
    """Those that run; what has ended and waits for its parent to ask is none."""
    alive = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                state, _, its_group = file.read().rpartition(")")[2].split()[:3]
        except OSError:  # ended meanwhile
            continue
        if int(its_group) == group and state != "Z":
            alive.append(int(name))
    return alive


def interrupt(program, folder, delay=1.0, whole_group=False):
    """Runs the program in its own group. Sends SIGINT some time after it says that it begins. Returns its output."""
    environment = {**os.environ, "TMPDIR": str(folder), "JITGEMM_TUNING_DIR": str(folder / "tuning")}
    errors = folder / "stderr.txt"
    with (
        errors.open("w") as stderr,
        subprocess.Popen(
            [sys.executable, "-c", BEGIN + textwrap.dedent(program)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        try:
            assert process.stdout.readline() == "begins\n", errors.read_text()
            time.sleep(delay)
            (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
            sent = time.monotonic()
            assert process.stdout.readline() == "interrupted\n"
            assert time.monotonic() - sent < SECONDS
            said = process.stdout.read()
            process.wait(SECONDS)
        finally:
            process.kill()
    assert process.returncode == 0, errors.read_text()
    deadline = time.monotonic() + SECONDS
    while alive_in_group(process.pid):
        assert time.monotonic() < deadline, "a process of the tool's goes on"
        time.sleep(0.05)
    return said.splitlines()


def test_an_emulated_launch(tmp_path):
    pytest.importorskip("numpy")
    said = interrupt(
        """
        import numpy as np
        a = np.ones((2048, 2048), "float32")        # a minute of two cores
        out = np.full((2048, 2048), 7, "float32")
        k = jg.kernel("f32 tt 2048 2048 2048", device="emulator:sm_80")
        interrupted(lambda: k(a, a, out=out))
        print((out == 7).all())                     # nothing of it was written
        small = a[:9, :9]
        print((jg.matmul(small, small, device="emulator:sm_80") == 9).all())
        """,
        tmp_path,
        delay=0.3,
    )
    assert said == ["True", "True"]


def test_a_launch_with_counters_in_its_workspace(tmp_path):
    pytest.importorskip("numpy")
    said = interrupt(
        """
        import numpy as np
        a, b = np.ones((64, 60000), "float32"), np.ones((60000, 64), "float32")
        k = jg.kernel("f32 tt 64 64 60000", device="emulator:sm_80", param="split_k=4")
        interrupted(lambda: [k(a, b) for _ in range(1000)])
        print((k(a, b) == 60000).all())
        """,
        tmp_path,
    )
    assert said == ["True"]


def test_a_kernel_that_is_being_compiled(tmp_path):
    said = interrupt(
        """
        os.environ["JITGEMM_CACHE_DIR"] = os.environ["TMPDIR"] + "/cache"
        sizes = range(4, 2000)
        interrupted(
            lambda: [
                jg.kernel(f"f32 tt {n} {n} {n}", device="emulator:sm_80", family="simt_hierarchical") for n in sizes
            ]
        )
        print(jg.kernel("f32 tt 12 12 12", device="emulator:sm_80", family="simt_hierarchical").name.split("_")[0])
        """,
        tmp_path,
        delay=0.5,
    )
    assert said == ["simt"]


@pytest.mark.parametrize("whole_group", [False, True], ids=["the process", "as a terminal does"])
def test_a_search(tmp_path, whole_group):
    said = interrupt(
        """
        interrupted(
            lambda: jg.tune(["f32 tt 64 64 64", "f32 tt 72 72 72"], device="emulator:sm_80", progress=len)
        )
        print([name for name in os.listdir(os.environ["TMPDIR"]) if name.startswith("jitgemm-")])
        tuned = jg.tune("f32 tt 12 12 12", device="emulator:sm_80", family="simt_naive")
        print(len(tuned["problems"]))
        """,
        tmp_path,
        delay=3.0,
        whole_group=whole_group,
    )
    assert said == ["[]", "1"]
