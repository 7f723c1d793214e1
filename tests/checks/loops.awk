# The innermost loops of a program: a line for each, with the function, the number of instructions, and how many there are
# of each mnemonic, "vsubps=12". Reads objdump -d --no-show-raw-insn, or cuobjdump -sass. A loop is a jump back.
function pad(hex) { return substr("0000000000000000" hex, length(hex) + 1) }
function flush(  i, j, k, inner, mnemonic, line, number) {
    for (i = 1; i <= jumps; i++) {
        inner = 1
        for (j = 1; j <= jumps; j++) {
            if (to[j] >= to[i] && from[j] <= from[i] && (to[j] != to[i] || from[j] != from[i])) inner = 0
        }
        if (!inner) continue
        number = 0
        for (mnemonic in seen) delete seen[mnemonic]
        for (k = 1; k <= count; k++) {
            if (at[k] >= to[i] && at[k] <= from[i]) {
                seen[name_of[k]]++
                number++
            }
        }
        line = name " " number
        for (mnemonic in seen) line = line " " mnemonic "=" seen[mnemonic]
        print line
    }
    count = jumps = 0
}
function add(address, mnemonic, target) {
    at[++count] = pad(address)
    name_of[count] = mnemonic
    if (target != "" && pad(target) < pad(address)) {
        from[++jumps] = pad(address)
        to[jumps] = pad(target)
    }
}
/^[0-9a-f]+ <.*>:$/ { # a function of objdump
    flush()
    name = $2
    gsub(/[<>:]/, "", name)
    next
}
/^ +[0-9a-f]+:/ {
    address = $1
    sub(/:/, "", address)
    add(address, $2, $2 ~ /^j/ ? $3 : "")
    next
}
/Function : / { # of cuobjdump
    flush()
    name = $3
    next
}
/^ +\/\*[0-9a-f]+\*\/ +.*;/ {
    address = $1
    gsub(/[^0-9a-f]/, "", address)
    text = $0
    sub(/^ +\/\*[0-9a-f]+\*\/ +/, "", text)
    sub(/^@!?U?P[0-9T]+ /, "", text)
    mnemonic = text
    sub(/[ ;].*/, "", mnemonic)
    target = ""
    if (mnemonic ~ /^BRA/ && match(text, /0x[0-9a-f]+/)) target = substr(text, RSTART + 2, RLENGTH - 2)
    add(address, mnemonic, target)
}
END { flush() }
