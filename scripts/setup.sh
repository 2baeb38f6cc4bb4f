# shellcheck shell=bash
# Sourced by quickstart.sh and test.sh: installs what is missing, finds or fetches CUDA, configures and builds
# build/release. Each step first looks whether there is anything to do, so that a second run costs next to nothing.

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$repository/build/release
wheels=$repository/build/wheels

say() { printf '%s\n' "== $*" >&2; }
fail() { printf '%s\n' "error: $*" >&2; exit 1; }

# ---- time of each step, printed at the end ---------------------------------------------------------------------------

step_times=()

# timed NAME COMMAND...: runs the command in this shell; a failing one ends the script as without `timed`.
timed() {
    local name=$1 started=$SECONDS
    shift
    "$@"
    step_times+=("$(printf '%5d s  %s' $((SECONDS - started)) "$name")")
}

print_times() {
    say "time of each step"
    printf '%s\n' "${step_times[@]}" "$(printf '%5d s  in all' "$SECONDS")" >&2
}

# ---- packages --------------------------------------------------------------------------------------------------------

# command or package → what apt calls it. Commands may come from elsewhere (a newer cmake, clang as c++).
required_commands=(c++:g++ cmake:cmake ninja:ninja-build)
required_packages=(libspdlog-dev libfmt-dev libcli11-dev nlohmann-json3-dev libxxhash-dev libsqlite3-dev catch2)

is_installed() { [ "$(dpkg-query -W -f='${Status}' "$1" 2>/dev/null)" = "install ok installed" ]; }

missing_packages() {
    local entry package
    for entry in "${required_commands[@]}"; do
        command -v "${entry%%:*}" >/dev/null || echo "${entry##*:}"
    done
    for package in "${required_packages[@]}"; do
        is_installed "$package" || echo "$package"
    done
}

# As root or through sudo; says what to install where neither works.
apt_install() {
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null || { ! sudo -n true 2>/dev/null && [ ! -t 0 ]; }; then
            fail "missing packages, and neither root nor sudo to install them. Please run:
  apt-get install $*"
        fi
        as_root=(sudo)
    fi
    say "installing $*"
    "${as_root[@]}" apt-get update -q >&2
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@" >&2
}

install_packages() {
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        say "no apt-get here. Install these yourself: a C++20 compiler, cmake, ninja, spdlog, fmt, CLI11," \
            "nlohmann-json, xxhash, SQLite and Catch2"
        return
    fi
    local missing
    missing=$(missing_packages)
    # shellcheck disable=SC2086  # one word per package
    if [ -n "$missing" ]; then apt_install $missing; fi
}

# ---- CUDA: headers to build with, an NVRTC that the driver can take cubins of ----------------------------------------

# The newest CUDA major whose cubins the installed driver loads; without a driver the newest there is.
newest_cuda_major() {
    local version=
    if [ -r /sys/module/nvidia/version ]; then
        version=$(cat /sys/module/nvidia/version)
    elif command -v nvidia-smi >/dev/null; then
        version=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1 || true)
    fi
    case ${version%%.*} in
        '' | *[!0-9]*) echo 13 ;;
        *) if [ "${version%%.*}" -ge 580 ]; then echo 13; else echo 12; fi ;;
    esac
}

# The folder of an installed toolkit that has the headers, or nothing.
toolkit_root() {
    local root nvcc
    nvcc=$(command -v nvcc || true)
    for root in "${CUDA_PATH:-}" "${CUDA_HOME:-}" "${nvcc:+$(dirname "$(dirname "$(readlink -f "${nvcc:-/}")")")}" \
                /usr/local/cuda /usr/local/cuda-*; do
        if [ -n "$root" ] && [ -e "$root/include/cuda.h" ] && [ -e "$root/include/nvrtc.h" ]; then
            echo "$root"
            return
        fi
    done
}

# has_nvrtc ROOT MAJOR: whether the toolkit has an NVRTC of that CUDA major, or an older one that is still new enough.
has_nvrtc() {
    local major
    for ((major = $2; major >= 12; --major)); do
        compgen -G "$1/lib64/libnvrtc.so.$major" >/dev/null && return
        compgen -G "$1/lib/libnvrtc.so.$major" >/dev/null && return
    done
    return 1
}

# fetch_wheels FOLDER PACKAGE...: unpacks PyPI wheels into a folder, once.
fetch_wheels() {
    local folder=$1 stamp
    shift
    stamp="$folder/.fetched-$1"
    if [ -e "$stamp" ]; then return; fi
    if ! python3 -m pip --version >/dev/null 2>&1; then
        command -v apt-get >/dev/null || fail "python3 with pip is needed to fetch $*"
        apt_install python3-pip ca-certificates
    fi
    say "fetching $* into ${folder#"$repository"/}"
    mkdir -p "$folder"
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
        --no-deps --upgrade --target "$folder" "$@" >&2
    touch "$stamp"
}

fetch_cuda_wheels() {
    if [ "$1" -ge 13 ]; then
        fetch_wheels "$wheels" "nvidia-cuda-nvrtc==13.0.*" "nvidia-cuda-runtime==13.0.*"
    else
        fetch_wheels "$wheels" "nvidia-cuda-nvrtc-cu12==12.9.*" "nvidia-cuda-runtime-cu12==12.9.*"
    fi
}

# Sets cuda_options: where CMake finds the headers, and where the library looks for NVRTC if wheels had to be fetched.
find_cuda() {
    local major root
    major=$(newest_cuda_major)
    root=$(toolkit_root)
    if [ -n "$root" ]; then
        cuda_options=(-DJITGEMM_CUDA_INCLUDE="$root/include")
        if has_nvrtc "$root" "$major"; then return; fi
        say "the NVRTC of $root is too new for this driver or missing: using the wheel for CUDA $major"
        fetch_cuda_wheels "$major"
    else
        fetch_cuda_wheels "$major"
        cuda_options=(-DJITGEMM_CUDA_INCLUDE="$(wheel_include_folders)")
    fi
    cuda_options+=(-DJITGEMM_WHEEL_DIRECTORY="$wheels")
}

wheel_include_folders() {
    local folders=("$wheels"/nvidia/*/include)
    (IFS=';' && echo "${folders[*]}")
}

# ---- build -----------------------------------------------------------------------------------------------------------

# Ninja runs CMake again by itself when a build file or the list of sources changes.
configure() {
    local wanted="${cuda_options[*]}"
    if [ -e "$build/build.ninja" ] && [ "$(cat "$build/.configured-with" 2>/dev/null)" = "$wanted" ]; then return; fi
    say "configuring build/release"
    cmake --preset release -S "$repository" "${cuda_options[@]}" >&2
    printf '%s\n' "$wanted" >"$build/.configured-with"
}

say_build_time() {
    say "the first build takes 4 to 5 minutes on two cores (with the tests 10)"
    if ! command -v ccache >/dev/null; then say "where ccache is installed, builds in other folders take less"; fi
}

# build_release [TARGET...]: everything when no target is named.
build_release() {
    configure
    if [ ! -e "$build/jitgemm" ]; then say_build_time; fi
    say "building build/release"
    cmake --build "$build" ${1:+--target "$@"} >&2
}

# newest_glibc FILE: the newest version of glibc that its symbols ask for.
newest_glibc() { objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1 | sed 's/GLIBC_//'; }

has_gpu() { compgen -G '/dev/nvidia[0-9]*' >/dev/null || [ -e /dev/dxg ]; }

set_up() {
    cd "$repository" || exit
    timed "packages" install_packages
    timed "CUDA headers and NVRTC" find_cuda
    timed "build" build_release "$@"
}
