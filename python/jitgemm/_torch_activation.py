"""The activations that a product applies before it stores, with their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from ._errors import SpecError

_ops = torch.ops.aten


class Activation(NamedTuple):
    """PyTorch's function; an epilogue has it under the same name."""

    function: Callable[[Tensor], Tensor]
    # Of a gradient and the activation's argument: their product. It has no derivative.
    slope: Callable[[Tensor, Tensor], Tensor]
    # The derivative at z, as an epilogue's text.
    slope_text: str


_ACTIVATIONS = {
    "relu": Activation(functional.relu, lambda g, z: _ops.threshold_backward(g, z, 0), "drelu(z)"),
    "gelu": Activation(
        partial(functional.gelu, approximate="tanh"),
        lambda g, z: _ops.gelu_backward(g, z, approximate="tanh"),
        "dgelu(z)",
    ),
    "gelu_erf": Activation(
        functional.gelu,
        lambda g, z: _ops.gelu_backward(g, z, approximate="none"),
        "(0.5 + 0.5 * erf(0.70710678 * z) + 0.39894228 * z * exp(-0.5 * z * z))",
    ),
    "silu": Activation(functional.silu, lambda g, z: _ops.silu_backward(g, z), "dsilu(z)"),
}


def activation_of(name: Any) -> Activation:
    if isinstance(name, str) and name in _ACTIVATIONS:
        return _ACTIVATIONS[name]
    reason = f"activation is {name!r}: expected None or one of {', '.join(_ACTIVATIONS)}"
    raise SpecError(f"invalid layer: {reason}", (reason,))
