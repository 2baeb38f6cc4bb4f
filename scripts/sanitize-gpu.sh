#!/usr/bin/env bash
# Runs a problem of every kernel family, each way to share a tile's sums, and batches and groups under compute-sanitizer
# on this machine's GPU.
#   scripts/sanitize-gpu.sh [--tool jitgemm] [--checks "memcheck synccheck initcheck"]
# Kernels are launched one by one: the sanitizer has no memory for graphs of many launches.
# A run passes when the result is verified and the sanitizer reports no error, neither of a kernel nor of a call of the
# driver.
set -euo pipefail

tool=jitgemm
checks="memcheck synccheck initcheck"
while [ $# -gt 0 ]; do
    case $1 in
        --tool) tool=$2 ;;
        --checks) checks=$2 ;;
        *) echo "error: unknown option $1: scripts/sanitize-gpu.sh [--tool jitgemm] [--checks NAMES]" >&2; exit 2 ;;
    esac
    shift 2
done

# problem | family or "" for the choice | fixed parameters
problems=(
    "bf16 tn 1000 777 555||"
    "f16 nn 520 264 712|wgmma_warp_specialized|stream_k=4"
    "bf16 tt 256 384 512|wgmma_warp_specialized|schedule=overlapped"
    "bf16 tn 16 512 4096|mma_sliced_k|"
    "f16 nt 129 65 2049|mma_multistage|split_k=3"
    "f16 tn 200 300 400|wmma_multistage|"
    "f32 tt 301 203 107|simt_hierarchical|split_k=2"
    "f32 tn 3 5 100003|simt_long_k|"
    "f32 nn 65 33 17|simt_naive|"
    "f32 tn 65 33 17|simt_tile2d|"
    "f32 tt 65 33 17|simt_tile2d_shared|"
    "f32 nt 65 33 17|simt_outer_product|"
    "f32 tn 130 70 35|simt_outer_product_tile2d|"
    "bf16 tn 64 64 8192||"
    "bf16 tn 500 264 136 batch=6||"
    "f16 nn 77 65 33 batch=12 batch-inner=4|mma_multistage|"
    "f32 tt 65 33 17 batch=5|simt_hierarchical|"
    "bf16 tn 300 264 136 batch=5 pointers=yes||"
    "bf16 tn 700 264 136 groups=9 --group-sizes=random|wgmma_warp_specialized|"
    "bf16 tn 270 264 136 groups=9 source-rows=100 --group-sizes=skewed|wgmma_warp_specialized|"
    "f16 nn 300 71 63 groups=9 --group-sizes=random|mma_multistage|"
    "f32 nt 200 33 65 groups=5 group-rows=40 --group-sizes=random|simt_hierarchical|"
    "bf16 nt 136 264 700 groups=9 ragged=k --group-sizes=random|wgmma_warp_specialized|"
    "f16 tn 71 63 300 groups=9 ragged=k --group-sizes=random|mma_multistage|"
    "f32 nn 33 65 200 groups=5 ragged=k --group-sizes=random|simt_hierarchical|"
)

log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0
for check in $checks; do
    for line in "${problems[@]}"; do
        IFS='|' read -r problem family parameters <<<"$line"
        command=("$tool" run $problem ${family:+--family "$family"} ${parameters:+--param "$parameters"} --device cuda
                 --protocol cold --rounds 1)
        if compute-sanitizer --tool "$check" --error-exitcode 9 "${command[@]}" >"$log" 2>&1 &&
            grep -q 'ERROR SUMMARY: 0 errors' "$log" &&
            grep -q '^verified *yes' "$log"; then
            echo "passed $check: ${command[*]}"
        else
            echo "FAILED $check: ${command[*]}"
            cat "$log"
            failed=1
        fi
    done
done
exit "$failed"
