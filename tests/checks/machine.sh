#!/usr/bin/env bash
# The inner loops of two-body statistics have no more instructions than when they were tuned: a compiler could take them
# back, and no result would show it. Counted from the machine code, a loop being known by what it computes: among the
# loops of the functions that match, those with n times UNIT and with each other mnemonic so many times n (n or more: a
# plus sign); the shortest of them must have at most LIMIT instructions for each UNIT. Ends with 77, and a sentence, where
# the code cannot be read.
#   machine.sh host OBJDUMP AVX2.o AVX512.o    |    machine.sh gpu CUOBJDUMP FILE.o...
set -euo pipefail
tool=$2 wrong=0
here=$(cd "$(dirname "$0")" && pwd)
code=$(mktemp)
trap 'rm -f "$code"' EXIT

# at_most LIMIT "what" FUNCTIONS UNIT LEAST_N [MNEMONIC=TIMES]...
at_most() {
    local found
    found=$(awk -v functions="$3" -v unit="$4" -v least="$5" -v wanted="${*:6}" '
        BEGIN { rules = split(wanted, rule, " ") }
        $1 ~ functions {
            for (m in seen) delete seen[m]
            for (i = 3; i <= NF; i++) seen[substr($i, 1, index($i, "=") - 1)] = substr($i, index($i, "=") + 1)
            n = seen[unit] + 0
            fits = n >= least + 0
            for (r = 1; r <= rules && fits; r++) {
                split(rule[r], part, "=")
                fits = seen[part[1]] + 0 == part[2] * n || (part[2] ~ /[+]$/ && seen[part[1]] + 0 >= part[2] * n)
            }
            if (fits && (best == "" || $2 / n < best)) best = $2 / n
        }
        END { print best }' "$code")
    if [ -z "$found" ]; then
        echo "$2: no loop has the instructions that it was known by; look at the code, and mend this test"
        wrong=1
    elif awk -v found="$found" -v limit="$1" 'BEGIN { exit !(found > limit) }'; then
        echo "$2: $found instructions, and $1 were the most"
        wrong=1
    else
        echo "$2: $found instructions, at most $1"
    fi
}

case $1 in
host) # a unit is a vector of pairs; compared with gcc 12 -O3
    for isa in avx2 avx512; do
        "$tool" -d --no-show-raw-insn "$3" | awk -f "$here/loops.awk" >"$code"
        shift
        most=21 hits=24
        [ $isa = avx2 ] || most=15.5 hits=34
        at_most 10 "$isa, count, f32" '^count_f32$' vcmple_oqps 2 vsubps=3
        at_most 10 "$isa, count, f64" '^count_f64$' vcmple_oqpd 2 vsubpd=3
        at_most "$most" "$isa, histogram, f32" '^histogram_f32$' vsqrtps 2 vsubps=3
        at_most 23 "$isa, Gaussian density, f32" '^density_f32$' vpslld 2 vsubps=3 vmaxps=1
        at_most 11.5 "$isa, Epanechnikov density, f32" '^density_f32$' vmaxps 2 vsubps=3 vpslld=0
        at_most "$hits" "$isa, hits of a join, f32" '^hits_f32$' vcmple_oqps 1 vsubps=3
    done
    ;;
gpu) # a unit is a pair; compared with CUDA 13 for compute capability 9.0
    for object in "${@:3}"; do "$tool" -arch sm_90 -sass "$object" 2>/dev/null || true; done | awk -f "$here/loops.awk" >"$code"
    if ! grep -q kernel_count "$code"; then
        echo "not checked: this build has no code for compute capability 9.0"
        exit 77
    fi
    open='pair_spaceIfL14lsp_space_kind0ELi3E' wide='pair_spaceIdL14lsp_space_kind0ELi3E'
    cube='pair_spaceIfL14lsp_space_kind1ELi3E'
    at_most 7.9 "count, f32" "kernel_countI.*$open" FMUL 16 FADD=3 FFMA=2
    at_most 10 "count, f64" "kernel_countI.*$wide" DMUL 8 DADD=3 DFMA=2
    at_most 11 "count, periodic" "kernel_countI.*$cube" FMUL 16 FFMA=2
    at_most 9.1 "count of near points, f32" "kernel_count_nearI.*$open" FMUL 8 FADD=3 FFMA=2
    at_most 13.1 "several radii, f32" "kernel_tallyI.*$open.*edge_bins" FMUL 8 FADD=3 FFMA=2
    at_most 7.9 "count of pairs of groups, f32" "kernel_count_boxesI.*$open" FMUL 16 FADD=3 FFMA=2
    at_most 9.9 "density of one set, scaled, f32" "kernel_densityI.*${open}.*term1ELb1" MUFU.EX2 16 FADD=3+ FFMA=4
    at_most 11 "density of one set, f32" "kernel_densityI.*${open}.*term0ELb1" MUFU.EX2 16 FADD=3+ FFMA=4
    at_most 20.3 "histogram, f32, with the loop that is done again" "kernel_tallyI.*$open.*root_way1ELb0" MUFU.SQRT 8 FADD=3
    at_most 21.3 "histogram, f32, bins beyond cut off" "kernel_tallyI.*$open.*root_way1ELb1" MUFU.SQRT 8 FADD=3
    at_most 16 "histogram of many bins, f32" "kernel_tallyI.*$open.*root_way2ELb0" MUFU.RSQ 8 FADD=3
    at_most 10.9 "histogram, f32, approximate root" "kernel_tallyI.*$open.*root_way3ELb0" MUFU.SQRT 4 FADD=3
    at_most 11.9 "histogram, f32, approximate root, bins beyond cut off" "kernel_tallyI.*$open.*root_way3ELb1" MUFU.SQRT 4 FADD=3
    at_most 14 "histogram, periodic, approximate root" "kernel_tallyI.*$cube.*root_way3ELb0" MUFU.SQRT 4 FFMA.RM=1
    at_most 40.5 "histogram, f64, with the pairs that are done again" "kernel_tallyI.*$wide.*root_way1ELb1" MUFU.SQRT 4 FFMA.RM=1+
    at_most 15.2 "histogram, f64, approximate root" "kernel_tallyI.*$wide.*root_way3ELb1" MUFU.SQRT 4 DADD=3
    ;;
esac
exit $wrong
