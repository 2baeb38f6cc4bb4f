"""A kernel for one problem."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

from . import _dtypes
from ._core import Kernel
from ._errors import SpecError

_FORMAT = "gemm-v9"


def kernel(
    spec: str | None = None,
    /,
    *,
    device: str | None = None,
    kernel: str | None = None,
    family: str | None = None,
    param: str | None = None,
    m: int | None = None,
    n: int | None = None,
    k: int | None = None,
    a: Any = None,
    b: Any = None,
    c: Any = None,
    d: Any = None,
    acc: Any = None,
    layout: str | None = None,
    d_layout: str | None = None,
    broadcast_c: bool | str | None = None,
    lda: int | None = None,
    ldb: int | None = None,
    ldc: int | None = None,
    ldd: int | None = None,
    align_a: int | None = None,
    align_b: int | None = None,
    align_c: int | None = None,
    align_d: int | None = None,
    constant_a: bool | str | None = None,
    constant_b: bool | str | None = None,
    deterministic: str | None = None,
    epilogue: str | None = None,
    sums: str | None = None,
    math: str | None = None,
    prepared: str | None = None,
    symmetric: bool | str | None = None,
    on_miss: str | None = None,
) -> Kernel:
    """The kernel for a problem: from memory, else the cache on disk, else compiled now, a second or so.

    spec: "bf16 tn 4096 4096 4096" (type, layout, m, n, k) or "gemm-v1 m=4096 ...". Or its fields as keywords; m, n and
      k must be given:
      m, n, k: C and D are m×n, A is m×k, B is k×n.
      a, b, c, d, acc: types of the matrices and of the accumulator, each a dtype or its name ("f16", "float16",
        numpy.float16). Default: a is bf16, b and d are as a, and there is no c.
      layout, d_layout: BLAS letters of A and B, and of C and D: `t` row-major, `n` column-major. "tn" (default) is
        x @ w.T, "tt" is a @ b.
      broadcast_c: True where C is one row that is added to every row of D, as a bias is.
      lda, ldb, ldc, ldd: leading dimensions in elements (default: packed).
      align_a, align_b, align_c, align_d: alignments in bytes (default: what the leading dimensions give).
      constant_a, constant_b: True promises that no kernel still running writes A or B (weights).
      deterministic: "run_to_run" (default) or "batch_invariant".
      sums: "promoted" (default of e4m3 and e5m2) or "fast": tensor cores alone add products.
      math: how f32 is multiplied: "ieee" (default, or JITGEMM_MATH), "f16x3", "bf16x6",
        "tf32x3", "bf16x3" or "tf32".
      symmetric: D = alpha A A^T at half the work, without b: k(a, None).
      prepared: "a", "b" or "ab": operands that calls take as k.prepare_a(a) and k.prepare_b(b) made them.
      epilogue: what is stored, "bias: bf16[n]; d = relu(acc + bias[n])". A call gives its operands as keywords.
    device: "cuda" (the current GPU), "cuda:1", "emulator", "emulator:sm_90a"; default: that of set_device, else "cuda".
    kernel, family, param: force a kernel by its name, keep to a family, fix parameters ("stages=4,block=128x256x32").

    on_miss: what happens if the kernel is not loaded: "wait" (default, or JITGEMM_ON_MISS), "serve" at once by another
      kernel until it has been compiled in the background, or "fail".

    Raises SpecError, ConfigError (no kernel serves it), CompileError, CudaError, KernelNotReady.
    """
    given = {name: value for name, value in locals().items() if name in _FIELDS and value is not None}
    text = spec if spec is not None and not given else spec_of_fields("kernel", spec, given)
    return Kernel(text, device=device, kernel=kernel, family=family, param=param, on_miss=on_miss)


def spec_of_fields(function: str, spec: str | None, given: dict[str, Any]) -> str:
    """The text of a problem that is told by its fields."""
    if spec is not None:
        raise TypeError(f"{function}() takes a spec or its fields, and got both: {', '.join(given)}")
    unknown = [name for name in given if name not in _FIELDS]
    if unknown:
        raise TypeError(f"{function}() got an unexpected keyword argument '{unknown[0]}'")
    return " ".join([_FORMAT, *(_assignment(name, value) for name, value in given.items())])


def _size(value: Any) -> str:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ValueError("an integer")
    return str(index(value))


def _flag(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _word(value, 'True, False, "yes" or "no"')


def _dtype(value: Any) -> str:
    return _word(_dtypes.word(value), "a dtype or its name")


def _determinism(value: Any) -> str:
    return _word(value, '"run_to_run" (default) or "batch_invariant"')


def _sums(value: Any) -> str:
    return _word(value, '"promoted" or "fast"')


def _math(value: Any) -> str:
    return _word(value, '"ieee", "f16x3", "bf16x3", "tf32", "bf16x6" or "tf32x3"')


def _prepared(value: Any) -> str:
    return _word(value, '"a", "b", "ab" or "none"')


def _epilogue(value: Any) -> str:
    if isinstance(value, str) and value and "'" not in value:
        return f"'{value}'"
    raise ValueError("a text without the quote ', as \"d = relu(acc)\"")


def _word(value: Any, expected: str = "a word") -> str:
    """A value as a spec's text has it: nothing in it begins another field, or a comment."""
    if isinstance(value, str) and value and all(sign.isalnum() or sign in "_-.:" for sign in value):
        return value
    raise ValueError(expected)


def _assignment(name: str, value: Any) -> str:
    try:
        return f"{name.replace('_', '-')}={_FIELDS[name](value)}"
    except ValueError as error:
        reason = f"{name} is {value!r}: expected {error}"
        raise SpecError(f"invalid problem: {reason}", (reason,)) from None


_FIELDS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("m", "n", "k"), _size),
    **{f"{kind}{matrix}": _size for kind in ("ld", "align_") for matrix in "abcd"},
    **dict.fromkeys(("a", "b", "c", "d", "acc"), _dtype),
    **dict.fromkeys(("layout", "d_layout"), _word),
    **dict.fromkeys(("broadcast_c", "constant_a", "constant_b", "symmetric"), _flag),
    "deterministic": _determinism,
    "epilogue": _epilogue,
    "sums": _sums,
    "math": _math,
    "prepared": _prepared,
}
