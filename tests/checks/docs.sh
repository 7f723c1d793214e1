#!/usr/bin/env bash
# Every link in a Markdown page leads somewhere, and every source file that a page names in `code` exists. The
# notebooks in docs/measurements and the changelog may name files of their time. SOURCE is the project's folder.
set -euo pipefail
cd "$SOURCE"
files=$(find . \( -path ./build -o -path './.?*' \) -prune -o -type f -printf '%P\n')
wrong=0
complain() { printf '%s: %s\n' "$1" "$2" && wrong=$((wrong + 1)); }
headings() { sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'; }

while read -r page; do
    while read -r link; do
        path=$(dirname "$page")/${link%%#*}
        case $link in http*) continue ;; '#'*) path=$page ;; esac
        if [ ! -e "$path" ]; then
            complain "$page" "the link '$link' leads nowhere"
        elif [[ $link == *'#'* ]] && ! headings "$path" | grep -qxF -- "${link#*#}"; then
            complain "$page" "the link '$link' leads to no heading"
        fi
    done < <(grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//')
    case $page in docs/measurements/* | CHANGELOG.md) continue ;; esac
    while read -r name; do # the end of a file's path; * and words in capitals stand for any letters
        pattern=$(sed 's/\./\\./g; s/\*/[^\/]*/g' <<<"${name#../}")
        grep -qE "(^|/)$pattern\$" <<<"$files" || complain "$page" "there is no file '$name'"
    done < <(grep -oE '`[^` ]+\.(c|h|cu|cuh|cpp|cmake|sh|md|txt|json|map|bash|svg)`' "$page" | tr -d '`' |
        grep -vE '<|(^|[/_])[A-Z]+[./]' | sort -u)
done < <(grep '\.md$' <<<"$files")
[ $wrong = 0 ]
