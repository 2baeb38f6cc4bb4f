"""Groups of rows, each with its own matrix: torch.ops.jitgemm.grouped_matmul, and the gradient of its matrices.

a is (m, k), b is (groups, k, n), and offs are the ends of the groups, as for jitgemm.grouped_matmul. The gradient of b,
torch.ops.jitgemm.grouped_outer, is a product per group along its rows. Each of both has the other as a derivative.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import torch
from torch import Tensor, library
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad
from torch.nn import functional
from torch.overrides import handle_torch_function, has_torch_function
from torch.utils.flop_counter import register_flop_formula

from . import _core
from ._errors import ConfigError, OperandError
from ._torch_derivatives import check_no_derivatives, has_tangent, needs_gradient
from ._torch_dispatch import PLAIN, is_observed
from ._torch_linear import cast_under_autocast, check_tensors, math_of, readable, refuse
from ._torch_operator import LIBRARY, tell_inductor
from ._torch_products import word

Operands = dict[str, Tensor | float]


class Text(NamedTuple):
    """An epilogue with its operands: names of tensors first, then those of numbers. The operator's last arguments."""

    epilogue: str | None = None
    names: list[str] | None = None
    tensors: list[Tensor] | None = None
    numbers: list[float] | None = None

    @property
    def operands(self) -> Operands | None:
        values = [*(self.tensors or ()), *(self.numbers or ())]
        return dict(zip(self.names or (), values)) or None


class Options(NamedTuple):
    """The operator's arguments between the tensors and the text."""

    device: str | None = None
    deterministic: str | None = None
    math: str | None = None
    out_dtype: torch.dtype | None = None
    zeroed: bool = False  # whether rows behind the last group are zeros, and not undefined


def grouped_matmul(
    a: Tensor,
    b: Tensor,
    offs: Tensor,
    *,
    rows: Tensor | None = None,
    epilogue: str | None = None,
    operands: Operands | None = None,
    out_dtype: torch.dtype | None = None,
    device: str | None = None,
    deterministic: str | None = None,
    math: str | None = None,
) -> Tensor:
    """Rows of a in groups, each multiplied by its own matrix of b, with derivatives of a and b.

    a: (m, k), b: (groups, k, n), offs: (groups,), the ends of the groups as int32 on a's device. The result is (m, n).
    Its rows behind the last group are undefined, and the gradient of a is zero there. The host reads no offs where
    jitgemm has kernels, which is for a and b of 16 bits or f32.
    Or a is (groups, rows, k), with room for as many rows of each group, and offs says how many rows each group has. The
    result is (groups, rows, n). Its other rows are undefined, and the gradient of a is zero there. The gradient of b is
    PyTorch's product of copies in which other rows are zero.
    Or b is (k, n), and the groups are parts of k. The result is then (groups, m, n), without an epilogue.
    rows: (m,), int32 on a's device, where a is (source rows, k). Row i of the result is made of row rows[i] of a. Where
    a has no such row, -1 for example, it is made of zeros. The gradient of a is then summed as PyTorch's index_add
    sums: on a GPU, its bits may differ from run to run.
    epilogue: a text that stores d alone, without derivatives: give it under torch.no_grad(). operands: its tensors and
    numbers by name.
    out_dtype, device, deterministic and math are those of jitgemm.grouped_matmul. Under torch.autocast a and b are of
    its type.
    """
    text = _text_of(epilogue, operands)
    options = Options(word(device), deterministic, math, out_dtype)
    if torch.compiler.is_compiling():
        a, b = cast_under_autocast(a, b)  # type: ignore[assignment]
        return _grouped(a, b, offs, rows, options, text)
    tensors = (a, b, offs, *([] if rows is None else [rows]), *(text.tensors or ()))
    if has_torch_function(tensors):
        more: dict[str, Any] = {"epilogue": epilogue, "operands": operands, "out_dtype": out_dtype}
        more |= {"device": device, "deterministic": deterministic, "math": math, "rows": rows}
        return handle_torch_function(grouped_matmul, tensors, a, b, offs, **more)
    check_tensors(a=a, b=b, offs=offs, **({} if rows is None else {"rows": rows}))
    _core.check_words(options.device, deterministic, math)
    if torch._C._is_any_autocast_enabled():
        a, b = cast_under_autocast(a, b)  # type: ignore[assignment]
    if b.dim() != 2 and _is_plain(a, b, *tensors[2:]):
        _check_shapes(a, b, offs, rows)
        try:
            return _product(a, b, offs, options, text, rows)
        except OperandError:  # a tensor whose memory only the dispatcher finds; or the operator raises this, too
            pass
    return _grouped(a, b, offs, rows, options, text)


grouped_matmul.__module__ = "jitgemm.torch"  # tracers write the name


def _grouped(a: Tensor, b: Tensor, offs: Tensor, rows: Tensor | None, options: Options, text: Text) -> Tensor:
    """By the operator of groups of rows, of gathered rows, or of K."""
    if b.dim() != 2 or rows is not None:
        return GROUPED(a, b, offs, *options, *text) if rows is None else GATHERED(a, b, offs, rows, *options, *text)
    if text.epilogue is not None:
        refuse("b is one matrix, and its groups are parts of k: jitgemm.grouped_matmul takes an epilogue for these")
    return OUTER(_lines(a.mT), _lines(b), offs, *options[:_OF_OUTER])


def _is_plain(a: Tensor, b: Tensor, *others: Tensor) -> bool:
    """Whether nobody sees an operator, or asks for derivatives."""
    if is_observed(a, b) or any(type(x) not in PLAIN for x in others):
        return False
    return not needs_gradient(a, b, *others)


# ---- texts ---------------------------------------------------------------------------------------

_PAIRS = re.compile(r"\b(?:left|right|even|odd)\s*\(")
_OUTPUT = re.compile(r"\b(\w+)\s*\[[^]]*\]\s*=(?!=)")


def _text_of(epilogue: str | None, operands: Operands | None) -> Text:
    operands = operands or {}
    if epilogue is None:
        if operands:
            refuse(f"operands has {next(iter(operands))!r}: without an epilogue there are no operands")
        return Text()
    for name in _OUTPUT.findall(epilogue):
        if name != "d":
            refuse(f"the epilogue stores {name}: texts of jitgemm.torch store d alone (jitgemm.grouped_matmul: more)")
    tensors = {name: x for name, x in operands.items() if isinstance(x, Tensor)}
    numbers = {name: float(x) for name, x in operands.items() if not isinstance(x, Tensor)}
    return Text(epilogue, [*tensors, *numbers], [*tensors.values()], [*numbers.values()])


def _width(n: Any, text: Text) -> Any:
    """Columns of D."""
    return n // 2 if text.epilogue is not None and _PAIRS.search(text.epilogue) else n


_NO_DERIVATIVES = (
    "an epilogue has no derivatives: give it under torch.no_grad(), or apply it to the product in PyTorch"
)


# ---- the product ---------------------------------------------------------------------------------

_TEXT = "str? epilogue=None, str[]? names=None, Tensor[]? operands=None, float[]? numbers=None"
_WORDS, _OF_OUTER = 3, 4  # the options that a derivative takes, and those of grouped_outer
_OPTIONS_OF_OUTER = "str? device=None, str? deterministic=None, str? math=None, ScalarType? out_dtype=None"
_OPTIONS = f"{_OPTIONS_OF_OUTER}, bool zeroed=False"

LIBRARY.define(f"grouped_matmul(Tensor a, Tensor b, Tensor offs, {_OPTIONS}, {_TEXT}) -> Tensor")
LIBRARY.define(f"gathered_matmul(Tensor a, Tensor b, Tensor offs, Tensor rows, {_OPTIONS}, {_TEXT}) -> Tensor")
LIBRARY.define(f"grouped_outer(Tensor a, Tensor gradient, Tensor offs, {_OPTIONS_OF_OUTER}) -> Tensor")

GROUPED = torch.ops.jitgemm.grouped_matmul.default
GATHERED = torch.ops.jitgemm.gathered_matmul.default
OUTER = torch.ops.jitgemm.grouped_outer.default


def _product(a: Tensor, b: Tensor, offs: Tensor, options: Options, text: Text, rows: Tensor | None = None) -> Tensor:
    out = None
    if options.zeroed:
        out = a.new_zeros(_shape(a, b, rows, text), dtype=options.out_dtype)
    d: Tensor = _core.grouped_matmul(
        a,
        b,
        offs,
        rows=rows,
        out=out,
        out_dtype=None if options.zeroed else options.out_dtype,
        epilogue=text.epilogue,
        operands=text.operands,
        device=options.device,
        deterministic=options.deterministic,
        math=math_of(a, options.math),
    )
    return d


def _launch(a: Tensor, b: Tensor, offs: Tensor, *more: Any) -> Tensor:
    return _launch_gathered(a, b, offs, None, *more)


def _launch_gathered(a: Tensor, b: Tensor, offs: Tensor, rows: Tensor | None, *more: Any) -> Tensor:
    _check_shapes(a, b, offs, rows)
    options, text = _read(more)
    with torch.no_grad(), forward_ad._set_fwd_grad_enabled(False):
        return _product(a, b, offs, options, text, rows)


def _read(more: tuple[Any, ...]) -> tuple[Options, Text]:
    """Of an operator's arguments behind the tensors. The last ones may be missing."""
    count = len(Options._fields)
    return Options(*more[:count]), Text(*more[count:])


def _fake(a: Tensor, b: Tensor, offs: Tensor, *more: Any) -> Tensor:
    return _fake_gathered(a, b, offs, None, *more)


def _fake_gathered(a: Tensor, b: Tensor, offs: Tensor, rows: Tensor | None, *more: Any) -> Tensor:
    _check_shapes(a, b, offs, rows)
    options, text = _read(more)
    torch._check(a.shape[-1] == b.shape[1], lambda: f"a has shape {tuple(a.shape)} and b {tuple(b.shape)}")
    torch._check(a.dtype == b.dtype, lambda: f"a is of type {a.dtype} and b of {b.dtype}")
    tell_inductor(a)
    return a.new_empty(_shape(a, b, rows, text), dtype=options.out_dtype)


def _shape(a: Tensor, b: Tensor, rows: Tensor | None, text: Text) -> tuple[Any, ...]:
    """Of the result."""
    return (*(a.shape[:-1] if rows is None else rows.shape), _width(b.shape[2], text))


def _check_shapes(a: Tensor, b: Tensor, offs: Tensor, rows: Tensor | None = None) -> None:
    has_room = rows is None and a.dim() == 3
    for name, x, rank, shape in (
        ("a", a, 3 if has_room else 2, "(m, k)" if rows is not None else "(m, k) or (groups, rows, k)"),
        ("b", b, 3, "(groups, k, n)"),
        ("offs", offs, 1, "(groups,)"),
        ("rows", rows, 1, "(m,)"),
    ):
        if x is not None and x.dim() != rank:
            refuse(f"{name} has shape {tuple(x.shape)}: it must be {shape}")
    if has_room:
        torch._check(a.shape[0] == b.shape[0], lambda: f"a has shape {tuple(a.shape)} and b {tuple(b.shape)}")
    if rows is not None and rows.dtype is not torch.int32:
        refuse(f"rows is of type {rows.dtype}: it must be torch.int32")
    torch._check(offs.shape[0] == b.shape[0], lambda: f"b has shape {tuple(b.shape)} and offs {tuple(offs.shape)}")


for _kind in ("CPU", "CUDA"):
    LIBRARY.impl("grouped_matmul", _launch, _kind)
    LIBRARY.impl("gathered_matmul", _launch_gathered, _kind)
library.register_fake("jitgemm::grouped_matmul", _fake, lib=LIBRARY)
library.register_fake("jitgemm::gathered_matmul", _fake_gathered, lib=LIBRARY)


@register_flop_formula(torch.ops.jitgemm.grouped_matmul)
def _flops(a: Any, b: Any, *_: Any, out_shape: Any = None, **__: Any) -> int:
    return int(2 * prod(a) * b[2])


@register_flop_formula(torch.ops.jitgemm.gathered_matmul)
def _flops_of_gathered(a: Any, b: Any, offs: Any, rows: Any, *_: Any, out_shape: Any = None, **__: Any) -> int:
    return int(2 * rows[0] * a[1] * b[2])


# ---- a product per group along its rows ----------------------------------------------------------


def _outer(a: Tensor, gradient: Tensor, offs: Tensor, *words: Any) -> Tensor:
    """(groups, k, n): a's rows of each group, transposed, by the gradient's."""
    _check_outer(a, gradient, offs)
    options = Options(*words)
    with torch.no_grad(), forward_ad._set_fwd_grad_enabled(False):
        d = _outer_by_kernel(a, gradient, offs, options)
        if d is None:
            d = _outer_by_pytorch(a, gradient, offs)
            d = d if options.out_dtype is None else d.to(options.out_dtype)
        return d


def _outer_by_kernel(a: Tensor, gradient: Tensor, offs: Tensor, options: Options) -> Tensor | None:
    """None where no kernel serves the product: other types than f32 and 16 bits, or a refused problem."""
    if a.dtype not in (torch.bfloat16, torch.float16, torch.float32):
        return None
    try:
        d: Tensor = _core.grouped_matmul(
            a.mT,
            gradient,
            offs,
            out_dtype=options.out_dtype,
            device=options.device,
            deterministic=options.deterministic,
            math=math_of(a, options.math),
        )
        return d
    except (OperandError, ConfigError):
        return None


def _outer_by_pytorch(a: Tensor, gradient: Tensor, offs: Tensor) -> Tensor:
    grouped_mm = getattr(functional, "grouped_mm", None)
    if grouped_mm is not None and a.shape[0] > 0:
        d: Tensor = grouped_mm(a.mT, gradient, offs=offs)
        return d
    result = a.new_zeros((offs.shape[0], a.shape[1], gradient.shape[1]))
    for d, (begin, end) in zip(result, pairwise([0, *offs.tolist()])):
        torch.mm(a[begin:end].mT, gradient[begin:end], out=d)
    return result


def _check_outer(a: Tensor, gradient: Tensor, offs: Tensor) -> None:
    if a.dim() != 2 or gradient.dim() != 2 or offs.dim() != 1:
        refuse(
            f"shapes are {tuple(a.mT.shape) if a.dim() == 2 else tuple(a.shape)}, {tuple(gradient.shape)} and "
            f"{tuple(offs.shape)}: they must be (m, k), (k, n) and (groups,)"
        )
    torch._check(a.shape[0] == gradient.shape[0], lambda: f"a has {a.shape[0]} of k and b {gradient.shape[0]}")
    torch._check(a.dtype == gradient.dtype, lambda: f"a is of type {a.dtype} and b of {gradient.dtype}")


def _fake_outer(a: Tensor, gradient: Tensor, offs: Tensor, *words: Any) -> Tensor:
    _check_outer(a, gradient, offs)
    tell_inductor(a)
    return a.new_empty((offs.shape[0], a.shape[1], gradient.shape[1]), dtype=Options(*words).out_dtype)


for _kind in ("CPU", "CUDA"):
    LIBRARY.impl("grouped_outer", _outer, _kind)
library.register_fake("jitgemm::grouped_outer", _fake_outer, lib=LIBRARY)


@register_flop_formula(torch.ops.jitgemm.grouped_outer)
def _flops_of_outer(a: Any, gradient: Any, *_: Any, out_shape: Any = None, **__: Any) -> int:
    return int(2 * a[0] * a[1] * gradient[1])


# ---- derivatives ---------------------------------------------------------------------------------


class _Grouped(torch.autograd.Function):
    """One level of differentiation, as of the dense product."""

    @staticmethod
    def forward(ctx: Any, keys: Any, a: Tensor, b: Tensor, offs: Tensor, *options: Any) -> Tensor:
        _, of_a, of_b = ctx.needs_input_grad[:3]
        ctx.save_for_backward(a if of_b else None, b if of_a else None, offs)
        ctx.save_for_forward(a, b, offs)
        ctx.set_materialize_grads(False)
        ctx.dtype, ctx.options = a.dtype, Options(*options)
        with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True), torch._C._AutoDispatchBelowAutograd():
            return GROUPED.redispatch(keys & torch._C._after_autograd_keyset, a, b, offs, *options)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        none = (None,) * (1 + len(Options._fields))
        if gradient is None:
            return (None, None, None, *none)
        a, b, offs = ctx.saved_tensors
        gradient = _rows(gradient.to(ctx.dtype))
        of_a = None if b is None else _product_of(ctx.options, gradient, b.mT, offs)
        of_b = None if a is None else _gradient_of_b(a, gradient, offs, ctx.options)
        return (None, of_a, of_b, *none)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        of_a, of_b = tangents[1:3]
        with forward_ad._set_fwd_grad_enabled(True):
            a, b, offs = (torch._VF._unpack_dual(x, level=0)[0] for x in ctx.saved_tensors)
            product = partial(_product_of, ctx.options)
            parts = [] if of_a is None else [product(_rows(of_a), b, offs)]
            parts += [] if of_b is None else [product(a, readable(of_b), offs)]
            result = sum(parts[1:], parts[0])
            return result if ctx.options.out_dtype is None else result.to(ctx.options.out_dtype)


class _Outer(torch.autograd.Function):
    """The same of the product per group. It is linear in both operands."""

    @staticmethod
    def forward(ctx: Any, keys: Any, a: Tensor, gradient: Tensor, offs: Tensor, *words: Any) -> Tensor:
        _, of_a, of_gradient = ctx.needs_input_grad[:3]
        ctx.save_for_backward(a if of_gradient else None, gradient if of_a else None, offs)
        ctx.save_for_forward(a, gradient, offs)
        ctx.set_materialize_grads(False)
        ctx.dtype, ctx.options = a.dtype, Options(*words)
        with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True), torch._C._AutoDispatchBelowAutograd():
            return OUTER.redispatch(keys & torch._C._after_autograd_keyset, a, gradient, offs, *words)

    @staticmethod
    def backward(ctx: Any, of_b: Tensor) -> Any:
        none = (None,) * (1 + _OF_OUTER)
        if of_b is None:
            return (None, None, None, *none)
        a, gradient, offs = ctx.saved_tensors
        of_b = readable(of_b.to(ctx.dtype))
        of_a = None if gradient is None else _product_of(ctx.options, gradient, of_b.mT, offs)
        return (None, of_a, None if a is None else _product_of(ctx.options, a, of_b, offs), *none)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        of_a, of_gradient = tangents[1:3]
        with forward_ad._set_fwd_grad_enabled(True):
            a, gradient, offs = (torch._VF._unpack_dual(x, level=0)[0] for x in ctx.saved_tensors)
            words = ctx.options[:_OF_OUTER]
            parts = [] if of_a is None else [OUTER(_rows(of_a), gradient, offs, *words)]
            parts += [] if of_gradient is None else [OUTER(a, _rows(of_gradient), offs, *words)]
            return sum(parts[1:], parts[0])


class _GatheredGroups(torch.autograd.Function):
    """One level of differentiation. The backward pass alone copies rows of a."""

    @staticmethod
    def forward(ctx: Any, keys: Any, a: Tensor, b: Tensor, offs: Tensor, rows: Tensor, *options: Any) -> Tensor:
        _, of_a, of_b = ctx.needs_input_grad[:3]
        ctx.save_for_backward(a if of_b else None, b if of_a else None, offs, rows)
        ctx.set_materialize_grads(False)
        ctx.dtype, ctx.sources, ctx.options = a.dtype, a.shape[0], Options(*options)
        with torch.enable_grad(), torch._C._AutoDispatchBelowAutograd():
            return GATHERED.redispatch(keys & torch._C._after_autograd_keyset, a, b, offs, rows, *options)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        none = (None,) * (2 + len(Options._fields))
        if gradient is None:
            return (None, None, None, *none)
        a, b, offs, rows = ctx.saved_tensors
        gradient = _rows(gradient.to(ctx.dtype))
        of_a = None if b is None else _scattered(_product_of(ctx.options, gradient, b.mT, offs), rows, ctx.sources)
        of_b = None if a is None else OUTER(_gathered(a, rows), gradient, offs, *ctx.options[:_WORDS])
        return (None, of_a, of_b, *none)


def _gradient_of_b(a: Tensor, gradient: Tensor, offs: Tensor, options: Options) -> Tensor:
    if a.dim() == 2:
        return OUTER(_rows(a), gradient, offs, *options[:_WORDS])
    is_used = (torch.arange(a.shape[1], device=offs.device) < offs[:, None])[:, :, None]
    return torch.bmm(torch.where(is_used, a, 0).mT, torch.where(is_used, gradient, 0))


def _gathered(a: Tensor, rows: Tensor) -> Tensor:
    """These rows of a. Others than a has are zeros."""
    is_row, index = _index(rows, a.shape[0])
    return torch.where(is_row, a.index_select(0, index), 0)


def _scattered(d: Tensor, rows: Tensor, sources: int) -> Tensor:
    """For each row of a, the sum of those of d that were made of it."""
    is_row, index = _index(rows, sources)
    return d.new_zeros((sources, d.shape[1])).index_add(0, index, torch.where(is_row, d, 0))


def _index(rows: Tensor, sources: int) -> tuple[Tensor, Tensor]:
    is_row = (rows >= 0) & (rows < sources)
    return is_row[:, None], torch.where(is_row, rows, 0)


def _product_of(options: Options, a: Tensor, b: Tensor, offs: Tensor) -> Tensor:
    """A derivative, of a's type. Rows of no group are zeros."""
    return GROUPED(a, b, offs, *options._replace(out_dtype=None, zeroed=True))


def _lines(x: Tensor) -> Tensor:
    """With contiguous rows, as kernels of groups of k read it."""
    return x if x.dim() != 2 or x.stride(1) == 1 else x.contiguous()


def _rows(x: Tensor) -> Tensor:
    """As kernels read it. A gradient of sum(), for example, is one element that is repeated."""
    return x if x.is_contiguous() else x.contiguous()


def _differentiate(keys: Any, a: Tensor, b: Tensor, offs: Tensor, *more: Any) -> Tensor:
    options, text = _read(more)
    if text.epilogue is not None:
        check_no_derivatives(_NO_DERIVATIVES, a, b, *(text.tensors or ()))
        return GROUPED.redispatch(keys & torch._C._after_autograd_keyset, a, b, offs, *options, *text)
    return _one_level(_Grouped, keys, a, b, offs, *options)


def _differentiate_gathered(keys: Any, a: Tensor, b: Tensor, offs: Tensor, rows: Tensor, *more: Any) -> Tensor:
    """Forward derivatives are those of a copy of the rows."""
    _check_shapes(a, b, offs, rows)
    options, text = _read(more)
    if text.epilogue is not None:
        check_no_derivatives(_NO_DERIVATIVES, a, b, *(text.tensors or ()))
    elif has_tangent(a) or has_tangent(b):
        return GROUPED(_gathered(a, rows), b, offs, *options)
    elif needs_gradient(a, b):
        return _one_level(_GatheredGroups, keys, a, b, offs, rows, *options)
    return GATHERED.redispatch(keys & torch._C._after_autograd_keyset, a, b, offs, rows, *options, *text)


def _differentiate_outer(keys: Any, a: Tensor, gradient: Tensor, offs: Tensor, *words: Any) -> Tensor:
    return _one_level(_Outer, keys, a, gradient, offs, *Options(*words)[:_OF_OUTER])


def _one_level(function: Any, *arguments: Any) -> Tensor:
    # The dispatcher has taken one level of torch.func apart. Function.apply would begin with all of them again.
    with enable_single_level_autograd_function():
        return super(torch.autograd.Function, function).apply(*arguments)


LIBRARY.impl("grouped_matmul", _differentiate, "Autograd", with_keyset=True)
LIBRARY.impl("gathered_matmul", _differentiate_gathered, "Autograd", with_keyset=True)
LIBRARY.impl("grouped_outer", _differentiate_outer, "Autograd", with_keyset=True)
