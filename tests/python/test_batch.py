"""Batches: numpy's rules for arrays of three and more dimensions, strides, texts."""

import itertools

import pytest

import jitgemm as jg

np = pytest.importorskip("numpy")

EMULATOR = "emulator:sm_80"


def small_integers(shape, seed=0, dtype="float32"):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


def matmul(a, b, **more):
    return jg.matmul(a, b, device=EMULATOR, **more)


@pytest.mark.parametrize(
    "shape_a, shape_b",
    [
        ((3, 6, 8), (3, 8, 5)),
        ((3, 6, 8), (1, 8, 5)),
        ((6, 8), (3, 8, 5)),
        ((2, 3, 6, 8), (2, 3, 8, 5)),
        ((2, 1, 6, 8), (3, 8, 5)),
        ((2, 3, 6, 8), (3, 8, 5)),
        ((3, 8), (4, 8, 5)),
        ((2, 3, 6, 8), (2, 1, 8, 5)),
        ((3, 6, 8), (8,)),
        ((8,), (3, 8, 5)),
        ((0, 6, 8), (0, 8, 5)),
        ((3, 6, 0), (3, 0, 5)),
        ((3, 0, 8), (3, 8, 5)),
    ],
)
def test_batches_are_broadcast_as_by_numpy(shape_a, shape_b):
    a, b = small_integers(shape_a), small_integers(shape_b, seed=1)
    result = matmul(a, b)
    expected = np.matmul(a.astype("float64"), b.astype("float64"))
    assert result.shape == expected.shape
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("orders", list(itertools.product((False, True), repeat=3)))
def test_matrices_may_lie_by_rows_or_by_columns(orders):
    a, b, out = small_integers((3, 6, 8)), small_integers((3, 8, 5), seed=1), np.full((3, 6, 5), np.nan, "float32")

    def turned(x, by_column):
        return np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2) if by_column else x

    a, b, out = (turned(x, order) for x, order in zip((a, b, out), orders))
    assert matmul(a, b, out=out) is out
    np.testing.assert_array_equal(out, np.matmul(a, b))


def test_heads_lie_side_by_side_as_in_attention():
    """(batch, sequence, heads, size) in memory, multiplied as (batch, heads, sequence, size)."""
    q, k = small_integers((2, 7, 3, 8)), small_integers((2, 9, 3, 8), seed=1)
    heads_q, heads_k = q.swapaxes(1, 2), k.swapaxes(1, 2)
    scores = matmul(heads_q, heads_k.swapaxes(2, 3))
    np.testing.assert_array_equal(scores, np.einsum("bqhd,bkhd->bhqk", q, k))
    v, out = small_integers((2, 9, 3, 8), seed=2), np.full((2, 7, 3, 8), np.nan, "float32")
    matmul(scores, v.swapaxes(1, 2), out=out.swapaxes(1, 2))
    np.testing.assert_array_equal(out, np.einsum("bhqk,bkhd->bqhd", scores, v))


def test_c_is_added_as_numpy_repeats_it():
    a, b = small_integers((2, 3, 6, 8)), small_integers((2, 3, 8, 5), seed=1)
    for shape in [(2, 3, 6, 5), (3, 6, 5), (6, 5), (5,), (1,), (2, 1, 6, 5), (2, 3, 1, 5), (6, 1), (2, 3, 6, 1)]:
        c = small_integers(shape, seed=2)
        np.testing.assert_array_equal(matmul(a, b, c=c, beta=2), np.matmul(a, b) + 2 * c)


def test_a_result_of_the_batch_is_added_to():
    a, b, out = small_integers((3, 6, 8)), small_integers((3, 8, 5), seed=1), small_integers((3, 6, 5), seed=2)
    expected = np.matmul(a, b) + out
    matmul(a, b, out=out, accumulate=True)
    np.testing.assert_array_equal(out, expected)


def test_gaps_between_matrices_stay_as_they_are():
    a, b = small_integers((3, 6, 8)), small_integers((3, 8, 5), seed=1)
    room = np.full((3, 8, 9), 7, "float32")
    matmul(a, b, out=room[:, 1:7, 2:7])
    expected = np.full_like(room, 7)
    expected[:, 1:7, 2:7] = np.matmul(a, b)
    np.testing.assert_array_equal(room, expected)


def test_results_that_overlap_are_refused():
    a, b = small_integers((3, 6, 8)), small_integers((3, 8, 5), seed=1)
    room = np.zeros(6 * 5 + 2, "float32")
    overlapping = np.lib.stride_tricks.as_strided(room, (3, 6, 5), (4, 20, 4))
    with pytest.raises(ValueError, match="overlap"):
        matmul(a, b, out=overlapping)


def test_a_text_reads_values_of_each_product_and_of_all():
    a, b = small_integers((3, 6, 8)), small_integers((3, 8, 5), seed=1)
    bias, each = small_integers((5,), seed=2), small_integers((3, 5), seed=3)
    x, row = small_integers((3, 6, 5), seed=4), small_integers((3, 6), seed=5)
    product = np.matmul(a, b)
    result = matmul(a, b, epilogue="d = acc + bias[n]", bias=bias)
    np.testing.assert_array_equal(result, product + bias)
    result = matmul(a, b, epilogue="d = acc + each[b,n]", each=each)
    np.testing.assert_array_equal(result, product + each[:, None, :])
    result = matmul(a, b, epilogue="d = acc * row[b,m] + x[b,m,n]", row=row, x=x)
    np.testing.assert_array_equal(result, product * row[:, :, None] + x)
    d, pre = matmul(a, b, epilogue="t = acc + bias[n]; d = relu(t); pre[b,m,n] = t", bias=bias)
    np.testing.assert_array_equal(pre, product + bias)
    np.testing.assert_array_equal(d, np.maximum(product + bias, 0))


def test_what_a_text_of_a_batch_can_not_have_is_named():
    a, b = small_integers((3, 6, 8)), small_integers((3, 8, 5), seed=1)
    with pytest.raises(ValueError, match=r"pre\[b,m,n\]"):
        matmul(a, b, epilogue="d = acc; pre[m,n] = acc")
    with pytest.raises(ValueError, match="reductions"):
        matmul(a, b, epilogue="d = acc; all[b,n] = sum(acc)")
    with pytest.raises(ValueError, match=r"each.*\(3,\)"):
        matmul(a, b, epilogue="d = acc + each[b,n]", each=small_integers((4, 5)))


def test_a_kernel_of_a_batch_takes_its_arrays_alone():
    a, b = small_integers((3, 6, 8)), small_integers((3, 8, 5), seed=1)
    spec = "gemm-v6 m=6 n=5 k=8 a=f32 layout=tt batch=3"
    kernel = jg.Kernel(spec, device=EMULATOR)
    np.testing.assert_array_equal(kernel(a, b), np.matmul(a, b))
    with pytest.raises(ValueError, match="batch is 2 here and 3 in the kernel"):
        kernel(a[:2], b[:2])
    with pytest.raises(ValueError, match="b's batch stride"):
        kernel(a, np.broadcast_to(b[:1], b.shape))


def test_values_of_a_text_are_read_at_their_own_stride():
    a, b = small_integers((3, 6, 8)), small_integers((3, 8, 5), seed=1)
    room = small_integers((3, 4, 5), seed=2)
    for bias in (room[:, 0], room.reshape(12, 5)[:3], np.broadcast_to(room[0, 0], (3, 5)), room[:, 1]):
        result = matmul(a, b, epilogue="d = acc + bias[b,n]", bias=bias)
        np.testing.assert_array_equal(result, np.matmul(a, b) + bias[:, None])
    room = small_integers((3, 6 * 5 + 1), seed=3)
    x = room[:, 1:].reshape(3, 6, 5)
    assert x.base is not None
    np.testing.assert_array_equal(matmul(a, b, epilogue="d = acc + x[b,m,n]", x=x), np.matmul(a, b) + x)
    with pytest.raises(ValueError, match="one stride"):
        matmul(a, b, epilogue="d = acc + bias[b,n]", bias=room[::-1, :5])


@pytest.mark.parametrize("stride", [-1, -2, -8, -48])
def test_reversed_batches_are_multiplied(stride):
    """A stride of -1 is none that a kernel knows."""
    room, b = small_integers((300,)), small_integers((4, 8, 5), seed=1)
    a = np.lib.stride_tricks.as_strided(room[200:], (4, 6, 8), (4 * stride, 32, 4))
    np.testing.assert_array_equal(matmul(a, b), np.matmul(a, b))
    c = np.lib.stride_tricks.as_strided(room[200:], (4, 6, 5), (4 * stride, 20, 4))
    np.testing.assert_array_equal(matmul(a, b, c=c), np.matmul(a, b) + c)
    out = np.full((4, 6, 5), np.nan, "float32")
    matmul(a, b, out=out[::-1])
    np.testing.assert_array_equal(out[::-1], np.matmul(a, b))


def test_a_batch_of_one_or_none_takes_the_values_of_any_other():
    for size in (0, 1, 2):
        a, b = small_integers((size, 6, 8)), small_integers((size, 8, 5), seed=1)
        bias, x = small_integers((size, 5), seed=2), small_integers((6, 5), seed=3)
        text = "t = acc + bias[b,n]; d = t + x[m,n]; pre[b,m,n] = t"
        pre = np.full((size, 6, 5), np.nan, "float32")
        d, _ = matmul(a, b, epilogue=text, bias=bias, x=x, pre=pre)
        np.testing.assert_array_equal(pre, np.matmul(a, b) + bias[:, None])
        np.testing.assert_array_equal(d, np.matmul(a, b) + bias[:, None] + x)


def heads(shape, seed=0):
    return small_integers(shape, seed).swapaxes(1, 2)


def test_outputs_beside_d_need_a_batch_of_one_launch():
    a, b = small_integers((4, 3, 2, 7, 8)).transpose(2, 1, 0, 3, 4), small_integers((2, 3, 4, 8, 5), seed=1)
    np.testing.assert_array_equal(matmul(a, b), np.matmul(a, b))
    with pytest.raises(ValueError, match=r"pre\[b,m,n\].*several launches"):
        matmul(a, b, epilogue="d = acc; pre[b,m,n] = acc")
    with pytest.raises(ValueError, match=r"pre\[m,n\].*several launches"):
        matmul(a[0, :, ::-1], b[0, :, ::-1], epilogue="d = acc; pre[m,n] = acc")


def test_a_batch_of_two_dimensions_is_one_launch():
    a, b = heads((2, 7, 3, 8)), heads((2, 8, 3, 5), seed=1)
    kernel = jg.kernel(
        "gemm-v9 m=7 n=5 k=8 a=f32 layout=tt batch=6 batch-inner=3 lda=24 ldb=15 batch-stride-a=8 batch-stride-b=5",
        device=EMULATOR,
    )
    np.testing.assert_array_equal(kernel(a, b), np.matmul(a, b))
    with pytest.raises(ValueError, match="b's outer stride is 0 here and 120 in the kernel"):
        kernel(a, np.broadcast_to(b[:1], b.shape))
    with pytest.raises(ValueError, match="a's outer stride"):
        kernel(heads((4, 7, 3, 8))[::2], b)


@pytest.mark.parametrize("keys", ["batch=12 batch-inner=4 outer-stride-a=0", "batch=12 batch-stride-a=0"])
def test_a_kernel_s_result_has_the_dimensions_of_both_arrays(keys):
    kernel = jg.kernel(f"f32 tt 6 5 8 {keys}", device=EMULATOR)
    leading = (3, 4) if "inner" in keys else (12,)
    a, b = small_integers((*leading[1:], 6, 8)), small_integers((*leading, 8, 5), seed=1)
    result = kernel(a, b)
    assert result.shape == (*leading, 6, 5)
    np.testing.assert_array_equal(result, np.matmul(a, b))


def test_products_without_elements_may_lie_in_any_way():
    a, b = np.zeros((2, 0, 17), "float32"), np.zeros((2, 17, 5), "float32")[::-1]
    assert matmul(a, b).shape == (2, 0, 5)


def test_texts_read_values_of_each_product_along_two_dimensions():
    a, b = heads((2, 7, 3, 8)), heads((2, 8, 3, 5), seed=1)
    product = np.matmul(a, b)
    bias, up = small_integers((2, 3, 5), seed=2), heads((2, 7, 3, 5), seed=3)
    text = "d = acc + bias[b,n] + up[b,m,n]; pre[b,m,n] = acc"
    for one in (bias, np.broadcast_to(bias[:, :1], bias.shape), np.broadcast_to(bias[:1], bias.shape)):
        d, pre = matmul(a, b, epilogue=text, bias=one, up=up)
        np.testing.assert_array_equal(pre, product)
        np.testing.assert_array_equal(d, product + one[:, :, None, :] + up)


@pytest.mark.parametrize("seed", range(12))
def test_random_views_of_four_and_five_dimensions(seed):
    random = np.random.default_rng(seed)
    leading = tuple(random.integers(1, 4, random.integers(2, 4)))
    rank = len(leading) + 2

    def view(rows, columns, of):
        shape = tuple(size if random.random() < 0.8 else 1 for size in leading) + (rows, columns)
        order = random.permutation(rank)
        held = small_integers(tuple(shape[i] for i in order), seed=of)
        return held.transpose(np.argsort(order)) if random.random() < 0.7 else small_integers(shape, seed=of)

    a, b = view(5, 6, 1), view(6, 4, 2)
    expected = np.matmul(a, b)
    try:
        result = matmul(a, b)
    except ValueError as error:  # neither rows nor columns are contiguous
        assert "contiguous" in str(error)
        result = matmul(np.ascontiguousarray(a), np.ascontiguousarray(b))
    np.testing.assert_array_equal(result, expected)


def test_launches_of_one_batch_do_not_read_what_others_have_stored():
    room, b = small_integers((3, 7, 3, 8)), small_integers((2, 3, 8, 8), seed=1)
    a = room[:2].swapaxes(1, 2)
    for out in (a[::-1], room[1:].swapaxes(1, 2)):
        with pytest.raises(ValueError, match="overlap"):
            matmul(a, b, out=out)
    for strides in [(0, 56, 8, 1), (60, 56, 8, 1)]:
        strides = [4 * stride for stride in strides]
        with pytest.raises(ValueError, match="overlap"):
            matmul(a, b, out=np.lib.stride_tricks.as_strided(np.zeros(500, "float32"), (2, 3, 7, 8), strides))


def test_launches_begin_where_single_rows_are_aligned():
    """The rows of a new result are 9 elements apart."""
    a, b = heads((4, 1, 3, 8)), heads((4, 8, 3, 9), seed=1)
    np.testing.assert_array_equal(matmul(a, b), np.matmul(a, b))
    np.testing.assert_array_equal(matmul(a[::-1], b), np.matmul(a[::-1], b))


def test_rows_that_are_repeated_or_reversed_are_a_batch():
    a, b = small_integers((3, 1, 8)), small_integers((8, 5), seed=1)
    for rows in (a[::-1], np.broadcast_to(a[:1], a.shape)):
        np.testing.assert_array_equal(matmul(rows, b), rows @ b)
    out = np.full((3, 1, 5), np.nan, "float32")
    matmul(a, b, out=out[::-1])
    np.testing.assert_array_equal(out[::-1], a @ b)


def test_outputs_beside_one_column_are_made():
    for shape in [(6, 8), (3, 6, 8)]:
        a, b = small_integers(shape), small_integers((*shape[:-2], 8, 1), seed=1)
        d, pre = matmul(a, b, epilogue="d = acc; pre[b,m,n] = 2 * acc")
        np.testing.assert_array_equal(d, a @ b)
        np.testing.assert_array_equal(pre, 2 * (a @ b))
