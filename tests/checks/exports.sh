#!/usr/bin/env bash
# exports.sh library LIBRARY LIST: the shared library exports the functions of the list and no others.
# exports.sh headers FOLDER LIST: the headers of the folder declare the functions of the list and no others.
# exports.sh reserved FOLDER: the comment at LSP_RESERVED lists the structs that have reserved words, and no others.
set -euo pipefail
export LC_ALL=C
if [ "$1" = reserved ]; then
    diff <(awk '/^typedef struct/ { name = $3 } /reserved\[LSP_RESERVED( - [0-9]+)?\]/ { print name }' "$2"/*.h | sort) \
        <(sed -n '/Room for members/,/enum {/p' "$2/core.h" | grep -oE 'lsp_[a-z_]+' | sort)
    exit
fi
case $1 in
library) nm -D --defined-only "$2" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' ;;
headers) find "$2" -name '*.h' -exec cat {} + | grep -v '^#' | tr '\n' ' ' | grep -oE 'LSP_API [^;(]*\(' | grep -oE '[a-z0-9_]+\($' | tr -d '(' ;;
esac | sort | diff - "$3"
