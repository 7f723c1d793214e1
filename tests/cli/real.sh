#!/usr/bin/env bash
# Describes, draws, multiplies and checks every Matrix Market file in the folder MATRICES.
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"

for file in "$MATRICES"/*.mtx "$MATRICES"/*.mtx.gz; do
    [ -e "$file" ] || continue
    expect 0 cli --info --json "$file" --spy picture.svg
    "$HELPER" xml <picture.svg || wrong "no well-formed picture"
    rows=$(json a.rows) cols=$(json a.cols) field=$(json a.field)
    if [ "$rows" != "$cols" ]; then
        expect 2 cli "$file"
        told "--transpose-b"
        expect 0 cli --check --transpose-b --json "$file"
        is "$(json check.ok)" true
    else
        expect 0 cli --check --json "$file"
        is "$(json check.ok)" true
        # INDEX.tsv, if it exists, has the published numbers of products and entries of A*A
        counts=$(awk -F'\t' -v f="$(basename "$file")" '$1 == f && $8 != "-" {print $8, $9}' "$MATRICES/INDEX.tsv" 2>/dev/null)
        [ -z "$counts" ] || is "$(json products) $(json nnz_c)" "$counts"
    fi
    if [ "$(stat -c %s "$file")" -lt 100000 ]; then
        [ "$field" = '"complex"' ] && single=() || single=(--precision f32)
        expect 0 cli --check "${single[@]}" --transpose-b --json "$file"
        is "$(json check.ok)" true
    fi
done
[ "$cases" -gt 0 ] || { echo "no matrices in $MATRICES" && exit 77; }
finish
