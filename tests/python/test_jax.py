"""JAX's arrays: immutable as operands, new ones as results, refused while they are traced. By the emulator."""

from __future__ import annotations

import functools
import os
import subprocess
import sys

import jitgemm as jg
import pytest

np = pytest.importorskip("numpy")
jax = pytest.importorskip("jax")
jnp = jax.numpy

from conftest import small_integers

EMULATOR = "emulator:sm_80"
TYPES = ["float32", "float16", "bfloat16"]
CPU = jax.devices("cpu")[0]
matmul = functools.partial(jg.matmul, device=EMULATOR)


@pytest.fixture(autouse=True)
def arrays_in_host_memory():
    """Where JAX has a GPU, arrays lie there without this."""
    with jax.default_device(CPU):
        yield


def array(*shape, dtype="float32", seed=0):
    return jnp.asarray(small_integers(shape, seed=seed)).astype(dtype)


def exact(a, b):
    return np.asarray(a, "float64") @ np.asarray(b, "float64")


def assert_is(d, expected, dtype):
    assert isinstance(d, jax.Array) and d.dtype == dtype and d.devices() == {CPU}
    np.testing.assert_array_equal(np.asarray(d, "float64"), expected)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("m, n, k", [(6, 4, 5), (33, 17, 70), (6, 4, 0), (0, 4, 5), (6, 0, 5)])
def test_the_result_is_a_new_array_of_jax(dtype, m, n, k):
    a, b, c = array(m, k, dtype=dtype), array(k, n, dtype=dtype, seed=1), array(m, n, dtype=dtype, seed=2)
    row = array(n, dtype=dtype, seed=3)
    assert_is(matmul(a, b), exact(a, b), dtype)
    assert_is(matmul(a, b, c=c, beta=2), exact(a, b) + 2 * np.asarray(c, "float64"), dtype)
    assert_is(matmul(a, b, c=row), exact(a, b) + np.asarray(row, "float64"), dtype)
    assert_is(matmul(a, b, c=c[:, :1]), exact(a, b) + np.asarray(c[:, :1], "float64"), dtype)


def test_one_dimension_and_leading_ones():
    x, w = array(2, 3, 8), array(8, 7, seed=1)
    for a, b in ((x, w), (x[0, 0], w), (x[0], w[:, 0]), (x[0, 0], w[:, 0])):
        d = matmul(a, b)
        assert d.shape == (a @ b).shape
        assert_is(d, exact(a, b), "float32")


def test_a_kernel_makes_arrays_of_jax():
    a, b = array(6, 5), array(5, 4, seed=1)
    assert_is(jg.kernel("f32 tt 6 4 5", device=EMULATOR)(a, b), exact(a, b), "float32")


def test_no_array_of_jax_is_ever_written():
    a, b, z = array(6, 5), array(5, 4, seed=1), jnp.zeros((6, 4))
    alias = jnp.asarray(z)
    kernel = jg.kernel("f32 tt 6 4 5", device=EMULATOR)
    room = jnp.zeros(1 << 16, "uint8")
    for call in (
        lambda: matmul(a, b, out=z),
        lambda: matmul(a, b, out=z, accumulate=True),
        lambda: kernel(a, b, out=z),
        lambda: kernel(np.asarray(a), np.asarray(b), workspace=room),
    ):
        with pytest.raises(jg.OperandError, match="immutable"):
            call()
    assert not z.any() and not alias.any() and not room.any()


def test_results_share_no_memory():
    a, b = array(6, 5), array(5, 4, seed=1)
    first = matmul(a, b)
    before = np.array(first)
    second = matmul(-a, b)
    np.testing.assert_array_equal(first, before)
    np.testing.assert_array_equal(second, -before)


def test_the_arrays_of_other_libraries_beside_those_of_jax():
    a, b, out = array(6, 5), small_integers((5, 4), seed=1), np.zeros((6, 4), "float32")
    assert matmul(a, b, out=out) is out
    np.testing.assert_array_equal(out, exact(a, b))
    assert isinstance(matmul(a, b), jax.Array) and isinstance(matmul(b.T, np.asarray(a).T), np.ndarray)


TRACED = {
    "jit": lambda f, a: jax.jit(f)(a),
    "vmap": lambda f, a: jax.vmap(f)(a),
    "grad": lambda f, a: jax.grad(lambda x: f(x).sum())(a),
    "jvp": lambda f, a: jax.jvp(f, (a,), (a,)),
}


@pytest.mark.parametrize("trace", TRACED.values(), ids=TRACED)
@pytest.mark.parametrize("place", ["a", "b", "c"])
def test_tracers_are_refused_with_what_serves(trace, place):
    operands = {"a": array(6, 5), "b": array(5, 4, seed=1), "c": array(6, 4, seed=2)}

    def product(x):
        a, b, c = {**operands, place: x}.values()
        return matmul(a, b, c=c)

    with pytest.raises(jg.OperandError, match=f"^invalid array: {place} is a tracer.*pure_callback") as caught:
        trace(product, operands[place])
    assert len(caught.value.reasons) == 1


def test_a_callback_serves_a_traced_program():
    a, b = array(6, 5), array(5, 4, seed=1)

    @jax.jit
    def program(x, y):
        made = jax.ShapeDtypeStruct((x.shape[0], y.shape[1]), x.dtype)
        multiply = lambda p, q: matmul(np.asarray(p), np.asarray(q))  # noqa: E731
        return 2 * jax.pure_callback(multiply, made, x, y)

    np.testing.assert_array_equal(program(a, b), 2 * exact(a, b))


def test_a_deleted_array_is_refused():
    a, b = array(6, 5), array(5, 4, seed=1)
    a.delete()
    with pytest.raises(jg.OperandError, match="a is .* deleted"):
        matmul(a, b)


def test_the_result_is_on_the_device_of_the_operands():
    source = """
import jax, jitgemm as jg
first, second = jax.devices()
for device in (first, second):
    a, b = (jax.device_put(jax.numpy.ones(shape), device) for shape in ((6, 5), (5, 4)))
    for x in (a, a[:0], a[:, :0]):
        d = jg.matmul(x, b[: x.shape[1]], device="emulator")
        assert d.devices() == {device} and (d == x.shape[1]).all(), d
"""
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    ended = subprocess.run([sys.executable, "-c", source], env=environment, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr


class Exporter:
    """Of a library that is not known here."""

    def __init__(self, array, versioned):
        self.array, self.versioned = array, versioned

    def __dlpack__(self, *, stream=None, **how):
        return self.array.__dlpack__(stream=stream, **how) if self.versioned else self.array.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_a_capsule_that_cannot_say_that_it_may_be_written_is_not_written():
    a, b, out = small_integers((6, 5)), small_integers((5, 4), seed=1), np.zeros((6, 4), "float32")
    for call in (
        lambda: matmul(a, b, out=Exporter(out, versioned=False)),
        lambda: jg.kernel("f32 tt 6 4 5", device=EMULATOR)(a, b, out=Exporter(out, versioned=False)),
    ):
        with pytest.raises(jg.OperandError, match="out (is|may be) read-only"):
            call()
        assert not out.any()
    frozen = np.zeros((6, 4), "float32")
    frozen.flags.writeable = False
    with pytest.raises(jg.OperandError, match="out (is|may be) read-only"):
        matmul(a, b, out=Exporter(frozen, versioned=True))
    matmul(Exporter(a, versioned=False), b, out=Exporter(out, versioned=True))
    np.testing.assert_array_equal(out, exact(a, b))


def test_operands_of_an_epilogue():
    a, b = array(6, 5), array(5, 4, seed=1)
    bias, up = array(4, seed=2), array(6, 4, seed=3)
    expected = np.maximum(exact(a, b) + np.asarray(bias), 0) * np.asarray(up)
    assert_is(matmul(a, b, epilogue="d = relu(acc + bias[n]) * up[m,n]", bias=bias, up=up), expected, "float32")
    text = "d = relu(acc + c[n]) * out[m,n]"  # the name of an array that a call writes
    assert_is(matmul(a, b, epilogue=text, operands={"c": bias, "out": up}), expected, "float32")
