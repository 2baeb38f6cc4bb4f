"""Documents that kernels and the tool answer with, for type checkers.

The pages that docs/cli.md lists say what the fields mean. A document may have more of them.
"""

from __future__ import annotations

from typing import Any, TypedDict


class _UnusualFields(TypedDict, total=False):
    broadcast_c: str | None
    constant_a: str
    constant_b: str
    deterministic: str
    epilogue: str
    prepared: str


class SpecDocument(_UnusualFields):
    """A problem. Some fields are there only where they are not as usual."""

    type: str
    layout: str
    m: int
    n: int
    k: int
    a_type: str
    b_type: str
    c_type: str | None
    d_type: str
    acc_type: str
    d_layout: str
    lda: int
    ldb: int
    ldc: int | None
    ldd: int
    align_a: int
    align_b: int
    align_c: int | None
    align_d: int


class KernelDocument(SpecDocument):
    """Kernel.json."""

    kernel: str
    arch: str
    registers: int
    spill_bytes: int
    stack_bytes: int
    threads: int
    shared_bytes: int
    blocks: int
    workspace_bytes: int
    compile_ms: float
    cache: str
    choice: str
    choice_reason: str
    warnings: list[str]


class LaunchDocument(TypedDict):
    """An entry of Kernel.launch_info."""

    function: str
    threads: int
    shared_bytes: int
    cluster: int
    programmatic_launch: bool
    argument_bytes: int
    arguments: list[dict[str, Any]]
    rule: dict[str, Any]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]


class CandidateDocument(TypedDict):
    """A candidate of jitgemm.list."""

    kernel: str
    family: str
    parameters: dict[str, str]
    predicted_microseconds: float
    predicted_tflops: float
    untimed: bool
    cost: dict[str, Any]


class _Listing(TypedDict):
    spec: SpecDocument
    gpu: dict[str, Any]
    gpu_origin: str
    accepted_count: int
    rejected_count: int
    candidates: list[CandidateDocument]
    unsupported: list[str]
    choice: dict[str, Any] | None


class ListDocument(_Listing, total=False):
    """jitgemm.list."""

    rejected: list[dict[str, Any]]  # with why=True


class BenchDocument(TypedDict):
    """jitgemm.bench."""

    device: str
    protocol: str
    interrupted: bool
    rows: list[dict[str, Any]]
    summary: dict[str, Any]


class TuneDocument(TypedDict):
    """jitgemm.tune."""

    problems: list[dict[str, Any]]
    speedup_over_heuristic: float | None
    speedup_over_cublaslt: float | None
    resumed: bool
    was_finished: bool
    stopped_by: str
    seconds: float
    device_busy_share: float | None
    store: Any


class WarmDocument(TypedDict):
    """jitgemm.warm."""

    problems: int
    kernels: int
    compiled: int
    from_cache: int
    unserved: list[dict[str, Any]]
    failed: list[dict[str, Any]]
    seconds: float
    gpu: str
    cache: str


class DoctorDocument(TypedDict):
    """jitgemm.doctor."""

    version: str
    ok: bool
    checks: list[dict[str, Any]]
    driver: dict[str, Any]
    gpus: list[dict[str, Any]]
    nvrtc: list[dict[str, Any]]
    wheel: str
    cache: dict[str, Any]
    tuning: dict[str, Any]


class SetKernelDocument(TypedDict):
    name: str
    body: int
    align_a: int
    align_b: int
    align_c: int
    align_d: int


class KernelRangeDocument(TypedDict):
    first_m: int
    last_m: int
    multiple: int
    kernel: int


class KernelSetDocument(TypedDict):
    format: str
    spec: str
    first_m: int
    last_m: int
    gpu: str
    mean_ratio: float
    worst_ratio: float
    worst_m: int
    kernels: list[SetKernelDocument]
    ranges: list[KernelRangeDocument]
