#!/usr/bin/env bash
# A drawing of the tree from include lines and names alone shows arrows that go down. So a function that is not static, or
# a macro or function of a header, which one file alone defines, has no namesake (a static, a member, a local, a parameter)
# that is called in a room that may not use this file. SOURCE is the project's folder.
set -euo pipefail
cd "$SOURCE"
later=''
below=$(grep -v '^#' rooms.txt && printf 'cli:\nbench: cli\n')
mapfile -t folders < <(cut -d: -f1 <<<"$below")
find "${folders[@]}" -type f -regex '.*\.\(c\|h\|cu\|cuh\|cpp\)' | sort | xargs awk -v below="$below" -v later=" $later " '
    function room_of(file) {
        sub(/\/.*/, "", file)
        return file
    }
    function define(name, file, shared) {
        if (name !~ /^[A-Za-z_][A-Za-z_0-9]*$/ || name ~ /^(__launch_bounds__|alignas|if|for|while|switch)$/) return
        own[name, file] = 1
        if (!shared) return
        if (!(name in where)) where[name] = file
        else if (where[name] != file) where[name] = "several"
    }
    BEGIN {
        count = split(below, line, "\n")
        for (i = 1; i <= count; i++) {
            split(line[i], part, /: */)
            words = split(part[2], word, " ")
            for (w = 1; w <= words; w++) allowed[part[1], word[w]] = 1
            tool[part[1]] = part[1] == "cli" || part[1] == "bench"
        }
    }
    FNR == 1 { head = ""; comment = 0; header = FILENAME ~ /\.(h|cuh)$/ }
    {
        text = $0
        gsub(/"([^"\\]|\\.)*"/, "", text)
        if (comment && !sub(/.*\*\//, "", text)) next
        gsub(/\/\*([^*]|\*[^\/])*\*\//, "", text)
        sub(/\/\/.*/, "", text)
        comment = sub(/\/\*.*/, "", text)
        if (text ~ /^# *define /) {
            name = text
            sub(/^# *define +/, "", name)
            sub(/[^A-Za-z_0-9].*/, "", name)
            define(name, FILENAME, header)
            sub(/^# *define +[A-Za-z_0-9]+(\([^)]*\))?/, "", text)
        }
        if (text !~ /^#/ && (head != "" || text ~ /^[A-Za-z_]/)) { # a definition of file scope begins in column 1
            head = (text ~ /^[A-Za-z_]/ ? "" : head) text
            if (head ~ /[{;]/) {
                if (head ~ /\(.*\{/ && head !~ /^(typedef|struct|enum|union|extern)/) {
                    name = head
                    sub(/ *\(.*/, "", name)
                    if (name !~ /=/) {
                        sub(/.*[ *]/, "", name)
                        define(name, FILENAME, header || head !~ /(^|[ >])static /)
                    }
                }
                head = ""
            }
        }
        while (match(text, /[A-Za-z_][A-Za-z_0-9]* *\(/)) {
            name = substr(text, RSTART, RLENGTH - 1)
            sub(/ +$/, "", name)
            if (name != "defined" && !((name, FILENAME) in called)) {
                called[name, FILENAME] = FNR
                pairs[++pair_count] = name " " FILENAME
            }
            text = substr(text, RSTART + RLENGTH)
        }
    }
    END {
        for (i = 1; i <= pair_count; i++) {
            split(pairs[i], part, " ")
            name = part[1]; file = part[2]
            if (!(name in where) || where[name] == "several" || (name, file) in own || index(later, " " name " ")) continue
            from = room_of(file); to = room_of(where[name])
            if (from == to || to == "core" || (from, to) in allowed) continue
            if (tool[from] && name ~ /^lsp_/) continue # a public function
            print file ":" called[name, file] ": " name " is also a name of " where[name]
            wrong = 1
        }
        exit wrong
    }'
