#!/usr/bin/env python3
"""Products of attention heads that lie side by side: jitgemm.torch.matmul beside torch.matmul.

    python3 bench/attention_products.py [--rounds 9]

Needs torch and jitgemm, and a GPU. For each problem, heads are a view (sequences, heads, rows, size) of a tensor
(sequences, rows, heads, size) in bf16. Both sides multiply q by k transposed, and probabilities by v, in CUDA graphs of
20 calls that take turns. The exit status is 1 where a result is wrong.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys

import jitgemm.torch
import torch

PROBLEMS = (  # sequences, rows, heads, size of a head
    (8, 512, 16, 64),
    (4, 2048, 8, 128),
    (32, 197, 12, 64),
    (2, 4096, 16, 128),
    (16, 128, 16, 64),
    (4, 1024, 32, 80),
    (64, 64, 8, 64),
    (1, 2048, 32, 128),
)
CALLS = 20
WORST_ERROR = 0.01  # of the largest element: bf16 keeps 8 bits


def graph_of(call):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            call()
    return graph


def microseconds(graph):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1000 / CALLS


def compare(left, right, rounds):
    """Microseconds of jitgemm and of PyTorch, and the error of jitgemm's result."""
    expected = left.float() @ right.float()
    error = (jitgemm.torch.matmul(left, right).float() - expected).abs().max() / expected.abs().max()
    graphs = [graph_of(lambda: jitgemm.torch.matmul(left, right)), graph_of(lambda: torch.matmul(left, right))]
    times = [[microseconds(graph) for graph in graphs] for _ in range(rounds)]
    ours, theirs = (statistics.median(side) for side in zip(*times))
    return ours, theirs, error.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    torch.manual_seed(0)
    ratios, is_right = [], True
    print(f"{'product':24} {'jitgemm, us':>12} {'PyTorch, us':>12} {'speed-up':>9} {'error':>8}")
    for sequences, rows, heads, size in PROBLEMS:
        q, k, v = (
            torch.randn(sequences, rows, heads, size, device="cuda", dtype=torch.bfloat16).transpose(1, 2)
            for _ in range(3)
        )
        p = torch.softmax(torch.randn(sequences, heads, rows, rows, device="cuda"), -1).to(torch.bfloat16)
        for name, left, right in (("q k^T", q, k.transpose(-1, -2)), ("p v", p, v)):
            ours, theirs, error = compare(left, right, rounds)
            ratios.append(theirs / ours)
            is_right = is_right and error < WORST_ERROR
            problem = f"{name} {sequences}x{rows}x{heads}x{size}"
            print(f"{problem:24} {ours:12.1f} {theirs:12.1f} {ratios[-1]:9.2f} {error:8.0e}", flush=True)
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))
    print(f"geometric mean {mean:.2f}, least {min(ratios):.2f}")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
