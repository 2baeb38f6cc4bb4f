"""torch.ops.jitgemm.scaled_matmul: products of 8-bit operands with scales, which have no derivatives.

A schema holds no pairs: beside each scale stands its word. A scale that is a number is an argument of its own.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor, library
from torch.autograd import forward_ad
from torch.overrides import handle_torch_function, has_torch_function
from torch.utils.flop_counter import register_flop_formula

from . import _core, _scaled
from ._errors import OperandError
from ._torch_derivatives import check_no_derivatives
from ._torch_dispatch import PLAIN, is_observed
from ._torch_linear import check_shapes, check_tensors
from ._torch_operator import LIBRARY
from ._torch_products import word

Scale: TypeAlias = Tensor | float | tuple[Tensor, str]

LIBRARY.define(
    "scaled_matmul(Tensor a, Tensor b, Tensor? scale_a=None, Tensor? scale_b=None, str? mode_a=None, str? mode_b=None, "
    "float number_a=1.0, float number_b=1.0, Tensor? bias=None, str? sums=None, ScalarType? out_dtype=None, "
    "str? device=None, str? deterministic=None) -> Tensor"
)

SCALED = torch.ops.jitgemm.scaled_matmul.default


def scaled_matmul(
    a: Tensor,
    b: Tensor,
    scale_a: Scale,
    scale_b: Scale,
    *,
    bias: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
    sums: str | None = None,
    device: str | None = None,
    deterministic: str | None = None,
) -> Tensor:
    """(scale_a * a) @ (scale_b * b) + bias, as jitgemm.scaled_matmul, without derivatives.

    a, b: (..., m, k) and (k, n) or (..., k, n), float8_e4m3fn, float8_e5m2 or int8. b is weight.t().
    scale_a, scale_b: a number, a tensor of one element, of shape (m, 1) or (1, n), or a pair of a tensor and its word:
    "row" (a), "column" (b), "1x128", "128x128". The shapes are those of jitgemm.scaled_matmul.
    out_dtype is bfloat16 by default. bias, sums, device and deterministic are those of jitgemm.scaled_matmul.
    A tensor that requires a gradient is refused, unless gradients are disabled.
    """
    tensor_a, mode_a, number_a = _parts(scale_a)
    tensor_b, mode_b, number_b = _parts(scale_b)
    options = sums, out_dtype, word(device), deterministic
    arguments = (a, b, tensor_a, tensor_b, mode_a, mode_b, number_a, number_b, bias, *options)
    if torch.compiler.is_compiling():
        return SCALED(*arguments)
    tensors = [x for x in (a, b, tensor_a, tensor_b, bias) if x is not None]
    if has_torch_function(tensors):
        more: dict[str, Any] = {"bias": bias, "out_dtype": out_dtype, "sums": sums}
        more |= {"device": device, "deterministic": deterministic}
        return handle_torch_function(scaled_matmul, tensors, a, b, scale_a, scale_b, **more)
    check_tensors(a=a, b=b)
    _core.check_words(word(device), deterministic, None)
    if not is_observed(a, b) and all(type(x) in PLAIN for x in tensors):
        try:
            return _product(*arguments)
        except OperandError:  # a tensor whose memory only the dispatcher finds; or the operator raises this, too
            pass
    return SCALED(*arguments)


scaled_matmul.__module__ = "jitgemm.torch"  # tracers write the name


def _parts(scale: Any) -> tuple[Any, Any, float]:
    """A tensor, its word, and a number, which counts where there is no tensor."""
    if isinstance(scale, tuple) and len(scale) == 2:
        return *scale, 1.0
    return (scale, None, 1.0) if isinstance(scale, Tensor) else (None, None, float(scale))


class _Arguments(NamedTuple):
    """The operator's, in their order."""

    a: Tensor
    b: Tensor
    scale_a: Tensor | None = None
    scale_b: Tensor | None = None
    mode_a: str | None = None
    mode_b: str | None = None
    number_a: float = 1.0
    number_b: float = 1.0
    bias: Tensor | None = None
    sums: str | None = None
    out_dtype: torch.dtype | None = None
    device: str | None = None
    deterministic: str | None = None


def _product(*arguments: Any) -> Tensor:
    x = _Arguments(*arguments)
    if 0 in (x.a.numel(), x.b.numel()) and x.a.shape[-1] != 0:
        return _fake(*arguments)  # an empty result needs no kernel
    d: Tensor = _scaled.scaled_matmul(
        x.a,
        x.b,
        _scale(x.scale_a, x.mode_a, x.number_a),
        _scale(x.scale_b, x.mode_b, x.number_b),
        bias=x.bias,
        out_dtype=x.out_dtype,
        sums=x.sums,
        device=x.device,
        deterministic=x.deterministic,
    )
    return d


def _scale(tensor: Tensor | None, mode: str | None, number: float) -> Any:
    if tensor is None:
        return number
    return tensor if mode is None else (tensor, mode)


def _launch(*arguments: Any) -> Tensor:
    check_shapes(arguments[0], arguments[1], None)
    # The dispatcher has taken note of derivatives, or need not.
    with torch.no_grad(), forward_ad._set_fwd_grad_enabled(False):
        return _product(*arguments)


def _fake(*arguments: Any) -> Tensor:
    x = _Arguments(*arguments)
    a, b = x.a, x.b
    check_shapes(a, b, None)
    torch._check(a.shape[-1] == b.shape[-2], lambda: f"a has shape {tuple(a.shape)} and b {tuple(b.shape)}")
    leading = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    dtype = x.out_dtype or (torch.bfloat16 if a.dtype.itemsize == 1 else a.dtype)
    return a.new_empty((*leading, a.shape[-2], b.shape[-1]), dtype=dtype)


def _differentiate(keys: Any, *arguments: Any) -> Tensor:
    check_no_derivatives(
        "scaled_matmul has no derivatives: call it under torch.no_grad()",
        *(x for x in arguments if isinstance(x, Tensor)),
    )
    return SCALED.redispatch(keys & torch._C._after_autograd_keyset, *arguments)


for _kind in ("CPU", "CUDA"):
    LIBRARY.impl("scaled_matmul", _launch, _kind)
library.register_fake("jitgemm::scaled_matmul", _fake, lib=LIBRARY)
LIBRARY.impl("scaled_matmul", _differentiate, "Autograd", with_keyset=True)


@register_flop_formula(torch.ops.jitgemm.scaled_matmul)
def _flops(a: Any, b: Any, *_: Any, out_shape: Any = None, **__: Any) -> int:
    return 2 * prod(out_shape) * a[-1]
