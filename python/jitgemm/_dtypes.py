"""dtypes of other libraries, as the words that jitgemm reads."""

from __future__ import annotations

from typing import Any

from . import _core

_OF_PYTHON = {float: "float64", int: "int64", bool: "bool", complex: "complex128"}  # as numpy takes them


def word(dtype: Any) -> str:
    """ "float16" for "float16", numpy.float16, numpy.dtype("float16"), torch.float16 and jax.numpy.float16.

    What is no dtype is told by its type.
    """
    if isinstance(dtype, str):
        return dtype
    if isinstance(dtype, type):
        return _OF_PYTHON.get(dtype, dtype.__name__)
    if type(dtype).__name__.lower().endswith("dtype") or hasattr(dtype, "isnative"):
        is_named = getattr(dtype, "isnative", False)  # numpy's; another order of bytes is in its text alone
        return str(dtype.name if is_named else dtype).rpartition(".")[2]
    return _core.type_name(dtype)
