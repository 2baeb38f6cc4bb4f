"""Linear layers and activations in a program that Inductor compiles, as torch.ops.jitgemm.mlp.

It runs on the graph that Dynamo has recorded, before gradients are traced: the operator brings its own. Where its
kernels are not faster, they are decomposed again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, fx
from torch.nn.functional import linear

from ._torch_fused import Options
from ._torch_inductor_mlp import sizes_of
from ._torch_mlp import MLP, Weights, are_served
from ._torch_patterns import activation_of_call, multiplies

Nodes = list[fx.Node]


class Found(NamedTuple):
    """The nodes of an MLP, or of a layer with its activation. The last one is its result."""

    nodes: Nodes
    options: Options
    x: fx.Node
    weights: dict[str, Any]  # nodes, by the names of Weights


class Pass:
    """For Inductor's configuration. `before` is the pass that somebody else has put there."""

    def __init__(self, is_served: Callable[[Options, Tensor], bool], before: Callable[[fx.Graph], None] | None) -> None:
        self.is_served, self.before = is_served, before

    def __call__(self, graph: fx.Graph) -> None:
        if self.before is not None:
            self.before(graph)
        for node in list(graph.nodes):
            found = _found(node)
            if found is not None and self._fits(found):
                _replace(graph, found)

    def _fits(self, found: Found) -> bool:
        x, result = _value(found.x), _value(found.nodes[-1])
        values: dict[str, Any] = {name: None if node is None else _value(node) for name, node in found.weights.items()}
        if not all(isinstance(t, Tensor) for t in (x, result, *(t for t in values.values() if t is not None))):
            return False
        weights = Weights(**values)
        is_cast = result.dtype is not x.dtype  # under autocast
        if is_cast or None in sizes_of(x):  # sizes that depend on data
            return False
        return self.is_served(found.options, x) and are_served(found.options, x, weights)


def _value(node: fx.Node) -> Any:
    return node.meta.get("example_value")


# ---- finding -------------------------------------------------------------------------------------


class Layer(NamedTuple):
    x: fx.Node
    weight: fx.Node
    bias: fx.Node | None


def _found(activated: fx.Node) -> Found | None:
    """Where the node is the activation."""
    activation = activation_of_call(activated)
    of_gate = activated.args[0] if activation is not None and activated.args else None
    gate = _layer_of(of_gate)
    if activation is None or gate is None or not isinstance(of_gate, fx.Node) or len(of_gate.users) != 1:
        return None
    found = _gated(activation, of_gate, gate, activated) or _plain(activation, of_gate, gate, activated)
    return found if found is not None and _is_undisturbed(found) else None


def _plain(activation: str, of_gate: fx.Node, gate: Layer, activated: fx.Node) -> Found:
    options, weights = Options(activation, False), {"gate": gate.weight, "bias": gate.bias}
    after = _only_user(activated)
    down = _layer_of(after)
    if after is None or down is None or down.x is not activated:
        return Found([of_gate, activated], options, gate.x, weights)
    weights.update(down=down.weight, down_bias=down.bias)
    return Found([of_gate, activated, after], options, gate.x, weights)


def _gated(activation: str, of_gate: fx.Node, gate: Layer, activated: fx.Node) -> Found | None:
    product = _only_user(activated)
    if product is None or not multiplies(product):
        return None
    of_up = product.args[1] if product.args[0] is activated else product.args[0]
    up, after = _layer_of(of_up), _only_user(product)
    down = _layer_of(after)
    if up is None or down is None or after is None or not isinstance(of_up, fx.Node) or down.x is not product:
        return None
    if len(of_up.users) != 1 or up.x is not gate.x or up.bias is not None or gate.bias is not None:
        return None
    weights = {"gate": gate.weight, "up": up.weight, "down": down.weight, "down_bias": down.bias}
    return Found([of_gate, activated, of_up, product, after], Options(activation, True), gate.x, weights)


def _layer_of(node: Any) -> Layer | None:
    if not isinstance(node, fx.Node) or node.target is not linear:
        return None
    given: dict[str, Any] = {**dict(zip(("input", "weight", "bias"), node.args)), **node.kwargs}
    layer = Layer(given.get("input"), given.get("weight"), given.get("bias"))  # type: ignore[arg-type]
    is_one = isinstance(layer.x, fx.Node) and isinstance(layer.weight, fx.Node)
    return layer if is_one and isinstance(layer.bias, (fx.Node, type(None))) else None


def _only_user(node: fx.Node) -> fx.Node | None:
    return next(iter(node.users)) if len(node.users) == 1 else None


def _is_undisturbed(found: Found) -> bool:
    """Whether nothing between the first and the last node changes a tensor or a mode."""
    first, last = sorted(found.nodes)[0], sorted(found.nodes)[-1]
    node = first.next
    while node is not last:
        if node not in found.nodes and (not node.users or _works_in_place(node)):
            return False
        node = node.next
    return True


def _works_in_place(node: fx.Node) -> bool:
    name = getattr(node.target, "__name__", str(node.target))
    is_named = name.endswith("_") or name in ("iadd", "isub", "imul", "itruediv", "setitem")
    return is_named or bool(node.kwargs.get("inplace")) or "out" in node.kwargs


# ---- replacing -----------------------------------------------------------------------------------


def _replace(graph: fx.Graph, found: Found) -> None:
    last = sorted(found.nodes)[-1]
    with graph.inserting_after(last):
        weights = [found.weights.get(name) for name in Weights._fields]
        node = graph.call_function(fused_layers, (found.x, *weights, *found.options[:2]))
    node.meta.update(last.meta)
    last.replace_all_uses_with(node)
    for old in reversed(sorted(found.nodes)):
        graph.erase_node(old)


def fused_layers(x: Tensor, *given: Any) -> Tensor:
    """The graph calls this function."""
    d: Tensor = MLP(x.reshape(-1, x.shape[-1]), *given)
    return d.reshape(*x.shape[:-1], d.shape[-1])

