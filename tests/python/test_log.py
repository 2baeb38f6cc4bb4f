"""The library's log as Python's logger "jitgemm"."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading

import jitgemm as jg
import pytest
from jitgemm import _log

EMULATOR = "emulator:sm_80"
PRELUDE = """
import sys, jitgemm as jg
"""


def python(program, **environment):
    kept = {name: value for name, value in os.environ.items() if name != "JITGEMM_LOG"}
    return subprocess.run(
        [sys.executable, "-c", PRELUDE + program],
        capture_output=True,
        text=True,
        env={**kept, **environment},
        timeout=300,
    )


@pytest.fixture
def unusable_cache(tmp_path):
    """A kernel cache that can't be written: the library warns of it."""
    file = tmp_path / "file"
    file.write_text("no folder")
    return {"JITGEMM_CACHE_DIR": str(file / "cache")}


KERNEL = f"jg.kernel('f32 tt 6 4 5', device='{EMULATOR}')\n"


def test_a_warning_is_a_record_of_the_logger(unusable_cache):
    done = python(
        "import logging\n"
        "logging.basicConfig(stream=sys.stdout, format='%(name)s|%(levelname)s|%(message)s')\n" + KERNEL,
        **unusable_cache,
    )
    records = [line.split("|") for line in done.stdout.splitlines()]
    assert ["jitgemm", "WARNING"] in [record[:2] for record in records], done.stdout + done.stderr
    assert "cache" in done.stdout and done.stderr == ""


def test_logging_alone_decides_the_level(tmp_path):
    new_cache = {"JITGEMM_CACHE_DIR": str(tmp_path)}
    setup = "import logging; logging.basicConfig(stream=sys.stdout, format='%(levelname)s', level='{}')\n" + KERNEL
    assert "DEBUG" in python(setup.format("DEBUG"), **new_cache).stdout
    quiet = python(setup.format("INFO"), JITGEMM_CACHE_DIR="")
    assert quiet.stdout == "" and quiet.stderr == ""


def test_without_a_handler_warnings_go_to_stderr(unusable_cache):
    for setup in ("", "import logging\n"):
        done = python(setup + KERNEL, **unusable_cache)
        assert done.stdout == "" and done.stderr.startswith("jitgemm: warning: "), done.stderr
    silent = python("import logging; logging.getLogger('jitgemm').addHandler(logging.NullHandler())\n" + KERNEL)
    assert silent.stderr == ""


def test_the_variable_asks_for_more_and_for_less(unusable_cache):
    assert "jitgemm: debug: " in python(KERNEL, JITGEMM_LOG="debug", JITGEMM_CACHE_DIR="").stderr
    assert python(KERNEL, JITGEMM_LOG="off", **unusable_cache).stderr == ""
    configured = "import logging; logging.basicConfig(stream=sys.stdout, format='%(levelname)s')\n" + KERNEL
    assert "DEBUG" in python(configured, JITGEMM_LOG="debug", JITGEMM_CACHE_DIR="").stdout


def test_what_a_handler_raises_ends_no_call(unusable_cache):
    program = """
import logging
class Broken(logging.Filter):
    def filter(self, record):
        raise RuntimeError("broken filter")
logging.basicConfig()
logging.getLogger("jitgemm").addFilter(Broken())
print(jg.kernel('f32 tt 6 4 5', device='emulator').device)
"""
    done = python(program, **unusable_cache)
    assert done.stdout.strip() == EMULATOR and "broken filter" in done.stderr and done.returncode == 0


def test_a_handler_may_multiply(unusable_cache):
    program = """
import logging
class Multiplies(logging.Handler):
    def emit(self, record):
        print(jg.kernel('f32 tt 3 3 3', device='emulator').device)
logging.getLogger("jitgemm").addHandler(Multiplies())
jg.kernel('f32 tt 6 4 5', device='emulator')
"""
    done = python(program, **unusable_cache)
    assert EMULATOR in done.stdout and done.returncode == 0, done.stderr


def test_an_error_keeps_what_was_logged_before_it(tmp_path):
    program = """
import logging
logging.basicConfig(stream=sys.stdout, level='DEBUG', format='%(levelname)s')
try:
    jg.kernel('f32 tt 6 4 5', device='emulator', kernel='nonsense')
except jg.Error as error:
    print(type(error).__name__)
"""
    done = python(program, JITGEMM_CACHE_DIR=str(tmp_path))
    assert done.stdout.split()[-1] == "ConfigError", done.stdout + done.stderr


def test_threads_that_log_at_once_lose_nothing(tmp_path):
    program = """
import logging, threading, collections
lines = collections.Counter()
class Count(logging.Handler):
    def emit(self, record):
        lines[record.getMessage().split()[0]] += 1
logging.getLogger("jitgemm").addHandler(Count())
logging.getLogger("jitgemm").setLevel("DEBUG")
ask = lambda k: jg.kernel(f"f32 tt 6 4 {k}", device="emulator")
threads = [threading.Thread(target=ask, args=(k,)) for k in range(1, 5)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(lines["compiled"] >= 1, lines["working"])
"""
    done = python(program, JITGEMM_CACHE_DIR="")
    assert done.returncode == 0 and done.stdout.startswith("True"), done.stdout + done.stderr


def test_a_forked_child_logs(unusable_cache):
    program = """
import logging, os
logging.basicConfig(stream=sys.stdout, format="%(process)d %(levelname)s")
jg.kernel("f32 tt 6 4 5", device="emulator")
sys.stdout.flush()
child = os.fork()
if child == 0:
    jg.kernel("f32 tt 6 4 5", device="emulator")
    sys.stdout.flush()
    os._exit(0)
print("code", os.waitpid(child, 0)[1], "child", child)
"""
    done = python(program, **unusable_cache)
    *lines, last = done.stdout.splitlines()
    child = last.split()[-1]
    assert last.startswith("code 0 ") and f"{child} WARNING" in lines, done.stdout + done.stderr


def test_lines_at_the_end_of_the_interpreter_go_to_stderr(unusable_cache):
    program = """
import atexit, logging
logging.basicConfig(stream=sys.stdout)
def late():
    jg.kernel('f32 tt 6 4 5', device='emulator')
atexit.register(late)                               # runs after what was registered later
jg.kernel('f32 tt 3 3 3', device='emulator')
"""
    done = python(program, **unusable_cache)
    assert done.returncode == 0 and "WARNING:jitgemm:" in done.stdout, done.stderr


def test_what_is_no_level_is_refused_once():
    program = '''
try:
    jg.kernel("f32 tt 6 4 5", device="emulator")
except jg.Error as error:
    print(error)
'''
    done = python(program, JITGEMM_LOG="loud")
    assert "loud" in done.stdout and "warning" in done.stdout and done.stderr == ""


def test_lines_of_the_tool_are_records_too(caplog):
    with caplog.at_level("DEBUG", logger="jitgemm"):
        _log.deliver_line("jitgemm: warning: something: else\n")
        _log.deliver_line("no line of the log\n")
    assert [(r.name, r.levelname, r.getMessage()) for r in caplog.records] == [
        ("jitgemm", "WARNING", "something: else")
    ]


def test_a_thread_delivers_what_it_caused(caplog, monkeypatch):
    seen = []

    class Where(logging.Handler):
        def emit(self, record):
            seen.append(threading.current_thread().name)

    logger = logging.getLogger("jitgemm")
    handler = Where()
    monkeypatch.setenv("JITGEMM_CACHE_DIR", "")
    logger.addHandler(handler)
    try:
        with caplog.at_level("DEBUG", logger="jitgemm"):
            asked = threading.Thread(
                target=jg.kernel, args=("f32 tt 7 3 19",), kwargs={"device": "emulator:sm_89"}, name="asks"
            )
            asked.start()
            asked.join()
    finally:
        logger.removeHandler(handler)
    assert "asks" in seen
