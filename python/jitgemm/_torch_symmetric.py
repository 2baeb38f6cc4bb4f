"""Symmetric products with derivatives. Whoever observes the call sees the operator of the full product instead."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from . import _core
from ._errors import OperandError
from ._torch_dispatch import PLAIN, is_observed, is_taken_apart
from ._torch_linear import math_of
from ._torch_products import matmul


def syrk(
    a: Tensor, *, device: str | None = None, deterministic: str | None = None, math: str | None = None
) -> Tensor:
    """a @ a.mT with derivatives, at about half of matmul's work. a: (..., m, k).

    The result equals its transpose bit for bit. Under torch.compile, torch.autocast, transforms and modes it is the
    full product. device, deterministic and math are those of jitgemm.torch.matmul.
    """
    if not torch.compiler.is_compiling() and type(a) in PLAIN and not _is_watched(a):
        try:
            if a.requires_grad and torch.is_grad_enabled():
                return _Syrk.apply(a, device, deterministic, math)
            return _core.syrk(a, device=device, deterministic=deterministic, math=math_of(a, math))
        except OperandError:  # a tensor whose memory only the dispatcher finds; or the operator raises this, too
            pass
    return matmul(a, a.mT, device=device, deterministic=deterministic, math=math)


syrk.__module__ = "jitgemm.torch"


def _is_watched(a: Tensor) -> bool:
    return torch._C._is_any_autocast_enabled() or is_observed(a, a) or is_taken_apart(a)


class _Syrk(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, device: str | None, deterministic: str | None, math: str | None) -> Tensor:
        ctx.save_for_backward(a)
        ctx.product = partial(matmul, device=device, deterministic=deterministic, math=math)
        return _core.syrk(a.detach(), device=device, deterministic=deterministic, math=math_of(a, math))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        (a,) = ctx.saved_tensors
        return ctx.product(gradient + gradient.mT, a), None, None, None
