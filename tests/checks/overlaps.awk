# Prints "function output other" for each array that a public function writes and each other array of equal type that it
# takes, found in the headers: awk -f overlaps.awk include/libsparse/*.h. A parameter without const is written, and a
# member without const of a struct that has others with it; matrices made by the library are no arrays of the caller.
function declare(text, path, in_struct,   type, name, n, names, i, written) {
    if (text ~ /[(]|user$|_fn /) { return }
    written = text !~ /^const /
    sub(/^const /, "", text)
    if (!match(text, /^(unsigned char|[a-z0-9_]+) /)) { return }
    type = substr(text, 1, RLENGTH - 1)
    n = split(substr(text, RLENGTH + 1), names, /, */)
    for (i = 1; i <= n; i++) {
        name = names[i]
        if (name !~ /^[*]/ || name ~ /^[*][*]/) { continue }
        sub(/^[*] */, "", name)
        sub(/\[.*/, "", name)
        if (type == "char") { continue }
        if (type in body) { if (!written) { expand(type, path name ".") } continue }
        if (type ~ /^lsp_/) { continue }
        found[++count] = path name
        kind[count] = type
        output[count] = in_struct == "" ? written : written && mixed[in_struct]
    }
}
function expand(type, path,   members, n, i) {
    n = split(body[type], members, /; */)
    for (i = 1; i <= n; i++) { declare(members[i], path, type) }
}
{ text = text " " $0 }
END {
    while (match(text, /\/[*]([^*]|[*]+[^*\/])*[*]+\//)) {
        text = substr(text, 1, RSTART - 1) " " substr(text, RSTART + RLENGTH)
    }
    gsub(/[ \t]+/, " ", text)
    rest = text
    while (match(rest, /typedef struct lsp_[a-z0-9_]+ [{][^}]*[}]/)) {
        item = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        split(item, word, " ")
        sub(/^[^{]*[{] */, "", item)
        sub(/ *[}]$/, "", item)
        body[word[3]] = item
        mixed[word[3]] = item ~ /const [a-z0-9_]+ [*]/
    }
    while (match(text, /LSP_API lsp_status lsp_[a-z0-9_]+[(][^;]*[)];/)) {
        item = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        sub(/^LSP_API lsp_status /, "", item)
        name = item
        sub(/[(].*/, "", name)
        if (name ~ /_plan_create$/) { continue } # reads and writes no columns
        sub(/^[^(]*[(]/, "", item)
        sub(/[)];$/, "", item)
        gsub(/[(][^()]*[)]/, "(", item)
        count = 0
        parameters = split(item, parameter, /, */)
        for (p = 1; p <= parameters; p++) { declare(parameter[p], "", "") }
        for (i = 1; i <= count; i++) {
            for (j = 1; j <= count; j++) {
                if (i != j && output[i] && kind[i] == kind[j] && (!output[j] || i < j)) { print name, found[i], found[j] }
            }
        }
    }
}
