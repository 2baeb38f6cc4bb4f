"""Derivatives of a product, made of products: they are differentiable themselves."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import forward_ad

from ._torch_linear import as_matrix, readable, refuse

# a, b
Plain = Callable[[Tensor, Tensor], Tensor]


class Factors(NamedTuple):
    """The factors of gradients: dA takes B, dB takes A. A tensor that no gradient takes is None."""

    shape_a: torch.Size
    shape_b: torch.Size
    a: Tensor | None
    b: Tensor | None


def keep_factors(ctx: Any, a: Tensor, b: Tensor, of_a: bool, of_b: bool) -> None:
    """For the gradients that are needed."""
    ctx.shapes = a.shape, b.shape
    ctx.save_for_backward(a if of_b else None, b if of_a else None)


def kept_factors(ctx: Any) -> Factors:
    return Factors(*ctx.shapes, *ctx.saved_tensors)


def gradients(product: Plain, gradient: Tensor, factors: Factors) -> tuple[Tensor | None, Tensor | None]:
    """dA = dD @ B^T and dB = A^T @ dD."""
    shape_a, shape_b, a, b = factors
    if prod(shape_b[:-2]) == 1 and len(shape_a) >= len(shape_b):
        return _gradients_of_rows(product, gradient, factors)
    gradient = readable(gradient)
    of_a = None if b is None else product(gradient, b.mT).sum_to_size(shape_a)
    of_b = None if a is None else product(a.mT, gradient).sum_to_size(shape_b)
    return of_a, of_b


def _gradients_of_rows(product: Plain, gradient: Tensor, factors: Factors) -> tuple[Tensor | None, Tensor | None]:
    """The leading dimensions of A and D are rows of one product."""
    shape_a, shape_b, a, b = factors
    gradient = as_matrix(gradient)
    of_a = None if b is None else product(gradient, b.reshape(shape_b[-2:]).mT).reshape(shape_a)
    of_b = None if a is None else product(as_matrix(a).mT, gradient).reshape(shape_b)
    return of_a, of_b


def gradient_of_bias(gradient: Tensor) -> Tensor:
    return gradient.sum_to_size(gradient.shape[-1:])


def tangent(
    product: Plain, a: Tensor, b: Tensor, of_a: Tensor | None, of_b: Tensor | None, of_bias: Tensor | None
) -> Tensor:
    """dA @ B + A @ dB + dbias. None stands for a tangent of zeros; one of the three is none."""
    parts = []
    if of_a is not None:
        parts.append(product(readable(of_a), b))
    if of_b is not None:
        parts.append(product(a, readable(of_b)))
    if of_bias is not None:
        shape = (*parts[0].shape,) if parts else (*a.shape[:-1], b.shape[-1])
        parts.append(of_bias.expand(shape))
    return sum(parts[1:], parts[0])


# ---- who asks for derivatives --------------------------------------------------------------------


def needs_gradient(*tensors: Tensor) -> bool:
    return torch.is_grad_enabled() and any(x.requires_grad for x in tensors)


def has_tangent(x: Tensor) -> bool:
    return forward_ad._current_level >= 0 and forward_ad.unpack_dual(x).tangent is not None


def check_no_derivatives(reason: str, *tensors: Tensor) -> None:
    if needs_gradient(*tensors) or any(has_tangent(x) for x in tensors):
        refuse(reason)
