#!/usr/bin/env bash
# The command line: help, version, and every kind of mistake.
# shellcheck disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"
small_matrices

# The tool must end with exit code 1 and one sentence, which contains each of the parts.
refused() { # "part" ["part"] -- arguments...
    local parts=()
    while [ "$1" != -- ]; do
        parts+=("$1")
        shift
    done
    expect 1 cli "${@:2}"
    for part in "${parts[@]}"; do told "$part"; done
    is "$(wc -l <"$err")" 1
    told "spgemm-cli: "
    silent
}

# ---- help and version ----
expect 0 cli --help
calm
cp "$out" help
[ "$(wc -l <help)" -le 24 ] || wrong "the help does not fit 24 lines"
[ "$(wc -L <help)" -le 80 ] || wrong "the help does not fit 80 columns"
options=$(grep -oE -- '--[a-z-]+' help | sort -u)
is "$(wc -l <<<"$options")" 27
for option in $options; do
    grep -qF -- "${option#--}" "$SOURCE/cli/spgemm-cli.1" || wrong "$option is not in the manual"
    grep -qF -- "$option" "$SOURCE/cli/spgemm-cli.bash" || wrong "$option is not in the completion"
done
for name in poisson2d stencil27 fem3 er rmat web perm amg nascg plus-times min-plus max-times or-and plus-pair; do
    for where in help "$SOURCE/cli/spgemm-cli.1" "$SOURCE/cli/spgemm-cli.bash"; do
        grep -qF "$name" "$where" || wrong "$name is not in $where"
    done
done
well_formed "$SOURCE/cli/spgemm-cli.1" "$SOURCE/cli/spgemm-cli.bash"
expect 0 cli -h
same "$out" help
expect 0 cli A.mtx --help
same "$out" help
expect 0 cli --version
calm
[[ $(cat "$out") =~ ^spgemm-cli\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || wrong "no version"

# ---- misspelt words: the message suggests the right one ----
refused "unknown option '--thread'" "did you mean '--threads'?" -- --thread 2 A.mtx
refused "unknown option '--max-memroy'" "did you mean '--max-memory'?" -- --max-memroy=1G A.mtx
refused "unknown option '--tranpose-b'" "did you mean '--transpose-b'?" -- A.mtx --tranpose-b
refused "unknown option '--frobnicate'" -- --frobnicate A.mtx
not_told "mean"
refused "unknown option '-x'" -- -x A.mtx
refused "unknown option '-vq'" -- -vq A.mtx
refused "f64|f32|i64|i32|bool" "'f62'" "did you mean 'f64'?" -- --precision f62 A.mtx
refused "--precision i64, i32 or bool and --generate" -- --precision i32 --generate perm:3
refused "--precision i64, i32 or bool and --compare" -- --precision bool --compare cusparse A.mtx
refused "'double'" "did you mean 'f64'?" -- --precision=double A.mtx
refused "'gpu'" "did you mean 'cuda'?" -- --device gpu A.mtx
refused "'cpuu'" "did you mean 'cpu'?" -- --device cpuu A.mtx
refused "cuda:x" -- --device 'cuda:x' A.mtx
refused "cuda:-1" -- --device cuda:-1 A.mtx
refused "cuda:" -- --device cuda: A.mtx
refused "'min-pls'" "did you mean 'min-plus'?" -- --semiring min-pls A.mtx
refused "--semiring takes plus-times|min-plus|max-times|or-and|plus-pair, not 'tropical'" "did you mean 'min-plus'?" \
    -- --semiring tropical A.mtx
refused "'PLUS-TIMES'" -- --semiring PLUS-TIMES A.mtx
refused "unknown option '--transpose'" "did you mean '--transpose-a'?" -- --transpose A.mtx
refused "'cusparce'" "did you mean 'cusparse'?" -- --compare cusparce A.mtx
refused "did you mean 'poisson2d'?" -- --generate possion2d:4
refused "did you mean 'stencil27'?" -- --generate stencil:4
refused "quux" -- --generate quux
for spec in poisson2d:0 poisson2d: er:10 poisson2d:3x nascg:X; do
    refused "spgemm-cli: " -- --generate "$spec"
    not_told "did you mean" # the name is valid
done

# ---- missing and malformed values ----
for option in --output --semiring --mask --drop --keep --generate --seed --precision --device --devices --threads \
    --max-memory --compare --repeat --spy; do
    refused "$option needs a value" -- A.mtx "$option"
    refused "$option needs a value" -- A.mtx "$option" --json
done
refused "-o needs a value" -- A.mtx -o
for value in 0 -1 two 1.5 99999999999999999999 4097 ''; do
    refused "--threads takes a whole number from 1 to 4096" "'$value'" -- --threads "$value" A.mtx
done
for value in 0 x 1000001; do
    refused "--repeat takes a whole number" "'$value'" -- --repeat="$value" A.mtx
done
refused "--seed takes a whole number" -- --seed -1 --generate perm:4
refused "--seed takes a whole number" -- --seed 9223372036854775808 --generate perm:4
for value in G 1X -1 1e3 0x10 1.2.3 1GG 1iB nan ''; do
    refused "--max-memory takes a size such as" "'$value'" -- --max-memory "$value" A.mtx
done
for value in 0 0.5 0G; do
    refused "--max-memory takes a size of 1 byte or more, not '$value'" -- --max-memory "$value" A.mtx
done
for value in 9999999T 8388608T 9223372036854775808 1"$(printf '0%.0s' {1..400})"; do
    refused "--max-memory: '$value' is too large" -- --max-memory "$value" A.mtx
    not_told "such as"
done
expect 0 cli -q --max-memory 8388607T A.mtx
for value in 0 -1 x 1.5 9223372036854775808 ''; do
    refused "--keep takes a whole number from 1 to 9223372036854775807" "'$value'" -- --keep "$value" A.mtx
done
for value in -1 -0 -1e-9 +1 nan NaN inf infinity 1e999 1e+309 0x10 1e 1e+ e5 . 1,5 1.2.3 ' 1' '1 ' 1d0 tiny ''; do
    refused "--drop takes a number from 0" "'$value'" -- --drop "$value" A.mtx
done
for option in --transpose-a --transpose-b --complement --info --dry-run --check --lenient --json --quiet --verbose --version --help; do
    refused "$option takes no value" -- "$option=1" A.mtx
done
refused "--output: FILE is empty" -- A.mtx -o ''
refused "--spy: FILE.svg is empty" -- A.mtx --spy=
refused "--mask: FILE.mtx is empty" -- A.mtx --mask=
refused "--semiring: NAME is empty" -- A.mtx --semiring ''

# ---- options and files that contradict each other ----
refused "no matrix" --
refused "no matrix" -- --json
refused "'third.mtx' is one file too many" -- A.mtx B.mtx third.mtx
refused "--generate makes A" "'A.mtx' and 'B.mtx'" -- --generate perm:4 A.mtx B.mtx
refused "A and B cannot both be '-': standard input is read once" -- - -
refused "A and the mask cannot both be '-'" -- - --mask -
refused "B and the mask cannot both be '-'" -- --mask - A.mtx -
refused "B and the mask cannot both be '-'" -- --mask - --generate perm:2 -
refused "--complement needs --mask" -- --complement A.mtx
refused "--complement needs --mask" -- --complement --keep 1 A.mtx
refused "--info and --semiring do not go together" -- --info --semiring min-plus A.mtx
refused "--compare and --semiring do not go together" -- --compare cusparse --semiring min-plus A.mtx
for filter in "--mask A.mtx" "--drop 0" "--keep 1"; do
    # shellcheck disable=SC2086
    refused "--info and ${filter% *} do not go together" -- --info $filter A.mtx
    # shellcheck disable=SC2086
    refused "--compare and ${filter% *} do not go together" -- --compare cusparse $filter A.mtx
done
refused "the name of a file is empty" -- ''
refused "--seed needs --generate" -- --seed 3 A.mtx
refused "--info and --dry-run do not go together" -- --info --dry-run A.mtx
for option in --info --dry-run; do
    refused "$option and --output do not go together" -- "$option" -o C.mtx A.mtx
    refused "$option and --check do not go together" -- "$option" --check A.mtx
    refused "$option and --repeat do not go together" -- "$option" --repeat 2 A.mtx
    refused "$option and --compare do not go together" -- "$option" --compare cusparse A.mtx
    refused "--quiet and $option do not go together" -- "$option" -q A.mtx
done
refused "--device cpu and --compare do not go together" -- --device cpu --compare cusparse A.mtx
refused "--quiet and --verbose do not go together" -- -v -q A.mtx

# ---- spellings that mean the same ----
cp A.mtx ./--odd.mtx
cp A.mtx ./-x.mtx
expect 0 cli -q -oC1.mtx A.mtx
expect 0 cli -q -o C2.mtx A.mtx
expect 0 cli --quiet --output=C3.mtx A.mtx
expect 0 cli A.mtx --quiet --output C4.mtx
expect 0 cli -q --output=C5.mtx -- --odd.mtx
expect 0 cli -q -o C6.mtx -- -x.mtx
expect 0 cli -q -oC7.mtx ./-x.mtx
for i in 2 3 4 5 6 7; do same C1.mtx "C$i.mtx"; done
expect 0 cli --seed 0 --generate perm:4 -q
for number in 0 0.0 1 1. .5 12.5 1e-9 1E9 0.5e+3 1e308 1e-999 00; do
    expect 0 cli -q --drop "$number" A.mtx
done
expect 0 cli -q --keep 9223372036854775807 A.mtx
expect 0 cli -q --info --json --semiring plus-times A.mtx
for size in 1G 1g 1GB 1GiB 1gib 1.5G .5G 1073741824 1073741824B 1024M 0.001T 8000000000000000; do
    expect 0 cli -q --max-memory "$size" A.mtx
done
finish
