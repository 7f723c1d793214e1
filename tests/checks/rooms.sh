#!/usr/bin/env bash
# Every room of rooms.txt is what CONTRIBUTING.md asks of a room, and the pages know it; no README and no file is too
# long. SOURCE is the project's folder.
set -euo pipefail
cd "$SOURCE"
wrong=0 seen=' '
complain() { printf '%s\n' "$*" && wrong=$((wrong + 1)); }
must_exist() { ls $1 >/dev/null 2>&1 || complain "$room: there is no $1"; }

while IFS=: read -r room below most; do
    for lower in $below; do
        [[ $seen == *" $lower "* ]] || complain "rooms.txt: $lower stands below $room, but not above its line"
    done
    seen+="$room "
    for file in README.md CMakeLists.txt "$room.h"; do must_exist "$room/$file"; done
    must_exist "tests/$room/*.c"
    for part in 'How it works' 'Where to change things' 'Tests'; do
        grep -q "^## $part" "$room/README.md" || complain "$room/README.md: no heading '$part'"
    done
    if [ -e "include/libsparse/$room.h" ] || grep -q ":.*\b$room\b" rooms.txt; then # others see it
        grep -q "\b$room/" docs/architecture.md || complain "docs/architecture.md does not draw $room/"
    fi
    # What a room weighs: its lines of C and CUDA; core's with those of include/.
    lines=$(find "$room" $([ "$room" != core ] || echo include) -regex '.*\.\(c\|h\|cu\|cuh\)' -print0 | xargs -0 cat | wc -l)
    [ "$lines" -le "$most" ] || complain "$room has $lines lines, but rooms.txt grants$most: make room, or argue for more"
    # Only core has device code that is no GPU's side of something.
    while read -r file; do
        [ "$room" = core ] || complain "$file: device code belongs to gpu/"
    done < <(find "$room" -name '*.cu*' -not -path '*/gpu/*')
    while read -r file; do complain "$file: the path says the room's name already"; done < <(
        find "$room" -type f -name "*$room*" -not -path "$room/$room.[ch]" -not -path '*/data/*')
done < <(grep '^[a-z]' rooms.txt)
while read -r page; do
    words=$(tr -d '|' <"$page" | wc -w) most=300
    case $page in README.md) most=900 ;; python/README.md) most=400 ;; esac
    [ "$words" -le $most ] || complain "$page: $words words; $most are the limit"
done < <(find . \( -path ./build -o -path './.?*' \) -prune -o -name README.md -printf '%P\n')
while read -r lines file; do # what is generated lies in build/
    [ "$lines" -le 400 ] || complain "$file: $lines lines; 400 are the limit"
done < <(find . \( -path ./build -o -path './.?*' \) -prune -o -type f \
    \( -regex '.*\.\(c\|h\|cu\|cuh\|cpp\|py\|sh\|cmake\)' -o -path './scripts/*' \) -printf '%P\0' |
    xargs -0 wc -l | grep -v ' total$')
for page in README.md CONTRIBUTING.md tests/README.md; do
    grep -q 'rooms\.txt' $page || complain "$page does not refer to rooms.txt, which lists the rooms"
done
[ $wrong = 0 ]
