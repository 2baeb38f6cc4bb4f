"""Scales of blocks of k in groups of rows and in batches."""

import pytest

import jitgemm as jg

np = pytest.importorskip("numpy")
ml_dtypes = pytest.importorskip("ml_dtypes")

EMULATOR = "emulator:sm_90a"
E4M3, E5M2 = "float8_e4m3fn", "float8_e5m2"
N, K = 136, 400


def blocks_of(extent):
    return -(-extent // 128)


def random_matrix(shape, dtype, seed):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32").astype(dtype)


def random_scales(shape, seed):
    return np.random.default_rng(seed).uniform(0.5, 2, shape).astype("float32")


def weights(groups, n=N, k=K, seed=2):
    """(groups, k, n). Each column is contiguous."""
    return random_matrix((groups, n, k), E5M2, seed).transpose(0, 2, 1)


def scaled_product(a, b, scale_a, scale_b):
    """In f64. scale_a has a row for each of a, and scale_b a column for each of b or for 128."""
    total = np.zeros((a.shape[0], b.shape[1]))
    for block in range(blocks_of(a.shape[1])):
        part = slice(block * 128, (block + 1) * 128)
        product = a[:, part].astype("float64") @ b[part].astype("float64")
        columns = scale_b[block]
        columns = columns if len(columns) == b.shape[1] else np.repeat(columns, 128)[: b.shape[1]]
        total += product * np.outer(scale_a[:, block], columns)
    return total


def scaled_groups(a, b, ends, scale_a, scale_b, out):
    result, begin = out.astype("float64"), 0
    for group, end in enumerate(ends):
        rows = slice(begin, end)
        result[rows] = scaled_product(a[rows], b[group], scale_a[rows], scale_b[group])
        begin = end
    return result


def close(got, expected):
    return np.abs(got.astype("float64") - expected).max(initial=0) < 1e-3 * np.abs(expected).max(initial=1)


def ends_of(*sizes):
    return np.cumsum(sizes).astype("int32")


@pytest.mark.parametrize("order", ["rows", "blocks", "wide"])
@pytest.mark.parametrize("mode_b", ["1x128", "128x128"])
@pytest.mark.parametrize("sizes", [(5,), (0, 0), (63, 65, 0, 1), (130, 0, 7), (3,) * 9])
def test_scales_of_every_group_and_row(sizes, mode_b, order):
    groups, rows = len(sizes), sum(sizes) + 5  # some lie behind the last group
    a, b, ends = random_matrix((rows, K), E4M3, 1), weights(groups), ends_of(*sizes)
    scale_a = random_scales((rows, blocks_of(K)), 3)
    scale_b = random_scales((groups, blocks_of(K), N if mode_b == "1x128" else blocks_of(N)), 4)
    a[sum(sizes) :], scale_a[sum(sizes) :] = np.nan, np.nan
    lie_a, lie_b = scale_a, scale_b
    if order == "blocks":
        lie_a, lie_b = np.asfortranarray(scale_a), scale_b.swapaxes(1, 2).copy().swapaxes(1, 2)
    if order == "wide":
        lie_a, lie_b = np.pad(scale_a, ((0, 0), (0, 3)))[:, :-3], np.pad(scale_b, ((0, 0), (0, 1), (0, 2)))[:, :-1, :-2]
    out = np.full((rows, N), 77, "float32")
    got = jg.grouped_matmul(a, b, ends, scale_a=(lie_a, "1x128"), scale_b=(lie_b, mode_b), out=out, device=EMULATOR)
    assert got is out
    assert close(out, scaled_groups(a, b, ends, scale_a, scale_b, np.full((rows, N), 77)))


@pytest.mark.parametrize("order", ["rows", "blocks"])
def test_scales_of_groups_with_room(order):
    counts, room = (3, 0, 20, 7), 20
    a, b = random_matrix((4, room, K), E4M3, 1), weights(4)
    scale_a, scale_b = random_scales((4, room, blocks_of(K)), 3), random_scales((4, blocks_of(K), blocks_of(N)), 4)
    lie = scale_a if order == "rows" else np.ascontiguousarray(scale_a.transpose(2, 0, 1)).transpose(1, 2, 0)
    out = np.full((4, room, N), 9, "float32")
    scales = {"scale_a": (lie, "1x128"), "scale_b": (scale_b, "128x128")}
    jg.grouped_matmul(a, b, np.array(counts, "int32"), out=out, expected_rows=8, device=EMULATOR, **scales)
    for group, count in enumerate(counts):
        product = scaled_product(a[group], b[group], scale_a[group], scale_b[group])
        assert close(out[group, :count], product[:count])
        assert (out[group, count:] == 9).all()


def test_other_scales_of_groups():
    a, b, ends = random_matrix((40, K), E4M3, 1), weights(3), ends_of(10, 0, 25)
    row, column = random_scales((40, 1), 3), random_scales((3, 1, N), 4)
    bias = random_scales((3, N), 5)
    group = np.repeat(np.arange(3), (10, 0, 25))
    plain = np.concatenate(
        [a[:10].astype("float64") @ b[0].astype("float64"), a[10:35].astype("float64") @ b[2].astype("float64")]
    )
    more = {"out_dtype": "float32", "device": EMULATOR}
    d = jg.grouped_matmul(a, b, ends, scale_a=row, scale_b=column, bias=bias, **more)
    assert close(d[:35], plain * row[:35] * column[group, 0] + bias[group])
    d = jg.grouped_matmul(a, b, ends, scale_a=0.5, scale_b=(column[:, 0], "column"), **more)
    assert close(d[:35], plain * 0.5 * column[group, 0])
    shared = random_scales((blocks_of(K), blocks_of(N)), 6)
    d = jg.grouped_matmul(a, b, ends, scale_b=(shared, "128x128"), **more)
    expected = scaled_groups(a, b, ends, np.ones((40, blocks_of(K))), [shared] * 3, np.zeros((40, N)))
    assert close(d[:35], expected[:35])


def test_a_text_reads_scales_of_groups():
    a, b, ends = random_matrix((40, K), E4M3, 1), weights(3), ends_of(10, 0, 25)
    sa, sb = random_scales((blocks_of(K), 40), 3), random_scales((3, blocks_of(N), blocks_of(K)), 4)
    w = random_scales(40, 5)
    text = "w: f32[m]; d = max(acc * sa[k/128,m] * sb[b,n/128,k/128], 0) * w[m]"
    d = jg.grouped_matmul(a, b, ends, epilogue=text, sa=sa, sb=sb, w=w, out_dtype="float32", device=EMULATOR)
    expected = scaled_groups(a, b, ends, sa.T, sb.swapaxes(1, 2), np.zeros((40, N)))
    assert close(d[:35], np.maximum(expected, 0)[:35] * w[:35, None])


def test_a_text_reads_the_scaled_product_of_groups():
    a, b, ends = random_matrix((40, K), E4M3, 1), weights(3, n=512), ends_of(10, 0, 25)
    scale_a, scale_b = random_scales((40, blocks_of(K)), 3), random_scales((3, blocks_of(K), 4), 4)
    bias, w = random_scales((3, 512), 5), random_scales((40,), 6)
    scales = {"scale_a": (scale_a, "1x128"), "scale_b": (scale_b, "128x128"), "out_dtype": "float32"}
    product = scaled_groups(a, b, ends, scale_a, scale_b, np.zeros((40, 512)))[:35]
    of_rows = np.repeat(bias, [10, 0, 25], axis=0)
    text = "t = acc + bias[b,n]; d[m,h] = relu(left(t)) * right(t) * w[m]"
    got = jg.grouped_matmul(a, b, ends, epilogue=text, bias=bias, w=w, device=EMULATOR, **scales)
    t = product + of_rows
    assert close(got[:35], np.maximum(t[:, :256], 0) * t[:, 256:] * w[:35, None])
    got = jg.grouped_matmul(a, b, ends, epilogue="d = acc * w[m]", operands={"w": w}, device=EMULATOR, **scales)
    assert close(got[:35], product * w[:35, None])
    text = "d = acc * rescale_a[m]"  # another word than scale_a
    got = jg.grouped_matmul(a, b, ends, epilogue=text, rescale_a=w, device=EMULATOR, **scales)
    assert close(got[:35], product * w[:35, None])
    with pytest.raises(ValueError, match="scale_b, which is an operand already"):
        jg.grouped_matmul(a, b, ends, epilogue="d = acc", operands={"scale_b": w}, device=EMULATOR, **scales)


def test_wrong_ends_touch_no_other_memory():
    a, b = random_matrix((40, K), E4M3, 1), weights(3)
    scales = {
        "scale_a": (random_scales((40, blocks_of(K)), 3), "1x128"),
        "scale_b": (random_scales((3, blocks_of(K), blocks_of(N)), 4), "128x128"),
    }
    for ends in ([-5, 1000, 3], [2**31 - 1] * 3, [30, 20, 10]):
        jg.grouped_matmul(a, b, np.array(ends, "int32"), out_dtype="float32", device=EMULATOR, **scales)


def test_wrong_scales_of_groups_are_refused():
    a, b, ends = random_matrix((40, K), E4M3, 1), weights(3), ends_of(10, 0, 25)
    good_a, good_b = random_scales((40, blocks_of(K)), 3), random_scales((3, blocks_of(K), blocks_of(N)), 4)
    for scale_a, scale_b, words in (
        ((good_a[:39], "1x128"), 1.0, r"\(40, 4\)"),
        ((good_a[:1], "128x128"), 1.0, "one row"),
        (1.0, (good_b[:2], "128x128"), "3 for the groups"),
        (1.0, (good_b, "1x128"), r"\(4, 136\)"),
        (1.0, (good_b[:, ::-1], "128x128"), "contiguous"),
        ((good_a, "1x64"), 1.0, "1x64"),
    ):
        with pytest.raises((jg.OperandError, jg.SpecError), match=words):
            jg.grouped_matmul(a, b, ends, scale_a=scale_a, scale_b=scale_b, device=EMULATOR)


@pytest.mark.parametrize("shared", ["none", "scales", "b"])
def test_scales_of_batches(shared):
    batch, m = 3, 24
    a, b = random_matrix((batch, m, K), E4M3, 1), weights(1 if shared == "b" else batch)
    b = b[0] if shared == "b" else b
    scale_a, scale_b = random_scales((batch, m, blocks_of(K)), 3), random_scales((batch, blocks_of(K), blocks_of(N)), 4)
    of_b = scale_b[0] if shared != "none" else scale_b
    d = jg.scaled_matmul(a, b, (scale_a, "1x128"), (of_b, "128x128"), out_dtype="float32", device=EMULATOR)
    assert d.shape == (batch, m, N)
    for i in range(batch):
        expected = scaled_product(a[i], b if shared == "b" else b[i], scale_a[i], of_b if shared != "none" else of_b[i])
        assert close(d[i], expected)
    if shared == "none":
        row, column = random_scales((batch, m, 1), 3), random_scales((batch, 1, N), 4)
        d = jg.scaled_matmul(a, b, row, column, out_dtype="float32", device=EMULATOR)
        assert close(d, np.matmul(a.astype("float64"), b.astype("float64")) * row * column)
