#!/usr/bin/env bash
# cg-bench solves systems: answers, options, reports, and systems that have no solution by its methods.
# shellcheck disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"
banner='%%MatrixMarket matrix'

# A = [4 1 0; 1 3 1; 0 1 5], A*(1 2 3) = (6 10 17); U = [2 1; 0 4], U*(3 5) = (11 20)
printf '%s coordinate real symmetric\n3 3 5\n1 1 4\n2 1 1\n2 2 3\n3 2 1\n3 3 5\n' "$banner" >S.mtx
printf '%s array real general\n3 1\n6\n10\n17\n' "$banner" >b.mtx
printf '%s coordinate integer general\n3 1 3\n3 1 17\n1 1 6\n2 1 10\n' "$banner" >b2.mtx
printf '%s coordinate real general\n2 2 3\n1 1 2\n1 2 1\n2 2 4\n' "$banner" >U.mtx
printf '%s array integer general\n2 1\n11\n20\n' "$banner" >u.mtx
answer() { # "x" tolerance arguments...: x is rounded
    expect 0 cli "${@:3}" -q -o x.out
    silent
    calm
    is "$(head -1 x.out)" "$banner coordinate real general"
    is "$(entries x.out | awk -v t="$2" '{ printf "%g ", sprintf("%.0f", $3 / t) * t }')" "$1"
}

# ---- answers ----
for rhs in b.mtx b2.mtx; do answer "1 2 3 " 1e-6 S.mtx --rhs $rhs; done
answer "1 2 3 " 1e-6 --matrix S.mtx --rhs b.mtx --precondition jacobi
answer "1 2 3 " 1e-3 --matrix S.mtx --rhs b.mtx --precision f32
answer "1 2 3 " 1e-6 S.mtx --rhs b.mtx --solver bicgstab
answer "3 5 " 1e-6 U.mtx --rhs u.mtx --solver bicgstab
answer "3 5 " 1e-6 U.mtx --rhs u.mtx --solver bicgstab --precondition jacobi
answer "1 1 1 " 1e-6 S.mtx
answer "1 1 1 " 1e-6 S.mtx --method gather --passes 2
gzip -c b.mtx >b.mtx.gz
answer "1 2 3 " 1e-6 S.mtx --rhs b.mtx.gz
input=b.mtx
answer "1 2 3 " 1e-6 S.mtx --rhs -
input=S.mtx
answer "1 2 3 " 1e-6 - --rhs b.mtx
input=/dev/null
expect 0 cli S.mtx --rhs b.mtx -o -
is "$(head -c 14 "$out")" "%%MatrixMarket"
told "residual"
printf '%s array real general\n3 1\n0\n0\n0\n' "$banner" >zero.mtx
answer "0 0 0 " 1 S.mtx --rhs zero.mtx
printf '%s coordinate real general\n3 1 1\n2 1 3\n' "$banner" >one.mtx
answer "-0.294 1.176 -0.235 " 1e-3 S.mtx --rhs one.mtx --rtol 1e-10
printf '%s coordinate pattern symmetric\n2 2 2\n1 1\n2 2\n' "$banner" >pattern.mtx
printf '%s coordinate pattern general\n2 1 1\n2 1\n' "$banner" >half.mtx
answer "0 1 " 1 pattern.mtx --rhs half.mtx
printf '%s array real symmetric\n2 2\n2\n1\n2\n' "$banner" >array.mtx
answer "1 1 " 1e-6 array.mtx
printf '%s coordinate real symmetric\n2 2 3\n1 1 2\n1 2 1\n2 2 2\n' "$banner" >upper.mtx
expect 2 cli upper.mtx
told "upper.mtx:4: "
answer "1 1 " 1e-6 upper.mtx --lenient
printf '%s coordinate real general\n0 0 0\n' "$banner" >none.mtx
answer "" 1 none.mtx
printf '%s coordinate real general\n1 1 1\n1 1 3\n' "$banner" >single.mtx
answer "1 " 1e-6 single.mtx
expect 0 cli S.mtx -q -o x.mtx.gz
is "$(gzip -dc x.mtx.gz | head -1)" "$banner coordinate real general"

# ---- generated systems; the same bits for any number of threads ----
for spec in poisson2d:30 stencil27:6; do
    for precondition in none jacobi multigrid; do
        expect 0 cli --generate $spec --precondition $precondition --json --device cpu
        is "$(json converged) $(json matrix) $(json precondition)" "true \"$spec\" \"$precondition\""
        awk -v r="$(json residual)" -v e="$(json error)" 'BEGIN { exit r > 1e-8 || e > 1e-5 }' || wrong "not exact"
    done
    expect 0 cli --generate $spec --solver bicgstab --json --device cpu
    is "$(json converged) $(json solver)" 'true "bicgstab"'
done
for threads in 1 2 5; do
    expect 0 cli --generate stencil27:12 --threads $threads --device cpu -q -o x$threads.mtx
    same x1.mtx x$threads.mtx
done
expect 0 cli --generate perm:50 --seed 7 --solver bicgstab --json --rtol 0.9 --max-iter 200
is "$(json matrix)" '"perm:50"'
expect 0 cli --generate poisson2d:20 --rtol 0.5 --json
awk -v r="$(json residual)" 'BEGIN { exit r > 0.5 || r < 1e-3 }' || wrong "rtol is not kept"
expect 0 cli --generate poisson2d:20 --precision f32 --json
is "$(json precision) $(json rtol) $(json converged)" '"f32" 0.0001 true'
expect 0 cli --generate poisson2d:20 --repeat 3 --json
is "$(json repeats)" 3

# ---- the report ----
expect 0 cli S.mtx --rhs b.mtx
calm
for word in "S.mtx: real symmetric" "b.mtx: array, real general" "|b - A x| / |b|" iterations read solve memory; do
    said "$word"
done
not_said "|x - 1|"
expect 0 cli --generate poisson2d:20 -v
for word in "|x - 1|" method predicted measured device "plan"; do said "$word"; done
expect 0 cli S.mtx --rhs b.mtx --json -o x.out
is "$(json class) $(json n) $(json nnz) $(json zeta) $(json verified) $(json mops)" "null 3 7 null null null"
is "$(json rhs) $(json x) $(json error) $(json device)" '"b.mtx" "x.out" null "cpu"'
[[ $(json ms.write) =~ ^[0-9] ]] || wrong "ms.write"

# ---- systems that are not solved: exit code 5, the reason, and no x ----
unsolved() { # "part" arguments...
    expect 5 cli "${@:2}" -q -o never.mtx
    silent
    told "$1"
    told "x is not written"
    is "$(wc -l <"$err")" 1
    [ ! -e never.mtx ] || wrong "x was written"
}
printf '%s coordinate real symmetric\n2 2 2\n1 1 1\n2 2 -1\n' "$banner" >indefinite.mtx
unsolved "iteration" indefinite.mtx
printf '%s coordinate real general\n2 2 2\n1 1 nan\n2 2 1\n' "$banner" >nan.mtx
unsolved "cg-bench: " nan.mtx
unsolved "cg-bench: " nan.mtx --solver bicgstab
printf '%s array real general\n3 1\n1\ninf\n1\n' "$banner" >inf.mtx
unsolved "cg-bench: " S.mtx --rhs inf.mtx
printf '%s coordinate real general\n2 2 0\n' "$banner" >void.mtx
printf '%s array real general\n2 1\n1\n1\n' "$banner" >ones.mtx
unsolved "cg-bench: " void.mtx --rhs ones.mtx
unsolved "5" --generate poisson2d:50 --max-iter 5
printf '%s coordinate real general\n2 2 2\n1 2 1\n2 1 -1\n' "$banner" >skew.mtx
unsolved "skew.mtx is not symmetric, and --solver bicgstab takes any square matrix" skew.mtx
unsolved "by recurrence" --generate poisson2d:20 --precision f32 --rtol 1e-8 # f32 reaches it by recurrence alone
expect 5 cli --generate poisson2d:50 --max-iter 5
said "NOT CONVERGED"
expect 5 cli --generate poisson2d:50 --max-iter 5 --json
is "$(json converged) $(json iterations)" "false 5"

# ---- the history ----
expect 5 cli --generate poisson2d:50 --max-iter 5 -q --history h.json
is "$(json iteration h.json) $(json solver h.json)" '[0, 1, 2, 3, 4, 5] "cg"'
is "$(json residual h.json | tr , '\n' | wc -l)" 6
expect 0 cli --generate poisson2d:50 --json --history h.json
is "$(json residual h.json | tr , '\n' | wc -l)" "$(($(json iterations) + 1))"
picture() { # arguments...
    expect 0 cli "$@" -q --history h.svg
    calm
    "$HELPER" xml <h.svg || wrong "no well-formed picture"
    grep -q '<svg [^>]*role="img"' h.svg || wrong "no image to a screen reader"
    ! grep -qE 'nan|inf' h.svg || wrong "a number that is none"
}
picture --generate poisson2d:50
grep -q '<title>poisson2d:50: conjugate gradients, 2,500 rows</title>' h.svg || wrong "another title"
grep -q 'rtol 1e-08' h.svg || wrong "no goal"
picture --generate poisson2d:10 --solver bicgstab --precondition jacobi
grep -q 'BiCGStab with Jacobi' h.svg || wrong "another title"
picture none.mtx
picture S.mtx --rhs zero.mtx
finish
