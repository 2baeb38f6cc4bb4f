#!/usr/bin/env python3
"""Writes ncu_h200.json: Nsight Compute's counts of six kernels on an H200, by field of `jitgemm run --profile --json`.

usage: from_ncu.py FOLDER > ncu_h200.json

FOLDER holds, for problem i of PROBLEMS, raw<i>.csv and source<i>.csv: `ncu --set full --clock-control none` of
`jitgemm run PROBLEM` (with the parameters noted there), imported again with `--csv --page raw` and
`--csv --page source`. It also holds run<i>.json, the output of `jitgemm run PROBLEM --json`. The first launch of each
entry counts: it is the verification with small integers, whose operands lie as on the emulator.
docs/emulator-counters.md says what each counter means and which of ncu's are left out, and why.
"""

import csv
import json
import re
import sys

PROBLEMS = [
    "bf16 tn 256 384 512",
    "f16 tt 200 136 72",
    "bf16 nt 512 256 256 --c-type bf16 --beta 1",
    "f16 nn 255 129 511",  # --param pack=none
    "bf16 tn 128 128 2048",  # --param split_k=4
    "bf16 tn 256 256 256",  # --param shared=padding
]

EXECUTED = "Instructions Executed"
WAVEFRONTS = "L1 Wavefronts Shared"
IDEAL = "L1 Wavefronts Shared Ideal"
SECTORS = "L2 Theoretical Sectors Global"

T_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
T_HITS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"
XBAR_SECTORS = "l1tex__m_xbar2l1tex_read_sectors_mem_lg_op_ld.sum"
TENSOR_OPERATIONS = ["sm__ops_path_tensor_src_bf16_dst_fp32.sum", "sm__ops_path_tensor_src_fp16.sum"]


def number(text):
    value = float(text.replace(",", ""))
    assert value == int(value), text
    return int(value)


class Launches:
    """The first launch of every entry of a kernel, summed."""

    def __init__(self, folder, index):
        self.metrics = first_of_each_entry(raw_launches(f"{folder}/raw{index}.csv"))
        self.instructions = sum(first_of_each_entry(source_launches(f"{folder}/source{index}.csv")), [])

    def metric(self, name):
        return sum(number(launch[name]) for launch in self.metrics)

    def column(self, opcodes, column):
        """Sum over the SASS instructions whose opcode begins with one of `opcodes`, up to a dot."""
        return sum(number(row[column]) for row in self.rows(opcodes))

    def rows(self, opcodes):
        return [row for row in self.instructions if opcode(row["Source"]) in opcodes]


def opcode(sass):
    return re.sub(r"^@!?U?P\w+\s+", "", sass.strip()).split()[0].split(".")[0]


def raw_launches(path):
    header, _units, *rows = csv.reader(open(path))
    for row in rows:
        launch = dict(zip(header, row))
        yield launch["Kernel Name"], launch


def source_launches(path):
    name, header, rows = None, None, []
    for row in csv.reader(open(path)):
        if row[0] == "Kernel Name":
            if name:
                yield name, rows
            name, rows = row[1], []
        elif row[0] == "Address":
            header = row
        else:
            rows.append(dict(zip(header, row)))
    yield name, rows


def first_of_each_entry(launches):
    first = {}
    for name, launch in launches:
        if not name.startswith("reference_"):  # what verification launches around the kernel
            first.setdefault(name, launch)
    return list(first.values())


def copy_wavefronts(launches):
    """ncu reports wavefronts for some of the copies only. None if these have different numbers per execution."""
    rates = {number(row[IDEAL]) / number(row[EXECUTED]) for row in launches.rows(["LDGSTS"]) if number(row[IDEAL])}
    return int(rates.pop() * launches.column(["LDGSTS"], EXECUTED)) if len(rates) == 1 else None


def figures(launches):
    """(field of `profile`, value, where ncu has it)"""
    column, metric = launches.column, launches.metric
    yield "/blocks", metric("launch__grid_size"), "launch__grid_size"
    yield "/kinds/tensor/warps", column(["HMMA"], EXECUTED), f"HMMA: {EXECUTED}"
    yield "/kinds/tensor/operations", sum(map(metric, TENSOR_OPERATIONS)), " + ".join(TENSOR_OPERATIONS)
    yield "/barriers", column(["BAR"], EXECUTED), f"BAR: {EXECUTED}"
    yield "/kinds/async wait/warps", column(["LDGDEPBAR", "DEPBAR"], EXECUTED), f"LDGDEPBAR, DEPBAR: {EXECUTED}"

    for kind, executed, opcodes in [
        ("matrix load", "smsp__inst_executed_op_ldsm.sum", ["LDSM"]),
        ("shared load", "smsp__sass_inst_executed_op_shared_ld.sum", ["LDS"]),
        ("shared store", "smsp__sass_inst_executed_op_shared_st.sum", ["STS"]),
    ]:
        yield f"/kinds/{kind}/warps", metric(executed), executed
        yield f"/kinds/{kind}/wavefronts", column(opcodes, WAVEFRONTS), f"{opcodes[0]}: {WAVEFRONTS}"
        yield f"/kinds/{kind}/ideal_wavefronts", column(opcodes, IDEAL), f"{opcodes[0]}: {IDEAL}"

    loads, stores = ["LDG", "LD"], ["STG"]
    for kind, executed, opcodes in [
        ("global load", "smsp__sass_inst_executed_op_global_ld.sum", loads),
        ("global store", "smsp__sass_inst_executed_op_global_st.sum", stores),
    ]:
        if metric(executed):
            yield f"/kinds/{kind}/warps", metric(executed), executed
            yield f"/kinds/{kind}/sectors", column(opcodes, SECTORS), f"{', '.join(opcodes)}: {SECTORS}"

    if metric("smsp__inst_executed_op_ldgsts.sum"):
        loaded = column(loads, SECTORS)
        rest = f" - LDG: {SECTORS}" if loaded else ""
        executed = "smsp__inst_executed_op_ldgsts.sum"
        yield "/kinds/async copy/warps", metric(executed), executed
        yield "/kinds/async copy/sectors", metric(T_SECTORS) - loaded, T_SECTORS + rest
        from_l2 = metric(XBAR_SECTORS) + metric(T_HITS) - loaded
        yield "/kinds/async copy/l2_sectors", from_l2, f"{XBAR_SECTORS} + {T_HITS}{rest}"
        wavefronts = copy_wavefronts(launches)
        if wavefronts:
            yield "/kinds/async copy/wavefronts", wavefronts, f"LDGSTS: {IDEAL}, of the copies that have it"


def kernel(folder, index, problem):
    with open(f"{folder}/run{index}.json") as file:
        run = json.load(file)
    rows = [{"field": f, "value": v, "metric": m} for f, v, m in figures(Launches(folder, index))]
    return {"problem": problem, "kernel": run["kernel"], "figures": rows}


def main():
    folder = sys.argv[1]
    kernels = [kernel(folder, i, problem) for i, problem in enumerate(PROBLEMS, 1)]
    text = json.dumps({"device": "NVIDIA H200", "arch": "sm_90a", "cuda": "13.0", "kernels": kernels}, indent=1)
    figure = r'\{\s+"field": (.*),\s+"value": (.*),\s+"metric": (.*)\s+\}'
    print(re.sub(figure, r'{"field": \1, "value": \2, "metric": \3}', text))


if __name__ == "__main__":
    main()
