#!/usr/bin/env python3
"""The cost of a call from Python, beside torch and Triton, and of a cached kernel's first call in a new process.

    python3 bench/python_costs.py [--json FILE]

The script needs torch and jitgemm. Without Triton its rows are left out. Without a GPU there is one row: a product of
no rows on the CPU, which costs what every call costs before its launch. The script takes half a minute.

Microseconds from Python to the launch: bursts of calls are timed as they are enqueued. The GPU is idle before each
burst, and the product is so small that the queue never fills. The table has the median of the bursts and the fastest.
Milliseconds of a new process: from the first line to a finished product. torch has made the CUDA context before.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time

CALLS, BURSTS = 200, 60
SIZE = 64


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
    arguments = parser.parse_args()

    import jitgemm
    import torch

    has_gpu = torch.cuda.is_available()
    costs = call_costs() if has_gpu else cost_without_a_launch()
    print(
        f"{torch.cuda.get_device_name() if has_gpu else 'no GPU'}, jitgemm {jitgemm.__version__}, "
        f"torch {torch.__version__}, Python {sys.version.split()[0]}"
    )
    print(f"\nfrom Python to the launch, bf16 {SIZE}x{SIZE}x{SIZE}{'':>16} median     fastest")
    for name, cost in costs.items():
        print(f"  {name:<46} {cost['median_us']:7.2f} us {cost['fastest_us']:7.2f} us", flush=True)
    first = new_process() if has_gpu else {}
    if has_gpu:
        print("\na cached kernel in a new process whose CUDA context is there")
    for field, value in first.items():
        print(f"  {field.removesuffix('_ms').replace('_', ' '):<46} {value:7.2f} ms")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(
                {"calls": costs, "new_process": first, "gpu": has_gpu and torch.cuda.get_device_name()}, file, indent=2
            )


if __name__ == "__main__":
    main()
