"""Products of 8-bit floats and integers with scales."""

from __future__ import annotations

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
    sums: "promoted" (default) or "fast", as torch's use_fast_accum=True.
    out_dtype: bf16 by default.
    out and further options are those of jitgemm.matmul.
    """
    for name, array in (("a", a), ("b", b)):
        if len(array.shape) != 2:
            raise _refusal(f"{name} has shape {tuple(array.shape)}: a matrix has two dimensions")
    operands: dict[str, Any] = {}
    declared, factors = [], ["acc"]
    for side, scale, extent in (("a", scale_a, a.shape[0]), ("b", scale_b, b.shape[-1])):
        index, operands[f"scale_{side}"] = _scale(side, scale, extent)
        declared.append(f"scale_{side}: f32{index}; ")
        factors.insert(1 if "k" in index else len(factors), f"scale_{side}{index}")  # beside acc
    text = "".join(declared) + "d = " + " * ".join(factors)
    if bias is not None:
        operands["bias"] = bias
        text += " + bias[n]"
    if out is None and out_dtype is None and str(a.dtype).endswith("int8"):
        out_dtype = "bf16"  # else that of sums, int32
    return _core.matmul(a, b, out=out, out_dtype=out_dtype, sums=sums, epilogue=text, operands=operands, **options)


def _scale(side: str, scale: Any, extent: int) -> tuple[str, Any]:
    """The index of a scale in the text, and the operand."""
    name, letter, word = f"scale_{side}", _LETTERS[side], _WORDS[side]
    if isinstance(scale, tuple):
        if len(scale) == 2 and scale[1] in _BLOCKS:
            return _of_blocks(side, *scale)
        if len(scale) != 2 or scale[1] != word:
            mode = repr(scale[1]) if len(scale) == 2 else f"a tuple of {len(scale)}"
            raise _refusal(f'{name} is {mode}: expected (array, "{word}"), (array, "1x128") or (array, "128x128")')
        return f"[{letter}]", _vector(name, scale[0], extent, letter)
    if not hasattr(scale, "shape"):
        return "", float(scale)
    shape = tuple(scale.shape)
    if extent > 1 and shape == ((extent, 1) if side == "a" else (1, extent)):
        return f"[{letter}]", scale.reshape(-1)
    if shape in ((), (1,), (1, 1)):
        return "[0]", scale.reshape(1)
    expected = f"({extent}, 1)" if side == "a" else f"(1, {extent})"
    raise _refusal(
        f"{name} has shape {shape}: expected one element, {expected} or (array, \"{word}\") with a vector of {extent}"
    )


def _of_blocks(side: str, scale: Any, mode: str) -> tuple[str, Any]:
    """The order of the index is that of memory: its last place is contiguous."""
    if len(scale.shape) != 2:
        raise _refusal(f"scale_{side} has shape {tuple(scale.shape)}: scales of blocks have two dimensions")
    blocks = _LETTERS[side] + _BLOCKS[mode]
    places = [blocks, "k/128"] if side == "a" else ["k/128", blocks]
    if _is_contiguous(scale):
        return f"[{places[0]},{places[1]}]", scale
    return f"[{places[1]},{places[0]}]", scale.T


def _is_contiguous(array: Any) -> bool:
    """Whether elements of a row lie side by side."""
    strides = array.stride() if callable(getattr(array, "stride", None)) else getattr(array, "strides", None)
    if strides is None:
        return True
    rows, columns = strides
    return bool(array.shape[1] == 1 or columns < rows or (array.shape[0] == 1 and columns == rows))


def _vector(name: str, scale: Any, extent: int, letter: str) -> Any:
    if tuple(scale.shape) != (extent,):
        raise _refusal(f"{name} has shape {tuple(scale.shape)}: a vector of {letter} has {extent} elements")
    return scale


def _refusal(reason: str) -> OperandError:
    return OperandError(f"no product of these arrays: {reason}", (reason,))
