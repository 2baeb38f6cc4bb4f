#!/usr/bin/env python3
"""The cost of a call from Python, beside torch and Triton, of a request, and of a cached kernel in a new process.

    python3 bench/python_costs.py [--parts calls,requests,process] [--json FILE]

The script needs torch and jitgemm. Without Triton its rows are left out. Without a GPU there is one row of calls: a
product of no rows on the CPU, which costs what every call costs before its launch. The script takes a minute.

Microseconds from Python to the launch: bursts of calls are timed as they are enqueued. The GPU is idle before each
burst, and the product is so small that the queue never fills. The table has the median of the bursts and the fastest.
Microseconds of a request: a seeded trace of prompts and decoding steps asks for kernels and launches nothing, as
bench/serving.cpp does in C++. Each request is timed by itself. All kernels are there: with sets, one for each of eight
weights of Llama 3.1, a request is a look-up. `kernel(text)` asks for problems of one weight that are known by then. On
the emulator there is one small weight. `clock` is what the measurement itself costs.
Milliseconds of a new process: from the first line to a finished product. torch has made the CUDA context before.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
import time

CALLS, BURSTS = 200, 60
SIZE = 64
REQUESTS, MOST_ROWS = 20_000, 8192
GOAL_US = 5.0  # of a request's median
WEIGHTS = [  # n, k
    *((6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336)),
    *((10240, 8192), (8192, 8192), (57344, 8192), (8192, 28672)),
]


def burst_times(call, synchronize):
    for _ in range(20):
        call()
    times = []
    for _ in range(BURSTS):
        synchronize()
        begin = time.perf_counter()
        for _ in range(CALLS):
            call()
        times.append((time.perf_counter() - begin) / CALLS * 1e6)
    synchronize()
    return {"median_us": statistics.median(times), "fastest_us": min(times)}


def triton_launch(torch, a, b, d):
    """A launch with a product's arguments; what it computes costs the host nothing."""
    import triton
    import triton.language as tl

    source = (
        "import triton\nimport triton.language as tl\n\n"
        "@triton.jit\n"
        "def product(a, b, d, m, n, k, lda, ldb, ldd, BLOCK: tl.constexpr):\n"
        "    at = tl.arange(0, BLOCK)\n"
        "    tl.store(d + at, tl.load(a + at) + tl.load(b + at))\n"
    )
    folder = tempfile.mkdtemp()
    with open(f"{folder}/product_kernel.py", "w") as file:  # Triton reads a kernel's source from its file
        file.write(source)
    sys.path.insert(0, folder)
    from product_kernel import product

    assert triton and tl
    return lambda: product[(1,)](a, b, d, SIZE, SIZE, SIZE, SIZE, SIZE, SIZE, BLOCK=SIZE)


def cost_without_a_launch():
    import jitgemm as jg
    import torch

    b, none = torch.randn(SIZE, SIZE).T, torch.empty(0, SIZE)
    call = lambda: jg.matmul(none, b, out=none, device="emulator:sm_80")  # noqa: E731
    with torch.no_grad():
        return {"jitgemm.matmul(none, b, out=none), no launch": burst_times(call, lambda: None)}


def call_costs():
    import jitgemm as jg
    import jitgemm.torch
    import torch

    a = torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16)
    w = torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16)
    b, d = w.T, torch.empty(SIZE, SIZE, device="cuda", dtype=torch.bfloat16)
    bias = torch.randn(SIZE, device="cuda", dtype=torch.bfloat16)
    none = torch.empty(0, SIZE, device="cuda", dtype=torch.bfloat16)
    k = jg.kernel(f"bf16 tn {SIZE} {SIZE} {SIZE}")
    calls = {
        "jitgemm.matmul(a, b, out=d)": lambda: jg.matmul(a, b, out=d),
        "jitgemm.matmul(a, b)": lambda: jg.matmul(a, b),
        "jitgemm.kernel(...)(a, b, out=d)": lambda: k(a, b, out=d),
        "jitgemm.torch.linear(a, w)": lambda: jg.torch.linear(a, w),
        "jitgemm.torch.linear(a, w, bias)": lambda: jg.torch.linear(a, w, bias),
        "jitgemm.matmul(none, b, out=none), no launch": lambda: jg.matmul(none, b, out=none),
        "torch.ops.jitgemm.matmul(a, b)": lambda: torch.ops.jitgemm.matmul(a, b),
        "torch.mm(a, b, out=d)": lambda: torch.mm(a, b, out=d),
        "torch.mm(a, b)": lambda: torch.mm(a, b),
        "torch.nn.functional.linear(a, w)": lambda: torch.nn.functional.linear(a, w),
        "torch.nn.functional.linear(a, w, bias)": lambda: torch.nn.functional.linear(a, w, bias),
    }
    try:
        calls["triton, a kernel of nine arguments"] = triton_launch(torch, a, b, d)
    except Exception as error:  # whatever keeps Triton from starting is no matter of ours
        print(f"no Triton: {error}", file=sys.stderr)
    costs = {}
    with torch.no_grad():
        for name, call in calls.items():
            costs[name] = burst_times(call, torch.cuda.synchronize)
    return costs


# ---- requests ------------------------------------------------------------------------------------


def trace(weights, most_rows, seed=1):
    """Pairs of a weight and m: a step is a prompt, or one token for each of a number of sequences that wanders."""
    draw, requests, sequences = random.Random(seed), [], 16
    while len(requests) < REQUESTS:
        sequences = min(256, max(1, sequences + draw.randint(-2, 2)))
        prompt = round(draw.lognormvariate(math.log(400), 1.2))
        m = min(most_rows, max(1, prompt)) if draw.randrange(8) == 0 else min(most_rows, sequences)
        requests += [(weight, m) for weight in range(weights)]
    return requests[:REQUESTS]


def request_times(request, requests):
    """A first round warms up."""
    clock = time.perf_counter_ns
    for _ in range(2):
        times = []
        for of_one in requests:
            begin = clock()
            request(*of_one)
            times.append((clock() - begin) / 1e3)
    times.sort()
    return {
        "median_us": statistics.median(times),
        "p999_us": times[-len(times) // 1000],
        "p9999_us": times[-len(times) // 10000],
        "worst_us": times[-1],
    }


def request_costs(has_gpu):
    import jitgemm as jg

    device = None if has_gpu else "emulator:sm_90a"
    weights, most_rows = (WEIGHTS, MOST_ROWS) if has_gpu else ([(SIZE, 2 * SIZE)], 256)
    all_requests, of_one_weight = trace(len(weights), most_rows), trace(1, most_rows)
    n, k = weights[0]
    texts = {m: f"bf16 tn {m} {n} {k}" for _, m in of_one_weight}
    if has_gpu:  # on all cores
        jg.warm([f"bf16 tn m=1:{most_rows} n={n} k={k}" for n, k in weights])
        jg.warm(list(texts.values()))
    sets = [jg.kernels(f"bf16 tn 1 {n} {k}", m=(1, most_rows), device=device) for n, k in weights]
    look_ups = [of_one.kernel for of_one in sets]
    return {
        "clock": request_times(lambda weight, m: None, all_requests),
        "a kernel set's kernel(m)": request_times(lambda weight, m: look_ups[weight](m), all_requests),
        "kernel(text), the problem is known": request_times(
            lambda weight, m: jg.kernel(texts[m], device=device), of_one_weight
        ),
        "kernel(m=, n=, k=), the problem is known": request_times(
            lambda weight, m: jg.kernel(m=m, n=n, k=k, device=device), of_one_weight
        ),
    }


def show_requests(costs):
    print(f"\n{REQUESTS:,} requests without a launch, us{'':>18} median     99.9 %    99.99 %      worst")
    for name, cost in costs.items():
        print(f"  {name:<46} " + " ".join(f"{value:10.2f}" for value in cost.values()))
    quick = [name for name, cost in costs.items() if name != "clock" and cost["median_us"] < GOAL_US]
    print(f"  median below {GOAL_US:.0f} us: {'; '.join(quick) or 'none'}")


# ---- a new process -------------------------------------------------------------------------------


NEW_PROCESS = """
import json, time, torch
x = torch.ones(SIZE, SIZE, device="cuda", dtype=torch.bfloat16)
d = torch.empty_like(x)
torch.cuda.synchronize()
begin = time.perf_counter()
import jitgemm as jg
imported = time.perf_counter()
jg.matmul(x, x.T, out=d)
launched = time.perf_counter()
torch.cuda.synchronize()
done = time.perf_counter()
jg.matmul(x, x.T, out=d)
torch.cuda.synchronize()
again = time.perf_counter()
torch.mm(x, x.T, out=d)
torch.cuda.synchronize()
mm = time.perf_counter()
assert (d == SIZE).all()
print(json.dumps({"import_ms": 1e3 * (imported - begin), "first_call_ms": 1e3 * (launched - imported),
                  "until_done_ms": 1e3 * (done - launched), "second_call_ms": 1e3 * (again - done),
                  "first_torch_mm_ms": 1e3 * (mm - again)}))
"""


def new_process():
    """Medians of five processes, after one that fills the cache."""
    runs = []
    for _ in range(6):
        code = f"SIZE = {SIZE}\n{NEW_PROCESS}"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    return {field: statistics.median(run[field] for run in runs[1:]) for field in runs[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    parser.add_argument("--parts", default="calls,requests,process")
    arguments = parser.parse_args()
    parts = arguments.parts.split(",")

    import jitgemm
    import torch

    has_gpu = torch.cuda.is_available()
    costs = (call_costs() if has_gpu else cost_without_a_launch()) if "calls" in parts else {}
    print(
        f"{torch.cuda.get_device_name() if has_gpu else 'no GPU'}, jitgemm {jitgemm.__version__}, "
        f"torch {torch.__version__}, Python {sys.version.split()[0]}"
    )
    if costs:
        print(f"\nfrom Python to the launch, bf16 {SIZE}x{SIZE}x{SIZE}{'':>16} median     fastest")
    for name, cost in costs.items():
        print(f"  {name:<46} {cost['median_us']:7.2f} us {cost['fastest_us']:7.2f} us", flush=True)
    requests = request_costs(has_gpu) if "requests" in parts else {}
    if requests:
        show_requests(requests)
    first = new_process() if has_gpu and "process" in parts else {}
    if first:
        print("\na cached kernel in a new process whose CUDA context is there")
    for field, value in first.items():
        print(f"  {field.removesuffix('_ms').replace('_', ' '):<46} {value:7.2f} ms")
    if arguments.json:
        with open(arguments.json, "w") as file:
            gpu = has_gpu and torch.cuda.get_device_name()
            json.dump({"calls": costs, "requests": requests, "new_process": first, "gpu": gpu}, file, indent=2)


if __name__ == "__main__":
    main()
