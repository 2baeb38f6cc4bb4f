"""Kernels before they are asked for: what a program asked is written down, and compiled ahead of the next run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from . import _core, _tool
from ._errors import ConfigError
from ._tool import Progress
from ._verbs import Shapes, _ShapeFile

if TYPE_CHECKING:
    from ._documents import WarmDocument

_RANGE_OF_M = re.compile(r"(?:\sm=|^\S+\s+\S+\s+)(?P<first>\d+):(?P<last>\d+)(?=\s|$)")


class record:
    """Appends every problem and range that this process asks for to a file, each once; warm reads the file.

    path: the file. It may exist, and several processes may record into it. As `with jitgemm.record(path): ...` it
    records until the block ends, else until stop_recording(). It holds for all threads. Raises Error for what is no
    regular file. A variable JITGEMM_RECORD=path does the same for a whole process.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        if not isinstance(self.path, str) or not self.path:
            raise TypeError(f"path is {path!r}: it must be the name of a file")
        self._before = _core.record(self.path)

    def __enter__(self) -> record:
        return self

    def __exit__(self, *_: object) -> None:
        _core.record(self._before)

    def __repr__(self) -> str:
        return f"jitgemm.record({self.path!r})"


def stop_recording() -> str | None:
    """Ends what record began. Returns the file's name, or None where nothing was recorded. Any thread may call it."""
    return _core.record(None)


def warm(
    shapes: Shapes,
    *,
    gpu: str | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> WarmDocument:
    """Compiles the kernels of many problems into the cache on disk, on all cores, so that no later request waits.

    shapes: as for bench, or the name of a file, as record's. A range of m that counts by one (m=1:8192) is one set of
      kernels.
    gpu: the GPU to compile for, "h200"; it need not be here. Default: this machine's, where the kernels are then loaded
      for the default device, too.
    jobs: number of processes (default: one per core).
    progress: called with documents that have an `event`: "progress" every second.
    Other keywords are the tool's options: family="wgmma".

    Problems that no kernel serves are in the result's `unserved`, kernels that did not compile in `failed`. What was
    interrupted goes on at the next call. Raises like bench, and Error where the cache can't be written.
    """
    with _ShapeFile(_named(shapes)) as file:
        words = _tool.options({"gpu": gpu, "jobs": jobs, **options})
        document = cast("WarmDocument", _tool.ask(["warm", "--shapes", file, *words], progress))
        if gpu is None and options.get("arch") is None:
            _load(file, options)
    return document


def _named(shapes: Shapes) -> Shapes:
    """A str without a blank is the name of a file: no problem is one word."""
    return Path(shapes) if isinstance(shapes, str) and len(shapes.split()) == 1 else shapes


def _load(file: str, options: dict[str, Any]) -> None:
    choice = {name: options.get(name) for name in ("family", "param")}
    for line in _problems(file):
        spec, rows = _rows_of(line)
        try:
            if rows is None:
                _core.Kernel(spec, kernel=options.get("kernel"), **choice)
            elif options.get("kernel") is None:  # a set has several kernels
                _core.KernelSet(spec, *rows, **choice)
        except ConfigError:  # one of `unserved`
            pass


def _problems(file: str) -> Iterator[str]:
    """Lines without ranges, or with one of m that counts by one: the others are many problems."""
    for line in Path(file).read_text(encoding="utf-8-sig").splitlines():
        words = line.partition("#")[0].strip()
        if words and words.count(":") == (_RANGE_OF_M.search(words) is not None):
            yield words


def _rows_of(line: str) -> tuple[str, tuple[int, int] | None]:
    """The line with its first m, and the range of m; None where it has no range."""
    if (found := _RANGE_OF_M.search(line)) is None:
        return line, None
    first, last = int(found["first"]), int(found["last"])
    plain = line[: found.start("first")] + found["first"] + line[found.end() :]
    if not plain.startswith("gemm-"):
        words = plain.split()
        named = (word.partition("=") if "=" in word else (name, "=", word) for name, word in zip("mnk", words[2:]))
        sizes = {name: size for name, _, size in named}
        plain = " ".join([*words[:2], sizes["m"], sizes["n"], sizes["k"]])
    return plain, (first, last)
