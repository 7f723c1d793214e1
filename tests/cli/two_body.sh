#!/usr/bin/env bash
# Results of two-body: g(r) of a crystal, equal results of all methods and numbers of threads, matrices, pictures.
# shellcheck disable=SC2154,SC2086
. "$(dirname "$0")/lib.sh"

# ---- g(r) of a crystal has its peaks at 1, sqrt 2, sqrt 3, 2, sqrt 5, sqrt 6 times the spacing, 6 12 8 6 24 24 neighbours
for how in "" "--precision f32" "--method all" "--threads 1"; do
    expect 0 cli gr --generate lattice:1000:3 --range 2.6 --bins 40 --check -q $how
    calm
    is "$(awk '!/^#/ && $3 { printf "%.1f:%d ", $1, $3 }' "$out")" "1.0:3000 1.4:6000 1.7:4000 2.0:3000 2.2:12000 2.4:12000 "
done
# evenly spread points have g = 1
expect 0 cli gr --generate uniform:20000:3 --range 0.1 --bins 10 -q
awk '!/^#/ && $1 > 0.03 && ($2 < 0.9 || $2 > 1.1) { exit 1 }' "$out" || wrong "g(r) is not 1"
expect 0 cli gr --generate uniform:2000:3 --range 0.1 --no-box --json
[[ $(json volume) =~ ^0\.9 ]] || wrong "a volume of $(json volume)"
printf '1 1 1\n' >point.csv
expect 0 cli gr point.csv --range 1 --bins 2 -q --check
is "$(tail -1 "$out")" "0.75 0 0"
printf '1 1 1\n1 1 2\n' >flat.csv
expect 2 cli gr flat.csv --range 1
told "the points span no volume"
expect 0 cli histogram flat.csv --range 2 --bins 4 -q --check
is "$(awk '!/^#/ { print $3 }' "$out" | tr '\n' ' ')" "0 0 1 0 "

# ---- methods, threads and precisions: the same result, and the plain loop agrees ----
for spec in blobs:400:2:4 lattice:216:3 "uniform:200:8 --no-box" "uniform:300:3 --box 1,2,3,0.3,0.1,-0.2"; do
    for precision in f64 f32; do
        for verb in "count -r 0.05,0.2,0.45" "histogram --range 0.4 --bins 33" "join -r 0.3" "join -r 0.2 --half --squared" \
            "join -r 0.2 --pattern" "nearest -k 7" "density --bandwidth 0.1" "density --bandwidth 0.2 --kernel epanechnikov"; do
            methods="auto all grid boxes"
            case $verb in
            join*) methods="auto all grid" ;;
            nearest* | density*) methods="auto all boxes" ;;
            esac
            rm -f first.mtx
            for method in $methods; do
                expect 0 cli $verb --generate $spec --precision $precision --method $method --threads 1 --check -q -o all.mtx
                expect 0 cli $verb --generate $spec --precision $precision --method $method --threads 3 -q -o C.mtx
                calm
                same C.mtx all.mtx
                case $verb in
                density*) ;; # the last digits may differ
                *) [ -e first.mtx ] && same C.mtx first.mtx ;;
                esac
                cp C.mtx first.mtx
            done
        done
    done
done

# ---- matrices ----
printf '0 0\n3 4\n0 1\n' >a.csv
expect 0 cli join a.csv -r 5 -q -o C.mtx
is "$(entries C.mtx | tr '\n' /)" "1 2 5/1 3 1/2 1 5/2 3 4.242640687119285/3 1 1/3 2 4.242640687119285/"
expect 0 cli join a.csv -r 5 -q --half --squared -o C.mtx
is "$(entries C.mtx | tr '\n' /)" "1 2 25/1 3 1/2 3 18/"
expect 0 cli nearest a.csv -k 1 -q --pattern -o -
is "$(entries "$out" | tr '\n' /)" "1 3/2 3/3 1/"
expect 0 cli join a.csv -r 5
said "entries"
said "6   2 for each point"
expect 0 cli join a.csv a.csv -r 1 --json
is "$(json entries) $(json verb) $(json method)" '5 "join" "all"'

# ---- points half a side of a tilted box apart ----
for precision in f64 f32; do
    expect 0 cli nearest --generate lattice:64:3 -k 63 --box 8,4,4,-4,4,0 --check --precision $precision
done

# ---- densities: two points at a distance of h, in one dimension ----
printf '0\n1\n' >line.csv
expect 0 cli density line.csv --bandwidth 1 -q --check
printf '1.949 -2.5\n0.1 7\n' >exact.csv # numbers are as short as they can be
for precision in f64 f32; do
    expect 0 cli density exact.csv --bandwidth 1 -q --precision $precision
    is "$(awk '!/^#/ { print $1, $2 }' "$out")" "$(cat exact.csv)"
done
expect 0 cli density line.csv --bandwidth 1 -q --check
awk '!/^#/ && ($2 < 0.32045 || $2 > 0.32046) { exit 1 }' "$out" || wrong "the density is wrong"

# ---- JSON, pictures, the report ----
for verb in "count -r 0.1,0.2" "histogram --range 0.3" "gr --range 0.3" "join -r 0.1" "nearest -k 3" "density --bandwidth 0.1"; do
    expect 0 cli $verb --generate uniform:300:3 --json --check
    is "$(json check.ok) $(json dimensions) $(json precision)" 'true 3 "f64"'
    expect 0 cli $verb --generate uniform:300:3 -v --check
    said "right"
    said "distances computed"
done
for verb in histogram gr; do
    for bins in 1 40 5000; do
        expect 0 cli $verb --generate blobs:300:3:2 --range 0.4 --bins $bins --svg '<&>.svg' -q
        "$HELPER" xml <'<&>.svg' || wrong "no well-formed picture"
    done
done
expect 0 cli histogram flat.csv --range 0.5 --svg none.svg -q
"$HELPER" xml <none.svg || wrong "no well-formed picture"
expect 0 cli gr --generate lattice:27:3 --range 1.2 -o t.txt
said "write"
is "$(head -1 t.txt)" "# r g(r) pairs"
expect 0 cli count --generate uniform:100:2 --seed 2 -r 0.1 -q -o 2.txt
expect 0 cli count --generate uniform:100:2 --seed 3 -r 0.1 -q -o 3.txt
cmp -s 2.txt 3.txt && wrong "the seed changes nothing"

# ---- a root that may be less exact: the check allows for it ----
for device in cpu auto; do
    for verb in histogram gr; do
        expect 0 cli $verb --generate uniform:800:3 --range 0.4 --bins 5000 --approximate --device $device --check -q
    done
done

# ---- devices ----
expect 0 cli count --generate uniform:100:2 -r 0.1 --device cpu -q
if "$CLI" count --generate uniform:100:2 -r 0.1 --device cuda -q >/dev/null 2>&1; then
    for verb in "count -r 0.1,0.2" "histogram --range 0.3" "gr --range 0.3" "join -r 0.1"; do
        expect 0 cli $verb --generate uniform:2000:3 --device cuda --check -q -o gpu.mtx
        expect 0 cli $verb --generate uniform:2000:3 --device cpu -q -o cpu.mtx
        same gpu.mtx cpu.mtx
    done
else
    expect 4 cli count --generate uniform:100:2 -r 0.1 --device cuda
    silent
fi

# ---- several devices: what one gives; on a machine without a GPU shares of the CPU ----
lists=cpu,cpu,cpu
"$CLI" count --generate uniform:100:2 -r 0.1 --device cuda -q >/dev/null 2>&1 && lists="cpu,cpu 0,0"
for list in $lists; do
    for spec in blobs:3000:3:2 "uniform:2000:3 --no-box --precision f32" lattice:512:3 uniform:2:3; do
        for verb in "count -r 0.1,0.4" "histogram --range 0.3" "gr --range 0.3" "join -r 0.1" "join -r 0.2 --half" "nearest -k 3"; do
            expect 0 cli $verb --generate $spec --devices $list --check -q -o several.mtx
            calm
            expect 0 cli $verb --generate $spec -q -o one.mtx
            same several.mtx one.mtx
        done
        expect 0 cli density --bandwidth 0.1 --generate $spec --devices $list --check -q
    done
done
expect 0 cli count --generate blobs:20000:3:2 -r 0.05 --devices cpu,cpu --threads 4 -v
is "$(grep -c '^# device  *CPU .*2 threads: share [12] of 2' "$out")" 2
awk '/share . of 2/ { gsub(",", ""); for (i = 2; i <= NF; i++) if ($i == "distances") tested[++n] = $(i - 1) }
    END { exit !(n == 2 && tested[1] > 0.9 * tested[2] && tested[2] > 0.9 * tested[1]) }' "$out" || wrong "unequal shares"
for verb in "count -r 0.1,0.4" "join -r 0.1" "density --bandwidth 0.1"; do # again and again: the same result
    expect 0 cli $verb --generate blobs:3000:3:2 -q -o one.mtx
    for device in cpu,cpu cpu; do
        expect 0 cli $verb --generate blobs:3000:3:2 --devices $device --repeat 2 --check -q -o several.mtx
        [ "${verb%% *}" = density ] || same several.mtx one.mtx
    done
done
expect 0 cli count --generate blobs:20000:3:2 -r 0.05 --repeat 3 --check --json
is "$(json repeats) $(json check.ok)" '3 true'
expect 0 cli count --generate blobs:20000:3:2 -r 0.05 --devices cpu,cpu --json
is "$(grep -o '"name": "CPU"' "$out" | wc -l)" 2
is "$(json device)" '"cpu"'
# a device that fails is named, and nothing is written
expect 4 cli count --generate uniform:100:2 -r 0.1 --devices 1022,1023 -o none.txt
told "two-body: GPU 1022: "
silent
expect 3 cli join --generate uniform:20000:3 -r 0.3 --devices cpu,cpu --max-memory 100M -o none.mtx
told "two-body: CPU: "
[ -e none.txt ] || [ -e none.mtx ] && wrong "something is written"
finish
