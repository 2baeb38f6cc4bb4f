#!/usr/bin/env python3
"""Products of groups of rows: jitgemm.grouped_matmul beside PyTorch and cuBLAS.

    python3 bench/grouped.py [--rows REGEX] [--seconds 600] [--rounds 9] [--tune 20s] [--json FILE]
                             [--device emulator:sm_90a]

Needs torch 2.10 and jitgemm, and a GPU. CuPy gives the column `read`. A row of the table is a problem: type, how the
sizes of groups are drawn, groups, rows of all groups, n, k. Weights have the shape (groups, n, k). Rows of e4m3 have
scales of 1x128 for a and of 128x128 for the weights. With room, each group has room for that number of rows.

Columns are microseconds per call:

    torch    torch.nn.functional.grouped_mm. With these scales of e4m3, PyTorch has no such function
    serial   cuBLAS: a torch.mm per group that has rows, one after the other. The host knows the sizes
    forked   the same in eight streams, the largest groups first
    read     a kernel that reads as many bytes as the weights of these groups have, where that bounds the call
    dense    one product of jitgemm with as many operations, where groups have 512 rows or more on average

A speed-up is such a time over jitgemm's. Calls are CUDA graphs over rotating operands, 200 MB or more in all. The sides
take turns, and the median of the rounds counts. On the emulator problems are tiny, and times say nothing.

--rows takes problems by a regular expression, which is searched in "class: row". After --seconds no further row is
begun. With --tune, jitgemm searches that long for the fastest kernel of each problem, and keeps the winner on disk. The
exit status is 1 where a result is wrong, or where a row can't be measured.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import jitgemm as jg
import torch
from _groups import KINDS, ROWS, TINY, class_of, error_of
from _timing import eager_time, geometric_mean, graph_of, graph_time, in_turns

WORST_ERROR = 0.01  # of a row's largest element: bf16 keeps 8 bits
WORST_OF_CUBLAS = 0.03  # which may add partial sums in bf16
OTHERS = ("torch", "serial", "forked", "read", "dense")


# ---- a kernel that only reads --------------------------------------------------------------------

# The loads of bench/read_floor.cu. A sum that no data has keeps them all.
READ = """
extern "C" __global__ void __launch_bounds__(512)
read(const uint4* data, unsigned long long vectors, unsigned* sink) {
    const unsigned long long threads = 1ull * gridDim.x * blockDim.x;
    const unsigned long long first = 1ull * blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (unsigned long long at = first; at < vectors; at += threads * IN_FLIGHT) {
        uint4 loaded[IN_FLIGHT];
#pragma unroll
        for (int i = 0; i < IN_FLIGHT; ++i)
            loaded[i] = at + i * threads < vectors ? __ldcs(data + at + i * threads) : uint4{0, 0, 0, 0};
#pragma unroll
        for (int i = 0; i < IN_FLIGHT; ++i) sum ^= loaded[i].x ^ loaded[i].y ^ loaded[i].z ^ loaded[i].w;
    }
    if (sum == 0x9e3779b9u) *sink = sum;
}
"""


class Reader:
    def __init__(self):
        import cupy

        self.stream = cupy.cuda.ExternalStream
        self.kernels = [cupy.RawKernel(READ, "read", options=(f"-DIN_FLIGHT={count}",)) for count in (4, 8)]
        for kernel in self.kernels:
            kernel.compile()
        self.sink = torch.zeros(1, dtype=torch.int32, device="cuda")
        processors = torch.cuda.get_device_properties("cuda").multi_processor_count
        sizes = ((2, 256), (2, 512), (4, 256), (4, 512), (8, 256))  # blocks per multiprocessor, threads
        self.grids = [(processors * blocks, threads) for blocks, threads in sizes]

    def read(self, kernel, blocks, threads, problem, i):
        arguments = (problem.w[i].data_ptr(), problem.weight_bytes // 16, self.sink.data_ptr())
        with self.stream(torch.cuda.current_stream().cuda_stream):
            kernel((blocks,), (threads,), arguments)

    def fastest(self, problem):
        """A call by the grid that is fastest for this number of bytes."""
        calls = {}
        for kernel in self.kernels:
            for blocks, threads in self.grids:
                call = partial(self.read, kernel, blocks, threads, problem)
                graph = graph_of(call, problem.sets, problem.calls())
                calls[min(graph_time(graph, problem.calls()) for _ in range(3))] = call
        return calls[min(calls)]


def reader():
    try:
        return Reader()
    except Exception as error:  # whatever keeps CuPy from compiling is no matter of ours
        print(f"the column read is empty: {error}")
        return None


# ---- the table -----------------------------------------------------------------------------------


def tune(problem, budget, tuned):
    """Searches kernels for what the calls of jitgemm ask for, unless an earlier row asked for it."""
    sides = problem.sides()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problems.txt"
        with jg.record(path):
            for name in {"jitgemm", "dense"} & sides.keys():
                sides[name](0)
        lines = path.read_text().splitlines() if path.exists() else []
    asked = [line for line in lines if line.strip() and not line.startswith("#") and line not in tuned]
    tuned.update(asked)
    if asked:
        jg.tune(asked, budget=budget)


def measure(row, options, reads, tuned):
    problem = KINDS[row.kind](row, options.device)
    if options.tune:
        tune(problem, options.tune, tuned)
    sides, expected = problem.sides(), problem.expected()
    checked = [name for name in sides if name not in ("torch", "dense")]
    errors = {name: error_of(problem, sides[name](0), expected) for name in checked}
    del expected
    if reads and problem.is_bound_by_weights:
        sides["read"] = reads.fastest(problem)
    calls = problem.calls()
    if options.device:
        timers = {name: partial(eager_time, call, 1, 1) for name, call in sides.items()}
    else:
        graphs = {name: graph_of(call, problem.sets, calls) for name, call in sides.items()}
        timers = {name: partial(graph_time, graph, calls) for name, graph in graphs.items()}
    times = in_turns(timers, 1 if options.device else options.rounds)
    speedups = {name: times[name] / times["jitgemm"] for name in OTHERS if name in times}
    return {
        "row": str(row),
        "class": class_of(row),
        "sets": problem.sets,
        "calls": calls,
        "microseconds": times,
        "speedups": speedups,
        "errors": errors,
        "ok": errors["jitgemm"] <= WORST_ERROR and max(errors.values()) <= WORST_OF_CUBLAS,
    }


def measured(row, options, reads, tuned):
    """A row, which is printed."""
    try:
        result = measure(row, options, reads, tuned)
    except (RuntimeError, ValueError, jg.Error) as error:
        result = {"row": str(row), "class": class_of(row), "left_out": " ".join(str(error).split()), "ok": False}
    if "left_out" in result:
        print(f"{result['row']:38} left out: {result['left_out']}", flush=True)
    else:
        show(result)
    if not options.device:
        torch.cuda.empty_cache()
    return result


def cells(values, names, width, digits):
    return "".join(f"{values[name]:{width}.{digits}f}" if name in values else " " * width for name in names)


def show(result):
    print(
        f"{result['row']:38}{cells(result['microseconds'], ('jitgemm', *OTHERS), 9, 1)} |"
        f"{cells(result['speedups'], OTHERS, 7, 2)} {result['errors']['jitgemm']:8.0e}"
        f"{'' if result['ok'] else '   wrong'}",
        flush=True,
    )


def means_of(results):
    """Numbers of rows and geometric means, by class. Dense products in bf16 have a class of their own."""
    classes = {}
    for result in results:
        speedups = {**result.get("speedups", {})}
        own = {"dense": speedups.pop("dense")} if result["class"] != "e4m3" and "dense" in speedups else {}
        for name, of_class in ((result["class"], speedups), ("dense", own)):
            classes.setdefault(name, []).extend([of_class] if of_class else [])
    classes["dense"] = classes.pop("dense", [])  # the last one
    return {name: mean_of(all_speedups) for name, all_speedups in classes.items() if all_speedups}


def mean_of(all_speedups):
    by_side = {name: [each[name] for each in all_speedups if name in each] for name in OTHERS}
    return {"rows": len(all_speedups), **{name: geometric_mean(each) for name, each in by_side.items() if each}}


def show_means(results):
    print(f"\n{'geometric means of speed-ups':38} rows{''.join(f'{name:>7}' for name in OTHERS)}")
    for name, mean in means_of(results).items():
        print(f"{name:38} {mean['rows']:4}{cells(mean, OTHERS, 7, 2)}")


def write(path, results, options):
    facts = {
        "device": options.device or torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "jitgemm": jg.__version__,
    }
    path.write_text(json.dumps({**facts, "rows": results, "means": means_of(results)}, indent=1))


def parsed_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", metavar="REGEX", default="")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--tune", metavar="BUDGET", help="of each row: 20s, 2m")
    parser.add_argument("--json", metavar="FILE", type=Path, help="is written after each row")
    parser.add_argument("--device", help="emulator, emulator:ARCH; the current GPU unless it is given")
    return parser.parse_args()


def main():
    begin, options = time.perf_counter(), parsed_arguments()
    torch.manual_seed(0)
    where = options.device or torch.cuda.get_device_name()
    print(f"{where}, torch {torch.__version__}, jitgemm {jg.__version__}; microseconds | speed-ups, jitgemm's error")
    reads = None if options.device else reader()
    print(f"{'row':38}{''.join(f'{name:>9}' for name in ('jitgemm', *OTHERS))} |", end="")
    print(f"{''.join(f'{name:>7}' for name in OTHERS)}    error")
    rows = [row for row in (TINY if options.device else ROWS) if re.search(options.rows, f"{class_of(row)}: {row}")]
    results, tuned = [], set()
    for row in rows:
        if time.perf_counter() - begin > options.seconds:
            print(f"{row!s:38} left out: the time is over")
            continue
        results.append(measured(row, options, reads, tuned))
        if options.json:
            write(options.json, results, options)
    show_means(results)
    return 0 if all(result["ok"] for result in results) else 1


if __name__ == "__main__":
    with torch.no_grad():
        sys.exit(main())
