"""8-bit integers of numpy and PyTorch: exact sums in int32, products with scales, rounding to 8 bits."""

import jitgemm as jg
import pytest

np = pytest.importorskip("numpy")

EMULATOR = "emulator:sm_90a"
M, N, K = 24, 48, 160


def random_bytes(shape, seed):
    return np.random.default_rng(seed).integers(-128, 128, shape, dtype="int8")


def operands(k=K):
    return random_bytes((M, k), 1), random_bytes((N, k), 2).T


def exact(a, b):
    return a.astype("int64") @ b.astype("int64")


@pytest.mark.parametrize("k", [1, 15, 75, K])
def test_sums_of_bytes_are_exact(k):
    a, b = operands(k)
    if k == 1:  # rows at a pitch of their own
        a, b = operands(16)[0][:, :1], operands(16)[1][:1]
    d = jg.matmul(a, b, device=EMULATOR)
    assert d.dtype == np.int32
    np.testing.assert_array_equal(d, exact(a, b))


def test_the_text_acc_keeps_the_sums_too():
    a, b = np.full((16, 2048), -128, "int8"), np.full((16, 2048), -128, "int8").T
    a[0, 0] = 127
    d = jg.matmul(a, b, epilogue="d = acc", device=EMULATOR)
    np.testing.assert_array_equal(d, exact(a, b))
    assert d[0, 0] % 2**8 != 0  # f32 can't hold this sum


def test_other_types_of_d_round_once():
    a, b = operands()
    for type_ in ("float32", "float16"):
        d = jg.matmul(a, b, alpha=2**-8, out_dtype=type_, device=EMULATOR)
        np.testing.assert_array_equal(d, (exact(a, b) * 2**-8).astype(type_))
    d = jg.matmul(a, b, alpha=2**-11, out_dtype="int8", device=EMULATOR)
    np.testing.assert_array_equal(d, np.clip(np.rint(exact(a, b) * 2**-11), -128, 127).astype("int8"))


def test_zero_points_are_a_text():
    a, b = operands()
    zero = np.arange(M, dtype="float32") - 8
    sums = b.astype("int64").sum(0)
    text = "zero: f32[m]; column_sum: f32[n]; d = (acc - zero[m] * column_sum[n]) * 0.125"
    d = jg.matmul(
        a, b, epilogue=text, zero=zero, column_sum=sums.astype("float32"), out_dtype="float32", device=EMULATOR
    )
    np.testing.assert_array_equal(d, (exact(a, b) - np.outer(zero, sums)) * 0.125)


def test_scales_give_floats():
    a, b = operands()
    row = np.linspace(0.5, 2, M, dtype="float32").reshape(M, 1) / 64
    column = np.linspace(-1, 3, N, dtype="float32").reshape(1, N) / 64
    expected = exact(a, b) * row.astype("float64") * column
    d = jg.scaled_matmul(a, b, row, column, out_dtype="float32", device=EMULATOR)
    np.testing.assert_allclose(d, expected, rtol=1e-6)
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert jg.scaled_matmul(a, b, row, column, device=EMULATOR).dtype == ml_dtypes.bfloat16


def test_tensors_are_multiplied():
    torch = pytest.importorskip("torch")
    a, b = (torch.from_numpy(x.copy(order="K")) for x in operands())
    d = jg.matmul(a, b, device=EMULATOR)
    assert d.dtype == torch.int32
    np.testing.assert_array_equal(d.numpy(), exact(*operands()))
    assert jg.scaled_matmul(a, b, 0.5, 0.25, device=EMULATOR).dtype == torch.bfloat16


def test_what_no_kernel_of_integers_serves_is_refused_with_the_rule():
    a, b = operands()
    with pytest.raises(jg.SpecError, match="131072.*131071"):
        jg.kernel(m=16, n=16, k=131072, a="s8", device=EMULATOR)
    with pytest.raises(jg.SpecError, match="d is s32"):
        jg.matmul(a, b, c=np.ones((M, N), "float32"), device=EMULATOR)
    with pytest.raises(jg.SpecError, match="promoted"):
        jg.matmul(a, b, sums="promoted", device=EMULATOR)
