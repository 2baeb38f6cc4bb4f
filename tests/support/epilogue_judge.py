"""Judges the intervals that an evaluator gives for epilogues: Python evaluates the texts itself, in f64, as a program.

usage: epilogue_judge.py CASES, a JSON list. Each case has the text, m, n, acc, operands (by name: nested lists in the
order of their index) and scalars, and of each output the cells [row, column, low, high, may_be_nan]; row and column are
those of the output's index, -1 where it has none. Prints what is wrong, and the share of values that are known to a
thousandth.
"""

import __future__
import ast
import json
import math
import sys

TOLERANCE = 1e-12  # f64's own roundings


class Grid:
    """Values by row and column. A grid of one row or one column stands for any number of them."""

    def __init__(self, rows):
        self.rows = rows

    @property
    def shape(self):
        return len(self.rows), len(self.rows[0])

    def at(self, row, column):
        line = self.rows[row if len(self.rows) > 1 else 0]
        return line[column if len(line) > 1 else 0]


def grid(value):
    return value if isinstance(value, Grid) else Grid([[value]])


def elementwise(function):
    def over(*values):
        grids = [grid(value) for value in values]
        rows, columns = (max(sizes) for sizes in zip(*(one.shape for one in grids)))
        return Grid([[function(*(one.at(r, c) for one in grids)) for c in range(columns)] for r in range(rows)])

    return over


def divided(x, y):
    if y != 0:
        return x / y
    return math.nan if x == 0 or math.isnan(x) else math.copysign(math.inf, x) * math.copysign(1, y)


def exponential(base):
    def power(x):
        try:
            return math.exp(x) if base == "e" else math.pow(2.0, x)
        except OverflowError:
            return math.inf

    return power


def logarithm(function):
    return lambda x: -math.inf if x == 0 else function(x) if x > 0 else math.nan


def passing_nan(choose):
    return lambda x, y: math.nan if math.isnan(x) or math.isnan(y) else choose(x, y)


exp = exponential("e")
larger, smaller = passing_nan(max), passing_nan(min)


def sigmoid(x):
    return 1 / (1 + exp(-x))


def inner(x):
    return math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)


def gelu(x):
    return 0.5 * x * (1 + math.tanh(inner(x)))


def dgelu(x):
    if abs(x) > 40:
        return 1.0 if x > 0 else 0.0
    t = math.tanh(inner(x))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)


def dsilu(x):
    return sigmoid(x) * (1 + x * (1 - sigmoid(x)))


def root(x):
    return math.sqrt(x) if x >= 0 else math.nan


def rounded(fraction_bits, lowest_exponent, largest, saturates):
    """Rounds to nearest even, to a format with this number of stored fraction bits."""

    def convert(x):
        beyond = largest if saturates else math.inf
        if math.isnan(x):
            return x
        if math.isinf(x):
            return math.copysign(beyond, x)
        unit = math.ldexp(1, max(math.frexp(x)[1] - 1, lowest_exponent) - fraction_bits)
        value = round(x / unit) * unit
        return value if abs(value) <= largest else math.copysign(beyond, x)

    return convert


def rounded_integer(x):
    return 0.0 if math.isnan(x) else float(-128 if x < -128 else 127 if x > 127 else round(x))


class Reduction:
    def __init__(self, kind, value, scale=lambda x: x):
        self.kind, self.value, self.scale = kind, value, scale

    def __truediv__(self, number):
        return Reduction(self.kind, self.value, lambda x: x / number.at(0, 0))

    def __mul__(self, number):
        return Reduction(self.kind, self.value, lambda x: x * number.at(0, 0))

    def of(self, values):
        if any(math.isnan(value) for value in values):
            return math.nan
        return self.scale(math.fsum(values) if self.kind == "sum" else {"max": max, "min": min}[self.kind](values))


class Index(Grid):
    """Rows or columns of the elements; over a number, those of blocks."""

    def __truediv__(self, block):
        return Index([[value // block for value in row] for row in self.rows])


def places(key):
    return key if isinstance(key, tuple) else () if isinstance(key, int) else (key,)


class Operand:
    def __init__(self, data):
        self.data = data

    def __getitem__(self, key):
        def element(*at):
            value = self.data
            for place in at:
                value = value[place]
            return value

        return elementwise(element)(*places(key)) if places(key) else self.data[0]


class Output:
    """Takes elements, or reduces them to the places that its index names."""

    def __init__(self):
        self.cells = {}

    def __setitem__(self, key, value):
        reduces = isinstance(value, Reduction)
        source = grid(value.value if reduces else value)
        spread = elementwise(lambda x, *_: x)(source, *places(key)) if places(key) else source
        found = {}
        for row in range(spread.shape[0]):
            for column in range(spread.shape[1]):
                at = tuple(grid(place).at(row, column) for place in places(key))
                found.setdefault(at, []).append(spread.at(row, column))
        self.cells = {at: value.of(values) if reduces else values[0] for at, values in found.items()}

    def __getitem__(self, key):  # a scale: where all values are 0, it is 1
        return elementwise(lambda *at: self.cells[at] if self.cells[at] != 0 else 1.0)(*places(key))


def reducing(kind, choose):
    return lambda *values: Reduction(kind, values[0]) if len(values) == 1 else elementwise(choose)(*values)


def half(columns_of):
    def take(value):
        return Grid([columns_of(row) for row in value.rows])

    return take


def operators():
    unary = {"__neg__": lambda x: -x}
    binary = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "truediv": divided,
              "lt": lambda x, y: x < y, "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
              "eq": lambda x, y: x == y, "ne": lambda x, y: x != y}
    for name, function in unary.items():
        setattr(Grid, name, elementwise(function))
    for name, function in binary.items():
        setattr(Grid, f"__{name}__", elementwise(function))
        setattr(Grid, f"__r{name}__", elementwise(lambda x, y, function=function: function(y, x)))


class Number(Grid):
    """A literal or a scalar, so that its division by 0 is a float's."""


FUNCTIONS = {
    "relu": lambda x: x if math.isnan(x) else max(x, 0.0), "drelu": lambda x: 1.0 if x > 0 else 0.0, "abs": abs,
    "clamp": lambda x, low, high: smaller(larger(x, low), high), "sigmoid": sigmoid, "silu": lambda x: x * sigmoid(x),
    "dsilu": dsilu, "tanh": math.tanh, "gelu": gelu, "gelu_erf": lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))),
    "dgelu": dgelu, "erf": math.erf, "exp": exp, "exp2": exponential("2"), "log": logarithm(math.log),
    "log2": logarithm(math.log2), "sqrt": root, "rsqrt": lambda x: divided(1.0, root(x)),
    "select": lambda condition, x, y: x if condition else y, "f16": rounded(10, -14, 65504.0, False),
    "bf16": rounded(7, -126, 3.3895313892515355e38, False), "e4m3": rounded(3, -6, 448.0, True),
    "e5m2": rounded(2, -14, 57344.0, True), "s8": rounded_integer, "f32": lambda x: x,
}  # fmt: skip


def environment(case):
    rows, columns = case["m"], case["n"]
    names = {name: elementwise(function) for name, function in FUNCTIONS.items()}
    names |= {name: Operand(data) for name, data in case["operands"].items()}
    names |= {name: Number([[value]]) for name, value in case["scalars"].items()}
    names |= {name: Output() for name in case["outputs"]}
    return names | {
        "fast": lambda x: x, "sum": reducing("sum", None),
        "max": reducing("max", larger), "min": reducing("min", smaller),
        "left": half(lambda row: row[: len(row) // 2]), "right": half(lambda row: row[len(row) // 2 :]),
        "even": half(lambda row: row[0::2]), "odd": half(lambda row: row[1::2]), "acc": Grid(case["acc"]),
        "m": Index([[row] for row in range(rows)]), "n": Index([list(range(columns))]),
        "h": Index([list(range(columns // 2))]),
    }  # fmt: skip


def value_of(names, output, row, column):
    value = names[output]
    if isinstance(value, Output):
        return value.cells[tuple(place for place in (row, column) if place >= 0)]
    return grid(value).at(row, column)


class Literals(ast.NodeTransformer):
    """Wraps numbers outside of indices: 1 / 0 is infinite in an epilogue."""

    def visit_Subscript(self, node):
        return node

    def visit_Constant(self, node):
        return ast.Call(ast.Name("literal_", ast.Load()), [node], [])


def run(text, names):
    tree = Literals().visit(ast.parse(text))
    flags = __future__.annotations.compiler_flag
    names["literal_"] = lambda value: Number([[float(value)]])
    exec(compile(ast.fix_missing_locations(tree), "epilogue", "exec", flags), names)


def judge(case):
    """Returns the case's errors, and how many of its values are known, and how many it has."""
    names = environment(case)
    run(case["text"], names)
    wrong, known, count = [], 0, 0
    for output, cells in case["outputs"].items():
        for row, column, low, high, may_be_nan in cells:
            value, low, high = value_of(names, output, row, column), float(low), float(high)
            slack = TOLERANCE * abs(value) if math.isfinite(value) else 0
            right = may_be_nan if math.isnan(value) else low - slack <= value <= high + slack
            count += 1
            known += high - low <= 1e-3 * (1 + abs(value)) if math.isfinite(value) else 1
            if not right:
                wrong.append(f"{case['text']}: {output}[{row}, {column}] is {value}, not {low} .. {high}")
    return wrong, known, count


def main():
    sys.setrecursionlimit(10000)
    operators()
    with open(sys.argv[1], encoding="utf-8") as file:
        results = [judge(case) for case in json.load(file)]
    for line in [line for wrong, _, _ in results for line in wrong][:20]:
        print(line)
    print("known:", sum(known for _, known, _ in results) / sum(count for _, _, count in results))


if __name__ == "__main__":
    main()
