#!/usr/bin/env bash
# Products: their numbers, input and output files, pipes, precision, threads, memory, the check.
# shellcheck disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"
small_matrices

# ---- numbers ----
product "1 1 1/1 2 8/2 2 9/" A.mtx
product "1 1 8/1 2 1/2 1 12/" A.mtx B.mtx
product "1 1 5/1 2 6/2 1 6/2 2 9/" A.mtx --transpose-b
product "1 1 2/1 2 4/2 1 3/" A.mtx B.mtx --transpose-b
product "1 1 5/2 2 9/" wide.mtx --transpose-b
product "1 1 1/1 2 2/2 1 2/2 2 13/" A.mtx --transpose-a
product "1 2 1/2 1 12/2 2 2/" A.mtx B.mtx --transpose-a
product "1 1 1/2 1 8/2 2 9/" A.mtx --transpose-a --transpose-b
product "1 2 4/2 1 3/2 2 8/" A.mtx B.mtx --transpose-a --transpose-b
product "1 1 1/1 3 2/2 2 9/3 1 2/3 3 4/" wide.mtx --transpose-a
product "1 1 1/1 2 2/2 2 9/3 1 2/3 2 4/" wide.mtx A.mtx --transpose-a
product "1 1 1/1 2 6/1 3 2/2 2 9/" A.mtx wide.mtx
is "$(grep -v '^%' C.out | head -1)" "2 3 4"
is "$(head -1 C.out)" "%%MatrixMarket matrix coordinate real general"
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n' >pattern.mtx
product "1 1 2/1 2 1/2 1 1/2 2 1/" pattern.mtx
printf '%%%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 3\n' >skew.mtx
product "1 1 -9/2 2 -9/" skew.mtx
printf '%%%%MatrixMarket matrix array real general\n2 2\n1\n0\n2\n3\n' >array.mtx
product "1 1 1/1 2 8/2 2 9/" array.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 1\n1 1 2\n' >twice.mtx
product "1 1 9/" twice.mtx
expect 0 cli twice.mtx
said "1 duplicate summed"
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 0\n' >empty.mtx
product "" empty.mtx
expect 0 cli --json --check empty.mtx
is "$(json nnz_c) $(json compression) $(json check.ok)" "0 null true"
printf '%%%%MatrixMarket matrix coordinate real general\n0 0 0\n' >none.mtx
product "" none.mtx
printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n1 2 5\n' >upper.mtx
expect 2 cli upper.mtx
told "upper.mtx:4: "
product "1 1 26/1 2 5/2 1 5/2 2 25/" --lenient upper.mtx

# ---- C is a file of integers if no sum is rounded: below 2^53 = 9007199254740992 ----
field() { # field arguments...
    expect 0 cli "${@:2}" -q -o C.out
    calm
    is "$(head -1 C.out)" "%%MatrixMarket matrix coordinate $1 general"
    expect 0 cli --info C.out -q --spy - # it reads back
}
integers() { # file value value: a row of two
    printf '%%%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 %s\n1 2 %s\n' "$2" "$3" >"$1"
}
integers I.mtx 3 -4
field integer I.mtx
is "$(entries C.out | tr '\n' /)" "1 1 9/1 2 -12/"
field integer skew.mtx
field integer pattern.mtx
field integer pattern.mtx skew.mtx --transpose-b
field real A.mtx
field real I.mtx A.mtx
field real A.mtx I.mtx
field real --generate perm:2 I.mtx
field integer I.mtx --mask A.mtx --keep 1
expect 0 cli I.mtx -q -o I.out.gz
is "$(gzip -dc I.out.gz | head -1)" "%%MatrixMarket matrix coordinate integer general"
for semiring in min-plus max-times or-and plus-pair; do field integer I.mtx --semiring "$semiring"; done
integers one.mtx 1 0
integers most.mtx 9007199254740991 0
integers over.mtx 9007199254740992 0
integers sum.mtx 4503599627370496 4503599627370496
field integer one.mtx most.mtx
field integer most.mtx one.mtx
is "$(entries C.out | head -1)" "1 1 9007199254740991"
field real one.mtx over.mtx
field real sum.mtx one.mtx
field real most.mtx
field real sum.mtx one.mtx --transpose-a
field integer over.mtx --semiring plus-pair
field real over.mtx --semiring max-times
integers small.mtx 4095 1
field integer small.mtx --precision f32
integers small.mtx 4096 1
field real small.mtx --precision f32
field integer small.mtx
expect 0 cli I.mtx -q -o -
is "$(head -1 "$out")" "%%MatrixMarket matrix coordinate integer general"
{ printf '%%%%MatrixMarket matrix coordinate integer general\n2000 2000 40000\n' &&
    awk 'BEGIN { for (i = 1; i <= 2000; i++) for (j = 0; j < 20; j++) print i, (i * 37 + j * 101) % 2000 + 1, j - 9 }'; } >many.mtx
field integer many.mtx
cp C.out whole.mtx
expect 0 cli many.mtx --max-memory 4M -q -o C.out --json
is "$(json ms.multiply)" null # in blocks
same C.out whole.mtx

# ---- precision ----
printf '%%%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 0.1\n' >tenth.mtx
product "1 1 0.010000000000000002/" tenth.mtx
product "1 1 0.010000000000000002/" --precision f64 tenth.mtx
product "1 1 0.010000001/" --precision f32 tenth.mtx
expect 0 cli --precision f32 --check --json tenth.mtx
is "$(json precision) $(json check.ok)" '"f32" true'

# ---- integers ----
integers square.mtx 3037000499 1
product "1 1 9223372030926249001/1 2 3037000499/" --precision i64 square.mtx
head -1 C.out | grep -q "coordinate integer general"
integers least.mtx -9223372036854775808 9223372036854775807
product "1 1 -9223372036854775808/1 2 9223372036854775807/" --precision i64 one.mtx least.mtx
product "1 1 0/1 2 -9223372036854775808/" --precision i64 least.mtx # modulo 2^64
product "1 1 9/1 2 -12/" --precision i32 I.mtx
product "1 1 1/1 2 1/" --precision bool I.mtx
product "1 1 1/1 2 1/" --precision bool --check --semiring or-and I.mtx
field integer I.mtx --precision i64 --semiring min-plus --keep 1
expect 0 cli I.mtx --precision i32 --check --json --semiring plus-pair
is "$(json precision) $(json check.ok) $(json sum)" '"i32" true 2'
expect 0 cli I.mtx --precision i64 --info
integers root.mtx 65536 1
expect 2 cli --precision i32 root.mtx -q -o never.mtx
told "row 0: the value at column 0 is 4294967296, which does not fit LSP_I32"
[ ! -e never.mtx ]
product "1 1 4294967296/1 2 65536/" --precision i64 root.mtx
expect 2 cli --precision i32 square.mtx
told "square.mtx:3: the value 3037000499 does not fit LSP_I32"
expect 2 cli --precision i64 tenth.mtx
told "its values are real: they cannot be read as integers of type LSP_I64"
expect 0 cli many.mtx --precision i64 -q -o whole.mtx
expect 0 cli many.mtx --precision i64 --max-memory 4M -q -o C.out --json
is "$(json ms.multiply)" null # in blocks
same C.out whole.mtx

# ---- pipes and compression ----
input=A.mtx
expect 0 cli - -q -o C.out
is "$(entries C.out | tr '\n' /)" "1 1 1/1 2 8/2 2 9/"
expect 0 cli - B.mtx -q -o C.out
is "$(entries C.out | tr '\n' /)" "1 1 8/1 2 1/2 1 12/"
expect 0 cli B.mtx - -q -o C.out
is "$(entries C.out | tr '\n' /)" "1 2 3/2 1 4/2 2 8/"
input=/dev/null
# shellcheck disable=SC2016
expect 0 bash -c '"$CLI" A.mtx -q -o - | "$CLI" - -q -o - | "$CLI" --check -q - -o fourth.mtx'
is "$(entries fourth.mtx | tr '\n' /)" "1 1 1/1 2 6560/2 2 6561/"
expect 0 cli A.mtx -o -
is "$(head -c 14 "$out")" "%%MatrixMarket"
told "products"
not_said "products"
cp "$out" direct.mtx
expect 0 cli A.mtx -o - --quiet
calm
same "$out" direct.mtx
expect 0 cli A.mtx -o C.mtx.gz
said "C.mtx.gz"
gzip -t C.mtx.gz || wrong "no gzip file"
gzip -dc C.mtx.gz >unpacked.mtx
same unpacked.mtx direct.mtx
gzip -c A.mtx >A.mtx.gz
expect 0 cli A.mtx.gz -q -o C.out
same C.out direct.mtx
cp A.mtx.gz hidden.mtx
expect 0 cli hidden.mtx -q -o C.out
same C.out direct.mtx
input=A.mtx.gz
expect 0 cli - -q -o C.out
same C.out direct.mtx
input=/dev/null

# ---- the bits do not depend on threads or memory ----
expect 0 cli --generate rmat:11:8 --threads 1 -q -o one.mtx
expect 0 cli --generate rmat:11:8 --threads 2 -q -o two.mtx
same one.mtx two.mtx
expect 0 cli --generate rmat:11:8 --threads 7 -q -o seven.mtx
same one.mtx seven.mtx
expect 0 cli --generate rmat:11:8 --seed 1 -q -o seed.mtx
same one.mtx seed.mtx
expect 0 cli --generate rmat:11:8 --seed 2 -q -o other.mtx
! cmp -s one.mtx other.mtx || wrong "another seed, the same matrix"
expect 0 cli --generate rmat:11:8 --json -o needed.mtx
needed=$(json peak_bytes)
expect 0 cli --generate rmat:11:8 --max-memory "$((needed + needed / 4))" -q -o budget.mtx
same one.mtx budget.mtx
expect 0 cli --device cpu --threads 2 --generate er:8000:10 --json -o one.mtx
needed=$(json peak_bytes)
expect 0 cli --device cpu --threads 2 --generate er:8000:10 --max-memory "$((needed * 3 / 4))" -o budget.mtx # in blocks
said "in blocks"
same one.mtx budget.mtx
# if memory does not suffice for all threads, fewer are used
expect 0 cli --threads 64 --generate er:8000:10 --max-memory 6M -q -o budget.mtx
same one.mtx budget.mtx
expect 0 cli --threads 64 --max-memory 24M --info one.mtx
expect 3 cli --generate er:8000:10 --max-memory "$((needed * 3 / 4))" --check -o big.mtx
expect 3 cli --generate rmat:11:8 --max-memory 1M --check -o big.mtx
told "spgemm-cli: "
silent
[ ! -e big.mtx ] || wrong "a file after a failure"
expect 3 cli A.mtx --max-memory 10
told "spgemm-cli: A.mtx: reading it needs"
told ", with the memory in use, and the budget is 10 bytes"
expect 3 cli A.mtx --max-memory 1
told "the budget is 1 byte"
expect 0 cli --generate er:3000:8 -q -o er.mtx
expect 3 cli er.mtx er.mtx --max-memory 1M --check -o never.mtx
told "spgemm-cli: er.mtx: reading it needs"
expect 3 cli --generate er:3000:8 --max-memory 1000
told "spgemm-cli: generating er:3000:8: "
told "together, and the budget is 1000 bytes"
# C does not fit: the message suggests another way, which works
few=(--device cpu --threads 2 --generate er:8000:10 --max-memory 8M)
expect 3 cli "${few[@]}"
told "spgemm-cli: multiplying A*A: "
told "; with -o FILE alone it is multiplied and written in blocks of rows"
for option in --check "--spy C.svg" "--repeat 2"; do
    # shellcheck disable=SC2086
    expect 3 cli "${few[@]}" -o few.mtx $option
    told "; without ${option%% *} it is multiplied and written in blocks of rows"
done
expect 0 cli "${few[@]}" -q -o few.mtx
not_told "blocks of rows"
expect 3 cli -v --generate er:8000:10 --max-memory 8M # without a report the plan is printed as a message
told "spgemm-cli: spgemm: "
expect 3 cli --generate er:1000000000000:1
# ---- a generated A, with and without B ----
expect 0 cli --generate poisson2d:8 --json
is "$(json rows) $(json nnz_a) $(json products) $(json nnz_c)" "64 288 1320 676"
printf '%%%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 1\n1 2 2\n' >row.mtx
product "1 1 4/1 2 8/" --generate poisson2d:1 row.mtx
for spec in stencil27:3 fem3:2 er:50:3 rmat:5:4 web:100:1.5:10 perm:9 nascg:S; do
    expect 0 cli --generate "$spec" --check -q
    calm
done

# ---- the check, and a check that fails ----
expect 0 cli --check A.mtx
said "check"
said "ok"
expect 0 cli A.mtx
not_said "check"
expect 5 fake wrong --check A.mtx -o never.mtx
told "spgemm-cli: the check failed: entry (1, 2) of A*A has a relative error of 0.333"
said "FAILED"
[ ! -e never.mtx ] || wrong "a product that failed its check was written"
expect 5 fake wrong --check --json A.mtx
is "$(json check.ok)" false
[[ $(json check.max_rel_err) == 0.3333* ]] || wrong "max_rel_err"
expect 5 fake pattern --check --json A.mtx
is "$(json check.ok) $(json check.max_rel_err)" "false null"
told "the pattern"
expect 5 fake wrong --check --quiet A.mtx
silent
expect 0 fake wrong A.mtx -q
expect 0 fake honest --check -q A.mtx

# ---- repeats, plans, devices ----
expect 0 cli --repeat 3 --json A.mtx
is "$(json repeats)" 3
expect 0 cli --repeat 3 A.mtx
said "the fastest of 3; median"
said "a first run of"
expect 0 cli A.mtx
not_said "a first run"
expect 0 cli --json A.mtx
is "$(json ms.multiply_cold)" null
expect 0 fake wrong --repeat 1 --check --json A.mtx # the fake makes the cold run wrong, which does not count
[[ $(json ms.multiply_cold) =~ ^[0-9.e+-]+$ ]] || wrong "multiply_cold"
is "$(json repeats) $(json check.ok)" "1 true"
expect 0 cli --dry-run A.mtx
said "needed at most"
said "<= "
not_said "multiply"
expect 0 cli --dry-run --json A.mtx B.mtx
is "$(json nnz_c) $(json products) $(json ms.multiply) $(json gflops) $(json check)" "null 3 null null null"
[ "$(json plan.needed_bytes)" -ge "$(json plan.bound_bytes)" ] || wrong "needed_bytes"
is "$(json plan.passes)" 1
[ "$(json plan.plan_bytes)" -gt 0 ] || wrong "plan_bytes"
expect 0 cli --dry-run --device cpu --generate er:20000:6
said "two passes: 36.0 products and 36.0 entries a row in a sample of 32 rows"
said "that a plan holds before its first use"
expect 0 cli --json --device cpu --generate poisson2d:100
is "$(json plan.passes) $(json plan.plan_bytes)" "1 0"
expect 0 cli --transpose-a --check --json wide.mtx
is "$(json rows) $(json cols) $(json formula) $(json check.ok)" '3 3 "A^T*A" true'
expect 0 cli --transpose-a --transpose-b --dry-run B.mtx A.mtx
said "C = A^T*B^T"
for device in auto cpu; do
    expect 0 cli --device "$device" A.mtx -q
done
if "$CLI" --device cuda -q A.mtx >/dev/null 2>&1; then
    expect 0 cli --device cuda --check --json A.mtx B.mtx
    is "$(json device) $(json check.ok) $(json products)" '"cuda" true 3'
    expect 0 cli --device cuda --check --transpose-b --repeat 2 A.mtx
    said "the same bits as the reference"
    said "to the GPU and back"
    expect 0 cli --device cuda --dry-run A.mtx
    expect 3 cli --device cuda --max-memory 100 A.mtx
    expect 4 cli --device cuda:1023 A.mtx
    expect 0 cli --device cuda --generate er:40000:10 --max-memory 40M -o blocks.mtx
    said "in blocks"
    expect 0 cli --device cpu --generate er:40000:10 -o whole.mtx
    cmp -s blocks.mtx whole.mtx || wrong "blocks multiplied on the GPU are others"
    expect 0 cli --compare cusparse A.mtx B.mtx
    said "alg1"
    expect 0 cli --compare cusparse --transpose-b --precision f32 --json A.mtx
    is "$(grep -c '"same_pattern": true' "$out")" 1
else
    expect 4 cli --device cuda A.mtx
    told "spgemm-cli: "
    silent
    is "$(wc -l <"$err")" 1
    expect 4 cli --device cuda:7 A.mtx
    expect 4 cli --device=cuda missing.mtx
    expect 4 cli --compare cusparse A.mtx
    silent
fi
finish
