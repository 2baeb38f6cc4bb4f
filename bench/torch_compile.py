#!/usr/bin/env python3
"""A Llama under torch.compile: with torch.nn.Linear, with jitgemm's layers, and with jitgemm offered to Inductor.

    python3 bench/torch_compile.py [--shapes 1x1,1x17,4x512,1x1500] [--max-autotune] [--transformers] [--json FILE]

Needs torch and jitgemm, and a GPU. The model has the structure of Hugging Face's Llama in plain modules of PyTorch,
with random weights in bf16 and an odd vocabulary of 32,001. --transformers takes Hugging Face's own classes. Each shape
is batch x tokens.

Ways: eager, as a CUDA graph, and compiled (without and with mode="max-autotune-no-cudagraphs"). Times are medians of
rounds in which the models take turns. The last column is PyTorch's time over the model's. The exit status is 1 where a
compiled model with jitgemm is slower than PyTorch's by more than --slack, or wrong.
"""

from __future__ import annotations

import argparse
import copy
import json
import statistics
import sys

import jitgemm.torch
import torch
from torch import nn
from torch._inductor.compile_fx import compile_fx
from torch._inductor.utils import run_and_get_code
from torch.nn import functional as F

WORST_ERROR = 0.03  # largest difference from the model in f32, as a share of its largest output
MODELS = ("PyTorch", "replaced", "registered")


# ---- the model -----------------------------------------------------------------------------------


class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


def rotated(x, cos, sin):
    left, right = x.chunk(2, -1)
    return x * cos + torch.cat((-right, left), -1) * sin


class Attention(nn.Module):
    def __init__(self, size, heads, kv_heads):
        super().__init__()
        self.width = size // heads
        self.groups = heads // kv_heads
        self.q_proj = nn.Linear(size, size, bias=False)
        self.k_proj = nn.Linear(size, kv_heads * self.width, bias=False)
        self.v_proj = nn.Linear(size, kv_heads * self.width, bias=False)
        self.o_proj = nn.Linear(size, size, bias=False)

    def forward(self, x, cos, sin):
        batch, tokens, size = x.shape
        q, k, v = (
            layer(x).view(batch, tokens, -1, self.width).transpose(1, 2)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        q, k = rotated(q, cos, sin), rotated(k, cos, sin)
        k, v = (y.repeat_interleave(self.groups, 1) for y in (k, v))
        d = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(d.transpose(1, 2).reshape(batch, tokens, size))


class Layer(nn.Module):
    def __init__(self, size, inner, heads, kv_heads):
        super().__init__()
        self.before, self.after = Norm(size), Norm(size)
        self.attention = Attention(size, heads, kv_heads)
        self.gate_proj = nn.Linear(size, inner, bias=False)
        self.up_proj = nn.Linear(size, inner, bias=False)
        self.down_proj = nn.Linear(inner, size, bias=False)

    def forward(self, x, cos, sin):
        x = x + self.attention(self.before(x), cos, sin)
        y = self.after(x)
        return x + self.down_proj(F.silu(self.gate_proj(y)) * self.up_proj(y))


class Llama(nn.Module):
    def __init__(self, size, inner, layers, heads, kv_heads, vocabulary):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, size)
        self.layers = nn.ModuleList(Layer(size, inner, heads, kv_heads) for _ in range(layers))
        self.norm = Norm(size)
        self.head = nn.Linear(size, vocabulary, bias=False)
        self.width = size // heads

    def forward(self, tokens):
        x = self.tokens(tokens)
        frequency = 10000.0 ** (-torch.arange(0, self.width, 2, device=x.device) / self.width)
        angle = torch.outer(torch.arange(tokens.shape[1], device=x.device), frequency).repeat(1, 2)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.head(self.norm(x))


class OfTransformers(nn.Module):
    def __init__(self, size, inner, layers, heads, kv_heads, vocabulary):
        super().__init__()
        import transformers

        config = transformers.LlamaConfig(
            hidden_size=size,
            intermediate_size=inner,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            num_key_value_heads=kv_heads,
            vocab_size=vocabulary,
            use_cache=False,
        )
        self.model = transformers.LlamaForCausalLM(config)

    def forward(self, tokens):
        return self.model(tokens, return_dict=False)[0]


# ---- ways of running it --------------------------------------------------------------------------


def eager(model, tokens):
    return model, ""


def graph(model, tokens):
    model(tokens)
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        d = model(tokens)

    def replay(_):
        captured.replay()
        return d

    return replay, ""


def compiled(mode):
    patches = torch._inductor.list_mode_options(mode) if mode else {}

    def way(model, tokens):
        def backend(graph, examples):  # another for each model: Dynamo would take the graph of the first for all
            return compile_fx(graph, examples, config_patches=patches)

        call = torch.compile(model, backend=backend, fullgraph=True, dynamic=False)
        _, codes = run_and_get_code(call, tokens)
        code = "\n".join(codes)
        ours, theirs = code.count("extern_kernels.jitgemm_"), code.count("extern_kernels.mm(")
        theirs += code.count("extern_kernels.addmm(")
        return call, f"{ours} products by jitgemm, {theirs} by cuBLAS"

    return way


WAYS = {"eager": eager, "graph": graph, "compiled": compiled(None)}
AUTOTUNED = {"max-autotune": compiled("max-autotune-no-cudagraphs")}


def milliseconds(call, tokens, calls):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(calls):
        call(tokens)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / calls


def in_turns(calls, tokens, rounds):
    """Median times of each."""
    for call in calls:
        for _ in range(3):
            call(tokens)
    count = max(3, min(50, int(100 / max(milliseconds(calls[0], tokens, 3), 0.1))))
    times = [[] for _ in calls]
    for _ in range(rounds):
        for call, of_call in zip(calls, times, strict=True):
            of_call.append(milliseconds(call, tokens, count))
    return [statistics.median(of_call) for of_call in times]


# ---- the table -----------------------------------------------------------------------------------


def measure(models, expected, tokens, name, way, rounds):
    """Rows of one way. PyTorch's own is compiled before anything is registered."""
    rows, calls = [], []
    torch._dynamo.reset()
    for kind in MODELS:
        if kind == "registered" and name in ("eager", "graph"):
            continue
        if kind == "PyTorch":
            jitgemm.torch.unregister_inductor()
        else:
            jitgemm.torch.register_inductor()
        call, note = way(models["replaced" if kind == "replaced" else "PyTorch"], tokens)
        error = (call(tokens).float() - expected).abs().max() / expected.abs().max()
        rows.append({"way": name, "model": kind, "error": error.item(), "products": note})
        calls.append(call)
    for row, time in zip(rows, in_turns(calls, tokens, rounds), strict=True):
        row["milliseconds"] = time
    for row in rows:
        row["ratio"] = rows[0]["milliseconds"] / row["milliseconds"]
        row["shape"] = "x".join(map(str, tokens.shape))
    return rows


def build(options):
    torch.manual_seed(0)
    kind = OfTransformers if options.transformers else Llama
    whole = kind(
        options.size, options.inner, options.layers, options.heads, options.kv_heads, options.vocabulary
    ).cuda()
    theirs = copy.deepcopy(whole).bfloat16().eval()
    ours = copy.deepcopy(theirs)
    jitgemm.torch.replace_linear(ours)
    return whole.eval(), {"PyTorch": theirs, "replaced": ours}


def show(row):
    print(
        f"{row['shape']:>8}  {row['way']:<13} {row['model']:<11} {row['milliseconds']:9.3f} ms  x{row['ratio']:.3f}  "
        f"error {row['error']:.4f}  {row['products']}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shapes", default="1x1,1x17,4x512,1x1500")
    parser.add_argument("--ways", default="", help="some of: eager,graph,compiled,max-autotune")
    parser.add_argument("--max-autotune", action="store_true", help="compile with max-autotune, too: takes minutes")
    parser.add_argument("--transformers", action="store_true")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--slack", type=float, default=0.02)
    parser.add_argument("--json")
    for name, default in (("size", 2048), ("inner", 5632), ("layers", 8), ("heads", 16), ("vocabulary", 32001)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--kv-heads", type=int, default=4)
    options = parser.parse_args()
    ways = {**WAYS, **(AUTOTUNED if options.max_autotune or "max-autotune" in options.ways else {})}
    if options.ways:
        ways = {name: ways[name] for name in options.ways.split(",")}

    whole, models = build(options)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, jitgemm {jitgemm.__version__}")
    rows = []
    with torch.no_grad():
        for shape in options.shapes.split(","):
            tokens = torch.randint(0, options.vocabulary, tuple(map(int, shape.split("x"))), device="cuda")
            expected = whole(tokens)
            for name, way in ways.items():
                of_way = measure(models, expected, tokens, name, way, options.rounds)
                for row in of_way:
                    show(row)
                rows += of_way
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            facts = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
            json.dump({**facts, "rows": rows}, file, indent=1)
    slow = [row for row in rows if row["way"] not in ("eager", "graph") and row["ratio"] < 1 - options.slack]
    wrong = [row for row in rows if row["error"] > WORST_ERROR]
    for row in slow + wrong:
        print("slower or wrong:", row["shape"], row["way"], row["model"])
    return 1 if slow or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
