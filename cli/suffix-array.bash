# Completion of suffix-array for bash.
_suffix_array() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} i
    local options="--output --output-type --text --index --search --patterns --places --format --method --device --threads
        --max-memory --check --json --quiet --verbose --version --help"
    COMPREPLY=()
    # bash splits words at = and : (COMP_WORDBREAKS); the option is the last word before these
    [[ $word == "=" ]] && word=
    i=$((COMP_CWORD - 1))
    while [[ $before == "=" || $before == ":" ]] && ((i > 0)); do
        ((i--))
        [[ $before == ":" ]] && return # nothing to offer within cuda:N
        before=${COMP_WORDS[i]}
    done
    [[ $word == ":" ]] && return
    case $before in
    --output-type) mapfile -t COMPREPLY < <(compgen -W "array lcp bwt" -- "$word") ;;
    --index) mapfile -t COMPREPLY < <(compgen -W "i32 i64" -- "$word") ;;
    --format) mapfile -t COMPREPLY < <(compgen -W "fasta text" -- "$word") ;;
    --method) mapfile -t COMPREPLY < <(compgen -W "auto doubling induced" -- "$word") ;;
    --device) mapfile -t COMPREPLY < <(compgen -W "auto cpu cuda cuda:" -- "$word") ;;
    -s | --search | --places | --threads | --max-memory) ;;
    *)
        if [[ $word == -* && $before != -o && $before != --output && $before != --patterns ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
        else
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        ;;
    esac
}

complete -F _suffix_array suffix-array
