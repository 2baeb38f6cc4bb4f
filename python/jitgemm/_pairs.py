"""Pairs of columns that no kernel serves, by two products: one of the second columns, and one of the first columns
whose epilogue reads the other's sums.

    d[m,h] = silu(left(acc)) * right(acc)      becomes      d = silu(acc) * second[m, n]
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache
from typing import Any, NamedTuple

from . import _core
from ._errors import ConfigError, OperandError, SpecError

_FIRST, _SECOND = ("left", "even"), ("right", "odd")
_NEIGHBOURS = ("even", "odd")
# The arguments of matmul that both products take.
_OF_BOTH = ("alpha", "device", "deterministic", "dependent_launch", "on_miss", "sums", "math")
_OF_RESULT = ("out", "out_dtype", "beta", "stream")


class _Unserved(Exception):
    """A text that has no such form."""


class _Text(NamedTuple):
    text: str
    second: str  # the operand with the sums of the second columns
    split: dict[str, dict[int, str]]  # operands of the product's columns: the names of the halves that are read
    are_neighbours: bool


def by_halves(arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """What matmul returns. None where these products don't serve the call either."""
    try:
        return _by_halves(*arguments, **named)
    except (_Unserved, ConfigError, OperandError, SpecError, SyntaxError):
        return None


def _by_halves(a: Any, b: Any, *, epilogue: str, operands: dict[str, Any] | None = None, **named: Any) -> Any:
    if named.get("stream") is not None:
        raise _Unserved  # the sums' memory would be used again in another stream's order
    text = _halves_of(epilogue)
    shared = {name: named.pop(name) for name in _OF_BOTH if name in named}
    of_result = {name: named.pop(name) for name in _OF_RESULT if name in named}
    given = {**named, **(operands or {})}
    part = _part_of_neighbours if text.are_neighbours else _part_of_halves
    scalars = {name: shared.pop(name) for name in ("alpha",) if name in shared}
    given[text.second] = _core.matmul(a, _factor(part, b, 1), out_dtype="float32", **shared)
    for name, parts in text.split.items():
        array = given.pop(name)
        for which, part_name in parts.items():
            given[part_name] = _packed(part(array, which)) if text.are_neighbours else part(array, which)
    options = {**shared, **scalars, **of_result}
    return _core.matmul(a, _factor(part, b, 0), epilogue=text.text, operands=given, **options)


# ---- arrays --------------------------------------------------------------------------------------

# array, 0 or 1
Part = Callable[[Any, int], Any]


def _part_of_halves(array: Any, which: int) -> Any:
    half = array.shape[-1] // 2
    return array[..., half:] if which else array[..., :half]


def _part_of_neighbours(array: Any, which: int) -> Any:
    return array[..., which::2]


def _factor(part: Part, b: Any, which: int) -> Any:
    """Columns of B. Where rows are contiguous, every second element is copied."""
    if len(b.shape) < 2 or b.shape[-1] % 2 != 0:
        raise _Unserved
    columns = part(b, which)
    return _packed(columns) if part is _part_of_neighbours and not _has_contiguous_columns(b) else columns


def _has_contiguous_columns(array: Any) -> bool:
    strides = getattr(array, "strides", None)
    if strides is not None:
        return bool(strides[-2] == array.dtype.itemsize)
    return hasattr(array, "stride") and array.stride(-2) == 1


def _packed(array: Any) -> Any:
    for method in ("contiguous", "copy"):
        if hasattr(array, method):
            return getattr(array, method)()
    raise _Unserved


# ---- text ----------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _halves_of(epilogue: str) -> _Text:
    return _Writer(epilogue).write()


class _Writer(ast.NodeTransformer):
    """Puts each local value in its place, since it may differ in the columns of a pair."""

    def __init__(self, epilogue: str) -> None:
        # Each text is a Python program.
        self.tree = ast.parse("\n".join(line.strip() for line in epilogue.splitlines()))
        words = set(re.findall(r"\w+", epilogue))
        self.words = words
        self.are_neighbours = not words.isdisjoint(_NEIGHBOURS)
        self.second = self._new_name("second")
        self.locals: dict[str, ast.expr] = {}
        self.split: dict[str, dict[int, str]] = {}
        self.half: int | None = None  # 0: the first columns of pairs
        self.has_first = False

    def write(self) -> _Text:
        declarations, assignments = [], []
        for statement in self.tree.body:
            if isinstance(statement, ast.AnnAssign):
                declarations.append(statement)
            elif isinstance(statement, ast.Assign):
                assignments += self._assignment(statement)
            else:
                raise _Unserved
        if not self.has_first:
            raise _Unserved
        lines = [line for one in declarations for line in self._declaration(one)]
        lines += [f"{self.second}: f32[m,n]", *assignments]
        return _Text("\n".join(lines), self.second, self.split, self.are_neighbours)

    def _new_name(self, name: str) -> str:
        while name in self.words:
            name += "_"
        self.words.add(name)
        return name

    def _declaration(self, statement: ast.AnnAssign) -> list[str]:
        name = ast.unparse(statement.target)
        self.half = 0
        kind = ast.unparse(self._index(deepcopy(statement.annotation)))
        return [f"{one}: {kind}" for one in self.split.get(name, {0: name}).values()]

    def _assignment(self, statement: ast.Assign) -> list[str]:
        (target,) = statement.targets
        if isinstance(target, ast.Name) and target.id != "d":
            self.locals[target.id] = statement.value
            return []
        self.half = None
        value = ast.unparse(self.visit(deepcopy(statement.value)))
        is_d = (target.value if isinstance(target, ast.Subscript) else target).id == "d"  # type: ignore[attr-defined]
        return [f"{'d' if is_d else ast.unparse(self._index(target))} = {value}"]

    @staticmethod
    def _index(node: ast.expr) -> ast.expr:
        """h becomes n."""
        for part in ast.walk(node.slice) if isinstance(node, ast.Subscript) else ():
            if isinstance(part, ast.Name) and part.id == "h":
                part.id = "n"
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.locals:
            return self.visit(deepcopy(self.locals[node.id]))  # type: ignore[no-any-return]
        if node.id != "acc":
            return node
        if self.half is None:
            raise _Unserved
        self.has_first = self.has_first or self.half == 0
        return node if self.half == 0 else ast.parse(f"{self.second}[m,n]", mode="eval").body

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        names = [part.id for part in ast.walk(node.slice) if isinstance(part, ast.Name)]
        if "n" not in names:
            return self._index(node)
        if self.half is None or any(isinstance(part, ast.BinOp) for part in ast.walk(node.slice)):
            raise _Unserved
        assert isinstance(node.value, ast.Name)
        name = node.value.id
        halves = self.split.setdefault(name, {})
        if self.half not in halves:
            halves[self.half] = self._new_name(f"{name}_{('first', 'second')[self.half]}")
        node.value.id = halves[self.half]
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        assert isinstance(node.func, ast.Name)
        if node.func.id not in (*_FIRST, *_SECOND):
            node.args = [self.visit(argument) for argument in node.args]
            return node
        outside, self.half = self.half, int(node.func.id in _SECOND)
        value: ast.expr = self.visit(node.args[0])
        self.half = outside
        return value
