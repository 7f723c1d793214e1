#!/usr/bin/env bash
# Semirings and filters, compared with results computed by hand and by awk.
# shellcheck disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"
small_matrices
banner='%%MatrixMarket matrix coordinate'

# ---- complex values: (1+2i)^2 ----
product "1 1 -3 4/" complex.mtx
product "1 1 1 2/" A.mtx complex.mtx
product "1 1 1 2/1 2 2 4/" complex.mtx A.mtx --semiring plus-times
product "1 2 2 4/" complex.mtx A.mtx --keep 1
product "1 2 2 4/" complex.mtx A.mtx --drop 2.5
product "1 1 1 2/1 2 2 4/" complex.mtx A.mtx --drop 2
product "1 1 1 2/" complex.mtx A.mtx --mask complex.mtx
product "1 2 2 4/" complex.mtx A.mtx --mask complex.mtx --complement

# ---- semirings: A*A = [1*1 1*2+2*3; 0 3*3] ----
product "1 1 1/1 2 8/2 2 9/" A.mtx --semiring plus-times
product "1 1 2/1 2 3/2 2 6/" A.mtx --semiring min-plus
product "1 1 1/1 2 6/2 2 9/" A.mtx --semiring=max-times
product "1 1 1/1 2 1/2 2 1/" A.mtx --semiring or-and
product "1 1 1/1 2 2/2 2 1/" A.mtx --semiring plus-pair
product "1 1 1/1 2 2/2 2 1/" A.mtx --semiring plus-pair --precision f32
product "1 1 2/1 2 3/2 1 3/2 2 4/" A.mtx --semiring min-plus --transpose-a
printf '%s real general\n2 2 3\n1 1 0\n1 2 1\n2 2 5\n' "$banner" >zero.mtx
product "1 1 0/1 2 1/2 2 1/" zero.mtx --semiring or-and
product "1 1 0/1 2 1/2 2 10/" zero.mtx --semiring min-plus
expect 0 cli A.mtx --semiring min-plus --check
said "min-plus   the sum of C's values is 11"
said "the same bits as the reference"
expect 0 cli A.mtx
not_said "semiring"
expect 0 cli A.mtx --semiring max-times --json --repeat 2 --precision f32
is "$(json semiring) $(json sum) $(json filter)" '"max-times" 16 null'

# ---- masks: their values do not matter ----
printf '%s real general\n2 2 2\n1 1 0\n2 2 nan\n' "$banner" >mask.mtx
product "1 1 1/2 2 9/" A.mtx --mask mask.mtx
product "1 2 8/" A.mtx --mask mask.mtx --complement
product "1 1 1/1 2 8/2 2 9/" A.mtx --mask A.mtx
product "" A.mtx --mask A.mtx --complement
cp A.mtx same.mtx
product "1 1 1/1 2 8/2 2 9/" A.mtx --mask same.mtx
product "1 2 8/2 2 9/" A.mtx --mask complex.mtx --complement
product "1 1 1/1 3 2/2 2 9/" A.mtx wide.mtx --mask wide.mtx
product "1 2 6/" A.mtx wide.mtx --mask wide.mtx --complement
product "1 1 1/" A.mtx --transpose-a --mask <(printf '%s pattern general\n2 2 1\n1 1\n' "$banner")
printf '%s integer symmetric\n2 2 1\n2 1 7\n' "$banner" | gzip -c >mirror.mtx.gz
product "1 2 8/" A.mtx --mask mirror.mtx.gz
printf '%%%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\n0\n' >array.mtx
product "1 1 1/" A.mtx --mask array.mtx
printf '%s pattern general\n2 2 3\n2 2\n1 1\n2 2\n' "$banner" >twice.mtx
product "1 1 1/2 2 9/" A.mtx --mask twice.mtx
printf '%s pattern general\n2 2 0\n' "$banner" >void.mtx
product "" A.mtx --mask void.mtx
product "1 1 1/1 2 8/2 2 9/" A.mtx --mask void.mtx --complement
printf '%s real symmetric\n2 2 1\n1 2 5\n' "$banner" >upper.mtx
expect 2 cli A.mtx --mask upper.mtx
product "1 2 8/" A.mtx --mask upper.mtx --lenient
printf '%s real general\n0 0 0\n' "$banner" >none.mtx
product "" none.mtx --mask none.mtx --keep 1
input=mask.mtx
expect 0 cli A.mtx --mask - --json
is "$(json nnz_c) $(json filter.mask)" '2 "standard input"'
expect 0 cli A.mtx - --mask mask.mtx --json
is "$(json nnz_c) $(json b)" '2 "standard input"'
input=/dev/null
mkfifo fifo
# shellcheck disable=SC2016
expect 0 bash -c 'cat A.mtx >fifo & "$CLI" fifo --mask fifo --json && wait' # if the mask is A's file, it is read once
is "$(json nnz_c) $(json filter.mask)" '3 "fifo"'

# ---- dropping small entries, keeping the largest of each row ----
product "1 2 8/2 2 9/" A.mtx --drop 1
product "2 2 9/" A.mtx --drop 8
product "1 2 8/2 2 9/" A.mtx --drop 7.999e0
product "1 2 8/2 2 9/" A.mtx --keep 1
product "1 2 8/" A.mtx --drop 1 --keep 1 --mask mask.mtx --complement
product "1 1 1/2 2 9/" A.mtx --keep 1 --mask mask.mtx # the mask is applied first
printf '%s real general\n2 2 4\n1 1 1\n1 2 -1\n2 1 1\n2 2 -1\n' "$banner" >cancel.mtx
product "1 1 0/1 2 0/2 1 0/2 2 0/" cancel.mtx
product "" cancel.mtx --drop 0
product "1 1 0/2 1 0/" cancel.mtx --keep 1 # of equal entries the first stays
printf '%s real general\n1 1 1\n1 1 nan\n' "$banner" >nan.mtx
product "1 1 nan/" nan.mtx --drop 1e308 --keep 1
expect 0 cli nan.mtx --json --drop 1
is "$(json sum)" null
expect 0 cli zero.mtx --json --semiring plus-times --drop 0
is "$(json sum)" 30

# ---- the report ----
expect 0 cli A.mtx --mask mask.mtx --complement --drop 0.5 --keep 1000 --check -v
said "mask.mtx: real general"
said "where the mask has no entry, |c| > 0.5, the 1,000 largest of each row"
said "the same bits as the reference"
expect 0 cli A.mtx --mask mask.mtx --drop 0.5 --keep 1 --check --json
is "$(json filter)" '{"mask": "mask.mtx", "complement": false, "drop": 0.5, "keep": 1}'
is "$(json nnz_c) $(json sum) $(json check.ok) $(json products)" "2 10 true 4"
expect 0 cli A.mtx --keep 2 --json
is "$(json filter)" '{"mask": null, "complement": false, "drop": null, "keep": 2}'
expect 0 cli A.mtx --mask mask.mtx --json --dry-run
is "$(json nnz_c) $(json sum) $(json plan.nnz_bound)" "null null 3"
expect 0 cli A.mtx --mask mask.mtx --dry-run
said "before the filter"
expect 0 cli A.mtx --mask mask.mtx --spy -
said "C = A*A, filtered: 2 x 2, 2 entries"
said "|# . |"
said "|. # |"
expect 5 fake wrong --mask mask.mtx --check A.mtx -o never.mtx
told "the check failed: entry (2, 2) of A*A"
expect 5 fake pattern --keep 1 --semiring min-plus --check A.mtx -o never.mtx
[ ! -e never.mtx ] || wrong "a product that failed its check was written"

# ---- triangles: each is counted six times ----
complete() { # vertices
    echo "$banner pattern symmetric" && echo "$1 $1 $(($1 * ($1 - 1) / 2))"
    awk -v n="$1" 'BEGIN { for (i = 2; i <= n; i++) for (j = 1; j < i; j++) print i, j }'
}
complete 30 >k30.mtx
expect 0 cli k30.mtx --mask k30.mtx --semiring plus-pair --json --check
is "$(json nnz_c) $(json sum)" "870 $((30 * 29 * 28))"
# the diagonal is the largest of its row: it counts the row's entries
expect 0 cli --generate poisson2d:20 --semiring plus-pair --keep 1
said "the sum of C's values is 1,920"
{ echo "$banner pattern symmetric" && echo "10 10 15" && printf '%s\n' "2 1" "3 2" "4 3" "5 4" "5 1" "6 1" "7 2" "8 3" \
    "9 4" "10 5" "8 6" "10 8" "10 7" "9 7" "9 6"; } >petersen.mtx
expect 0 cli petersen.mtx --mask petersen.mtx --semiring plus-pair --json
is "$(json nnz_c) $(json sum)" "0 0"
# one path of two steps to each of 6 vertices, three back
expect 0 cli petersen.mtx --mask petersen.mtx --semiring plus-pair --complement --json
is "$(json nnz_c) $(json sum)" "70 $((10 * 6 + 10 * 3))"

# ---- random matrices of small integers, compared with awk ----
cat >multiply.awk <<'AWK'
function abs(x) { return x < 0 ? -x : x }
/^%/ { next }
!sized[FILENAME]++ { next }
FILENAME == first { a[$1, ++length_a[$1]] = $2; value_a[$1, length_a[$1]] = $3 }
FILENAME == second { b[$1, ++length_b[$1]] = $2; value_b[$1, length_b[$1]] = $3 }
FILENAME == third { in_mask[$1, $2] = 1 }
END {
    for (i = 1; i <= n; i++) {
        split("", row)
        for (p = 1; p <= length_a[i]; p++) {
            k = a[i, p]
            for (q = 1; q <= length_b[k]; q++) {
                x = value_a[i, p]; y = value_b[k, q]; j = b[k, q]
                v = s == "min-plus" ? x + y : s == "or-and" ? (x != 0 && y != 0) : s == "plus-pair" ? 1 : x * y
                if (!(j in row)) row[j] = v
                else if (s == "min-plus") row[j] = v < row[j] ? v : row[j]
                else if (s == "max-times") row[j] = v > row[j] ? v : row[j]
                else if (s == "or-and") row[j] = row[j] || v
                else row[j] += v
            }
        }
        for (j in row) if ((third && ((i, j) in in_mask) == complement) || (drop >= 0 && abs(row[j]) <= drop)) delete row[j]
        split("", stays)
        for (left = keep ? keep : n; left > 0; left--) {
            best = 0
            for (j = 1; j <= n; j++) if ((j in row) && !(j in stays) && (!best || abs(row[j]) > abs(row[best]))) best = j
            if (best) stays[best] = 1
        }
        for (j = 1; j <= n; j++) if (j in stays) print i, j, row[j]
    }
}
AWK
random() { # seed entries: a 40 x 40 matrix with values from -3 to 3, sorted by rows
    awk -v seed="$1" -v entries="$2" 'function next_of(m) { seed = (seed * 1103 + 12345) % 65537; return seed % m }
        BEGIN { while (count < entries) { i = next_of(40) + 1; j = next_of(40) + 1; v = next_of(7) - 3
                    if (!((i, j) in seen)) { seen[i, j] = 1; count++; print i, j, v } } }' |
        sort -n -k1,1 -k2,2 | { echo "$banner integer general" && echo "40 40 $2" && cat; }
}
random 1 200 >R.mtx
random 2 300 >S.mtx
random 3 500 >T.mtx
for semiring in plus-times min-plus max-times or-and plus-pair; do
    for filter in "" "mask" "mask complement" "drop=2" "keep=3" "mask drop=1 keep=2" "mask complement drop=0 keep=1"; do
        arguments=(--semiring "$semiring")
        settings=(-v s="$semiring" -v n=40 -v first=R.mtx -v second=S.mtx -v drop=-1 -v keep=0 -v complement=0)
        for part in $filter; do
            case $part in
            mask) arguments+=(--mask T.mtx) settings+=(-v third=T.mtx) ;;
            complement) arguments+=(--complement) settings+=(-v complement=1) ;;
            *) arguments+=("--$part") settings+=(-v "$part") ;;
            esac
        done
        awk "${settings[@]}" -f multiply.awk R.mtx S.mtx T.mtx >wanted
        expect 0 cli R.mtx S.mtx "${arguments[@]}" --check --json -o C.out
        entries C.out | sed 's/ -0$/ 0/' >got
        same wanted got
        is "$(json nnz_c) $(json check.ok) $(json sum)" "$(awk '{ s += $3 } END { printf "%d true %d", NR, s }' wanted)"
    done
done
[ -s wanted ] || wrong "nothing was compared"

# ---- within a memory limit: filtered in blocks; written in blocks if the filtered C does not fit ----
big=(--threads 2 --generate er:8000:10) # two threads, because each takes its own scratch
expect 3 cli "${big[@]}" --max-memory 8M --check
expect 0 cli "${big[@]}" --max-memory 8M --check --keep 2 --json # the unfiltered product is never held in full
is "$(json check.ok)" true
[ "$(json plan.blocks)" -gt 1 ] || wrong "one block"
expect 0 cli "${big[@]}" --drop 0.05 --keep 90 -q -o whole.mtx
expect 0 cli "${big[@]}" --drop 0.05 --keep 90 --max-memory 12M -o blocks.mtx
said "in blocks"
same whole.mtx blocks.mtx
expect 0 cli "${big[@]}" --semiring plus-pair --mask whole.mtx -q -o whole2.mtx
expect 0 cli "${big[@]}" --semiring plus-pair --mask whole.mtx --max-memory 16M --json -o blocks2.mtx
is "$(json ms.multiply) $(json sum) $(json nnz_c)" "null null $(wc -l < <(entries whole2.mtx))"
same whole2.mtx blocks2.mtx
expect 3 cli "${big[@]}" --mask whole.mtx --max-memory 1M -o never.mtx
[ ! -e never.mtx ] || wrong "a file after a failure"
expect 0 cli "${big[@]}" --keep 3 --threads 1 -q -o one.mtx
expect 0 cli "${big[@]}" --keep 3 --threads 5 -q -o five.mtx
same one.mtx five.mtx

# ---- a GPU gives the same bits ----
if "$CLI" --device cuda -q A.mtx >/dev/null 2>&1; then
    for semiring in plus-times min-plus max-times or-and plus-pair; do
        expect 0 cli R.mtx S.mtx --mask T.mtx --semiring "$semiring" --drop 1 --keep 5 --device cuda --check --json
        is "$(json device) $(json check.ok)" '"cuda" true'
    done
    expect 0 cli "${big[@]}" --drop 0.05 --keep 90 --device cuda --max-memory 12M -q -o there.mtx
    same whole.mtx there.mtx
fi
finish
