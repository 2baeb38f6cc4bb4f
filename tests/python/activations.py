"""PyTorch's activations by the names that jitgemm.torch has for them."""

from __future__ import annotations

from functools import partial

from torch.nn import functional

ACTIVATIONS = {
    "relu": functional.relu,
    "gelu": partial(functional.gelu, approximate="tanh"),
    "gelu_erf": functional.gelu,
    "silu": functional.silu,
}
