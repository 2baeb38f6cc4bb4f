"""Texts and facts of a kernel. The extension's type Kernel inherits them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._documents import KernelDocument, LaunchDocument


class KernelText:
    """Texts and facts of a kernel."""

    __slots__ = ()

    if TYPE_CHECKING:  # the extension's

        @property
        def name(self) -> str: ...
        @property
        def spec(self) -> str: ...
        @property
        def source(self) -> str: ...
        @property
        def device(self) -> str: ...
        @property
        def workspace(self) -> int: ...
        def _report(self) -> str: ...
        def _launches(self) -> str: ...

    @property
    def json(self) -> KernelDocument:
        """Problem, kernel, registers, choice ... as jg_kernel_query answers "json" (docs/c.md)."""
        from json import loads

        report: KernelDocument = loads(self._report())
        return report

    @property
    def launch_info(self) -> list[LaunchDocument]:
        """All facts for launches of the cubin without jitgemm: an entry for each kernel launch, in order.

        `function`, `grid` and `block` (of three), `shared_bytes` (dynamic), `cluster`, `argument_bytes` and the other
        fields of an entry of `jitgemm dump --json`. The arguments are one struct by value: pack_arguments() fills it.
        """
        from json import loads

        launches = loads(self._launches())
        for launch in launches:
            launch["rule"] = launch.pop("grid")
            launch["grid"] = (launch.pop("blocks"), 1, 1)
            launch["block"] = (launch["threads"], 1, 1)
        documents: list[LaunchDocument] = launches
        return documents

    def explain(self) -> str:
        """Why this kernel for this problem, and what limits it; a text for people."""
        from . import _tool

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
        from ._errors import Error

        try:
            return f"<jitgemm.Kernel {_title(self.spec)} on {self.device}: {self.name}>"
        except Error as error:  # one that was not made, or that a fork inherited
            return f"<jitgemm.Kernel: {error}>"

    def _repr_html_(self) -> str:
        """A notebook's view: what it is, what it takes, why it was chosen, and its source."""
        from html import escape

        of = self.json
        registers = f"{of['registers']} per thread, {of['spill_bytes']} bytes spilled"
        rows = {
            "problem": _title(self.spec),
            "device": self.device,
            "chosen": of["choice_reason"],
            "launch": f"{of['blocks']} block{'s' if of['blocks'] != 1 else ''} of {of['threads']} threads",
            **({"registers": registers} if of["registers"] else {}),  # PTX, on the emulator, has none yet
            "shared memory": f"{of['shared_bytes']} bytes per block",
            "workspace": f"{self.workspace} bytes",
        }
        cells = "".join(f"<tr><th>{name}</th><td>{escape(value)}</td></tr>" for name, value in rows.items())
        return (
            f"<b>{escape(self.name)}</b><table>{cells}</table>"
            f"<details><summary>source</summary><pre>{escape(self.source)}</pre></details>"
        )


def _made_again(kind: Any, spec: str, device: str, name: str) -> Any:
    return kind(spec, device=device, kernel=name)


def _title(spec: str) -> str:
    """ "bf16 tn 4096x4096x4096" of a spec in full."""
    fields = dict(word.split("=") for word in spec.split()[1:])
    type_ = fields["a"] if fields["a"] == fields["b"] else f"{fields['a']}*{fields['b']}"
    return f"{type_} {fields['layout']} {fields['m']}x{fields['n']}x{fields['k']}"
