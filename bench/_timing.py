"""Times of calls that take turns, in CUDA graphs or from Python. Benches in this folder import it.

A call takes the number of a set of operands, from 0 to sets - 1. Times are microseconds per call.
"""

from __future__ import annotations

import collections
import functools
import math
import statistics
import time

import torch


@functools.cache
def side_stream():
    return torch.cuda.Stream()


def graph_of(call, sets, calls):
    """A CUDA graph of calls over the sets in turn."""
    torch.cuda.synchronize()
    stream = side_stream()
    with torch.cuda.stream(stream):
        for i in range(min(sets, 2)):
            call(i)  # kernels and workspaces are there before the capture
    torch.cuda.synchronize()
    latest = collections.deque(maxlen=sets)  # their results stay, so that later ones lie elsewhere
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(calls):
            latest.append(call(i % sets))
    return graph


def graph_time(graph, calls):
    """Of a replay behind another one, under which the host enqueues it."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    graph.replay()
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3 / calls


def eager_time(call, sets, calls):
    synchronize = torch.cuda.synchronize if torch.cuda.is_available() else lambda: None
    synchronize()
    begin = time.perf_counter()
    for i in range(calls):
        call(i % sets)
    synchronize()
    return (time.perf_counter() - begin) * 1e6 / calls


def in_turns(timers, rounds):
    """Of each function that measures a time, the median of rounds."""
    times = [[timer() for timer in timers.values()] for _ in range(rounds)]
    return dict(zip(timers, map(statistics.median, zip(*times, strict=True)), strict=True))


def geometric_mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))
