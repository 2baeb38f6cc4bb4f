#!/usr/bin/env python3
"""A kernel set beside the kernels that are chosen for each m: how many kernels it has, and what they cost.

    python3 bench/kernel_sets.py [--values 200] [--candidates 0] [--n 6144] [--k 4096] [--last-m 8192]
                                 [--seed 38] [--rounds 15] [--device emulator:sm_90a] [--json FILE]

Needs torch and jitgemm. The problem is bf16 tn. The values of m are drawn evenly in their logarithm, each once. For
each of them, the set's kernel and the chosen one run in CUDA graphs that take turns. Weights rotate, so that they don't
stay in L2. The ratio is the chosen kernel's time over the set's. It is 1 where both are one kernel.

The chosen kernel is the one that `jitgemm.kernel` takes: a tuned one where the tuning store has it, else the
heuristic's choice. --candidates N also times the N kernels that are predicted best, and takes the fastest as chosen.
The times that count are then measured anew. A set that `jitgemm kernels tune` has stored is taken as it is. The exit
status is 1 where a result of the set is wrong.

On the emulator, take small sizes (--n 96 --k 64 --last-m 64 --values 3). Its times say nothing.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import jitgemm as jg
import torch
from _timing import geometric_mean

COPIES = 4  # of the weights: 200 MB, four times an H200's L2
GRAPH_US = 600.0  # a graph repeats its kernel for about so long
WORST_SHOWN = 12
WORST_ERROR = 0.01  # of the largest element: bf16 keeps 8 bits
GOAL_KERNELS, GOAL_MEAN, GOAL_WORST = 10, 0.97, 0.90


class Timed(NamedTuple):
    m: int
    of_set: str
    chosen: str
    set_us: float
    chosen_us: float

    @property
    def ratio(self):
        return self.chosen_us / self.set_us


# ---- kernels -------------------------------------------------------------------------------------


def values_of_m(options):
    """Distinct, in ascending order. 1 and the last one are among them."""
    draw = random.Random(options.seed)
    count = min(options.values, options.last_m)
    chosen = {1, options.last_m}
    while len(chosen) < count:
        chosen.add(round(math.exp(draw.uniform(0, math.log(options.last_m)))))
    return sorted(chosen)


def problem(options, m):
    return f"bf16 tn {m} {options.n} {options.k}"


def names_to_time(options, m):
    """The default choice, and those that are predicted best."""
    chosen = jg.kernel(problem(options, m), device=options.device).name
    if not options.candidates:
        return [chosen]
    gpu = None if options.device is None else "h200"
    listed = jg.list(problem(options, m), limit=options.candidates, gpu=gpu)["candidates"]
    return list(dict.fromkeys([chosen, *(candidate["kernel"] for candidate in listed)]))


def named(options, m, name):
    return jg.kernel(problem(options, m), kernel=name, device=options.device)


def set_and_names(options, values):
    """The set, and the names to time for each m. Their kernels are compiled on all cores, and loaded."""
    if options.device is None:
        jg.warm([f"bf16 tn m=1:{options.last_m} n={options.n} k={options.k}"])
        jg.warm([problem(options, m) for m in values])
    few = jg.kernels(problem(options, 1), m=(1, options.last_m), device=options.device)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        names = list(pool.map(lambda m: names_to_time(options, m), values))
        candidates = {name: m for m, of_m in zip(values, names, strict=True) for name in of_m[1:]}
        if options.device is None:  # each in a process of its own
            list(pool.map(lambda name: jg.warm(problem(options, candidates[name]), kernel=name, jobs=1), candidates))
    return few, names


# ---- times ---------------------------------------------------------------------------------------


class Operands:
    """Copies that launches take in turns."""

    def __init__(self, options):
        where = "cuda" if options.device is None else "cpu"

        def drawn(*shape):
            return torch.randn(shape, device=where, dtype=torch.bfloat16)

        self.copies = COPIES if options.device is None else 1
        self.x = [drawn(options.last_m, options.k) for _ in range(self.copies)]
        self.weights = [drawn(options.n, options.k) for _ in range(self.copies)]
        self.d = [drawn(options.last_m, options.n) for _ in range(self.copies)]

    def call(self, kernel, m, launches):
        def run():
            for launch in range(launches):
                i = launch % self.copies
                kernel(self.x[i][:m], self.weights[i].T, out=self.d[i][:m])

        return run

    def error(self, kernel, m):
        """The largest difference from PyTorch's product, as a share of its largest element."""
        expected = (self.x[0][:m] @ self.weights[0].T).float()
        kernel(self.x[0][:m], self.weights[0].T, out=self.d[0][:m])
        return ((self.d[0][:m].float() - expected).abs().max() / expected.abs().max()).item()


def launches_of(options, m):
    """In a graph: multiples of the number of copies."""
    if options.device is not None:
        return 1
    moved = 2 * (m * options.k + options.n * options.k + m * options.n)
    expected_us = 3 + max(moved / 4e6, 2 * m * options.n * options.k / 7e8)
    return COPIES * max(1, min(12, round(GRAPH_US / expected_us / COPIES)))


class Stream:
    """Warm-up and capture have one stream: the context keeps a workspace for each."""

    def __init__(self):
        self.side = torch.cuda.Stream()

    def graph_of(self, run):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            run()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self.side):
            run()
        return graph.replay


def microseconds(replay, on_gpu):
    if not on_gpu:
        begin = time.perf_counter()
        replay()
        return (time.perf_counter() - begin) * 1e6
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3


def in_turns(replays, launches, rounds, on_gpu):
    """Medians of each, per launch. Every second round has the opposite order."""
    times: list[list[float]] = [[] for _ in replays]
    for round_number in range(rounds + 1 if on_gpu else 1):  # the first one warms up
        order = list(zip(replays, times, strict=True))
        for replay, of_one in order if round_number % 2 else reversed(order):
            taken = microseconds(replay, on_gpu) / launches
            if round_number or not on_gpu:
                of_one.append(taken)
    return [statistics.median(of_one) for of_one in times]


def measure(options, operands, stream, few, m, names):
    on_gpu, launches = options.device is None, launches_of(options, m)
    of_set = few.kernel(m)
    names = list(dict.fromkeys([of_set.name, *names]))
    if len(names) == 1:
        return Timed(m, of_set.name, of_set.name, 1.0, 1.0)
    kernels = [of_set, *(named(options, m, name) for name in names[1:])]
    runs = [operands.call(kernel, m, launches) for kernel in kernels]
    replays = [stream.graph_of(run) for run in runs] if on_gpu else runs
    fastest = 1
    if len(names) > 2:  # the fastest of many looks faster than it is, so it runs again
        times = in_turns(replays, launches, max(3, options.rounds // 3), on_gpu)
        fastest = min(range(len(times)), key=times.__getitem__)
    if fastest == 0:
        return Timed(m, of_set.name, of_set.name, 1.0, 1.0)
    set_us, chosen_us = in_turns([replays[0], replays[fastest]], launches, options.rounds, on_gpu)
    return Timed(m, of_set.name, names[fastest], set_us, chosen_us)


# ---- the table -----------------------------------------------------------------------------------


def show(options, few, rows, chosen_names):
    compiled = {kernel["body"] for kernel in few.json["kernels"]}
    ratios = [row.ratio for row in rows]
    by_ratio = sorted(rows, key=lambda row: row.ratio)
    mean, least = geometric_mean(ratios), by_ratio[0]
    print(f"{'m':>6} {'set, us':>9} {'chosen, us':>10} {'ratio':>6}  the set's kernel, the chosen kernel")
    for row in by_ratio[:WORST_SHOWN]:
        print(f"{row.m:6} {row.set_us:9.2f} {row.chosen_us:10.2f} {row.ratio:6.3f}  {row.of_set}\n{'':36}{row.chosen}")
    below = sum(ratio < GOAL_WORST for ratio in ratios)
    same = sum(row.of_set == row.chosen for row in rows)
    print(
        f"m = 1 ... {options.last_m}, n = {options.n}, k = {options.k}, bf16 tn, {len(rows)} values of m, seed "
        f"{options.seed}; both are one kernel for {same} of them\n"
        f"the set: {len(few.names)} kernels, {len(compiled)} of them compiled (goal: {GOAL_KERNELS})\n"
        f"one choice per m: {len(chosen_names)} kernels\n"
        f"ratio: geometric mean {mean:.4f} (goal {GOAL_MEAN}), worst {least.ratio:.3f} at m = {least.m} (goal "
        f"{GOAL_WORST}), {below} below {GOAL_WORST}"
    )
    return {"kernels": len(few.names), "compiled": len(compiled), "mean": mean, "worst": least.ratio, "at": least.m}


def parsed_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("n", 6144), ("k", 4096), ("last-m", 8192), ("values", 200), ("candidates", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seed", type=int, default=38)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--device", help="emulator:ARCH; the current GPU unless it is given")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def main():
    options = parsed_arguments()
    where = torch.cuda.get_device_name() if options.device is None else options.device
    print(f"{where}, jitgemm {jg.__version__}, torch {torch.__version__}")
    begin = time.perf_counter()
    values = values_of_m(options)
    few, names = set_and_names(options, values)
    print(f"kernels are ready after {time.perf_counter() - begin:.1f} s", flush=True)
    operands = Operands(options)
    stream = Stream() if options.device is None else None
    rows = [measure(options, operands, stream, few, m, of_m) for m, of_m in zip(values, names, strict=True)]
    wrong = [m for m in values if not operands.error(few.kernel(m), m) < WORST_ERROR]
    summary = show(options, few, rows, {of_m[0] for of_m in names})
    print(f"wrong results at m = {wrong}" if wrong else "all results of the set are right")
    print(f"took {time.perf_counter() - begin:.1f} s")
    if options.json:
        with open(options.json, "w") as file:
            measured = [{**row._asdict(), "ratio": row.ratio} for row in rows]
            json.dump({"device": where, **summary, "rows": measured, "set": few.json}, file, indent=1)
    return 1 if wrong else 0


if __name__ == "__main__":
    with torch.no_grad():
        sys.exit(main())
