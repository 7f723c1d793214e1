# shellcheck shell=bash disable=SC2034
# Sourced by the tests of the tools; CLI is one of them. ctest sets CLI HELPER FAKE SOURCE WORK in the
# environment. A test runs in an empty folder. Each `expect` is a case, the assertions after it belong to that case, and
# `finish` fails if any case failed.
set -u
export LC_ALL=C OMP_WAIT_POLICY=passive # idle threads must not take the processor from other tests
rm -rf "${WORK:?}" && mkdir -p "$WORK" && cd "$WORK" || exit 1
cases=0 failures=0 input=/dev/null
out=$WORK/.out err=$WORK/.err
cli() { "$CLI" "$@"; }

# Prints which case failed, why, and what it wrote.
wrong() { # why
    failures=$((failures + 1))
    printf 'FAILED: %s\n  %s\n' "$case" "$1"
    sed 's/^/  stdout: /' "$out" | head -20
    sed 's/^/  stderr: /' "$err" | head -20
}

# Runs a command with $input as its standard input and checks its exit code. $out and $err then hold its output.
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

# Prints the value at a path of keys in a JSON file, and checks that the file is valid.
json() { "$HELPER" json "$1" <"${2:-$out}" 2>>"$err" || wrong "no valid JSON"; }

# Prints the entries of a Matrix Market file, one on each line, without banner, comments and sizes.
entries() { sed -e '/^%/d' "$1" | sed -e 1d; }

# Multiplies, writes C and compares its entries; they are given line by line, each ended by /.
product() { # "entries" arguments...
    local wanted=$1
    shift
    expect 0 cli "$@" -q -o C.out
    silent
    calm
    is "$(entries C.out | tr '\n' /)" "$wanted"
}

# Checks the syntax of a manual, with groff and mandoc if they are installed, and of a completion.
well_formed() { # manual completion
    if command -v groff >/dev/null; then
        expect 0 groff -mandoc -Tutf8 -ww -z "$1"
        calm
    fi
    if command -v mandoc >/dev/null; then
        expect 0 mandoc -Tlint -Wwarning "$1"
        silent
    fi
    expect 0 bash -n "$2"
}

# Completes the last word by the function of the program: _spgemm_cli for spgemm-cli. The words are split as bash splits
# them: at = and :.
offers() { # "wanted, sorted and separated by blanks" program words...
    case="completion of ${*:2}"
    cases=$((cases + 1))
    COMP_WORDS=("${@:2}")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    "_${2//-/_}" 2>>"$err"
    is "$(printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' ' | sed 's/ *$//')" "$1"
}

finish() {
    printf '%d cases, %d failed\n' "$cases" "$failures"
    [ "$failures" = 0 ] && [ "$cases" -gt 0 ]
}

# Runs the tool with a library that gives wrong results or is slow; see fake.c.
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
