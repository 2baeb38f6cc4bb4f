"""The problems of a model's linear layers, compiled before the model runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ._torch_blocks import Asked, products_of
from ._torch_float8 import Float8Linear, epilogue_of
from ._warm import warm as warm_shapes

if TYPE_CHECKING:
    from ._documents import WarmDocument

_TYPES = {torch.bfloat16: "bf16", torch.float16: "f16", torch.float32: "f32"}


def warm(
    model: torch.nn.Module,
    rows: int | Iterable[int],
    *,
    dtype: torch.dtype | None = None,
    gpu: str | None = None,
    **options: Any,
) -> WarmDocument:
    """Compiles the kernels of a model's linear layers into the cache, as jitgemm.warm does, without running it.

    model: its torch.nn.Linear layers count, replaced or not. They may lie on any device, also on meta.
    rows: how many rows the layers' input has, batch times sequence: a number, several, or range(1, 8193).
    dtype: the type of the products (default: each weight's; under autocast it is another). Layers with quantized
      weights have their bias's, or bfloat16.
    gpu, and other keywords: those of jitgemm.warm, whose result this is. Gradients need further kernels.
    """
    return warm_shapes(list(lines(model, rows, dtype)), gpu=gpu, **options)


def lines(model: torch.nn.Module, rows: int | Iterable[int], dtype: torch.dtype | None = None) -> Iterator[str]:
    """The problems as lines of a shape file, each once."""
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"model is of type {type(model).__name__}: it must be a torch.nn.Module")
    sizes = _sizes(rows)
    layers = [layer for layer in model.modules() if isinstance(layer, torch.nn.Linear)]
    if not layers:
        raise ValueError("the model has no torch.nn.Linear")
    yield from dict.fromkeys(
        " ".join(["gemm-v3" if any(x.startswith("epilogue=") for x in fields) else "gemm-v2", f"m={m}", *fields])
        for asked in _asked(model, layers, dtype)
        for m in sizes
        if (fields := _fields(asked, dtype, m == "1")) is not None
    )


def _asked(model: torch.nn.Module, layers: list[Any], dtype: torch.dtype | None) -> Iterator[Asked]:
    fused = [asked for module in model.modules() for asked in products_of(module, dtype)]
    for layer in layers:
        yield from [x for x in fused if x.layer is layer] or [Asked(layer.weight, layer.bias, None, layer)]


def _sizes(rows: int | Iterable[int]) -> list[str]:
    """Values of m, or a range of it."""
    if isinstance(rows, range) and rows.step == 1 and len(rows) > 1:
        values = [rows.start]
        first = max(rows.start, 2)  # a bias beside one row is a matrix of one row
        sizes = ["1"] if rows.start == 1 else []
        sizes.append(f"{first}:{rows.stop - 1}" if first < rows.stop - 1 else str(first))
    else:
        values = [rows] if isinstance(rows, int) else [*rows]
        sizes = [str(m) for m in values]
    if not values or any(not isinstance(m, int) or m < 1 for m in values):
        raise ValueError(f"rows is {rows!r}: it must be a number from 1, several of them, or a range")
    return sizes


def _fields(asked: Asked, dtype: torch.dtype | None, is_one_row: bool) -> list[str] | None:
    """All but m; None for a layer that no kernel serves, or whose weight lies as none reads it."""
    weight = asked.weight
    if type(asked.layer) is Float8Linear:
        return _fields_of_float8(asked.layer, dtype, is_one_row)
    kind = _TYPES.get(dtype or weight.dtype)
    if kind is None or weight.dim() != 2:
        return None
    n, k = weight.shape
    by_row, by_column = weight.stride() if dtype in (None, weight.dtype) else (k, 1)
    if by_column == 1 and by_row >= k:
        layout, leading = "tn", by_row
    elif by_row == 1 and by_column >= n:
        layout, leading = "tt", by_column
    else:
        return None
    fields = [f"n={n}", f"k={k}", f"a={kind}", f"layout={layout}", f"ldb={leading}"]
    bias = asked.bias
    if asked.epilogue is not None:
        fields.append(f"epilogue='{asked.epilogue}'")
    elif bias is not None and bias.dim() == 1 and bias.is_contiguous():
        fields += [f"c={kind}"] if is_one_row else [f"c={kind}", "broadcast-c=yes"]
    options = {"deterministic": getattr(asked.layer, "jitgemm_deterministic", None)}
    if kind == "f32":
        options["math"] = getattr(asked.layer, "jitgemm_math", None)
    return fields + [f"{name}={value}" for name, value in options.items() if value is not None]


def _fields_of_float8(layer: Float8Linear, dtype: torch.dtype | None, is_one_row: bool) -> list[str] | None:
    """The weight doesn't say what type the input has. The bias does."""
    n, k = layer.weight.shape
    bias = layer.bias
    kind = _TYPES.get(dtype or (torch.bfloat16 if bias is None else bias.dtype))
    if kind is None:
        return None
    of_bias = "" if bias is None else f"bias: {_TYPES[bias.dtype]}[n]; "
    text = of_bias + epilogue_of(layer, 1 if is_one_row else 2)
    fields = [f"n={n}", f"k={k}", "a=e4m3", f"d={kind}", "layout=tn", f"ldb={k}", f"epilogue='{text}'"]
    deterministic = layer.jitgemm_deterministic
    return fields if deterministic is None else [*fields, f"deterministic={deterministic}"]
