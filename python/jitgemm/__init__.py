"""jitgemm: a matrix-multiply kernel for the problem in hand, generated, compiled and launched while the program runs.

    import jitgemm as jg
    d = jg.matmul(x, w.T)                           # arrays on a GPU, of PyTorch, CuPy, JAX ...
    k = jg.kernel("bf16 tn 4096 4096 4096")         # one kernel: k(x, w.T, out=d), k.source, k.explain()

    jg.set_device("emulator")                       # without a GPU: kernels run on the CPU, checked
    d = jg.matmul(numpy.ones((6, 5), "float32"), numpy.ones((5, 4), "float32"))

jitgemm.list says which kernels there are; it is not in __all__, as Python has a list. Where PyTorch is installed,
jitgemm.torch has products with gradients. docs/python.md has more.
"""

from __future__ import annotations

import typing as _typing

from ._core import Kernel, KernelSet, Prepared, batched_matmul, grouped_matmul, matmul, syrk
from ._core import version as __version__
from ._errors import (
    CompileError,
    ConfigError,
    CudaError,
    EmulatorFault,
    Error,
    KernelNotReady,
    LayoutError,
    OperandError,
    RenderError,
    SpecError,
    UsageError,
)

if _typing.TYPE_CHECKING:
    from . import torch as torch
    from ._device import device, get_device, set_device
    from ._kernel import kernel
    from ._kernel_set import kernels
    from ._layout import Layout, layout
    from ._scaled import scaled_matmul
    from ._verbs import bench, doctor, tune
    from ._warm import record, stop_recording, warm
    from ._verbs import list as list

__all__ = [
    "CompileError",
    "ConfigError",
    "CudaError",
    "EmulatorFault",
    "Error",
    "Kernel",
    "KernelNotReady",
    "KernelSet",
    "Layout",
    "LayoutError",
    "OperandError",
    "Prepared",
    "RenderError",
    "SpecError",
    "UsageError",
    "__version__",
    "batched_matmul",
    "bench",
    "device",
    "doctor",
    "get_device",
    "grouped_matmul",
    "kernel",
    "kernels",
    "layout",
    "matmul",
    "record",
    "scaled_matmul",
    "set_device",
    "stop_recording",
    "syrk",
    "tune",
    "warm",
]

# Loaded when they are asked for: a program that multiplies pays for nothing else.
_LAZY = {
    "device": "_device",
    "get_device": "_device",
    "set_device": "_device",
    "kernel": "_kernel",
    "kernels": "_kernel_set",
    "Layout": "_layout",
    "layout": "_layout",
    "scaled_matmul": "_scaled",
    "bench": "_verbs",
    "doctor": "_verbs",
    "list": "_verbs",
    "tune": "_verbs",
    "record": "_warm",
    "stop_recording": "_warm",
    "warm": "_warm",
}


if not _typing.TYPE_CHECKING:  # which would take any name for one of these

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name == "torch":
            try:
                return import_module(".torch", __name__)
            except ImportError as error:
                raise AttributeError(f"jitgemm.torch needs PyTorch, which can't be imported here: {error}") from error
        if name not in _LAZY:
            raise AttributeError(f"module 'jitgemm' has no attribute '{name}'")
        value = getattr(import_module("." + _LAZY[name], __name__), name)
        globals()[name] = value
        return value


def __dir__() -> object:
    from importlib.util import find_spec

    of_every_module = {name for name in globals() if name.startswith("__")}
    return sorted({*of_every_module, *__all__, "list", *(["torch"] if find_spec("torch") else [])})
