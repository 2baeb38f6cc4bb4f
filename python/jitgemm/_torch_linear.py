"""A linear layer in terms of a product, and which tensors a kernel reads as they lie."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import torch
from torch import Tensor

from . import _core
from ._errors import OperandError

# a, b, device, deterministic, bias, math
Product = Callable[[Tensor, Tensor, "str | None", "str | None", "Tensor | None", "str | None"], Tensor]

SERVED_TYPES = (torch.bfloat16, torch.float16, torch.float32)  # A, C and D may all be of one of these types


def linear_by(
    product: Product,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    device: str | None,
    deterministic: str | None,
    math: str | None,
) -> Tensor:
    """x @ weight.T + bias with torch.nn.functional.linear's shapes."""
    is_fused = bias is not None and is_read_as_it_lies(bias, x, weight)
    if bias is not None and not is_fused:
        _check_bias(bias, x, weight)
        return linear_by(product, x, weight, None, device, deterministic, math) + bias
    if weight.dim() == 1:
        return linear_by(product, x, weight.unsqueeze(0), None, device, deterministic, math).squeeze(-1)
    is_packed = x.dim() > 1 and x.is_contiguous()
    a = x if is_packed else as_matrix(x)
    d = product(a, weight.t(), device, deterministic, bias, math)
    return d if is_packed else d.reshape(*x.shape[:-1], weight.shape[0])


def is_read_as_it_lies(bias: Tensor, x: Tensor, weight: Tensor) -> bool:
    """Whether a kernel adds the bias as it lies, before the result is rounded."""
    dtype = x.dtype
    return (
        bias.dtype is dtype
        and dtype in SERVED_TYPES
        and bias.dim() == 1
        and weight.dim() == 2
        and bias.numel() == weight.size(0)
        and bias.is_contiguous()
        and not torch.compiler.is_compiling()
    )


def _check_bias(bias: Tensor, x: Tensor, weight: Tensor) -> None:
    """A bias has the result's type and is repeated to its shape, as torch.nn.functional.linear demands."""
    if bias.dtype != x.dtype:
        refuse(f"bias is of type {bias.dtype}, but x is of type {x.dtype}: bias.to(x.dtype) converts it")
    shape = x.shape[:-1] + weight.shape[:-1]
    if not is_repeated_to(bias.shape, shape):
        refuse(f"bias has shape {tuple(bias.shape)}, which is not repeated to the product's {tuple(shape)}")


def is_repeated_to(shape: Sequence[int], whole: Sequence[int]) -> bool:
    skipped = len(whole) - len(shape)
    return skipped >= 0 and all(size == 1 or size == whole[skipped + i] for i, size in enumerate(shape))


def as_matrix(x: Tensor) -> Tensor:
    """(..., k) as rows of one matrix that kernels read as it lies: a view where there is one, else a copy."""
    if x.dim() == 0:
        refuse("x has no dimension: a linear layer multiplies the last one of x by the weight")
    if x.dim() != 2:
        x = x.reshape(prod(x.shape[:-1]), x.shape[-1])
    return x if lies_as_matrix(x) else x.contiguous()


def lies_as_matrix(x: Tensor) -> bool:
    by_row, by_column = x.stride()
    return (by_column == 1 and by_row >= x.shape[1]) or (by_row == 1 and by_column >= x.shape[0])


def cast_under_autocast(*tensors: Tensor | None) -> tuple[Tensor | None, ...]:
    """In the type that torch.autocast asks for: floating-point tensors on the first one's device, except float64."""
    first = tensors[0]
    kind = first.device.type if first is not None else ""
    if kind not in ("cpu", "cuda") or not torch.is_autocast_enabled(kind):
        return tensors
    dtype = torch.get_autocast_dtype(kind)
    return tuple(_cast(x, kind, dtype) for x in tensors)


def _cast(x: Tensor | None, kind: str, dtype: torch.dtype) -> Tensor | None:
    if x is None or x.device.type != kind or not x.is_floating_point() or x.dtype == torch.float64:
        return x
    return x.to(dtype)


def math_of(a: Tensor, math: str | None) -> str | None:
    """The word for a kernel: operands of other types than f32 are multiplied as always."""
    if math is None or a.dtype is torch.float32:
        return math
    _core.check_words(None, None, math)
    return None


def readable(x: Tensor) -> Tensor:
    """Matrices that kernels read: those of a gradient of sum(), for example, are one element that is repeated."""
    return x if x.is_contiguous() or x.mT.is_contiguous() else x.contiguous()


def check_shapes(a: Tensor, b: Tensor, bias: Tensor | None) -> None:
    """Of the operator's operands."""
    for name, tensor in (("a", a), ("b", b)):
        if tensor.dim() < 2:
            refuse(f"{name} has shape {tuple(tensor.shape)}: the operator's tensors have two dimensions or more")
    if bias is not None and (bias.dim() != 1 or bias.shape[0] != b.shape[-1]):
        refuse(f"bias has shape {tuple(bias.shape)}: the operator's bias has one element per column, ({b.shape[-1]},)")


def check_stack(gate_up: Tensor) -> None:
    if gate_up.dim() != 2 or gate_up.shape[0] % 2 != 0:
        refuse(f"gate_up has shape {tuple(gate_up.shape)}: it is a matrix with a row of gate for each row of up")


def check_tensors(**operands: Any) -> None:
    for name, x in operands.items():
        if not isinstance(x, Tensor):
            refuse(f"{name} is of type {type(x).__name__}: a torch.Tensor")


def refuse(reason: str) -> None:
    raise OperandError(f"invalid array: {reason}", (reason,))
