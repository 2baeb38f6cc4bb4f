"""Epilogues in words. The same text, run by Python over numpy's float64, is the judge."""

from __future__ import annotations

import math
import re

import jitgemm as jg
import pytest

np = pytest.importorskip("numpy")

from conftest import small_integers

EMULATOR = "emulator:sm_80"
M, N, K = 33, 21, 18
BITS = {"float32": 24, "float16": 11, "bfloat16": 8}  # of a significand


def dtype_of(word):
    return np.dtype(getattr(pytest.importorskip("ml_dtypes"), word) if word == "bfloat16" else word)


# ---- the judge -------------------------------------------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Type:
    """In a declaration: bf16[m,n]."""

    def __getitem__(self, index):
        return self


LANGUAGE = {
    "abs": np.abs,
    "clamp": np.clip,
    "erf": np.vectorize(math.erf),
    "exp": np.exp,
    "exp2": np.exp2,
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "gelu_erf": lambda x: 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "max": np.maximum,
    "min": np.minimum,
    "relu": lambda x: np.maximum(x, 0),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "select": np.where,
    "sigmoid": sigmoid,
    "silu": lambda x: x * sigmoid(x),
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "left": lambda x: x[:, : x.shape[1] // 2],
    "right": lambda x: x[:, x.shape[1] // 2 :],
    "even": lambda x: x[:, ::2],
    "odd": lambda x: x[:, 1::2],
    "f32": Type(),
    "f16": Type(),
    "bf16": Type(),
}


def judged(text, acc, operands):
    """D in float64. Indices are arrays, so that bias[n] has an element for each column."""
    m, n = np.arange(acc.shape[0])[:, None], np.arange(acc.shape[1])[None, :]
    values = {name: np.asarray(x, "float64") if np.ndim(x) else float(x) for name, x in operands.items()}
    names = {"alpha": 1.0, "beta": 0.0, **LANGUAGE, **values, "acc": acc, "m": m, "n": n}
    pairs = acc.shape[1] // 2
    names |= {"h": np.arange(pairs)[None, :], "d": np.empty((acc.shape[0], pairs))}
    exec(text, names)  # noqa: S102
    return np.broadcast_to(names["d"], (acc.shape[0], pairs if "d[m,h]" in text else acc.shape[1]))


def assert_is(d, text, a, b, operands):
    acc = np.asarray(a, "float64") @ np.asarray(b, "float64")
    want = judged(text, acc.reshape(-1, acc.shape[-1]), operands)
    want = want.reshape((*acc.shape[:-1], want.shape[-1]))
    rounding = 2.0 ** -BITS[str(d.dtype)]
    got = np.asarray(d, "float64")
    assert got.shape == want.shape
    assert np.all(np.abs(got - want) <= rounding * np.abs(want) + 2e-6 * np.maximum(1, np.abs(want)))
    assert np.unique(want).size > 3


def factors(dtype="float32", m=M, n=N, k=K):
    """Products are exact in f32, and small enough for every function."""
    a = small_integers((m, k)).astype(dtype) * np.asarray(0.25, dtype)
    return a, small_integers((k, n), seed=1).astype(dtype) * np.asarray(0.5, dtype)


def operand(shape, dtype="float32", seed=2):
    return (small_integers(shape, seed=seed) / 4).astype(dtype)


SHAPES = {"bias": "n", "scales": "m", "up": "mn", "residual": "mn", "x": "1"}
SCALARS = {"s": 0.75, "limit": 1.5, "alpha": 2, "beta": 0.5}

FORMULAS = {
    "bias": "d = acc + bias[n]",
    "relu": "d = relu(acc + bias[n])",
    "gelu": "d = gelu(acc + bias[n])",
    "gelu by erf": "d = gelu_erf(acc + bias[n])",
    "silu": "d = silu(acc)",
    "residual": "d = acc + bias[n] + residual[m,n]",
    "gate": "d = silu(acc + bias[n]) * up[m,n]",
    "scales of rows": "d = acc * scales[m]",
    "scalar": "s: f32; d = s * acc + bias[n]",
    "element": "d = acc * x[0]",
    "select": "d = select(acc > up[m,n], acc, 0.25 * up[m,n])",
    "clamp": "limit: f32; d = clamp(acc, -limit, limit) + up[m,n]",
    "tanh": "t = acc * 0.5; d = tanh(t) * 2 + scales[m]",
    "exp": "d = exp(min(acc, 2)) - bias[n]",
    "sqrt": "d = sqrt(abs(acc) + 1) / (2 + max(bias[n], 0))",
    "sigmoid": "d = sigmoid(acc) * residual[m,n] + scales[m] * bias[n]",
    "alpha and beta": "d = alpha * acc + beta * residual[m,n]",
    "lines": "# a comment\nt = acc + bias[n]\nd = t * t",
}


def operands_of(text, dtype="float32", m=M, n=N):
    """Arrays and numbers for the names that the text has."""
    words = set(re.findall(r"\w+", text))
    sizes = {"m": (m,), "n": (n,), "mn": (m, n), "1": (1,)}
    kinds = {name: kind for name, kind in SHAPES.items() if name in words}
    arrays = {name: operand(sizes[kind], dtype, seed) for seed, (name, kind) in enumerate(kinds.items())}
    if "x" in arrays:
        arrays["x"][0] = 1.5
    return {**arrays, **{name: value for name, value in SCALARS.items() if name in words}}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_is_computed_as_numpy_does(name):
    text = FORMULAS[name]
    a, b = factors()
    operands = operands_of(text)
    assert_is(jg.matmul(a, b, device=EMULATOR, epilogue=text, **operands), text, a, b, operands)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["gate", "select", "sigmoid"])
def test_types_and_architectures(name, dtype, arch):
    text = FORMULAS[name]
    a, b = factors(dtype_of(dtype), 64, 72, 40)
    operands = operands_of(text, dtype_of(dtype), 64, 72)
    d = jg.matmul(a, b.T.copy().T, device=f"emulator:{arch}", epilogue=text, **operands)
    assert d.dtype == dtype_of(dtype)
    assert_is(d, text, a, b, operands)


def test_d_may_be_declared():
    a, b = factors()
    text = "d: f32[m,n]; d = relu(acc)"
    assert_is(jg.matmul(a, b, device=EMULATOR, epilogue=text), text, a, b, {})


def test_each_operand_has_a_type_of_its_own():
    text = FORMULAS["gate"]
    a, b = factors("float16")
    operands = {"bias": operand((N,)), "up": operand((M, N), dtype_of("bfloat16"))}
    d = jg.matmul(a, b, device=EMULATOR, epilogue=text, out_dtype="float32", **operands)
    assert d.dtype == "float32"
    assert_is(d, text, a, b, operands)
    declared = "bias: f32[n]; up: bf16[m,n]; " + text
    same = jg.matmul(a, b, device=EMULATOR, epilogue=declared, out_dtype="float32", **operands)
    np.testing.assert_array_equal(d, same)


# ---- how arrays lie --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (1, N, K), (M, 1, K), (M, N, 0), (3, 5, 7)])
def test_odd_sizes(m, n, k):
    text = "d = (acc + bias[n]) * scales[m] + up[m,n]"
    a, b = factors("float32", m, n, k)
    operands = operands_of(text, m=m, n=n)
    d = jg.matmul(a, b, device=EMULATOR, epilogue=text, **operands)
    want = judged(text, a.astype("float64") @ b, operands)
    np.testing.assert_allclose(d, want, rtol=1e-6)


def test_no_element_is_no_launch():
    up = np.zeros((0, N), "float32")
    d = jg.matmul(np.zeros((0, K), "float32"), factors()[1], device=EMULATOR, epilogue="d = acc + up[m,n]", up=up)
    assert d.shape == (0, N)


def test_a_matrix_lies_at_a_leading_dimension_of_its_own():
    text = FORMULAS["gate"]
    a, b = factors()
    operands = operands_of(text)
    wide = np.full((M, N + 11), np.nan, "float32")
    for first in (0, 1, 4):
        wide[:] = np.nan
        wide[:, first : first + N] = operands["up"]
        view = wide[:, first : first + N]
        d = jg.matmul(a, b, device=EMULATOR, epilogue=text, bias=operands["bias"], up=view)
        assert_is(d, text, a, b, operands)


def test_operands_of_a_column_major_result_lie_by_columns():
    text = "d = silu(acc + bias[n]) * up[m,n] + scales[m]"
    a, b = factors()
    operands = operands_of(text)
    out = np.zeros((M, N), "float32", order="F")
    given = {**operands, "up": np.asfortranarray(operands["up"])}
    assert jg.matmul(a, b, out=out, device=EMULATOR, epilogue=text, **given) is out
    assert_is(out, text, a, b, operands)
    rule = r"up has shape .* its columns must be contiguous.*np.asfortranarray\(up\)"
    with pytest.raises(jg.OperandError, match=rule):
        jg.matmul(a, b, out=out, device=EMULATOR, epilogue=text, **operands)


def test_leading_dimensions_are_rows():
    text = "d = (acc + bias[n]) * scales[m] + up[m,n]"
    a, b = factors()
    operands = operands_of(text)
    x = a.reshape(3, 11, K)
    for scales in (operands["scales"], operands["scales"].reshape(3, 11)):
        given = {**operands, "scales": scales, "up": operands["up"].reshape(3, 11, N)}
        d = jg.matmul(x, b, device=EMULATOR, epilogue=text, **given)
        assert_is(d, text, x, b, operands)


def test_out_may_be_a_matrix_that_is_read():
    text = "d = relu(acc) + up[m,n]"
    a, b = factors()
    out = operand((M, N))
    before = {"up": out.copy()}
    jg.matmul(a, b, out=out, device=EMULATOR, epilogue=text, up=out)
    assert_is(out, text, a, b, before)


def test_a_scalar_of_0_guards_its_operand():
    a, b = factors()
    poison = np.full((M, N), np.nan, "float32")
    d = jg.matmul(a, b, device=EMULATOR, epilogue="s: f32; d = acc + s * up[m,n]", up=poison, s=0)
    np.testing.assert_array_equal(d, a @ b)


# ---- outputs ---------------------------------------------------------------------------------------------------------

SEVERAL = "t = acc + bias[n]; pre: f32[m,n]; pre[m,n] = t; d = gelu(t); low: f16[m,n]; low[m,n] = -t"


def assert_all_are(outputs, text, a, b, operands):
    """Each output in the order of the text, with Python's own evaluation of it as the judge."""
    names = re.findall(r"(?<!\w)(\w+)(?:\[m,n\])? = ", text)
    names = [name for name in names if name == "d" or f"{name}[m,n] =" in text]
    plain = re.sub(r"\w+: \w+\[m,n\]; ", "", text).replace("[m,n] =", " =")
    assert len(outputs) == len(names)
    for name, output in zip(names, outputs):
        assert_is(output, plain + f"; d = {name}", a, b, operands)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_outputs_come_in_the_order_of_the_text(dtype, arch):
    a, b = factors(dtype_of(dtype), 40, 48, 24)
    bias = operand((48,), dtype_of(dtype))
    outputs = jg.matmul(a, b, device=f"emulator:{arch}", epilogue=SEVERAL, bias=bias)
    assert [str(output.dtype) for output in outputs] == ["float32", dtype, "float16"]
    assert_all_are(outputs, SEVERAL, a, b, {"bias": bias})


def test_an_output_goes_where_its_keyword_says():
    text = "t = acc + bias[n]; d = relu(t); pre[m,n] = t"
    a, b = factors()
    bias = operand((N,))
    room = np.full((M, N + 3), 7, "float32")
    d, pre = jg.matmul(a, b, device=EMULATOR, epilogue=text, bias=bias, pre=room[:, :N])
    assert np.shares_memory(pre, room)
    assert np.all(room[:, N:] == 7)
    assert_all_are((d, pre), text, a, b, {"bias": bias})
    out = np.zeros((M, N), "float32", order="F")
    same = np.zeros((M, N), "float32", order="F")
    d, pre = jg.matmul(a, b, device=EMULATOR, epilogue=text, bias=bias, out=out, operands={"pre": same})
    assert d is out
    assert pre is same
    assert_all_are((d, pre), text, a, b, {"bias": bias})


def test_an_output_takes_the_type_of_its_array():
    a, b = factors()
    half = np.zeros((M, N), "float16")
    _, kept = jg.matmul(a, b, device=EMULATOR, epilogue="d = acc; kept[m,n] = acc * 2", kept=half)
    assert kept is half
    np.testing.assert_array_equal(half, (2 * (a @ b)).astype("float16"))


def test_outputs_of_batches_and_of_no_element():
    a, b = factors()
    text = "d = acc; twice[m,n] = acc * 2"
    d, twice = jg.matmul(a.reshape(3, 11, K), b, device=EMULATOR, epilogue=text)
    assert d.shape == twice.shape == (3, 11, N)
    np.testing.assert_array_equal(twice, 2 * d)
    d, twice = jg.matmul(a[:0], b, device=EMULATOR, epilogue=text)
    assert d.shape == twice.shape == (0, N)


def test_a_kernel_stores_its_outputs():
    text = "t = acc + bias[n]; d = relu(t); pre[m,n] = t"
    a, b = factors()
    bias = operand((N,))
    kernel = jg.kernel(m=M, n=N, k=K, a="f32", layout="tt", epilogue=text, device=EMULATOR)
    assert_all_are(kernel(a, b, bias=bias), text, a, b, {"bias": bias})


def test_outputs_that_do_not_fit_are_refused():
    a, b = factors()
    text = "d = acc; pre[m,n] = acc + x[m,n]"
    x, room = operand((M, N)), np.zeros((M, N), "float32")
    refused = {
        r"pre has shape \(32, 21\): the epilogue stores pre": {"pre": room[:-1]},
        "pre is read-only": {"pre": np.broadcast_to(room[:1], (M, N))},
        "overlaps": {"pre": room, "out": room},
        r"pre.*order of the result": {"pre": np.asfortranarray(room)},
        "d is given.*out": {"d": room},
        "pre is missing": {"out": np.zeros((M, N), "float32", order="F")},
    }
    for message, arrays in refused.items():
        given = np.asfortranarray(x) if "missing" in message else x
        with pytest.raises((jg.OperandError, jg.SpecError), match="(?s)" + message):
            jg.matmul(a, b, device=EMULATOR, epilogue=text, x=given, **arrays)


# ---- reductions ------------------------------------------------------------------------------------------------------

REDUCED = (
    "t = acc + bias[n]; d = relu(t); by_column[n] = sum(t); by_row[m] = max(t); all[0] = min(t) / 4; "
    "squares[m] = sum(t * t)"
)


def assert_are_reduced(outputs, a, b, bias):
    t = a.astype("float64") @ b.astype("float64") + bias.astype("float64")
    d, by_column, by_row, least, squares = outputs
    assert_is(d, "d = relu(acc + bias[n])", a, b, {"bias": bias})
    np.testing.assert_array_equal(by_column, t.sum(0))  # small integers: all sums are exact
    np.testing.assert_array_equal(by_row, t.max(1))
    np.testing.assert_array_equal(least, [t.min() / 4])
    np.testing.assert_array_equal(squares, (t * t).sum(1))
    assert all(str(output.dtype) == "float32" for output in outputs[1:])


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_reductions(dtype, arch):
    a, b = factors(dtype_of(dtype), 45, 52, 24)
    bias = operand((52,), dtype_of(dtype))
    assert_are_reduced(jg.matmul(a, b, device=f"emulator:{arch}", epilogue=REDUCED, bias=bias), a, b, bias)


def test_a_reduction_goes_where_its_keyword_says():
    a, b = factors()
    bias = operand((N,))
    by_row, least = np.zeros(M, "float32"), np.zeros((), "float32")
    outputs = jg.matmul(a, b, device=EMULATOR, epilogue=REDUCED, bias=bias, by_row=by_row, operands={"all": least})
    assert outputs[2] is by_row and outputs[3] is least
    np.testing.assert_array_equal(by_row, (a @ b + bias).max(1))
    np.testing.assert_array_equal(least, (a @ b + bias).min() / 4)


def test_reductions_have_the_shape_of_what_is_left():
    a, b = factors()
    text = "d = acc; rows[m] = sum(acc); columns[n] = sum(acc); all[0] = sum(acc)"
    d, rows, columns, total = jg.matmul(a.reshape(3, 11, K), b, device=EMULATOR, epilogue=text)
    assert (rows.shape, columns.shape, total.shape) == ((3, 11), (N,), (1,))
    np.testing.assert_array_equal(rows, d.sum(2))
    np.testing.assert_array_equal(columns, d.sum((0, 1)))
    out = np.zeros((M, N), "float32", order="F")
    _, rows, columns, _ = jg.matmul(a, b, device=EMULATOR, epilogue=text, out=out)
    np.testing.assert_array_equal(rows, out.sum(1))
    np.testing.assert_array_equal(columns, out.sum(0))
    _, rows, columns, _ = jg.matmul(a, b[:, 0].copy(), device=EMULATOR, epilogue=text)
    assert (rows.shape, columns.shape) == ((M,), (1,))
    with pytest.raises(jg.OperandError, match="rows is a reduction, but the product has no elements"):
        jg.matmul(a[:0], b, device=EMULATOR, epilogue=text)


def test_blocks_of_columns_scale_an_8_bit_result():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a, b = factors("float16", n=272)
    weights = np.ascontiguousarray(b.T)
    text = "s[m,n/128] = max(abs(acc)) / 448; d = acc / s[m,n/128]"
    on_hopper = {"device": "emulator:sm_90a", "out_dtype": ml_dtypes.float8_e4m3fn, "epilogue": text}
    scales, d = jg.matmul(a.reshape(3, 11, K), weights.T, **on_hopper)
    exact = a.astype("float64") @ b.astype("float64")
    greatest = np.stack([abs(exact[:, i : i + 128]).max(1) for i in (0, 128, 256)], 1)
    np.testing.assert_array_equal(scales.reshape(M, 3), np.where(greatest == 0, 1, greatest.astype("float32") / 448))
    assert d.shape == (3, 11, 272) and scales.shape == (3, 11, 3)
    restored = d.reshape(M, 272).astype("float64") * np.repeat(scales.reshape(M, 3), 128, 1)[:, :272]
    assert (abs(restored - exact) <= abs(exact) / 16 + greatest.max() / 448 / 512).all()
    given = np.zeros((M, 8), "float32")[:, :3]
    assert jg.matmul(a, weights.T, s=given, **on_hopper)[0] is given
    np.testing.assert_array_equal(given, scales.reshape(M, 3))
    with pytest.raises(jg.ConfigError, match="needs wgmma"):
        jg.matmul(a, weights.T, device=EMULATOR, epilogue=text)


def test_a_nan_makes_a_reduction_nan():
    a, b = factors()
    a[2, 3] = np.nan
    text = "d = acc; rows[m] = max(acc); columns[n] = min(acc); all[0] = sum(acc)"
    _, rows, columns, total = jg.matmul(a, b, device=EMULATOR, epilogue=text)
    assert np.isnan(columns).all() and np.isnan(total).all()
    assert np.flatnonzero(np.isnan(rows)).tolist() == [2]


# ---- names -----------------------------------------------------------------------------------------------------------


def test_names_of_arguments_go_into_operands():
    text = "d = alpha * acc + beta * c[m,n] + out[n] + device[m]"
    a, b = factors()
    operands = {"c": operand((M, N)), "out": operand((N,)), "device": operand((M,)), "alpha": 2, "beta": 0.5}
    d = jg.matmul(a, b, device=EMULATOR, epilogue=text, operands=operands)
    assert_is(d, text, a, b, operands)
    arrays = {name: operands[name] for name in ("c", "out", "device")}
    same = jg.matmul(a, b, alpha=2, beta=0.5, device=EMULATOR, epilogue=text, operands=arrays)
    np.testing.assert_array_equal(d, same)


def test_numbers_of_any_kind_are_scalars():
    a, b = factors()
    for number in (2, 2.0, np.float32(2), np.int8(2), True + 1):
        d = jg.matmul(a, b, device=EMULATOR, epilogue="s: f32; d = s * acc", s=number)
        np.testing.assert_array_equal(d, 2 * (a @ b))


PAIRS = {
    "halves": "d[m,h] = silu(left(acc)) * right(acc)",
    "neighbours": "t = acc + bias[n]; d[m,h] = gelu(even(t)) * odd(t)",
    "operands of the result": "d[m,h] = left(acc) * column[h] + result[m,h] - right(acc)",
    "a matrix of the product": "t = acc + up[m,n]; d[m,h] = even(t) - 0.5 * odd(t)",
}


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("m", [1, M])
def test_pairs_of_columns_make_a_narrower_result(name, arch, m):
    text, n, k = PAIRS[name], 48, 24
    a, b = factors("float16", m=m, n=n, k=k)
    sizes = {"bias": (n,), "column": (n // 2,), "result": (m, n // 2), "up": (m, n)}
    operands = {name: operand(size, "float16") for name, size in sizes.items() if name + "[" in text}
    weights = np.ascontiguousarray(b.T)
    d = jg.matmul(a, weights.T, device=f"emulator:{arch}", epilogue=text, **operands)
    assert_is(d, text, a, b, operands)
    out = np.zeros((m, n), "float16")[:, : n // 2]
    assert jg.matmul(a, weights.T, device=f"emulator:{arch}", epilogue=text, out=out, **operands) is out
    assert np.array_equal(out, d)


def test_rows_of_pairs_may_be_folded():
    a, b = factors("float16", m=6, n=32, k=16)
    text = PAIRS["halves"]
    d = jg.matmul(a.reshape(2, 3, 16), b, device=EMULATOR, epilogue=text)
    assert_is(d, text, a.reshape(2, 3, 16), b, {})


@pytest.mark.parametrize(
    "n, out, error, words",
    [
        (31, None, jg.OperandError, "has 31 columns, but the epilogue makes pairs"),
        (32, np.zeros((M, 32), "float16"), jg.OperandError, r"out .*the product has \(33, 16\)"),
        (32, np.zeros((16, M), "float16").T, jg.SpecError, "column-major"),
    ],
)
def test_a_refusal_of_pairs_names_the_rule(n, out, error, words):
    a, b = factors("float16", n=n)
    with pytest.raises(error, match=words):
        jg.matmul(a, b, device=EMULATOR, epilogue=PAIRS["halves"], out=out)


UNSERVED = {
    **PAIRS,
    "outputs": "t = left(acc + up[m,n]) * row[m]; u = right(alpha * acc); "
    "d[m,h] = t - u; pre[m,h] = u; high[m] = max(u)",
    "a local value of pairs": "t = even(acc); u = odd(acc) + t; z = acc * 2; d[m,h] = u * odd(z) + t",
    "names in use": "second: f32; bias_first = 1; d[m,h] = left(acc + bias[n]) * second + right(acc) * bias_first",
}


@pytest.mark.parametrize("dtype, n", [("float32", 30), ("float16", 24)])
@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("name", UNSERVED)
def test_pairs_that_no_kernel_serves_are_made_by_two_products(name, layout, dtype, n):
    text, m = UNSERVED[name], 5
    a, b = factors(dtype, m=m, n=n)
    sizes = {"bias": (n,), "column": (n // 2,), "result": (m, n // 2), "up": (m, n), "row": (m,)}
    operands = {name: operand(size, dtype) for name, size in sizes.items() if name + "[" in text}
    numbers = {name: value for name, value in {"alpha": 0.5, "second": 0.25}.items() if name in text}
    b = b if layout == "rows" else np.asfortranarray(b)
    d = jg.matmul(a, b, device=EMULATOR, epilogue=text, **operands, **numbers)
    if name == "outputs":
        acc = np.asarray(a, "float64") @ np.asarray(b, "float64")
        d, pre, high = d
        np.testing.assert_array_equal(pre, 0.5 * acc[:, n // 2 :])
        np.testing.assert_array_equal(high, pre.max(axis=1))
        text = text[: text.index("; pre")]
    assert_is(d, text, a, b, {**operands, **numbers})
    out = np.zeros((m, n), dtype)[:, : n // 2]
    again = jg.matmul(a, b, device=EMULATOR, epilogue=UNSERVED[name], out=out, **operands, **numbers)
    assert (again[0] if name == "outputs" else again) is out
    assert np.array_equal(out, d)


def test_two_products_of_pairs_round_once():
    a, b = (x.astype("float16") / 3 for x in factors("float32", m=9, n=24, k=40))
    text = PAIRS["halves"]
    assert_is(jg.matmul(a, b, device=EMULATOR, epilogue=text), text, a, b, {})


BIAS, UP = operand((N,)), operand((M, N))
GATE = FORMULAS["gate"]
REFUSED = {
    "a missing name": ({"bias": BIAS}, jg.OperandError, r"up\[m,n\] missing"),
    "all missing names": ({}, jg.OperandError, r"bias\[n\], up\[m,n\] missing"),
    "a superfluous name": ({"bias": BIAS, "up": UP, "gate": UP}, jg.OperandError, "the epilogue reads no 'gate'"),
    "missing and superfluous": (
        {"biass": BIAS, "up": UP},
        jg.OperandError,
        r"(?s)bias\[n\] missing.*no 'biass'.*did you mean 'bias'",
    ),
    "a name twice": ({"bias": BIAS, "up": UP, "operands": {"up": UP}}, jg.OperandError, "up is given twice"),
    "operands that are none": ({"operands": [UP]}, jg.OperandError, "operands is of type list"),
    "a name that is none": ({"operands": {1: UP}}, TypeError, "a name in operands"),
    "a vector of another size": (
        {"bias": BIAS[:-1], "up": UP},
        jg.OperandError,
        r"bias has shape \(20,\): the epilogue reads bias\[n\], whose shape must be \(21,\)",
    ),
    "a row": ({"bias": BIAS[None, :], "up": UP}, jg.OperandError, r"bias has shape \(1, 21\)"),
    "no dimension": ({"bias": np.zeros((), "float32"), "up": UP}, jg.OperandError, r"bias has shape \(\)"),
    "a vector with gaps": (
        {"bias": np.zeros(2 * N, "float32")[::2], "up": UP},
        jg.OperandError,
        r"strides \(2,\) .* must be contiguous; .*np.ascontiguousarray\(bias\)",
    ),
    "a matrix of another shape": (
        {"bias": BIAS, "up": UP.T},
        jg.OperandError,
        r"up has shape \(21, 33\): .*up\[m,n\], whose shape must be the product's, \(33, 21\)",
    ),
    "a vector for a matrix": ({"bias": BIAS, "up": BIAS}, jg.OperandError, r"up has shape \(21,\)"),
    "another order": (
        {"bias": BIAS, "up": np.asfortranarray(UP)},
        jg.OperandError,
        r"strides \(1, 33\) .* order of the result.* rows must be contiguous.*np.ascontiguousarray\(up\)",
    ),
    "a repeated row": ({"bias": BIAS, "up": np.broadcast_to(BIAS, (M, N))}, jg.OperandError, r"up .*strides \(0, 1\)"),
    "steps in a line": ({"bias": BIAS, "up": operand((M, 2 * N))[:, ::2]}, jg.OperandError, r"up .*strides \(42, 2\)"),
    "no array": ({"bias": 3.0, "up": UP}, jg.OperandError, "bias is of type float"),
    "float64": ({"bias": BIAS.astype("float64"), "up": UP}, jg.OperandError, "bias .*float64.*float32"),
    "int32": ({"bias": BIAS.astype("int32"), "up": UP}, jg.OperandError, "bias .*int32.*float32"),
    "int8": ({"bias": BIAS, "up": UP.astype("int8")}, jg.OperandError, "up .*int8.*float32"),
    "a lone surrogate": ({"epilogue": "d = acc \ud800"}, jg.SpecError, r"epilogue is 'd = acc \\ud800'.*surrogate"),
    "a surrogate in a name": ({"operands": {"\ud800": BIAS}}, jg.SpecError, "a name in operands .*surrogate"),
    "an empty text": ({"epilogue": ""}, jg.SpecError, "nothing is stored"),
    "c beside it": ({"bias": BIAS, "up": UP, "c": UP}, jg.OperandError, "c is given beside an epilogue"),
    "accumulate": (
        {"bias": BIAS, "up": UP, "out": np.zeros((M, N), "float32"), "accumulate": True},
        jg.OperandError,
        "accumulate is given beside",
    ),
    "alpha without alpha": ({"bias": BIAS, "up": UP, "alpha": 2}, jg.SpecError, "alpha is 2, but the epilogue has no"),
    "an unknown function": ({"epilogue": "d = geul(acc)"}, jg.SpecError, "'geul' is not a function.*did you mean gelu"),
    "no text": ({"epilogue": 3}, TypeError, "epilogue is 3: a str is expected"),
    "a declared type": (
        {"epilogue": "bias: f16[n]; d = acc + bias[n]", "bias": BIAS},
        jg.OperandError,
        r"bias is of type f32, but the epilogue reads it as f16: .* 'bias: f32\[n\]'",
    ),
    "a declared type of d": (
        {"epilogue": "d: f16[m,n]; d = relu(acc)"},
        jg.SpecError,
        "d is declared as f16, but D is f32",
    ),
    "an array for a scalar": (
        {"epilogue": "s: f32; d = s * acc", "s": BIAS},
        jg.OperandError,
        r"s is of type numpy.ndarray, .* scalar of the launch: give a number, .* s\[0\]",
    ),
    "too large a scalar": ({"epilogue": "s: f32; d = s * acc", "s": 1e300}, jg.SpecError, "s is 1e.*300.*f32"),
    "nothing for a scalar": ({"epilogue": "s: f32; d = s * acc", "s": None}, jg.OperandError, "s is of type NoneType"),
    "a word for a scalar": ({"epilogue": "s: f32; d = s * acc", "s": "two"}, jg.OperandError, "s is of type str"),
    "more than an element": ({"epilogue": "d = acc * x[0]", "x": BIAS}, jg.OperandError, r"x\[0\].*\(1,\) or \(\)"),
    "alpha twice": (
        {"epilogue": "d = alpha * acc", "alpha": 2, "operands": {"alpha": 3}},
        jg.OperandError,
        "alpha is given twice",
    ),
    "a reduction over blocks": ({"epilogue": "d = acc; r[m,n/32] = max(acc)"}, jg.ConfigError, r"r\[m,n/32\]"),
    "a reduction of another type": (
        {"epilogue": "d = acc; r[n] = sum(acc)", "r": np.zeros(N, "float16")},
        jg.SpecError,
        "r is f16, but a reduction is f32",
    ),
    "a reduction of another size": (
        {"epilogue": "d = acc; r[m] = sum(acc)", "r": np.zeros(N, "float32")},
        jg.OperandError,
        r"the epilogue stores r\[m\], whose shape must be \(33,\)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_refusal_names_the_value_and_the_rule(name):
    given, error, words = REFUSED[name]
    a, b = factors()
    out = np.full((M, N), 7, "float32")
    arguments = {"epilogue": GATE, "out": out, **given}
    with pytest.raises(error, match=words):
        jg.matmul(a, b, device=EMULATOR, **arguments)
    assert np.all(out == 7)


def test_a_keyword_that_nobody_reads_is_refused_as_python_does():
    a, b = factors()
    with pytest.raises(TypeError, match=r"matmul\(\) got an unexpected keyword argument 'bias'"):
        jg.matmul(a, b, device=EMULATOR, bias=BIAS)
    with pytest.raises(jg.OperandError, match="operands are given, but there is no epilogue"):
        jg.matmul(a, b, device=EMULATOR, operands={"bias": BIAS})
    k = jg.kernel("f32 tt 33 21 18", device=EMULATOR)
    with pytest.raises(TypeError, match="unexpected keyword argument 'bias'"):
        k(a, b, bias=BIAS)


# ---- kernels ---------------------------------------------------------------------------------------------------------


def test_a_kernel_takes_operands_by_name():
    text = "s: f32; d = silu(acc + bias[n]) * up[m,n] * s"
    a, b = factors()
    operands = operands_of(text)
    for k in (
        jg.kernel(f"gemm-v3 m={M} n={N} k={K} a=f32 layout=tt epilogue='{text}'", device=EMULATOR),
        jg.kernel(m=M, n=N, k=K, a="f32", layout="tt", epilogue=text, device=EMULATOR),
    ):
        assert_is(k(a, b, **operands), text, a, b, operands)
        assert_is(k(a, b, operands=operands), text, a, b, operands)
        assert "epilogue=" in k.spec and "up: f32[m,n]" in k.spec
    with pytest.raises(jg.OperandError, match=r"up\[m,n\], s missing"):
        k(a, b, bias=operands["bias"])
    with pytest.raises(jg.OperandError, match="bias is of type f16, but the epilogue reads it as f32"):
        k(a, b, **{**operands, "bias": operands["bias"].astype("float16")})
    wide = operand((M, N + 3))[:, :N]
    with pytest.raises(jg.OperandError, match="up's leading dimension is 24 here and 21 in the kernel"):
        k(a, b, **{**operands, "up": wide})
    pitched = jg.kernel(f"gemm-v3 m={M} n={N} k={K} a=f32 layout=tt epilogue='{text}' ld-up=24", device=EMULATOR)
    assert_is(pitched(a, b, **{**operands, "up": wide}), text, a, b, {**operands, "up": wide})
    out = np.zeros((M, N), "float32")
    packed = k.pack_arguments(a, b, out=out, **operands)
    address = operands["up"].ctypes.data.to_bytes(8, "little")
    assert any(address in structs for structs in packed)


def test_a_text_for_a_kernel_is_a_text():
    for text in ("", 3, "d = acc  # it's", "d = \ud800"):
        with pytest.raises(jg.SpecError, match="epilogue( is |=)"):
            jg.kernel(m=M, n=N, k=K, a="f32", layout="tt", epilogue=text, device=EMULATOR)
    with pytest.raises(jg.SpecError, match="epilogue is ''"):
        jg.kernel(f"gemm-v3 m={M} n={N} k={K} a=f32 layout=tt epilogue=''", device=EMULATOR)


@pytest.mark.parametrize("order", "CF")
def test_one_row_or_column_lies_as_its_operands_do(order):
    a, b = factors()
    big = np.asarray(operand((M, N)), order=order)
    for rows, columns in ((slice(None), slice(0, 1)), (slice(0, 1), slice(None))):
        u = big[rows, columns]
        operands = {"u": u, "v": np.ascontiguousarray(u)}
        text = "d = acc + u[m,n] * v[m,n]"
        d = jg.matmul(a[rows], np.ascontiguousarray(b[:, columns]), device=EMULATOR, epilogue=text, **operands)
        assert_is(d, text, a[rows], b[:, columns], operands)


def test_equal_texts_share_a_kernel_and_types_make_another():
    a, b = factors()
    names = [
        jg.kernel(m=M, n=N, k=K, a="f32", layout="tt", epilogue=text, device=EMULATOR).name
        for text in (
            "d = relu(acc + bias[n])",
            "t = acc + bias[n]\nd = relu(t)",
            "bias: f16[n]; d = relu(acc + bias[n])",
        )
    ]
    assert names[0] == names[1] != names[2]
    for dtype in ("float32", "float16", "float32"):
        bias = operand((N,), dtype)
        d = jg.matmul(a, b, device=EMULATOR, epilogue="d = relu(acc + bias[n])", bias=bias)
        assert_is(d, "d = relu(acc + bias[n])", a, b, {"bias": bias})


# ---- other libraries -------------------------------------------------------------------------------------------------


def test_tensors():
    torch = pytest.importorskip("torch", minversion="2.6")
    a, b = factors()
    operands = operands_of(GATE)
    tensors = {name: torch.from_numpy(x) for name, x in operands.items()}
    d = jg.matmul(torch.from_numpy(a), torch.from_numpy(b), device=EMULATOR, epilogue=GATE, **tensors)
    assert isinstance(d, torch.Tensor)
    assert_is(d.numpy(), GATE, a, b, operands)
    tensors["bias"].requires_grad_()
    with pytest.raises(jg.OperandError, match="bias requires grad"):
        jg.matmul(torch.from_numpy(a), torch.from_numpy(b), device=EMULATOR, epilogue=GATE, **tensors)
    weight = torch.tensor(2.0, requires_grad=True)
    with pytest.raises(jg.OperandError, match="s requires grad"):
        jg.matmul(torch.from_numpy(a), torch.from_numpy(b), device=EMULATOR, epilogue="s: f32; d = s * acc", s=weight)
    with pytest.raises(jg.OperandError, match=r"up .*give a contiguous copy: up.contiguous\(\)"):
        up = torch.zeros(N, M).T
        jg.matmul(torch.from_numpy(a), torch.from_numpy(b), device=EMULATOR, epilogue="d = acc + up[m,n]", up=up)


def test_an_operand_of_another_device():
    torch = pytest.importorskip("torch", minversion="2.6")
    a, b = map(torch.from_numpy, factors())
    with pytest.raises(jg.OperandError, match="up"):
        jg.matmul(a, b, device=EMULATOR, epilogue="d = acc + up[m,n]", up=torch.zeros(M, N, device="meta"))
