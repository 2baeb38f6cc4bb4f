"""The products of jitgemm.torch. An eager call that nobody observes goes to its kernel without the dispatcher."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.overrides import handle_torch_function, has_torch_function_variadic

from . import _core
from ._errors import OperandError
from ._torch_derivatives import gradient_of_bias, gradients, keep_factors, kept_factors, tangent
from ._torch_dispatch import PLAIN, is_observed
from ._torch_fused import Options
from ._torch_linear import (
    cast_under_autocast,
    check_shapes,
    check_stack,
    check_tensors,
    is_repeated_to,
    linear_by,
    math_of,
    refuse,
)
from ._torch_mlp import Weights, composed, mlp
from ._torch_operator import LINEAR, MATMUL

_autocast_is_active = torch._C._is_any_autocast_enabled
_is_tracing = torch._C._is_tracing


def matmul(
    a: Tensor, b: Tensor, *, device: str | None = None, deterministic: str | None = None, math: str | None = None
) -> Tensor:
    """a @ b with derivatives. a: (..., m, k), b: (k, n) or (..., k, n); the result is packed and of a's type.

    `device` (None for tensors on a GPU), `deterministic` and `math` are those of jitgemm.matmul, whose help says what
    is refused. `math` counts for f32 alone. Gradients use the same three. Under torch.autocast operands are of its
    type.
    """
    if torch.compiler.is_compiling():
        a, b = cast_under_autocast(a, b)  # type: ignore[assignment]
        return _matmul_by_operator(a, b, device, deterministic, math)
    if has_torch_function_variadic(a, b):
        return handle_torch_function(matmul, (a, b), a, b, device=device, deterministic=deterministic, math=math)
    if _autocast_is_active():
        a, b = cast_under_autocast(a, b)  # type: ignore[assignment]
    if not is_observed(a, b):
        try:
            return _eager(a, b, device, deterministic, None, math)
        except OperandError:  # a tensor whose memory only the dispatcher finds; or the operator raises this, too
            pass
    check_tensors(a=a, b=b)
    _core.check_words(word(device), deterministic, math)
    return _matmul_by_operator(a, b, device, deterministic, math)


def bmm(
    a: Tensor, b: Tensor, *, device: str | None = None, deterministic: str | None = None, math: str | None = None
) -> Tensor:
    """torch.bmm: a @ b of each problem, with derivatives. a: (batch, m, k), b: (batch, k, n). Options as for matmul."""
    _check_batches(a, b)
    return matmul(a, b, device=device, deterministic=deterministic, math=math)


def baddbmm(
    c: Tensor,
    a: Tensor,
    b: Tensor,
    *,
    beta: float = 1,
    alpha: float = 1,
    device: str | None = None,
    deterministic: str | None = None,
    math: str | None = None,
) -> Tensor:
    """torch.baddbmm: beta * c + alpha * (a @ b) of each problem, with derivatives. Options as for matmul.

    a: (batch, m, k), b: (batch, k, n), and c broadcasts to (batch, m, n). Where beta is 0, c is not read. Without
    derivatives, the kernel adds a c of (batch, m, n) or (n,) in f32. Otherwise c is added to the rounded product.
    """
    _check_batches(a, b)
    check_tensors(c=c)
    shape = (a.shape[0], a.shape[1], b.shape[2])
    if not is_repeated_to(c.shape, shape):
        refuse(f"c has shape {tuple(c.shape)}: it must broadcast to {shape}")
    options: dict[str, Any] = {"device": device, "deterministic": deterministic, "math": math}
    needs_gradient = torch.is_grad_enabled() and (a.requires_grad or b.requires_grad or c.requires_grad)
    is_plain = not (torch.compiler.is_compiling() or has_torch_function_variadic(c, a, b) or needs_gradient)
    if is_plain and beta != 0 and type(c) in PLAIN and not _autocast_is_active() and not is_observed(a, b):
        try:
            of_kernel = {**options, "math": math_of(a, math)}
            return _core.matmul(a, b, c=c, alpha=float(alpha), beta=float(beta), **of_kernel)
        except OperandError:  # a c that no kernel adds
            pass
    d = matmul(a, b, **options)
    if alpha != 1:
        d = d * alpha
    return d if beta == 0 else torch.add(d, c.to(d.dtype), alpha=beta)


def _check_batches(a: Tensor, b: Tensor) -> None:
    check_tensors(a=a, b=b)
    if a.dim() != 3 or b.dim() != 3 or a.shape[0] != b.shape[0]:
        refuse(f"a has shape {tuple(a.shape)} and b {tuple(b.shape)}: they must be (batch, m, k) and (batch, k, n)")


def linear(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    activation: str | None = None,
    device: str | None = None,
    deterministic: str | None = None,
    math: str | None = None,
) -> Tensor:
    """torch.nn.functional.linear: x @ weight.T + bias. x: (..., k), weight: (n, k) or (k,), bias: (n,).

    activation: "relu", "gelu" (by tanh), "gelu_erf" or "silu" of the sum. The same kernel applies it, and the result is
    rounded once. For gradients the kernel stores the activation's argument, too (for relu, its result is enough).
    Where the bias is added afterwards, so is the activation.

    An x whose leading dimensions and rows don't lie at one stride (a transposed batch, say) is copied, as PyTorch does.
    A contiguous bias of shape (n,) is added in f32, before the result is rounded. Another bias is added afterwards, and
    so is any under torch.compile, which fuses the addition with what follows. Under torch.autocast operands are of its
    type. Where `deterministic` is "batch_invariant", a token's result has the same bits whatever its batch holds.
    math: how f32 is multiplied, as for jitgemm.matmul. Gradients are multiplied so, too.
    """
    if activation is not None:
        return _mlp(Options(activation, False, word(device), deterministic, math), x, Weights(weight, bias=bias))
    if torch.compiler.is_compiling():
        x, weight, bias = cast_under_autocast(x, weight, bias)  # type: ignore[assignment]
        return linear_by(MATMUL, x, weight, bias, word(device), deterministic, math)
    if has_torch_function_variadic(x, weight, bias):
        tensors = (x, weight, bias)
        return handle_torch_function(linear, tensors, *tensors, device=device, deterministic=deterministic, math=math)
    if _autocast_is_active():
        x, weight, bias = cast_under_autocast(x, weight, bias)  # type: ignore[assignment]
    if (bias is None or type(bias) in PLAIN) and not is_observed(x, weight):
        try:
            return linear_by(_eager, x, weight, bias, device, deterministic, math)
        except OperandError:  # as for matmul
            pass
    check_tensors(x=x, weight=weight)
    _core.check_words(word(device), deterministic, math)
    return LINEAR(x, weight, bias, word(device), deterministic, math)


def gated_mlp(
    x: Tensor,
    gate_up: Tensor,
    down: Tensor,
    activation: str = "silu",
    *,
    device: str | None = None,
    deterministic: str | None = None,
    math: str | None = None,
) -> Tensor:
    """(activation(x @ gate.T) * (x @ up.T)) @ down.T, as in Llama. x: (..., k), gate_up: (2 h, k), down: (n, h).

    gate_up holds the weights gate and up, gate first. activation, device, deterministic and math are those of
    linear. For gradients x, the results of gate and up, and the input of down are kept.
    """
    check_tensors(x=x, gate_up=gate_up, down=down)
    check_stack(gate_up)
    return _mlp(Options(activation, True, word(device), deterministic, math), x, Weights(gate_up, down=down))


def _mlp(options: Options, x: Tensor, weights: Weights) -> Tensor:
    d = mlp(options, x, weights)
    if d is not None:
        return d
    layer = partial(linear, device=options.device, deterministic=options.deterministic, math=options.math)
    return composed(layer, options, x, weights)


# Tracers write these names.
for _function in (matmul, bmm, baddbmm, linear, gated_mlp):
    _function.__module__ = "jitgemm.torch"


# ---- the short way and the other -----------------------------------------------------------------


def _eager(
    a: Tensor, b: Tensor, device: str | None, deterministic: str | None, bias: Tensor | None, math: str | None
) -> Tensor:
    needs_gradient = a.requires_grad or b.requires_grad or (bias is not None and bias.requires_grad)
    # A trace would call _Matmul, which is no operator. _core.matmul refuses to be traced.
    if needs_gradient and torch.is_grad_enabled() and not _is_tracing():
        return _Matmul.apply(a, b, device, deterministic, bias, math)
    return _core.matmul(a, b, c=bias, device=device, deterministic=deterministic, math=math_of(a, math))


def _matmul_by_operator(
    a: Tensor, b: Tensor, device: Any, deterministic: str | None, math: str | None
) -> Tensor:
    """With torch.matmul's rules for one dimension, which the operator does not know."""
    if a.dim() == 1:
        d = _matmul_by_operator(a.unsqueeze(0), b, device, deterministic, math)
        return d.squeeze(-1 if b.dim() == 1 else -2)
    if b.dim() == 1:
        return _matmul_by_operator(a, b.unsqueeze(1), device, deterministic, math).squeeze(-1)
    return MATMUL(a, b, word(device), deterministic, None, math)


def word(device: Any) -> str | None:
    """The operator takes no torch.device."""
    return device if device is None else str(device)


class _Matmul(torch.autograd.Function):
    """The short way's gradient. setup_context, which torch.func wants, would cost 15 us per product."""

    @staticmethod
    def forward(
        ctx: Any,
        a: Tensor,
        b: Tensor,
        device: str | None,
        deterministic: str | None,
        bias: Tensor | None,
        math: str | None,
    ) -> Tensor:
        check_shapes(a, b, bias)
        keep_factors(ctx, a, b, *ctx.needs_input_grad[:2])
        ctx.save_for_forward(a, b)
        ctx.set_materialize_grads(False)
        ctx.product = partial(matmul, device=device, deterministic=deterministic, math=math)
        return _core.matmul(a, b, c=bias, device=device, deterministic=deterministic, math=math_of(a, math))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        if gradient is None:
            return (None,) * 6
        of_bias = gradient_of_bias(gradient) if ctx.needs_input_grad[4] else None
        return *gradients(ctx.product, gradient, kept_factors(ctx)), None, None, of_bias, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        of_a, of_b, _, _, of_bias, _ = tangents
        a, b = ctx.saved_tensors
        return tangent(ctx.product, a, b, of_a, of_b, of_bias)
