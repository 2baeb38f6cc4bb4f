"""Type checkers accept the package, and a program that uses it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

ROOT = Path(__file__).parents[2]

# Each line that ends in "# refused" is one that a checker must complain of.
PROGRAM = """
import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import jitgemm as jg

a: npt.NDArray[np.float32] = np.ones((6, 5), np.float32)
out: npt.NDArray[np.float16] = np.zeros((6, 6), np.float16)

assert_type(jg.matmul(a, a.T, device="emulator"), npt.NDArray[np.float32])
assert_type(jg.matmul(a, a.T, out=out), npt.NDArray[np.float16])
jg.matmul(a, a.T, out_dtype=np.float16).shape
jg.matmul(a, a.T, out_type=np.float16)  # refused
jg.matmul(a)  # refused
assert_type(jg.matmul(a, a.T, epilogue="d = acc + bias[n]", bias=a[0]), npt.NDArray[np.float32])
assert_type(jg.matmul(a, a.T, epilogue="d = relu(acc)", operands={"c": a}, out=out), npt.NDArray[np.float16])
jg.matmul(a, a.T, epilogue="d = acc + bias[n]", out_dtype=np.float16, bias=a[0]).shape
jg.matmul(a, a.T, bias=a[0])  # refused

k = jg.kernel(m=6, n=6, k=5, a=np.float32, layout="tt", constant_b=True, device="emulator")
assert_type(k, jg.Kernel)
assert_type(k(a, a.T), npt.NDArray[np.float32])
assert_type(k(a, a.T, out=out), npt.NDArray[np.float16])
assert_type(k(a, a.T, bias=a[0]), npt.NDArray[np.float32])
assert_type(k.json["registers"], int)
assert_type(k.launch_info[0]["grid"], tuple[int, int, int])
k.json["register"]  # refused
k.nonsense  # refused
jg.kernel(mm=6)  # refused
jg.kernel(m="6")  # refused
jg.nonsense  # refused

assert_type(jg.list("bf16 tn 8 8 8")["candidates"][0]["predicted_microseconds"], float)
assert_type(jg.doctor()["ok"], bool)
with jg.device("emulator") as block:
    assert_type(block.name, str)
jg.set_device(None)
assert_type(jg.get_device(), str | None)
"""


def mypy(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--strict", *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": str(ROOT / "python")},
        timeout=600,
    )


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return str(tmp_path_factory.mktemp("mypy"))


def test_the_package_is_strictly_typed(cache):
    done = mypy("--cache-dir", cache, "python/jitgemm")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_program_is_understood(cache, tmp_path):
    pytest.importorskip("numpy")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = mypy("--cache-dir", cache, str(program))
    # "program.py:17: error: ..."; what is said of other files is not about what the program does.
    places = [line.split(":")[:2] for line in done.stdout.splitlines() if ": error:" in line]
    complained = {int(line) for file, line in places if Path(file).name == program.name}
    refused = {i for i, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# refused")}
    assert complained == refused, done.stdout + done.stderr
