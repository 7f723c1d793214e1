#!/usr/bin/env bash
# suffix-array: its command line, its files and malformed ones, and its results, beside plain searches and sorts.
# shellcheck disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"
manual=$SOURCE/cli/suffix-array.1 completion=$SOURCE/cli/suffix-array.bash
# shellcheck source=/dev/null
. "$completion"

# The tool must end with this exit code and one sentence, which contains the part.
refused() { # code "part" arguments...
    expect "$1" cli "${@:3}"
    told "$2"
    is "$(wc -l <"$err")" 1
    silent
}

# ---- help and version ----
expect 0 cli --help
calm
cp "$out" help
[ "$(wc -l <help)" -le 24 ] || wrong "the help does not fit 24 lines"
[ "$(wc -L <help)" -le 80 ] || wrong "the help does not fit 80 columns"
options=$(grep -oE -- '--[a-z-]+' help | sort -u)
is "$(wc -l <<<"$options")" 18
for option in $options; do
    grep -qF -- "Fl Fl ${option#--}" "$manual" || wrong "$option is not in the manual"
    grep -qF -- "$option" "$completion" || wrong "$option is not in the completion"
done
well_formed "$manual" "$completion"
expect 0 cli --version
[[ $(cat "$out") =~ ^suffix-array\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || wrong "no version"

# ---- small answers made by hand ----
printf banana >banana
expect 0 cli banana -o - --text -q
calm
is "$(tr '\n' ' ' <"$out")" "5 3 1 0 4 2 "
expect 0 cli banana -o - --text -q --output-type lcp
is "$(tr '\n' ' ' <"$out")" "0 1 3 0 0 2 "
expect 0 cli banana -o - --output-type bwt
is "$(cat "$out")" annbaa # $ stands at place 4
told "primary                  4"
expect 0 cli banana --json -s ana -s nan -s x -s banana --places 1
is "$(json symbols) $(json strings) $(json alphabet) $(json distinct)" "6 1 3 15"
is "$(json repeat.length) $(json repeat.count) $(json repeat.offset) $(json repeat.name)" "3 2 1 null"
said '"patterns": [{"pattern": "ana", "count": 2, "places": [{"name": null, "offset": 1}]}, {"pattern": "nan", "count": 1, "places": [{"name": null, "offset": 2}]}, {"pattern": "x", "count": 0, "places": []}, {"pattern": "banana", "count": 1, "places": [{"name": null, "offset": 0}]}]'
expect 0 cli banana -q -s a -s x
is "$(cat "$out")" $'a\t3\t1\t3\t5\nx\t0'
expect 0 cli banana -v -s a --check
said "# repeat                   3   symbols, the longest; 2 places, the first is 1: ana"
said "# distinct                15   substrings"
said "right"
said "# device"
printf abc >abc
expect 0 cli abc
said "no symbol occurs twice"
is "$(cli abc --json | "$HELPER" json repeat)" null
expect 0 cli banana abc -s a -s nab # no suffix goes on in the next string
said $'a\t4\tbanana:1\tbanana:3\tbanana:5'
said $'nab\t0'
is "$(cli banana abc --json | "$HELPER" json distinct)" 19

# ---- FASTA: names, comments, whitespace, empty records; distinct substrings and places beside awk ----
printf '>one first\nACGT acgt\r\nAC\tGTA\n\n; a comment\n>empty\n> two\nTACGT' >a.fa
awk 'BEGIN { s[1] = "ACGTacgtACGTA"; s[2] = "TACGT"
    for (t = 1; t <= 2; t++) for (i = 1; i <= length(s[t]); i++) for (k = 1; k <= length(s[t]) - i + 1; k++)
        if (!seen[substr(s[t], i, k)]++) n++
    print n }' >distinct
for method in auto doubling; do
    for index in i32 i64; do
        expect 0 cli a.fa --json --check -s ACGT --places 9 --method $method --index $index --threads 2
        calm
        is "$(json symbols) $(json strings) $(json longest) $(json check.ok)" "18 3 13 true"
        is "$(json distinct)" "$(cat distinct)"
        is "$(json repeat.length) $(json repeat.count) $(json repeat.name) $(json index)" "4 3 \"one\" \"$index\""
        said '"places": [{"name": "one", "offset": 0}, {"name": "one", "offset": 8}, {"name": "two", "offset": 1}]'
    done
done
expect 0 cli --format text a.fa --json
is "$(json symbols) $(json strings)" "$(wc -c <a.fa) 1"
input=a.fa
expect 0 cli - --json
is "$(json symbols)" 18
input=/dev/null
if command -v gzip >/dev/null; then
    gzip -c a.fa >a.fa.gz
    expect 0 cli a.fa.gz --json
    is "$(json symbols)" 18
    head -c 30 a.fa.gz >cut.gz
    refused 2 "cut.gz: " cut.gz
fi
printf 'ACGT\n\ncgt\r\nT\n' >patterns
expect 0 cli a.fa -q --patterns patterns -s a --places 0
is "$(cat "$out")" $'ACGT\t3\ncgt\t1\nT\t4\na\t1'

# ---- a random text: the array beside sort, by each method; binary and text; real FASTA files ----
awk 'BEGIN { srand(7); for (i = 0; i < 3000; i++) printf "%s", substr("abcd", 1 + int(4 * rand() ^ 2), 1) }' >random
awk '{ for (i = 1; i <= length($0); i++) print i - 1, substr($0, i) }' random | sort -k2 | cut -d' ' -f1 >wanted
for how in "" "--method doubling" "--method induced" "--threads 1" "--index i64"; do
    # shellcheck disable=SC2086
    expect 0 cli random -q --check -o array --text $how
    calm
    silent
    same array wanted
    # shellcheck disable=SC2086
    expect 0 cli random -q -o array $how
    od -An -v -t d"$([ "$how" = "--index i64" ] && echo 8 || echo 4)" -w"$([ "$how" = "--index i64" ] && echo 8 || echo 4)" array |
        tr -d ' ' >numbers
    same numbers wanted
done
expect 0 cli random --json -s abca --places 1000000
is "$(grep -oE '"offset": [0-9]+' "$out" | sed 1d | grep -oE '[0-9]+')" "$(awk '{ for (i = 1; i <= length($0) - 3; i++) if (substr($0, i, 4) == "abca") print i - 1 }' random)"
for file in "$MATRICES"/other/*.fa; do
    [ -e "$file" ] || continue
    expect 0 cli "$file" --json --check --search ACGTA --places 0
    is "$(json symbols) $(json check.ok)" "$(grep -v '^>' "$file" | tr -d '\n' | wc -c) true"
    length=$(json repeat.length) offset=$(json repeat.offset) count=$(json repeat.count)
    repeat=$(grep -v '^>' "$file" | tr -d '\n' | tail -c +$((offset + 1)) | head -c "$length")
    is "$(cli "$file" -q -s "$repeat" --places 0)" "$(printf '%s\t%s' "$repeat" "$count")"
done

# ---- malformed files ----
: >empty
refused 2 "empty: the file is empty" empty
refused 2 "empty: the file is empty" --format fasta empty
refused 2 "no line has a pattern" abc --patterns empty
printf 'ACGT\n>one\nACGT\n' >bad.fa
refused 2 "bad.fa:1: text before the first header" --format fasta bad.fa
printf '\n\n  A\n>one\n' >bad.fa
refused 2 "bad.fa:3: text before the first header" --format fasta bad.fa
printf '>one\nAC\nA\0C\n' >bad.fa
refused 2 "bad.fa:3: a byte is 0" bad.fa
printf '>one\0\nAC\n' >bad.fa
refused 2 "bad.fa:1: a byte is 0" bad.fa
printf '>one\nAC\nA\001C\n' >bad.fa
refused 2 "bad.fa:3: byte 0x01 is no letter" bad.fa
printf '>one\nAC>two\nACGT\n' >bad.fa
refused 2 "bad.fa:2: '>' stands within a sequence" bad.fa
for text in '>one' '>one\n>two\n' '>one\rACGT\r>two\rACGT\r'; do
    # shellcheck disable=SC2059
    printf "$text" >bad.fa
    refused 2 "bad.fa: no record has a letter" bad.fa
done
printf 'A\0C\n' >bad
refused 2 "bad:1: a byte is 0" abc --patterns bad
refused 2 "missing: cannot be read: No such file" missing
odd=$'a\x1b[31m\nb.fa'
cp bad.fa "$odd"
refused 2 'a\x1b[31m\nb.fa:' "$odd"

# ---- the command line ----
for option in --output --output-type --index --search --patterns --places --format --method --device --threads --max-memory; do
    refused 1 "$option needs a value" abc "$option"
done
refused 1 "no text"
refused 1 "did you mean '--search'?" abc --serch a
refused 1 "did you mean 'induced'?" abc --method induce
refused 1 "--search: PATTERN is empty" abc -s ''
refused 1 "--places needs" abc --places 1
refused 1 "--places takes a whole number" abc -s a --places -1
refused 1 "--text needs --output" abc --text
refused 1 "--output-type needs --output" abc --output-type lcp
refused 1 "--text and --output-type bwt" abc --text --output-type bwt -o x
refused 1 "--quiet and --verbose" abc -q -v
refused 1 "takes one text, but there are 2 strings" abc banana -o x --output-type bwt
refused 1 "induced sorting takes one text" abc banana --method induced
refused 1 "'-' is given 2 times" - abc -
refused 1 "'-' is given 2 times" - --patterns -
refused 1 "are the same file" abc -o ./abc
refused 1 "the output is not compressed" abc -o x.gz
many=()
for ((i = 0; i < 65; i++)); do many+=(-s a); done
refused 1 "can be given 64 times at most" abc "${many[@]}"
refused 2 "no/such/x: cannot be written: No such file" abc -o no/such/x
refused 3 "no memory for more than" random --max-memory 1K
[ -e x ] && wrong "a refused run left a file"
if [ -c /dev/full ]; then
    full() { "$CLI" "$@" >/dev/full; }
    expect 2 full abc -o -
    told "standard output cannot be written: No space left on device"
fi
if "$CLI" abc --device cuda -q >/dev/null 2>&1; then
    expect 0 cli random --device cuda --check --text -q -o array
    same array wanted
    expect 0 cli a.fa --device cuda --check --json
    is "$(json check.ok) $(json device)" 'true "cuda"'
else
    expect 4 cli abc --device cuda
    silent
fi

# ---- an array that is wrong; the progress line ----
expect 5 fake wrong banana --check -o x
told "the check failed: suffix 5 stands at places 0 and 1; the result is not written"
said "WRONG"
[ -e x ] && wrong "a wrong array was written"
expect 5 fake wrong banana --check --json
is "$(json check.ok)" false
if "$HELPER" tty true; then
    expect 0 "$HELPER" tty "${faked[@]}" LSP_FAKE=slow "$CLI" banana
    said "sorting banana, 1 s"
fi

# ---- words that bash offers when the tab key is pressed ----
: >"$err"
offers "--patterns --places" suffix-array a.fa --p
offers "bwt" suffix-array --output-type b
offers "doubling" suffix-array --method = d
offers "cpu cuda cuda:" suffix-array --device c
offers "" suffix-array --search ""
offers "abc" suffix-array -o x --patterns ab
finish
