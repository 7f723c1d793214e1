#!/usr/bin/env bash
# docs/api.md is what scripts/api-reference makes of the headers, and has every exported function. SOURCE is the
# project's folder.
set -euo pipefail
export LC_ALL=C
cd "$SOURCE"
scripts/api-reference | diff docs/api.md - || { echo 'run scripts/api-reference >docs/api.md' && exit 1; }
missing=$(grep '^#### ' docs/api.md | grep -oE 'lsp_[a-z0-9_]+' | sort | comm -13 - <(sort tests/checks/exports.txt))
[ -z "$missing" ] || { echo "not in docs/api.md: $missing" && exit 1; }
