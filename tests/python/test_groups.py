"""Groups of rows, each with its own matrix, and groups of K: ends of groups, layouts, epilogues, refusals."""

import pytest

import jitgemm as jg

np = pytest.importorskip("numpy")

EMULATOR = "emulator:sm_90a"
N, K = 72, 64


def small_integers(shape, seed=0, dtype="float16"):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


def weights(groups, k=K, n=N, seed=1):
    """(groups, k, n). Each column is contiguous."""
    return small_integers((groups, n, k), seed).transpose(0, 2, 1)


def ends_of(*sizes):
    return np.cumsum(sizes).astype("int32")


def grouped(a, b, ends, **more):
    return jg.grouped_matmul(a, b, ends, device=EMULATOR, **more)


def expected(a, b, ends, out):
    """`out`, with the groups' rows in place."""
    result, begin = out.astype("float64"), 0
    for group, end in enumerate(ends):
        result[begin:end] = a[begin:end].astype("float64") @ b[group].astype("float64")
        begin = end
    return result


@pytest.mark.parametrize(
    "sizes",
    [(5,), (1, 1, 1), (0, 0), (64, 65, 63), (0, 200, 0), (130, 0, 1, 7), (3, 0, 0, 0), (16, 17, 15, 0), (7,) * 40],
)
def test_groups_of_any_size_are_multiplied_by_their_own_matrix(sizes):
    rows = sum(sizes) + 9  # some lie behind the last group
    a, b = small_integers((rows, K)), weights(len(sizes))
    ends = ends_of(*sizes)
    out = np.full((rows, N), 77, "float16")
    assert grouped(a, b, ends, out=out) is out
    np.testing.assert_array_equal(out, expected(a, b, ends, np.full((rows, N), 77)))


def test_random_groups():
    random = np.random.default_rng(5)
    for _ in range(12):
        groups = int(random.integers(1, 12))
        sizes = random.integers(0, 90, groups) * (random.random(groups) < 0.7)
        n, k = 8 * int(random.integers(1, 30)), 8 * int(random.integers(1, 20))
        a = small_integers((int(sizes.sum()) + int(random.integers(0, 20)), k), int(random.integers(1000)))
        b = weights(groups, k, n, int(random.integers(1000)))
        if random.random() < 0.5:
            b = np.ascontiguousarray(b)
        out = np.zeros((len(a), n), "float16")
        grouped(a, b, ends_of(*sizes), out=out)
        np.testing.assert_array_equal(out, expected(a, b, ends_of(*sizes), np.zeros((len(a), n))))


def test_rows_that_are_not_multiplied_may_hold_nan():
    a, b, ends = small_integers((50, K)), weights(3), ends_of(10, 0, 20)
    a[30:] = np.nan
    out = np.full((50, N), 5, "float16")
    grouped(a, b, ends, out=out)
    np.testing.assert_array_equal(out, expected(np.nan_to_num(a), b, ends, np.full((50, N), 5)))


def test_a_row_has_the_same_bits_whatever_other_groups_hold():
    random = np.random.default_rng(3)
    a, b = random.standard_normal((90, K)).astype("float16"), random.standard_normal((3, K, N)).astype("float16")
    alone = grouped(a[20:60], b[1:2], ends_of(40))
    among = grouped(a, b, ends_of(20, 40, 30))
    np.testing.assert_array_equal(among[20:60], alone)
    np.testing.assert_array_equal(grouped(a, b, ends_of(20, 40, 30)), among)


def test_groups_may_share_a_matrix_or_lie_apart():
    a, ends = small_integers((40, K)), ends_of(10, 30)
    one = np.broadcast_to(small_integers((K, N), 2), (2, K, N))
    np.testing.assert_array_equal(grouped(a, one, ends), a @ one[0])
    apart = weights(4)[::2]
    np.testing.assert_array_equal(grouped(a, apart, ends), expected(a, apart, ends, np.zeros((40, N))))


def test_an_epilogue_knows_the_group_and_the_row():
    a, b, ends = small_integers((60, K)), weights(3), ends_of(25, 1, 34)
    bias, w = small_integers((3, N), 4), small_integers((60,), 5)
    x = small_integers((60, N), 6)
    result, sums = grouped(
        a, b, ends, epilogue="t = acc + bias[b,n]; d = t * w[m] + x[m,n]; pre[m,n] = t", bias=bias, w=w, x=x
    )
    group = np.repeat(np.arange(3), (25, 1, 34))
    t = expected(a, b, ends, np.zeros((60, N))) + bias[group]
    np.testing.assert_array_equal(sums, t)
    np.testing.assert_array_equal(result, (t * w[:, None] + x).astype("float16"))


def test_a_gate_is_made_of_two_columns():
    n = 96
    a, b, ends = small_integers((60, K)), weights(3, n=n), ends_of(25, 1, 34)
    product = expected(a, b, ends, np.zeros((60, n)))
    result = grouped(a, b, ends, epilogue="d = left(acc) * right(acc)")
    np.testing.assert_array_equal(result, (product[:, : n // 2] * product[:, n // 2 :]).astype("float16"))


def test_c_is_added():
    a, b, ends = small_integers((33, K)), weights(2), ends_of(20, 13)
    c = small_integers((33, N), 7)
    product = expected(a, b, ends, np.zeros((33, N)))
    np.testing.assert_array_equal(grouped(a, b, ends, c=c, beta=2.0, alpha=0.5), product / 2 + 2 * c)
    out = c.copy()
    grouped(a, b, ends, out=out, accumulate=True)
    np.testing.assert_array_equal(out, product + c)


@pytest.mark.parametrize("counts, room", [((3, 0, 20, 7), 20), ((64, 65, 0), 70), ((1,), 1), ((0, 0), 5)])
def test_groups_may_have_room_for_rows(counts, room):
    groups = len(counts)
    a, b = small_integers((groups, room, K)), weights(groups)
    w = small_integers((groups, room), 4)
    out = np.full((groups, room, N), 9, "float16")
    grouped(a, b, np.array(counts, "int32"), out=out, epilogue="d = acc * w[m]", w=w, expected_rows=2)
    product = np.matmul(a, b) * w[..., None]
    for group, count in enumerate(counts):
        np.testing.assert_array_equal(out[group, :count], product[group, :count])
        np.testing.assert_array_equal(out[group, count:], np.full((room - count, N), 9))


def test_more_rows_than_there_is_room_for_touch_no_other_group():
    a, b, out = small_integers((2, 5, K)), weights(2), np.full((2, 5, N), 9, "float16")
    grouped(a, b, np.array([70, -3], "int32"), out=out)
    np.testing.assert_array_equal(out[0], a[0] @ b[0])
    np.testing.assert_array_equal(out[1], np.full((5, N), 9))


def test_empty_arrays():
    b = weights(3)
    assert grouped(small_integers((0, K)), b, ends_of(0, 0, 0)).shape == (0, N)
    zeros = grouped(small_integers((5, 0)), small_integers((3, 0, N)), ends_of(1, 1, 3))
    np.testing.assert_array_equal(zeros, np.zeros((5, N)))


def test_wrong_ends_touch_no_other_memory():
    """The emulator stops a kernel that leaves its operands."""
    a, b = small_integers((40, K)), weights(3)
    for ends in ([50, 60, 70], [30, 10, 40], [-5, -1, 40], [2**31 - 1, -(2**31), 40]):
        out = np.full((48, N), 9, "float16")
        grouped(a, b, np.array(ends, "int32"), out=out[:40])
        np.testing.assert_array_equal(out[40:], np.full((8, N), 9))


@pytest.mark.parametrize(
    "change, words",
    [
        ({"a": (2, 2, 20, K)}, "groups are rows of one matrix"),
        ({"a": (2, 20, K)}, "different numbers of groups"),
        ({"expected_rows": -1}, "expected_rows is -1"),
        ({"expected_rows": "many"}, "expected_rows is 'many'"),
        ({"b": (2, 3, K, N)}, "each group has a matrix"),
        ({"b": (0, K, N)}, "there must be a group"),
        ({"ends": [5, 9]}, "3 groups have as many ends"),
        ({"ends": [[5, 9, 20]]}, "3 groups have as many ends"),
        ({"type": "int8"}, "ends of groups are int32"),
        ({"b": (3, K + 8, N)}, "are not B's rows"),
        ({"epilogue": "d = acc + x[b,m,n]", "x": np.zeros((3, 20, N), "float16")}, "m counts the rows of all groups"),
        ({"epilogue": "d = acc + x[b,n]", "x": np.zeros((2, N), "float16")}, "3 for the groups"),
    ],
)
def test_what_makes_no_groups_is_refused_with_the_reason(change, words):
    a, b = small_integers(change.pop("a", (20, K))), small_integers(change.pop("b", (3, K, N)))
    ends = np.array(change.pop("ends", [5, 9, 20]), change.pop("type", "int32"))
    with pytest.raises(jg.Error, match=words.replace("[", r"\[")):
        grouped(a, b, ends, **change)


DEVICES = ["emulator:sm_80", EMULATOR]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("turn_a", [False, True])
@pytest.mark.parametrize("turn_b", [False, True])
def test_any_layout_and_size(device, dtype, turn_a, turn_b):
    k, n, rows = 37, 29, 61
    a, b, ends = small_integers((rows, k), 1, dtype), small_integers((4, k, n), 2, dtype), ends_of(7, 0, 33, 20)
    lies_a = np.asfortranarray(a) if turn_a else a
    lies_b = b.transpose(0, 2, 1).copy().transpose(0, 2, 1) if turn_b else b
    out = np.full((rows, n), 9, dtype)
    jg.grouped_matmul(lies_a, lies_b, ends, out=out, device=device)
    np.testing.assert_array_equal(out, expected(a, b, ends, np.full((rows, n), 9)))


@pytest.mark.parametrize("device", DEVICES)
def test_wrong_ends_touch_no_other_memory_with_any_kernel(device):
    a, b = small_integers((41, 37)), small_integers((3, 37, 29))
    counts = small_integers((3, 11, 37))
    for ends in ([50, 60, 70], [30, 10, 40], [-5, -1, 40], [2**31 - 1, -(2**31), 40], [-(2**31)] * 3, [2**31 - 1] * 3):
        out = np.full((48, 29), 9, "float16")
        jg.grouped_matmul(a, b, np.array(ends, "int32"), out=out[:41], device=device)
        np.testing.assert_array_equal(out[41:], np.full((7, 29), 9))
        jg.grouped_matmul(counts, b, np.array(ends, "int32"), device=device)
        jg.grouped_matmul(a.T, small_integers((41, 29)), np.array(ends, "int32"), device=device)


# ---- groups of K -----------------------------------------------------------------------------------


M = 40


def factors(k, m=M, n=N, seed=1, dtype="float16"):
    """a is the transpose of (k, m)."""
    return small_integers((k, m), seed, dtype).T, small_integers((k, n), seed + 1, dtype)


def expected_of_k(a, b, ends):
    begins = [0, *ends[:-1]]
    return np.stack([a[:, i:j].astype("float64") @ b[i:j].astype("float64") for i, j in zip(begins, ends)])


@pytest.mark.parametrize(
    "sizes", [(5,), (1, 1, 1), (0, 0), (64, 65, 63), (0, 200, 0), (130, 0, 1, 7), (3, 0, 0, 0), (7,) * 40]
)
def test_groups_may_cut_k_and_nothing_of_another_one_counts(sizes):
    ends = ends_of(*sizes)
    a, b = factors(sum(sizes) + 9)
    result = expected_of_k(a, b, ends)
    a[:, ends[-1] :] = np.nan  # behind the last group
    b[ends[-1] :] = np.inf
    np.testing.assert_array_equal(grouped(a, b, ends), result)
    for group, end in enumerate(ends[:4]):
        alone, other = a.copy("A"), b.copy()
        outside = np.ones(len(b), bool)
        outside[end - sizes[group] : end] = False
        alone[:, outside] = np.nan
        other[outside] = np.nan
        np.testing.assert_array_equal(grouped(alone, other, ends)[group], result[group])


def test_results_of_groups_of_k_may_be_added_to():
    a, b = factors(150)
    ends = ends_of(70, 0, 60)
    out = small_integers((3, M, N), 7, "float32")
    result = expected_of_k(a, b, ends) + out
    assert grouped(a, b, ends, out=out, accumulate=True, expected_rows=50) is out
    np.testing.assert_array_equal(out, result)
    bias = small_integers((3, N), 4)
    scaled = grouped(a, b, ends, epilogue="d = acc + bias[b,n]", bias=bias, out_dtype="float32")
    np.testing.assert_array_equal(scaled, expected_of_k(a, b, ends) + bias[:, None, :])
    turned = np.zeros((3, N, M), "float32").transpose(0, 2, 1)
    grouped(a, b, ends, out=turned)
    np.testing.assert_array_equal(turned, expected_of_k(a, b, ends))
    one = small_integers((M, N), 8, "float32")
    summed = grouped(a, b, ends, c=one, out_dtype="float32")
    np.testing.assert_array_equal(summed, expected_of_k(a, b, ends) + one)


def test_wrong_ends_of_k_touch_no_other_memory():
    """The emulator stops a kernel that leaves its operands."""
    a, b = factors(100)
    for ends in ([50, 20, 100], [-5, -1, 100], [2**31 - 1, -(2**31), 40], [101, 102, 103]):
        assert grouped(a, b, np.array(ends, "int32")).shape == (3, M, N)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("turn_a", [False, True])
@pytest.mark.parametrize("turn_b", [False, True])
def test_groups_of_k_have_any_layout_and_size(device, dtype, turn_a, turn_b):
    a, b, ends = small_integers((31, 83), 1, dtype), small_integers((83, 29), 2, dtype), ends_of(7, 0, 50, 13)
    lies_a, lies_b = (np.asfortranarray(x) if turn else x for x, turn in ((a, turn_a), (b, turn_b)))
    d = jg.grouped_matmul(lies_a, lies_b, ends, out_dtype="float32", device=device)
    begins = [0, *ends[:-1]]
    for group, (begin, end) in enumerate(zip(begins, ends)):
        np.testing.assert_array_equal(d[group], a[:, begin:end].astype("float64") @ b[begin:end].astype("float64"))


def test_groups_of_k_are_empty_without_k():
    a, b = factors(0)
    np.testing.assert_array_equal(grouped(a, b, ends_of(0, 0)), np.zeros((2, M, N)))


@pytest.mark.parametrize(
    "change, words",
    [
        ({"b": np.zeros((21, N), "float16")}, "are not B's rows"),
        ({"ends": np.array([[5, 9, 20]], "int32")}, "1 groups have as many ends"),
        ({"ends": np.array([], "int32")}, "there must be a group"),
        ({"ends": np.array([5, 20], "int64")}, "int32"),
        ({"out": np.zeros((3, M, N), "float16")}, "the product has"),
    ],
)
def test_what_makes_no_groups_of_k_is_refused_with_the_reason(change, words):
    a, b = factors(20)
    given = {"a": a, "b": b, "ends": ends_of(5, 15), **change}
    with pytest.raises(jg.Error, match=words.replace("[", r"\[")):
        grouped(given.pop("a"), given.pop("b"), given.pop("ends"), **given)


# ---- gathered rows -------------------------------------------------------------------------------


def gathered(a, index):
    """These rows of a. Others than a has are zeros."""
    is_row = (index >= 0) & (index < len(a))
    return np.where(is_row[:, None], a[np.where(is_row, index, 0)], 0).astype(a.dtype)


def test_rows_are_gathered_by_their_index():
    random = np.random.default_rng(8)
    for sizes in ((64, 65, 63), (0, 200, 0), (3,), (7,) * 30):
        m = sum(sizes) + 5  # some lie behind the last group
        a, b, ends = small_integers((37, K)), weights(len(sizes)), ends_of(*sizes)
        rows = random.integers(0, 37, m).astype("int32")
        rows[::7], rows[1::7] = -1, 37
        out = np.full((m, N), 77, "float16")
        assert grouped(a, b, ends, rows=rows, out=out) is out
        np.testing.assert_array_equal(out, expected(gathered(a, rows), b, ends, np.full((m, N), 77)))
    assert grouped(a, b, ends, rows=rows).shape == (m, N)


def test_gathered_rows_go_with_a_text_and_with_c():
    a, b, ends = small_integers((20, K)), weights(3), ends_of(10, 0, 25)
    rows = np.arange(35, dtype="int32") % 23 - 1
    w = small_integers(35, 3, "float32")
    product = expected(gathered(a, rows), b, ends, np.zeros((35, N)))
    d = grouped(a, b, ends, rows=rows, epilogue="d = w[m] * acc", w=w, out_dtype="float32")
    np.testing.assert_array_equal(d, w[:, None] * product)
    c = small_integers((35, N), 4)
    np.testing.assert_array_equal(grouped(a, b, ends, rows=rows, c=c, out_dtype="float32"), product + c)


def test_rows_that_no_index_names_may_hold_nan():
    a, b, ends = small_integers((50, K)), weights(2), ends_of(10, 20)
    a[5:] = np.nan
    rows = np.arange(30, dtype="int32") % 5
    product = expected(gathered(a, rows), b, ends, np.zeros((30, N)))
    np.testing.assert_array_equal(grouped(a, b, ends, rows=rows), product)


def test_calls_with_other_rows_are_other_problems():
    a, b, ends = small_integers((40, K)), weights(2), ends_of(10, 30)
    for count in (40, 30, 35):
        rows = np.arange(count, dtype="int32")[::-1].copy()
        d = grouped(a, b, ends, rows=rows, out=np.zeros((count, N), "float16"))
        np.testing.assert_array_equal(d, expected(gathered(a, rows), b, ends, np.zeros((count, N))))
    np.testing.assert_array_equal(grouped(a[:30], b, ends), expected(a[:30], b, ends, np.zeros((30, N))))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": np.zeros(9, "int64")}, "rows is of type|rows.*int64"),
        ({"rows": np.zeros((3, 3), "int32")}, "rows has shape \\(3, 3\\)"),
        ({"rows": np.zeros(18, "int32")[::2]}, "rows must lie one behind the other"),
        ({"rows": np.zeros(9, "int32"), "a": np.zeros((2, 4, K), "float16")}, "rows are those of one matrix"),
        ({"rows": np.zeros(9, "int32"), "b": np.zeros((K, N), "float16")}, "each group has a matrix"),
        ({"rows": np.zeros(9, "int32"), "a": np.zeros((0, K), "float16")}, "it has no row"),
        ({"rows": np.zeros(9, "int32"), "a": np.zeros((K, 20), "float16").T}, "column-major"),
    ],
)
def test_wrong_rows_are_named(change, message):
    arrays = {"a": np.zeros((20, K), "float16"), "b": np.zeros((2, K, N), "float16"), **change}
    with pytest.raises(jg.Error, match=message):
        grouped(arrays["a"], arrays["b"], ends_of(4, 5), rows=arrays["rows"])
    assert grouped(np.zeros((0, K), "float16"), weights(2), ends_of(0, 0), rows=np.zeros(0, "int32")).shape == (0, N)
