#!/usr/bin/env python3
"""MLPs of jitgemm.torch beside PyTorch and torch.compile: a gated one, and one with GELU.

    python3 bench/mlp.py [--rows 1,16,512,4096] [--max-autotune] [--layers gated,gelu] [--passes forward,training]
                         [--rounds 15] [--device emulator] [--json FILE]

Needs torch and jitgemm. The gated MLP is Llama-3.1-8B's: silu(gate) * up, 4096 features, 14336 hidden ones. The other
one is BERT-large's: 1024 features, 4096 hidden ones, GELU by erf, 8192 rows. Weights and inputs are random, in bf16.

The pass `forward` has no gradients. `training` is forward and backward, with gradients of x and of all weights.
`graph` replays CUDA graphs, `eager` enqueues each call. Sides take turns, and a time is the median of the rounds.
--max-autotune adds torch.compile with mode="max-autotune-no-cudagraphs", which compiles for minutes. The speed-up over
torch.compile is the one over its faster mode.

Errors are the largest difference from the same layer in f32, as a share of the largest element; of all gradients, the
worst one counts. The exit status is 1 where jitgemm's error is more than twice PyTorch's. To tune the kernels, set
JITGEMM_RECORD=FILE, and give the file to `jitgemm tune --shapes`. On the emulator sizes are tiny, types are f32, and
times say nothing.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jitgemm.torch
import torch
from _timing import geometric_mean
from torch.nn import functional as F

GATED = {"features": 4096, "hidden": 14336}
GELU = {"features": 1024, "hidden": 4096}
GELU_ROWS = 8192
TINY = {"features": 16, "hidden": 48}
GRAPH_MS = 5.0  # a graph repeats its call for about so long
MOST_CALLS = 40
SLACK = 1e-5  # of an error in f32, which both sides may have


class Side(NamedTuple):
    name: str
    layer: Callable[..., torch.Tensor]
    leaves: tuple[torch.Tensor, ...]  # arguments of the layer, x first


# ---- layers --------------------------------------------------------------------------------------


def gated(x, gate, up, down):
    return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)


def gelu(x, weight, bias, down, down_bias):
    return F.linear(F.gelu(F.linear(x, weight, bias)), down, down_bias)


def gelu_of_jitgemm(x, weight, bias, down, down_bias, device=None):
    hidden = jitgemm.torch.linear(x, weight, bias, activation="gelu_erf", device=device)
    return jitgemm.torch.linear(hidden, down, down_bias, device=device)


class Problem:
    """A layer with its weights and input in f32, and the sides that compute it."""

    def __init__(self, name, rows, options):
        torch.manual_seed(0)
        self.name, self.rows, self.device = name, rows, options.device
        self.on_gpu = options.device is None
        sizes = TINY if not self.on_gpu else GATED if name == "gated" else GELU
        features, hidden = sizes["features"], sizes["hidden"]
        x, slope = self.random(rows, features), self.random(rows, features)
        down = self.random(features, hidden, scale=hidden**-0.5)
        if name == "gated":
            self.stacked = self.random(2 * hidden, features, scale=features**-0.5)
            self.leaves = (x, self.stacked[:hidden], self.stacked[hidden:], down)
            self.layer, ours = gated, jitgemm.torch.gated_mlp
            self.our_leaves = (x, self.stacked, down)
        else:
            weight = self.random(hidden, features, scale=features**-0.5)
            self.leaves = (x, weight, self.random(hidden), down, self.random(features))
            self.layer, ours = gelu, gelu_of_jitgemm
            self.our_leaves = self.leaves
        self.ours = partial(ours, device=options.device)
        self.slope = slope

    def random(self, *shape, scale=1.0):
        """Of bf16's numbers, also where it is f32."""
        return (torch.randn(shape, device="cuda" if self.on_gpu else "cpu") * scale).bfloat16().float()

    def typed(self, leaves, training):
        dtype = torch.bfloat16 if self.on_gpu else torch.float32
        return tuple(leaf.to(dtype).detach().requires_grad_(training) for leaf in leaves)

    def sides(self, modes, training):
        theirs = self.typed(self.leaves, training)
        found = [Side("torch", self.layer, theirs)]
        for name, options in modes.items():
            found.append(Side(name, torch.compile(self.layer, fullgraph=True, dynamic=False, **options), theirs))
        return [*found, Side("jitgemm", self.ours, self.typed(self.our_leaves, training))]

    def call(self, side, training):
        """A function without arguments: the result, and gradients of all leaves in training."""
        slope = self.slope.to(side.leaves[0].dtype)

        def forward():
            with torch.no_grad():
                return (side.layer(*side.leaves),)

        def both():
            d = side.layer(*side.leaves)
            return (d.detach(), *torch.autograd.grad(d, side.leaves, slope))

        return both if training else forward

    def one_by_one(self, results, count):
        """As PyTorch's layer has them: jitgemm's gradients of gate and up are one tensor."""
        if len(results) == count:
            return results
        d, of_x, of_stacked, of_down = results
        return (d, of_x, *of_stacked.chunk(2), of_down)

    def errors(self, calls, training):
        exact = Side("f32", self.layer, tuple(leaf.detach().requires_grad_(training) for leaf in self.leaves))
        expected = self.call(exact, training)()
        return [
            max(
                ((d.float() - right).abs().max() / right.abs().max()).item()
                for d, right in zip(self.one_by_one(call(), len(expected)), expected, strict=True)
            )
            for call in calls
        ]


# ---- times ---------------------------------------------------------------------------------------


def graph_of(call, count):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):  # the stream of the calls before: its workspace is there
        for _ in range(count):
            call()
    return graph.replay


def bursts(call, count):
    def burst():
        for _ in range(count):
            call()

    return burst


def milliseconds(call, on_gpu):
    """From an idle GPU to an idle GPU."""
    if on_gpu:
        torch.cuda.synchronize()
    begin = time.perf_counter()
    call()
    if on_gpu:
        torch.cuda.synchronize()
    return (time.perf_counter() - begin) * 1e3


def in_turns(calls, count, rounds, on_gpu):
    """Medians of each, per call. Every second round has the opposite order."""
    times: list[list[float]] = [[] for _ in calls]
    for round_number in range(rounds + 1):  # the first one warms up
        order = list(zip(calls, times, strict=True))
        for call, of_call in order if round_number % 2 else reversed(order):
            taken = milliseconds(call, on_gpu) / count
            if round_number:
                of_call.append(taken)
    return [statistics.median(of_call) for of_call in times]


def measure(problem, one_pass, options):
    """Rows of a problem and a pass, one for each way."""
    training = one_pass == "training"
    torch._dynamo.reset()
    begin = time.perf_counter()
    sides = problem.sides(modes_of(options), training)
    calls = [problem.call(side, training) for side in sides]
    errors = problem.errors(calls, training)
    prepared = time.perf_counter() - begin
    calls[0]()
    count = max(1, min(MOST_CALLS, round(GRAPH_MS / milliseconds(calls[0], problem.on_gpu)))) if problem.on_gpu else 1
    ways = {"eager": [bursts(call, count) for call in calls]}
    if problem.on_gpu:
        ways["graph"] = [graph_of(call, count) for call in calls]
    rows = []
    for way, repeated in ways.items():
        times = in_turns(repeated, count, options.rounds if problem.on_gpu else 1, problem.on_gpu)
        row: dict[str, Any] = {"layer": problem.name, "rows": problem.rows, "pass": one_pass, "way": way}
        row["us"] = {side.name: 1e3 * of_side for side, of_side in zip(sides, times, strict=True)}
        row["errors"] = {side.name: error for side, error in zip(sides, errors, strict=True)}
        row["ok"] = row["errors"]["jitgemm"] <= 2 * row["errors"]["torch"] + SLACK
        row["prepared_s"] = prepared
        rows.append(row)
    return rows


def modes_of(options):
    if options.device is not None:
        return {"compile": {"backend": "aot_eager"}}
    modes: dict[str, dict[str, str]] = {"compile": {}}
    if options.max_autotune:
        modes["autotuned"] = {"mode": "max-autotune-no-cudagraphs"}
    return modes


# ---- the table -----------------------------------------------------------------------------------


def over_torch(row):
    return row["us"]["torch"] / row["us"]["jitgemm"]


def over_compile(row):
    return min(row["us"][name] for name in ("compile", "autotuned") if name in row["us"]) / row["us"]["jitgemm"]


def show_header(options):
    names = ["torch", *modes_of(options), "jitgemm"]
    print(
        f"{'layer':6} {'rows':>5} {'pass':9} {'way':6}" + "".join(f" {name + '_us':>12}" for name in names),
        " over_torch  over_compile  torch_error  jitgemm_error  prepared_s",
    )


def show(row):
    print(
        f"{row['layer']:6} {row['rows']:5} {row['pass']:9} {row['way']:6}"
        + "".join(f" {of_side:12.2f}" for of_side in row["us"].values())
        + f" {over_torch(row):11.3f} {over_compile(row):13.3f} {row['errors']['torch']:12.1e} "
        + f"{row['errors']['jitgemm']:14.1e} {row['prepared_s']:11.1f}{'' if row['ok'] else '   too large'}",
        flush=True,
    )


def show_mean(what, rows, ratio, goal=None):
    if rows:
        ratios = [ratio(row) for row in rows]
        wanted = "" if goal is None else f" (goal {goal})"
        print(f"{what}: geometric mean {geometric_mean(ratios):.3f}, least {min(ratios):.3f}{wanted}")


def show_means(rows):
    """The figures of gated MLPs, and the same for the rest."""
    for layer in ("gated", "gelu"):
        for one_pass in ("forward", "training"):
            chosen = [row for row in rows if (row["layer"], row["pass"]) == (layer, one_pass)]
            goals = {"few": 1.03, "many": 1.06, "eager": 1.1} if layer == "gated" else {}
            graphs = [row for row in chosen if row["way"] == "graph"]
            few, many = ([row for row in graphs if (row["rows"] <= 16) == is_few] for is_few in (True, False))
            eager = [row for row in chosen if row["way"] == "eager"]
            named = f"{layer}, {one_pass}"
            show_mean(f"{named}, graphs, up to 16 rows, over torch.compile", few, over_compile, goals.get("few"))
            show_mean(f"{named}, graphs, more rows, over torch.compile", many, over_compile, goals.get("many"))
            show_mean(f"{named}, graphs, over torch", graphs, over_torch)
            show_mean(f"{named}, eager, over torch", eager, over_torch, goals.get("eager"))


def parsed_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="1,16,512,4096", help="of the gated MLP")
    parser.add_argument("--gelu-rows", type=int, default=GELU_ROWS)
    parser.add_argument("--layers", default="gated,gelu")
    parser.add_argument("--passes", default="forward,training")
    parser.add_argument("--max-autotune", action="store_true")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--device", help="emulator, emulator:ARCH; the current GPU unless it is given")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def main():
    options = parsed_arguments()
    where = torch.cuda.get_device_name() if options.device is None else options.device
    print(f"{where}, torch {torch.__version__}, jitgemm {jitgemm.__version__}")
    show_header(options)
    shapes = [("gated", int(rows)) for rows in options.rows.split(",")] + [("gelu", options.gelu_rows)]
    rows = []
    for name, count in shapes:
        if name not in options.layers.split(","):
            continue
        problem = Problem(name, count, options)
        for one_pass in options.passes.split(","):
            for row in measure(problem, one_pass, options):
                show(row)
                rows.append(row)
    show_means(rows)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"device": where, "torch": torch.__version__, "rows": rows}, file, indent=1)
    return 0 if all(row["ok"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
