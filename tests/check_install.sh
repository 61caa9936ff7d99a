#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs into an empty folder and builds a user's program there through pkg-config, as a distribution and its users would.
#
#     check_install.sh BUILD_FOLDER SOURCE_FOLDER CC...
set -eu
build=$1 source=$2
shift 2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
DESTDIR=$root meson install -C "$build" --no-rebuild --quiet
config=$(find "$root" -name tessera.pc)
prefix=$root$(sed -n 's/^prefix=//p' "$config")
PKG_CONFIG_PATH=$(dirname "$config")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # flags are words
"$@" "$source/examples/2_reorder.c" -o "$root/program" $(pkg-config --define-variable=prefix="$prefix" --cflags --libs tessera)
library=$(dirname "$(find "$root" -name 'libtessera.so')")
LD_LIBRARY_PATH=$library "$root/program"
LD_LIBRARY_PATH=$library "$prefix/bin/tessera" --version
