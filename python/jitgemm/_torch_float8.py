"""Linear layers with weights of e4m3 and f32 scales, for inference. The original weights are not kept."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import handle_torch_function, has_torch_function_variadic
from torch.utils.weak import WeakTensorKeyDictionary

from ._scaled import epilogue_text
from ._torch_derivatives import needs_gradient
from ._torch_dispatch import PLAIN
from ._torch_layer import Linear
from ._torch_linear import SERVED_TYPES, cast_under_autocast, refuse
from ._torch_scaled import scaled_matmul

BLOCKS, ROW = "1x128,128x128", "row"
SCALES = (BLOCKS, ROW)

_E4M3 = torch.float8_e4m3fn
_BLOCK = 128

# ---- numbers -------------------------------------------------------------------------------------


def quantized(x: Tensor, rows: int, columns: int) -> tuple[Tensor, Tensor]:
    """x in e4m3, and the factors that give x back, one for each block of rows by columns.

    x: (m, k). The result has zeros up to whole blocks: Inductor of PyTorch 2.11 loses the last block of a slice of it.
    """
    m, k = x.shape
    if m % rows or k % columns:
        x = functional.pad(x, (0, -k % columns, 0, -m % rows))
    blocks = x.reshape(x.shape[0] // rows, rows, x.shape[1] // columns, columns)
    # Factors of one column lie side by side, as the kernels read those of A fastest.
    largest = torch.linalg.vector_norm(blocks.permute(2, 1, 0, 3), inf, (1, 3), dtype=torch.float32).t()
    # Divisors of blocks of zeros and of subnormal numbers are normal numbers, too.
    scale = (largest / torch.finfo(_E4M3).max).clamp(min=torch.finfo(torch.float32).tiny)
    values = (blocks / scale[:, None, :, None]).to(_E4M3)
    return values.reshape(x.shape), scale


def _dequantized(values: Tensor, scale: Tensor, rows: int, columns: int) -> Tensor:
    """In f32."""
    n, k = values.shape
    return values.float() * scale.repeat_interleave(rows, 0)[:n].repeat_interleave(columns, 1)[:, :k]


def _block_of_weight(scales: str, k: int) -> tuple[int, int]:
    return (1, k) if scales == ROW else (_BLOCK, _BLOCK)


def relative_error(x: Tensor, reference: Tensor) -> float:
    """Of the Frobenius norm."""
    reference = reference.float()
    size = torch.linalg.vector_norm(reference).item()
    return torch.linalg.vector_norm(x - reference).item() / size if size != 0 else 0.0


# ---- the layer -----------------------------------------------------------------------------------


class Float8Linear(torch.nn.Linear):
    """torch.nn.Linear for inference: a weight of float8_e4m3fn, and weight_scale, its factors in f32.

    With scales of blocks, rows of the weight have zeros up to a multiple of 128.
    A call quantizes its input: each row, or each row and 128 features. It multiplies by jitgemm.torch.scaled_matmul.
    Moves between devices keep both types, and so do half() and to(dtype).
    """

    weight_scale: Tensor
    jitgemm_scales: str
    jitgemm_device: str | None = None
    jitgemm_deterministic: str | None = None

    def forward(self, input: Tensor) -> Tensor:
        tensors = input, self.weight, self.weight_scale, self.bias
        words = self.jitgemm_scales, self.jitgemm_device, self.jitgemm_deterministic
        return float8_linear(*tensors, self.in_features, *words)

    def dequantized(self) -> Tensor:
        """The weight in f32."""
        block = _block_of_weight(self.jitgemm_scales, self.in_features)
        return _dequantized(self.weight, self.weight_scale, *block)[:, : self.in_features]

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, weights=fp8, scales={self.jitgemm_scales}"

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        kept = {id(self.weight): torch.uint8, id(self.weight_scale): torch.int32}

        def apply(x: Tensor) -> Tensor:
            integer = kept.get(id(x))
            if integer is None:
                return fn(x)
            bits = x.view(integer)  # types of integers stay
            moved = fn(bits)
            return (moved if moved.dtype is integer else bits.to(moved.device)).view(x.dtype)

        return super()._apply(apply, recurse)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *more: Any) -> None:
        given = state_dict.get(f"{prefix}weight")
        if given is not None and given.dtype is not _E4M3:
            errors = more[-1]
            errors.append(f"{prefix}weight is of type {given.dtype}: the layer takes a quantized weight, {_E4M3}")
            return
        super()._load_from_state_dict(state_dict, prefix, *more)


Float8Linear.__module__ = "jitgemm.torch"  # copies that are saved name it


def float8_linear(
    x: Tensor,
    weight: Tensor,
    scale: Tensor,
    bias: Tensor | None,
    features: int,
    scales: str,
    device: str | None,
    deterministic: str | None,
) -> Tensor:
    if has_torch_function_variadic(x, weight, scale, bias):
        tensors = (x, weight, scale, bias)
        return handle_torch_function(float8_linear, tensors, *tensors, features, scales, device, deterministic)
    (x,) = cast_under_autocast(x)  # type: ignore[assignment]
    if x.dim() == 0 or x.shape[-1] != features:
        refuse(f"input has shape {tuple(x.shape)}, but the layer has {features} input features")
    _check(x, weight, scale, bias)
    operands = _operands(x.reshape(-1, features), weight, scale, scales)
    options: dict[str, Any] = {"device": device, "deterministic": deterministic}
    d = scaled_matmul(*operands, bias=bias, out_dtype=x.dtype, **options)
    return d.view(*x.shape[:-1], weight.shape[0])


def _operands(x: Tensor, weight: Tensor, scale: Tensor, scales: str) -> tuple[Tensor, Tensor, Any, Any]:
    """Those of scaled_matmul."""
    values, of_rows = quantized(x, 1, x.shape[1] if scales == ROW else _BLOCK)
    if scales == ROW:
        return values, weight.t(), of_rows, scale.t()
    return values, weight.t(), (of_rows, "1x128"), (scale.t(), "128x128")


def epilogue_of(layer: Float8Linear, rows: int) -> str:
    """Of the product that these rows ask for, without the type of the bias."""
    x = torch.empty(rows, layer.in_features, device="meta")
    a, b, scale_a, scale_b = _operands(x, layer.weight, layer.weight_scale, layer.jitgemm_scales)
    return epilogue_text(a, b, (scale_a, False), (scale_b, False), layer.bias)[0]


def _check(x: Tensor, weight: Tensor, scale: Tensor, bias: Tensor | None) -> None:
    if weight.dtype is not _E4M3:
        refuse(f"weight is of type {weight.dtype}: a layer whose weight was quantized has one of {_E4M3}")
    if x.dtype not in SERVED_TYPES:
        refuse(f"input is of type {x.dtype}: a layer with a quantized weight takes float32, float16 or bfloat16")
    if needs_gradient(x, weight, scale, *(() if bias is None else (bias,))):
        refuse("a layer with a quantized weight has no gradients: call the model under torch.no_grad()")


# ---- from a layer of PyTorch's -------------------------------------------------------------------


def why_not_quantized(layer: torch.nn.Linear) -> str | None:
    if type(layer) is Float8Linear:
        return "its weight is quantized already"
    if type(layer) not in (torch.nn.Linear, Linear):
        return f"{type(layer).__name__} is a subclass of torch.nn.Linear"
    if "forward" in layer.__dict__:
        return "it has a forward of its own"
    weight = layer.weight
    if type(weight) not in PLAIN:
        return f"its weight is of class {type(weight).__name__}"
    if weight.dtype not in SERVED_TYPES:
        return f"its weight is of type {weight.dtype}"
    if weight.is_meta:
        return "its weight is on meta"
    if weight.numel() == 0:
        return f"its weight has shape {tuple(weight.shape)}"
    if weight.is_cuda and torch.cuda.get_device_properties(weight.device).major != 9:
        return "its GPU has no wgmma"
    return None


def quantize(layer: Any, scales: str, known: WeakTensorKeyDictionary) -> float:
    """In place. Returns the relative error of the weight. known: results by weight, so that layers share one."""
    if layer.weight not in known:
        known[layer.weight] = _quantized_weight(layer.weight.detach(), scales)
    values, scale, error = known[layer.weight]
    layer.__class__ = Float8Linear
    layer.weight, layer.weight_scale = values, scale
    layer.requires_grad_(False)
    layer.jitgemm_scales = scales
    return float(error)


def _quantized_weight(weight: Tensor, scales: str) -> tuple[Tensor, Tensor, float]:
    n, k = weight.shape
    block = _block_of_weight(scales, k)
    with torch.no_grad():
        values, scale = quantized(weight, *block)
        values, scale = values[:n].contiguous(), scale.contiguous()
        error = relative_error(_dequantized(values, scale, *block)[:, :k], weight)
    return torch.nn.Parameter(values, requires_grad=False), torch.nn.Parameter(scale, requires_grad=False), error
