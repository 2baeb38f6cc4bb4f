"""f32 on tensor cores, in parts and as tf32, on the emulator."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction

import jitgemm as jg
import pytest

np = pytest.importorskip("numpy")

EMULATOR = "emulator:sm_90a"
IN_PARTS = {"math": "f16x3", "family": "wgmma_warp_specialized", "device": EMULATOR}


def normal(shape, seed):
    return np.random.default_rng(seed).standard_normal(shape, dtype="float32")


def operands(k, seed=1):
    """Rows of A and columns of B of very different sizes."""
    a, b = normal((40, k), seed), normal((k, 24), seed + 1)
    a *= np.float32(2) ** np.arange(-20, 20, dtype="float32")[:, None]
    b *= np.float32(2) ** np.arange(12, -12, -1, dtype="float32")
    return a, b


def bound(a, b):
    """The promises of docs/single-precision.md for f16x3."""
    a, b = abs(a.astype("float64")), abs(b.astype("float64"))
    k = a.shape[1]
    return (2**-20 + k * 2**-30) * (a @ b) + 2**-38 * k * a.max(1)[:, None] * b.max(0)


def product_in_f64(a, b):
    return a.astype("float64") @ b.astype("float64")


def multiply_in_parts(a, b, **more):
    """On tensor cores. For products as small as a test's the choice is another kernel."""
    kernel = jg.kernel(m=a.shape[0], n=b.shape[1], k=a.shape[1], a="f32", **{"layout": "tt", **IN_PARTS, **more})
    assert any(f"_{math}_" in kernel.name for math in ("f16x3", "bf16x3", "tf32", "bf16x6", "tf32x3"))
    return kernel(a, b)


@pytest.mark.parametrize("k", [17, 63, 64, 200])
def test_errors_are_within_the_promise(k):
    a, b = operands(k)
    for d in (jg.matmul(a, b, math="f16x3", device=EMULATOR), multiply_in_parts(a, b)):
        assert d.dtype == np.float32
        assert (abs(d - product_in_f64(a, b)) <= bound(a, b)).all()


@pytest.mark.parametrize("math", ["bf16x6", "tf32x3"])
def test_elements_of_any_size_in_a_row_are_multiplied_as_exactly(math):
    a, b = operands(200)
    a[:, 5], b[5] = 2.0**50, 0  # would cost the others of the row their bits if they were scaled with it
    expected = product_in_f64(a, b)
    size = abs(a.astype("float64")) @ abs(b.astype("float64"))
    for d in (jg.matmul(a, b, math=math, device=EMULATOR), multiply_in_parts(a, b, math=math)):
        assert (abs(d - expected) <= 2**-20 * size).all()
        assert np.linalg.norm((d - expected) / size) <= 4e-7 * np.linalg.norm(expected / size)
    assert (abs(multiply_in_parts(a, b) - expected) > 2**-20 * size).any()


def test_the_parts_of_bf16_are_coarser():
    a, b = operands(200)
    size = abs(a.astype("float64")) @ abs(b.astype("float64"))
    coarse, fine = (
        (abs(multiply_in_parts(a, b, math=math) - product_in_f64(a, b)) / size).max() for math in ("bf16x3", "f16x3")
    )
    assert 4 * fine < coarse < 1e-5


@pytest.mark.parametrize("is_transposed", [False, True])
def test_tf32_has_the_errors_of_11_bits(is_transposed):
    a, b = operands(200)
    if is_transposed:
        a = np.asfortranarray(a)
    size = abs(a.astype("float64")) @ abs(b.astype("float64"))
    for d in (
        multiply_in_parts(a, b, math="tf32", layout="nt" if is_transposed else "tt"),
        jg.matmul(a, b, math="tf32", device=EMULATOR),
    ):
        assert (abs(d - product_in_f64(a, b)) <= 2**-9.99 * size).all()


def test_tf32_multiplies_numbers_of_11_bits_exactly():
    random = np.random.default_rng(7)
    a, b = (random.integers(-1024, 1025, shape).astype("float32") / 1024 for shape in ((40, 3), (3, 24)))
    d = multiply_in_parts(a, b, math="tf32")
    assert (d == product_in_f64(a, b)).all()
    a += np.float32(2**-13)  # is rounded away but from zero
    assert (multiply_in_parts(a, b, math="tf32") == d)[abs(a).min(1) > 0.5].all()


def test_other_types_and_words_are_refused():
    a, b = normal((16, 16), 1), normal((16, 16), 2)
    with pytest.raises(jg.SpecError, match="f16x3.*f16"):
        jg.matmul(a.astype("float16"), b.astype("float16"), math="f16x3", device=EMULATOR)
    with pytest.raises(jg.SpecError, match="bf16"):
        jg.kernel(m=64, n=64, k=64, math="f16x3", device=EMULATOR)
    for call in (
        lambda word: jg.matmul(a, b, math=word, device=EMULATOR),
        lambda word: jg.kernel(m=16, n=16, k=16, a="f32", math=word, device=EMULATOR),
    ):
        for wrong in ("f16x2", "", True, 3):
            with pytest.raises(jg.SpecError, match="f16x3"):
                call(wrong)


def conjugate_gradients(multiply, a, b, most=200):
    """The numbers of steps in which A x = b is solved to 1e-5, for each column of b."""
    x, r = np.zeros_like(b), b.copy()
    p, size = r.copy(), (r * r).sum(0)
    steps = np.full(b.shape[1], most)
    for step in range(1, most):
        ap = multiply(a, p)
        alpha = size / (p * ap).sum(0)
        x, r = x + alpha * p, r - alpha * ap
        before, size = size, (r * r).sum(0)
        is_solved = np.sqrt(size) <= 1e-5 * np.linalg.norm(b, axis=0)
        steps[is_solved & (steps == most)] = step
        if (steps < most).all():
            return x, steps
        p = r + size / before * p
    return x, steps


def test_conjugate_gradients_take_as_many_steps_as_in_f32():
    n, columns = 64, 8
    turns, _ = np.linalg.qr(normal((n, n), 5).astype("float64"))
    a = ((turns * np.logspace(0, 1.5, n)) @ turns.T).astype("float32")  # a condition of 32
    b = normal((n, columns), 6)
    kernel = jg.kernel(m=n, n=columns, k=n, a="f32", layout="tt", **IN_PARTS)
    assert "f16x3" in kernel.name
    _, expected = conjugate_gradients(np.matmul, a, b)
    assert (expected < 100).all()
    for multiply in (kernel, lambda a, p: jg.matmul(a, p, math="f16x3", device=EMULATOR)):
        x, steps = conjugate_gradients(multiply, a, b)
        assert (abs(steps - expected) <= 1).all()
        assert np.linalg.norm(product_in_f64(a, x) - b) <= 1e-4 * np.linalg.norm(b)


def ill_conditioned(conditions, k, seed=4):
    """Rows of A and columns of B. The sum of row i by column i has about the i-th condition: after half of K, each
    product cancels most of the sum so far (Ogita, Rump and Oishi, Accurate Sum and Dot Product, 2005)."""
    random = np.random.default_rng(seed)
    a, b = np.zeros((len(conditions), k), "float32"), np.zeros((k, len(conditions)), "float32")
    for i, condition in enumerate(conditions):
        largest = np.log2(condition) / 2
        powers = np.concatenate([random.uniform(0, largest, k // 2), np.linspace(largest, 0, k - k // 2)]).round()
        powers[0] = round(largest)
        total = Fraction(0)
        for j, power in enumerate(powers):
            a[i, j] = random.uniform(-1, 1) * 2**power
            wanted = random.uniform(-1, 1) * 2**power
            b[j, i] = wanted if j < k // 2 else (Fraction(wanted) - total) / Fraction(float(a[i, j]))
            total += Fraction(float(a[i, j])) * Fraction(float(b[j, i]))
    return a, b


def exact_products(a, b):
    """Sums of products, and of their absolute values, as fractions."""
    rows, columns = [[Fraction(float(x)) for x in line] for line in a], [[Fraction(float(x)) for x in c] for c in b.T]
    products = [[[x * y for x, y in zip(row, column)] for column in columns] for row in rows]
    return [[sum(of) for of in row] for row in products], [[sum(map(abs, of)) for of in row] for row in products]


def test_ill_conditioned_sums_keep_the_promise():
    k, conditions = 64, [10.0**power for power in range(0, 13, 2)]
    a, b = ill_conditioned(conditions, k)
    exact, sizes = exact_products(a, b)
    for i, condition in enumerate(conditions):
        assert 0.05 * condition <= 2 * sizes[i][i] / abs(exact[i][i]) <= 1000 * condition
    largest_a, largest_b = abs(a.astype("float64")).max(1), abs(b.astype("float64")).max(0)
    for math in ("f16x3", "bf16x6", "tf32x3"):
        d = multiply_in_parts(a, b, math=math)
        for i in range(len(conditions)):
            for j in range(len(conditions)):
                last = 2**-38 * largest_a[i] * largest_b[j] if math == "f16x3" else 2**-134 * (largest_a + largest_b)[i]
                allowed = (2**-20 + k * 2**-30) * float(sizes[i][j]) + k * last
                assert abs(Fraction(float(d[i, j])) - exact[i][j]) <= allowed, (math, i, j)


def subspace_iteration(multiply, a, columns, most=200):
    """The largest eigenvalues of a symmetric matrix, and the steps until their residuals are 1e-5 of them."""
    q = np.linalg.qr(normal((len(a), columns), 8))[0]
    for step in range(1, most):
        aq = multiply(a, q)
        values, turns = np.linalg.eigh(q.T @ aq)
        if np.linalg.norm(aq @ turns - q @ turns * values) <= 1e-5 * np.linalg.norm(values):
            break
        q = np.linalg.qr(aq)[0]
    return values, step


def test_eigenvalues_take_as_many_steps_as_in_f32():
    n, columns = 64, 8
    turns, _ = np.linalg.qr(normal((n, n), 7).astype("float64"))
    spectrum = np.concatenate([np.linspace(2, 1, columns), np.linspace(0.6, 0, n - columns)])
    a = ((turns * spectrum) @ turns.T).astype("float32")
    kernel = jg.kernel(m=n, n=columns, k=n, a="f32", layout="tt", **IN_PARTS)
    _, expected = subspace_iteration(np.matmul, a, columns)
    assert expected < 100
    for multiply in (kernel, lambda a, q: jg.matmul(a, q, math="f16x3", device=EMULATOR)):
        values, steps = subspace_iteration(multiply, a, columns)
        assert abs(steps - expected) <= 1
        assert abs(values - spectrum[columns - 1 :: -1]).max() <= 1e-5


def test_a_variable_is_the_default(tmp_path):
    program = f"""
import jitgemm as jg
import numpy as np
for options in ({{}}, {{"math": "bf16x3"}}):
    print(jg.kernel(m=64, n=64, k=64, a="f32", family="wgmma_warp_specialized", device="{EMULATOR}", **options).name)
print(jg.kernel("f16 tn 64 64 64", device="{EMULATOR}").name)
jg.matmul(*np.ones((2, 8, 8), "float32"), device="{EMULATOR}")
"""
    asked = tmp_path / "asked.txt"

    def run(math):
        variables = {"JITGEMM_MATH": math, "JITGEMM_LOG": "info", "JITGEMM_RECORD": str(asked)}
        environment = {**os.environ, **variables}
        return subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)

    told = run("f16x3")
    default, own, of_f16 = told.stdout.split()
    assert "_f16x3_" in default and "_bf16x3_" in own and "f16x3" not in of_f16
    assert "math=f16x3" in asked.read_text()
    assert told.stderr.count("JITGEMM_MATH") == 1
    wrong = run("tf33")
    assert wrong.returncode != 0 and "JITGEMM_MATH is 'tf33'" in wrong.stderr and "f16x3" in wrong.stderr
