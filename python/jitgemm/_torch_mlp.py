"""Multilayer perceptrons with derivatives: torch.ops.jitgemm.mlp, and the short way to its kernels.

A linear layer with an activation is a perceptron without its last layer. Whoever works on single operations (a
transform, a mode) gets a composition of linear layers, which is differentiable any number of times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, library
from torch.autograd import forward_ad, profiler
from torch.overrides import has_torch_function_variadic

from . import _torch_fused as fused
from ._errors import OperandError
from ._torch_activation import activation_of
from ._torch_dispatch import is_taken_apart
from ._torch_fused import Options
from ._torch_linear import SERVED_TYPES, as_matrix, cast_under_autocast, lies_as_matrix, linear_by
from ._torch_operator import LIBRARY, MATMUL, tell_inductor

# x, weight, bias
Linear = Callable[[Tensor, Tensor, "Tensor | None"], Tensor]


class Weights(NamedTuple):
    gate: Tensor
    up: Tensor | None = None
    bias: Tensor | None = None
    down: Tensor | None = None
    down_bias: Tensor | None = None


def composed(linear: Linear, options: Options, x: Tensor, weights: Weights) -> Tensor:
    """The same in terms of linear layers."""
    gate, up, bias, down, down_bias = weights
    function = options.of_activation.function
    if options.gated:
        gate, up = fused.halves(gate, up)
        d = function(linear(x, gate, bias)) * linear(x, up, None)
    else:
        d = function(linear(x, gate, bias))
    return d if down is None else linear(d, down, down_bias)


def mlp(options: Options, x: Tensor, weights: Weights) -> Tensor | None:
    """By kernels that fuse. None where they don't serve the operands, or where single operations are asked for."""
    activation_of(options.activation)  # refuses an unknown one
    is_compiling = torch.compiler.is_compiling()
    if is_compiling or not (has_torch_function_variadic(x, *weights) or is_taken_apart(x, *weights)):
        if is_compiling or torch._C._is_any_autocast_enabled():
            x, *rest = cast_under_autocast(x, *weights)  # type: ignore[assignment]
            weights = Weights(*rest)  # type: ignore[arg-type]
        if are_served(options, x, weights):
            try:
                return _on_rows(options, x, weights, is_compiling or profiler._is_profiler_enabled)
            except OperandError:  # a tensor whose memory only the dispatcher finds; or a linear layer raises this, too
                pass
    return None


def are_served(options: Options, x: Tensor, weights: Weights) -> bool:
    """Linear layers compute products that are not served, or refuse them."""
    gate, up, bias, down, down_bias = weights
    dtype = x.dtype
    if x.dim() == 0 or dtype not in SERVED_TYPES or not _is_matrix(gate, dtype) or x.shape[-1] != gate.shape[1]:
        return False
    if bias is not None and not _is_vector(bias, dtype, gate.shape[0]):
        return False
    if up is not None and (not _is_matrix(up, dtype) or up.shape != gate.shape):
        return False
    if options.gated and up is None and gate.shape[0] % 2 != 0:
        return False
    if down is None:
        return True
    return (
        _is_matrix(down, dtype)
        and down.shape[1] == _width(options, gate, up)
        and (down_bias is None or _is_vector(down_bias, dtype, down.shape[0]))
    )


def _is_matrix(x: Tensor, dtype: torch.dtype) -> bool:
    return x.dtype is dtype and x.dim() == 2 and lies_as_matrix(x)


def _is_vector(x: Tensor, dtype: torch.dtype, size: int) -> bool:
    return x.dtype is dtype and x.dim() == 1 and x.is_contiguous() and x.shape[0] == size


def _width(options: Options, gate: Tensor, up: Tensor | None) -> int:
    return gate.shape[0] // 2 if options.gated and up is None else gate.shape[0]


def _needs_gradient(*tensors: Tensor | None) -> bool:
    return torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in tensors)


def _on_rows(options: Options, x: Tensor, weights: Weights, by_operator: bool) -> Tensor:
    rows = x if x.dim() == 2 and lies_as_matrix(x) else as_matrix(x)
    if by_operator:
        d = MLP(rows, *weights, *options)
    elif _needs_gradient(x, *weights):
        d = Mlp.apply(DIRECT, options, rows, *weights)
    else:
        d = run(DIRECT, options, rows, weights)
    return d if x.dim() == 2 else d.reshape(*x.shape[:-1], d.shape[-1])


# ---- kernels -------------------------------------------------------------------------------------


class Kernels(NamedTuple):
    """All take the options first. product: a, b, bias."""

    product: Callable[..., Tensor]
    hidden: Callable[..., Tensor]
    hidden_and_argument: Callable[..., list[Tensor]]
    gradient_of_argument: Callable[..., Tensor]
    gradients_of_argument_and_bias: Callable[..., list[Tensor]]
    gradient_of_x: Callable[..., Tensor]


def _product(options: Options, a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
    return fused.product(options, a, b, c=bias)


DIRECT = Kernels(
    _product,
    fused.hidden,
    fused.hidden_and_argument,
    fused.gradient_of_argument,
    fused.gradients_of_argument_and_bias,
    fused.gradient_of_x,
)


def run(kernels: Kernels, options: Options, x: Tensor, weights: Weights) -> Tensor:
    """Without derivatives."""
    d = kernels.hidden(options, x, *weights[:3])
    return d if weights.down is None else kernels.product(options, d, weights.down.mT, weights.down_bias)


class Mlp(torch.autograd.Function):
    """x is a matrix. Second derivatives are those of the composition."""

    @staticmethod
    def forward(ctx: Any, kernels: Kernels, options: Options, x: Tensor, *weights: Tensor | None) -> Tensor:
        gate, up, bias, down, down_bias = weights
        results = kernels.hidden_and_argument(options, x, gate, up, bias)
        d = results[0]
        if down is not None:
            d = kernels.product(options, d, down.mT, down_bias)
        ctx.save_for_backward(x, *weights, *results[0 if down is not None else -1 :])
        ctx.set_materialize_grads(False)
        ctx.kernels, ctx.options = kernels, options
        return d

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        if gradient is None:
            return (None,) * 8
        x, *rest = ctx.saved_tensors
        weights, kept = Weights(*rest[:5]), rest[5:]
        needs = ctx.needs_input_grad[2:]
        if torch.is_grad_enabled():
            return None, None, *_differentiable_gradients(ctx.options, gradient, (x, *weights), needs)
        return None, None, *_gradients(ctx.kernels, ctx.options, gradient, x, weights, kept, needs)


def _gradients(
    kernels: Kernels, options: Options, gradient: Tensor, x: Tensor, weights: Weights, kept: Any, needs: Any
) -> Any:
    """kept: the hidden values, if there is a down, and the argument."""
    needs_x, needs_gate, needs_up, needs_bias, needs_down, needs_down_bias = needs
    gate, up, _, down, _ = weights
    gradient = gradient.contiguous()
    of_down = kernels.product(options, gradient.mT, kept[0]) if needs_down else None
    of_down_bias = gradient.sum(0) if needs_down_bias else None
    if not (needs_x or needs_gate or needs_up or needs_bias):
        return None, None, None, None, of_down, of_down_bias
    of_bias = None
    if down is None:
        of_argument = options.of_activation.slope(gradient, kept[-1])
    elif needs_bias and fused.reduces_early(options, gradient):
        of_argument, of_bias = kernels.gradients_of_argument_and_bias(options, gradient, down, kept[-1])
    else:
        of_argument = kernels.gradient_of_argument(options, gradient, down, kept[-1])
    if needs_bias and of_bias is None:
        of_bias = of_argument.sum(0)
    of_x = None
    if needs_x and up is None:
        of_x = kernels.product(options, of_argument, gate)
    elif needs_x:
        of_x = kernels.gradient_of_x(options, of_argument, gate, up)
    of_gate, of_up = _gradients_of_gate(kernels, options, of_argument, x, up, needs_gate, needs_up)
    return of_x, of_gate, of_up, of_bias, of_down, of_down_bias


def _gradients_of_gate(
    kernels: Kernels, options: Options, of_argument: Tensor, x: Tensor, up: Tensor | None, *needs: bool
) -> tuple[Tensor | None, Tensor | None]:
    if up is None:
        return kernels.product(options, of_argument.mT, x) if needs[0] else None, None
    if all(needs):
        of_gate, of_up = kernels.product(options, of_argument.mT, x).chunk(2)
        return of_gate, of_up
    parts = of_argument.chunk(2, dim=1)
    of_one = [kernels.product(options, g.mT, x) if need else None for g, need in zip(parts, needs)]
    return of_one[0], of_one[1]


def _differentiable_gradients(options: Options, gradient: Tensor, given: Any, needs: Any) -> list[Tensor | None]:
    # A tensor that is given twice has two gradients: each place has a view of its own.
    views: list[Any] = [None if x is None else x.view_as(x) for x in given]
    wanted = [x for x, needed in zip(views, needs) if needed]
    d = composed(_linear_of(options), options, views[0], Weights(*views[1:]))
    found = iter(torch.autograd.grad(d, wanted, gradient, create_graph=True))
    return [next(found) if needed else None for needed in needs]


def _linear_of(options: Options) -> Linear:
    def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return linear_by(MATMUL, x, weight, bias, options.device, options.deterministic, options.math)

    return linear


# ---- operators -----------------------------------------------------------------------------------

_OPTIONS = "str activation, bool gated, str? device=None, str? deterministic=None, str? math=None"
_WEIGHTS = "Tensor gate, Tensor? up, Tensor? bias"


def _operator(function: Callable[..., Any], operands: str, result: str) -> Callable[..., Any]:
    """Defines one that runs the function, and returns it with the function's own parameters."""
    name = f"mlp_{function.__name__}"
    LIBRARY.define(f"{name}({operands}, {_OPTIONS}) -> {result}")
    count = operands.count("Tensor")

    def launch(*given: Any) -> Any:
        with torch.no_grad(), forward_ad._set_fwd_grad_enabled(False):
            return function(Options(*given[count:]), *given[:count])

    for kind in ("CPU", "CUDA"):
        LIBRARY.impl(name, launch, kind)
    operator = getattr(torch.ops.jitgemm, name).default

    def call(options: Options, *tensors: Tensor | None) -> Any:
        return operator(*tensors, *options)

    return call


def _product_by_operator(options: Options, a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
    return MATMUL(a, b, options.device, options.deterministic, bias, options.math)


BY_OPERATORS = Kernels(
    _product_by_operator,
    _operator(fused.hidden, f"Tensor x, {_WEIGHTS}", "Tensor"),
    _operator(fused.hidden_and_argument, f"Tensor x, {_WEIGHTS}", "Tensor[]"),
    _operator(fused.gradient_of_argument, "Tensor gradient, Tensor down, Tensor kept", "Tensor"),
    _operator(fused.gradients_of_argument_and_bias, "Tensor gradient, Tensor down, Tensor kept", "Tensor[]"),
    _operator(fused.gradient_of_x, "Tensor of_argument, Tensor gate, Tensor up", "Tensor"),
)


def _fake(name: str) -> Callable[[Callable[..., Any]], None]:
    def register(function: Callable[..., Any]) -> None:
        def fake(x: Tensor, *rest: Any) -> Any:
            tell_inductor(x)
            return function(x, *rest)

        library.register_fake(f"jitgemm::mlp_{name}", fake, lib=LIBRARY)

    return register


@_fake("hidden")
def _(x: Tensor, gate: Tensor, up: Any, bias: Any, activation: str, gated: bool, *_: Any) -> Tensor:
    return x.new_empty((x.shape[0], _width(Options(activation, gated), gate, up)))


@_fake("hidden_and_argument")
def _(x: Tensor, gate: Tensor, up: Any, bias: Any, activation: str, gated: bool, *_: Any) -> list[Tensor]:
    width = gate.shape[0] * (2 if gated and up is not None else 1)
    d = x.new_empty((x.shape[0], width // 2 if gated else width))
    return [d] if Options(activation, gated).keeps_result else [d, x.new_empty((x.shape[0], width))]


@_fake("gradient_of_argument")
def _(gradient: Tensor, down: Tensor, kept: Tensor, *_: Any) -> Tensor:
    return kept.new_empty(kept.shape)


@_fake("gradients_of_argument_and_bias")
def _(gradient: Tensor, down: Tensor, kept: Tensor, *_: Any) -> list[Tensor]:
    return [kept.new_empty(kept.shape), kept.new_empty(kept.shape[1:])]


@_fake("gradient_of_x")
def _(of_argument: Tensor, gate: Tensor, up: Any, *_: Any) -> Tensor:
    return of_argument.new_empty((of_argument.shape[0], gate.shape[1]))


LIBRARY.define(f"mlp(Tensor x, {_WEIGHTS}, Tensor? down, Tensor? down_bias, {_OPTIONS}) -> Tensor")
MLP = torch.ops.jitgemm.mlp.default


def _run(x: Tensor, *given: Any) -> Tensor:
    return run(BY_OPERATORS, Options(*given[5:]), x, Weights(*given[:5]))


def _compose(x: Tensor, *given: Any) -> Tensor:
    options = Options(*given[5:])
    return composed(_linear_of(options), options, x, Weights(*given[:5]))


def _differentiate(x: Tensor, *given: Any) -> Tensor:
    if torch._C._functorch.peek_interpreter_stack() is not None or forward_ad._current_level >= 0:
        return _compose(x, *given)
    options, weights = Options(*given[5:]), given[:5]
    if _needs_gradient(x, *weights):
        return Mlp.apply(BY_OPERATORS, options, x, *weights)
    with torch._C._AutoDispatchBelowAutograd():
        return _run(x, *given)


LIBRARY.impl("mlp", _differentiate, "Autograd")
LIBRARY.impl("mlp", _run, "CompositeExplicitAutograd")
LIBRARY.impl("mlp", _compose, "FuncTorchBatchedDecomposition")
