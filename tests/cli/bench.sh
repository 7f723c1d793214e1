#!/usr/bin/env bash
# The manual and the completion of sparse-bench know every option that the help lists.
# shellcheck disable=SC2013,SC2154
. "$(dirname "$0")/lib.sh"
manual=$SOURCE/bench/sparse-bench.1 completion=$SOURCE/bench/sparse-bench.bash
# shellcheck source=/dev/null
. "$completion"

expect 0 "$BENCH" --help
calm
cp "$out" help
for option in $(grep -oE -- '--[a-z-]+' help | sort -u); do
    grep -qF -- "Fl Fl ${option#--}" "$manual" || wrong "$option is not in the manual"
    grep -qF -- "$option" "$completion" || wrong "$option is not in the completion"
done
for column in spread MB/s Gitem/s Gflop/s copy 'best peer / ours'; do
    grep -qF "$column" help || wrong "the help does not explain the column $column"
    grep -qF "$column" "$manual" || wrong "the manual does not explain the column $column"
done
well_formed "$manual" "$completion"

touch A.mtx B.json C.svg notes.txt
mkdir folder
: >"$err"
offers "batch calibrate cg gather growth hash matrices mtx plot report scatter segsort sort spgemm spmv suffix_array transpose two_body" sparse-bench ""
offers "scatter segsort sort spgemm spmv suffix_array" sparse-bench s
offers "--threads --tune" sparse-bench segsort --t
offers "cpu cuda" sparse-bench segsort --device ""
offers "cpu" sparse-bench segsort --device = cp
offers "" sparse-bench segsort ""
offers "A.mtx folder" sparse-bench spgemm --file ""
offers "B.json folder" sparse-bench mtx --json ""
offers "B.json C.svg folder" sparse-bench plot ""
offers "" sparse-bench mtx --threads ""
finish
