#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that every public header compiles alone, and twice, as C11 and as C++17.
# usage: [CC=cc] [CXX=c++] check_headers.sh HEADER...     (an empty CXX leaves C++ out)
set -u
failures=0

# compile HEADER COMPILER FLAG...
compile() {
    folder=$(dirname "$(dirname "$1")")
    name=tessera/$(basename "$1")
    shift
    printf '#include <%s>\n#include <%s>\ntypedef int not_empty;\n' "$name" "$name" |
        "$@" -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$folder" - && return
    echo "FAILED: $name with $*"
    failures=$((failures + 1))
}

for header in "$@"; do
    # The compilers may be several words: word splitting is wanted.
    # shellcheck disable=SC2086
    compile "$header" ${CC:-cc} -std=c11 -x c
    # shellcheck disable=SC2086
    [ -z "${CXX-c++}" ] || compile "$header" ${CXX-c++} -std=c++17 -x c++
done
echo "$# headers, $failures failures"
[ "$#" -gt 0 ] && [ "$failures" -eq 0 ]
