"""jitgemm.kernels: few kernels for each m of a range."""

from __future__ import annotations

import json
from pathlib import Path

import jitgemm as jg
import pytest
from jitgemm import _tool

EMULATOR = "emulator:sm_80"


@pytest.fixture(scope="module")
def few():
    return jg.kernels("f32 tt 1 24 16", m=(1, 40), device=EMULATOR)


def test_a_set_multiplies_for_each_m(few):
    np = pytest.importorskip("numpy")
    b = np.arange(16 * 24, dtype="float32").reshape(16, 24) % 7
    for m in (1, 2, 7, 33, 40):
        a = np.arange(m * 16, dtype="float32").reshape(m, 16) % 5
        kernel = few.kernel(m)
        assert isinstance(kernel, jg.Kernel)
        assert f" m={m} " in kernel.spec
        assert (kernel(a, b) == a @ b).all()


def test_a_set_tells_its_kernels_and_ranges(few):
    assert (few.first_m, few.last_m) == (1, 40)
    assert few.json["first_m"] == 1 and few.json["last_m"] == 40
    assert [kernel["name"] for kernel in few.json["kernels"]] == few.names
    for span in few.json["ranges"]:
        assert few.kernel(span["first_m"]).name == few.names[span["kernel"]]
    assert few.names[0] in str(few) and "1:40" in repr(few)


def test_a_set_by_fields_is_that_of_the_text(few):
    same = jg.kernels(m=(1, 40), n=24, k=16, a="f32", layout="tt", device=EMULATOR)
    assert same.names == few.names


def test_what_is_no_set_is_refused(few):
    with pytest.raises(jg.SpecError, match="m is 41: the set serves 1 to 40"):
        few.kernel(41)
    with pytest.raises(jg.SpecError, match="9:3"):
        jg.kernels("f32 tt 1 24 16", m=(9, 3), device=EMULATOR)
    with pytest.raises(TypeError, match="both"):
        jg.kernels("f32 tt 1 24 16", m=(1, 3), n=24, device=EMULATOR)
    with pytest.raises(TypeError, match="'nn'"):
        jg.kernels(m=(1, 3), nn=24, device=EMULATOR)
    with pytest.raises(TypeError):
        few.kernel("1")
    with pytest.raises(jg.Error, match="__init__ was not called"):
        jg.KernelSet.__new__(jg.KernelSet).kernel(1)


def test_a_tuned_set_serves_later_requests_for_its_range():
    words = ["kernels", "tune", "f32", "tt", "m=1:9", "n=24", "k=17", "--device", EMULATOR, "--quiet"]
    document = _tool.ask(words, None)
    file = Path(document["stored"])
    stored = json.loads(file.read_text())
    assert stored["set"] == document["set"]
    stored["set"]["mean_ratio"] = 0.5  # so that it is known again
    file.write_text(json.dumps(stored))
    assert jg.kernels("f32 tt 1 24 17", m=(1, 9), device=EMULATOR).json == stored["set"]
    assert jg.kernels("f32 tt 1 24 17", m=(1, 8), device=EMULATOR).json["mean_ratio"] != 0.5
