"""A model's linear layers by jitgemm's kernels, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from . import _core
from ._errors import SpecError
from ._torch_activation import activation_of
from ._torch_blocks import run
from ._torch_dispatch import PLAIN
from ._torch_float8 import BLOCKS, SCALES, Float8Linear, quantize, why_not_quantized
from ._torch_fusing import fuse_modules, unfuse_modules
from ._torch_layer import Linear
from ._torch_patterns import Gated, Step
from ._torch_prepared import MATHS
from ._torch_products import word

Filter = Callable[[str, torch.nn.Linear], bool]


class Replaced(list[str]):
    """The names of the replaced layers. It also says which modules were fused, and why others were not.

    With quantized weights, it says how large their errors are, and why layers were left alone.
    """

    def __init__(self, names: list[str]) -> None:
        super().__init__(names)
        self.fused: dict[str, str] = {}  # name of a module, and what it multiplies together
        self.not_fused: dict[str, str] = {}  # name of a module with a layer and an activation, and the reason
        self.errors: dict[str, float] = {}  # name of a layer, and the relative error of its quantized weight
        self.left_alone: dict[str, str] = {}  # name of a layer that was not quantized, and the reason

    def __str__(self) -> str:
        lines = [f"fused in {name or 'the model'}: {what}" for name, what in self.fused.items()]
        lines += [f"not fused in {name or 'the model'}: {why}" for name, why in self.not_fused.items()]
        lines += [f"{name or 'the model'}: relative error {error:.2%}" for name, error in self.errors.items()]
        lines += [f"{name or 'the model'} was left alone: {why}" for name, why in self.left_alone.items()]
        return "\n".join([repr(list(self)), *lines])


def replace_linear(
    model: torch.nn.Module,
    *,
    device: str | None = None,
    deterministic: str | None = None,
    math: str | None = None,
    prepared: bool = False,
    weights: str | None = None,
    scales: str | None = None,
    only: Filter | None = None,
    fuse: bool = True,
) -> Replaced:
    """Every torch.nn.Linear of a model, and the model if it is one, multiplies by jitgemm from now on; in place.

    Parameters, hooks and names stay the same. These layers are left alone: subclasses of Linear, layers whose weight is
    of a subclass of Tensor (quantized or distributed, say), and layers with a forward of their own (accelerate's).
    `only` is asked with name and module. Layers that were replaced before take the options of this call.
    math: how layers multiply f32, as for jitgemm.matmul. Other types are multiplied as always.
    prepared: for math="f16x3", "bf16x3", "bf16x6" or "tf32x3". Calls without gradients split a weight of f32 once, and
    keep the copy, which is up to twice as large as the weight. A weight that changes is split again, but not one that
    is written through `weight.data`. Calls that are compiled or traced split it each time. fuse doesn't count.
    fuse: layers beside their activations, and gated MLPs, run as fewer kernels. The weights of gate and up become views
    of one tensor. Layers with hooks, and layers that are wrapped later, are called one by one.
    weights: "fp8" makes layers for inference, which have no gradients. Weights become float8_e4m3fn, and the originals
    are not kept: restore_linear refuses. A call quantizes its input. Kernels need a GPU with wgmma (sm_90a). math and
    fuse don't count. Beside `weight`, a layer has `weight_scale` in f32, and dequantized() is the weight in f32.
    scales: "1x128,128x128" (default): inputs have one for each row and 128 features, weights one for 128 by 128.
    "row": one for each row of the input, and for each row of the weight.
    Returns the names of the replaced layers. Printed, the list also says which modules were fused, and why others were
    not. With weights="fp8", `errors` has the relative error of each weight, and `left_alone` says why layers were.
    restore_linear is the way back. A word that an option can't be is refused, and nothing changes.
    """
    device = word(device)
    _core.check_words(device, deterministic, math)
    if prepared and math not in MATHS:
        raise SpecError(f"prepared is {prepared!r}, but math is {math!r}: it must be {' or '.join(map(repr, MATHS))}")
    if weights is not None or scales is not None:
        scales = _scales_of(weights, scales)
        return _quantize_layers(model, scales, only, jitgemm_device=device, jitgemm_deterministic=deterministic)
    chosen = chosen_modules(model, lambda layer: type(layer) is Linear or _can_be_replaced(layer), only)
    for _, layer in chosen:
        layer.__class__ = Linear
        set_options(layer, jitgemm_device=device, jitgemm_deterministic=deterministic, jitgemm_math=math)
        set_options(layer, jitgemm_prepared=prepared or None)
    report = Replaced([name for name, _ in chosen])
    layers = {id(layer) for _, layer in chosen}
    if fuse and not prepared:
        fuse_modules(model, layers, report.fused, report.not_fused)
    else:
        unfuse_modules(model, layers)
    return report


def restore_linear(model: torch.nn.Module, *, only: Filter | None = None) -> list[str]:
    """The layers that replace_linear replaced are torch.nn.Linear again. Returns their names.

    The modules that call them call them one by one. Weights that were views of one tensor have memory of their own.
    Layers with quantized weights are refused, and nothing changes.
    """
    quantized = chosen_modules(model, lambda layer: type(layer) is Float8Linear, only)
    if quantized:
        raise SpecError(f"the weight of {quantized[0][0] or 'the model'} was quantized, and the original was not kept")
    chosen = chosen_modules(model, lambda layer: type(layer) is Linear, only)
    unfuse_modules(model, {id(layer) for _, layer in chosen})
    for _, layer in chosen:
        layer.__class__ = torch.nn.Linear
        set_options(layer, jitgemm_device=None, jitgemm_deterministic=None, jitgemm_math=None, jitgemm_prepared=None)
    return [name for name, _ in chosen]


def _scales_of(weights: str | None, scales: str | None) -> str:
    if weights is None:
        raise SpecError(f'scales is {scales!r} without weights: they are those of weights="fp8"')
    if weights != "fp8":
        raise SpecError(f'weights is {weights!r}: it must be "fp8"')
    if scales not in (None, *SCALES):
        raise SpecError(f"scales is {scales!r}: it must be {' or '.join(map(repr, SCALES))}")
    return scales or BLOCKS


_READ = "torch.nn.TransformerEncoderLayer multiplies by its weight, without the layer"


def _quantize_layers(model: torch.nn.Module, scales: str, only: Filter | None, **options: Any) -> Replaced:
    found = chosen_modules(model, lambda layer: isinstance(layer, torch.nn.Linear), only)
    encoders = [module for module in model.modules() if isinstance(module, torch.nn.TransformerEncoderLayer)]
    read = {id(child) for module in encoders for child in module.children()}
    reasons = {name: _READ if id(layer) in read else why_not_quantized(layer) for name, layer in found}
    chosen = [(name, layer) for name, layer in found if reasons[name] is None]
    unfuse_modules(model, {id(layer) for _, layer in chosen})
    report = Replaced([name for name, _ in chosen])
    report.left_alone = {name: reason for name, reason in reasons.items() if reason is not None}
    known = WeakTensorKeyDictionary()
    for name, layer in chosen:
        report.errors[name] = quantize(layer, scales, known)
        set_options(layer, **options, jitgemm_math=None, jitgemm_prepared=None)
    return report


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
