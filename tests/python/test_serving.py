"""Requests whose kernel is not loaded: on_miss."""

from __future__ import annotations

import subprocess
import sys

import jitgemm as jg
import pytest

np = pytest.importorskip("numpy")

from conftest import small_integers

EMULATOR = "emulator:sm_80"


def test_a_request_that_may_fail_finds_what_another_has_loaded():
    def request(on_miss):
        return jg.kernel("f16 nt 61 43 50", device=EMULATOR, param="stages=3", on_miss=on_miss)

    with pytest.raises(jg.KernelNotReady, match="not loaded") as refused:
        request("fail")
    assert refused.value.kernel in str(refused.value)
    assert request("wait").name == refused.value.kernel
    assert request("fail").name == refused.value.kernel


def test_products_served_at_once_are_right():
    for rows in (3, 17, 64, 100):
        a, b = small_integers((rows, 40)), small_integers((40, 24))
        assert np.array_equal(jg.matmul(a, b, device=EMULATOR, on_miss="serve"), a @ b)
        assert np.array_equal(jg.matmul(a, b, device=EMULATOR, on_miss="wait"), a @ b)
        assert np.array_equal(jg.matmul(a, b, device=EMULATOR, on_miss="fail"), a @ b)


def test_on_miss_names_its_words():
    a = small_integers((6, 6))
    for call in (
        lambda word: jg.matmul(a, a, device=EMULATOR, on_miss=word),
        lambda word: jg.kernel("f32 tt 6 4 5", device=EMULATOR, on_miss=word),
    ):
        for wrong in ("never", True, 1):
            with pytest.raises(jg.SpecError, match="serve"):
                call(wrong)


def test_a_variable_is_the_default():
    program = """
import jitgemm as jg
try:
    jg.kernel("bf16 tn 61 43 50", device="emulator:sm_80")
except jg.KernelNotReady:
    print("fails")
print(jg.kernel("bf16 tn 61 43 50", device="emulator:sm_80", on_miss="wait").name)
"""
    import os

    environment = {**os.environ, "JITGEMM_ON_MISS": "fail"}
    told = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.startswith("fails\n")
