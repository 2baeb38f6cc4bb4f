"""The kernels of a multilayer perceptron and of its gradients, on matrices and without derivatives.

x is (m, k), gate and up are (h, k), and down is (n, h). A plain perceptron has no up: hidden = activation(x @ gate.T).
A gated one has hidden = activation(x @ gate.T) * (x @ up.T). Its argument is (m, 2 h), gate's half first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from . import _core
from ._torch_activation import Activation, activation_of
from ._torch_linear import math_of


class Options(NamedTuple):
    activation: str
    gated: bool  # without an up, gate holds both weights, gate first
    device: str | None = None
    deterministic: str | None = None
    math: str | None = None

    @property
    def of_activation(self) -> Activation:
        return activation_of(self.activation)

    @property
    def keeps_result(self) -> bool:
        """Whether the activation's derivative follows from its result."""
        return self.activation == "relu" and not self.gated


def product(options: Options, a: Tensor, b: Tensor, **more: Any) -> Any:
    of_f32 = math_of(a, options.math)
    return _core.matmul(a, b, device=options.device, deterministic=options.deterministic, math=of_f32, **more)


def hidden(options: Options, x: Tensor, gate: Tensor, up: Tensor | None, bias: Tensor | None) -> Tensor:
    """Each element is rounded once."""
    f = options.activation
    if not options.gated:
        if bias is None:
            return product(options, x, gate.mT, epilogue=f"d = {f}(acc)")
        return product(options, x, gate.mT, epilogue=f"d = {f}(acc + bias[n])", bias=bias)
    whole = stack_of(gate, up)
    if whole is not None and makes_pairs(whole, x.dtype):
        d: Tensor = product(options, x, whole.mT, epilogue=f"d[m,h] = {f}(left(acc)) * right(acc)")
        return d
    gate, up = halves(gate, up)
    of_up = product(options, x, up.mT)
    return product(options, x, gate.mT, epilogue=f"d = {f}(acc) * up[m,n]", up=of_up)


def hidden_and_argument(
    options: Options, x: Tensor, gate: Tensor, up: Tensor | None, bias: Tensor | None
) -> list[Tensor]:
    """Also what gradients need: the activation's argument; nothing more where the hidden values are enough."""
    f = options.activation
    if options.keeps_result:
        return [hidden(options, x, gate, up, bias)]
    if not options.gated:
        added = {} if bias is None else {"bias": bias}
        text = f"z = acc{' + bias[n]' if added else ''}; d = {f}(z); argument[m,n] = z"
        return list(product(options, x, gate.mT, epilogue=text, **added))
    gate, up = halves(gate, up)
    argument = x.new_empty((x.shape[0], 2 * gate.shape[0]))
    of_gate, of_up = argument.chunk(2, dim=1)
    product(options, x, up.mT, out=of_up)
    text = f"d = {f}(acc) * up[m,n]; gate[m,n] = acc"
    d, _ = product(options, x, gate.mT, epilogue=text, up=of_up, gate=of_gate)
    return [d, argument]


def gradient_of_argument(options: Options, gradient: Tensor, down: Tensor, kept: Tensor) -> Tensor:
    """From the gradient of d. kept: the last tensor of hidden_and_argument."""
    slope = options.of_activation.slope_text
    if not options.gated:
        return product(options, gradient, down, epilogue=f"z = kept[m,n]; d = acc * {slope}", kept=kept)
    gate, up = kept.chunk(2, dim=1)
    result = torch.empty_like(kept)
    of_gate, of_up = result.chunk(2, dim=1)
    text = f"z = gate[m,n]; d = acc * up[m,n] * {slope}; of_up[m,n] = acc * {options.activation}(z)"
    product(options, gradient, down, epilogue=text, gate=gate, up=up, out=of_gate, of_up=of_up)
    return result


def gradients_of_argument_and_bias(options: Options, gradient: Tensor, down: Tensor, kept: Tensor) -> list[Tensor]:
    """Of a plain perceptron. The bias's gradient is summed in f32 before the argument's is rounded."""
    if gradient.shape[0] == 0:
        of_argument = gradient_of_argument(options, gradient, down, kept)
        return [of_argument, of_argument.sum(0)]
    text = f"z = kept[m,n]; t = acc * {options.of_activation.slope_text}; d = t; of_bias[n] = sum(t)"
    of_argument, of_bias = product(options, gradient, down, epilogue=text, kept=kept)
    return [of_argument, of_bias.to(kept.dtype)]


def reduces_early(options: Options, x: Tensor) -> bool:
    """Whether kernels sum a bias's gradient while they make the argument's. Others store its values first: a pass of
    PyTorch's takes less time."""
    is_half = x.dtype in (torch.bfloat16, torch.float16)
    if options.gated or not is_half:
        return False
    return not x.is_cuda or torch.cuda.get_device_capability(x.device)[0] == 9


def makes_pairs(weights: Tensor, dtype: torch.dtype) -> bool:
    """Whether kernels multiply by gate and up at once. The others refuse these epilogues."""
    n, k = weights.shape
    is_aligned = n % 16 == 0 and k % 8 == 0 and weights.storage_offset() % 8 == 0
    return dtype in (torch.bfloat16, torch.float16) and is_aligned and weights.is_contiguous()


def gradient_of_x(options: Options, of_argument: Tensor, gate: Tensor, up: Tensor) -> Tensor:
    whole = stack_of(gate, up)
    if whole is not None:
        return product(options, of_argument, whole)
    left, right = of_argument.chunk(2, dim=1)
    return product(options, right, up, c=product(options, left, gate))


def halves(gate: Tensor, up: Tensor | None) -> tuple[Tensor, Tensor]:
    if up is not None:
        return gate, up
    left, right = gate.chunk(2)
    return left, right


def stack_of(gate: Tensor, up: Tensor | None) -> Tensor | None:
    """Both weights as one matrix, where they lie as one."""
    if up is None:
        return gate
    return gate.as_strided((2 * gate.shape[0], gate.shape[1]), gate.stride()) if are_stacked(gate, up) else None


def are_stacked(gate: Tensor, up: Tensor) -> bool:
    return (
        gate.shape == up.shape
        and gate.is_contiguous()
        and up.is_contiguous()
        and up.storage_offset() == gate.storage_offset() + gate.numel()
        and up.untyped_storage()._cdata == gate.untyped_storage()._cdata
    )
