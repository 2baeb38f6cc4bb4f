"""8-bit floats of ml_dtypes and PyTorch, and products with scales."""

import jitgemm as jg
import pytest

np = pytest.importorskip("numpy")
ml_dtypes = pytest.importorskip("ml_dtypes")

EMULATOR = "emulator:sm_90a"
E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
M, N, K = 24, 40, 160


def random_matrix(shape, dtype, seed):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def operands(a_type=E4M3, b_type=E4M3):
    return random_matrix((M, K), a_type, 1), random_matrix((N, K), b_type, 2).T


def exact(a, b):
    return a.astype("float64") @ b.astype("float64")


def close(d, expected, unit):
    magnitude = np.abs(expected).max()
    return np.abs(d.astype("float64") - expected).max() <= unit * magnitude


@pytest.mark.parametrize("b_type", [E4M3, E5M2])
@pytest.mark.parametrize("a_type", [E4M3, E5M2])
def test_arrays_of_8_bit_floats_are_multiplied(a_type, b_type):
    a, b = operands(a_type, b_type)
    for sums in (None, "promoted", "fast"):
        d = jg.matmul(a, b, out_dtype="float32", sums=sums, device=EMULATOR)
        assert d.dtype == np.float32
        assert close(d, exact(a, b), 2**-10)
    assert jg.matmul(a, b, device=EMULATOR).dtype == ml_dtypes.bfloat16


def test_promoted_sums_keep_what_fast_sums_lose():
    a, b = np.zeros((1, 256), E4M3), np.zeros((1, 256), E4M3).T
    a[0, 0] = b[0, 0] = 128
    a[0, 200] = b[200, 0] = 1
    product = {"out_dtype": "float32", "device": EMULATOR}
    assert jg.matmul(a, b, **product) == 128 * 128 + 1
    assert jg.matmul(a, b, sums="promoted", **product) == 128 * 128 + 1
    assert jg.matmul(a, b, sums="fast", **product) == 128 * 128
    fast = jg.kernel(m=1, n=1, k=256, a=E4M3, d="f32", sums="fast", device=EMULATOR)
    assert fast(a, b) == 128 * 128


def test_torch_tensors_of_8_bit_floats_are_multiplied():
    torch = pytest.importorskip("torch")
    x, w = torch.randn(M, K), torch.randn(N, K)
    for a_type, b_type in ((torch.float8_e4m3fn, torch.float8_e5m2), (torch.float8_e5m2, torch.float8_e4m3fn)):
        a, b = x.to(a_type), w.to(b_type).t()
        d = jg.matmul(a, b, device=EMULATOR)
        assert d.dtype == torch.bfloat16
        assert torch.allclose(d.double(), a.double() @ b.double(), rtol=0.02, atol=0.1)


def test_sums_are_refused_where_they_mean_nothing():
    half = np.ones((8, 8), "float16")
    for sums, words in (("promoted", "f16"), ("slow", "slow"), (True, "sums")):
        with pytest.raises(jg.SpecError, match=words):
            jg.matmul(half, half, sums=sums, device=EMULATOR)


@pytest.mark.parametrize("b_order", "CF")
@pytest.mark.parametrize("a_order", "CF")
def test_operands_are_multiplied_in_either_order(a_order, b_order):
    a, b = operands(E4M3, E5M2)
    as_they_lie = np.array(a, order=a_order), np.array(b, order=b_order)
    for out_order in "CF":
        out = np.full((M, N), np.nan, "float32", order=out_order)
        assert jg.matmul(*as_they_lie, out=out, device=EMULATOR) is out
        assert close(out, exact(a, b), 2**-10)
    column = as_they_lie[1][:, 3:4]
    assert close(jg.matmul(as_they_lie[0], column, out_dtype="float32", device=EMULATOR), exact(a, column), 2**-10)


def test_results_of_8_bits_have_rows_of_any_length():
    a, b = operands()
    for n in (1, 7, N - 1, N):
        d = jg.matmul(a, b[:, :n], out_dtype=E4M3, device=EMULATOR)
        assert d.dtype == E4M3
        assert close(d, exact(a, b[:, :n]), 2**-4)
    with pytest.raises(jg.ConfigError, match="multiples of 16"):
        jg.kernel(m=M, n=N, k=K, a=E4M3, d=E4M3, family="wgmma_warp_specialized", device=EMULATOR)


def test_rows_at_any_pitch_are_multiplied():
    a, b = operands()
    for k in (71, 72):
        odd_a, odd_b = np.ascontiguousarray(a[:, :k]), np.ascontiguousarray(b.T[:, :k]).T
        d = jg.matmul(odd_a, odd_b, out_dtype="float32", device=EMULATOR)
        assert close(d, exact(odd_a, odd_b), 2**-10)
        assert (jg.matmul(a[:, 1 : k + 1], odd_b, out_dtype="float32", device=EMULATOR) != d).any()


# ---- scales ----------------------------------------------------------------------------------------------------------

ROW = np.linspace(0.5, 2, M, dtype="float32").reshape(M, 1)
COLUMN = np.linspace(-1, 3, N, dtype="float32").reshape(1, N)
SCALES_A = {
    "number": (0.25, 0.25),
    "element": (np.array([0.25], "float32"), 0.25),
    "no dimension": (np.array(0.25, "float32"), 0.25),
    "row": (ROW, ROW),
    "named": ((ROW.reshape(-1), "row"), ROW),
}
SCALES_B = {"number": (3.0, 3.0), "column": (COLUMN, COLUMN), "named": ((COLUMN.reshape(-1), "column"), COLUMN)}


@pytest.mark.parametrize("mode_b", SCALES_B)
@pytest.mark.parametrize("mode_a", SCALES_A)
def test_every_pair_of_scales_multiplies(mode_a, mode_b):
    a, b = operands()
    (scale_a, factor_a), (scale_b, factor_b) = SCALES_A[mode_a], SCALES_B[mode_b]
    bias = np.linspace(-2, 2, N, dtype="float32")
    for shift in (None, bias):
        d = jg.scaled_matmul(a, b, scale_a, scale_b, bias=shift, out_dtype="float32", device=EMULATOR)
        expected = exact(a, b) * factor_a * factor_b + (0 if shift is None else shift)
        assert close(d, expected, 2**-10)


def uniform(shape, seed):
    return np.random.default_rng(seed).uniform(0.25, 2, shape).astype("float32")


def test_a_text_reads_the_scaled_product():
    a, b = operands()
    bias, up = np.linspace(-2, 2, N, dtype="float32"), uniform((M, N), 5)
    product = exact(a, b) * ROW * COLUMN
    more = {"out_dtype": "float32", "device": EMULATOR}
    d = jg.scaled_matmul(a, b, ROW, COLUMN, epilogue="d = relu(acc + bias[n]) * up[m,n]", bias=bias, up=up, **more)
    assert close(d, np.maximum(product + bias, 0) * up, 2**-10)
    text = "scaled: f32; d = scaled * acc; pre[m,n] = acc"  # a name that the scaled product would have
    d, pre = jg.scaled_matmul(a, b, ROW, COLUMN, epilogue=text, scaled=0.5, **more)
    assert close(pre, product, 2**-10) and close(d, product / 2, 2**-10)
    gate = "d[m,h] = left(acc) * right(acc)"
    gated = jg.scaled_matmul(a, b[:, :32], ROW, COLUMN[:, :32], epilogue=gate, **more)
    assert close(gated, product[:, :16] * product[:, 16:32], 2**-9)
    scale_a, scale_b = uniform((M, blocks_of(K)), 6), uniform((blocks_of(K), blocks_of(N)), 7)
    scales = ((scale_a, "1x128"), (scale_b, "128x128"))
    plain = jg.scaled_matmul(a, b, *scales, **more)
    d = jg.scaled_matmul(a, b, *scales, epilogue="d = relu(acc) + up[m,n]", up=up, **more)
    assert close(d, np.maximum(plain, 0) + up, 2**-10)
    wide, of_wide = random_matrix((512, K), E4M3, 8).T, (uniform((blocks_of(K), 4), 9), "128x128")
    both = jg.scaled_matmul(a, wide, scales[0], of_wide, **more)
    gated = jg.scaled_matmul(a, wide, scales[0], of_wide, epilogue="d[m,h] = relu(left(acc)) * right(acc)", **more)
    assert close(gated, np.maximum(both[:, :256], 0) * both[:, 256:], 2**-9)
    with pytest.raises(ValueError, match="reads no|no operand|unknown"):
        jg.scaled_matmul(a, b, ROW, COLUMN, epilogue="d = acc", up=up, **more)
    d = jg.scaled_matmul(a, b, ROW, COLUMN, epilogue="d = acc + c[m,n]", operands={"c": up}, **more)
    assert close(d, product + up, 2**-10)
    with pytest.raises(ValueError, match="scale_a, which is an operand already"):
        jg.scaled_matmul(a, b, ROW, COLUMN, epilogue="d = acc", operands={"scale_a": up}, **more)
    with pytest.raises(TypeError, match="epilogue is a int"):
        jg.scaled_matmul(a, b, ROW, COLUMN, epilogue=1, **more)


def test_one_row_of_each_product_has_a_scale():
    a, b = random_matrix((3, 1, K), E4M3, 3), random_matrix((3, K, N), E4M3, 4)
    scale = uniform((3, 1, 1), 5)
    b_by_column = np.ascontiguousarray(b.swapaxes(1, 2)).swapaxes(1, 2)
    d = jg.scaled_matmul(a, b_by_column, scale, 1.0, out_dtype="float32", device=EMULATOR)
    expected = np.stack([exact(a[i], b[i]) * scale[i] for i in range(3)])
    assert close(d, expected, 2**-10)


def test_one_row_has_one_scale():
    a, b = random_matrix((1, K), E4M3, 3), operands()[1]
    d = jg.scaled_matmul(a, b, np.full((1, 1), 2, "float32"), COLUMN, out_dtype="float32", device=EMULATOR)
    assert close(d, exact(a, b) * 2 * COLUMN, 2**-10)


def test_scales_are_what_torch_makes_of_them():
    torch = pytest.importorskip("torch")
    a, b = torch.randn(M, K).to(torch.float8_e4m3fn), torch.randn(N, K).to(torch.float8_e4m3fn).t()
    row, column = torch.from_numpy(ROW), torch.from_numpy(COLUMN)
    out = torch.empty(M, N, dtype=torch.float32)
    assert jg.scaled_matmul(a, b, row, column, out=out, device=EMULATOR) is out
    assert torch.allclose(out.double(), a.double() * row @ (b.double() * column), rtol=1e-2, atol=0.1)


@pytest.mark.parametrize(
    ("scale_a", "words"),
    [
        (ROW.reshape(-1), r"scale_a has shape \(24,\).*\(24, 1\)"),
        (COLUMN, r"scale_a has shape \(1, 40\)"),
        ((ROW.reshape(-1), "column"), "scale_a is 'column'"),
        ((ROW, "row"), r"scale_a has shape \(24, 1\).*24 elements"),
        (ROW.astype("float64"), "scale_a"),
    ],
)
def test_scales_of_another_shape_are_refused(scale_a, words):
    a, b = operands()
    with pytest.raises(jg.Error, match=words):
        jg.scaled_matmul(a, b, scale_a, 1.0, device=EMULATOR)


# ---- scales of blocks of k ----


def blocks_of(extent):
    return -(-extent // 128)


def each(scales, extent):
    """A scale for each element along the first dimension, from one for 128 or one for each."""
    return scales if scales.shape[0] == extent else np.repeat(scales, 128, 0)[:extent]


def scaled_product(a, b, scale_a, scale_b):
    """In f64. scale_a has (m or its blocks, blocks of k), scale_b (n or its blocks, blocks of k)."""
    total = 0
    for block in range(blocks_of(a.shape[1])):
        part = slice(block * 128, (block + 1) * 128)
        product = a[:, part].astype("float64") @ b[part].astype("float64")
        total = total + product * np.outer(each(scale_a, a.shape[0])[:, block], each(scale_b, b.shape[1])[:, block])
    return total


@pytest.mark.parametrize("order", ["C", "F", "wide"])
@pytest.mark.parametrize("mode_b", ["1x128", "128x128"])
@pytest.mark.parametrize("mode_a", ["1x128", "128x128"])
def test_scales_of_blocks_multiply_in_every_order(mode_a, mode_b, order):
    random = np.random.default_rng(5)
    for m, n, k in ((40, 272, 1000), (1, 16, 512), (300, 136, 130)):
        a, b = random_matrix((m, k), E4M3, 3), random_matrix((n, k), E5M2, 4).T
        rows = [m if mode_a == "1x128" else blocks_of(m), n if mode_b == "1x128" else blocks_of(n)]
        scale_a, scale_b = (random.uniform(-2, 2, (count, blocks_of(k))).astype("float32") for count in rows)
        expected = scaled_product(a, b, scale_a, scale_b)
        if order == "wide":
            lies = [np.pad(scale, ((0, 0), (0, 3)))[:, :-3] for scale in (scale_a, scale_b)]
        else:
            lies = [np.array(scale, order=order) for scale in (scale_a, scale_b)]
        d = jg.scaled_matmul(
            a, b, (lies[0], mode_a), (lies[1].T, mode_b), out_dtype="float32", device=EMULATOR
        )
        assert close(d, expected, 2**-10)


def test_scales_of_blocks_stand_beside_others():
    a, b = operands()
    blocks = np.linspace(0.5, 2, N * blocks_of(K), dtype="float32").reshape(N, -1)
    d = jg.scaled_matmul(a, b, ROW, (blocks.T, "1x128"), out_dtype="float32", device=EMULATOR)
    assert close(d, ROW * scaled_product(a, b, np.ones((M, blocks_of(K))), blocks), 2**-10)


def test_torch_scales_of_blocks_multiply():
    torch = pytest.importorskip("torch")
    a, b = torch.randn(M, K).to(torch.float8_e4m3fn), torch.randn(N, K).to(torch.float8_e4m3fn).t()
    scale_a, scale_b = torch.rand(blocks_of(K), M).t(), torch.rand(1, blocks_of(K))
    d = jg.scaled_matmul(a, b, (scale_a, "1x128"), (scale_b.t(), "128x128"), out_dtype=torch.float32, device=EMULATOR)
    expected = scaled_product(a.float().numpy(), b.float().numpy(), scale_a.numpy(), scale_b.numpy())
    assert close(d.numpy(), expected, 2**-10)


def test_wrong_scales_of_blocks_are_refused():
    a, b = operands()
    good = np.ones((M, blocks_of(K)), "float32")
    for scale, words in (
        ((good[:, :1], "1x128"), r"\(24, 2\)"),
        ((good.astype("float16"), "1x128"), "f16"),
        ((good, "1x64"), "1x64"),
        ((good[0], "1x128"), "two dimensions"),
        ((good, "128x128"), r"\(1, 2\)"),
    ):
        with pytest.raises((jg.OperandError, jg.SpecError), match=words):
            jg.scaled_matmul(a, b, scale, 1.0, device=EMULATOR)
    with pytest.raises(jg.ConfigError, match="promoted"):
        jg.scaled_matmul(a, b, (good, "1x128"), 1.0, sums="fast", device=EMULATOR)
