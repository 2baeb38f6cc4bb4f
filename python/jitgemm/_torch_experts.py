"""Experts of Hugging Face's mixtures by grouped products, and the way back.

Such a module has a class of its own, derived from the one that it had. Its parameters stay, with their names. A call
that the kernels don't serve goes to the forward that the module had.
"""

from __future__ import annotations

import inspect
from functools import cache, wraps
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad

from . import _core
from ._torch_blocks import activation_at, base_of
from ._torch_derivatives import needs_gradient
from ._torch_dispatch import PLAIN
from ._torch_groups import grouped_matmul
from ._torch_linear import cast_under_autocast
from ._torch_models import Filter, Replaced, chosen_modules, set_options
from ._torch_patterns import Step, activation_of_module
from ._torch_products import word


def replace_experts(
    model: nn.Module, *, device: str | None = None, deterministic: str | None = None, only: Filter | None = None
) -> Replaced:
    """Experts modules of Hugging Face's transformers (Mixtral, Qwen3-MoE) multiply by groups from now on; in place.

    Such a module holds gate_up_proj (experts, 2 h, k) and down_proj (experts, k, h), and its forward takes
    hidden_states, top_k_index and top_k_weights. Parameters, hooks and names stay the same. Without gradients, two
    kernels multiply: the first one applies the activation, and the second one the router's weights. The host reads no
    sizes, so a CUDA graph may capture a call. The results of a token's experts are summed in f32, in a fixed order.
    Calls in other types than bf16 and f16, and on GPUs without wgmma, run the forward that the module had.
    `only` is asked with name and module. device and deterministic are those of jitgemm.grouped_matmul.
    Returns the names of the replaced modules. Printed, the list also says why others were not replaced.
    restore_experts is the way back.
    """
    device = word(device)
    _core.check_words(device, deterministic, None)
    found = chosen_modules(model, _holds_experts, only)
    reasons = {name: _why_not(module) for name, module in found}
    report = Replaced([name for name, reason in reasons.items() if reason is None])
    for name, module in found:
        reason = reasons[name]
        if reason is not None:
            report.not_fused[name] = reason
            continue
        module.__class__ = _class_of(base_of(module, Experts))
        step = Step("act_fn", _name_of(module.act_fn), type(module.act_fn))
        set_options(module, jitgemm_device=device, jitgemm_deterministic=deterministic, jitgemm_activation=step)
        report.fused[name] = f"{module.gate_up_proj.shape[0]} experts: gate_up_proj with its activation, then down_proj"
    return report


def restore_experts(model: nn.Module, *, only: Filter | None = None) -> list[str]:
    """The modules that replace_experts replaced have their own class and forward again. Returns their names."""
    found = chosen_modules(model, lambda module: isinstance(module, Experts), only)
    for _, module in found:
        module.__class__ = base_of(module, Experts)
        set_options(module, jitgemm_device=None, jitgemm_deterministic=None, jitgemm_activation=None)
    return [name for name, _ in found]


# ---- which modules -------------------------------------------------------------------------------

_WEIGHTS = {"gate_up_proj", "down_proj"}
_ARGUMENTS = ["self", "hidden_states", "top_k_index", "top_k_weights"]

# Attributes that transformers gives to experts, and the values that are served.
_SERVED = {
    "has_gate": (True, "it has no gate"),
    "has_bias": (False, "it has biases"),
    "is_transposed": (False, "its weights are transposed"),
    "is_concatenated": (True, "the rows of gate and up alternate"),
    "has_post_expert_norm": (False, "it normalizes the experts' results"),
    "_is_expert_parallel": (False, "its experts are spread over processes"),
}


def _holds_experts(module: nn.Module) -> bool:
    parameters = module._parameters
    return any(x is not None and x.dim() == 3 for x in (parameters.get(name) for name in _WEIGHTS))


def _why_not(module: Any) -> str | None:
    kind = base_of(module, Experts)
    if "forward" in module.__dict__:
        return "it has a forward of its own"
    if [*inspect.signature(kind.forward).parameters] != _ARGUMENTS:
        return f"its forward does not take {', '.join(_ARGUMENTS[1:])}"
    for name, (value, reason) in _SERVED.items():
        if getattr(module, name, value) != value:
            return reason
    # The gate that transformers gives to a class that has none is a function of another module.
    gate = getattr(kind, "_apply_gate", None)
    if gate is not None and gate.__qualname__ != "_default_apply_gate":
        return f"{kind.__name__} has a gate of its own"
    if not callable(getattr(module, "act_fn", None)):
        return "it has no act_fn"
    return _why_not_weights(module)


def _name_of(activation: Any) -> str | None:
    """In an epilogue."""
    return activation_of_module(activation) if isinstance(activation, nn.Module) else None


def _why_not_weights(module: Any) -> str | None:
    own = {*module._parameters, *module._buffers, *module._modules} - {"act_fn"}
    if own != _WEIGHTS:
        return f"it does not hold gate_up_proj and down_proj alone, but {', '.join(sorted(own))}"
    weights = [module.gate_up_proj, module.down_proj]
    if any(type(x) not in PLAIN for x in weights):
        return f"its weights are of type {next(type(x).__name__ for x in weights if type(x) not in PLAIN)}"
    shapes = [tuple(x.shape) for x in weights]
    experts, rows, k = shapes[0]
    if shapes[1] != (experts, k, rows // 2) or rows % 2 != 0:
        return f"gate_up_proj has shape {shapes[0]} and down_proj {shapes[1]}: no gate, up and down per expert"
    if k % 8 != 0 or rows % 16 != 0:
        return f"an expert is {k} by {rows // 2}: kernels need multiples of 8"
    return None


# ---- calls ---------------------------------------------------------------------------------------


class Experts:
    """The first base of a class that multiplies by groups. The second one is the class that the module had."""

    jitgemm_device: str | None = None
    jitgemm_deterministic: str | None = None
    jitgemm_activation: Step | None = None

    def __reduce_ex__(self, protocol: Any) -> Any:
        reduced: Any = super().__reduce_ex__(protocol)
        return (_new, (base_of(self, Experts),), *reduced[2:])


@cache
def _class_of(kind: Any) -> type:
    @wraps(kind.forward)
    def forward(self: Any, hidden_states: Tensor, top_k_index: Tensor, top_k_weights: Tensor) -> Any:
        operands: Any = cast_under_autocast(hidden_states, self.gate_up_proj, self.down_proj)
        if not _are_served(self, *operands):
            return kind.forward(self, hidden_states, top_k_index, top_k_weights)
        return _run(self, top_k_index, top_k_weights, *operands).to(hidden_states.dtype)

    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "forward": forward}
    return type(kind.__name__, (Experts, kind), names)


def _new(kind: type) -> Any:
    return object.__new__(_class_of(kind))


def _are_served(module: Any, x: Any, gate_up: Any, down: Any) -> bool:
    if _is_transformed() or getattr(module, "_is_expert_parallel", False) or x.dim() != 2:
        return False
    if x.dtype not in (torch.bfloat16, torch.float16) or gate_up.dtype != x.dtype or down.dtype != x.dtype:
        return False
    if not (_is_aligned(gate_up) and _is_aligned(down)):
        return False
    return not x.is_cuda or torch.cuda.get_device_properties(x.device).major == 9


def _is_transformed() -> bool:
    """Whether derivatives are asked for that _Spread and _Collect have not."""
    if torch.compiler.is_compiling():
        return False
    return torch._C._are_functorch_transforms_active() or torch._C._is_tracing() or forward_ad._current_level >= 0


def _is_aligned(weight: Tensor) -> bool:
    # A compiler knows no offsets, and parameters have one in few models.
    return weight.is_contiguous() and (torch.compiler.is_compiling() or weight.storage_offset() % 8 == 0)


class _Order(NamedTuple):
    """Pairs of a token and one of its experts, expert by expert."""

    pairs: Tensor  # of each place, token * top_k + choice
    places: Tensor  # of each pair
    ends: Tensor  # of the experts' places
    top_k: int


def _order_of(index: Tensor, experts: int) -> _Order:
    """Without asking the host for a size."""
    # Fewer bits are sorted in fewer passes.
    dtype = torch.uint8 if experts < 256 else torch.int32
    found, pairs = torch.sort(index.reshape(-1).to(dtype), stable=True)
    each = torch.arange(experts, device=index.device, dtype=dtype)
    ends = torch.searchsorted(found, each, right=True, out_int32=True)
    places = torch.empty_like(pairs).scatter_(0, pairs, torch.arange(pairs.shape[0], device=index.device))
    return _Order(pairs, places, ends, index.shape[-1])


def _run(module: Any, index: Tensor, weights: Tensor, x: Tensor, gate_up: Tensor, down: Tensor) -> Tensor:
    order = _order_of(index, gate_up.shape[0])
    words = {"device": module.jitgemm_device, "deterministic": module.jitgemm_deterministic}
    if needs_gradient(x, gate_up, down, weights):
        rows = _Spread.apply(x, *order)
        gate, up = grouped_matmul(rows, gate_up.mT, order.ends, **words).chunk(2, dim=-1)
        d = grouped_matmul(module.act_fn(gate) * up, down.mT, order.ends, **words)
        share = _Spread.apply(weights.reshape(-1, 1), *order._replace(top_k=1))
        return _Collect.apply(d * share, *order)
    rows = _spread(x, order)
    name = activation_at(module, module.jitgemm_activation)
    if name is None:
        gate, up = grouped_matmul(rows, gate_up.mT, order.ends, **words).chunk(2, dim=-1)
        hidden = module.act_fn(gate) * up
    else:
        text = f"d[m,h] = {name}(left(acc)) * right(acc)"
        hidden = grouped_matmul(rows, gate_up.mT, order.ends, epilogue=text, **words)
    share = weights.reshape(-1)[order.pairs]
    d = grouped_matmul(hidden, down.mT, order.ends, epilogue="d = w[m] * acc", operands={"w": share}, **words)
    return _collect(d, order)


def _spread(x: Tensor, order: _Order) -> Tensor:
    """Each token's row at its pairs' places."""
    return x[order.pairs if order.top_k == 1 else order.pairs // order.top_k]


def _collect(d: Tensor, order: _Order) -> Tensor:
    """Each token's sum of its pairs' rows, in f32 and in their order."""
    return d[order.places.view(-1, order.top_k)].sum(1)  # H200: 511 us where embedding_bag takes 894


# Each is the other's gradient.


class _Spread(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, *order: Any) -> Tensor:
        ctx.save_for_backward(*order[:3])
        ctx.top_k = order[3]
        return _spread(x, _Order(*order))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return (_Collect.apply(gradient, *ctx.saved_tensors, ctx.top_k), None, None, None, None)


class _Collect(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, d: Tensor, *order: Any) -> Tensor:
        ctx.save_for_backward(*order[:3])
        ctx.top_k = order[3]
        return _collect(d, _Order(*order))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return (_Spread.apply(gradient, *ctx.saved_tensors, ctx.top_k), None, None, None, None)
