"""Problems of groups of rows: how rows are divided, operands, and the calls that bench/grouped.py times."""

from __future__ import annotations

import collections
import math
import random
from functools import cache, cached_property
from typing import NamedTuple

import jitgemm as jg
import torch
from torch.nn import functional

SET_BYTES = 200_000_000  # of all sets of operands: an H200's L2 has 60 MB
MOST_BYTES = 30_000_000_000
MOST_SETS = 256
GRAPH_TIME = 1000  # microseconds of a graph, where calls are short
STREAMS = 8


# ---- problems ------------------------------------------------------------------------------------


class Row(NamedTuple):
    kind: str  # type of a and b
    sizes: str  # uniform, random, zipf
    groups: int
    rows: int  # of all groups
    n: int
    k: int
    room: int = 0  # rows that each group has room for; 0: groups lie one behind the other

    def __str__(self):
        room = f" room {self.room}" if self.room else ""
        return f"{self.kind} {self.sizes} {self.groups} {self.rows} {self.n} {self.k}{room}"


def rows_of(kinds, *sizes):
    return [Row("bf16", kind, *sizes) for kind in kinds.split(",")]


def drawn_adapters(count):
    """LoRA: n or k is small."""
    draw = random.Random(20)
    for i in range(count):
        groups, rows = draw.randint(8, 64), draw.randint(64, 4096)
        sizes = (8 * draw.randint(1, 8), 256 * draw.randint(8, 32))
        yield Row("bf16", ("random", "zipf")[i // 2 % 2], groups, rows, *(sizes if i % 2 else sizes[::-1]))


ROWS = (
    *rows_of("uniform,zipf", 4, 32768, 4096, 7168),  # DeepSeek-V3, gate and up of 4 experts
    *rows_of("uniform,zipf", 8, 32768, 7168, 2048),  # down of 8 experts
    *rows_of("uniform,zipf", 8, 8192, 28672, 4096),  # Mixtral-8x7B, gate and up, 4096 tokens
    *rows_of("uniform,random,zipf", 128, 65536, 1536, 2048),  # Qwen3-30B-A3B, gate and up, 8192 tokens
    *rows_of("random,zipf", 128, 1024, 1536, 2048),  # the same, 128 tokens
    *rows_of("random", 128, 64, 2048, 768),  # down, 8 tokens
    *rows_of("random", 8, 64, 4096, 14336),  # Mixtral-8x7B, down, 32 tokens
    *rows_of("random", 256, 2048, 4096, 7168),  # DeepSeek-V3, gate and up of all experts, 256 tokens
    *rows_of("random,zipf", 16, 256, 5120, 32),  # LoRA
    *drawn_adapters(10),
    Row("e4m3", "uniform", 8, 8192, 7168, 2048),
    Row("e4m3", "uniform", 128, 65536, 1536, 2048),
    Row("e4m3", "random", 128, 65536, 1536, 2048),
    Row("e4m3", "uniform", 32, 640, 4096, 7168, room=128),
)
TINY = (
    Row("bf16", "random", 3, 40, 72, 136),
    Row("bf16", "zipf", 4, 30, 64, 16),
    Row("bf16", "uniform", 1, 512, 16, 72),
    Row("e4m3", "uniform", 2, 16, 128, 256),
    Row("e4m3", "random", 3, 12, 128, 256, room=16),
)


def class_of(row):
    if row.kind != "bf16":
        return row.kind
    if min(row.n, row.k) <= 64:
        return "LoRA"
    if row.rows < 64 * row.groups:
        return "decode"
    if row.groups <= 8:
        return "few large groups"
    return f"{row.groups} groups {'uniform' if row.sizes == 'uniform' else 'random and skewed'}"


def group_sizes(how, groups, rows):
    """Rows of each group."""
    if how == "uniform":
        return [rows // groups + (group < rows % groups) for group in range(groups)]
    if how == "random":
        counts = collections.Counter(mixed(row + 1) % groups for row in range(rows))
        return [counts[group] for group in range(groups)]
    return skewed_sizes(groups, rows)


def mixed(number):
    """splitmix64: the same rows on every machine."""
    z = number * 0x9E3779B97F4A7C15 & 2**64 - 1
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & 2**64 - 1
    z = (z ^ z >> 27) * 0x94D049BB133111EB & 2**64 - 1
    return z ^ z >> 31


def skewed_sizes(groups, rows):
    """Zipf's law. Large groups lie among small ones."""
    harmonic = sum(1 / rank for rank in range(1, groups + 1))
    shares = [rows / harmonic / rank for rank in range(1, groups + 1)]
    sizes = [int(share) for share in shares]
    by_rest = sorted(range(groups), key=lambda rank: (sizes[rank] - shares[rank], rank))
    for rank in by_rest[: rows - sum(sizes)]:
        sizes[rank] += 1
    step = max(1, int(groups * 0.618))
    while math.gcd(step, groups) != 1:
        step += 1
    spread = [0] * groups
    for rank, size in enumerate(sizes):
        spread[rank * step % groups] = size
    return spread


# ---- operands and calls --------------------------------------------------------------------------


class Problem:
    """Operands of a row in several sets, and the calls that are timed. Lists have an entry per set."""

    element_bytes: int  # of a and b

    def __init__(self, row, device):
        self.row, self.device = row, device
        self.place = "cpu" if device else "cuda"
        self.sizes = group_sizes(row.sizes, row.groups, row.rows)
        self.active = sum(size > 0 for size in self.sizes)
        counts = torch.tensor(self.sizes, dtype=torch.int32)
        self.offs = (counts if row.room else counts.cumsum(0, dtype=torch.int32)).to(self.place)
        self.sets = self.number_of_sets()
        shape = (row.groups, row.room) if row.room else (row.rows,)
        self.a = [self.random((*shape, row.k)) for _ in range(self.sets)]
        self.w = [self.random((row.groups, row.n, row.k)) for _ in range(self.sets)]
        self.d = [torch.zeros((*shape, row.n), dtype=torch.bfloat16, device=self.place) for _ in range(self.sets)]

    def number_of_sets(self):
        of_all_groups = self.bytes + self.weight_bytes * (self.row.groups - self.active) // self.active
        most = min(MOST_BYTES // of_all_groups, MOST_SETS)
        return 1 if self.device else max(1, min(math.ceil(SET_BYTES / self.bytes), most))

    @property
    def weight_bytes(self):
        """Of groups that have rows."""
        return self.element_bytes * self.active * self.row.n * self.row.k

    @property
    def bytes(self):
        """What a call reads and writes."""
        return self.weight_bytes + self.row.rows * (self.element_bytes * self.row.k + 2 * self.row.n)

    @property
    def is_bound_by_weights(self):
        """By an H200's rates: a byte takes as long as 200 operations in bf16."""
        operations = 2 * self.row.rows * self.row.n * self.row.k
        return self.weight_bytes > self.bytes / 2 and self.bytes * 400 // self.element_bytes > operations

    @property
    def estimate(self):
        """Microseconds of a call, roughly."""
        operations = 2 * self.row.rows * self.row.n * self.row.k
        return 3 + max(self.bytes / 4e6, operations * self.element_bytes / 1.4e9)

    def calls(self):
        """In a graph: every set serves as often."""
        return 1 if self.device else self.sets * math.ceil(GRAPH_TIME / self.estimate / self.sets)

    def has_dense(self):
        return not self.row.room and self.row.rows >= 512 * self.row.groups

    def parts(self):
        """Places of rows, with their group."""
        begin = 0
        for group, size in enumerate(self.sizes):
            place = (group, slice(size)) if self.row.room else slice(begin, begin + size)
            if size:
                yield group, place
            begin += size

    def random(self, shape):
        raise NotImplementedError


class Bf16(Problem):
    element_bytes = 2

    def random(self, shape):
        return torch.empty(shape, dtype=torch.bfloat16, device=self.place).normal_()

    def sides(self):
        sides = {"jitgemm": self.ours, "torch": self.theirs, "serial": self.serial}
        if not self.device:
            sides["forked"] = self.forked
        if self.has_dense():
            sides["dense"] = self.dense
        return sides

    def expected(self):
        return self.theirs(0)

    def ours(self, i):
        return jg.grouped_matmul(self.a[i], self.w[i].mT, self.offs, out=self.d[i], device=self.device)

    def theirs(self, i):
        return functional.grouped_mm(self.a[i], self.w[i].mT, offs=self.offs)

    @cached_property
    def products(self):
        """Operands of each group that has rows."""
        return [
            [(a[place], w[group].T, d[place]) for group, place in self.parts()]
            for a, w, d in zip(self.a, self.w, self.d, strict=True)
        ]

    def serial(self, i):
        for a, b, d in self.products[i]:
            torch.mm(a, b, out=d)
        return self.d[i]

    def forked(self, i):
        current, streams = torch.cuda.current_stream(), side_streams()
        for stream in streams:
            stream.wait_stream(current)
        by_size = sorted(self.products[i], key=lambda product: -product[0].shape[0])
        for place, (a, b, d) in enumerate(by_size):
            with torch.cuda.stream(streams[place % STREAMS]):
                torch.mm(a, b, out=d)
        for stream in streams:
            current.wait_stream(stream)
        return self.d[i]

    def dense(self, i):
        return jg.matmul(self.a[i], self.w[i][0].T, out=self.d[i], device=self.device)


@cache
def side_streams():
    return [torch.cuda.Stream() for _ in range(STREAMS)]


class E4m3(Problem):
    """Scales of a lie as kernels read them fastest: rows side by side. Those of b lie as the weights do."""

    element_bytes = 1

    def __init__(self, row, device):
        super().__init__(row, device)
        blocks = math.ceil(row.k / 128)
        lie = (row.groups, row.room) if row.room else (row.rows,)
        of_a = [self.random_scales((blocks, *lie)) for _ in range(self.sets)]
        self.scale_a = [scale.permute(*range(1, scale.dim()), 0) for scale in of_a]
        shape = (row.groups, math.ceil(row.n / 128), blocks)
        self.scale_b = [self.random_scales(shape).mT for _ in range(self.sets)]

    def random(self, shape):
        return torch.empty(shape, dtype=torch.bfloat16, device=self.place).normal_().to(torch.float8_e4m3fn)

    def random_scales(self, shape):
        return torch.rand(shape, device=self.place) + 0.5

    def sides(self):
        return {"jitgemm": self.ours, **({"dense": self.dense} if self.has_dense() else {})}

    def ours(self, i):
        scales = {"scale_a": (self.scale_a[i], "1x128"), "scale_b": (self.scale_b[i], "128x128")}
        # With room, the mean is less than the default.
        rows = math.ceil(self.row.rows / self.row.groups) if self.row.room else None
        return jg.grouped_matmul(
            self.a[i], self.w[i].mT, self.offs, out=self.d[i], expected_rows=rows, device=self.device, **scales
        )

    def dense(self, i):
        scales = (self.scale_a[i], "1x128"), (self.scale_b[i][0], "128x128")
        return jg.scaled_matmul(self.a[i], self.w[i][0].T, *scales, out=self.d[i], device=self.device)

    def expected(self):
        """In f32, of the scaled operands."""
        d = torch.zeros(self.d[0].shape, device=self.place)
        for group, place in self.parts():
            a = self.a[0][place].float() * wide(self.scale_a[0][place], 1)[:, : self.row.k]
            w = wide(wide(self.scale_b[0][group].mT, 0), 1)[: self.row.n, : self.row.k]
            d[place] = a @ (self.w[0][group].float() * w).T
        return d


def wide(scales, dimension):
    return scales.repeat_interleave(128, dimension)


KINDS = {"bf16": Bf16, "e4m3": E4m3}


def error_of(problem, d, expected):
    """The largest difference of each row, as a share of its largest element; of the worst row."""
    worst = 0.0
    for _, place in problem.parts():
        exact = expected[place].float()
        difference = (d[place].float() - exact).abs().amax(-1)
        worst = max(worst, (difference / exact.abs().amax(-1)).nan_to_num(math.inf).max().item())
    return worst
