#!/usr/bin/env bash
# --devices of spgemm-cli: a block of rows on each device. The CPU stands in for GPUs: cpu,cpu are two devices that share
# its threads. C has the bits of one device; failures are named; no file is left half written.
# shellcheck disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"
small_matrices
two=cpu,cpu three=cpu,cpu,cpu

# Writes C by one device and by several, and compares the files.
alike() { # devices arguments...
    expect 0 cli "${@:2}" --device cpu -q -o one.out
    expect 0 cli "${@:2}" --devices "$1" -q -o several.out
    silent
    calm
    same one.out several.out
}

# ---- the product ----
product "1 1 1/1 2 8/2 2 9/" A.mtx --devices cpu
for devices in cpu $two $three cpu,cpu,cpu,cpu,cpu; do # more devices than rows
    product "1 1 8/1 2 1/2 1 12/" A.mtx B.mtx --devices "$devices"
    product "1 1 5/2 2 9/" wide.mtx --transpose-b --devices "$devices"
    product "1 1 1/1 2 2/2 2 9/3 1 2/3 2 4/" wide.mtx A.mtx --transpose-a --devices "$devices"
    product "1 2 4/2 1 3/2 2 8/" A.mtx B.mtx --transpose-a --transpose-b --devices "$devices"
    product "1 1 1 2/" complex.mtx --devices "$devices" A.mtx --mask complex.mtx
done
printf '%%%%MatrixMarket matrix coordinate real general\n0 0 0\n' >none.mtx
product "" none.mtx --devices $two
printf '%%%%MatrixMarket matrix coordinate real general\n2 3 0\n' >empty.mtx
product "" A.mtx empty.mtx --devices $two
expect 0 cli --generate web:2000:1.8:200 -q -o web.mtx
expect 0 cli --generate rmat:9:8 --drop 0.5 -q -o other.mtx
for spec in rmat:10:8 stencil27:9 poisson2d:30; do alike $three --generate $spec; done
alike $two web.mtx --transpose-a
alike $two web.mtx --transpose-b --semiring min-plus
alike $three web.mtx --precision f32 --keep 3
alike $three web.mtx --mask web.mtx --semiring plus-pair
alike $two web.mtx --transpose-a --mask web.mtx --complement --drop 0.1 --keep 4
alike $two web.mtx --mask web.mtx --drop 0.1
printf '%%%%MatrixMarket matrix coordinate integer general\n3 3 4\n1 1 1\n2 2 1\n3 1 1\n3 3 50000\n' >whole.mtx
for precision in i64 bool f64; do alike $two whole.mtx --precision $precision; done

# ---- the report ----
expect 0 cli --generate rmat:10:8 --devices $two --check --repeat 3
said "the same bits as the reference"
said "the fastest of 3; median"
is "$(grep -c '^device  *CPU .* products, .* entries, ' "$out")" 2
expect 0 cli --generate rmat:10:8 --devices $two -v
is "$(grep -cE 'sort  *(one pass|two passes)' "$out")" 2
expect 0 cli --generate rmat:10:8 --device cpu --json
products=$(json products) nnz=$(json nnz_c) sum=$(json sum)
is "$(json devices)" null
expect 0 cli --generate rmat:10:8 --devices $three --json --check
is "$(json products) $(json nnz_c) $(json sum) $(json check.ok) $(json device)" "$products $nnz $sum true \"cpu\""
json devices | tr '{' '\n' >parts.txt
parts() { grep -o "\"$1\": [0-9]*" parts.txt | cut -d: -f2; }
total() { parts "$1" | awk '{ s += $1 } END { print s }'; }
is "$(total rows) $(total products) $(total nnz)" "1024 $products $nnz"
most=$(parts products | sort -n | tail -1)
[ $((most * 3)) -lt $((products * 5 / 4)) ] || wrong "a device has $most of $products products"
expect 0 cli --generate rmat:10:8 --devices $two --dry-run
said "products"
is "$(grep -c '^device  *CPU .* rows, .* products' "$out")" 2
not_said "entries,"
expect 0 cli --generate rmat:10:8 --devices $two --dry-run --json
is "$(json nnz_c) $(json devices | grep -o '"nnz": null' | wc -l)" "null 2"
expect 0 cli --generate poisson2d:20 --devices $two -q --spy picture.svg
"$HELPER" xml <picture.svg || wrong "no picture"

# ---- memory ----
large=(--generate er:8000:10 --threads 2)
expect 0 cli "${large[@]}" --device cpu -o one.out --json
peak=$(json peak_bytes)
blocks=0 refused=0
for ((part = 40; part <= 300; part += 20)); do # of the peak, in percent
    rm -f several.out
    got=0
    case="${large[*]} --devices $two with $part % of the memory" cases=$((cases + 1))
    "$CLI" "${large[@]}" --devices $two --max-memory $((peak * part / 100)) -o several.out >"$out" 2>"$err" || got=$?
    case $got in
    0)
        same one.out several.out
        blocks=$((blocks + $(grep -c "in blocks, which it multiplied twice" "$out")))
        ;;
    3)
        refused=$((refused + 1))
        [ ! -e several.out ] || wrong "a file after a failure"
        ;;
    *) wrong "exit code $got" ;;
    esac
done
case="all amounts of memory" cases=$((cases + 1))
is "$got" 0
[ "$blocks" -gt 0 ] || wrong "no part was made in blocks"
[ "$refused" -gt 0 ] || wrong "no amount was too small"
expect 3 cli "${large[@]}" --devices $two --max-memory $((peak * 2 / 3))
told "; with one --device and -o FILE it is multiplied and written in blocks of rows"

# ---- failures: named, and nothing is left ----
mkdir results
expect 2 cli whole.mtx --precision i32 --devices $two -o results/C.mtx # 50000^2
told "spgemm-cli: CPU: multiplying A*A: the product, row 0: "
told "does not fit LSP_I32"
told "spgemm-cli: CPU counts its rows from row 2 of C"
expect 4 fake gone --generate rmat:10:8 --devices $three -o results/C.mtx
told "spgemm-cli: CPU: "
told "GPU"
expect 5 fake wrong --generate rmat:10:8 --devices $two --check --threads 2 -o results/C.mtx
told "the check failed"
if ! "$CLI" --devices 0 -q A.mtx >/dev/null 2>&1; then
    expect 4 cli --devices 0,1 never.mtx -o results/C.mtx # before anything is read
    told "spgemm-cli: GPU 0: "
fi
is "$(ls -A results)" ""
expect 1 cli A.mtx --devices cpu,gpu
told "--devices takes"
expect 1 cli A.mtx --devices $two --device cpu
told "--devices and --device do not go together"
expect 1 cli A.mtx --devices 0,1 --compare cusparse
told "--devices and --compare do not go together"
expect 1 cli A.mtx --devices $two --info
told "--info and --devices do not go together"

# ---- GPUs ----
if "$CLI" --devices 0,0 -q A.mtx >/dev/null 2>&1; then
    alike 0,0 --generate rmat:12:8
    alike 0,0 web.mtx --transpose-a --mask web.mtx --complement --keep 4
    expect 0 cli --generate rmat:12:8 --devices 0,0 --check --json
    is "$(json device) $(json check.ok)" '"cuda" true'
    expect 0 cli --device cpu --generate er:40000:10 -q -o one.out
    expect 0 cli --devices 0,0 --generate er:40000:10 --max-memory 80M -o several.out
    same one.out several.out
fi
finish
