#!/usr/bin/env bash
# Words that bash offers when the tab key is pressed.
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$SOURCE/cli/spgemm-cli.bash"
touch A.mtx 'B 1.mtx.gz' notes.txt C.svg
mkdir folder
: >"$out"
: >"$err"

offers "--threads --transpose-a --transpose-b" spgemm-cli --t
offers "--transpose-a --transpose-b" spgemm-cli A.mtx --tr
offers "--semiring" spgemm-cli --sem
offers "bool f32 f64 i32 i64" spgemm-cli --precision ""
offers "f64" spgemm-cli --precision = f6
offers "bool f32 f64 i32 i64" spgemm-cli --precision =
offers "cpu cuda cuda:" spgemm-cli --device c
offers "0,1 cpu,cpu" spgemm-cli --devices ""
offers "max-times min-plus" spgemm-cli --semiring m
offers "or-and" spgemm-cli --semiring = o
offers "" spgemm-cli --drop ""
offers "" spgemm-cli --keep ""
offers "A.mtx B 1.mtx.gz folder" spgemm-cli --mask ""
offers "cusparse" spgemm-cli --compare ""
offers "perm: poisson2d:" spgemm-cli --generate p
offers "" spgemm-cli --generate poisson2d :
offers "" spgemm-cli --generate poisson2d : 5
offers "" spgemm-cli --threads ""
offers "A.mtx B 1.mtx.gz folder" spgemm-cli ""
offers "A.mtx" spgemm-cli --json A
offers "C.svg folder" spgemm-cli --spy ""
offers "A.mtx" spgemm-cli -o A
offers "A.mtx" spgemm-cli --output = A
finish
