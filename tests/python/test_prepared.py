"""Operands that are prepared once: k.prepare_b(b) and k(a, prepared), on the emulator."""

from __future__ import annotations

import gc

import jitgemm as jg
import pytest

np = pytest.importorskip("numpy")

EMULATOR = "emulator:sm_90a"
IN_PARTS = {"n": 24, "k": 100, "a": "f32", "layout": "tt", "math": "f16x3", "device": EMULATOR}


def normal(shape, seed):
    return np.random.default_rng(seed).standard_normal(shape, dtype="float32")


def in_parts(m=40, **more):
    return jg.kernel(m=m, family="wgmma_warp_specialized", **{**IN_PARTS, **more})


def test_a_prepared_weight_gives_the_same_bits_and_serves_many_kernels():
    a, b = normal((40, 100), 1), normal((100, 24), 2)
    kernel = in_parts(prepared="b")
    weight = kernel.prepare_b(b)
    assert isinstance(weight, jg.Prepared)
    assert weight.form == "f32 in parts of f16x3, 24 lines of k=100"
    assert weight.nbytes >= 24 * 128 * 4
    assert weight.array is b
    assert repr(weight) == f"<jitgemm.Prepared: {weight.form}>"
    assert "prepared=b" in kernel.spec and kernel.json["prepared"] == "b"
    np.testing.assert_array_equal(kernel(a, weight), in_parts()(a, b))
    assert kernel.workspace < in_parts().workspace
    out = np.empty((7, 24), "float32")
    assert in_parts(7, prepared="b")(a[:7].copy(), weight, out=out) is out
    np.testing.assert_array_equal(out, in_parts(7)(a[:7].copy(), b))


def test_kernels_for_few_rows_read_the_array_that_it_keeps():
    a, b = normal((3, 100), 1), normal((100, 24), 2)
    weight = jg.kernel(m=4096, prepared="b", **IN_PARTS).prepare_b(b.copy())
    gc.collect()
    kernel = jg.kernel(m=3, prepared="b", **IN_PARTS)
    assert kernel.name.startswith("simt")
    np.testing.assert_array_equal(kernel(a, weight), jg.kernel(m=3, **IN_PARTS)(a, b))


def test_a_set_takes_one_weight():
    pytest.importorskip("ml_dtypes")
    random = np.random.default_rng(5)
    a, b = (random.integers(-3, 4, shape).astype("int8") for shape in ((64, 80), (80, 48)))
    kernels = jg.kernels("s8 tt 1 48 80 prepared=b", m=(1, 64), device=EMULATOR)
    weight = kernels.kernel(1).prepare_b(b)
    for m in (1, 64):
        product = kernels.kernel(m)(a[:m].copy(), weight)
        np.testing.assert_array_equal(product, a[:m].astype("int32") @ b.astype("int32"))


def test_an_array_that_is_read_as_it_lies_has_no_copy():
    a, b = normal((8, 16), 1), normal((16, 8), 2)
    kernel = jg.kernel("f32 tt 8 8 16 prepared=ab", device=EMULATOR)
    first, second = kernel.prepare_a(a), kernel.prepare_b(b)
    assert first.nbytes == second.nbytes == 0
    np.testing.assert_array_equal(kernel(first, second), jg.kernel("f32 tt 8 8 16", device=EMULATOR)(a, b))


def test_wrong_uses_name_the_rule():
    a, b = normal((40, 100), 1), normal((100, 24), 2)
    kernel = in_parts(prepared="b")
    weight = kernel.prepare_b(b)
    with pytest.raises(jg.SpecError, match="prepared_b is not given"):
        kernel(a, b)
    with pytest.raises(jg.SpecError, match="prepared_b is given, but the spec has prepared=none"):
        in_parts()(a, weight)
    with pytest.raises(jg.SpecError, match="parts of f16x3.*this kernel reads.*parts of bf16x3"):
        in_parts(prepared="b", math="bf16x3")(a, weight)
    with pytest.raises(jg.SpecError, match="prepared=b: ask for a kernel with prepared=a"):
        kernel.prepare_a(a)
    with pytest.raises(jg.OperandError, match=r"b has shape \(24, 100\) here and \(100, 24\) in the kernel"):
        kernel.prepare_b(b.T)
    with pytest.raises(jg.OperandError, match="b has strides"):
        kernel.prepare_b(np.asfortranarray(b))
    with pytest.raises(jg.OperandError, match="b is of type f16 here and f32 in the kernel"):
        kernel.prepare_b(b.astype("float16"))
    with pytest.raises(jg.SpecError, match='prepared is 5: expected "a", "b", "ab"'):
        in_parts(prepared=5)
    with pytest.raises(TypeError):
        jg.Prepared()
