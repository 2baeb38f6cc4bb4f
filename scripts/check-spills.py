#!/usr/bin/env python3
"""Ask the tool for the kernels of random problems, compile them and report those that spill registers.

    scripts/check-spills.py [--tool build/release/jitgemm] [--count 2000] [--seed 1] [--workers 16] [--gpu h200]
                            [--arch sm_90a]
    scripts/check-spills.py --problems FILE          # one problem per line, options as `jitgemm dump` takes them

The script needs the tool and NVRTC, but no GPU and no Python package. A seed gives the same problems on every machine.
Kernels lie in a cache of their own, so that each is compiled once. The exit code is 0 if no chosen kernel spills and
ptxas prints no warning, 1 if one spills or is warned of, and 2 if a problem could not be compiled.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "e4m3": 1, "e5m2": 1, "s8": 1, "s32": 4}
GPUS = ["h200"] * 6 + ["h100"] * 3 + ["h100-pcie", "a100", "a100", "a30", "rtx3090", "orin", "rtx4090", "rtx4090"]
GPUS += ["l4", "b200", "rtx5090"]
FLOAT8_GPUS = [gpu for gpu in GPUS if gpu not in ("a100", "a30", "rtx3090", "orin")]
EDGES = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257]
WIDTHS = [512, 768, 1024, 2048, 2560, 3072, 4096, 5120, 6144, 8192, 11008, 14336, 16384, 28672]     # of models' layers
ALIGNMENTS = [16, 16, 8, 4, 2]      # bytes
LONGEST_SUM_OF_S8 = 131071
TEXTS = ["d = relu(acc + bias[n])", "d = gelu(alpha * acc + bias[n])", "d = silu(acc + bias[n]) * x[m,n]",
         "row: f32[m]; column: f32[n]; d = acc * row[m] * column[n]",
         "t = acc + bias[n]; d = relu(t); pre[m,n] = t",
         "whole: f32[m,n]; whole[m,n] = acc; d = acc * 0.5 + x[m,n]",
         "t = acc + bias[n]; d = t; grad[n] = sum(t); most[0] = max(abs(t))"]
SCALED_TEXTS = ["d = acc * sa[m,k/128] * sb[n/128,k/128]", "d = relu(acc * sa[k/128,m] * sb[n,k/128])",
                "t = acc * sa[m,k/128] * sb[k/128,n]; d = t; pre[m,n] = t"]


# ---- problems --------------------------------------------------------------------------------------------------------


def between(draw: random.Random, least: int, most: int) -> int:
    """Any number, each order of magnitude as often as another."""
    return round(math.exp(draw.uniform(math.log(least), math.log(most))))


def tiny(draw):
    return draw.randint(1, 40), draw.randint(1, 40), draw.randint(1, 300)


def edges(draw):
    return draw.choice(EDGES), draw.choice(EDGES), draw.choice(EDGES)


def small(draw):
    return draw.randint(1, 700), draw.randint(1, 700), draw.randint(1, 2000)


def few_rows(draw):
    rows, columns = draw.choice([1, 2, 4, 8, 16, 32, draw.randint(1, 64)]), draw.choice(WIDTHS)
    return (rows, columns, draw.choice(WIDTHS)) if draw.random() < 0.7 else (columns, rows, draw.choice(WIDTHS))


def long_k(draw):
    return between(draw, 1, 300), between(draw, 1, 300), between(draw, 5000, 1_000_000)


def short_k(draw):
    return between(draw, 500, 20000), between(draw, 500, 20000), draw.randint(1, 64)


def layers(draw):
    return draw.choice([64, 128, 512, 1000, 2048, 4096, 8192]), draw.choice(WIDTHS), draw.choice(WIDTHS)


def any_sizes(draw):
    return between(draw, 1, 16000), between(draw, 1, 16000), between(draw, 1, 16000)


def eights(draw):
    return tuple(8 * between(draw, 1, 1500) for _ in range(3))


KINDS = [tiny, edges, small, small, few_rows, long_k, long_k, short_k, layers, any_sizes, any_sizes, eights, eights]


def pitch_and_alignment(draw: random.Random, run: int, of: str) -> tuple[int, int]:
    """Of an operand whose lines are so long: packed, packed to an alignment, or with room behind each line."""
    if draw.random() < 0.4:
        pitch = run
    else:
        unit = max(draw.choice(ALIGNMENTS) // BYTES[of], 1)
        pitch = -(-run // unit) * unit + draw.choice([0, 0, unit * draw.randint(1, 12)])
    widest = next(a for a in (16, 8, 4, 2, 1) if pitch * BYTES[of] % a == 0)
    lower = [a for a in (16, 8, 4, 2, 1) if BYTES[of] <= a <= widest]
    return pitch, widest if draw.random() < 0.7 else draw.choice(lower)


def halves(draw: random.Random) -> dict[str, str]:
    inputs = draw.choice(["bf16", "f16"])
    options = {"type": inputs, "d-type": inputs if draw.random() < 0.6 else draw.choice(["bf16", "f16", "f32"])}
    if inputs == "f16" and draw.random() < 0.25:
        options["acc-type"] = "f16"
    return options


def single_precision(draw: random.Random) -> dict[str, str]:
    math_of = draw.choice(["ieee", "ieee", "tf32", "f16x3", "bf16x3", "bf16x6", "tf32x3"])
    return {"type": "f32", "d-type": "f32" if draw.random() < 0.7 else draw.choice(["bf16", "f16"]), "math": math_of}


def float8(draw: random.Random) -> dict[str, str]:
    return {"a-type": draw.choice(["e4m3", "e5m2"]), "b-type": draw.choice(["e4m3", "e5m2"]),
            "d-type": draw.choice(["bf16", "bf16", "f16", "f32", "e4m3"]), "sums": draw.choice(["promoted", "fast"])}


def int8(draw: random.Random) -> dict[str, str]:
    return {"type": "s8", "d-type": draw.choice(["s32", "bf16", "f16", "f32", "s8"])}


TYPES = [halves] * 5 + [single_precision] * 3 + [float8] * 3 + [int8]


def declared(text: str, of_d: str) -> str:
    """The text for a D of this type. Operands have D's type, but kernels read none of 8 bits or of s32."""
    if of_d not in ("e4m3", "s8", "s32"):
        return text
    types = {"bias": "f32[n]", "x": "bf16[m,n]", "pre": "bf16[m,n]"}
    return "".join(f"{name}: {of}; " for name, of in types.items() if f"{name}[" in text) + text


def added_of(draw: random.Random, options: dict[str, str]) -> dict[str, str]:
    """A C, an epilogue, or neither."""
    if options.get("sums") == "promoted" and draw.random() < 0.5:
        return {"epilogue": declared(draw.choice(SCALED_TEXTS), options["d-type"])}
    if draw.random() < 0.3:
        return {"epilogue": declared(draw.choice(TEXTS), options["d-type"])}
    if options["d-type"] == "s32" or draw.random() < 0.55:
        return {}
    of_d = options["d-type"] if BYTES[options["d-type"]] > 1 else "bf16"
    return {"c-type": of_d if draw.random() < 0.6 else draw.choice(["bf16", "f16", "f32"])}


def types_of(draw: random.Random) -> dict[str, str]:
    options = draw.choice(TYPES)(draw)
    return options | added_of(draw, options)


def promises_of(draw: random.Random, has_c: bool) -> dict[str, str]:
    chances = {"constant-a": 0.15, "constant-b": 0.3, "broadcast-c": 0.4 if has_c else 0}
    options = {name: "yes" for name, chance in chances.items() if draw.random() < chance}
    if draw.random() < 0.12:
        options["deterministic"] = "batch_invariant"
    return options


def random_problem(seed: str, index: int, target: list[str] | None) -> list[str]:
    """The options of `jitgemm dump`. The target is one of GPUS where none is given."""
    draw = random.Random(f"{seed}:{index}")
    m, n, k = draw.choice(KINDS)(draw)
    types = types_of(draw)
    layouts = {"layout": draw.choice(["tn", "tn", "nn", "nt", "tt"]), "d-layout": draw.choice("ttn")}
    if types.get("type") == "s8":
        k = min(k, LONGEST_SUM_OF_S8)
    if BYTES[types["d-type"]] == 1 and draw.random() < 0.7:     # as wgmma stores it, 16 bytes at a time
        m, n = (m, -(-n // 16) * 16) if layouts["d-layout"] == "t" else (-(-m // 16) * 16, n)
    options = {"m": m, "n": n, "k": k, **types, **layouts}
    options |= promises_of(draw, "c-type" in options)
    lines_of_d = n if options["d-layout"] == "t" else m
    runs = {"a": (k if options["layout"][0] == "t" else m, options.get("a-type", options.get("type"))),
            "b": (n if options["layout"][1] == "t" else k, options.get("b-type", options.get("type"))),
            "c": (lines_of_d, options.get("c-type")), "d": (lines_of_d, options["d-type"])}
    for operand, (run, of) in runs.items():
        if of is None:
            continue
        is_whole = operand == "d" and BYTES[of] == 1 and run % 16 == 0
        pitch, alignment = (run, 16) if is_whole else pitch_and_alignment(draw, run, of)
        options[f"align-{operand}"] = alignment
        if operand != "c" or "broadcast-c" not in options:
            options[f"ld{operand}"] = pitch
    gpu = draw.choice(FLOAT8_GPUS if "sums" in options else GPUS)
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return words + (target or ["--gpu", gpu])


# ---- kernels ---------------------------------------------------------------------------------------------------------


class Tool:
    """The tool, with a cache of its own and without winners that this machine's user has measured."""

    def __init__(self, path: str, folder: str) -> None:
        self.path, self.folder = path, folder
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith("JITGEMM_") or name in ("JITGEMM_NVRTC", "JITGEMM_WHEELS")}
        self.environment |= {"JITGEMM_CACHE_DIR": f"{folder}/cache", "JITGEMM_TUNING_DIR": f"{folder}/tuning"}

    def compiled(self, index: int, problem: list[str]) -> dict:
        """The chosen kernel's document, or the error's."""
        cubin = f"{self.folder}/{index}.cubin"
        command = [self.path, "dump", "--json", "--emit", "cubin", "-o", cubin, *problem]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        pathlib.Path(cubin).unlink(missing_ok=True)
        try:
            return json.loads(done.stdout)
        except json.JSONDecodeError:
            return {"error": {"message": f"exit code {done.returncode}: {done.stderr.strip()[-400:]}"}}


def compile_all(tool: Tool, problems: list[list[str]], workers: int) -> list[dict]:
    begin, documents = time.monotonic(), []
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for document in pool.map(tool.compiled, range(len(problems)), problems):
            documents.append(document)
            if len(documents) % 100 == 0:
                seconds = time.monotonic() - begin
                print(f"{len(documents)} of {len(problems)} problems, {seconds:.0f} s", file=sys.stderr)
    return documents


# ---- report ----------------------------------------------------------------------------------------------------------


def family_of(kernel: str) -> str:
    words = kernel.split("_")
    kind = next((i for i, word in enumerate(words) if word in BYTES), len(words))
    return "_".join(words[:kind])


class Report:
    def __init__(self, problems: list[list[str]], documents: list[dict]) -> None:
        self.failures, self.unserved = [], 0
        self.kernels: dict[tuple[str, str], dict] = {}      # by name and architecture
        for problem, document in zip(problems, documents):
            if document.get("error", {}).get("message", "").startswith("no kernel serves this problem"):
                self.unserved += 1
                continue
            if "error" in document:
                self.failures.append((problem, document["error"]["message"]))
                continue
            key = (document["kernel"], document["arch"])
            known = self.kernels.setdefault(key, document["compiled"] | {"problems": []})
            known["problems"].append(shlex.join(problem))

    @staticmethod
    def is_bad(kernel: dict) -> bool:
        return bool(kernel["spill_bytes"] or kernel["warnings"])

    def bad(self) -> dict[tuple[str, str], dict]:
        return {name: kernel for name, kernel in self.kernels.items() if self.is_bad(kernel)}

    def table(self) -> str:
        families = collections.defaultdict(list)
        for (name, _), kernel in self.kernels.items():
            families[family_of(name)].append(kernel)
        lines = [f"{'family':24} {'problems':>8} {'kernels':>8} {'most registers':>14} {'spill':>6} {'warned of':>9}"]
        for family, kernels in sorted(families.items()):
            problems = sum(len(kernel["problems"]) for kernel in kernels)
            most = max(kernel["registers"] for kernel in kernels)
            spilling = sum(kernel["spill_bytes"] != 0 for kernel in kernels)
            warned = sum(bool(kernel["warnings"]) for kernel in kernels)
            lines.append(f"{family:24} {problems:8} {len(kernels):8} {most:14} {spilling:6} {warned:9}")
        return "\n".join(lines)

    def details(self) -> str:
        lines = [f"no kernel serves {self.unserved} problems"] if self.unserved else []
        for (name, arch), kernel in sorted(self.bad().items()):
            lines += [f"{name} ({arch}): {kernel['registers']} registers, {kernel['spill_bytes']} bytes spilled",
                      *(f"    {warning}" for warning in kernel["warnings"]),
                      f"    jitgemm dump {kernel['problems'][0]}"]
        for problem, message in self.failures:
            lines += [f"failed: jitgemm dump {shlex.join(problem)}", f"    {message}"]
        return "\n".join(lines)

    def exit_code(self) -> int:
        return 1 if self.bad() else 2 if self.failures else 0

    def document(self) -> list[dict]:
        return [{"kernel": name, "arch": arch, **kernel} for (name, arch), kernel in sorted(self.kernels.items())]


# ---- command line ----------------------------------------------------------------------------------------------------


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tool", default=str(REPOSITORY / "build/release/jitgemm"), metavar="FILE",
                        help="default: %(default)s")
    parser.add_argument("--count", type=int, default=2000, metavar="N",
                        help="number of problems (default: %(default)s)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first problem (default: 0)")
    parser.add_argument("--seed", default="1", metavar="TEXT", help="default: %(default)s")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), metavar="N",
                        help="default: one per core")
    parser.add_argument("--gpu", metavar="NAME", help="choose for this GPU (default: a mix)")
    parser.add_argument("--arch", metavar="NAME", help="choose for this architecture")
    parser.add_argument("--problems", metavar="FILE", help="problems, one per line, in place of random ones")
    parser.add_argument("--json", metavar="FILE",
                        help="write every kernel with its registers and its problems to this file")
    return parser.parse_args()


def problems_of(options: argparse.Namespace) -> list[list[str]]:
    named = {name: getattr(options, name) for name in ("gpu", "arch")}
    target = [word for name, value in named.items() if value for word in (f"--{name}", value)]
    if options.problems is None:
        indices = range(options.first, options.first + options.count)
        return [random_problem(options.seed, index, target) for index in indices]
    lines = pathlib.Path(options.problems).read_text().splitlines()
    return [shlex.split(line, comments=True) + target for line in lines if shlex.split(line, comments=True)]


def main() -> int:
    options = arguments()
    problems = problems_of(options)
    with tempfile.TemporaryDirectory(prefix="jitgemm-spills-") as folder:
        report = Report(problems, compile_all(Tool(options.tool, folder), problems, options.workers))
    print(report.table())
    print(report.details() or
          f"{len(report.kernels)} kernels of {len(problems)} problems: none spills, ptxas warns of none")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(report.document(), indent=1) + "\n")
    return report.exit_code()


if __name__ == "__main__":
    sys.exit(main())
