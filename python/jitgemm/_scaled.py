"""Products of 8-bit floats and integers with scales."""

from __future__ import annotations

import re
from typing import Any

from . import _core
from ._errors import OperandError

_LETTERS = {"a": "m", "b": "n"}
_WORDS = {"a": "row", "b": "column"}
_BLOCKS = {"1x128": "", "128x128": "/128"}


def scaled_matmul(
    a: Any,
    b: Any,
    scale_a: Any,
    scale_b: Any,
    *,
    bias: Any = None,
    epilogue: str | None = None,
    out: Any = None,
    out_dtype: Any = None,
    sums: str | None = None,
    **options: Any,
) -> Any:
    """(scale_a * a) @ (scale_b * b) + bias, as torch._scaled_mm has it: scales multiply, and a smaller one is repeated.

    a, b: arrays of shape (m, k) and (k, n), both with contiguous k: b is w.T of a w of shape (n, k).
    scale_a, scale_b: f32, each one of
      - a number, or an array of one element: the scale of the whole matrix,
      - scale_a of shape (m, 1): one for each row of a; scale_b of shape (1, n): one for each column of b,
      - (array, "row") for a, (array, "column") for b, where the array is a vector,
      - (array, "1x128"), one for each row of a (or column of b) and 128 of k: of shape (m, ceil(k / 128)) for a and
        (ceil(k / 128), n) for b,
      - (array, "128x128"), one for 128 rows (columns) and 128 of k: of shape (ceil(m / 128), ceil(k / 128)) for a and
        (ceil(k / 128), ceil(n / 128)) for b.
      Scales of blocks lie in either order, with any pitch. b's may also come as they lie beside w of shape (n, k),
      transposed: scale.T.
    bias: of shape (n,), in f16, bf16 or f32.
    epilogue: as in jitgemm.matmul, where acc is the scaled product: "d = gelu(acc + bias[n])" with bias=bias. Its
      arrays are keywords, and bias is one of them.
    sums: "promoted" (default) or "fast", as torch's use_fast_accum=True.
    out_dtype: bf16 by default.
    out and further options are those of jitgemm.matmul.

    a and b may be batches. Where b is one, scales have a's and b's leading dimensions, or serve all products.
    """
    _check_ranks(a, b)
    of_problems = len(b.shape) > 2
    text, operands = epilogue_text(a, b, (scale_a, of_problems), (scale_b, of_problems), bias, epilogue)
    _add_operands(operands, options.pop("operands", None))
    out_dtype = _type_of(a, out, out_dtype)
    return _core.matmul(a, b, out=out, out_dtype=out_dtype, sums=sums, epilogue=text, operands=operands, **options)


def scaled_groups(positional: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """grouped_matmul with scales. In a text, if there is one, acc is the scaled product."""
    return _scaled_groups(*positional, **named)


def _scaled_groups(
    a: Any,
    b: Any,
    offs: Any,
    *,
    scale_a: Any = 1.0,
    scale_b: Any = 1.0,
    bias: Any = None,
    epilogue: str | None = None,
    operands: dict[str, Any] | None = None,
    out: Any = None,
    out_dtype: Any = None,
    **options: Any,
) -> Any:
    _check_ranks(a, b)
    text, named = epilogue_text(a, b, (scale_a, False), (scale_b, True), bias, epilogue)
    _add_operands(named, operands)
    out_dtype = _type_of(a, out, out_dtype)
    return _core.grouped_matmul(a, b, offs, out=out, out_dtype=out_dtype, epilogue=text, operands=named, **options)


def _check_ranks(a: Any, b: Any) -> None:
    for name, array in (("a", a), ("b", b)):
        if len(array.shape) < 2:
            raise _refusal(f"{name} has shape {tuple(array.shape)}: a matrix has two dimensions")


def epilogue_text(
    a: Any, b: Any, scale_a: tuple[Any, bool], scale_b: tuple[Any, bool], bias: Any, epilogue: str | None = None
) -> tuple[str, dict[str, Any]]:
    """The text of the product, and its operands. Beside a scale: whether each problem may have its own. `epilogue` is
    the caller's text of the scaled product; `bias` is then one of its operands."""
    operands: dict[str, Any] = {}
    declared, factors = [], ["acc"]
    for side, (scale, of_problems), matrix in (("a", scale_a, a), ("b", scale_b, b)):
        index, operands[f"scale_{side}"] = _scale(side, scale, tuple(matrix.shape), of_problems)
        declared.append(f"scale_{side}: f32{index}; ")
        factors.insert(1 if "k" in index else len(factors), f"scale_{side}{index}")  # beside acc
    declarations, product = "".join(declared), " * ".join(factors)
    if epilogue is not None:
        if bias is not None:
            operands["bias"] = bias
        return f"{declarations}{_of_scaled(epilogue, product)}", operands
    text = f"{declarations}d = {product}"
    if bias is not None:
        operands["bias"] = bias
        text += " + bias[b,n]" if len(bias.shape) > 1 else " + bias[n]"
    return text, operands


def _add_operands(operands: dict[str, Any], more: dict[str, Any] | None) -> None:
    """Adds the arrays that the caller names in a dictionary, as c and out must be."""
    for name, array in (more or {}).items():
        if name in operands:
            raise _refusal(f"operands has {name}, which is an operand already: give it another name")
        operands[name] = array


def _of_scaled(epilogue: str, product: str) -> str:
    """The caller's text, whose acc is the scaled product."""
    if not isinstance(epilogue, str):
        raise TypeError(f"epilogue is a {type(epilogue).__name__}: expected a text, as 'd = relu(acc)'")
    name = "scaled"
    while re.search(rf"\b{name}\b", epilogue):
        name += "_"
    return f"{name} = {product}; " + re.sub(r"\bacc\b", name, epilogue)


def _type_of(a: Any, out: Any, out_dtype: Any) -> Any:
    """That of a new result."""
    if out is None and out_dtype is None and str(a.dtype).endswith("int8"):
        return "bf16"  # else that of sums, int32
    return out_dtype


def _scale(side: str, scale: Any, matrix: tuple[int, ...], of_problems: bool) -> tuple[str, Any]:
    """The index of a scale in the text, and the operand."""
    name, letter, word = f"scale_{side}", _LETTERS[side], _WORDS[side]
    extent = matrix[-2] if side == "a" else matrix[-1]
    if isinstance(scale, tuple):
        if len(scale) == 2 and scale[1] in _BLOCKS:
            return _of_blocks(side, *scale, of_problems)
        if len(scale) != 2 or scale[1] != word:
            mode = repr(scale[1]) if len(scale) == 2 else f"a tuple of {len(scale)}"
            raise _refusal(f'{name} is {mode}: expected (array, "{word}"), (array, "1x128") or (array, "128x128")')
        return _index(letter, of_problems and len(scale[0].shape) > 1), _vector(name, scale[0], extent, letter)
    if not hasattr(scale, "shape"):
        return "", float(scale)
    shape = tuple(scale.shape)
    of_lines = (extent, 1) if side == "a" else (1, extent)
    if extent > 1 and shape == of_lines:
        return f"[{letter}]", scale.reshape(-1)
    if shape in ((), (1,), (1, 1)):
        return "[0]", scale.reshape(1)
    if (extent > 1 or len(shape) > 2) and shape == matrix[:-2] + of_lines:
        return _index(letter, of_problems), scale.reshape((*matrix[:-2], extent))
    raise _refusal(
        f'{name} has shape {shape}: expected one element, {of_lines} or (array, "{word}") with a vector of {extent}'
    )


def _index(places: str, of_problem: bool) -> str:
    return f"[b,{places}]" if of_problem else f"[{places}]"


def _of_blocks(side: str, scale: Any, mode: str, of_problems: bool) -> tuple[str, Any]:
    """The order of the index is that of memory: its last place is contiguous. Rows of a may have several dimensions."""
    if len(scale.shape) < 2:
        raise _refusal(f"scale_{side} has shape {tuple(scale.shape)}: scales of blocks have two dimensions")
    blocks = _LETTERS[side] + _BLOCKS[mode]
    places = [blocks, "k/128"] if side == "a" else ["k/128", blocks]
    of_problem = of_problems and len(scale.shape) > 2
    if not _is_contiguous(scale):
        places.reverse()
        scale = scale.swapaxes(-1, -2) if of_problem else _last_first(scale)
    return _index(",".join(places), of_problem), scale


def _last_first(array: Any) -> Any:
    order = (len(array.shape) - 1, *range(len(array.shape) - 1))
    return array.permute(order) if hasattr(array, "permute") else array.transpose(order)


def _is_contiguous(array: Any) -> bool:
    """Whether elements of a row lie side by side."""
    strides = array.stride() if callable(getattr(array, "stride", None)) else getattr(array, "strides", None)
    if strides is None:
        return True
    rows, columns = strides[-2:]
    return bool(array.shape[-1] == 1 or columns < rows or (array.shape[-2] == 1 and columns == rows))


def _vector(name: str, scale: Any, extent: int, letter: str) -> Any:
    if tuple(scale.shape)[-1:] != (extent,):
        raise _refusal(f"{name} has shape {tuple(scale.shape)}: a vector of {letter} has {extent} elements")
    return scale


def _refusal(reason: str) -> OperandError:
    return OperandError(f"no product of these arrays: {reason}", (reason,))
