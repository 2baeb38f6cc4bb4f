"""CuTe's layouts: Shape:Stride, a function from coordinates to integers, and their algebra."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator
from operator import index
from typing import Any, Union

from . import _core
from ._errors import LayoutError

IntTuple = Union[int, tuple["IntTuple", ...]]
"""An integer or a tuple of such: a shape, a stride, a coordinate. In a coordinate None keeps a mode as it is."""


def layout(shape: str | IntTuple | Layout, stride: IntTuple | None = None) -> Layout:
    """Makes a layout from text or from a shape and a stride.

    The text is a layout, "(8,4):(4,1)", or an expression of the calculator, "logical_divide(1000:1, 128:1)".
    A shape and a stride are tuples: layout((8, 4), (4, 1)). Without strides the first mode is contiguous.

    Raises LayoutError, with the column where the text is malformed.
    """
    text = _text(shape)
    return Layout(text if stride is None else f"{text}:{_text(stride)}")


class Layout:
    """A function from coordinates to integers, printed as CuTe does; never changed.

    a(5), a(2, 1), a((2, 1)) are values, a(2, None) is a slice; a @ b is the composition `a o b`, a / b the logical
    divide, a * b the logical product; a[0] is a mode and len(a) their number. In a notebook it draws itself.
    """

    def __init__(self, expression: str) -> None:
        self._text = _core.layout_text(expression)  # as CuTe prints it
        self._layout = _expression(self._text, expression)

    # ---- what it is --------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> IntTuple:
        """Of the domain; of a swizzled layout, that of the layout below."""
        shape: IntTuple = _tuples(self._parts()[0])
        return shape

    @property
    def stride(self) -> IntTuple:
        """Of the shape's form: how far apart the values of neighbours in each mode are."""
        stride: IntTuple = _tuples(self._parts()[1])
        return stride

    @property
    def size(self) -> int:
        """Elements of the domain."""
        return self._count("size")

    @property
    def cosize(self) -> int:
        """One more than the largest value, before a swizzle."""
        return self._count("cosize")

    @property
    def depth(self) -> int:
        """Levels of nesting."""
        return self._count("depth")

    def __call__(self, *coordinate: int | tuple[Any, ...] | None) -> Any:
        """The value at a coordinate: an integer, or a tuple that nests like the shape.

        None in the coordinate keeps that mode. The result is then the layout of the kept modes, and it begins at the
        value of the coordinate that has 0 there.
        """
        at = coordinate[0] if len(coordinate) == 1 else coordinate
        return _value(f"slice({self._layout}, {_text(at)})")

    def __getitem__(self, mode: int) -> Layout:
        if not -len(self) <= mode < len(self):
            raise IndexError(f"mode {mode} of a layout of {len(self)}")
        return self._apply(f"get<{mode % len(self)}>")

    def __len__(self) -> int:
        return self._count("rank")

    def __iter__(self) -> Iterator[Layout]:
        return (self[mode] for mode in range(len(self)))

    def table(self) -> list[int]:
        """a(0), a(1), ... a(size - 1)."""
        return _core.layout_table(self._layout)

    # ---- algebra -----------------------------------------------------------------------------------------------------

    def __matmul__(self, other: LayoutLike) -> Layout:
        return self.composition(other)

    def __truediv__(self, tiler: LayoutLike) -> Layout:
        return self.logical_divide(tiler)

    def __mul__(self, tiler: LayoutLike) -> Layout:
        return self.logical_product(tiler)

    def composition(self, other: LayoutLike) -> Layout:
        """This one after the other."""
        return self._apply("composition", other)

    def coalesce(self, profile: IntTuple | None = None) -> Layout:
        """As few modes as possible; by mode with a profile."""
        return self._apply("coalesce", *(() if profile is None else (profile,)))

    def filter(self) -> Layout:
        """Without modes of stride 0 or extent 1."""
        return self._apply("filter")

    def flatten(self) -> Layout:
        """All modes on one level."""
        return self._apply("flatten")

    def complement(self, cosize: int | None = None) -> Layout:
        """The layout that completes this one up to `cosize` values."""
        return self._apply("complement", *(() if cosize is None else (cosize,)))

    def right_inverse(self) -> Layout:
        """r with self(r(i)) = i."""
        return self._apply("right_inverse")

    def left_inverse(self) -> Layout:
        """l with l(self(i)) = i."""
        return self._apply("left_inverse")

    def logical_divide(self, tiler: LayoutLike) -> Layout:
        """(tile, rest), mode by mode with a tuple."""
        return self._apply("logical_divide", tiler)

    def zipped_divide(self, tiler: LayoutLike) -> Layout:
        """((tile, ...), (rest, ...))"""
        return self._apply("zipped_divide", tiler)

    def tiled_divide(self, tiler: LayoutLike) -> Layout:
        """((tile, ...), rest, ...)"""
        return self._apply("tiled_divide", tiler)

    def flat_divide(self, tiler: LayoutLike) -> Layout:
        """(tile, ..., rest, ...)"""
        return self._apply("flat_divide", tiler)

    def logical_product(self, tiler: LayoutLike) -> Layout:
        """(block, repetition)"""
        return self._apply("logical_product", tiler)

    def blocked_product(self, layout: LayoutLike) -> Layout:
        """This one's blocks side by side."""
        return self._apply("blocked_product", layout)

    def raked_product(self, layout: LayoutLike) -> Layout:
        """This one's blocks interleaved."""
        return self._apply("raked_product", layout)

    def tile_to_shape(self, shape: IntTuple) -> Layout:
        """This one repeated until it covers the shape."""
        return self._apply("tile_to_shape", shape)

    def swizzle(self, bits: int, base: int, shift: int) -> Layout:
        """Swizzle<bits,base,shift> after it."""
        return Layout(f"Swizzle<{bits},{base},{shift}> o {self._layout}")

    # ---- text and pictures -------------------------------------------------------------------------------------------

    def draw(self, format: str = "text") -> str:
        """Its values as "text", "svg", "html" or "latex": mode 0 down, the others across. At most 8192 of them."""
        if format not in ("text", "svg", "html", "latex"):
            raise LayoutError(f"format is '{format}': it must be text, svg, html or latex")
        return _core.layout_picture(self._layout, format)

    def _repr_svg_(self) -> str | None:
        return self.draw("svg") if self.size <= _MOST_CELLS else None

    def _repr_html_(self) -> str | None:
        return self.draw("svg") if self.size <= _MOST_CELLS else None

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Layout('{self._layout}')"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def _parts(self) -> list[str]:
        return self._text.rpartition(" o ")[2].split(":")

    def _apply(self, function: str, *others: Any) -> Layout:
        return Layout(f"{function}({', '.join([self._layout, *map(_text, others)])})")

    def _count(self, function: str) -> int:
        return int(_value(f"{function}({self._layout})"))


LayoutLike = Union[Layout, IntTuple, str]
_MOST_CELLS = 8192  # of a picture


def _text(value: Any) -> str:
    if value is None:
        return "_"
    if isinstance(value, tuple):
        return "(" + ",".join(map(_text, value)) + ")"
    if isinstance(value, Layout):
        return value._layout
    if isinstance(value, str):
        return value
    try:
        return str(index(value))  # numpy's integers, too
    except TypeError:
        text = f"a layout is made of integers, tuples and texts, and {value!r} is of type {type(value).__name__}"
        raise TypeError(f"{text}: tuple() makes a tuple of it" if isinstance(value, list) else text) from None


def _tuples(text: str) -> Any:
    """(8) is a tuple of one: CuTe's text has no comma for it."""
    return literal_eval(text.replace(")", ",)"))


def _expression(text: str, expression: str) -> str:
    """A layout's text as the calculator reads it. CuTe prints a swizzled layout with an offset, which is changed."""
    if " o " not in text:
        return text
    return text.replace("Sw<", "Swizzle<").replace(" o 0 o ", " o ") if " o 0 o " in text else expression


def _value(expression: str) -> Any:
    kind, text = _core.layout_evaluate(expression)
    if kind == "integer":
        return int(text)
    return Layout(expression) if kind == "layout" else _tuples(text)
