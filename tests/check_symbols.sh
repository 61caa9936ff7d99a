#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks what the shared library exports against the committed list, so that a change of the ABI is a line of a
# diff, and that every global symbol of the static one begins with tsr_.
# usage: [NM=nm] check_symbols.sh SHARED_LIBRARY STATIC_LIBRARY LIST
set -u
LC_ALL=C
export LC_ALL
failures=0

"${NM:-nm}" -D --defined-only "$1" | awk '{ print $NF }' | sort | diff -u "$3" - || {
    echo "FAILED: $1 exports other symbols than $3 lists"
    failures=1
}
if grep -vn '^tsr_[a-z0-9_]*$' "$3"; then
    echo "FAILED: $3 lists names without the prefix tsr_"
    failures=1
fi
strangers=$("${NM:-nm}" -g --defined-only "$2" | awk 'NF == 3 && $3 !~ /^tsr_/ { print $3 }')
if [ -n "$strangers" ]; then
    echo "FAILED: $2 defines global symbols without the prefix tsr_:"
    echo "$strangers"
    failures=1
fi
echo "$(wc -l <"$3") symbols"
exit "$failures"
