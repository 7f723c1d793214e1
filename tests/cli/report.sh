#!/usr/bin/env bash
# Reports: tables, JSON, --info, pictures, the progress line.
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
small_matrices

# ---- the table ----
expect 0 cli A.mtx
calm
cp "$out" table
for word in rows columns entries "A " "C = A*A" products multiply memory "A.mtx: real general"; do said "$word"; done
expect 0 cli -v A.mtx
said "method"
said "sort"
calm # the plan is printed once
expect 0 cli -v --info A.mtx
told "spgemm-cli: spgemm: 4 products"
expect 0 cli -q A.mtx
silent
calm
expect 0 cli --generate er:1000:1 --dry-run
said "1,000"
expect 0 cli A.mtx B.mtx --transpose-b
said "C = A*B^T"

# ---- JSON ----
expect 0 cli --json A.mtx
calm
is "$(wc -l <"$out")" 1
is "$(json rows) $(json cols) $(json nnz_a) $(json nnz_b) $(json nnz_c) $(json products)" "2 2 3 3 3 4"
is "$(json device) $(json method) $(json ms.write) $(json check) $(json precision)" '"cpu" "sort" null null "f64"'
for key in compression ms.read ms.multiply gflops peak_bytes threads repeats; do
    [[ $(json $key) =~ ^[0-9.e+-]+$ ]] || wrong "$key is no number: $(json $key)"
done
expect 0 cli --json --check A.mtx wide.mtx
is "$(json rows) $(json cols) $(json check.ok) $(json check.max_rel_err)" "2 3 true 0"
expect 0 cli --json wide.mtx --transpose-b
is "$(json rows) $(json cols) $(json formula)" '2 2 "A*A^T"'
expect 0 cli --json A.mtx -o C.mtx
is "$(json c)" '"C.mtx"'
[[ $(json ms.write) =~ ^[0-9.e+-]+$ ]] || wrong "ms.write"
expect 0 cli --json A.mtx -o -
is "$(json nnz_c "$err")" 3
is "$(head -c 14 "$out")" "%%MatrixMarket"
expect 0 cli --json -q A.mtx
is "$(json nnz_c)" 3
odd=$'od"d\\ \t\x01\xff \xc3\xa9 <&>.mtx'
cp A.mtx "$odd"
for locale in C C.UTF-8 de_DE.UTF-8 fr_FR ar_EG; do
    expect 0 env LC_ALL=$locale "$CLI" --json --repeat 2 "$odd"
    is "$(json a)" $'"od\\"d\\\\ \\u0009\\u0001\\ufffd \xc3\xa9 <&>.mtx"'
    expect 0 env LC_ALL=$locale "$CLI" --json --info "$odd"
    is "$(json a.nnz)" 3
done

# ---- control characters in names of files do not reach the terminal ----
odd2=$'a\x1b[31m\nb\x7f\xc2\x9b\xff\t\xc3\xa9.mtx'
shown='a\x1b[31m\nb\x7f\xc2\x9b\xff\té.mtx'
cp A.mtx "$odd2"
expect 0 cli "$odd2" B.mtx --mask A.mtx --spy -
said "   $shown: real general"
said "A = $shown, B = B.mtx"
is "$(LC_ALL=C tr -d '\n -~' <"$out" | od -An -tx1 | tr -d ' \n')" c3a9c3a9
expect 0 cli A.mtx -o "$odd2"
said "$shown"
expect 2 cli "no$odd2"
told "spgemm-cli: no$shown: cannot be opened"
is "$(wc -l <"$err")" 1
expect 1 cli A.mtx B.mtx "$odd2"
told "'$shown' is one file too many"
printf 'hello\n' >"$odd2"
expect 2 cli "$odd2"
told "$shown:1: "
is "$(wc -l <"$err")" 1
rm "$odd2"

# ---- --info ----
expect 0 cli --info A.mtx
for word in symmetry diagonal bandwidth empty products "at most" "real general"; do said "$word"; done
said "one pass: 4 products and at most 3 entries"
expect 0 cli --info --json A.mtx
is "$(json product.passes) $(json product.supported)" "1 true"
[ "$(json product.plan_bytes)" -gt 0 ] || wrong "plan_bytes"
is "$(json a.nnz) $(json a.symmetry) $(json a.diagonal) $(json a.lower_bandwidth) $(json a.upper_bandwidth)" '3 "none" 2 0 1'
is "$(json a.histogram) $(json product.products) $(json product.formula)" '[0, 1, 1] 4 "A*A"'
expect 0 cli --info wide.mtx
said "A*A is not defined, but A*A^T is (--transpose-b)"
expect 0 cli --info --json wide.mtx
is "$(json product) $(json a.max_row) $(json a.cols)" "null 2 3"
expect 0 cli --info --json wide.mtx --transpose-b
is "$(json product.products) $(json product.formula)" '3 "A*A^T"'
expect 0 cli --info --json A.mtx wide.mtx
is "$(json b.cols) $(json product.products)" "3 4"
expect 0 cli --info wide.mtx A.mtx
said "the sizes do not match"
expect 0 cli --info --json --generate poisson2d:10
is "$(json a.symmetry) $(json a.upper_bandwidth) $(json product.products)" '"symmetric" 10 2148'
expect 0 cli --info --json complex.mtx
is "$(json a.field) $(json product.supported)" '"complex" true'
printf '%%%%MatrixMarket matrix coordinate real general\n0 5 0\n' >none.mtx
expect 0 cli --info none.mtx
expect 0 cli --info --json none.mtx --transpose-b
is "$(json a.rows) $(json a.empty_cols) $(json product.products)" "0 5 0"
expect 2 cli none.mtx

# ---- pictures ----
expect 0 cli A.mtx -q --spy -
is "$(sed -n 2,5p "$out" | tr '\n' /)" "+----+/|# # |/|. # |/+----+/"
said "C = A*A: 2 x 2, 3 entries; A = A.mtx"
expect 0 cli A.mtx --info -q --spy -
said "A: 2 x 2, 3 entries; A = A.mtx"
expect 0 env LC_ALL=C.UTF-8 "$CLI" A.mtx B.mtx -q --spy -
said "│■ ■ │"
said "│■ · │"
expect 0 env LC_ALL=C.UTF-8 "$CLI" --generate perm:1000 -q --info --spy -
is "$(wc -l <"$out")" 23
expect 0 cli --generate poisson2d:40 -q --info --spy -
is "$(wc -l <"$out") $(sed 1d "$out" | wc -L)" "23 42"
expect 0 cli A.mtx --json --spy -
told "+----+"
json nnz_c >/dev/null
expect 0 cli A.mtx -q -o - --spy -
told "+----+"
not_said "+----+"
expect 0 cli none.mtx --info -q --spy -
expect 0 cli none.mtx --info -q --spy none.svg
picture() { # file arguments...
    expect 0 cli "${@:2}" -q --spy "$1"
    silent
    calm
    "$HELPER" xml <"$1" 2>>"$err" || wrong "$1 is not well-formed"
    grep -q '<title>.*</title>' "$1" || wrong "$1 has no title"
    grep -q 'viewBox=' "$1" || wrong "$1 has no viewBox"
    grep -q '<svg [^>]*role="img"' "$1" || wrong "$1 is no image to a screen reader"
}
# Checks width and height, frame included, and the scale of a cell.
framed() { # file width height "scale"
    grep -qF "width=\"$2\" height=\"$3\" viewBox=\"0 0 $2 $3\"" "$1" || wrong "$1 is of another size: $(head -1 "$1")"
    grep -qF "<rect x=\".5\" y=\".5\" width=\"$(($2 - 1))\" height=\"$(($3 - 1))\" fill=\"#fff\" stroke=" "$1" ||
        wrong "$1 has no frame"
    grep -qF "scale($4)" "$1" || wrong "$1 has other cells: $(grep scale "$1")"
}
picture A.svg A.mtx
grep -q '<title>C = A\*A: 2 x 2, 3 entries; A = A.mtx</title>' A.svg || wrong "another title"
picture AB.svg A.mtx B.mtx
grep -q '; A = A.mtx, B = B.mtx<' AB.svg || wrong "another title"
is "$(sed -n 's/.*d="//; /^M/p' A.svg | tr '\n' /)" "M0 0h2/M1 1h1/"
picture wide.svg --info wide.mtx
is "$(sed -n 's/.*d="//; /^M/p' wide.svg | tr '\n' /)" "M0 0h1m1 0h1/M1 1h1/"
picture big.svg --generate er:20000:20
[ "$(stat -c %s big.svg)" -lt 2000000 ] || wrong "the picture is large"
picture odd.svg "$odd"
picture tall.svg --generate perm:100000 --info
framed tall.svg 514 514 "1 1"
framed A.svg 514 514 "256 256"
framed wide.svg 512 342 "170 170"
printf '%%%%MatrixMarket matrix coordinate pattern general\n2000000 3 3\n1 1\n1000000 2\n2000000 3\n' >needle.mtx
picture needle.svg needle.mtx --info
framed needle.svg 26 514 "8 1" # the three columns are wide enough to be seen
is "$(sed -n 's/.*d="//; /^M/p' needle.svg | tr '\n' /)" "M0 0h1/M1 255h1/M2 511h1/"
printf '%%%%MatrixMarket matrix coordinate pattern general\n40 1 2\n1 1\n40 1\n' >column.mtx
picture column.svg column.mtx --info
framed column.svg 26 482 "24 12"
printf '%%%%MatrixMarket matrix coordinate pattern general\n1 100000 2\n1 1\n1 100000\n' >row.mtx
picture row.svg row.mtx --info
framed row.svg 514 26 "1 24"
is "$(sed -n 's/.*d="//; /^M/p' row.svg | tr '\n' /)" "M0 0h1m510 0h1/"
printf '%%%%MatrixMarket matrix coordinate pattern general\n0 0 0\n' >void.mtx
picture void.svg void.mtx
framed void.svg 26 26 "1 1"
expect 0 cli void.mtx -q --spy -
is "$(sed 1d "$out" | tr '\n' /)" "++/++/"
expect 0 cli none.mtx --info -q --spy -
is "$(sed 1d "$out" | tr '\n' /)" "+----------+/+----------+/"
picture none.svg none.mtx --info
framed none.svg 512 26 "102 102"
is "$(find . -name '*.part')" ""
umask 027
picture mode.svg A.mtx
is "$(stat -c %a mode.svg)" 640
umask 022

# ---- a terminal gets the same report, and the progress of a long step ----
if "$HELPER" tty true; then
    strip() { sed -E 's/[0-9.]+ (ms|s|[kMG]?flop)/_/g; s/ +/ /g' "$1"; }
    expect 0 "$HELPER" tty "$CLI" A.mtx
    strip "$out" >shown
    strip table >piped
    same shown piped
    run_slow() { "${faked[@]}" LSP_FAKE=slow "$HELPER" tty "$CLI" A.mtx "$@"; }
    expect 0 run_slow -o C.mtx
    said $'\rmultiplying A*A'
    said " %"
    grep -q $'\r  *\r' "$out" || wrong "the progress line was not erased"
    said "products"
    expect 0 run_slow --quiet
    silent
    expect 0 run_slow --json
    said $'\rmultiplying A*A'
    expect 0 fake slow A.mtx
    calm
    not_said "multiplying"
fi
finish
