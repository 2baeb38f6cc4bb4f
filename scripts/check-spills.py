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
BYTES = {"f16": 2, "bf16": 2, "f32": 4}
GPUS = ["h200"] * 6 + ["h100"] * 3 + ["h100-pcie", "a100", "a100", "a30", "rtx3090", "orin", "rtx4090", "rtx4090"]
GPUS += ["l4", "b200", "rtx5090"]
EDGES = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257]
WIDTHS = [512, 768, 1024, 2048, 2560, 3072, 4096, 5120, 6144, 8192, 11008, 14336, 16384, 28672]     # of models' layers
ALIGNMENTS = [16, 16, 8, 4, 2]      # bytes


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
    widest = next(a for a in (16, 8, 4, 2) if pitch * BYTES[of] % a == 0)
    return pitch, widest if draw.random() < 0.7 else draw.choice([a for a in (16, 8, 4, 2) if BYTES[of] <= a <= widest])


def types_of(draw: random.Random) -> dict[str, str]:
    inputs = draw.choice(["bf16", "bf16", "f16", "f16", "f32"])
    output = inputs if draw.random() < 0.6 else draw.choice(["bf16", "f16", "f32"])
    options = {"type": inputs, "d-type": output}
    if inputs == "f16" and draw.random() < 0.25:
        options["acc-type"] = "f16"
    if draw.random() < 0.45:
        options["c-type"] = output if draw.random() < 0.6 else draw.choice(["bf16", "f16", "f32"])
    return options


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
    options = {"m": m, "n": n, "k": k, **types_of(draw)}
    options |= {"layout": draw.choice(["tn", "tn", "nn", "nt", "tt"]), "d-layout": draw.choice("ttn")}
    options |= promises_of(draw, "c-type" in options)
    lines_of_d = n if options["d-layout"] == "t" else m
    runs = {"a": (k if options["layout"][0] == "t" else m, options["type"]),
            "b": (n if options["layout"][1] == "t" else k, options["type"]),
            "c": (lines_of_d, options.get("c-type")), "d": (lines_of_d, options["d-type"])}
    for operand, (run, of) in runs.items():
        if of is None:
            continue
        pitch, alignment = pitch_and_alignment(draw, run, of)
        options[f"align-{operand}"] = alignment
        if operand != "c" or "broadcast-c" not in options:
            options[f"ld{operand}"] = pitch
    gpu = draw.choice(GPUS)
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
        lines = []
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
