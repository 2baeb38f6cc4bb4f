#!/usr/bin/env bash
# Makes jitgemm-<version>-linux-<machine>.tar.gz: bin/, lib/, include/ and share/doc/, to be unpacked anywhere on a
# machine whose glibc is Debian 12's (2.36) or newer. Nothing else need be installed to run it; NVRTC and the driver are
# found there.
#   scripts/package.sh [--output FOLDER] [--build FOLDER]
# FOLDER: where the tarball goes (build/); a build that is packed as it is, in place of one made for the purpose.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

oldest_glibc=2.36
output=$repository/build
given_build=

while [ $# -gt 0 ]; do
    case $1 in
        --output) output=$2 ;;
        --build) given_build=$2 ;;
        *) fail "unknown option $1: scripts/package.sh [--output FOLDER] [--build FOLDER]" ;;
    esac
    shift 2 || fail "an option lacks its folder"
done

# libstdc++ and libgcc go into the tool and libjitgemm.so; no folder of this machine does.
build_to_pack() {
    build=$repository/build/package
    install_packages
    find_cuda
    # The preset compiles with -O2. CMake's own Release has -O3, where g++ 12 warns of code that is right.
    cmake --preset release -S "$repository" -B "$build" -DJITGEMM_TESTS=OFF "${cuda_options[@]}" \
        -DJITGEMM_WHEEL_DIRECTORY= >&2
    cmake --build "$build" >&2
}

check_glibc() {
    local needed
    needed=$(newest_glibc "$1")
    if [ "$(printf '%s\n' "$needed" "$oldest_glibc" | sort -V | tail -n 1)" != "$oldest_glibc" ]; then
        fail "$1 needs glibc $needed: build on Debian 12 or older, whose $oldest_glibc newer systems have, too"
    fi
}

# Of a build made for the purpose: whatever it links beside glibc would have to be there where it is unpacked.
check_libraries() {
    local others
    others=$(objdump -p "$1" | awk '$1 == "NEEDED" { print $2 }' |
        grep -Ev '^(libc|libm|libdl|libpthread|ld-linux.*)\.so' || true)
    if [ -n "$others" ]; then fail "$1 needs more than glibc:" $others; fi
}

# stage NAME: installs into a folder of that name beside nothing else.
stage() {
    cmake --install "$build" --prefix "$staging/$1" --strip >/dev/null
    local file
    for file in "$staging/$1/bin/jitgemm" "$(find "$staging/$1" -name 'libjitgemm.so.*' -type f)"; do
        check_glibc "$file"
        if [ -z "$given_build" ]; then check_libraries "$file"; fi
    done
}

# The same files make the same tarball, whoever packs them and when.
pack() {
    mkdir -p "$output"
    tar --create --directory "$staging" --sort=name --owner=0 --group=0 --numeric-owner --mode=u+w,go=u-w \
        --mtime="@${SOURCE_DATE_EPOCH:-0}" "$1" | gzip --no-name >"$staging/$1.tar.gz"
    mv "$staging/$1.tar.gz" "$output/$1.tar.gz"
}

if [ -n "$given_build" ]; then build=$(cd "$given_build" && pwd); else build_to_pack; fi
staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT
version=$("$build/jitgemm" --version | awk '{ print $2 }')
name=jitgemm-$version-linux-$(uname -m)
stage "$name"
pack "$name"
say "packed"
echo "$output/$name.tar.gz"
