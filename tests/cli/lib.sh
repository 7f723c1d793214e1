# shellcheck shell=bash disable=SC2034
# Sourced by the tests of spgemm-cli: CLI HELPER FAKE SOURCE WORK come in the environment. A test runs in an empty
# folder; each `expect` is a case, and at the end the number of cases that failed decides.
set -u
export LC_ALL=C OMP_WAIT_POLICY=passive # idle threads must not take the processor from other tests
rm -rf "${WORK:?}" && mkdir -p "$WORK" && cd "$WORK" || exit 1
cases=0 failures=0 input=/dev/null
out=$WORK/.out err=$WORK/.err
cli() { "$CLI" "$@"; }

# Says which case failed and why.
wrong() { # why
    failures=$((failures + 1))
    printf 'FAILED: %s\n  %s\n' "$case" "$1"
    sed 's/^/  stdout: /' "$out" | head -20
    sed 's/^/  stderr: /' "$err" | head -20
}

# Runs a command with `input` as its standard input; it must end with the code. $out and $err hold what it wrote.
expect() { # code command...
    local code=$1 got=0
    shift
    case="$*"
    cases=$((cases + 1))
    "$@" <"$input" >"$out" 2>"$err" || got=$?
    [ "$got" = "$code" ] || wrong "exit code $got instead of $code"
}

said() { grep -qF -e "$1" "$out" || wrong "standard output lacks '$1'"; }
told() { grep -qF -e "$1" "$err" || wrong "standard error lacks '$1'"; }
not_said() { ! grep -qF -e "$1" "$out" || wrong "standard output has '$1'"; }
not_told() { ! grep -qF -e "$1" "$err" || wrong "standard error has '$1'"; }
silent() { [ ! -s "$out" ] || wrong "something on standard output"; }
calm() { [ ! -s "$err" ] || wrong "something on standard error"; }
same() { cmp -s "$1" "$2" || wrong "$1 and $2 differ: $(cmp "$1" "$2" 2>&1)"; }
is() { [ "$1" = "$2" ] || wrong "'$1' instead of '$2'"; }

# The value at a path of keys in a JSON file, which must be valid.
json() { "$HELPER" json "$1" <"${2:-$out}" 2>>"$err" || wrong "no valid JSON"; }

# The entries of a Matrix Market file without its head, one a line.
entries() { sed -e '/^%/d' "$1" | sed -e 1d; }

# What a product is when it is written: entries, line by line, by /
product() { # "entries" arguments...
    local wanted=$1
    shift
    expect 0 cli "$@" -q -o C.out
    silent
    calm
    is "$(entries C.out | tr '\n' /)" "$wanted"
}

finish() {
    printf '%d cases, %d failed\n' "$cases" "$failures"
    [ "$failures" = 0 ] && [ "$cases" -gt 0 ]
}

# The tool, with a library that errs; see fake.c.
faked=(env "LD_PRELOAD=$FAKE" "ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0")
fake() { # how arguments...
    "${faked[@]}" "LSP_FAKE=$1" "$CLI" "${@:2}"
}

# A = [1 2; 0 3], B = [0 1; 4 0]: A*B = [8 1; 12 0], A*A = [1 8; 0 9], A*A^T = [5 6; 6 9]
small_matrices() {
    printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 2 2\n2 2 3\n' >A.mtx
    printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n2 1 4\n' >B.mtx
    printf '%%%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 1\n1 3 2\n2 2 3\n' >wide.mtx
    printf '%%%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 2\n' >complex.mtx
}
