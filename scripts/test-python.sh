#!/usr/bin/env bash
# Makes the wheel and runs tests/python in fresh virtual environments: without any other package, with numpy and
# ml_dtypes, and with PyTorch, transformers and JAX as well, whose wheels from PyPI run without a GPU, too (some
# gigabytes: --no-torch leaves them out).
#   scripts/test-python.sh [--build FOLDER] [--oldest-glibc 2.28] [--no-torch]
# FOLDER: a build of scripts/test.sh, so that only the extension is compiled. --oldest-glibc: the wheel for that one and
# newer, as scripts/wheel.sh builds and checks it; all is compiled anew.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$repository"

largest_wheel=5000000    # bytes
build_option=()
torch=(torch==2.11.* "jax>=0.6" "transformers>=5.17")
while [ $# -gt 0 ]; do
    case $1 in
        --build) build_option=(--build "${2:?a folder}"); shift 2 ;;
        --oldest-glibc) build_option=(--oldest-glibc "${2:?a version}"); shift 2 ;;
        --no-torch) torch=(); shift ;;
        *) fail "unknown option $1: scripts/test-python.sh [--build FOLDER] [--oldest-glibc VERSION] [--no-torch]" ;;
    esac
done

environments=$(mktemp -d)
trap 'rm -rf "$environments"; print_times' EXIT

large_files() {
    python3 -c 'import sys, zipfile
print(sum(file.file_size > 1_000_000 for file in zipfile.ZipFile(sys.argv[1]).infolist()))' "$1"
}

make_wheel() {
    wheel=$(scripts/wheel.sh --output build/python "${build_option[@]}")
    if [ "$(stat --format=%s "$wheel")" -gt "$largest_wheel" ]; then
        fail "$wheel has $(stat --format=%s "$wheel") bytes, more than $largest_wheel"
    fi
    if [ "$(large_files "$wheel")" -ne 1 ]; then
        fail "$wheel holds the library $(large_files "$wheel") times: it must hold it once"
    fi
}

# test_with NAME PACKAGE...: what needs a package that is not there is skipped, which pytest says.
test_with() {
    local name=$1 python=$environments/$1/bin/python started=$SECONDS
    shift
    python3 -m venv "$(dirname "$(dirname "$python")")"
    "$python" -m pip install --quiet --disable-pip-version-check "$wheel" pytest "$@"
    if ! has_nvrtc "$(toolkit_root)" 13; then
        "$python" -m pip install --quiet --disable-pip-version-check "${wheel}[cuda$(newest_cuda_major)]"
    fi
    # In an empty folder: python looks there first, and a folder called torch would be imported as a package.
    mkdir "$environments/$name/empty"
    (cd "$environments/$name/empty" && JITGEMM_TEST_CACHE=$environments/cache "$python" -m pytest \
        -c "$repository/pyproject.toml" --rootdir "$repository" -p no:cacheprovider "$repository/tests/python")
    say "environment $name: $((SECONDS - started)) s"
}

# On two cores the environments take half the time side by side. Their output comes one after the other.
test_without_torch() {
    test_with plain
    test_with numpy numpy ml_dtypes mypy
}

test_everywhere() {
    local job failed=0
    test_without_torch >"$environments/log" 2>&1 &
    job=$!
    if [ "${#torch[@]}" -gt 0 ]; then
        test_with torch numpy ml_dtypes "${torch[@]}" &
        wait $! || failed=1
    fi
    wait "$job" || failed=1
    cat "$environments/log"
    return "$failed"
}

timed "wheel" make_wheel
timed "tests" test_everywhere
