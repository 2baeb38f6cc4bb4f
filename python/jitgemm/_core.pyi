from typing import Any

version: str
DLPACK_CUDA: int
DLPACK_MANAGED: int

def matmul(
    a: Any,
    b: Any,
    /,
    *,
    out: Any = None,
    alpha: float = 1.0,
    beta: float | None = None,
    c: Any = None,
    accumulate: bool = False,
    stream: Any = None,
    device: str | None = None,
    deterministic: str | None = None,
    dependent_launch: str | None = None,
) -> Any: ...

class Kernel:
    def __init__(
        self,
        spec: str,
        /,
        *,
        device: str | None = None,
        kernel: str | None = None,
        family: str | None = None,
        param: str | None = None,
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
    def __call__(
        self,
        a: Any,
        b: Any,
        /,
        *,
        out: Any = None,
        alpha: float = 1.0,
        beta: float | None = None,
        c: Any = None,
        accumulate: bool = False,
        stream: Any = None,
        workspace: Any = None,
        dependent_launch: str | None = None,
    ) -> Any: ...
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
    ) -> list[bytes]: ...
    def _report(self) -> str: ...
    def _launches(self) -> str: ...

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
def check_words(device: Any, deterministic: Any, /) -> None: ...
def current_gpu() -> int: ...
def forget() -> None: ...
