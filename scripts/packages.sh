# SPDX-License-Identifier: Apache-2.0
# Sourced by the other scripts: gets Debian packages, and says which are needed for what.

# need_packages PACKAGE...: installs those that are missing.
need_packages() {
    missing=""
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q "install ok installed" || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    as_root=""
    if [ "$(id -u)" -ne 0 ]; then
        as_root="sudo"
    fi
    echo "installing:$missing"
    $as_root apt-get update -qq
    # shellcheck disable=SC2086 # a list of words
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

# unpack_packages ARCHITECTURE FOLDER PACKAGE...: puts packages of another architecture where a cross compiler can link with them. Nothing is
# installed and apt keeps its lists in FOLDER.apt, so the machine itself stays of one architecture.
unpack_packages() (
    architecture=$1
    folder=$PWD/$2
    shift 2
    [ ! -d "$folder" ] || return 0
    echo "unpacking for $architecture: $*"
    rm -rf "$folder.apt"
    mkdir -p "$folder.apt/lists/partial" "$folder.apt/root"
    foreign_apt() {
        apt-get -qq -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" -o APT::Sandbox::User= \
            -o Dir::State="$folder.apt" -o Dir::State::status=/dev/null -o Dir::Cache="$folder.apt" "$@"
    }
    cd "$folder.apt"
    foreign_apt update
    foreign_apt download "$@"
    for package in *.deb; do
        dpkg-deb -x "$package" root
    done
    mv root "$folder"
    rm -rf "$folder.apt"
)

# What every build of the library and the command wants.
build_packages="gcc libc6-dev meson ninja-build pkg-config libdlpack-dev libdnnl-dev libhwloc-dev libjansson-dev libprotobuf-c-dev
    protobuf-c-compiler ocl-icd-opencl-dev opencl-headers"
# What the tests want on top: both compilers, for C and C++, and their sanitizers; a device of OpenCL, which is the CPU; what the
# default options leave out.
test_packages="g++ clang libclang-rt-dev libcmocka-dev libopenblas-dev pocl-opencl-icd python3"
# What runs them as other CPUs would: a cross compiler, an emulator, and what the tests link with there.
emulation_packages="gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
arm64_packages="libcmocka0 libcmocka-dev libjansson4 libjansson-dev"
