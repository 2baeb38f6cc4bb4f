#!/usr/bin/env bash
# Sets up as quickstart.sh does, then runs every test this machine can run. Arguments go to ctest: scripts/test.sh -L
# unit
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

set_up

if ! has_gpu; then say "no GPU here: tests labelled gpu are skipped"; fi
trap print_times EXIT
timed "tests" ctest --test-dir "$build" --output-on-failure -j "$(nproc)" "$@"
