"""jitgemm.matmul on numpy's arrays, run by the emulator, against numpy in float64."""

from __future__ import annotations

import jitgemm as jg
import pytest

np = pytest.importorskip("numpy")

from conftest import small_integers

EMULATOR = "emulator:sm_80"


def matmul(a, b, **more):
    return jg.matmul(a, b, device=EMULATOR, **more)


def exact(a, b):
    return a.astype("float64") @ b.astype("float64")


def dtype_of(word):
    if word != "bfloat16":
        return np.dtype(word)
    return np.dtype(pytest.importorskip("ml_dtypes").bfloat16)


def by_column(x):
    """The same matrix, column by column in memory."""
    return np.asfortranarray(x)


@pytest.mark.parametrize("word", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("layout_a", [np.ascontiguousarray, by_column])
@pytest.mark.parametrize("layout_b", [np.ascontiguousarray, by_column])
def test_every_type_and_layout(word, layout_a, layout_b):
    dtype = dtype_of(word)
    a = layout_a(small_integers((37, 24), dtype))
    b = layout_b(small_integers((24, 19), dtype, seed=1))
    d = matmul(a, b)
    assert d.dtype == dtype and d.flags.c_contiguous
    np.testing.assert_array_equal(d.astype("float64"), exact(a, b))


@pytest.mark.parametrize("layout", [np.ascontiguousarray, by_column])
@pytest.mark.parametrize("word", ["float32", "float16"])
def test_out_of_another_type_and_layout(word, layout):
    a, b = small_integers((20, 16), "float16"), small_integers((16, 33), "float16", seed=1)
    out = layout(np.full((20, 33), np.nan, word))
    assert matmul(a, b, out=out) is out
    np.testing.assert_array_equal(out.astype("float64"), exact(a, b))


def test_random_numbers_within_the_bound():
    rng = np.random.default_rng(7)
    a, b = rng.standard_normal((65, 130), "float32"), rng.standard_normal((130, 70), "float32")
    bound = 130 * np.finfo("float32").eps * (np.abs(a) @ np.abs(b))
    assert (np.abs(matmul(a, b) - exact(a, b)) <= bound).all()


VIEWS = {
    "rows": lambda x: x[3:20],
    "every second row": lambda x: x[::2],
    "columns, not aligned": lambda x: x[:, 1:18],
    "transposed": lambda x: x.T,
    "transposed columns": lambda x: x[:, 5:].T,
    "one row": lambda x: x[4:5],
    "one column": lambda x: x[:, 4:5],
    "a row of one dimension": lambda x: x[4],
    "a column of one dimension": lambda x: x[:, 4],
    "every second element of one dimension": lambda x: x[4, ::2],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("word", ["float32", "float16"])
def test_views_are_served_as_they_lie(view, word):
    a = view(small_integers((40, 36), word))
    b = small_integers((a.shape[-1], 40), word, seed=1)
    np.testing.assert_array_equal(matmul(a, b).astype("float64"), exact(a, b))
    left = small_integers((21, a.shape[0]), word, seed=2)
    np.testing.assert_array_equal(matmul(left, a).astype("float64"), exact(left, a))


def test_out_is_a_view_and_nothing_beside_it_is_written():
    a, b = small_integers((10, 8)), small_integers((8, 12), seed=1)
    whole = np.full((14, 20), 99, "float32")
    matmul(a, b, out=whole[2:12, 3:15])
    np.testing.assert_array_equal(whole[2:12, 3:15], exact(a, b))
    whole[2:12, 3:15] = 99
    assert (whole == 99).all()


def test_one_dimension_is_a_row_or_a_column():
    a, b = small_integers((9, 7)), small_integers((7, 5), seed=1)
    for x, y in ((a[0], b), (a, b[:, 0]), (a[0], b[:, 0])):
        d = matmul(x, y)
        assert d.shape == (x @ y).shape
        np.testing.assert_array_equal(d, exact(x, y))


def test_leading_dimensions_are_rows_of_one_product():
    a, b = small_integers((2, 3, 5, 8)), small_integers((8, 6), seed=1)
    d = matmul(a, b)
    assert d.shape == (2, 3, 5, 6)
    np.testing.assert_array_equal(d, exact(a, b))
    c = small_integers((2, 3, 5, 6), seed=2)
    np.testing.assert_array_equal(matmul(a, b, c=c, beta=2), exact(a, b) + 2 * c)


def test_factors_and_c():
    a, b, c = small_integers((17, 12)), small_integers((12, 9), seed=1), small_integers((17, 9), seed=2)
    product = exact(a, b)
    np.testing.assert_array_equal(matmul(a, b, alpha=-2), -2 * product)
    np.testing.assert_array_equal(matmul(a, b, c=c), product + c)
    np.testing.assert_array_equal(matmul(a, b, c=c, alpha=0.5, beta=4), 0.5 * product + 4 * c)
    np.testing.assert_array_equal(matmul(a, b, c=c, beta=0), product)
    np.testing.assert_array_equal(matmul(a, b, c=c, alpha=0), c)


@pytest.mark.parametrize("word", ["float32", "float16"])
@pytest.mark.parametrize("m, n", [(37, 19), (8, 24), (1, 5), (5, 1), (1, 1), (0, 4), (4, 0)])
def test_a_row_that_is_repeated(word, m, n):
    a, b = small_integers((m, 24), word), small_integers((24, n), word, seed=1)
    row = small_integers((n,), "float32", seed=2)
    expected = exact(a, b) - 2 * row
    np.testing.assert_array_equal(matmul(a, b, c=np.broadcast_to(row, (m, n)), beta=-2), expected)
    rows = np.zeros((m, n + 3), word)[:, 2 : n + 2]  # of a pitch, and hardly aligned
    matmul(a, b, c=np.broadcast_to(row, (m, n)), beta=-2, out=rows)
    np.testing.assert_array_equal(rows, expected)
    column = small_integers((m, 1), word, seed=3)
    by_columns = np.zeros((m, n), word, order="F")
    matmul(a, b, c=np.broadcast_to(column, (m, n)), out=by_columns)
    np.testing.assert_array_equal(by_columns, exact(a, b) + column)


def test_a_row_that_is_repeated_is_all_that_is_read():
    a, b, row = small_integers((33, 8)), small_integers((8, 7), seed=1), small_integers((9,), seed=2)
    row[[0, -1]] = np.nan
    np.testing.assert_array_equal(matmul(a, b, c=np.broadcast_to(row[1:-1], (33, 7))), exact(a, b) + row[1:-1])


def test_a_row_that_is_repeated_beside_leading_dimensions():
    x, w, row = small_integers((2, 3, 8)), small_integers((8, 7), seed=1), small_integers((7,), seed=2)
    np.testing.assert_array_equal(matmul(x, w, c=np.broadcast_to(row, (2, 3, 7))), exact(x, w) + row)
    np.testing.assert_array_equal(matmul(x[:1], w, c=np.broadcast_to(row, (1, 3, 7))), exact(x[:1], w) + row)
    np.testing.assert_array_equal(matmul(x[0, 0], w, c=row), exact(x[0, 0], w) + row)


@pytest.mark.parametrize("shape", [(7,), (1, 7), (1, 1, 7)])
def test_c_is_repeated_as_numpy_would(shape):
    x, w, c = small_integers((2, 3, 8)), small_integers((8, 7), seed=1), small_integers(shape, seed=2)
    np.testing.assert_array_equal(matmul(x, w, c=c, beta=2), exact(x, w) + 2 * c)


def test_c_that_numpy_would_not_repeat_is_refused():
    x, w = small_integers((3, 8)), small_integers((8, 7), seed=1)
    for shape in ((6,), (2, 7), (3,), (1, 3, 7), (3, 2)):
        with pytest.raises(jg.OperandError, match=r"c has shape .*; the product has \(3, 7\)"):
            matmul(x, w, c=small_integers(shape))


REPETITIONS = {
    "one element": lambda m, n: small_integers((1, 1)) + 2,
    "one element of one dimension": lambda m, n: small_integers((1,)) + 2,
    "one element of no dimension": lambda m, n: np.array(3, "float32"),
    "a scalar of numpy": lambda m, n: np.float32(-2),
    "one element at strides of 0": lambda m, n: np.broadcast_to(np.float32(2), (m, n)),
    "a column": lambda m, n: small_integers((m, 1), seed=2),
    "a column at a stride of 0": lambda m, n: np.broadcast_to(small_integers((m, 1), seed=2), (m, n)),
    "a column with a step": lambda m, n: small_integers((3 * m, 1), seed=2)[::3],
    "a row": lambda m, n: small_integers((n,), seed=2),
    "a row with a step": lambda m, n: small_integers((2 * n,), seed=2)[::2],
    "a row with a step, expanded": lambda m, n: np.broadcast_to(small_integers((2 * n,), seed=2)[::2], (m, n)),
    "a row backwards": lambda m, n: small_integers((n,), seed=2)[::-1],
    "by column": lambda m, n: by_column(small_integers((m, n), seed=2)),
    "rows backwards": lambda m, n: small_integers((m, n), seed=2)[::-1],
    "elements with a step": lambda m, n: small_integers((m, 2 * n), seed=2)[:, ::2],
    "at an odd address": lambda m, n: np.zeros(1 + 4 * m * n, "u1")[1:].view("float32").reshape(m, n),
    "read-only": lambda m, n: np.broadcast_to(small_integers((m, n), seed=2), (m, n)),
}


@pytest.mark.parametrize("repetition", REPETITIONS.values(), ids=REPETITIONS)
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("m, n", [(6, 4), (1, 5), (5, 1), (1, 1), (0, 3), (3, 0)])
def test_every_c_that_numpy_would_repeat_is_served(repetition, order, m, n):
    a, b, c = small_integers((m, 8)), small_integers((8, n), seed=1), repetition(m, n)
    before = np.array(c)
    expected = exact(a, b) + 2 * np.broadcast_to(c, (m, n)).astype("float64")
    packed, larger = (np.zeros(shape, "float32", order=order) for shape in ((m, n), (m + 1, n + 3)))
    for out in (None, packed, larger[1:, 2:-1]):
        for _ in range(2):
            np.testing.assert_array_equal(matmul(a, b, c=c, beta=2, out=out), expected)
        np.testing.assert_array_equal(matmul(a, b, c=c, beta=0, out=out), exact(a, b))
    np.testing.assert_array_equal(c, before)


SHAPES_BESIDE = [(2, 1, 1), (2, 3, 1), (2, 1, 7), (1, 3, 1), (3, 1), (1, 1, 1), (), (3, 7), (2, 3, 7)]


@pytest.mark.parametrize("shape", SHAPES_BESIDE)
@pytest.mark.parametrize("step", [1, 2])
def test_every_c_beside_leading_dimensions(shape, step):
    x, w = small_integers((2, 3, 8)), small_integers((8, 7), seed=1)
    c = np.asarray(small_integers((*shape, step), seed=2)[..., 0])
    for out in (None, np.zeros((7, 2, 3), "float32").transpose(1, 2, 0)):
        np.testing.assert_array_equal(matmul(x, w, c=c, out=out), exact(x, w) + c)
    np.testing.assert_array_equal(matmul(x[0], w[:, 0], c=x[0, :, 0]), exact(x[0], w[:, 0]) + x[0, :, 0])


def test_c_is_not_read_where_beta_is_0():
    a, b = small_integers((6, 5)), small_integers((5, 4), seed=1)
    for c in (np.full((6, 1), np.nan, "float32"), by_column(np.full((6, 4), np.nan, "float32"))):
        np.testing.assert_array_equal(matmul(a, b, c=c, beta=0), exact(a, b))
    for c, error in ((np.ones((6, 1), "int8"), jg.Error), (np.ones((5, 1), "float32"), jg.OperandError)):
        with pytest.raises(error):
            matmul(a, b, c=c, beta=0)


def test_a_c_that_is_a_view_of_out_is_copied_or_refused():
    a, b = small_integers((6, 5)), small_integers((5, 4), seed=1)
    out = small_integers((6, 4), seed=2)
    with pytest.raises(jg.SpecError, match="overlaps C .*one row"):
        matmul(a, b, c=np.broadcast_to(out[2], (6, 4)), out=out)
    before = out.copy()
    matmul(a, b, c=out[:, 1:2], out=out)
    np.testing.assert_array_equal(out, exact(a, b) + before[:, 1:2])


@pytest.mark.parametrize("word", ["float32", "float16", "bfloat16"])
def test_every_c_of_pytorch(word):
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, word)
    a, b = (torch.from_numpy(small_integers(shape)).to(dtype) for shape in ((6, 8), (8, 4)))
    whole = torch.from_numpy(small_integers((12, 8), seed=2)).to(dtype)
    for c in (whole[0, 0], whole[:1, :1], whole[:6, :1], whole[0, ::2], whole[::2, ::2], whole.T[:6, :4]):
        for out in (None, torch.zeros(4, 6, dtype=dtype).T):
            d = matmul(a, b, c=c, out=out)
            expected = (a.double() @ b.double() + c.double()).to(dtype)
            torch.testing.assert_close(d, expected.expand(6, 4), rtol=0, atol=0)


def test_accumulate_adds_to_out_and_so_does_a_c_that_is_out():
    a, b = small_integers((17, 12)), small_integers((12, 9), seed=1)
    out = small_integers((17, 9), seed=2)
    before = out.astype("float64")
    matmul(a, b, out=out, accumulate=True)
    np.testing.assert_array_equal(out, before + exact(a, b))
    matmul(a, b, out=out, c=out, beta=-1)
    np.testing.assert_array_equal(out, -before)


def test_dependent_launch_is_an_option_of_a_launch():
    a, b = small_integers((17, 12)), small_integers((12, 9), seed=1)
    for word in (None, "auto", "off"):
        np.testing.assert_array_equal(matmul(a, b, dependent_launch=word), exact(a, b))
    with pytest.raises(jg.SpecError, match="dependent_launch is on.* waits"):
        jg.matmul(a, b, device="emulator:sm_80", dependent_launch="on")
    with pytest.raises(jg.SpecError, match="dependent_launch is 'never'.*auto, off"):
        matmul(a, b, dependent_launch="never")
    with pytest.raises(jg.SpecError, match="dependent_launch is of type int: .*auto"):
        matmul(a, b, dependent_launch=1)
    k = jg.kernel(m=17, n=9, k=12, a="f32", layout="tt", constant_b="yes", device="emulator:sm_90a")
    np.testing.assert_array_equal(k(a, b, dependent_launch="on" if "pdl" in k.name else "auto"), exact(a, b))


def test_by_column_results_with_c():
    a, b = small_integers((17, 12)), small_integers((12, 9), seed=1)
    c, out = by_column(small_integers((17, 9), seed=2)), by_column(np.zeros((17, 9), "float32"))
    matmul(a, b, c=c, out=out)
    np.testing.assert_array_equal(out, exact(a, b) + c)


@pytest.mark.parametrize("m, n, k", [(0, 5, 4), (5, 0, 4), (5, 6, 0), (0, 0, 0)])
def test_no_elements(m, n, k):
    a, b = np.ones((m, k), "float32"), np.ones((k, n), "float32")
    np.testing.assert_array_equal(matmul(a, b), np.zeros((m, n)))
    c = np.full((m, n), 3, "float32")
    np.testing.assert_array_equal(matmul(a, b, c=c), c)


def test_arrays_of_one_element():
    one = np.full((1, 1), 3, "float32")
    np.testing.assert_array_equal(matmul(one, one), [[9]])


def test_read_only_arrays_are_multiplied():
    a, b = small_integers((6, 5)), small_integers((5, 4), seed=1)
    a.flags.writeable = False
    np.testing.assert_array_equal(matmul(a, b), exact(a, b))


def test_what_dlpack_alone_tells_is_enough():
    class Exporter:
        """Of a library that is not known here."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **how):
            return self.array.__dlpack__(**how)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    a, b, out = small_integers((6, 5)), small_integers((5, 4), seed=1), np.zeros((6, 4), "float32")
    matmul(Exporter(a.copy()[1:]), Exporter(b.copy()), out=out[1:])
    np.testing.assert_array_equal(out[1:], exact(a, b)[1:])
    with pytest.raises(jg.OperandError, match="out must be given: no array of test_matmul.Exporter"):
        matmul(Exporter(a.copy()), b)
    with pytest.raises(jg.OperandError, match="a is of type float64"):
        matmul(Exporter(a.astype("float64")), b, out=out)
