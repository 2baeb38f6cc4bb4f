"""jitgemm among the kernels that Inductor chooses from for torch.mm, addmm, bmm and baddbmm.

Inductor times the kernels on offer while it compiles, and keeps what it chose with the compiled graph. Under Inductor,
products of replaced layers become torch.mm as well: they are padded and fused as PyTorch's own are.
"""

from __future__ import annotations

import math
from math import prod
from typing import Any, cast

import torch
from torch import Tensor
from torch._inductor import config, decomposition, lowering, select_algorithm
from torch._inductor.kernel import mm as products
from torch._inductor.select_algorithm import ExternKernelCaller
from torch._inductor.virtualized import V

from . import _core
from ._errors import ConfigError, Error, OperandError
from ._torch_fused import Options
from ._torch_inductor_fusing import Pass
from ._torch_inductor_mlp import decompositions
from ._torch_linear import math_of

_DEVICES = ("cuda",)
_TYPES = (torch.bfloat16, torch.float16, torch.float32)

# How many times as fast as another kernel one must be, unless the user asks for the fastest (max_autotune): times vary.
_GAIN = 1.03


class _Product:
    """A product that generated code calls by its name. Its text is the same in every process: caches have it as key."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __repr__(self) -> str:
        return f"{self.__name__} {_core.version}"

    def __reduce__(self) -> Any:
        return _product_named, (self.__name__, _core.version)

    def __deepcopy__(self, memory: Any) -> _Product:
        return self


class _Plain(_Product):
    """torch.mm, and torch.bmm."""

    def __call__(self, a: Tensor, b: Tensor, *, out: Tensor) -> Tensor:
        try:
            return _core.matmul(a, b, out=out)
        except (OperandError, ConfigError):  # of other strides than those that it was chosen for
            return (torch.mm if a.dim() == 2 else torch.bmm)(a, b, out=out)


class _Added(_Product):
    """torch.addmm, and torch.baddbmm."""

    def __call__(self, c: Tensor, a: Tensor, b: Tensor, *, out: Tensor, alpha: float = 1, beta: float = 1) -> Tensor:
        try:
            return _core.matmul(a, b, c=c, out=out, alpha=alpha, beta=beta)
        except (OperandError, ConfigError):
            return (torch.addmm if a.dim() == 2 else torch.baddbmm)(c, a, b, out=out, alpha=alpha, beta=beta)


# Ours, by the names of PyTorch's.
_PRODUCTS = {
    "mm": _Plain("jitgemm_mm"),
    "addmm": _Added("jitgemm_addmm"),
    "bmm": _Plain("jitgemm_bmm"),
    "baddbmm": _Added("jitgemm_baddbmm"),
}
_OURS = {product.__name__: product for product in _PRODUCTS.values()}


def _product_named(name: str, _: str) -> _Product:
    return _OURS[name]


# ---- choosing ------------------------------------------------------------------------------------


class _Caller(ExternKernelCaller):
    """A choice that counts as slower than it is, by the gain that is asked for, and never where it fails."""

    def benchmark(self, *args: Any, out: Any) -> Any:
        try:
            return super().benchmark(*args, out=out) * _least_gain()
        except Error:
            return float("inf")

    def hash_key(self) -> str:
        return f"{super().hash_key()}-{_core.version}-{_least_gain()}"


def _least_gain() -> float:
    return 1.0 if config.max_autotune or config.max_autotune_gemm else _GAIN


def _least_gain_of_fused() -> float:
    return _least_gain() if _is_registered() and not config.cpp_wrapper else math.inf


def _with_ours(choices: list[Any]) -> list[Any]:
    """Inductor's choices for a product, with ours at the end."""
    names = [getattr(choice, "name", "") for choice in choices]
    if not _is_registered() or _PRODUCTS.keys().isdisjoint(names):
        return choices
    others = [choice for choice in choices if choice.name not in _OURS]
    theirs = next(choice for choice in others if choice.name in _PRODUCTS)
    if not _is_served(theirs):
        return others
    product = products.lazy_register_extern_choice(_PRODUCTS[theirs.name])
    ours = _Caller(product, theirs.input_nodes, theirs.layout, theirs.kwargs)
    ours.choice.ordered_kwargs_for_cpp_kernel = ()
    return [*others, ours]


def _is_served(choice: Any) -> bool:
    """Code in C++ can't call us. A result of another type than its factors' is none of ours."""
    nodes = [*choice.input_nodes, choice.layout]
    dtype = choice.layout.dtype
    return (
        not V.graph.cpp_wrapper
        and choice.layout.device.type in _DEVICES
        and dtype in _TYPES
        and "out_dtype" not in choice.kwargs
        and all((node.dtype if hasattr(node, "dtype") else node.get_dtype()) == dtype for node in nodes)
    )


# ---- products of replaced layers -----------------------------------------------------------------


def _decomposed(
    a: Tensor, b: Tensor, device: Any = None, deterministic: Any = None, bias: Any = None, math: Any = None
) -> Any:
    """torch.ops.jitgemm.matmul in PyTorch's own operators, where it asks for nothing that these don't have."""
    if not _is_plain(Options("", False, device, deterministic, math), a) or prod(b.shape[:-2]) != 1:
        return NotImplemented
    rows, factor = a.reshape(-1, a.shape[-1]), b.reshape(b.shape[-2:])
    d = torch.mm(rows, factor) if bias is None else torch.addmm(bias, rows, factor)
    leading = a.shape[:-2] if a.dim() >= b.dim() else b.shape[:-2]
    return d.reshape(*leading, a.shape[-2], b.shape[-1])


def _is_plain(options: Options, a: Tensor) -> bool:
    """Whether nothing is asked for that PyTorch's own operators don't have."""
    asks_for_more = options.device not in (None, a.device.type) or options.deterministic not in (None, "run_to_run")
    asks_for_more = asks_for_more or math_of(a, options.math) not in (None, "ieee")
    return not asks_for_more and a.device.type in _DEVICES and a.dtype in _TYPES


# ---- registration --------------------------------------------------------------------------------


def register() -> None:
    """In Inductor's configuration: caches of compiled graphs have it as key."""
    if _is_registered():
        return
    for product in _OURS.values():
        _know(product)
    config.external_matmul = [*_others(), cast("Any", _PRODUCTS["mm"])]
    serve_replaced_layers()
    config.pre_grad_custom_pass = Pass(_is_plain, _other_pass())
    if not hasattr(select_algorithm, "add_preprocessing_fn"):  # PyTorch before 2.9: mm alone
        return
    selector = select_algorithm.get_algorithm_selector_cache()
    selector.preprocessing_fns[:] = [fn for fn in selector.preprocessing_fns if not _is_ours(fn)]
    select_algorithm.add_preprocessing_fn(_with_ours)


def unregister() -> None:
    config.external_matmul = _others()
    config.pre_grad_custom_pass = _other_pass()


def _other_pass() -> Any:
    current: Any = config.pre_grad_custom_pass
    return current.before if type(current).__module__ == Pass.__module__ else current


def serve_replaced_layers() -> None:
    """Once, before a graph with a product of ours is compiled."""
    operator = torch.ops.jitgemm.matmul.default
    if decomposition.decompositions.get(operator) is _decomposed:
        return
    ours = {operator: _decomposed, **decompositions(_is_plain, _least_gain_of_fused)}
    decomposition.decompositions.update(ours)
    decomposition.fast_random_decomps.cache_clear()
    # Where one stays, it is called as it is.
    keep: Any = lowering.make_fallback
    for each in ours:
        keep(each, lowering.constrain_to_fx_strides, warn=False, override_decomp=True)
    register()


def _is_registered() -> bool:
    return any(_is_ours(product) for product in config.external_matmul)


def _others() -> list[Any]:
    """Also what an earlier import of this package offered is ours."""
    return [product for product in config.external_matmul if not _is_ours(product)]


def _is_ours(thing: Any) -> bool:
    return getattr(thing, "__module__", "") == __name__


def _know(product: _Product) -> None:
    """Graphs of an earlier process call it without another choice."""
    if getattr(select_algorithm.extern_kernels, product.__name__, None) is product:
        return
    vars(select_algorithm.extern_kernels).pop(product.__name__, None)
    products.lazy_register_extern_choice(product)
