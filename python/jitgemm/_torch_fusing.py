"""Which modules of a model fuse, and why others don't."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

from torch import nn

from ._torch_blocks import Fused, described, fuse, unfuse
from ._torch_dispatch import PLAIN
from ._torch_fused import are_stacked
from ._torch_patterns import Chain, Gated, Unknown, activation_of_module, pattern_of
from ._torch_stack import stack, unstack, weights_of, why_not_stacked

Layers = set[int]  # ids of those that were chosen


def fuse_modules(model: nn.Module, layers: Layers, fused: dict[str, str], not_fused: dict[str, str]) -> None:
    owners = Counter(x.untyped_storage()._cdata for x in model.parameters() if type(x) in PLAIN)
    for name, module in model.named_modules():
        if not _has_layer(module, layers):
            continue
        try:
            pattern = _pattern_of(module, layers)
        except Unknown as reason:
            if any(_may_activate(child) for child in module.children()):
                not_fused[name] = str(reason)
            continue
        what = described(module, pattern)
        if not what:
            not_fused.update((name, reason) for reason in _unfit(module, pattern, layers))
            continue
        fuse(module, pattern)
        why_apart = _stack(module, pattern, owners)
        fused[name] = what if why_apart is None else f"{what}; gate and up are two products: {why_apart}"


def unfuse_modules(model: nn.Module, layers: Layers) -> None:
    for module in model.modules():
        if isinstance(module, Fused) and _has_layer(module, layers):
            unstack(module, module.jitgemm_pattern)
            unfuse(module)


def _has_layer(module: nn.Module, layers: Layers) -> bool:
    return any(id(child) in layers for child in module.children())


def _pattern_of(module: Any, layers: Layers) -> Chain | Gated | None:
    """Raises Unknown."""
    if "forward" in module.__dict__:
        raise Unknown("it has a forward of its own")
    if isinstance(module, Fused):
        unfuse(module)
    if type(module).forward is nn.Sequential.forward:
        return None
    pattern = pattern_of(module)
    if isinstance(pattern, Gated):
        _check_gated(module, pattern, layers)
    return pattern


def _unfit(module: Any, pattern: Any, layers: Layers) -> list[str]:
    """Of a chain: what follows a layer and is no activation. At most one reason."""
    names = list(module._modules) if pattern is None else [step.child for step in pattern.steps]
    for first, second in pairwise(names):
        layer, child = module._modules.get(first), module._modules.get(second)
        if id(layer) not in layers or child is None or not _may_activate(child):
            continue
        if activation_of_module(child):
            return [f"{first} or {second} has hooks"]
        return [f"{second} is {type(child).__name__}, which no epilogue has"]
    return []


def _may_activate(child: nn.Module) -> bool:
    """Whether an activation is to be expected behind a child's name."""
    return not isinstance(child, (nn.Dropout, nn.Identity)) and not [*child.children(), *child.state_dict()]


def _check_gated(module: Any, pattern: Gated, layers: Layers) -> None:
    for name in filter(None, (pattern.gate, pattern.up, pattern.down)):
        layer = module._modules.get(name)
        if id(layer) not in layers:
            raise Unknown(f"{name} is no linear layer that was replaced")
        if name != pattern.down and layer.bias is not None:
            raise Unknown(f"{name} has a bias")
    if pattern.activation.activation is None:
        child = module._modules.get(pattern.activation.child)
        raise Unknown(f"{pattern.activation.child} is {type(child).__name__}, which no epilogue has")


def _stack(module: Any, pattern: Any, owners: Counter[int]) -> str | None:
    """Returns why the weights lie apart, if they do."""
    weights = weights_of(module, pattern)
    if weights is None or are_stacked(*weights):
        return None
    reason = why_not_stacked(*weights)
    if reason is None and any(owners[weight.untyped_storage()._cdata] > 1 for weight in weights):
        reason = "a weight shares its memory"
    if reason is None:
        stack(*weights)
    return reason
