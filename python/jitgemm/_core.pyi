from collections.abc import Callable
from typing import Any, TypeVar, overload

from ._kernel_set import KernelSetText
from ._kernel_text import KernelText

version: str
DLPACK_CUDA: int
DLPACK_MANAGED: int

_A = TypeVar("_A")
_Out = TypeVar("_Out")

# A result is a new array of a's library, but for an out that is given.
@overload
def matmul(
    a: _A,
    b: Any,
    /,
    *,
    out: None = None,
    alpha: float = 1.0,
    beta: float | None = None,
    c: Any = None,
    accumulate: bool = False,
    stream: Any = None,
    device: Any = None,
    deterministic: str | None = None,
    dependent_launch: str | None = None,
    out_dtype: None = None,
    on_miss: str | None = None,
    epilogue: None = None,
    operands: None = None,
    sums: str | None = None,
    math: str | None = None,
) -> _A: ...
@overload
def matmul(
    a: Any,
    b: Any,
    /,
    *,
    out: _Out,
    alpha: float = 1.0,
    beta: float | None = None,
    c: Any = None,
    accumulate: bool = False,
    stream: Any = None,
    device: Any = None,
    deterministic: str | None = None,
    dependent_launch: str | None = None,
    out_dtype: Any = None,
    on_miss: str | None = None,
    epilogue: None = None,
    operands: None = None,
    sums: str | None = None,
    math: str | None = None,
) -> _Out: ...
@overload
def matmul(
    a: Any,
    b: Any,
    /,
    *,
    out: None = None,
    alpha: float = 1.0,
    beta: float | None = None,
    c: Any = None,
    accumulate: bool = False,
    stream: Any = None,
    device: Any = None,
    deterministic: str | None = None,
    dependent_launch: str | None = None,
    out_dtype: Any,
    on_miss: str | None = None,
    epilogue: None = None,
    operands: None = None,
    sums: str | None = None,
    math: str | None = None,
) -> Any: ...

# Keywords that are no arguments are operands or outputs of the epilogue. A text with several outputs gives a tuple of
# them, which unpacks as an array does.
@overload
def matmul(
    a: _A,
    b: Any,
    /,
    *,
    out: None = None,
    alpha: float = 1.0,
    beta: float | None = None,
    c: Any = None,
    accumulate: bool = False,
    stream: Any = None,
    device: Any = None,
    deterministic: str | None = None,
    dependent_launch: str | None = None,
    out_dtype: None = None,
    on_miss: str | None = None,
    epilogue: str,
    operands: dict[str, Any] | None = None,
    sums: str | None = None,
    math: str | None = None,
    **arrays: Any,
) -> _A: ...
@overload
def matmul(
    a: Any,
    b: Any,
    /,
    *,
    out: _Out,
    alpha: float = 1.0,
    beta: float | None = None,
    c: Any = None,
    accumulate: bool = False,
    stream: Any = None,
    device: Any = None,
    deterministic: str | None = None,
    dependent_launch: str | None = None,
    out_dtype: Any = None,
    on_miss: str | None = None,
    epilogue: str,
    operands: dict[str, Any] | None = None,
    sums: str | None = None,
    math: str | None = None,
    **arrays: Any,
) -> _Out: ...
@overload
def matmul(
    a: Any,
    b: Any,
    /,
    *,
    out: None = None,
    alpha: float = 1.0,
    beta: float | None = None,
    c: Any = None,
    accumulate: bool = False,
    stream: Any = None,
    device: Any = None,
    deterministic: str | None = None,
    dependent_launch: str | None = None,
    out_dtype: Any,
    on_miss: str | None = None,
    epilogue: str,
    operands: dict[str, Any] | None = None,
    sums: str | None = None,
    math: str | None = None,
    **arrays: Any,
) -> Any: ...

def grouped_matmul(
    a: Any,
    b: Any,
    /,
    offs: Any,
    *,
    expected_rows: int | None = None,
    rows: Any = None,
    out: Any = None,
    alpha: float = 1.0,
    beta: float | None = None,
    c: Any = None,
    accumulate: bool = False,
    stream: Any = None,
    device: Any = None,
    deterministic: str | None = None,
    dependent_launch: str | None = None,
    out_dtype: Any = None,
    on_miss: str | None = None,
    epilogue: str | None = None,
    operands: dict[str, Any] | None = None,
    sums: str | None = None,
    math: str | None = None,
    **arrays: Any,
) -> Any: ...

def batched_matmul(
    a: list[Any] | tuple[Any, ...],
    b: list[Any] | tuple[Any, ...],
    /,
    *,
    out: list[Any] | tuple[Any, ...] | None = None,
    alpha: float = 1.0,
    beta: float | None = None,
    c: list[Any] | tuple[Any, ...] | None = None,
    accumulate: bool = False,
    device: Any = None,
    deterministic: str | None = None,
    out_dtype: Any = None,
    on_miss: str | None = None,
    math: str | None = None,
) -> Any: ...
def syrk(
    a: Any,
    /,
    *,
    out: Any = None,
    alpha: float = 1.0,
    stream: Any = None,
    device: Any = None,
    deterministic: str | None = None,
    dependent_launch: str | None = None,
    out_dtype: Any = None,
    on_miss: str | None = None,
    epilogue: str | None = None,
    operands: dict[str, Any] | None = None,
    sums: str | None = None,
    math: str | None = None,
    **scalars: Any,
) -> Any: ...

class KernelSet(KernelSetText):
    def __init__(
        self,
        spec: str,
        first_m: int,
        last_m: int,
        /,
        *,
        device: Any = None,
        family: str | None = None,
        param: str | None = None,
    ) -> None: ...
    @property
    def first_m(self) -> int: ...
    @property
    def last_m(self) -> int: ...
    @property
    def names(self) -> list[str]: ...
    def __str__(self) -> str: ...
    def kernel(self, m: int, /) -> Kernel: ...
    def _report(self) -> str: ...

class Prepared:
    @property
    def form(self) -> str: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def array(self) -> Any: ...

class Kernel(KernelText):
    def __init__(
        self,
        spec: str,
        /,
        *,
        device: Any = None,
        kernel: str | None = None,
        family: str | None = None,
        param: str | None = None,
        on_miss: str | None = None,
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def spec(self) -> str: ...
    @property
    def cubin(self) -> bytes: ...
    @property
    def workspace(self) -> int: ...
    @property
    def device(self) -> str: ...
    @overload
    def __call__(
        self,
        a: _A,
        b: Any,
        /,
        *,
        out: None = None,
        alpha: float = 1.0,
        beta: float | None = None,
        c: Any = None,
        accumulate: bool = False,
        stream: Any = None,
        workspace: Any = None,
        dependent_launch: str | None = None,
        operands: dict[str, Any] | None = None,
        **arrays: Any,
    ) -> _A: ...
    @overload
    def __call__(
        self,
        a: Any,
        b: Any,
        /,
        *,
        out: _Out,
        alpha: float = 1.0,
        beta: float | None = None,
        c: Any = None,
        accumulate: bool = False,
        stream: Any = None,
        workspace: Any = None,
        dependent_launch: str | None = None,
        operands: dict[str, Any] | None = None,
        **arrays: Any,
    ) -> _Out: ...
    def prepare_a(self, a: Any, /, *, stream: Any = None) -> Prepared: ...
    def prepare_b(self, b: Any, /, *, stream: Any = None) -> Prepared: ...
    def pack_arguments(
        self,
        a: Any,
        b: Any,
        /,
        *,
        out: Any,
        alpha: float = 1.0,
        beta: float | None = None,
        c: Any = None,
        accumulate: bool = False,
        workspace: Any = None,
        operands: dict[str, Any] | None = None,
        **arrays: Any,
    ) -> list[bytes]: ...
    def _report(self) -> str: ...
    def _launches(self) -> str: ...

def device_name(device: Any, /) -> str: ...
def default_device() -> str | None: ...
def set_default_device(device: Any, /) -> None: ...
def follow_blocks(get: Callable[[], tuple[str, Any] | None], /) -> None: ...
def layout_evaluate(expression: str, /) -> tuple[str, str]: ...
def layout_text(expression: str, /) -> str: ...
def layout_table(expression: str, /) -> list[int]: ...
def layout_picture(expression: str, format: str, /) -> str: ...
def read_capsule(
    capsule: Any, name: str, /
) -> tuple[int, tuple[int, ...], tuple[int, ...], str, int, int, bool | None]: ...
def gpu_memory(gpu: int, shape: tuple[int, ...], type: str, /) -> Any: ...
def stream_handle(stream: Any, /) -> int: ...
def type_name(object: Any, /) -> str: ...
def check_words(device: Any, deterministic: Any, math: Any, /) -> None: ...
def current_gpu() -> int: ...
def forget() -> None: ...
def record(path: str | None, /) -> str | None: ...
