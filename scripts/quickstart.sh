#!/usr/bin/env bash
# From a fresh machine to a verified kernel: installs what is missing, builds build/release/jitgemm, and makes,
# compiles, runs and verifies a bf16 matrix multiplication of odd sizes: on a GPU, or without one on the emulator.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

problem=(bf16 tn 1000 777 555)

set_up jitgemm_tool

if ! has_gpu; then
    say "no GPU here: a smaller problem on the emulator, which runs the compiled PTX on the CPU"
    problem=(bf16 tn 501 389 277)
fi
say "jitgemm run ${problem[*]}"
timed "first kernel" "$build/jitgemm" run "${problem[@]}"
print_times
