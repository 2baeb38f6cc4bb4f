"""A few kernels that serve one problem for each m of a range."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._core import KernelSet
    from ._documents import KernelSetDocument


class KernelSetText:
    """Texts and facts of a set of kernels. The extension's type KernelSet inherits it."""

    __slots__ = ()

    if TYPE_CHECKING:  # the extension's

        @property
        def first_m(self) -> int: ...
        @property
        def last_m(self) -> int: ...
        @property
        def names(self) -> list[str]: ...
        def _report(self) -> str: ...

    @property
    def json(self) -> KernelSetDocument:
        """Kernels, the ranges of m that they serve, predicted ratios, as `jitgemm kernels --json` prints them."""
        from json import loads

        report: KernelSetDocument = loads(self._report())
        return report

    def __repr__(self) -> str:
        return f"<jitgemm.KernelSet of {len(self.names)} kernels for m={self.first_m}:{self.last_m}>"


def kernels(
    spec: str | None = None,
    /,
    *,
    m: tuple[int, int],
    device: str | None = None,
    family: str | None = None,
    param: str | None = None,
    **fields: Any,
) -> KernelSet:
    """A few kernels that serve one problem for each m of a range, compiled now or from the cache.

    spec: the problem, as for kernel. Its m does not count. Or its fields as keywords, n and k among them.
    m: the first and the last m. For each of them, kernel(m) of the result is a look-up.
    device, family, param: as for kernel. fields: as the keywords of kernel.

    Raises SpecError, ConfigError (no kernel serves it), CompileError, CudaError.
    """
    from ._core import KernelSet
    from ._kernel import spec_of_fields

    first, last = m
    text = spec if spec is not None and not fields else spec_of_fields("kernels", spec, {"m": first, **fields})
    return KernelSet(text, first, last, device=device, family=family, param=param)
