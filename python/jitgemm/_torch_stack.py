"""The weights of gate and up as views of one tensor. The parameters stay the same objects."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from ._torch_dispatch import PLAIN
from ._torch_fused import are_stacked
from ._torch_patterns import Gated


def weights_of(module: Any, pattern: Any) -> tuple[Any, Any] | None:
    if not isinstance(pattern, Gated) or pattern.up is None:
        return None
    gate, up = (module._modules.get(name) for name in (pattern.gate, pattern.up))
    weights = getattr(gate, "weight", None), getattr(up, "weight", None)
    return weights if all(type(w) in PLAIN for w in weights) else None


def why_not_stacked(gate: Any, up: Any) -> str | None:
    if gate.shape != up.shape or gate.dtype != up.dtype or gate.device != up.device:
        return "gate and up differ in shape, type or device"
    if gate is up or not (_owns_its_memory(gate) and _owns_its_memory(up)):
        return "a weight shares its memory"
    return None


def restack(module: Any, pattern: Any) -> None:
    """Where weights lie apart that may lie as one."""
    weights = weights_of(module, pattern)
    if weights is not None and not are_stacked(*weights) and why_not_stacked(*weights) is None:
        stack(*weights)


def stack(gate: nn.Parameter, up: nn.Parameter) -> None:
    with torch.no_grad():
        whole = torch.cat([gate, up])
    gate.data, up.data = whole.chunk(2)


def unstack(module: Any, pattern: Any) -> None:
    weights = weights_of(module, pattern)
    if weights is not None and are_stacked(*weights):
        for weight in weights:
            weight.data = weight.data.clone()


def _owns_its_memory(weight: Any) -> bool:
    size = weight.numel() * weight.element_size()
    shared = weight.device.type == "cpu" and weight.is_shared()
    return not shared and weight.is_contiguous() and weight.untyped_storage().nbytes() == size
