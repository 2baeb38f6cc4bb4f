#!/usr/bin/env bash
# From a fresh machine to a verified kernel: installs what is missing, builds build/release/jitgemm, and makes, compiles,
# runs and verifies a bf16 matrix multiplication of odd sizes. Without a GPU it stops after compiling.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

problem=(bf16 tn 1000 777 555)

set_up jitgemm_tool

if has_gpu; then
    say "jitgemm run ${problem[*]}"
    "$build/jitgemm" run "${problem[@]}"
else
    say "no GPU here: generating and compiling for sm_80 without running"
    "$build/jitgemm" dump "${problem[@]}" --arch sm_80 -o build/quickstart.cu
    "$build/jitgemm" dump "${problem[@]}" --arch sm_80 --emit cubin -o build/quickstart.cubin
    say "generated: $repository/build/quickstart.cu, compiled: $repository/build/quickstart.cubin"
fi
