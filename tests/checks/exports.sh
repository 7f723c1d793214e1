#!/usr/bin/env bash
# exports.sh library LIBRARY LIST: the shared library exports the functions of the list and no others.
# exports.sh headers FOLDER LIST: the headers of the folder declare the functions of the list and no others.
set -euo pipefail
export LC_ALL=C
case $1 in
library) nm -D --defined-only "$2" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' ;;
headers) find "$2" -name '*.h' -exec cat {} + | grep -v '^#' | tr '\n' ' ' | grep -oE 'LSP_API [^;(]*\(' | grep -oE '[a-z0-9_]+\($' | tr -d '(' ;;
esac | sort | diff - "$3"
