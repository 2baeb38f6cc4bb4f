#!/usr/bin/env python3
"""Hugging Face models with jitgemm's linear layers: errors and times in every way that PyTorch runs them.

    python3 bench/huggingface.py [--device emulator] [--models llama,bert,vit] [--shapes 1x1,1x17,4x512,1x1500]
                                 [--ways eager,graph,exported,compiled] [--seconds 60] [--json FILE]

Needs torch, transformers and jitgemm. A small Llama, BERT and ViT are built from their configurations with random
weights in bf16; nothing is downloaded.

Each runs with torch.nn.Linear and with jitgemm's layers: eager, as a CUDA graph, exported,
compiled, and under a profiler, whose table shows the products by name. Inductor gets jitgemm's kernels on offer for
jitgemm's model alone. --ways takes some of these ways. --shapes gives batch x tokens, by default 8x128 (1x5 on the
emulator). A ViT takes the batch of each shape alone. Geometric means per way stand at the end. On the emulator the
models are tiny, run in f32, and their times say nothing.

Errors are the largest difference from the same model in f32, as a share of its largest output. The exit status is 1
where jitgemm's error is more than twice PyTorch's, or where a product is missing in the profile. After --seconds no
further row is begun, and the table says which ones are left out. The last one may take half a minute.
"""

from __future__ import annotations

import argparse
import copy
import json
import statistics
import sys
import time

import jitgemm.torch
import torch
import transformers
from _timing import geometric_mean

ROUNDS, CALLS = 7, 10
GOALS = {"eager": 1.1, "graph": 1.1, "compiled": 1.05}  # of means; no row below 1
SLACK = 1e-5  # of an error in f32, which both models may have


class Output(torch.nn.Module):
    """A model as a function of one tensor: its logits, or its last hidden state."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x, return_dict=False)[0]


# Sizes for the emulator, and for a GPU.
TINY = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "num_hidden_layers": 2}
SMALL = {"hidden_size": 1024, "intermediate_size": 2816, "num_attention_heads": 16, "num_hidden_layers": 2}


def llama(tiny, shape):
    sizes = {**(TINY if tiny else SMALL), "num_key_value_heads": 2 if tiny else 4}
    config = transformers.LlamaConfig(**sizes, vocab_size=40 if tiny else 8192, use_cache=False)
    return transformers.LlamaForCausalLM(config), tokens(config, shape)


def bert(tiny, shape):
    sizes = {**(TINY if tiny else SMALL), "max_position_embeddings": max(512, shape[1])}
    config = transformers.BertConfig(**sizes, vocab_size=40 if tiny else 8192)
    return transformers.BertModel(config), tokens(config, shape)


def vit(tiny, shape):
    side = 8 if tiny else 224
    config = transformers.ViTConfig(**(TINY if tiny else SMALL), image_size=side, patch_size=4 if tiny else 16)
    return transformers.ViTModel(config), torch.randn(shape[0], 3, side, side)


def tokens(config, shape):
    return torch.randint(0, config.vocab_size, shape)


MODELS = {"llama": llama, "bert": bert, "vit": vit}


class Pair:
    """A model, the same one with jitgemm's layers, and what it answers in f32."""

    def __init__(self, name, shape, device):
        torch.manual_seed(0)
        self.name, on_gpu = name, device is None
        self.shape = f"{shape[0]}" if name == "vit" else f"{shape[0]}x{shape[1]}"
        model, x = MODELS[name](not on_gpu, shape)
        whole = Output(model).eval().to("cuda" if on_gpu else "cpu")
        self.x = x.to("cuda" if on_gpu else "cpu")
        self.expected = whole(self.x)
        dtype = torch.bfloat16 if on_gpu else torch.float32
        self.x = self.x.to(dtype) if self.x.is_floating_point() else self.x
        self.theirs = whole.to(dtype)
        self.ours = copy.deepcopy(self.theirs)
        self.replaced = jitgemm.torch.replace_linear(self.ours, device=device)

    def error(self, d):
        return ((d.float() - self.expected).abs().max() / self.expected.abs().max()).item()


# ---- ways of running a model: each returns a function of x --------------------------------------


def eager(model, x):
    return model


def graph(model, x):
    model(x)  # kernels are loaded by now
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        d = model(x)

    def replay(_):
        captured.replay()
        return d

    return replay


def exported(model, x):
    return torch.export.export(model, (x,)).module()


def compiled(model, x):
    is_ours = any(isinstance(layer, jitgemm.torch.Linear) for layer in model.modules())
    if x.is_cuda:  # an earlier model of jitgemm's has registered it
        (jitgemm.torch.register_inductor if is_ours else jitgemm.torch.unregister_inductor)()
    call = torch.compile(model, backend="inductor" if x.is_cuda else "aot_eager", fullgraph=True)
    call(x)  # compiles now
    return call


def milliseconds(calls, x):
    """Of each function, median of rounds that take turns."""
    times = [[] for _ in calls]
    for _ in range(ROUNDS if x.is_cuda else 1):
        for call, of_call in zip(calls, times, strict=True):
            of_call.append(round_time(call, x))
    return [statistics.median(of_call) for of_call in times]


def round_time(call, x):
    count = CALLS if x.is_cuda else 1
    synchronize = torch.cuda.synchronize if x.is_cuda else lambda: None
    synchronize()
    begin = time.perf_counter()
    for _ in range(count):
        call(x)
    synchronize()
    return (time.perf_counter() - begin) / count * 1e3


def compare(pair, way):
    torch._dynamo.reset()
    begin = time.perf_counter()
    calls = [way(model, pair.x) for model in (pair.theirs, pair.ours)]
    errors = [pair.error(call(pair.x)) for call in calls]
    prepared = time.perf_counter() - begin
    times = milliseconds(calls, pair.x)
    return {
        "model": pair.name,
        "shape": pair.shape,
        "way": way.__name__,
        "torch_ms": times[0],
        "jitgemm_ms": times[1],
        "torch_error": errors[0],
        "jitgemm_error": errors[1],
        "prepared_s": prepared,
        "ok": errors[1] <= 2 * errors[0] + SLACK,
    }


def measured(pair, way, end):
    """A row, which is printed."""
    left_out = {"model": pair.name, "shape": pair.shape, "way": way.__name__, "left_out": "the time is over"}
    row = compare(pair, way) if time.perf_counter() < end else left_out
    print_row(row)
    return row


def print_row(row):
    if "left_out" in row:
        print(f"{row['model']:6} {row['shape']:>7} {row['way']:9} left out: {row['left_out']}", flush=True)
        return
    print(
        f"{row['model']:6} {row['shape']:>7} {row['way']:9} {row['torch_ms']:9.3f} {row['jitgemm_ms']:11.3f} "
        f"{row['torch_ms'] / row['jitgemm_ms']:8.2f} {row['torch_error']:12.1e} {row['jitgemm_error']:14.1e} "
        f"{row['prepared_s']:11.1f}{'' if row['ok'] else '   too large'}",
        flush=True,
    )


def profile(pair):
    """How often each product is in a profile of one run, and its time."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    if pair.x.is_cuda:
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=activities) as recorded:
        pair.ours(pair.x)
        if pair.x.is_cuda:
            torch.cuda.synchronize()
    events = [event for event in recorded.key_averages() if "jitgemm" in event.key]
    print(f"{pair.name:6} {pair.shape:>7} profile   {len(pair.replaced)} linear layers; one run has")
    for event in events:
        on_gpu = f", {event.device_time_total / 1e3:.3f} ms on the GPU" if pair.x.is_cuda else ""
        print(f"  {event.count:4} x {event.key}{on_gpu}")
    products = sum(event.count for event in events if event.key in ("jitgemm::matmul", "jitgemm::mlp_hidden"))
    gated = sum("-gated" in what for what in pair.replaced.fused.values())  # gate and up are one operator
    return {
        "model": pair.name,
        "shape": pair.shape,
        "way": "profile",
        "products": products,
        "ok": products == len(pair.replaced) - gated,
    }


def show_means(rows):
    """Of PyTorch's time over jitgemm's, for each way."""
    for way in WAYS:
        ratios = [row["torch_ms"] / row["jitgemm_ms"] for row in rows if row["way"] == way and "torch_ms" in row]
        if ratios:
            mean = geometric_mean(ratios)
            goal = f" (goals: {GOALS[way]} and 1)" if way in GOALS else ""
            print(f"{way:9} {len(ratios)} rows: geometric mean {mean:.3f}, least {min(ratios):.3f}{goal}")


WAYS = {"eager": eager, "graph": graph, "exported": exported, "compiled": compiled}


def pairs_of(name, arguments):
    """A pair per shape. Of a ViT's, each batch counts once."""
    default = "1x5" if arguments.device else "8x128"
    shapes = [tuple(map(int, shape.split("x"))) for shape in (arguments.shapes or default).split(",")]
    if name == "vit":
        shapes = [(batch, 1) for batch in dict.fromkeys(batch for batch, _ in shapes)]
    return [Pair(name, shape, arguments.device) for shape in shapes]


def parsed_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", help="emulator, emulator:ARCH; the current GPU unless it is given")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--shapes", help="batch x tokens: 1x1,1x17,4x512,1x1500")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def main():
    begin, arguments = time.perf_counter(), parsed_arguments()
    pairs = [pair for name in arguments.models.split(",") for pair in pairs_of(name, arguments)]
    ways = [WAYS[name] for name in arguments.ways.split(",") if not (arguments.device and name == "graph")]
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, jitgemm {jitgemm.__version__}")
    print("model    shape way        torch_ms  jitgemm_ms  speedup  torch_error  jitgemm_error  prepared_s")
    rows = []
    for way in ways:
        if way is compiled:
            rows += [profile(pair) for pair in pairs]
        rows += [measured(pair, way, begin + arguments.seconds) for pair in pairs]
    show_means(rows)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(rows, file, indent=1)
    return 0 if all(row.get("ok", True) for row in rows) else 1


if __name__ == "__main__":
    with torch.no_grad():
        sys.exit(main())
