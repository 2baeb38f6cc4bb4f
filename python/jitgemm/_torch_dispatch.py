"""Who sees a call: the kernel alone, or PyTorch's dispatcher as well."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad, profiler

PLAIN = frozenset({Tensor, torch.nn.Parameter})

_dispatch_modes = torch._C._len_torch_dispatch_stack
_transforms_are_active = torch._C._are_functorch_transforms_active


def is_observed(a: Any, b: Any) -> bool:
    """Whether somebody would see an operator, or a tensor would serve it in a way of its own.

    Tensors without memory (meta ones, those of a vmap) and tracers are not asked for: the short way refuses them.
    """
    return (
        type(a) not in PLAIN
        or type(b) not in PLAIN
        or _dispatch_modes() != 0
        or _transforms_are_active()
        or profiler._is_profiler_enabled
    )


def is_taken_apart(*tensors: Tensor | None) -> bool:
    """Whether somebody works on single operations: one that stands for several must be given as these."""
    for x in tensors:
        if x is not None and type(x) not in PLAIN:
            return True
    return (
        _dispatch_modes() != 0
        or _transforms_are_active()
        or torch._C._is_tracing()
        or forward_ad._current_level >= 0
    )
