"""PyTorch: products with gradients, under torch.compile, and in place of a model's Linear layers.

In eager mode nothing of PyTorch's dispatcher is in the way: a tensor goes straight to its kernel. Under torch.compile the
same product is the operator torch.ops.jitgemm.matmul, with a fake kernel and a gradient of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

import torch
from torch import Tensor, library

from . import _core
from ._errors import OperandError

__all__ = ["Linear", "linear", "matmul", "replace_linear"]


def matmul(a: Tensor, b: Tensor, *, device: str | None = None, deterministic: str | None = None) -> Tensor:
    """a @ b with a gradient. a: (..., m, k), b: (k, n) or (..., k, n); the result is packed and of a's type.

    `device` (None for tensors on a GPU) and `deterministic`, which gradients keep to as well, as for jitgemm.matmul, which
    also says what is refused.
    """
    if torch.compiler.is_compiling():
        return torch.ops.jitgemm.matmul(a, b, device, deterministic)
    if torch.is_grad_enabled() and (a.requires_grad or b.requires_grad):
        return _Matmul.apply(a, b, device, deterministic, None)
    return _core.matmul(a, b, device=device, deterministic=deterministic)


_BIASED = (torch.bfloat16, torch.float16, torch.float32)  # types of which A, C and D may be at once


def linear(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    device: str | None = None,
    deterministic: str | None = None,
) -> Tensor:
    """torch.nn.functional.linear: x @ weight.T + bias. x: (..., k), weight: (n, k), bias: (n,).

    An x whose leading dimensions and rows don't lie at one stride (a transposed batch, say) is copied first, as PyTorch does.
    A contiguous bias of x's type is added in f32, before the one rounding; another, and any under torch.compile, which fuses the
    addition with what follows, to the rounded product. Under torch.autocast operands are of its type. Where `deterministic` is
    "batch_invariant", a token's result has the same bits whatever else is in its batch.
    """
    if torch.is_autocast_enabled(x.device.type):
        dtype = torch.get_autocast_dtype(x.device.type)
        x, weight = x.to(dtype), weight.to(dtype)
        bias = None if bias is None else bias.to(dtype)
    is_packed = x.dim() > 1 and x.is_contiguous()
    a = x if is_packed else _as_matrix(x)
    if bias is not None and _is_read_as_c(bias, x, weight):
        d, bias = _with_bias(a, weight.T, bias, device, deterministic), None
    else:
        d = matmul(a, weight.T, device=device, deterministic=deterministic)
    if not is_packed:
        d = d.reshape(*x.shape[:-1], weight.shape[0])
    return d if bias is None else d + bias


def _is_read_as_c(bias: Tensor, x: Tensor, weight: Tensor) -> bool:
    """Whether a kernel adds the bias as it lies, to what it has not rounded yet."""
    dtype = x.dtype
    return (
        bias.dtype is dtype
        and dtype in _BIASED
        and bias.dim() == 1
        and weight.dim() == 2
        and bias.numel() == weight.size(0)
        and bias.is_contiguous()
        and not torch.compiler.is_compiling()
    )


def _with_bias(a: Tensor, b: Tensor, bias: Tensor, device: str | None, deterministic: str | None) -> Tensor:
    """a @ b + bias."""
    if torch.is_grad_enabled() and (a.requires_grad or b.requires_grad or bias.requires_grad):
        return _Matmul.apply(a, b, device, deterministic, bias)
    return _core.matmul(a, b, c=bias, device=device, deterministic=deterministic)


class Linear(torch.nn.Linear):
    """torch.nn.Linear by jitgemm's kernels."""

    jitgemm_device: str | None = None
    jitgemm_deterministic: str | None = None

    def forward(self, input: Tensor) -> Tensor:
        options = {"device": self.jitgemm_device, "deterministic": self.jitgemm_deterministic}
        return linear(input, self.weight, self.bias, **options)


def replace_linear(
    model: torch.nn.Module,
    *,
    device: str | None = None,
    deterministic: str | None = None,
    only: Callable[[str, torch.nn.Linear], bool] | None = None,
) -> list[str]:
    """Every torch.nn.Linear of a model, and the model if it is one, multiplies by jitgemm from now on; in place.

    Parameters, hooks and names stay what they are, and subclasses of Linear are left alone. `only` is asked with name and
    module. Returns the names of those that were replaced.
    """
    replaced = []
    for name, module in model.named_modules():
        if type(module) is not torch.nn.Linear or (only is not None and not only(name, module)):
            continue
        module.__class__ = Linear
        for name_of_option, value in (("jitgemm_device", device), ("jitgemm_deterministic", deterministic)):
            if value is not None:
                module.__dict__[name_of_option] = value
        replaced.append(name)
    return replaced


# ---- gradients -----------------------------------------------------------------------------------------------------------


def _as_matrix(x: Tensor) -> Tensor:
    """(..., k) as rows of one matrix that kernels read as it lies: a view where there is one, else a copy."""
    if x.dim() != 2:
        x = x.reshape(prod(x.shape[:-1]), x.shape[-1])
    by_row, by_column = x.stride()
    lies = (by_column == 1 and by_row >= x.shape[1]) or (by_row == 1 and by_column >= x.shape[0])
    return x if lies else x.contiguous()


def _gradients(product: Callable[[Tensor, Tensor], Tensor], gradient: Tensor, a: Tensor, b: Tensor, needed: Any) -> Any:
    """dA = dD @ B^T and dB = A^T @ dD, which are differentiable themselves; None for the two options."""
    of_a = of_b = None
    if prod(b.shape[:-2]) == 1 and a.dim() >= b.dim():  # the leading dimensions of A and D are rows
        gradient, matrix = _as_matrix(gradient), b.reshape(b.shape[-2:])
        if needed[0]:
            of_a = product(gradient, matrix.mT).reshape(a.shape)
        if needed[1]:
            of_b = product(_as_matrix(a).mT, gradient).reshape(b.shape)
        return of_a, of_b, None, None
    # That of sum() is one element, expanded: no kernel reads it as it lies.
    gradient = gradient if gradient.is_contiguous() or gradient.mT.is_contiguous() else gradient.contiguous()
    if needed[0]:
        of_a = product(gradient, b.mT).sum_to_size(a.shape)
    if needed[1]:
        of_b = product(a.mT, gradient).sum_to_size(b.shape)
    return of_a, of_b, None, None


def _check(a: Tensor, b: Tensor) -> None:
    for name, tensor in (("a", a), ("b", b)):
        if tensor.dim() < 2:
            reason = f"{name} has shape {tuple(tensor.shape)}: with gradients a product's tensors have two dimensions or more"
            raise OperandError(f"invalid array: {reason}", (reason,))


class _Matmul(torch.autograd.Function):
    """In eager mode."""

    @staticmethod
    def forward(
        ctx: Any, a: Tensor, b: Tensor, device: str | None, deterministic: str | None, bias: Tensor | None
    ) -> Tensor:
        _check(a, b)
        ctx.save_for_backward(a, b)
        ctx.options = {"device": device, "deterministic": deterministic}
        if bias is None:
            return _core.matmul(a, b, **ctx.options)
        return _core.matmul(a, b, c=bias, **ctx.options)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        product = partial(matmul, **ctx.options)
        a, b = ctx.saved_tensors
        of_bias = gradient.sum_to_size(gradient.shape[-1:]) if ctx.needs_input_grad[4] else None
        return *_gradients(product, gradient, a, b, ctx.needs_input_grad), of_bias


# ---- the operator, for torch.compile ---------------------------------------------------------------------------------------

_NAME = "jitgemm::matmul"
library.define(_NAME, "(Tensor a, Tensor b, str? device=None, str? deterministic=None) -> Tensor")


@library.impl(_NAME, ("cpu", "cuda"))
def _launch(a: Tensor, b: Tensor, device: str | None = None, deterministic: str | None = None) -> Tensor:
    _check(a, b)
    with torch.no_grad():  # autograd has taken note, or need not
        return _core.matmul(a, b, device=device, deterministic=deterministic)


@library.register_fake(_NAME)
def _fake(a: Tensor, b: Tensor, device: str | None = None, deterministic: str | None = None) -> Tensor:
    _check(a, b)
    torch._check(a.shape[-1] == b.shape[-2], lambda: f"a has shape {tuple(a.shape)} and b {tuple(b.shape)}")
    torch._check(a.dtype == b.dtype, lambda: f"a is of type {a.dtype} and b of {b.dtype}")
    leading = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return a.new_empty((*leading, a.shape[-2], b.shape[-1]))


def _save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(inputs[0], inputs[1])
    ctx.options = {"device": inputs[2], "deterministic": inputs[3]}


def _backward(ctx: Any, gradient: Tensor) -> Any:
    product = partial(torch.ops.jitgemm.matmul, **ctx.options)
    a, b = ctx.saved_tensors
    return _gradients(product, gradient, a, b, ctx.needs_input_grad)


library.register_autograd(_NAME, _backward, setup_context=_save)
