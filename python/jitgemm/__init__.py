"""jitgemm: a matrix-multiply kernel for the problem in hand, generated, compiled and launched while the program runs.

    import jitgemm as jg
    d = jg.matmul(x, w.T)                           # arrays on a GPU, of PyTorch, CuPy, JAX ...
    k = jg.kernel("bf16 tn 4096 4096 4096")         # one kernel: k(x, w.T, out=d), k.source, k.explain()

docs/python.md has more.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._core import matmul
from ._core import version as __version__
from ._errors import (
    CompileError,
    ConfigError,
    CudaError,
    EmulatorFault,
    Error,
    LayoutError,
    OperandError,
    RenderError,
    SpecError,
    UsageError,
)

if TYPE_CHECKING:
    from . import torch
    from ._kernel import Kernel, kernel
    from ._layout import Layout, layout
    from ._verbs import bench, doctor, list, tune

__all__ = [
    "CompileError",
    "ConfigError",
    "CudaError",
    "EmulatorFault",
    "Error",
    "Kernel",
    "Layout",
    "LayoutError",
    "OperandError",
    "RenderError",
    "SpecError",
    "UsageError",
    "__version__",
    "bench",
    "doctor",
    "kernel",
    "layout",
    "list",
    "matmul",
    "torch",
    "tune",
]

# Loaded when they are asked for: a program that multiplies pays for nothing else.
_LAZY = {
    "Kernel": "_kernel",
    "kernel": "_kernel",
    "Layout": "_layout",
    "layout": "_layout",
    "bench": "_verbs",
    "doctor": "_verbs",
    "list": "_verbs",
    "tune": "_verbs",
}


def __getattr__(name: str) -> Any:
    if name == "torch":
        return import_module(".torch", __name__)
    if name not in _LAZY:
        raise AttributeError(f"module 'jitgemm' has no attribute '{name}'")
    value = getattr(import_module("." + _LAZY[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> Any:
    return sorted({*globals(), *__all__})
