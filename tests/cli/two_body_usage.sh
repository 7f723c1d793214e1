#!/usr/bin/env bash
# The command line of two-body: help, version, completion, and every kind of mistake.
# shellcheck disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"
manual=$SOURCE/cli/two-body.1 completion=$SOURCE/cli/two-body.bash
# shellcheck source=/dev/null
. "$completion"
printf '0 0 0\n1 0 0\n' >a.csv

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
    told "two-body: "
    silent
}

# ---- help and version ----
expect 0 cli --help
calm
cp "$out" help
[ "$(wc -l <help)" -le 24 ] || wrong "the help does not fit 24 lines"
[ "$(wc -L <help)" -le 80 ] || wrong "the help does not fit 80 columns"
options=$(grep -oE -- '--[a-z-]+' help | sort -u)
is "$(wc -l <<<"$options")" 31
for option in $options --verbose; do
    grep -qF -- "Fl Fl ${option#--}" "$manual" || wrong "$option is not in the manual"
    grep -qF -- "$option" "$completion" || wrong "$option is not in the completion"
done
for name in count histogram gr join nearest density uniform blobs lattice xyz gro pdb csv npy all grid boxes; do
    for where in help "$manual" "$completion"; do
        grep -qw "$name" "$where" || wrong "$name is not in $where"
    done
done
well_formed "$manual" "$completion"
expect 0 cli -h
same "$out" help
expect 0 cli --version
calm
[[ $(cat "$out") =~ ^two-body\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || wrong "no version"

# ---- programs for one's own distance ----
expect 0 cli generate --help
calm
[ "$(wc -L <"$out")" -le 96 ] || wrong "the help of generate does not fit 96 columns"
options=$(grep -oE -- '--[a-z-]+ ' "$out" | sort -u)
for option in $options; do
    grep -qF -- "Fl Fl ${option#--}" "$manual" || wrong "$option is not in the manual"
    grep -qF -- "$option" "$completion" || wrong "$option is not in the completion"
done
offers "sm80 sm86 sm90" two-body generate near --target ""
mkdir made
expect 0 cli generate near_pairs --predicate "x[0] < y[0]" --output join --folder made
silent
is "$(cd made && echo *)" "near_pairs.c near_pairs.cu near_pairs.h"
expect 0 cli generate bins --distance "pairs_euclid_squared(x, y)" --squared --output histogram --size 256 -o made
grep -q "256 bins: 32 private copies" made/bins.cu || wrong "the rules are not told"
again=(cli generate bins --distance "pairs_euclid(x, y)" --output histogram -o made)
refused "made/bins.h is there: --force" -- "${again[@]:1}" --size 2048
expect 0 "${again[@]}" --size 2048 --target sm90 --force
grep -q "define PAIRS_COPIES 16 " made/bins.cu || wrong "2048 bins have other copies"
expect 0 "${again[@]}" --size 100000 --force
grep -q "counters in global memory" made/bins.cu || wrong "100000 bins have other counters"
refused "needs a name for C" -- generate --distance 1 --output count
refused "a name for C" "'2d'" -- generate 2d --distance 1 --output count
refused "needs --distance EXPR or --predicate" -- generate a --output count
refused "not both" -- generate a --distance 1 --predicate 1 --output count
refused "needs --output" -- generate a --distance 1
refused "needs --size" -- generate a --distance 1 --output histogram
refused "at most 16" -- generate a --distance 1 --output count --size 17
refused "a predicate serves" -- generate a --predicate 1 --output sum
refused "--squared is of histograms" -- generate a --distance 1 --output count --squared
refused "end a comment" -- generate a --distance "1*/p[0]" --output count
for word in double struct template; do refused "'$word', which is a word of C" -- generate $word --distance 1 --output count; done
refused "no x[5]: --dimensions is 2" -- generate a --distance "pow(x[0] - y[0], 2) + x [ 5 ]" --output count -d 2
refused "no y[3]: --dimensions is 3" -- generate a --predicate "x[0] < y[3]" --output count
refused "no p[0]: --parameters is 0" -- generate a --distance "exp[9] + p[0]" --output count
expect 2 cli generate a --distance "f(x, y)" --output count --functions none.h -o made
told "none.h: cannot be read"
touch made/mine.h
expect 0 cli generate a --distance "f(x[1], p[1])" --output count --functions mine.h --parameters 2 -o made
expect 2 cli generate a --distance 1 --output count -o nowhere
told "nowhere/a.h"
rm -r made

# ---- misspelt words ----
refused "the verb is count|histogram" "did you mean 'count'?" -- coutn a.csv
refused "the verb is" -- frobnicate a.csv
refused "nothing to do" --
refused "unknown option '--radis'" "did you mean '--radius'?" -- count a.csv --radis 1
refused "did you mean 'f32'?" -- count a.csv -r 1 --precision float
refused "did you mean 'grid'?" -- count a.csv -r 1 --method gird
refused "did you mean 'cuda'?" -- count a.csv -r 1 --device gpu
for list in , 0, ,0 gpu cuda -1 cpu:1 1024 0,00000000000000000000; do
    refused "--devices takes numbers of GPUs" -- count a.csv -r 1 --devices "$list"
done
refused "at most 16 devices" -- count a.csv -r 1 --devices 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16
refused "GPUs or shares of the CPU, not both" -- count a.csv -r 1 --devices cpu,0
refused "--devices and --device do not go together" -- count a.csv -r 1 --devices 0,1 --device cuda

# ---- missing and malformed values ----
for option in --radius --range --bins --neighbours --bandwidth --kernel --output --format --element --name --box \
    --generate --seed --method --precision --device --devices --threads --max-memory --repeat --svg; do
    refused "$option needs a value" -- count a.csv "$option"
done
for list in x '1,' ',1' '1,,2' -1 nan inf 0x1 1e999; do refused "--radius takes" -- count a.csv -r "$list"; done
expect 0 cli count a.csv --radius .4,1.,4e-1
for verb in "gr --range" "density --bandwidth"; do
    for number in .4 1. .4e1; do expect 0 cli $verb $number --box 9,9,9 a.csv; done
    for number in . +1 1e 1x e1; do refused "takes a number" -- $verb $number a.csv; done
done
expect 0 cli count a.csv -r .4 --box 9.,.8e1,7,-.5,0,-1
refused "--radius takes one number" -- join a.csv -r 1,2
refused "--range takes a number above 0" -- gr a.csv --range 0
refused "--bandwidth takes a number above 0" -- density a.csv --bandwidth 0
refused "--bins takes a whole number from 1" -- gr a.csv --range 1 --bins 0
refused "--neighbours takes a whole number from 1" -- nearest a.csv -k 0
refused "--box takes" -- count a.csv -r 1 --box 1,x
refused "--box has 2 numbers, but the points have 3 dimensions" -- count a.csv -r 1 --box 1,1
refused "--box: side 2 is -1" -- count a.csv -r 1 --box 1,-1,1
refused "half of that is the most" -- count a.csv -r 1 --box 1,1,1
refused "--element takes one word or two" -- count a.csv -r 1 --element A,B,C
refused "--name takes one word or two" -- count a.csv -r 1 --name A,
for spec in quux uniform uniform:5 uniform:5:2:1 blobs:5:2 lattice:5:2:2:2; do
    refused "--generate takes uniform:N:D" -- count -r 1 --generate $spec
done
refused "N is '3000000000', it must be a whole number from 1 to 1073741824" -- count -r 1 --generate uniform:3000000000:3
refused "D is '9', it must be a whole number from 1 to 8" -- count -r 1 --generate uniform:5:9
refused "K is '2000000', it must be a whole number from 1 to 1048576" -- count -r 1 --generate blobs:5:2:2000000
for spec in uniform:5:0 uniform:x:2 blobs:5:2:0 lattice:8:; do
    refused "must be a whole number from 1" -- count -r 1 --generate $spec
done
refused "--generate lattice:10:3" -- count -r 1 --generate lattice:10:3

# ---- options that contradict each other, or belong to another verb ----
refused "no points" -- count -r 1
refused "count needs --radius" -- count a.csv
refused "join needs --radius" -- join a.csv
refused "gr needs --range" -- gr a.csv
refused "nearest needs --neighbours" -- nearest a.csv
refused "density needs --bandwidth" -- density a.csv
refused "--range does not belong to count" -- count a.csv -r 1 --range 1
refused "--radius does not belong to gr" -- gr a.csv -r 1 --range 1
refused "--svg does not belong to join" -- join a.csv -r 1 --svg x.svg
refused "--svg takes a name that ends in .svg, not 'x.png'" -- gr a.csv --range 1 --svg x.png
refused "--half does not belong to nearest" -- nearest a.csv -k 1 --half
refused "--approximate does not belong to join" -- join a.csv -r 1 --approximate
refused "--kernel does not belong to count" -- count a.csv -r 1 --kernel gaussian
refused "--generate and a file do not go together" -- count a.csv -r 1 --generate uniform:5:2
refused "--seed needs --generate" -- count a.csv -r 1 --seed 2
refused "--element and --name do not go together" -- count a.csv -r 1 --element A --name B
refused "--box and --no-box do not go together" -- count a.csv -r 1 --box 1,1,1 --no-box
refused "--squared and --pattern do not go together" -- join a.csv -r 1 --squared --pattern
refused "--half and a second file do not go together" -- join a.csv a.csv -r 1 --half
refused "--quiet and --verbose do not go together" -- count a.csv -r 1 -q -v
refused "both sets cannot be '-'" -- count - - --format csv -r 1
refused "one file too many: at most 2" -- count a.csv a.csv a.csv -r 1
refused "its name tells no format" -- count points.txt -r 1
seq 300 >long.csv
expect 3 cli count long.csv -r 1 --max-memory 1K
told "no memory for more than 1023 B of it"
rm long.csv
refused "the nearest points have no method grid" -- nearest a.csv -k 1 --method grid
refused "are the same file" -- count a.csv -r 1 -o ./a.csv

# ---- words that bash offers when the tab key is pressed ----
touch b.xyz.gz c.pdb x.svg C.mtx notes
mkdir folder
: >"$err"
offers "count" two-body c
offers "--bandwidth --bins --box" two-body gr --b
offers "all auto" two-body gr --method a
offers "npy" two-body gr --format = n
offers "blobs: lattice: uniform:" two-body count --generate ""
offers "" two-body count --generate uniform : 5
offers "" two-body count -r ""
offers "a.csv b.xyz.gz c.pdb folder" two-body count ""
offers "folder x.svg" two-body gr --svg ""
offers "C.mtx folder" two-body join -o ""
finish
