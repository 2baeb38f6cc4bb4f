"""The fused kernels under Inductor: each stays where it is faster than the operations that it stands for.

Inductor asks for an operator's decomposition while it traces. Both ways are then timed on random operands of the same
sizes. Without the fused kernel, Inductor chooses the products' kernels, and fuses what is left.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isfinite
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear
from torch.utils._python_dispatch import _disable_current_modes

from . import _torch_fused as fused
from ._errors import Error
from ._torch_fused import Options
from ._torch_mlp import Weights, composed


def _hidden(options: Options, x: Tensor, gate: Tensor, up: Any, bias: Any) -> Tensor:
    return composed(linear, options, x, Weights(gate, up, bias))


def _hidden_and_argument(options: Options, x: Tensor, gate: Tensor, up: Any, bias: Any) -> list[Tensor]:
    function = options.of_activation.function
    argument = linear(x, gate, bias) if up is None else torch.cat([linear(x, gate), linear(x, up)], dim=1)
    if not options.gated:
        d = function(argument)
        return [d] if options.keeps_result else [d, argument]
    of_gate, of_up = argument.chunk(2, dim=1)
    return [function(of_gate) * of_up, argument]


def _gradient_of_argument(options: Options, gradient: Tensor, down: Tensor, kept: Tensor) -> Tensor:
    slope, function = options.of_activation.slope, options.of_activation.function
    of_hidden = torch.mm(gradient, down)
    if not options.gated:
        return slope(of_hidden, kept)
    of_gate, of_up = kept.chunk(2, dim=1)
    return torch.cat([slope(of_hidden * of_up, of_gate), of_hidden * function(of_gate)], dim=1)


def _gradients_of_argument_and_bias(options: Options, gradient: Tensor, down: Tensor, kept: Tensor) -> list[Tensor]:
    of_argument = _gradient_of_argument(options, gradient, down, kept)
    return [of_argument, of_argument.sum(0)]


def _gradient_of_x(options: Options, of_argument: Tensor, gate: Tensor, up: Tensor) -> Tensor:
    left, right = of_argument.chunk(2, dim=1)
    return torch.addmm(torch.mm(left, gate), right, up)


# Operands, ours and theirs.
_WAYS: dict[str, tuple[int, Callable[..., Any], Callable[..., Any]]] = {
    "hidden": (4, fused.hidden, _hidden),
    "hidden_and_argument": (4, fused.hidden_and_argument, _hidden_and_argument),
    "gradient_of_argument": (3, fused.gradient_of_argument, _gradient_of_argument),
    "gradients_of_argument_and_bias": (3, fused.gradients_of_argument_and_bias, _gradients_of_argument_and_bias),
    "gradient_of_x": (3, fused.gradient_of_x, _gradient_of_x),
}


def decompositions(is_served: Callable[[Options, Tensor], bool], least_gain: Callable[[], float]) -> dict[Any, Any]:
    """For Inductor, by operator."""
    return {
        getattr(torch.ops.jitgemm, f"mlp_{name}").default: partial(_decomposed, name, is_served, least_gain)
        for name in _WAYS
    }


def _decomposed(name: str, is_served: Any, least_gain: Any, *given: Any, **named: Any) -> Any:
    count, _, theirs = _WAYS[name]
    operands, options = given[:count], Options(*given[count:], **named)
    if not is_served(options, operands[0]):
        return NotImplemented
    gain = least_gain()  # infinite where nothing of ours is to be called
    if isfinite(gain) and _is_faster(name, options, operands, gain):
        return NotImplemented
    return theirs(options, *operands)


# ---- times ---------------------------------------------------------------------------------------

_known: dict[Any, bool] = {}


def _is_faster(name: str, options: Options, operands: Any, gain: float) -> bool:
    forms = tuple(None if x is None else (sizes_of(x), sizes_of(x, "stride"), x.dtype, x.device) for x in operands)
    if any(form is not None and None in (*form[0], *form[1]) for form in forms):
        return False  # nobody knows what to time
    key = name, options, forms, gain
    if key not in _known:
        with _disable_current_modes(), torch.no_grad():
            _known[key] = _times(name, options, [None if form is None else _random(*form) for form in forms], gain)
    return _known[key]


def _times(name: str, options: Options, operands: Any, gain: float) -> bool:
    _, ours, theirs = _WAYS[name]
    try:
        of_ours = milliseconds(partial(ours, options, *operands))
    except Error:
        return False
    return of_ours * gain <= milliseconds(partial(theirs, options, *operands))


def milliseconds(call: Callable[[], Any]) -> float:
    from torch._inductor.runtime.benchmarking import benchmarker

    call()
    return float(benchmarker.benchmark_gpu(call))


def sizes_of(x: Tensor, which: str = "size") -> tuple[int | None, ...]:
    """As numbers. A symbol has its value in the call that is traced. It is None if that value depends on data."""
    return tuple(size if isinstance(size, int) else size.node.hint for size in getattr(x, which)())


def _random(sizes: Any, strides: Any, dtype: torch.dtype, device: torch.device) -> Tensor:
    generator = torch.Generator(device).manual_seed(0)  # the program's own numbers stay what they are
    return torch.empty_strided(sizes, strides, dtype=dtype, device=device).normal_(generator=generator)
