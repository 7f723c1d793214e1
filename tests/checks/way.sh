#!/usr/bin/env bash
# way.sh PROGRAM OBJECTS: how straight are the ways through products on the CPU? gdb stops at each function lsp_* that
# way.c comes to, in one thread. Counted are source files without core's, which all call: how many are entered, and how
# often one is entered again after another. OBJECTS names a file with the paths of the library's object files.
set -euo pipefail
commands='import gdb
gdb.execute("rbreak ^lsp_[a-z0-9_]*$", to_string=True)
gdb.execute("run", to_string=True)
while gdb.selected_inferior().pid:
    name = gdb.selected_frame().name()
    print("@", name, gdb.parse_and_eval("name").string() if name == "lsp_part" else "")
    gdb.execute("continue", to_string=True)'
stops=$(gdb -q -nx -batch -ex 'set breakpoint pending on' -ex "python exec('''$commands''')" "$1" 2>&1) || true
[[ $stops == *'@ lsp_part'* ]] || { echo "not checked: gdb does not run the program: $stops" && exit 77; }
{ xargs nm -A <"$2" 2>/dev/null || true; } | awk -v stops="$stops" '
    BEGIN { # the most files, and how often one may be entered again
        split("product 14 10 plan 14 14 execute 7 2 spmv_plan 15 14 spmv_execute 3 0", limit, " ")
        for (i = 1; i in limit; i += 3) { files[limit[i]] = limit[i + 1]; back[limit[i]] = limit[i + 2] }
    }
    $(NF - 1) == "T" { sub(/\.o:.*/, "", $1); sub(/CMakeFiles\/[^\/]*\.dir\//, "", $1); where[$NF] = $1 }
    END {
        count = split(stops, line, "\n")
        for (i = 1; i <= count; i++) {
            split(line[i], word, " ")
            file = where[word[2]]
            if (word[2] == "lsp_part") { part = parts[++known] = word[3]; last = "" }
            if (word[1] != "@" || part == "" || file == "" || file ~ /(^|\/)core\// || file == last) continue
            if (seen[part, last = file]++) again[part]++
            else entered[part]++
        }
        for (p = 1; p < known; p++) {
            part = parts[p]
            print part ": " entered[part] " files, " again[part] + 0 " times back"
            wrong += entered[part] < 2 || (part in files && (entered[part] > files[part] || again[part] > back[part]))
        }
        exit wrong > 0 || known < 6
    }'
