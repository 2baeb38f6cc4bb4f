"""Modules whose linear layers multiply together with their activations, and the way back.

Such a module has a class of its own, derived from the one that it had. Its children and parameters stay, with their
names. Each call looks whether the children are still plain. One with hooks, an adapter around it or another class is
called as before, and so is each child where somebody works on single operations.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, wraps
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.modules import module as modules

from ._torch_activation import activation_of
from ._torch_fused import Options, halves, makes_pairs, stack_of
from ._torch_layer import Linear
from ._torch_mlp import Weights, mlp
from ._torch_patterns import Chain, Gated, Step, activation_of_module
from ._torch_stack import restack

# ---- calls ---------------------------------------------------------------------------------------


def run(module: Any, pattern: Chain | Gated | None, x: Any) -> Any:
    """None where the module's own forward is to be called."""
    if not isinstance(x, Tensor) or _are_all_hooked():
        return None
    if isinstance(pattern, Gated):
        return _run_gated(module, pattern, x)
    steps = [Step(name) for name in module._modules] if pattern is None else pattern.steps
    return _run_chain(module, steps, x)


def _run_gated(module: Any, pattern: Gated, x: Tensor) -> Tensor | None:
    gate, down = _layer(module, pattern.gate), _layer(module, pattern.down)
    up = None if pattern.up is None else _layer(module, pattern.up)
    activation = activation_at(module, pattern.activation)
    if gate is None or down is None or activation is None or gate.bias is not None:
        return None
    if pattern.up is not None and (up is None or up.bias is not None or _settings(up) != _settings(gate)):
        return None
    if _settings(down) != _settings(gate):
        return None
    weights = Weights(gate.weight, None if up is None else up.weight, None, down.weight, down.bias)
    return mlp(Options(activation, True, *_settings(gate)), x, weights)


def _run_chain(module: Any, steps: Any, x: Any) -> Any:
    at = 0
    while at < len(steps):
        d, taken = _fused_steps(module, steps[at:], x)
        if d is None:
            d, taken = _one_step(module, steps[at], x), 1
        x, at = d, at + taken
    return x


def _one_step(module: Any, step: Step, x: Any) -> Any:
    if step.child is None:
        return activation_of(step.activation).function(x)
    return module._modules[step.child](x)


def _fused_steps(module: Any, steps: Any, x: Any) -> tuple[Any, int]:
    """A result, and how many steps it stands for."""
    layer = _layer(module, steps[0].child)
    activation = activation_at(module, steps[1]) if layer is not None and len(steps) > 1 else None
    if layer is None or activation is None or not isinstance(x, Tensor):
        return None, 0
    options, first = Options(activation, False, *_settings(layer)), Weights(layer.weight, bias=layer.bias)
    at = 2
    while at < len(steps) and _is_idle(module, steps[at]):
        at += 1
    down = _layer(module, steps[at].child) if at < len(steps) else None
    if at + 1 < len(steps) and activation_at(module, steps[at + 1]) is not None:
        down = None  # it has an activation of its own
    if down is not None and _settings(down) == _settings(layer):
        d = mlp(options, x, first._replace(down=down.weight, down_bias=down.bias))
        if d is not None:
            return d, at + 1
    return mlp(options, x, first), 2


def _layer(module: Any, name: str | None) -> Any:
    """A linear layer of ours that does nothing else."""
    layer = _plain_child(module, name)
    return layer if type(layer) is Linear else None


def activation_at(module: Any, step: Step) -> str | None:
    if step.child is None:
        return step.activation
    child = _plain_child(module, step.child)
    if child is None:
        return None
    if type(child).__module__.startswith("torch."):
        return activation_of_module(child)
    return step.activation if type(child) is step.kind else None


def _is_idle(module: Any, step: Step) -> bool:
    child = _plain_child(module, step.child)
    return type(child) is nn.Identity or (type(child) is nn.Dropout and (child.p == 0 or not child.training))


def _plain_child(module: Any, name: str | None) -> Any:
    """Without hooks and a forward of its own."""
    child = module._modules.get(name)
    if child is None or "forward" in child.__dict__ or child._forward_hooks or child._forward_pre_hooks:
        return None
    return None if child._backward_hooks or child._backward_pre_hooks else child


def _are_all_hooked() -> bool:
    """Whether a hook sees the calls of every module."""
    hooks = modules._global_forward_hooks or modules._global_forward_pre_hooks
    return bool(hooks or modules._global_backward_hooks or modules._global_backward_pre_hooks)


def _settings(layer: Any) -> tuple[str | None, str | None, str | None]:
    return layer.jitgemm_device, layer.jitgemm_deterministic, layer.jitgemm_math


# ---- classes -------------------------------------------------------------------------------------


class Fused:
    """The first base of a class that fuses. The second one is the class that the module had."""

    jitgemm_pattern: Any = None  # of a Sequential: its children in order, as they are at the time of a call

    def extra_repr(self) -> str:
        own = super().extra_repr()  # type: ignore[misc]
        return ", ".join(filter(None, [own, f"jitgemm: {described(self, self.jitgemm_pattern)}"]))

    def _apply(self, *arguments: Any, **named: Any) -> Any:
        """Moves parameters one by one."""
        result = super()._apply(*arguments, **named)  # type: ignore[misc]
        restack(self, self.jitgemm_pattern)
        return result

    def __setstate__(self, state: Any) -> None:
        """Of a copy, whose parameters were copied one by one."""
        super().__setstate__(state)  # type: ignore[misc]
        restack(self, self.jitgemm_pattern)

    def __reduce_ex__(self, protocol: Any) -> Any:
        reduced: Any = super().__reduce_ex__(protocol)
        return (_new, (base_of(self),), *reduced[2:])

    def __prepare_scriptable__(self) -> Any:
        """torch.jit.script compiles the forward that the module had."""
        unfuse(self)
        return self


@cache
def _fused_class(kind: Any) -> type:
    @wraps(kind.forward)  # fx and others read the parameters of the forward that the module had
    def forward(self: Any, *arguments: Any, **named: Any) -> Any:
        if len(arguments) == 1 and not named:
            d = run(self, self.jitgemm_pattern, arguments[0])
            if d is not None:
                return d
        return kind.forward(self, *arguments, **named)

    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "forward": forward}
    return type(kind.__name__, (Fused, kind), names)


def _new(kind: type) -> Any:
    return object.__new__(_fused_class(kind))


def base_of(module: Any, ours: type = Fused) -> Any:
    """The class that a module has without ours."""
    kinds = type(module).__mro__
    return kinds[kinds.index(ours) + 1] if ours in kinds else type(module)


def fuse(module: nn.Module, pattern: Chain | Gated | None) -> None:
    module.__class__ = _fused_class(base_of(module))
    if pattern is not None:
        module.__dict__["jitgemm_pattern"] = pattern


def unfuse(module: Any) -> None:
    module.__class__ = base_of(module)
    module.__dict__.pop("jitgemm_pattern", None)


# ---- words ---------------------------------------------------------------------------------------


def described(module: Any, pattern: Chain | Gated | None) -> str:
    """The products of a call: "gelu(fc1)"."""
    if isinstance(pattern, Gated):
        layers = ", ".join(filter(None, (pattern.gate, pattern.up)))
        return f"{pattern.activation.activation}-gated {layers}, then {pattern.down}"
    return ", ".join(_pairs(module, pattern))


def _pairs(module: Any, pattern: Chain | None) -> Iterator[str]:
    for layer, activation in _activated(module, pattern):
        yield f"{activation}({layer})"


def _activated(module: Any, pattern: Chain | None) -> Iterator[tuple[str, str]]:
    """Names of layers with the activations behind them."""
    steps = [Step(name) for name in module._modules] if pattern is None else pattern.steps
    for first, second in pairwise(steps):
        activation = activation_at(module, second)
        if first.child is not None and activation is not None and _layer(module, first.child) is not None:
            yield first.child, activation


class Asked(NamedTuple):
    """A product without gradients. Without an epilogue of its own, the bias is added."""

    weight: Tensor
    bias: Tensor | None
    epilogue: str | None
    layer: Any


def products_of(module: Any, dtype: torch.dtype | None) -> Iterator[Asked]:
    """Of a module that fuses, in a type (default: each weight's): what its layers ask for with an epilogue."""
    pattern, children = getattr(module, "jitgemm_pattern", None), module._modules
    if isinstance(pattern, Gated):
        yield from _products_of_gated(pattern, children, dtype)
    elif isinstance(module, Fused):
        for name, activation in _activated(module, pattern):
            layer = children[name]
            of_bias = "" if layer.bias is None else " + bias[n]"
            yield Asked(layer.weight, None, f"d = {activation}(acc{of_bias})", layer)


def _products_of_gated(pattern: Gated, children: Any, dtype: torch.dtype | None) -> Iterator[Asked]:
    layer, f = children[pattern.gate], pattern.activation.activation
    gate = layer.weight
    second = layer if pattern.up is None else children[pattern.up]
    up = None if pattern.up is None else second.weight
    is_cast = dtype not in (None, gate.dtype)  # under autocast, which copies each weight
    whole = None if is_cast and up is not None else stack_of(gate, up)
    if whole is not None and makes_pairs(whole, dtype or gate.dtype):
        yield Asked(whole, None, f"d[m,h] = {f}(left(acc)) * right(acc)", layer)
        if second is not layer:
            yield Asked(whole, None, f"d[m,h] = {f}(left(acc)) * right(acc)", second)
        return
    gate, up = halves(gate, up)
    yield Asked(gate, None, f"d = {f}(acc) * up[m,n]", layer)
    yield Asked(up, None, None, second)
