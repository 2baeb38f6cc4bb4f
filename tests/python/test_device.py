"""The device of calls that name none: set_device, blocks of `with`, JITGEMM_DEVICE."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading

import jitgemm as jg
import pytest

np = pytest.importorskip("numpy")

from conftest import has_gpu, small_integers

A, B = small_integers((6, 5)), small_integers((5, 4), seed=1)
PRODUCT = A.astype("float64") @ B


@pytest.fixture(autouse=True)
def no_default(monkeypatch):
    monkeypatch.delenv("JITGEMM_DEVICE", raising=False)
    jg.set_device(None)
    yield
    monkeypatch.delenv("JITGEMM_DEVICE", raising=False)
    jg.set_device(None)


def of_kernel():
    return jg.kernel("f32 tt 6 4 5").device


def python(program, **environment):
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=300,
    )


def test_every_function_follows_the_default_of_the_process():
    jg.set_device("emulator:sm_90a")
    assert jg.get_device() == "emulator:sm_90a" and of_kernel() == "emulator:sm_90a"
    np.testing.assert_array_equal(jg.matmul(A, B), PRODUCT)
    jg.set_device(None)
    assert jg.get_device() is None
    with pytest.raises(jg.OperandError, match="no device is named"):
        jg.matmul(A, B)


def test_torch_follows_it():
    torch = pytest.importorskip("torch", minversion="2.6")
    a, b = torch.from_numpy(A), torch.from_numpy(B).requires_grad_()
    with jg.device("emulator"):
        for d in (jg.torch.matmul(a, b), jg.torch.linear(a, b.T)):
            np.testing.assert_array_equal(d.detach(), PRODUCT)


def test_a_named_device_wins():
    jg.set_device("emulator:sm_90a")
    with jg.device("emulator:sm_89"):
        assert jg.kernel("f32 tt 6 4 5", device="emulator:sm_80").device == "emulator:sm_80"
        assert of_kernel() == "emulator:sm_89"
    assert of_kernel() == "emulator:sm_90a"


def test_blocks_nest_and_end_with_an_exception():
    outer = jg.device("emulator:sm_80")
    with outer:
        with pytest.raises(ZeroDivisionError), jg.device("emulator:sm_90a"):
            assert jg.get_device() == "emulator:sm_90a"
            with outer:  # the same one again
                assert jg.get_device() == "emulator:sm_80"
            assert jg.get_device() == "emulator:sm_90a"
            1 / 0  # noqa: B018
        assert jg.get_device() == "emulator:sm_80"
    assert jg.get_device() is None


def test_a_block_is_of_its_thread_and_set_device_of_all():
    seen = []
    with jg.device("emulator"):
        thread = threading.Thread(target=lambda: seen.append(jg.get_device()))
        thread.start()
        thread.join()
        jg.set_device("emulator:sm_90a")
        thread = threading.Thread(target=lambda: seen.append(of_kernel()))
        thread.start()
        thread.join()
    assert seen == [None, "emulator:sm_90a"]


def test_a_block_is_of_its_task_and_of_tasks_that_begin_in_it():
    async def inner():
        await asyncio.sleep(0.02)  # the block that it began in has ended by then
        return of_kernel()

    async def one(name):
        with jg.device(name):
            task = asyncio.ensure_future(inner())
            await asyncio.sleep(0)
            assert jg.get_device() == name
        return await task

    async def both():
        return await asyncio.gather(one("emulator:sm_80"), one("emulator:sm_90a"))

    assert asyncio.run(both()) == ["emulator:sm_80", "emulator:sm_90a"]
    assert jg.get_device() is None


@pytest.mark.parametrize("wrong", ["", "emul", "emulator:sm_12", "cuda:x", "emulator k=5", 5, True])
def test_no_device_is_refused_by_every_door_at_once(wrong):
    calls = (
        lambda: jg.set_device(wrong),
        lambda: jg.device(wrong),
        lambda: jg.matmul(A, B, device=wrong),
        lambda: jg.kernel("f32 tt 6 4 5", device=wrong),
    )
    for call in calls:
        with pytest.raises(jg.Error if isinstance(wrong, str) else TypeError):
            call()
    assert jg.get_device() is None


def test_a_block_without_a_device_is_a_type_error():
    with pytest.raises(TypeError, match="device is None"):
        jg.device(None)


def test_other_libraries_words_lead_to_ours():
    for word, ours in {"cpu": "emulator", "gpu": "cuda"}.items():
        with pytest.raises(jg.SpecError, match=f"'{ours}'"):
            jg.matmul(A, B, device=word)
        with pytest.raises(jg.SpecError, match=f"'{ours}'"):
            jg.set_device(word)


def test_the_environment_names_a_default_for_python_and_the_tool():
    program = """
import numpy as np, os, jitgemm as jg
a = np.ones((2, 3), "float32")
print(jg.matmul(a, a.T)[0, 0], jg.kernel("f32 tt 6 4 5").device, jg.get_device())
jg.set_device("emulator:sm_80")
print(jg.get_device())
os.environ["JITGEMM_DEVICE"] = "emulator:sm_89"
jg.set_device(None)
print(jg.get_device())
"""
    done = python(program, JITGEMM_DEVICE="emulator:sm_90a")
    assert done.stdout.split() == ["3.0", *["emulator:sm_90a"] * 2, "emulator:sm_80", "emulator:sm_89"], done.stderr
    wrong = python("import jitgemm as jg; jg.kernel('f32 tt 6 4 5')", JITGEMM_DEVICE="emul")
    assert wrong.returncode == 1 and "JITGEMM_DEVICE" in wrong.stderr and "emulator" in wrong.stderr


def test_the_tool_is_asked_for_the_default(monkeypatch):
    from jitgemm import _tool

    asked = []
    monkeypatch.setattr(_tool, "ask", lambda words, *_: asked.append(words) or {})
    with jg.device("emulator"):
        jg.tune("f32 tt 8 8 8")
        jg.bench("f32 tt 8 8 8")
        jg.tune("f32 tt 8 8 8", device="cuda:1")
    assert all(words[words.index("--device") + 1] == name for words, name in zip(asked, ["emulator"] * 2 + ["cuda:1"]))
    jg.tune("f32 tt 8 8 8")
    assert "--device" not in asked[-1]


@pytest.mark.skipif(has_gpu(), reason="a GPU")
def test_without_a_gpu_the_emulator_is_named_before_what_is_missing():
    for ask in (lambda: jg.kernel("f32 tt 6 4 5"), lambda: jg.matmul(A, B, device="cuda")):
        with pytest.raises(jg.CudaError) as caught:
            ask()
        said = str(caught.value)
        assert 0 <= said.find('device="emulator"') < 80 and "libcuda" in said


@pytest.mark.gpu
def test_arrays_on_a_gpu_are_refused_where_the_default_is_the_emulator():
    torch = pytest.importorskip("torch")
    a = torch.ones(8, 8, device="cuda", dtype=torch.float16)
    with jg.device("emulator"), pytest.raises(jg.OperandError, match="cuda:0.*emulator"):
        jg.matmul(a, a)
    with jg.device("emulator"):
        assert jg.matmul(a, a, device="cuda")[0, 0] == 8
    with jg.device("cuda"):
        assert jg.matmul(a, a)[0, 0] == 8
        np.testing.assert_array_equal(jg.matmul(A, B), PRODUCT)
