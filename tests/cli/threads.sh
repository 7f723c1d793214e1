#!/usr/bin/env bash
# With too little address space, fewer threads start or none: the product is the same, or the exit code is 3. The OpenMP
# runtime must never end the process. The limits rise until 20 of them suffice.
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"

expect 0 cli --generate er:20000:8 --threads 1 -q -o right.mtx
limited() { (ulimit -v "$1" && "$CLI" --generate er:20000:8 --threads 24 -q -o limited.mtx); }
done_with=0 refused=0
for ((kib = 8000; done_with < 20 && kib <= 1000000; kib += 2000)); do
    got=0
    case="limited $kib KiB"
    cases=$((cases + 1))
    rm -f limited.mtx
    limited "$kib" >"$out" 2>"$err" || got=$?
    case $got in
    0)
        done_with=$((done_with + 1))
        same right.mtx limited.mtx
        ;;
    3) refused=$((refused + 1)) ;;
    126 | 127) ;; # the program itself could not be loaded
    *)            # nor could a library of its that takes memory when it is loaded: then --version fails too
        if (ulimit -v "$kib" && "$CLI" --version) >/dev/null 2>&1; then wrong "exit code $got instead of 0 or 3"; fi
        ;;
    esac
done
case="some of the limits" cases=$((cases + 1))
[ "$done_with" -gt 0 ] || wrong "no product at all"
[ "$refused" -gt 0 ] || wrong "no limit was too small"
finish
