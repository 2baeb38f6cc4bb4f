"""The tool's verbs: each function starts the tool and returns its document. docs/cli.md lists their pages."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union, cast

from . import _core, _tool
from ._tool import Progress

if TYPE_CHECKING:
    from ._documents import BenchDocument, DoctorDocument, ListDocument, TuneDocument

Shapes = Union[str, "os.PathLike[str]", Iterable[str]]


def list(
    spec: str, *, gpu: str | None = None, arch: str | None = None, limit: int = 20, why: bool = False
) -> ListDocument:
    """Candidate kernels for a problem in the heuristic's order, with their predicted times in microseconds.

    spec: as for kernel. gpu, arch: "h200" or "sm_90a" (default: this machine's GPU). limit: how many, 0 for all.
    why: list the rejected ones too, each with its reasons. Raises UsageError, SpecError, ConfigError.
    Any thread may call it.
    """
    _check_text("spec", spec)
    options = _tool.options({"gpu": gpu, "arch": arch, "limit": limit, "why": why})
    return cast("ListDocument", _tool.ask(["list", *spec.split(), *options]))


def bench(shapes: Shapes, *, against: str | None = "cublaslt", **options: Any) -> BenchDocument:
    """Times kernels on a GPU, in turns with a peer. Times are in microseconds.

    shapes: one problem ("bf16 tn 4096 4096 4096", "gemm-v1 m=4096 ..."), several, or a file with one per line.
    against: "cublaslt", a peer library ("lib:PEER.so"), or None.
    Other keywords are the tool's options: protocol="cold", rounds=31, device="cuda:1". Ctrl-C ends it.

    Raises the exception for the tool's error: UsageError, SpecError, ConfigError (no kernel serves it), CompileError,
    CudaError. Any thread may call it.
    """
    with _ShapeFile(shapes) as file:
        words = _tool.options({"against": against, **_on_default_device(options)})
        return cast("BenchDocument", _tool.ask(["bench", "--shapes", file, *words]))


def tune(
    shapes: Shapes, *, budget: str | None = None, progress: Progress | None = None, **options: Any
) -> TuneDocument:
    """Searches the fastest kernels for problems, and keeps the winners for every later request, in this process too.

    shapes: as for bench. budget: time for all together ("90s", "2m").
    progress: called with documents that have an `event`: "progress" every second, "problem" when a problem ends.
    Other keywords are the tool's options: report="tune.html".

    Kernels made before stay as they are. New ones are chosen anew. Ctrl-C or an exception of `progress` ends the search
    and keeps its results. The same call then continues from there. Raises like bench. Any thread may call it.
    """
    try:
        with _ShapeFile(shapes) as file:
            words = _tool.options({"budget": budget, **_on_default_device(options)})
            return cast("TuneDocument", _tool.ask(["tune", "--shapes", file, *words], progress))
    finally:
        _core.forget()  # an interrupted search has its winners, too


def doctor() -> DoctorDocument:
    """Lists parts that are found or missing: driver, GPUs, NVRTC, cache, the emulator. `ok`: a GPU can be used here."""
    return cast("DoctorDocument", _tool.ask(["doctor"]))


def _on_default_device(options: dict[str, Any]) -> dict[str, Any]:
    """A verb's options, with the default device where they name none."""
    if options.get("device") is not None or options.get("devices") is not None:
        return options
    return {**options, "device": _core.default_device()}


def _check_text(name: str, text: Any) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{name} is {text!r}: it must be a str, such as 'bf16 tn 4096 4096 4096'")


class _ShapeFile:
    """Shapes as a file, removed afterwards unless it was the caller's."""

    def __init__(self, shapes: Shapes) -> None:
        self.lines: Sequence[str] | None = None
        if isinstance(shapes, os.PathLike):
            self.path = Path(shapes)
        else:
            self.lines = [shapes] if isinstance(shapes, str) else [*shapes]
            for line in self.lines:
                _check_text("shapes", line)

    def __enter__(self) -> str:
        if self.lines is not None:
            self._write("".join(line + "\n" for line in self.lines).encode())
        return str(self.path)

    def _write(self, text: bytes) -> None:
        handle, name = tempfile.mkstemp(prefix="jitgemm-", suffix=".txt")
        self.path = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text)
        except BaseException:
            self.path.unlink()
            raise

    def __exit__(self, *_: object) -> None:
        if self.lines is not None:
            self.path.unlink()
