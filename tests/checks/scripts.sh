#!/usr/bin/env bash
# scripts.sh PART: the README's two commands do what they say. A copy of the scripts runs in WORK, where `cmake` and
# `ctest` are stand-ins, so that nothing is built twice.
set -euo pipefail
rm -rf "$WORK"
mkdir -p "$WORK/bin" "$WORK/matrices"
cd "$WORK"

fail() { printf '%s\n' "$@" >&2 && exit 1; }
stand_in() { # name; its script comes from standard input
    { echo '#!/bin/sh' && cat; } >"bin/$1"
    chmod +x "bin/$1"
}
copy_scripts() {
    cp -r "$SOURCE/scripts" .
    cp -r "$SOURCE/matrices/data" matrices/
    stand_in setup <<<'exit 0'
    cp bin/setup scripts/setup
    export PATH=$WORK/bin:$PATH
}

case $1 in
no_tests) # a preset that ran no test has failed
    copy_scripts
    stand_in cmake <<<'exit 0'
    stand_in ctest <<<'while [ $# -gt 1 ]; do [ "$1" = --output-junit ] && echo "<testsuite></testsuite>" >"$2"; shift; done'
    if scripts/test release >out 2>&1; then fail "no test ran, and scripts/test ended with 0:" "$(cat out)"; fi
    grep -q 'FAILED: release: no test was run' out || fail "scripts/test does not say that no test ran:" "$(cat out)"
    grep -q '^0 passed, 1 failed$' out || fail "scripts/test counts wrongly:" "$(cat out)"
    ;;
skipped) # the end says why tests were skipped; the counts stand alone on the last line
    copy_scripts
    stand_in cmake <<<'exit 0'
    stand_in ctest <<'END'
while [ "$1" != --output-junit ]; do shift; done
cat >"$2" <<'JUNIT'
<testcase name="core_device" status="notrun">
    <skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
    <system-out>[----]
[SKIP] device::first: no GPU here
[SKIP] device::second: no GPU here
[====] Synthesis: Tested: 0 | Passing: 0 | Failing: 0 | Crashing: 0
</system-out>
</testcase>
<testcase name="cli_real" status="notrun">
    <skipped message="SKIP_RETURN_CODE=77"/>
    <system-out>no matrices here
</system-out>
</testcase>
<testcase name="core_types" status="run">
    <system-out>[====] Synthesis: Tested: 5 | Passing: 5 | Failing: 0 | Crashing: 0
</system-out>
</testcase>
JUNIT
END
    scripts/test release >out 2>&1 || fail "$(cat out)"
    [ "$(tail -5 out)" = $'skipped, and why:\n      2 no GPU here\n      1 no matrices here\n\n5 passed, 0 failed, 3 skipped' ] ||
        fail "scripts/test ends otherwise:" "$(cat out)"
    ;;
presets) # the release preset has the tests, whatever an earlier configuration of its folder said
    for tests in OFF ON; do
        off=()
        if [ $tests = OFF ]; then off=(-DLSP_TESTS=OFF -DLSP_TOOLS=OFF -DLSP_WERROR=ON); fi
        (cd "$SOURCE" && "$CMAKE" --preset release -B "$WORK/build" -DLSP_CUDA=OFF "${off[@]}") >out 2>&1 || fail "$(cat out)"
    done
    for line in LSP_TESTS:BOOL=ON LSP_TOOLS:BOOL=ON LSP_WERROR:BOOL=OFF; do
        grep -q "^$line$" build/CMakeCache.txt || fail "the release preset leaves no $line:" "$(grep LSP_ build/CMakeCache.txt)"
    done
    ;;
demo) # it prints each command before its output, the path of the program, and further commands to try
    copy_scripts
    stand_in cmake <<<"mkdir -p build/demo/cli && cp '$CLI' '$(dirname "$CLI")/cg-bench' build/demo/cli/ && echo the progress of the build"
    LD_LIBRARY_PATH=$(dirname "$CLI")/.. scripts/demo >out 2>err || fail "$(cat out err)"
    for line in '$ build/demo/cli/spgemm-cli --info matrices/data/disc.mtx' '$ build/demo/cli/spgemm-cli matrices/data/disc.mtx --spy -' \
        'the progress of the build' '$ build/demo/cli/cg-bench matrices/data/disc.mtx' 'iterations              38' \
        'The programs are build/demo/cli/spgemm-cli and build/demo/cli/cg-bench' '$ build/demo/cli/cg-bench --class S'; do
        grep -qF -- "$line" out || fail "the demo does not show '$line':" "$(cat out)"
    done
    stand_in cmake <<<'echo a mistake of the compiler >&2; exit 1'
    if scripts/demo >out 2>err; then fail "the build failed, and the demo ended with 0"; fi
    grep -q 'a mistake of the compiler' err || fail "the demo does not say why the build failed:" "$(cat err)"
    ;;
peers) # a peer whose package does not compile is left out with its reason, and the build goes on
    mkdir -p old/include old/lib
    echo '#error "this package is too old"' >old/include/divsufsort.h
    : >old/lib/libdivsufsort.so
    "$CMAKE" -S "$SOURCE" -B build -G Ninja -DLSP_CUDA=OFF -DLSP_TESTS=OFF -DCMAKE_C_COMPILER="$CC" \
        -DCMAKE_PREFIX_PATH="$WORK/old" >out 2>&1 || fail "$(cat out)"
    grep -q 'leaves out the peer DIVSUFSORT: .*too old' out || fail "no reason:" "$(cat out)"
    if grep -q BENCH_HAVE_DIVSUFSORT build/build.ninja; then fail "the peer would be built"; fi
    ;;
architectures) # a CUDA compiler that does not know the newest chips is asked for those that it knows
    stand_in nvcc <<END
if [ "\$*" = --list-gpu-arch ]; then "$NVCC" "\$@" | grep -v compute_1..; exit; fi
case "\$*" in *compute_1[0-9][0-9]*) echo "Unsupported gpu architecture" >&2 && exit 1 ;; esac
exec "$NVCC" "\$@"
END
    "$CMAKE" -S "$SOURCE" -B build -G Ninja -DLSP_TESTS=OFF -DLSP_TOOLS=OFF -DCMAKE_C_COMPILER="$CC" \
        -DCMAKE_CUDA_COMPILER="$WORK/bin/nvcc" >out 2>&1 || fail "$(cat out)"
    grep -q 'compute_90,code=.compute_90,sm_90' build/build.ninja || fail "other chips:" "$(grep -o 'compute_[0-9a-z,=_]*' build/build.ninja | sort -u)"
    ;;
flags) # a user's own flags may warn; the build goes on
    for werror in OFF ON; do
        "$CMAKE" -S "$SOURCE" -B build -G Ninja -DLSP_CUDA=OFF -DLSP_TESTS=OFF -DLSP_TOOLS=OFF -DLSP_WERROR=$werror \
            -DCMAKE_C_COMPILER="$CC" "-DCMAKE_C_FLAGS=-Og -Wpadded" >out 2>&1 || fail "$(cat out)"
        result=OFF
        "$CMAKE" --build build --target CMakeFiles/lsp_objects.dir/core/status.c.o >out 2>&1 || result=ON
        grep -q padded out || fail "the compiler was to warn:" "$(cat out)"
        [ $result = $werror ] || fail "LSP_WERROR=$werror, but an error: $result" "$(cat out)"
    done
    ;;
*) fail "scripts.sh: no part '$1'" ;;
esac
