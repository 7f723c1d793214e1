#!/usr/bin/env bash
# Files that are missing, malformed, complex or of the wrong size; outputs that cannot be written.
# shellcheck disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"
small_matrices

# The tool must end with exit code 2 and one sentence on standard error.
refused() { # "part" arguments...
    expect 2 cli "${@:2}"
    told "$1"
    is "$(wc -l <"$err")" 1
    silent
}

# ---- input ----
mkdir folder
refused "missing.mtx" missing.mtx
refused "missing.mtx" A.mtx missing.mtx
refused "missing.mtx" --info missing.mtx
refused "missing.mtx" --dry-run missing.mtx
refused "folder" folder
refused "missing.mtx" --json missing.mtx
refused "missing.mtx" --quiet missing.mtx
if [ "$(id -u)" != 0 ]; then
    cp A.mtx secret.mtx && chmod 0 secret.mtx
    refused "secret.mtx" secret.mtx
fi
: >void.mtx
refused "void.mtx" void.mtx
printf 'hello\n' >hello.mtx
refused "hello.mtx:1: " hello.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n3 1 1\n' >beyond.mtx
refused "beyond.mtx:4: " beyond.mtx
case=first
is "$(cut -c1-13 "$err")" "beyond.mtx:4:"
refused "beyond.mtx:4: " A.mtx beyond.mtx
refused "beyond.mtx:4: " --info beyond.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 9\n1 1 1\n' >short.mtx
refused "short.mtx:" short.mtx
gzip -c A.mtx | head -c 40 >cut.mtx.gz
refused "cut.mtx.gz" cut.mtx.gz
gzip -c beyond.mtx >beyond.mtx.gz
refused "beyond.mtx.gz:4: " beyond.mtx.gz
input=beyond.mtx
refused ":4: " -
is "$(cut -c1-17 "$err")" "standard input:4:"
input=/dev/null
expect 2 cli -
is "$(wc -l <"$err")" 1

# ---- what can be read but not multiplied ----
refused "complex" --precision f32 complex.mtx
refused "complex.mtx is complex: --semiring min-plus is for real values" complex.mtx --semiring min-plus
expect 0 cli --info complex.mtx
expect 0 cli --dry-run complex.mtx
refused "wide.mtx is 2 x 3: A*A is not defined, but A*A^T is (--transpose-b)" wide.mtx
refused "A*B is not defined" wide.mtx A.mtx
refused "A*B^T is not defined" A.mtx wide.mtx --transpose-b
refused "A*B is not defined" wide.mtx wide.mtx
refused "wide.mtx is 2 x 3: A^T*A^T is not defined, but A^T*A is (--transpose-a alone)" wide.mtx --transpose-a --transpose-b
refused "A^T*B is not defined" --transpose-a B.mtx --generate er:3:1

# ---- masks ----
refused "missing.mtx" A.mtx --mask missing.mtx
refused "missing.mtx" A.mtx --mask missing.mtx --dry-run
refused "beyond.mtx:4: " A.mtx --mask beyond.mtx
refused "the mask wide.mtx is 2 x 3, and A*A is 2 x 2" A.mtx --mask wide.mtx
refused "the mask wide.mtx is 2 x 3, and A*A is 2 x 2" A.mtx --mask wide.mtx --complement --dry-run
refused "the mask A.mtx is 2 x 2, and A*B is 2 x 3" A.mtx wide.mtx --mask A.mtx
refused "the mask wide.mtx is 2 x 3, and A^T*B is 3 x 2" wide.mtx A.mtx --transpose-a --mask wide.mtx
refused "the mask wide.mtx is 2 x 3, and A^T*A is 3 x 3" wide.mtx --transpose-a --mask wide.mtx -o never.mtx
[ ! -e never.mtx ] || wrong "a file after a failure"
refused "A*A is not defined" wide.mtx --mask wide.mtx

# ---- output ----
before=$(ls -A)
refused "no/such/C.mtx" A.mtx -o no/such/C.mtx
refused "folder" A.mtx -o folder
refused "no/such/C.svg" A.mtx -q --spy no/such/C.svg
mkdir folder.svg
refused "folder.svg: cannot be written: Is a directory" A.mtx -q --spy folder.svg
refused "no/such/C.mtx: cannot be written: No such file" missing.mtx -o no/such/C.mtx # before anything is read
refused "no/such/C.svg: cannot be written: No such file" missing.mtx --info --spy no/such/C.svg
refused "A.mtx/C.mtx: cannot be written: Not a directory" missing.mtx -o A.mtx/C.mtx
refused "no/such/: cannot be written" missing.mtx -o no/such/
refused "File name too long" missing.mtx -o "$(printf 'x%.0s' {1..300})"
ln -s no/such/C.mtx nowhere.mtx
refused "nowhere.mtx: cannot be written: No such file" missing.mtx -o nowhere.mtx
ln -s round.mtx round.mtx
refused "round.mtx: cannot be written: Too many levels" missing.mtx -o round.mtx
rm nowhere.mtx round.mtx
if [ "$(id -u)" != 0 ]; then
    chmod a-w folder
    refused "folder/C.mtx: cannot be written: Permission denied" missing.mtx -o folder/C.mtx
    chmod u+w folder
fi
rmdir folder.svg
if [ -c /dev/full ]; then # only as standard output, so that no bug can replace the device
    full() { "$CLI" "$@" >/dev/full; }
    expect 2 full A.mtx -o -
    told "spgemm-cli: "
    for what in --help --version "A.mtx" "A.mtx --json" "A.mtx --info" "A.mtx -q --spy -"; do
        # shellcheck disable=SC2086
        expect 2 full $what
        told "standard output cannot be written: No space left on device"
    done
    expect 0 full A.mtx -q
fi
closed() { "$CLI" "$@" >&-; }
expect 2 closed A.mtx
told "standard output"
expect 0 closed A.mtx -q
expect 2 closed A.mtx -q -o -
is "$(ls -A)" "$before"

# ---- a run that fails keeps the old output; a run that succeeds replaces it ----
printf 'old\n' >C.mtx
expect 3 cli --generate poisson2d:100 --max-memory 100K -o C.mtx
is "$(cat C.mtx)" old
expect 2 cli beyond.mtx -o C.mtx
is "$(cat C.mtx)" old
expect 0 cli A.mtx -o C.mtx -q
is "$(head -c 14 C.mtx)" "%%MatrixMarket"
printf 'old\n' >C.svg
expect 0 cli A.mtx --spy C.svg -q
expect 0 cli A.mtx -o D.mtx -q
is "$(head -c 4 C.svg)" "<svg"

# ---- an output that is an input or another output is refused, under any name, before anything is read ----
mkdir twice
ln -s ../A.mtx twice/link.mtx
ln A.mtx twice/hard.mtx
ln -s twice other
ln -s new.svg twice/dangling.svg
cp A.mtx A.svg
overwrites() { # "part" arguments...
    expect 1 cli "${@:2}"
    told "$1"
    is "$(wc -l <"$err")" 1
    silent
    same A.mtx A.svg
}
overwrites "C would overwrite A: './A.mtx' and 'A.mtx' are the same file" A.mtx -o ./A.mtx
overwrites "C would overwrite A: 'other/link.mtx'" A.mtx missing.mtx -o other/link.mtx
overwrites "C would overwrite A" twice/link.mtx -o twice/hard.mtx
overwrites "C would overwrite B: " missing.mtx A.mtx -o "$PWD/A.mtx"
overwrites "C would overwrite B: " --generate perm:2 A.mtx -o A.mtx
overwrites "C would overwrite the mask: " B.mtx --mask A.mtx -o twice/../A.mtx
overwrites "the picture would overwrite A: " A.svg --spy A.svg
overwrites "the picture would overwrite A: " A.svg --info --spy ./A.svg
overwrites "the picture would overwrite B: " A.mtx A.svg --dry-run --spy A.svg
overwrites "the picture would overwrite the mask: " A.mtx --mask A.svg --spy A.svg
overwrites "the picture would overwrite C: 'twice/../new.svg' and 'new.svg' are" missing.mtx -o new.svg --spy twice/../new.svg
overwrites "the picture would overwrite C" A.mtx -o s.svg --spy s.svg
overwrites "the picture would overwrite C" A.mtx -o other/new.svg --spy twice/dangling.svg
overwrites "the picture would overwrite C" A.mtx -o "$PWD/s.svg" --spy s.svg
input=A.mtx
overwrites "C would overwrite A: 'A.mtx' and 'standard input' are the same file" - -o A.mtx
input=/dev/null
appended() { "$CLI" "$@" >>A.mtx; }
expect 1 appended A.mtx -o -
told "C would overwrite A: 'standard output' and 'A.mtx' are the same file"
same A.mtx A.svg
if [ -e s.svg ] || [ -e twice/new.svg ]; then wrong "a file after a refusal"; fi
expect 0 cli A.mtx -q -o /dev/null
expect 0 cli A.mtx -q --spy twice/dangling.svg
if [ ! -L twice/dangling.svg ] || [ ! -f twice/new.svg ]; then wrong "the link was replaced"; fi
expect 0 cli A.mtx -q -o twice/C.mtx --spy twice/C.svg
expect 1 cli A.mtx --spy C.png
told "--spy takes a name that ends in .svg, or - for characters, not 'C.png': pictures are SVG files"
expect 1 cli A.mtx --spy B.mtx
told "pictures are SVG files"
[ ! -e C.png ] || wrong "a file after a refusal"
is "$(head -c 14 B.mtx)" "%%MatrixMarket"
expect 0 cli A.mtx --json --spy C.svg
told "the picture of C was written to C.svg"
json nnz_c >/dev/null
expect 0 cli A.mtx --info --spy C.svg
told "the picture of A was written to C.svg"

# ---- if the reader closes the pipe, the run ends like other tools: by SIGPIPE, without a message ----
expect 141 "$HELPER" pipe 10 "$CLI" --generate poisson2d:200 -o -
calm
expect 141 "$HELPER" pipe 0 "$CLI" --help
calm
expect 141 "$HELPER" pipe 0 "$CLI" A.mtx -o kept.mtx
calm
same kept.mtx D.mtx
ignored() (trap '' PIPE && exec "$HELPER" pipe 10 "$CLI" --generate poisson2d:200 -o -)
expect 2 ignored # a caller that ignores the signal gets a message
told "standard output: cannot be written: Broken pipe"
expect 0 cli --generate poisson2d:200 -q -o piped.mtx
mkfifo fifo
# shellcheck disable=SC2016
expect 0 bash -c 'cat fifo >through.mtx & "$CLI" --generate poisson2d:200 -q -o fifo && wait'
same piped.mtx through.mtx
[ -p fifo ] || wrong "the pipe was replaced by a file"
mkfifo pipe.svg
# shellcheck disable=SC2016
expect 2 bash -c 'head -c 10 pipe.svg >/dev/null & "$CLI" --generate er:3000:8 -q --spy pipe.svg; code=$?; wait; exit $code'
told "the picture 'pipe.svg' cannot be written: Broken pipe"
[ -p pipe.svg ] || wrong "the pipe was replaced by a file"
printf 'old\n' >D.svg
ln -s D.svg linked.svg
expect 0 cli A.mtx -q --spy linked.svg
[ -L linked.svg ] || wrong "the link was replaced"
is "$(head -c 4 D.svg)" "<svg"
# shellcheck disable=SC2016
expect 0 bash -c 'cat A.mtx >fifo & "$CLI" fifo -q -o C.mtx && wait'
expect 0 cli A.mtx -q -o D.mtx
same C.mtx D.mtx

# ---- a file that exceeds its size limit is a write error ----
limited() (ulimit -f 8 && exec "$CLI" "$@")
mkdir small
for output in "-o small/C.mtx" "-o small/C.mtx.gz" "--spy small/C.svg"; do
    # shellcheck disable=SC2086
    expect 2 limited --generate er:3000:30 -q $output
    told "cannot be written: File too large"
    is "$(ls -A small)" ""
done

# ---- an interrupted run leaves no unfinished file ----
mkdir quiet
ln -s quiet/linked.mtx link.mtx
printf 'old\n' >quiet/linked.mtx
interrupted() { # signal arguments...: sent when the output is complete but not yet renamed
    (exec env --default-signal=QUIT "${faked[@]}" LSP_FAKE=linger "$CLI" "${@:2}") &
    local tool=$! waited=0
    while [ -z "$(find quiet ! -name linked.mtx -type f -size +0)" ] && [ $((waited += 1)) -lt 900 ]; do sleep 0.01; done
    kill -s "$1" $tool
    wait $tool
}
ulimit -c 0
for signal in TERM HUP QUIT XCPU; do
    for output in "-o quiet/C.mtx" "-o link.mtx" "--spy quiet/C.svg"; do
        # shellcheck disable=SC2086
        expect $((128 + $(kill -l $signal))) interrupted $signal A.mtx -q $output
        is "$(ls -A quiet) $(cat quiet/linked.mtx)" "linked.mtx old"
    done
done
finish
