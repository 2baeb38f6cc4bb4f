"""A linear layer with an activation as one kernel, and its derivatives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from . import _core
from ._errors import SpecError
from ._torch_derivatives import Factors, gradient_of_bias, gradients, tangent
from ._torch_linear import check_shapes

_ops = torch.ops.aten


class Activation(NamedTuple):
    """PyTorch's own; an epilogue has it under the same name."""

    function: Callable[[Tensor], Tensor]
    slope: Callable[[Tensor, Tensor], Tensor]  # of a gradient (or tangent) and the activation's argument: their product


def _slope_of_silu(g: Tensor, z: Tensor) -> Tensor:
    if not torch.is_grad_enabled():
        product: Tensor = _ops.silu_backward(g, z)  # has no derivative
        return product
    s = torch.sigmoid(z)
    return g * s * (1 + z * (1 - s))


_ACTIVATIONS = {
    "relu": Activation(functional.relu, lambda g, z: _ops.threshold_backward(g, z, 0)),
    "gelu": Activation(
        partial(functional.gelu, approximate="tanh"), lambda g, z: _ops.gelu_backward(g, z, approximate="tanh")
    ),
    "gelu_erf": Activation(functional.gelu, lambda g, z: _ops.gelu_backward(g, z, approximate="none")),
    "silu": Activation(functional.silu, _slope_of_silu),
}


def activation_of(name: Any) -> Activation:
    if isinstance(name, str) and name in _ACTIVATIONS:
        return _ACTIVATIONS[name]
    reason = f"activation is {name!r}: expected None or one of {', '.join(_ACTIVATIONS)}"
    raise SpecError(f"invalid layer: {reason}", (reason,))


def fused(
    activation: str, a: Tensor, b: Tensor, device: str | None, deterministic: str | None, bias: Tensor | None
) -> Tensor:
    """activation(a @ b + bias), which is rounded once."""
    if bias is None:
        return _core.matmul(a, b, device=device, deterministic=deterministic, epilogue=f"d = {activation}(acc)")
    text = f"d = {activation}(acc + bias[n])"
    return _core.matmul(a, b, device=device, deterministic=deterministic, epilogue=text, bias=bias)


class Activated(torch.autograd.Function):
    """fused() with derivatives. They take the activation's argument from a product of its own."""

    @staticmethod
    def forward(
        ctx: Any,
        products: tuple[Callable[..., Tensor], Callable[..., Tensor]],
        activation: str,
        a: Tensor,
        b: Tensor,
        device: str | None,
        deterministic: str | None,
        bias: Tensor | None,
    ) -> Tensor:
        """`products`: a matmul and a linear that are differentiable."""
        check_shapes(a, b, bias)
        ctx.save_for_backward(a, b, bias)
        ctx.save_for_forward(a, b, bias)
        ctx.set_materialize_grads(False)
        ctx.matmul, ctx.linear = (partial(of, device=device, deterministic=deterministic) for of in products)
        ctx.activation = _ACTIVATIONS[activation]
        return fused(activation, a, b, device, deterministic, bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        if gradient is None:
            return (None,) * 7
        a, b, bias = ctx.saved_tensors
        needs_a, needs_b, needs_bias = (ctx.needs_input_grad[at] for at in (2, 3, 6))
        of_argument = ctx.activation.slope(gradient, ctx.linear(a, b.mT, bias))
        factors = Factors(a.shape, b.shape, a if needs_b else None, b if needs_a else None)
        of_a, of_b = gradients(ctx.matmul, of_argument, factors)
        return None, None, of_a, of_b, None, None, gradient_of_bias(of_argument) if needs_bias else None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        _, _, of_a, of_b, _, _, of_bias = tangents
        a, b, bias = ctx.saved_tensors
        return ctx.activation.slope(tangent(ctx.matmul, a, b, of_a, of_b, of_bias), ctx.linear(a, b.mT, bias))
