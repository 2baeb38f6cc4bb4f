"""A model's linear layers by jitgemm's kernels, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from . import _core
from ._torch_activation import activation_of
from ._torch_blocks import run
from ._torch_dispatch import PLAIN
from ._torch_fusing import fuse_modules, unfuse_modules
from ._torch_layer import Linear
from ._torch_patterns import Gated, Step
from ._torch_products import word

Filter = Callable[[str, torch.nn.Linear], bool]


class Replaced(list[str]):
    """The names of the replaced layers. It also says which modules were fused, and why others were not."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(names)
        self.fused: dict[str, str] = {}  # name of a module, and what it multiplies together
        self.not_fused: dict[str, str] = {}  # name of a module with a layer and an activation, and the reason

    def __str__(self) -> str:
        lines = [f"fused in {name or 'the model'}: {what}" for name, what in self.fused.items()]
        lines += [f"not fused in {name or 'the model'}: {why}" for name, why in self.not_fused.items()]
        return "\n".join([repr(list(self)), *lines])


def replace_linear(
    model: torch.nn.Module,
    *,
    device: str | None = None,
    deterministic: str | None = None,
    math: str | None = None,
    only: Filter | None = None,
    fuse: bool = True,
) -> Replaced:
    """Every torch.nn.Linear of a model, and the model if it is one, multiplies by jitgemm from now on; in place.

    Parameters, hooks and names stay the same. These layers are left alone: subclasses of Linear, layers whose weight is
    of a subclass of Tensor (quantized or distributed, say), and layers with a forward of their own (accelerate's).
    `only` is asked with name and module. Layers that were replaced before take the options of this call.
    math: how layers multiply f32, as for jitgemm.matmul. Other types are multiplied as always.
    fuse: layers beside their activations, and gated MLPs, run as fewer kernels. The weights of gate and up become views
    of one tensor. Layers with hooks, and layers that are wrapped later, are called one by one.
    Returns the names of the replaced layers. Printed, the list also says which modules were fused, and why others were
    not.
    restore_linear is the way back. A word that `device`, `deterministic` or `math` can't be is refused, and nothing
    changes.
    """
    device = word(device)
    _core.check_words(device, deterministic, math)
    chosen = chosen_modules(model, lambda layer: type(layer) is Linear or _can_be_replaced(layer), only)
    for _, layer in chosen:
        layer.__class__ = Linear
        set_options(layer, jitgemm_device=device, jitgemm_deterministic=deterministic, jitgemm_math=math)
    report = Replaced([name for name, _ in chosen])
    layers = {id(layer) for _, layer in chosen}
    if fuse:
        fuse_modules(model, layers, report.fused, report.not_fused)
    else:
        unfuse_modules(model, layers)
    return report


def restore_linear(model: torch.nn.Module, *, only: Filter | None = None) -> list[str]:
    """The layers that replace_linear replaced are torch.nn.Linear again. Returns their names.

    The modules that call them call them one by one. Weights that were views of one tensor have memory of their own.
    """
    chosen = chosen_modules(model, lambda layer: type(layer) is Linear, only)
    unfuse_modules(model, {id(layer) for _, layer in chosen})
    for _, layer in chosen:
        layer.__class__ = torch.nn.Linear
        set_options(layer, jitgemm_device=None, jitgemm_deterministic=None, jitgemm_math=None)
    return [name for name, _ in chosen]


def _can_be_replaced(layer: Any) -> bool:
    return type(layer) is torch.nn.Linear and type(layer.weight) in PLAIN and "forward" not in layer.__dict__


def chosen_modules(
    model: torch.nn.Module, fits: Callable[[Any], bool], only: Callable[[str, Any], bool] | None
) -> list[tuple[str, Any]]:
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"model is of type {type(model).__name__}: it must be a torch.nn.Module")
    if only is not None and not callable(only):
        raise TypeError(f"only is of type {type(only).__name__}: it must be a function of a layer's name and the layer")
    layers = [(name, layer) for name, layer in model.named_modules() if fits(layer)]
    return [(name, layer) for name, layer in layers if only is None or only(name, layer)]


def set_options(layer: Any, **options: Any) -> None:
    for name, value in options.items():
        if value is None:
            layer.__dict__.pop(name, None)
        else:
            layer.__dict__[name] = value


class GatedMLP(torch.nn.Module):
    """gated_mlp as a module. gate_up and down are layers without a bias. gate_up's weight holds gate and up."""

    def __init__(
        self, features: int, hidden: int, activation: str = "silu", *, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.activation = activation
        activation_of(activation)
        self.jitgemm_pattern = Gated("gate_up", None, Step(None, activation), "down")
        self.gate_up = Linear(features, 2 * hidden, bias=False, device=device, dtype=dtype)
        self.down = Linear(hidden, features, bias=False, device=device, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        d = run(self, self.jitgemm_pattern, x)
        if d is not None:
            return d
        gate, up = self.gate_up(x).chunk(2, -1)
        return self.down(activation_of(self.activation).function(gate) * up)

    def extra_repr(self) -> str:
        return f"activation={self.activation!r}"


GatedMLP.__module__ = Replaced.__module__ = "jitgemm.torch"
