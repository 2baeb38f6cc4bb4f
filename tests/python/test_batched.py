"""batched_matmul: lists of matrices that lie anywhere, multiplied in one launch."""

import pytest

import jitgemm as jg

np = pytest.importorskip("numpy")

EMULATOR = "emulator:sm_80"


def matrices(count, shape, seed=0, dtype="float32"):
    random = np.random.default_rng(seed)
    return [random.integers(-3, 4, shape).astype(dtype) for _ in range(count)]


def batched(a, b, **more):
    return jg.batched_matmul(a, b, device=EMULATOR, **more)


def products(a, b):
    return [x.astype("float64") @ y.astype("float64") for x, y in zip(a, b)]


def check(results, expected):
    assert len(results) == len(expected)
    for result, right in zip(results, expected):
        np.testing.assert_array_equal(result, right)


def test_lists_of_matrices_make_a_list_of_products():
    a, b = matrices(3, (6, 8)), matrices(3, (8, 5), seed=1)
    results = batched(a, b)
    assert isinstance(results, list) and results[0].dtype == np.float32
    check(results, products(a, b))


def test_integers_of_8_bits_have_exact_sums():
    a, b = matrices(3, (6, 40), dtype="int8"), matrices(3, (40, 5), seed=1, dtype="int8")
    results = batched(a, b)
    assert results[0].dtype == np.int32
    check(results, products(a, b))


def test_an_array_may_stand_more_than_once_and_lie_otherwise():
    room = matrices(1, (8, 40), seed=2)[0]
    a = [room[:, i : i + 7].T for i in (12, 3, 20)]  # columns of one array, at odd addresses
    b = matrices(1, (8, 5), seed=1) * 3
    check(batched(tuple(a), b), products(a, b))


def test_results_go_where_out_says():
    a, b, c = matrices(3, (6, 8)), matrices(3, (8, 5), seed=1), matrices(3, (6, 5), seed=2)
    room = np.full((3, 7, 16), np.nan, "float32")
    out = [room[i, :6, :5] for i in (2, 0, 1)]
    assert batched(a, b, out=out, c=c, beta=2.0, alpha=0.5) is out
    check(out, [0.5 * d + 2 * z for d, z in zip(products(a, b), c)])
    assert np.isnan(room[:, 6:]).all() and np.isnan(room[:, :, 5:]).all()
    batched(a, b, out=out, accumulate=True)
    check(out, [1.5 * d + 2 * z for d, z in zip(products(a, b), c)])


def test_a_bias_of_each_product_is_added():
    a, b, c = matrices(2, (6, 8)), matrices(2, (8, 5), seed=1), matrices(2, (5,), seed=2)
    check(batched(a, b, c=c), [d + z for d, z in zip(products(a, b), c)])


def test_empty_lists_and_empty_matrices():
    assert batched([], []) == []
    check(batched(matrices(2, (6, 0)), matrices(2, (0, 5))), [np.zeros((6, 5))] * 2)
    check(batched(matrices(2, (0, 8)), matrices(2, (8, 5))), [np.zeros((0, 5))] * 2)


def test_types_of_half_precision():
    torch = pytest.importorskip("torch")
    a, b = matrices(2, (6, 8)), matrices(2, (8, 5), seed=1)
    results = batched(*([torch.tensor(x, dtype=torch.bfloat16) for x in one] for one in (a, b)), out_dtype="f32")
    assert results[0].dtype == torch.float32
    check([x.numpy() for x in results], products(a, b))


def test_refusals_name_the_array():
    a, b = matrices(2, (6, 8)), matrices(2, (8, 5))

    def refusal(*arguments, **more):
        with pytest.raises(jg.OperandError) as caught:
            batched(*arguments, **more)
        return str(caught.value)

    assert "b has 1 arrays and a has 2" in refusal(a, b[:1])
    assert "expected a list" in refusal(a[0], b)
    assert "a[1] is f32 of shape (5, 8)" in refusal([a[0], a[1][:5]], b)
    assert "a[1] is f16" in refusal([a[0], a[1].astype("float16")], b)
    assert "matrices" in refusal(matrices(2, (3, 6, 8)), b)
    out = matrices(1, (6, 5))
    assert "two arrays of out are one" in refusal(a, b, out=out * 2)
    kernel = jg.kernel("gemm-v8 m=6 n=5 k=8 a=f32 layout=tt batch=2 pointers=yes", device=EMULATOR)
    with pytest.raises(jg.OperandError, match="batched_matmul"):
        kernel(a[0], b[0])
