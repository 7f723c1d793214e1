#!/usr/bin/env bash
# arrows.sh SOURCE OBJECTS: arrows between files go down only. OBJECTS names a file with the paths of all object files,
# one a line. There are four rules; a broken rule is printed with the lines that break it:
#   1. A room includes headers and calls functions of itself and of the rooms below it only (rooms.txt).
#   2. From another room it includes ROOM/ROOM.h, or a header that the room's README lists as exported. cpu/ and gpu/
#      include nothing from each other.
#   3. Headers that include each other form no circle. Neither do source files that call each other, the modules of
#      python/segsparse, nor the files of extras/petsc (by the text: PETSc is seldom there).
#   4. What cpu/ and gpu/ call of the folder around them are leaves: files that call nothing else in that folder. They may
#      run bodies: the table of those is in gpu/.
set -euo pipefail
shopt -s lastpipe # complain, at the end of a pipe, sets `failed` in this shell
source=$1 objects=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() { # a sentence, then the lines of standard input, if there are any
    local lines
    lines=$(cat)
    if [ -n "$lines" ]; then
        printf '%s\n%s\n\n' "$1" "$lines" >&2
        failed=1
    fi
}

# The rooms that a room may use, besides itself: rooms.txt, and the tools.
cd "$source"
below=$(grep -v '^#' rooms.txt && printf 'cli:\nbench: cli\n')
mapfile -t folders < <(cut -d: -f1 <<<"$below")
IFS='|' any=${folders[*]}
unset IFS

# "from to" for each include line that names a file of the tree, and for each function called in another file.
git ls-files -- "${folders[@]}" 2>/dev/null >"$work/files" || true
[ -s "$work/files" ] || # no repository of git, or an empty one
    find "${folders[@]}" -type f >"$work/files" 2>/dev/null || true
grep -E '\.(c|h|cu|cuh|cpp)$' "$work/files" | xargs grep -E '^ *# *include "' /dev/null |
    awk -v files="$work/files" '
        BEGIN { while ((getline file < files) > 0) known[file] = 1 }
        {
            split($0, part, /:[ #]*include "|"/)
            folder = part[1]
            sub(/[^\/]*$/, "", folder)
            if ((folder part[2]) in known) print part[1], folder part[2]
            else if (part[2] in known) print part[1], part[2]
            else if (("cli/" part[2]) in known) print part[1], "cli/" part[2] # a folder that bench has on its path
        }' >"$work/includes"
xargs nm -A <"$objects" 2>/dev/null | awk -v inside="(^|/)($any)/[^:]*\$" '
    function source_of(path) { # build/core/CMakeFiles/target.dir/status.c.o: core/status.c
        sub(/\.o:.*/, "", path)
        sub(/CMakeFiles\/[^\/]*\.dir\//, "", path)
        if (!match(path, inside)) return ""
        path = substr(path, RSTART)
        sub(/^\//, "", path)
        sub(/\/\.\//, "/", path)
        return path
    }
    { file = source_of($0); name = $NF; kind = $(NF - 1) }
    file == "" { next }
    kind ~ /^[TDBRVWuC]$/ { where[name] = file }
    kind == "U" { uses[file " " name] = 1 }
    END {
        for (use in uses) {
            split(use, part, " ")
            if (part[2] in where && where[part[2]] != part[1]) print part[1], where[part[2]], part[2]
        }
    }' | sort -u >"$work/calls"
[ -s "$work/includes" ] && [ -s "$work/calls" ] || { echo "arrows.sh: found no include lines or no calls" >&2 && exit 1; }

{ cat "$work/includes"; cat "$work/calls"; } | awk -v below="$below" '
    BEGIN {
        count = split(below, line, "\n")
        for (i = 1; i <= count; i++) {
            if (split(line[i], part, /: */) < 1 || line[i] == "") continue
            words = split(part[2], word, " ")
            for (w = 1; w <= words; w++) allowed[part[1], word[w]] = 1
        }
    }
    {
        from = $1; to = $2
        sub(/\/.*/, "", from)
        sub(/\/.*/, "", to)
        if ((from == "cli" || from == "bench") && NF == 3 && to != "cli" && to != "bench") next # the public functions
        if (from != to && !((from, to) in allowed)) print "  " $1 " -> " $2 (NF == 3 ? " (" $3 ")" : "")
    }' | complain "A room uses one that is not below it:"

while read -r from to; do
    room=${to%%/*}
    if [ "${from%%/*}" != "$room" ] && [ "$room" != core ] && [ "$to" != "$room/$room.h" ] &&
        ! sed -n '/[Ee]xported/,$p' "$room/README.md" | grep -qF "\`${to#"$room"/}\`"; then
        echo "  $from -> $to"
    fi
done <"$work/includes" | complain "A room includes a header that the other one's README does not list as exported:"
awk '($1 ~ /\/cpu\// && $2 ~ /\/gpu\//) || ($1 ~ /\/gpu\// && $2 ~ /\/cpu\//) { print "  " $1 " -> " $2 }' "$work/includes" |
    complain "cpu/ and gpu/ include each other:"

awk '
    function folder_of(file) { # without the file, and without cpu/ or gpu/
        sub(/\/((cpu|gpu)\/.*|[^\/]*$)/, "", file)
        return file
    }
    {
        if (folder_of($1) != folder_of($2) || $3 ~ /_bodies_on_gpu$|^lsp_body_/) next
        if ($1 !~ /\/(cpu|gpu)\//) why[$1] = $2 " (" $3 ")"
        else if ($2 !~ /\/(cpu|gpu)\//) { up[++count] = $1 " -> " $2 " (" $3 ")"; into[count] = $2 }
    }
    END {
        for (i = 1; i <= count; i++) if (into[i] in why) print "  " up[i] ", which calls " why[into[i]]
    }' "$work/calls" | complain "cpu/ and gpu/ call a file around them that calls others in that folder:"

circles() { tsort 2>&1 >/dev/null | sed 's/^tsort: /  /'; }
awk '{ print $1, $2 }' "$work/includes" | circles | complain "Headers include each other in a circle:"
awk '{ print $1, $2 }' "$work/calls" | sort -u | circles | complain "Files call each other in a circle:"
grep -E '^ *from \._?[a-z]+ import' python/segsparse/*.py | sed -E 's|^(.*/)([^/]*):.*from \.([^ ]*) .*|\1\2 \1\3.py|' |
    grep -v __init__ | circles | complain "Modules of Python import each other in a circle:"
awk '
    function note(name) { if (!/^extern|^typedef/) where[name] = FILENAME }
    match($0, /^[A-Za-z].*[ *](plugin|test|must)_[a-z_]+[(;]/) && !/\);/ {
        name = substr($0, 1, RLENGTH - 1)
        sub(/.*[ *]/, "", name)
        note(name)
    }
    { gsub(/[^a-z_]+/, " "); count = split($0, word, " "); for (i = 1; i <= count; i++) uses[FILENAME " " word[i]] }
    END {
        for (use in uses) {
            split(use, part, " ")
            if (part[2] in where && where[part[2]] != part[1]) print part[1], where[part[2]]
        }
    }' extras/petsc/*.c | sort -u | circles | complain "Files of extras/petsc call each other in a circle:"
[ $failed = 0 ] && echo "$(wc -l <"$work/includes") include lines and $(wc -l <"$work/calls") calls between files go down"
exit $failed
