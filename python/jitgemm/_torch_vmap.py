"""Products under torch.vmap."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._torch_linear import Product, as_matrix, readable


def batched_product(
    product: Product,
    size: int,
    dimensions: tuple[Any, ...],
    a: Tensor,
    b: Tensor,
    device: str | None,
    deterministic: str | None,
    bias: Tensor | None,
    math: str | None,
) -> Tensor:
    """`size` products, the batch first. `dimensions`: which one of each argument is the batch, or None.

    A batch of A (or of B) alone is more rows (or columns) of one product. Others are a batch of products. With a batch
    of biases there is one launch per member.
    """
    a, b, bias = (_with_batch_first(x, at) for x, at in ((a, dimensions[0]), (b, dimensions[1]), (bias, dimensions[4])))
    has_batch = tuple(dimensions[at] is not None for at in (0, 1, 4))
    if has_batch == (True, False, False) and b.dim() == 2:
        rows = product(as_matrix(a), b, device, deterministic, bias, math)
        return rows.reshape(*a.shape[:-1], b.shape[-1])
    if has_batch == (False, True, False) and a.dim() == 2 and bias is None:
        rows = product(as_matrix(b.mT), a.mT, device, deterministic, None, math)
        return rows.reshape(*b.mT.shape[:-1], a.shape[0]).mT
    if has_batch[2]:
        return _one_after_the_other(product, size, has_batch, (a, b, bias), device, deterministic, math)
    rank = max(a.dim() - has_batch[0], b.dim() - has_batch[1])
    a, b = (_with_leading(x, rank) if has else x for x, has in zip((a, b), has_batch))
    return product(a, b, device, deterministic, bias, math)


def _with_batch_first(x: Any, at: int | None) -> Any:
    return x if at is None else x.movedim(at, 0)


def _with_leading(x: Tensor, rank: int) -> Tensor:
    """The batch, as many dimensions of size 1 as others have more, and a member's own `rank` dimensions."""
    return readable(x).reshape(x.shape[0], *(1 for _ in range(rank - x.dim() + 1)), *x.shape[1:])


def _one_after_the_other(
    product: Product,
    size: int,
    has_batch: tuple[bool, ...],
    operands: tuple[Any, ...],
    device: str | None,
    deterministic: str | None,
    math: str | None,
) -> Tensor:
    def operand(which: int, i: int) -> Any:
        x = operands[which][i] if has_batch[which] else operands[which]
        if x is None or x.dim() == 2:
            return x if x is None else as_matrix(x)
        return x.contiguous()

    return torch.stack(
        [product(operand(0, i), operand(1, i), device, deterministic, operand(2, i), math) for i in range(size)]
    )
