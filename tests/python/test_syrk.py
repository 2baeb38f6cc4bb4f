"""Symmetric products: whole results, equal to their transposes, of every stride; refusals."""

import pytest

import jitgemm as jg

np = pytest.importorskip("numpy")

EMULATOR = "emulator:sm_90a"


def small_integers(shape, seed=0, dtype="float16"):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


def normal(shape, seed=0, dtype="float16"):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def syrk(a, **more):
    return jg.syrk(a, device=EMULATOR, **more)


def product(a):
    wide = a.astype("float64")
    return wide @ wide.swapaxes(-1, -2)


@pytest.mark.parametrize("shape", [(64, 64), (1, 5), (5, 1), (130, 40), (200, 72), (0, 8), (8, 0), (257, 33)])
def test_a_times_its_transpose_and_the_other_way_round(shape):
    a = small_integers(shape)
    np.testing.assert_array_equal(syrk(a), product(a))
    np.testing.assert_array_equal(syrk(a.T), product(a.T))


def test_the_result_is_its_transpose_and_the_full_product_bit_for_bit():
    for a in (normal((200, 96)), normal((96, 200)).T, normal((150, 70), dtype="float32")):
        d = syrk(a, alpha=0.7)
        np.testing.assert_array_equal(d, d.T)
        np.testing.assert_allclose(d, 0.7 * product(a), rtol=2e-3, atol=2e-2)


def test_slices_outputs_types_and_texts():
    whole = small_integers((150, 100))
    a, out = whole[10:140, 3:67], np.zeros((130, 160), "float32")
    assert syrk(a, out=out[:, 8:138]) is not None
    np.testing.assert_array_equal(out[:, 8:138], product(a))
    assert not out[:, :8].any() and not out[:, 138:].any()
    np.testing.assert_array_equal(syrk(a, out_dtype="float32", alpha=-2), -2 * product(a))
    limit = np.float32(30)
    text = "limit: f32; d = clamp(acc, -limit, limit)"
    np.testing.assert_array_equal(syrk(a, epilogue=text, limit=limit), np.clip(product(a), -30, 30))
    by_column = np.zeros((130, 130), "float16", order="F")
    assert syrk(a, out=by_column) is by_column
    np.testing.assert_array_equal(by_column, product(a))


def test_batches():
    a = small_integers((3, 2, 40, 24))
    np.testing.assert_array_equal(syrk(a), product(a))
    np.testing.assert_array_equal(syrk(a.swapaxes(-1, -2)), product(a.swapaxes(-1, -2)))
    np.testing.assert_array_equal(syrk(a.transpose(1, 0, 2, 3)), product(a.transpose(1, 0, 2, 3)))
    same = np.broadcast_to(a[0, 0], (4, 40, 24))
    np.testing.assert_array_equal(syrk(same), product(same))


def test_a_kernel_of_its_own():
    kernel = jg.kernel("f16 tn 96 96 64 symmetric=yes", device=EMULATOR)
    assert "_symmetric_" in kernel.name
    a = small_integers((96, 64))
    np.testing.assert_array_equal(kernel(a, None), product(a))
    with pytest.raises(jg.OperandError, match="symmetric"):
        kernel(a, a.T)


def test_what_is_refused_and_why():
    a = small_integers((40, 24))
    for arguments, reason in [
        ({"epilogue": "d = acc + bias[n]", "bias": a[0]}, r"bias\[n\]"),
        ({"epilogue": "d = acc; pre[m,n] = acc"}, r"pre\[m,n\]"),
        ({"epilogue": "d[m,h] = left(acc) * right(acc)"}, "pairs"),
    ]:
        with pytest.raises((jg.OperandError, jg.SpecError), match=reason):
            syrk(a, **arguments)
    with pytest.raises(jg.SpecError, match="f16x3"):
        syrk(a.astype("float32"), math="f16x3")
    with pytest.raises(jg.OperandError, match="matrix"):
        syrk(a[0])
    with pytest.raises(jg.OperandError, match="the product has"):
        syrk(a, out=np.zeros((40, 24), "float16"))
    with pytest.raises(TypeError):
        jg.syrk(a, a.T)
    with pytest.raises(TypeError):
        jg.syrk(a, c=a)
