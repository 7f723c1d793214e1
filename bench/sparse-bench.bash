# Completion of sparse-bench for bash.
_sparse_bench() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} primitive='' i
    local options="--list --workload --file --quick --device --threads --json --min-time --keep-heap --tune --help
        --version"
    COMPREPLY=()
    # COMP_WORDBREAKS cuts "--option=word" into three words; the option is the first of them
    [[ $word == "=" ]] && word=
    [[ $before == "=" ]] && before=${COMP_WORDS[COMP_CWORD - 2]}
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} =~ ^(mtx|spgemm|segsort|gather|scatter|sort|hash|transpose|matrices|batch|spmv|cg|two_body|suffix_array|growth|plot|report|calibrate)$ ]] && primitive=${COMP_WORDS[i]}
    done
    case $before in
    --device) mapfile -t COMPREPLY < <(compgen -W "cpu cuda" -- "$word") ;;
    --file) _sparse_bench_files "$word" '\.mtx(\.gz)?$' ;;
    --json) _sparse_bench_files "$word" '\.json$' ;;
    --workload | --threads | --min-time) ;;
    *)
        if [[ $primitive == plot ]]; then
            _sparse_bench_files "$word" '\.(json|svg)$'
        elif [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
        elif [[ -z $primitive ]]; then
            mapfile -t COMPREPLY < <(compgen -W "mtx spgemm segsort gather scatter sort hash transpose matrices batch spmv cg two_body suffix_array growth plot report calibrate" -- "$word")
        fi
        ;;
    esac
}

# Completes $1 with folders and with files whose names match the expression $2.
_sparse_bench_files() {
    local name
    compopt -o filenames 2>/dev/null
    while IFS= read -r name; do
        [[ -d $name || $name =~ $2 ]] && COMPREPLY+=("$name")
    done < <(compgen -f -- "$1")
}

complete -F _sparse_bench sparse-bench
