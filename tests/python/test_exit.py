"""The interpreter's end while daemon threads are still at work: the process ends as if they were not there."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

np = pytest.importorskip("numpy")

BEGIN = """
import sys, threading, time
import numpy as np
import jitgemm as jg
E = "emulator:sm_80"
small, large = np.ones((8, 8), "float32"), np.ones((300, 300), "float32")
jg.matmul(small, small, device=E)

def at_work(call, threads=1):
    for _ in range(threads):
        threading.Thread(target=lambda: [call() for _ in range(10**6)], daemon=True).start()
    time.sleep(0.2)
"""

PROGRAMS = {
    "long launches": "at_work(lambda: jg.matmul(large, large, device=E))",
    "short launches": "at_work(lambda: jg.matmul(small, small, device=E), threads=4)",
    "launches that wait for a busy thread": """
        at_work(lambda: jg.matmul(small, small, device=E), threads=3)
        sys.setswitchinterval(1e-5)
        until = time.monotonic() + 0.3
        while time.monotonic() < until:
            pass
        """,
    "the time in Python code that a launch calls": """
        class Slow:
            def __init__(self, array):
                self.array = array
            @property
            def __array_interface__(self):
                for _ in range(20000):
                    pass
                return self.array.__array_interface__
        slow, out = Slow(small), np.zeros((8, 8), "float32")
        at_work(lambda: jg.matmul(slow, slow, out=out.copy(), device=E), threads=3)
        """,
    "kernels in the making": """
        sizes = iter(range(9, 10**6))
        def make():
            n = next(sizes)
            jg.kernel(f"f32 tt {n} {n} {n}", device=E, family="simt_hierarchical")
        at_work(make)
        """,
    "the time in a handler of the log": """
        import logging
        class Slow(logging.Handler):
            def emit(self, record):
                for _ in range(200000):
                    pass
        logging.getLogger("jitgemm").addHandler(Slow())
        logging.getLogger("jitgemm").setLevel("DEBUG")
        sizes = iter(range(9, 10**6))
        def make():
            n = next(sizes)
            jg.kernel(f"f32 tt {n} {n} {n}", device=E, family="simt_hierarchical")
        at_work(make, threads=3)
        """,
    "the time in texts of a caller's object": """
        class Slow:
            def __str__(self):
                for _ in range(20000):
                    pass
                return E
        at_work(lambda: jg.matmul(small, small, device=Slow()), threads=3)
        """,
    "layouts": 'at_work(lambda: jg.layout("(8,4):(4,1)").table(), threads=2)',
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_daemon_threads_do_not_abort_the_process(program, tmp_path):
    source = textwrap.dedent(BEGIN) + textwrap.dedent(program)
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    for _ in range(3):
        ended = subprocess.run(
            [sys.executable, "-c", source], env=environment, capture_output=True, text=True, timeout=120
        )
        assert ended.returncode == 0, ended.stderr


def test_atexit_handlers_still_multiply_and_may_wait_for_a_thread():
    source = textwrap.dedent(BEGIN) + textwrap.dedent(
        """
        import atexit
        stop = threading.Event()
        def work():
            while not stop.is_set():
                jg.matmul(small, small, device=E)
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        def end():
            stop.set()
            thread.join()
            print((jg.matmul(small, small, device=E) == 8).all())
        atexit.register(end)
        """
    )
    ended = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout) == (0, "True\n"), ended.stderr
