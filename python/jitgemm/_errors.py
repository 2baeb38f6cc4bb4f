"""Exceptions. Each has `reasons`: every rule that was broken, a sentence each."""

from __future__ import annotations

from collections.abc import Iterable


class Error(Exception):
    """Root of what jitgemm raises on purpose."""

    def __init__(self, message: str, reasons: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.reasons = tuple(reasons) or (message,)


class SpecError(Error, ValueError):
    """The problem makes no sense, or a launch does not fit it: an extent, a leading dimension, an alignment."""


class OperandError(SpecError, TypeError):
    """An array cannot be an operand, or an object is no stream.

    The message says why: for example its shape, type, device or layout does not fit, or it is read-only or masked.
    """


class ConfigError(Error, ValueError):
    """No kernel serves the problem, or the one that was named does not fit it or this GPU."""


class RenderError(Error):
    """A template that the environment names can't be resolved; the text begins "file:line: "."""


class CompileError(Error):
    """NVRTC refused the source, or was not found. `log`: the compiler's words."""

    def __init__(self, message: str, reasons: Iterable[str] = (), *, log: str = "") -> None:
        super().__init__(message, reasons)
        self.log = log


class KernelNotReady(Error):
    """A request with on_miss="fail" needs a kernel that is not loaded. `kernel`: its name."""

    def __init__(self, message: str, reasons: Iterable[str] = (), *, kernel: str = "") -> None:
        super().__init__(message, reasons)
        self.kernel = kernel


class CudaError(Error):
    """A call of the driver failed. `result`: "CUDA_ERROR_...", `call`: the function."""

    def __init__(self, message: str, reasons: Iterable[str] = (), *, result: str = "", call: str = "") -> None:
        super().__init__(message, reasons)
        self.result = result
        self.call = call


class LayoutError(Error, ValueError):
    """A layout's text or a rule of its algebra."""


class EmulatorFault(Error):
    """The emulator found a kernel doing what it must not, and says where."""


class UsageError(Error, ValueError):
    """The tool `jitgemm` was asked in a way that it does not know."""


for _class in (
    Error,
    SpecError,
    OperandError,
    ConfigError,
    RenderError,
    CompileError,
    KernelNotReady,
    CudaError,
    LayoutError,
    EmulatorFault,
    UsageError,
):
    _class.__module__ = "jitgemm"  # where programs find it, and what a traceback prints
