#!/usr/bin/env bash
# cg-bench --class: zeta verifies, on a GPU too; what does not fit is refused; the report.
# shellcheck disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"

# ---- zeta ----
zeta_of_S=8.5971775078648 zeta_of_W=10.362595087124 zeta_of_A=17.130235054029
runs() { # class arguments...
    local reference=zeta_of_$1
    expect 0 cli --class "$1" --json "${@:2}"
    calm
    is "$(wc -l <"$out")" 1
    is "$(json class) $(json zeta_reference) $(json verified)" "\"$1\" ${!reference} true"
    awk -v z="$(json zeta)" -v r="${!reference}" 'BEGIN { e = (z - r) / r; exit e * e > 1e-20 }' || wrong "zeta"
}
runs S --device cpu
is "$(json n) $(json nnz) $(json iterations) $(json device) $(json solver)" '1400 78148 15 "cpu" "nas"'
for key in seconds mops residual passes peak_bytes threads repeats plan.seconds plan.predicted.rows ms.read; do
    [[ $(json $key) =~ ^[0-9.e+-]+$ ]] || wrong "$key is no number: $(json $key)"
done
is "$(json rtol) $(json error) $(json converged) $(json x) $(json ms.copy)" "null null null null null"
runs S --device cpu --threads 1
zeta=$(json zeta)
runs S --device cpu --threads 3
is "$(json zeta)" "$zeta" # the same bits
runs W --device cpu
runs A --device cpu
runs S --device cpu --repeat 2
is "$(json repeats)" 2
[[ $(json seconds_cold) =~ ^[0-9] ]] || wrong "no cold run"
for method in reference rows equal gather diagonals; do # those that the device has
    got=0
    "$CLI" --class S --device cpu --method $method --json >"$out" 2>"$err" || got=$?
    case="--method $method" cases=$((cases + 1))
    if [ $got = 0 ]; then
        is "$(json method) $(json verified)" "\"$method\" true"
    else
        is $got 2
        told "$method"
    fi
done
for passes in 1 4 auto; do
    runs S --device cpu --method gather --passes $passes
    is "$(json method)" '"gather"'
    [ $passes = auto ] || is "$(json passes)" $passes
done

# ---- the table ----
expect 0 cli --class S --device cpu
calm
for word in nascg:S "rows        columns          entries" "zeta         8.59717750786   verified" \
    "the published value 8.5971775078648" Mop/s "15 iterations of 25 steps on the CPU" memory; do said "$word"; done
not_said method
expect 0 cli --class S --device cpu -v
for word in method predicted measured device thread; do said "$word"; done
expect 0 cli --class S -q
silent
calm

# ---- a wrong zeta ----
expect 5 fake wrong --class S --device cpu
said "WRONG"
told "cg-bench: zeta does not verify: it is 8.597"
is "$(wc -l <"$err")" 1
expect 5 fake wrong --class S --device cpu --json
is "$(json verified)" false

# ---- classes that do not fit are refused at once, with the bytes ----
for class in S A D E; do
    expect 3 cli --class $class --max-memory 500K --device cpu
    told "cg-bench: class $class has up to "
    told " bytes ("
    told "but only 500 KiB are available"
    silent
done
expect 3 cli --class E --max-memory 8G
told "it needs 79236000008 bytes (73.8 GiB)"

# ---- the history ----
expect 0 cli --class S --device cpu -q --history h.json
is "$(json iteration h.json)" "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]"
is "$(json residual h.json | tr , '\n' | wc -l) $(json zeta h.json | tr , '\n' | wc -l)" "15 15"
expect 0 cli --class S --device cpu -q --history h.svg
"$HELPER" xml <h.svg || wrong "no well-formed picture"
grep -q '<title>NAS conjugate gradients, class S</title>' h.svg || wrong "another title"
is "$(grep -c '<circle' h.svg)" 15

# ---- a long run shows its progress on a terminal ----
if "$HELPER" tty true; then
    run_slow() { "${faked[@]}" LSP_FAKE=slow "$HELPER" tty "$CLI" --class S --device cpu "$@"; }
    expect 0 run_slow
    said $'\rrunning nascg:S, 1 s'
    grep -q $'\r  *\r' "$out" || wrong "the progress line was not erased"
    said "verified"
    expect 0 run_slow --quiet
    silent
    expect 0 fake slow --class S --device cpu
    calm
    not_said "running"
fi

# ---- a GPU ----
expect_device() { # code: a machine without a GPU says so before it generates anything
    expect 4 cli --class E "$@"
    silent
    is "$(wc -l <"$err")" 1
}
if "$CLI" --device cuda -q --class S >/dev/null 2>&1; then
    for class in S W A; do
        runs $class --device cuda
        is "$(json device)" '"cuda"'
    done
    expect 0 cli --class W --device cuda
    said "on the GPU"
    if "$CLI" --class S --compare cusparse -q >/dev/null 2>&1; then
        runs S --compare cusparse
        said '"way": "streamed"'
        said '"way": "graph"'
        expect 0 cli --class W --compare cusparse --repeat 2
        said "zeta verified"
        not_said "did not run"
    fi
else
    expect_device --device cuda
    expect_device --compare cusparse
fi
finish
