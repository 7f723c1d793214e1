#!/usr/bin/env bash
# The command line of cg-bench: help, version, completion, and every kind of mistake.
# shellcheck disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"
manual=$SOURCE/cli/cg-bench.1 completion=$SOURCE/cli/cg-bench.bash
# shellcheck source=/dev/null
. "$completion"
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
    told "cg-bench: "
    silent
}

# ---- help and version ----
expect 0 cli --help
calm
cp "$out" help
[ "$(wc -l <help)" -le 24 ] || wrong "the help does not fit 24 lines"
[ "$(wc -L <help)" -le 80 ] || wrong "the help does not fit 80 columns"
options=$(grep -oE -- '--[a-z-]+' help | sort -u)
is "$(wc -l <<<"$options")" 24
for option in $options --lenient --mg-{smoother,sweeps,cycle,threshold,block,levels}; do
    grep -qF -- "Fl Fl ${option#--}" "$manual" || wrong "$option is not in the manual"
    grep -qF -- "$option" "$completion" || wrong "$option is not in the completion"
done
refused "--method: NAME is empty" -- --class S --method ''
refused "--method takes auto|" -- --class S --method quux
methods=$(sed 's/.*takes \([a-z|]*\), .*/\1/; s/|/ /g' "$err")
[ "$(wc -w <<<"$methods")" -ge 9 ] || wrong "methods are missing: $methods"
for name in $methods poisson2d stencil27 fem3 er rmat web perm nascg bicgstab jacobi multigrid; do
    for where in help "$manual" "$completion"; do
        grep -qw "$name" "$where" || wrong "$name is not in $where"
    done
done
well_formed "$manual" "$completion"
expect 0 cli -h
same "$out" help
expect 0 cli A.mtx --help
same "$out" help
expect 0 cli --version
calm
[[ $(cat "$out") =~ ^cg-bench\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || wrong "no version"

# ---- misspelt words: the message suggests the right one ----
refused "unknown option '--clas'" "did you mean '--class'?" -- --clas S
refused "unknown option '--precondtion'" "did you mean '--precondition'?" -- A.mtx --precondtion none
refused "unknown option '--frobnicate'" -- --frobnicate A.mtx
not_told "mean"
for class in s b e; do refused "not '$class'; did you mean '${class^}'?" -- --class $class; done
refused "not 'nascg:B'; did you mean 'B'?" -- --class nascg:B
for class in X SS '|' 'S|W' nascg:; do
    refused "--class takes S|W|A|B|C|D|E, not '$class'" -- --class "$class"
    not_told "mean"
done
refused "'bicgstabb'" "did you mean 'bicgstab'?" -- A.mtx --solver bicgstabb
refused "'jacoby'" "did you mean 'jacobi'?" -- A.mtx --precondition jacoby
refused "'chebishev'" "did you mean 'chebyshev'?" -- A.mtx --precondition multigrid --mg-smoother chebishev
refused "--mg-cycle needs --precondition multigrid" -- A.mtx --mg-cycle w
refused "--mg-sweeps takes a whole number" -- A.mtx --precondition multigrid --mg-sweeps 0
refused "'double'" "did you mean 'f64'?" -- --precision=double A.mtx
refused "'gpu'" "did you mean 'cuda'?" -- --device gpu A.mtx
refused "cuda:x" -- --device 'cuda:x' A.mtx
refused "'gathr'" "did you mean 'gather'?" -- A.mtx --method gathr
refused "'cusparce'" "did you mean 'cusparse'?" -- --compare cusparce A.mtx
refused "did you mean 'poisson2d'?" -- --generate possion2d:4
refused "quux" -- --generate quux

# ---- missing and malformed values ----
for option in --class --matrix --generate --seed --rhs --output --solver --precondition --mg-smoother --mg-sweeps \
    --mg-cycle --mg-threshold --mg-block --mg-levels --rtol --max-iter --method \
    --passes --precision --device --threads --max-memory --repeat --compare --history; do
    refused "$option needs a value" -- A.mtx "$option"
    refused "$option needs a value" -- A.mtx "$option" --json
done
refused "--passes takes auto or a whole number from 1 to 1024, not '0'" -- A.mtx --passes 0
refused "--passes takes auto" -- A.mtx --passes 1025
refused "--passes takes auto" -- A.mtx --passes -1
refused "--rtol takes a number" -- A.mtx --rtol -1
refused "--rtol takes a number above 0" -- A.mtx --rtol 0
refused "--rtol takes a number" -- A.mtx --rtol nan
refused "--max-iter takes a whole number" -- A.mtx --max-iter 0
refused "--repeat takes a whole number" -- A.mtx --repeat 0
refused "--threads takes a whole number" -- A.mtx --threads 0
refused "--max-memory takes a size" -- A.mtx --max-memory much
refused "--history takes a name that ends in .svg or .json, not 'h.png'" -- A.mtx --history h.png
refused "--history takes" -- A.mtx --history -
refused "the name of a file is empty" -- ''

# ---- options that contradict each other ----
refused "nothing to solve" --
refused "nothing to solve" -- --rhs b.mtx
refused "there is one A" -- A.mtx --matrix A.mtx
refused "--matrix and --generate do not go together" -- A.mtx --generate poisson2d:4
refused "'B.mtx' is one file too many" -- A.mtx B.mtx
for option in "--matrix A.mtx" "--generate poisson2d:4" "--rhs b.mtx" "--output x.mtx" "--solver cg" \
    "--precondition none" "--rtol 1" "--max-iter 3" "--precision f64" "--seed 1" "--lenient"; do
    # shellcheck disable=SC2086
    refused "--class and ${option% *} do not go together" -- --class S $option
done
refused "--class and --matrix do not go together" -- --class S A.mtx
refused "--seed needs --generate" -- --seed 3 A.mtx
for words in "--passes 2" "--passes auto" "--passes 2 --method rows" "--method auto --passes 2"; do
    # shellcheck disable=SC2086
    refused "--passes needs --method gather" -- A.mtx $words
done
refused "--device cpu and --compare do not go together" -- --device cpu --compare cusparse A.mtx
refused "--solver bicgstab and --compare do not go together" -- --solver bicgstab --compare cusparse A.mtx
refused "--quiet and --verbose do not go together" -- -v -q A.mtx
refused "A and b cannot both be '-'" -- - --rhs -

# ---- words that bash offers when the tab key is pressed ----
touch x.svg y.json notes.txt
mkdir folder
: >"$err"
offers "A B C D E S W" cg-bench --class ""
offers "--precision --precondition" cg-bench A.mtx --prec
offers "bicgstab cg" cg-bench --solver = ""
offers "jacobi" cg-bench --precondition j
offers "chebyshev jacobi" cg-bench --mg-smoother ""
offers "gather" cg-bench --method g
offers "auto" cg-bench --passes ""
offers "cpu cuda cuda:" cg-bench --device c
offers "perm: poisson2d:" cg-bench --generate p
offers "" cg-bench --generate poisson2d : 5
offers "" cg-bench --rtol ""
offers "A.mtx B.mtx complex.mtx folder wide.mtx" cg-bench --rhs ""
offers "A.mtx" cg-bench --json A
offers "folder x.svg y.json" cg-bench --history ""
finish
