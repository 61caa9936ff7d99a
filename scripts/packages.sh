# SPDX-License-Identifier: Apache-2.0
# Sourced by the other scripts: installs those of the named Debian packages that are missing.

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

# What every build of the library and the command wants.
build_packages="gcc libc6-dev meson ninja-build pkg-config libdlpack-dev libdnnl-dev libhwloc-dev libjansson-dev"
# What the tests want on top: both compilers, for C and C++, and their sanitizers.
test_packages="g++ clang libclang-rt-dev libcmocka-dev python3"
