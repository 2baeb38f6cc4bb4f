"""torch.ops.jitgemm.matmul and torch.ops.jitgemm.linear: the products that PyTorch's dispatcher sees.

Tracers, compilers, modes, transforms, profilers and tensors without memory of their own work on these operators.
linear consists of views and one matmul, as PyTorch's own does.
"""

from __future__ import annotations

import sys
from functools import cache, partial
from math import prod
from typing import Any

import torch
from torch import Tensor, library
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad
from torch.utils.flop_counter import register_flop_formula

from . import _core
from ._torch_derivatives import gradient_of_bias, gradients, keep_factors, kept_factors, tangent
from ._torch_linear import as_matrix, cast_under_autocast, check_shapes, linear_by, math_of
from ._torch_vmap import batched_product

_OPTIONS = "str? device=None, str? deterministic=None"


def _registration() -> library.Library:
    """Takes the place of an earlier one. The process has one, where a program has imported the package anew."""
    operators = vars(torch.ops.jitgemm)
    if "registration" in operators:
        operators["registration"]._destroy()
    operators["registration"] = library.Library("jitgemm", "FRAGMENT")
    return operators["registration"]


LIBRARY = _registration()
# Options that came later stand at the end: graphs that were saved before have the others at their places.
LIBRARY.define(f"matmul(Tensor a, Tensor b, {_OPTIONS}, Tensor? bias=None, str? math=None) -> Tensor")
LIBRARY.define(f"linear(Tensor x, Tensor weight, Tensor? bias=None, {_OPTIONS}, str? math=None) -> Tensor")

MATMUL = torch.ops.jitgemm.matmul.default
LINEAR = torch.ops.jitgemm.linear.default


# ---- matmul --------------------------------------------------------------------------------------


def _launch(
    a: Tensor,
    b: Tensor,
    device: str | None = None,
    deterministic: str | None = None,
    bias: Tensor | None = None,
    math: str | None = None,
) -> Tensor:
    check_shapes(a, b, bias)
    # Derivatives are the dispatcher's, which has taken note of them or need not.
    with torch.no_grad(), forward_ad._set_fwd_grad_enabled(False):
        return _core.matmul(a, b, c=bias, device=device, deterministic=deterministic, math=math_of(a, math))


def _fake(
    a: Tensor,
    b: Tensor,
    device: str | None = None,
    deterministic: str | None = None,
    bias: Tensor | None = None,
    math: str | None = None,
) -> Tensor:
    check_shapes(a, b, bias)
    torch._check(a.shape[-1] == b.shape[-2], lambda: f"a has shape {tuple(a.shape)} and b {tuple(b.shape)}")
    torch._check(a.dtype == b.dtype, lambda: f"a is of type {a.dtype} and b of {b.dtype}")
    leading = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    tell_inductor(a)
    return a.new_empty((*leading, a.shape[-2], b.shape[-1]))


def tell_inductor(a: Tensor) -> None:
    """Whoever compiles calls an operator's fake implementation first."""
    if a.device.type == "cuda" and "torch._inductor.decomposition" in sys.modules:
        _tell_inductor()


@cache
def _tell_inductor() -> None:
    from . import _torch_inductor

    _torch_inductor.serve_replaced_layers()


def _vmap(info: Any, dimensions: tuple[Any, ...], *arguments: Any) -> tuple[Tensor, int]:
    missing = MATMUL._schema.arguments[len(arguments) :]
    values = (*arguments, *(argument.default_value for argument in missing))
    return batched_product(MATMUL, info.batch_size, (*dimensions, *(None for _ in missing)), *values), 0


for _kind in ("CPU", "CUDA"):
    LIBRARY.impl("matmul", _launch, _kind)
library.register_fake("jitgemm::matmul", _fake, lib=LIBRARY)
library.register_vmap("jitgemm::matmul", _vmap, lib=LIBRARY)


@register_flop_formula(torch.ops.jitgemm.matmul)
def _flops(a: Any, b: Any, *_: Any, out_shape: Any = None, **__: Any) -> int:
    return 2 * prod(out_shape) * a[-1]


# ---- its derivatives -----------------------------------------------------------------------------


class _Differentiated(torch.autograd.Function):
    """One level of differentiation. torch.library.register_autograd has no tangents and does not serve torch.func."""

    @staticmethod
    def forward(
        ctx: Any, keys: Any, a: Tensor, b: Tensor, device: Any, deterministic: Any, bias: Any, math: Any
    ) -> Tensor:
        keep_factors(ctx, a, b, *ctx.needs_input_grad[1:3])
        ctx.save_for_forward(a, b)
        ctx.set_materialize_grads(False)  # a tangent of zeros would cost a product
        ctx.product = partial(_plain, device, deterministic, math)
        # Outer levels of torch.func differentiate, too. PyTorch has turned that off for this function.
        with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True), torch._C._AutoDispatchBelowAutograd():
            return MATMUL.redispatch(keys & torch._C._after_autograd_keyset, a, b, device, deterministic, bias, math)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        if gradient is None:
            return (None,) * 7
        of_bias = gradient_of_bias(gradient) if ctx.needs_input_grad[5] else None
        return None, *gradients(ctx.product, gradient, kept_factors(ctx)), None, None, of_bias, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        _, of_a, of_b, _, _, of_bias, _ = tangents
        with forward_ad._set_fwd_grad_enabled(True):
            a, b = (torch._VF._unpack_dual(x, level=0)[0] for x in ctx.saved_tensors)
            return tangent(ctx.product, a, b, of_a, of_b, of_bias)


def _plain(device: str | None, deterministic: str | None, math: str | None, a: Tensor, b: Tensor) -> Tensor:
    return MATMUL(a, b, device, deterministic, None, math)


def _differentiate(
    keys: Any, a: Tensor, b: Tensor, device: Any = None, deterministic: Any = None, bias: Any = None, math: Any = None
) -> Tensor:
    # The dispatcher has taken one level of torch.func apart. Function.apply would begin with all of them again.
    apply = super(torch.autograd.Function, _Differentiated).apply
    with enable_single_level_autograd_function():
        return apply(keys, a, b, device, deterministic, bias, math)


LIBRARY.impl("matmul", _differentiate, "Autograd", with_keyset=True)


# ---- linear --------------------------------------------------------------------------------------


def _linear(
    x: Tensor, weight: Tensor, bias: Any = None, device: Any = None, deterministic: Any = None, math: Any = None
) -> Tensor:
    x, weight, bias = cast_under_autocast(x, weight, bias)  # type: ignore[assignment]
    if weight.dim() == 2:
        weight = as_matrix(weight)  # the short way refuses one that no kernel reads as it lies
    return linear_by(MATMUL, x, weight, bias, device, deterministic, math)


LIBRARY.impl("linear", _linear, "CompositeImplicitAutograd")
LIBRARY.impl("linear", _linear, "FuncTorchBatchedDecomposition")
