"""Weights of f32 layers in parts of f16 or bf16, made once: calls that nobody observes, without gradients.

Other calls multiply as without. A weight whose version or address changes is prepared again.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from torch.autograd import forward_ad

from ._core import Kernel, Prepared, default_device
from ._errors import ConfigError, SpecError
from ._kernel import kernel
from ._torch_derivatives import needs_gradient
from ._torch_dispatch import PLAIN, is_observed
from ._torch_linear import as_matrix, is_read_as_it_lies

MATHS = ("f16x3", "bf16x3", "bf16x6", "tf32x3")


class _Weight:
    def __init__(self, state: Any) -> None:
        self.state = state  # of the weight, when it was prepared
        self.prepared: Prepared | None = None
        self.kernels: dict[Any, Kernel] = {}


_weights: WeakKeyDictionary[Any, _Weight] = WeakKeyDictionary()


def linear_by_prepared(layer: Any, x: Any) -> Tensor | None:
    """None where the layer is to multiply as without."""
    if torch.compiler.is_compiling() or not _is_served(x, layer.weight, layer.bias):
        return None
    place, rows = _place_of(layer, x), as_matrix(x)
    if place is None or rows.stride(1) != 1 or rows.shape[0] == 0:
        return None
    try:
        d = _product(layer, rows, place)
    except (SpecError, ConfigError):  # operands or words that no such kernel takes: the other way takes or refuses them
        return None
    return None if d is None else d.view(*x.shape[:-1], layer.weight.shape[0])


def _is_served(x: Any, weight: Any, bias: Any) -> bool:
    if is_observed(x, weight) or (bias is not None and type(bias) not in PLAIN):
        return False
    if x.dtype is not torch.float32 or weight.dtype is not torch.float32 or weight.is_inference():
        return False
    if x.dim() == 0 or x.device != weight.device or x.shape[-1] != weight.shape[1] or not weight.is_contiguous():
        return False
    if bias is not None and not is_read_as_it_lies(bias, x, weight):
        return False
    is_followed = torch._C._is_any_autocast_enabled() or torch._C._is_tracing() or forward_ad._current_level >= 0
    return not (is_followed or needs_gradient(x, weight, *(() if bias is None else (bias,))))


def _place_of(layer: Any, x: Tensor) -> str | None:
    """The kernel's device. None for others than that of x, and for host memory without the emulator."""
    asked = layer.jitgemm_device or default_device()
    if not x.is_cuda:
        return asked if asked is not None and asked.startswith("emulator") else None
    own = f"cuda:{x.device.index}"
    return own if asked in (None, "cuda", own) else None


def _product(layer: Any, rows: Tensor, place: str) -> Tensor | None:
    weight, bias = layer.weight, layer.bias
    state = weight.data_ptr(), weight._version, place, layer.jitgemm_deterministic, layer.jitgemm_math
    entry = _weights.get(layer)
    if entry is None or entry.state != state:
        entry = _weights[layer] = _Weight(state)
    key = rows.shape[0], rows.stride(0), bias is None
    found = entry.kernels.get(key) or entry.kernels.setdefault(key, _kernel(layer, rows, place))
    if entry.prepared is None:
        if weight.is_cuda and torch.cuda.is_current_stream_capturing():
            return None
        entry.prepared = found.prepare_b(weight.detach().t())
        if weight.is_cuda:
            torch.cuda.current_stream(weight.device).synchronize()  # other streams may read it from now on
    d: Tensor = found(rows, entry.prepared, **({} if bias is None else {"c": bias}))
    return d


def _kernel(layer: Any, rows: Tensor, place: str) -> Kernel:
    n, k = layer.weight.shape
    m, lda = rows.shape[0], rows.stride(0)
    of_bias: dict[str, Any] = {} if layer.bias is None else {"c": "f32", **({} if m == 1 else {"broadcast_c": True})}
    return kernel(
        m=m,
        n=n,
        k=k,
        a="f32",
        layout="tn",
        lda=lda if m > 1 else k,
        deterministic=layer.jitgemm_deterministic,
        math=layer.jitgemm_math,
        prepared="b",
        device=place,
        **of_bias,
    )
