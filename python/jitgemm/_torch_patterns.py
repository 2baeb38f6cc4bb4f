"""Finds linear layers beside their activations in the module that calls them.

A module's forward is traced twice, for training and for evaluation, and must be one of two patterns from end to end:
a chain of calls, or the gated MLP of a Llama. So nothing that it does gets lost. Attribute names play no part.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import torch
from torch import fx, nn
from torch.nn import functional


class Step(NamedTuple):
    """A child that is called with one input, or an activation that is called as a function."""

    child: str | None
    activation: str | None = None  # also of a child that is one
    kind: type | None = None  # of that child


class Chain(NamedTuple):
    steps: tuple[Step, ...]


class Gated(NamedTuple):
    """down(activation(gate(x)) * up(x)). Without an up, gate has both halves of what it returns, gate first."""

    gate: str
    up: str | None
    activation: Step
    down: str


Pattern = Chain | Gated


class Unknown(Exception):
    """Says why a forward is none of the patterns."""


# ---- activations ---------------------------------------------------------------------------------

_FUNCTIONS: dict[Any, str] = {
    torch.relu: "relu",
    functional.relu: "relu",
    functional.silu: "silu",
}


def activation_of_module(module: nn.Module) -> str | None:
    """Its name, if the module does nothing else."""
    kind = type(module)
    if kind is nn.ReLU:
        return "relu"
    if kind is nn.SiLU:
        return "silu"
    if kind is nn.GELU:
        return _gelu(module.approximate)
    if kind.__module__.startswith("torch.") or [*module.children(), *module.parameters()]:
        return None
    try:
        calls = _calls(module)
    except Unknown:
        return None
    return activation_of_call(calls[0]) if len(calls) == 1 else None


def activation_of_call(node: fx.Node) -> str | None:
    """Of a function. Its first argument is the only tensor."""
    if node.op == "call_method" and node.target == "relu":
        return "relu"
    if node.op != "call_function":
        return None
    if node.target is functional.gelu:
        return _gelu(node.kwargs.get("approximate", "none"))
    return _FUNCTIONS.get(node.target)


def _gelu(approximate: Any) -> str | None:
    return {"none": "gelu_erf", "tanh": "gelu"}.get(approximate)


# ---- patterns ------------------------------------------------------------------------------------


def pattern_of(module: nn.Module) -> Pattern:
    """Raises Unknown."""
    was_training = module.training
    try:
        found = []
        for training in (True, False):
            module.training = training
            found.append(_pattern(module, _calls(module)))
    finally:
        module.training = was_training
    if found[0] != found[1]:
        raise Unknown("its forward differs between training and evaluation")
    return found[0]


def _calls(module: nn.Module) -> list[fx.Node]:
    """The calls of forward, in order. forward may use its first argument only."""
    try:
        graph = _Tracer().trace(module)
    except Exception as error:
        raise Unknown(f"its forward can't be traced: {type(error).__name__}") from None
    nodes = list(graph.nodes)
    inputs = [node for node in nodes if node.op == "placeholder"]
    calls = [node for node in nodes if node.op not in ("placeholder", "output")]
    if not inputs or any(node.users for node in inputs[1:]):
        raise Unknown("its forward has more than one input")
    if not calls or nodes[-1].args != (calls[-1],):
        raise Unknown("its forward returns more than the last call's result")
    return calls


class _Tracer(fx.Tracer):
    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return True


def _pattern(module: nn.Module, calls: list[fx.Node]) -> Pattern:
    source = next(node for node in calls[0].graph.nodes if node.op == "placeholder")
    gated = _gated(module, calls, source) or _gated_by_one_layer(module, calls, source)
    if gated is not None:
        return gated
    steps = []
    for node in calls:
        if _only_input(node) is not source:
            raise Unknown(f"its forward calls {_name(node)} between the layers")
        steps.append(_step(module, node))
        source = node
    return Chain(tuple(steps))


def _step(module: nn.Module, node: Any) -> Step:
    if node.op == "call_module" and not node.kwargs:
        name = str(node.target)
        child = module.get_submodule(name)
        activation = activation_of_module(child)
        return Step(name) if activation is None else Step(name, activation, type(child))
    activation = activation_of_call(node)
    if activation is None:
        raise Unknown(f"its forward calls {_name(node)} between the layers")
    return Step(None, activation)


def _gated(module: nn.Module, calls: list[fx.Node], source: fx.Node) -> Gated | None:
    if len(calls) != 5 or not _multiplies_for_a_layer(calls[3], calls[4]):
        return None
    for activated, of_up in (calls[3].args, calls[3].args[::-1]):
        of_gate = _only_input(activated)
        if _is_layer(of_gate, source) and _is_layer(of_up, source) and of_gate is not of_up:
            return Gated(_target(of_gate), _target(of_up), _step(module, activated), _target(calls[4]))
    return None


def _gated_by_one_layer(module: nn.Module, calls: list[fx.Node], source: fx.Node) -> Gated | None:
    if len(calls) != 7 or not _multiplies_for_a_layer(calls[5], calls[6]) or not _is_layer(calls[0], source):
        return None
    for activated, of_up in (calls[5].args, calls[5].args[::-1]):
        if _is_half(_only_input(activated), 0, calls[0]) and _is_half(of_up, 1, calls[0]):
            return Gated(_target(calls[0]), None, _step(module, activated), _target(calls[6]))
    return None


def _is_layer(node: Any, source: fx.Node) -> bool:
    return isinstance(node, fx.Node) and node.op == "call_module" and _only_input(node) is source


def _is_half(node: Any, which: int, of_layer: fx.Node) -> bool:
    if not isinstance(node, fx.Node) or node.target is not operator.getitem or node.args[1] != which:
        return False
    chunk = node.args[0]
    return (
        isinstance(chunk, fx.Node)
        and chunk.target in ("chunk", torch.chunk)
        and _only_input(chunk) is of_layer
        and (*chunk.args[1:], *chunk.kwargs.values()) == (2, -1)
    )


def _multiplies_for_a_layer(product: fx.Node, layer: fx.Node) -> bool:
    return layer.op == "call_module" and _only_input(layer) is product and multiplies(product)


def multiplies(node: fx.Node) -> bool:
    """Whether it is the product of two nodes."""
    is_product = node.target in (operator.mul, torch.mul) or (node.op == "call_method" and node.target == "mul")
    return is_product and len(node.args) == 2 and not node.kwargs and all(isinstance(x, fx.Node) for x in node.args)


def _target(node: Any) -> str:
    return str(node.target)


def _only_input(node: Any) -> Any:
    inputs = node.all_input_nodes if isinstance(node, fx.Node) else []
    return inputs[0] if len(inputs) == 1 and node.args[:1] == (inputs[0],) else None


def _name(node: fx.Node) -> str:
    return getattr(node.target, "__name__", str(node.target))
