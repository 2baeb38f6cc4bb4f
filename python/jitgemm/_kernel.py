"""A kernel for one problem."""

from __future__ import annotations

import json
from typing import Any

from . import _core, _tool
from ._errors import SpecError

_FIRST_FORMAT = "gemm-v2"


class Kernel(_core.Kernel):
    """A kernel that is ready to launch, for one problem on one device. Threads may share it.

    k(a, b, *, out=None, alpha=1.0, beta=None, c=None, accumulate=False, stream=None, workspace=None,
    dependent_launch=None) does what jitgemm.matmul does, for arrays of just this problem's shapes, types and strides;
    `workspace` is a writable, contiguous array of at least k.workspace bytes, apart from all operands, in place of the
    library's own.
    """

    @property
    def json(self) -> dict[str, Any]:
        """Problem, kernel, registers, choice ... as jg_kernel_query answers "json" (docs/c.md)."""
        report: dict[str, Any] = json.loads(self._report())
        return report

    @property
    def launch_info(self) -> list[dict[str, Any]]:
        """What launching the cubin without jitgemm takes, an entry for each kernel launch, in order.

        `function`, `grid` and `block` (of three), `shared_bytes` (dynamic), `cluster`, `argument_bytes` and the other
        fields of an entry of `jitgemm dump --json`. The arguments are one struct by value: pack_arguments() fills it.
        """
        launches: list[dict[str, Any]] = json.loads(self._launches())
        for launch in launches:
            launch["rule"] = launch.pop("grid")
            launch["grid"] = (launch.pop("blocks"), 1, 1)
            launch["block"] = (launch["threads"], 1, 1)
        return launches

    def explain(self) -> str:
        """Why this kernel for this problem, and what limits it; a text for people."""
        place, _, number = self.device.partition(":")
        gpu = int(number) if place == "cuda" else None
        target = ["--arch", self.json["arch"]] if gpu is None else []
        asked = ["explain", *self.spec.split(), *target]
        text = _tool.text(asked, gpu)
        if self.name in text.splitlines()[:2]:
            return text
        # Another would be chosen now, or unasked.
        return _tool.text([*asked, "--kernel", self.name], gpu)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as what it is made from: whoever reads it, a spawned worker say, asks for the kernel again."""
        return _made_again, (type(self), self.spec, self.device, self.name)

    def __repr__(self) -> str:
        return f"<jitgemm.Kernel {self.name} on {self.device} for {self.spec}>"


def _made_again(kind: type[Kernel], spec: str, device: str, name: str) -> Kernel:
    return kind(spec, device=device, kernel=name)


def _field(key: str, value: Any) -> str:
    word = str(value)
    if not key.isidentifier() or any(character in word for character in " \t\r\n#"):
        reason = f"{key} is {word!r}: a field is one word, without blanks and '#'"
        raise SpecError(f"invalid problem: {reason}", (reason,))
    return f"{key.replace('_', '-')}={word}"


def kernel(
    spec: str | None = None,
    /,
    *,
    device: str | None = None,
    kernel: str | None = None,
    family: str | None = None,
    param: str | None = None,
    **fields: Any,
) -> Kernel:
    """The kernel for a problem: from memory, else the cache on disk, else compiled now, a second or so.

    spec: "bf16 tn 4096 4096 4096" (type, layout, m, n, k) or "gemm-v1 m=4096 ..."; or its keys as keywords, with _ for -:
      m=4096, n=4096, k=4096, a="f16", layout="tt", lda=4100. Layouts are BLAS letters of A and B, `t` row-major and `n`
      column-major: "tn" is x @ w.T, "tt" is a @ b.
    device: "cuda" (default: the current GPU), "cuda:1", "emulator", "emulator:sm_90a".
    kernel, family, param: force a kernel by its name, keep to a family, fix parameters ("stages=4,block=128x256x32").

    Raises SpecError, ConfigError (no kernel serves it), CompileError, CudaError.
    """
    if spec is None:
        spec = " ".join([_FIRST_FORMAT, *(_field(key, value) for key, value in fields.items())])
    elif fields:
        raise TypeError(f"kernel() takes a spec or its fields, and got both: {', '.join(fields)}")
    return Kernel(spec, device=device, kernel=kernel, family=family, param=param)
