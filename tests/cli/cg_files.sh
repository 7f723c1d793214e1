#!/usr/bin/env bash
# Files of cg-bench that are missing, malformed or of the wrong size; outputs that cannot be written; interruptions.
# shellcheck disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"
small_matrices
banner='%%MatrixMarket matrix'
printf '%s array real general\n2 1\n1\n1\n' "$banner" >b.mtx
printf '%s coordinate real symmetric\n2 2 2\n1 1 2\n2 2 2\n' "$banner" >S.mtx

refused() { # "part" arguments...
    expect 2 cli "${@:2}"
    told "$1"
    is "$(wc -l <"$err")" 1
    silent
}

# ---- input ----
mkdir folder
refused "missing.mtx" missing.mtx
refused "missing.mtx" S.mtx --rhs missing.mtx
refused "folder" folder
printf 'hello\n' >hello.mtx
refused "hello.mtx:1: " hello.mtx
refused "hello.mtx:1: " S.mtx --rhs hello.mtx
printf '%s coordinate real general\n2 2 2\n1 1 1\n3 1 1\n' "$banner" >beyond.mtx
refused "beyond.mtx:4: " beyond.mtx
is "$(cut -c1-13 "$err")" "beyond.mtx:4:"
refused "wide.mtx is 2 x 3: only a square system can be solved" wide.mtx
refused "complex.mtx is complex" complex.mtx
printf '%s array complex general\n2 1\n1 1\n1 1\n' "$banner" >complex_b.mtx
refused "complex_b.mtx is complex" S.mtx --rhs complex_b.mtx
for size in "3 1" "1 2" "2 2" "0 1"; do
    printf '%s coordinate real general\n%s 0\n' "$banner" "$size" >wrong.mtx
    refused "wrong.mtx is ${size/ / x }, and b must be 2 x 1, because S.mtx is 2 x 2" S.mtx --rhs wrong.mtx
done
printf '%s coordinate real general\n2 2 1\n1 1 1\n' "$banner" >hole.mtx
refused "hole.mtx: row 2, counted from 1: the diagonal entry is 0 or missing" hole.mtx --precondition jacobi
input=beyond.mtx
refused ":4: " -
input=/dev/null

# ---- output ----
refused "no/such/x.mtx: cannot be written: No such file" missing.mtx -o no/such/x.mtx # before anything is read
refused "folder: cannot be written: Is a directory" missing.mtx -o folder
refused "no/such/h.svg: cannot be written: No such file" missing.mtx --history no/such/h.svg
refused "no/such/h.json: cannot be written: No such file" --class E --history no/such/h.json
if [ "$(id -u)" != 0 ]; then
    chmod a-w folder
    refused "folder/x.mtx: cannot be written: Permission denied" missing.mtx -o folder/x.mtx
    chmod u+w folder
fi
overwrites() { # "part" arguments...
    cp S.mtx before
    expect 1 cli "${@:2}"
    told "$1"
    silent
    same S.mtx before
}
ln -s S.mtx link.mtx
overwrites "x would overwrite A: 'link.mtx' and 'S.mtx' are the same file" S.mtx -o link.mtx
overwrites "x would overwrite b: " S.mtx --rhs b.mtx -o ./b.mtx
cp S.mtx S.json
overwrites "the history would overwrite A: " S.json --history S.json
overwrites "the history would overwrite x: " S.mtx -o x.json --history ./x.json
if [ -c /dev/full ]; then
    full() { "$CLI" "$@" >/dev/full; }
    expect 2 full S.mtx
    told "standard output cannot be written: No space left on device"
    expect 2 full S.mtx -q -o -
    told "cg-bench: "
    expect 0 full S.mtx -q
fi
printf 'old\n' >x.mtx
expect 5 cli --generate poisson2d:50 --max-iter 2 -q -o x.mtx
is "$(cat x.mtx)" old
expect 0 cli S.mtx -q -o x.mtx
is "$(head -c 14 x.mtx)" "%%MatrixMarket"
limited() (ulimit -f 8 && exec "$CLI" "$@")
mkdir small
expect 2 limited --generate poisson2d:60 -q -o small/x.mtx
told "cannot be written: File too large"
expect 2 limited --generate poisson2d:200 -q --history small/h.json
told "the history 'small/h.json' cannot be written: File too large"
is "$(ls -A small)" ""
expect 141 "$HELPER" pipe 10 "$CLI" --generate poisson2d:100 -o -
calm

# ---- too little memory ----
expect 3 cli --generate poisson2d:300 --max-memory 1M --device cpu
told "cg-bench: "
silent

# a method that needs a copy of A gives way if the copy does not fit
expect 0 cli --generate stencil27:60 --max-memory 95M --device cpu --json
is "$(json method) $(json converged)" '"rows" true'
is "$(json plan.reason)" '"memory does not suffice for a plan of diagonals"'
expect 3 cli --generate stencil27:60 --max-memory 95M --device cpu --method diagonals

# ---- control characters in names of files do not reach the terminal ----
odd=$'a\x1b[31m\nb.mtx'
cp S.mtx "$odd"
expect 0 cli "$odd"
said 'a\x1b[31m\nb.mtx: real symmetric'
expect 0 cli "$odd" --json
is "$(json matrix)" '"a\u001b[31m\u000ab.mtx"'
expect 0 cli "$odd" -q --history odd.svg
"$HELPER" xml <odd.svg || wrong "no well-formed picture"

# ---- an interrupted run leaves no unfinished file ----
mkdir quiet
interrupted() { # signal arguments...: sent when the output is complete but not yet renamed
    (exec env --default-signal=QUIT "${faked[@]}" LSP_FAKE=linger "$CLI" "${@:2}") &
    local tool=$! waited=0
    while [ -z "$(find quiet -type f -size +0)" ] && [ $((waited += 1)) -lt 900 ]; do sleep 0.01; done
    kill -s "$1" $tool
    wait $tool
}
ulimit -c 0
for signal in TERM XCPU; do
    for output in "-o quiet/x.mtx" "--history quiet/h.svg" "--history quiet/h.json"; do
        # shellcheck disable=SC2086
        expect $((128 + $(kill -l $signal))) interrupted $signal S.mtx -q $output
        is "$(ls -A quiet)" ""
    done
done
finish
