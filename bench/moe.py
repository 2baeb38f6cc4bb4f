#!/usr/bin/env python3
"""A mixture of experts of Hugging Face: Qwen3-MoE's layer with jitgemm's experts, and with PyTorch's grouped_mm.

    python3 bench/moe.py [--tokens 1,64,4096,16384] [--seconds 300] [--rounds 9] [--json FILE]
                         [--device emulator:sm_90a]

Needs torch, transformers 5 and jitgemm, and a GPU. The layer is that of Qwen3-30B-A3B: a router and 128 experts, eight
for each token, with random weights in bf16. One copy runs with experts_implementation="grouped_mm", the other one after
jitgemm.torch.replace_experts. Times include the router, and are microseconds per call. Calls take eight inputs in turn.
They are timed in CUDA graphs that take turns, and eager.

Errors are the largest difference from experts in f32 that get the same choice of experts, as a share of the largest
result. The exit status is 1 where jitgemm's error is more than twice PyTorch's. After --seconds no further row is
begun. On the emulator the layer is tiny and eager, and its times say nothing.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import time
from functools import partial

import jitgemm.torch
import torch
import transformers
from _timing import eager_time, graph_of, graph_time, in_turns
from transformers.models.qwen3_moe.modeling_qwen3_moe import Qwen3MoeSparseMoeBlock

SETS, CALLS = 8, 16
MOST_CHECKED = 4096  # tokens
SLACK = 1e-3  # of an error

# Sizes for the emulator, and those of Qwen3-30B-A3B.
TINY = {"hidden_size": 64, "moe_intermediate_size": 32, "num_experts": 8, "num_experts_per_tok": 2}
LAYER = {"hidden_size": 2048, "moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8}


class Layers:
    """PyTorch's, and the same one with jitgemm's experts."""

    def __init__(self, device):
        self.device, self.place = device, "cpu" if device else "cuda"
        config = transformers.Qwen3MoeConfig(**(TINY if device else LAYER), norm_topk_prob=True)
        config._experts_implementation = "grouped_mm"  # what a model's experts_implementation sets
        with torch.device(self.place):
            self.theirs = Qwen3MoeSparseMoeBlock(config)
        for parameter in self.theirs.parameters():
            parameter.normal_(std=config.initializer_range)
        self.theirs = self.theirs.to(torch.bfloat16).eval()
        self.ours = copy.deepcopy(self.theirs)
        self.replaced = jitgemm.torch.replace_experts(self.ours, device=device)
        self.exact = copy.deepcopy(self.theirs.experts).float()
        self.exact.config._experts_implementation = "eager"

    def inputs(self, tokens):
        shape = (1, tokens, self.theirs.experts.hidden_dim)
        return [torch.randn(shape, dtype=torch.bfloat16, device=self.place) for _ in range(SETS)]

    def errors(self, x):
        rows = x.view(-1, x.shape[-1])
        _, weights, index = self.theirs.gate(rows)
        expected = self.exact(rows.float(), index, weights.float())
        differences = [(layer(x).view(rows.shape).float() - expected).abs().max() for layer in (self.theirs, self.ours)]
        return [(difference / expected.abs().max()).item() for difference in differences]


# ---- ways of running a layer: each returns a function that measures a time ----------------------


def graph(layer, inputs):
    return partial(graph_time, graph_of(lambda i: layer(inputs[i]), SETS, CALLS), CALLS)


def eager(layer, inputs):
    call = lambda i: layer(inputs[i])  # noqa: E731
    eager_time(call, SETS, SETS)
    return partial(eager_time, call, SETS, CALLS if inputs[0].is_cuda else 1)


def measure(layers, tokens, way, rounds):
    inputs = layers.inputs(tokens)
    errors = layers.errors(inputs[0]) if tokens <= MOST_CHECKED else [None, None]
    timers = {"torch": way(layers.theirs, inputs), "jitgemm": way(layers.ours, inputs)}
    times = in_turns(timers, 1 if layers.device else rounds)
    return {
        "tokens": tokens,
        "way": way.__name__,
        "torch_us": times["torch"],
        "jitgemm_us": times["jitgemm"],
        "torch_error": errors[0],
        "jitgemm_error": errors[1],
        "ok": errors[0] is None or errors[1] <= 2 * errors[0] + SLACK,
    }


def show(row):
    errors = "".join(
        " " * 15 if row[name] is None else f"{row[name]:15.1e}" for name in ("torch_error", "jitgemm_error")
    )
    print(
        f"{row['tokens']:6} {row['way']:6} {row['torch_us']:10.1f} {row['jitgemm_us']:11.1f} "
        f"{row['torch_us'] / row['jitgemm_us']:8.2f} {errors}{'' if row['ok'] else '   too large'}",
        flush=True,
    )


def parsed_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", help="of a call; default: 1,64,4096,16384, on the emulator 1,5")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--device", help="emulator, emulator:ARCH; the current GPU unless it is given")
    return parser.parse_args()


def main():
    begin, options = time.perf_counter(), parsed_arguments()
    torch.manual_seed(0)
    layers = Layers(options.device)
    where = options.device or torch.cuda.get_device_name()
    versions = f"torch {torch.__version__}, transformers {transformers.__version__}, jitgemm {jitgemm.__version__}"
    print(f"{where}, {versions}\n{layers.replaced}")
    print("tokens way      torch_us  jitgemm_us  speedup     torch_error  jitgemm_error")
    rows = []
    for tokens in map(int, (options.tokens or ("1,5" if options.device else "1,64,4096,16384")).split(",")):
        for way in (eager,) if options.device else (graph, eager):
            if time.perf_counter() - begin > options.seconds:
                print(f"{tokens:6} {way.__name__:6} left out: the time is over")
                continue
            rows.append(measure(layers, tokens, way, options.rounds))
            show(rows[-1])
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"device": where, "versions": versions, "rows": rows}, file, indent=1)
    return 0 if layers.replaced and all(row["ok"] for row in rows) else 1


if __name__ == "__main__":
    with torch.no_grad():
        sys.exit(main())
