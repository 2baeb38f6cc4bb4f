"""The program `jitgemm`, which the wheel brings: started as it is, or asked for one JSON document."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import _errors, _log
from . import _folders as folders

Document = dict[str, Any]
Progress = Callable[[Document], None]


def environment() -> dict[str, str]:
    """The process's, with the defaults where it says nothing."""
    return {"JITGEMM_WHEELS": folders.wheels(), "JITGEMM_TOOL": folders.tool(), **os.environ}


def seeing(gpu: int, all_of: Mapping[str, str]) -> dict[str, str]:
    """An environment in which that GPU of this process is the only one, and so the first."""
    visible = [name.strip() for name in all_of.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    return {**all_of, "CUDA_VISIBLE_DEVICES": visible[gpu] if gpu < len(visible) else str(gpu)}


def main() -> None:
    """Becomes the tool, with the signals that Python ignores as they were: `jitgemm dump ... | head` ends silently."""
    import signal

    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    tool = folders.tool()
    os.execve(tool, ["jitgemm", *sys.argv[1:]], environment())


def ask(arguments: Iterable[str], progress: Progress | None = None) -> Document:
    """The tool's answer to --json. `progress` is called with each document that the tool writes to stderr meanwhile.

    Raises the exception for the error that the tool reports. An exception raised meanwhile (KeyboardInterrupt, or one
    of `progress`) first ends the tool.
    """
    import subprocess
    import threading

    command = [folders.tool(), *arguments, "--json"]
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        answer: list[str] = []
        reader = threading.Thread(target=lambda stdout: answer.append(stdout.read()), args=(process.stdout,))
        reader.start()
        said: list[str] = []
        try:
            _listen(process.stderr, progress, said)
        except BaseException:  # Ctrl-C, or the caller's own: what it asked for is not wanted any more
            _stop(process)
            raise
        finally:
            reader.join()
    document = _checked(answer[0], "".join(said), process.returncode)
    for line in said:
        _log.deliver_line(line)
    return document


def text(arguments: Iterable[str], gpu: int | None = None) -> str:
    """The tool's output for people. If `gpu` is given, the tool takes this GPU of the process as the machine's."""
    import subprocess

    command = [folders.tool(), *arguments]
    its = environment() if gpu is None else seeing(gpu, environment())
    done = subprocess.run(command, env=its, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise _errors.Error(done.stderr.strip() or f"jitgemm ended with status {done.returncode}")
    return done.stdout


def _listen(stderr: Any, progress: Progress | None, said: list[str]) -> None:
    """Documents are the caller's, the rest is kept."""
    for line in stderr:
        if not line.startswith("{"):
            said.append(line)
        elif progress is not None:
            progress(json.loads(line))


_SECONDS_TO_STOP = 5  # the tool takes two at most


def _stop(process: Any) -> None:
    """Sends SIGINT, as Ctrl-C does: the tool keeps its results. It ignores this one after a Ctrl-C in the terminal."""
    import signal
    import subprocess

    try:
        process.send_signal(signal.SIGINT)
        process.wait(_SECONDS_TO_STOP)
    except BaseException as error:  # a second Ctrl-C
        process.kill()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise


_CLASSES = {
    "usage": _errors.UsageError,
    "spec": _errors.SpecError,
    "config": _errors.ConfigError,
    "layout": _errors.LayoutError,
    "compile": _errors.CompileError,
    "cuda": _errors.CudaError,
    "render": _errors.RenderError,
    "fault": _errors.EmulatorFault,
}


def _checked(text: str, said: str, status: int) -> Document:
    try:
        document: Document = json.loads(text)
    except ValueError:
        raise _errors.Error(f"jitgemm ended with status {status}: {said or text}") from None
    error = document.get("error")
    if not isinstance(error, Mapping):
        return document
    if error["kind"] == "interrupted":
        raise KeyboardInterrupt
    details = {key: error[key] for key in ("log", "result", "call") if key in error}
    raise _CLASSES.get(error["kind"], _errors.Error)(error["message"], error.get("reasons", ()), **details)


def options(fields: Mapping[str, Any]) -> list[str]:
    """A problem's fields, or a function's keywords, as the tool's options: align_a=2 is --align-a 2."""
    words = []
    for name, value in fields.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(str(value))
    return words
