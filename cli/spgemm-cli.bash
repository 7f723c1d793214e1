# Completion of spgemm-cli for bash.
_spgemm_cli() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} i
    local options="--output --transpose-a --transpose-b --semiring --mask --complement --drop --keep --generate --seed
        --precision --device --devices --threads --max-memory --info --dry-run --check --compare --repeat --spy --lenient --json
        --quiet --verbose --version --help"
    local semirings="plus-times min-plus max-times or-and plus-pair"
    local generators="poisson2d: stencil27: fem3: er: rmat: web: perm: amg: amg27: amgfem3: nascg:"
    COMPREPLY=()
    # bash splits words at = and : (COMP_WORDBREAKS); the option is the last word before these
    [[ $word == "=" ]] && word=
    i=$((COMP_CWORD - 1))
    while [[ $before == "=" || $before == ":" ]] && ((i > 0)); do
        ((i--))
        [[ $before == ":" ]] && return # nothing to offer within SPEC or cuda:N
        before=${COMP_WORDS[i]}
    done
    [[ $word == ":" ]] && return
    case $before in
    --device) mapfile -t COMPREPLY < <(compgen -W "auto cpu cuda cuda:" -- "$word") ;;
    --devices) mapfile -t COMPREPLY < <(compgen -W "0,1 cpu,cpu" -- "$word") ;;
    --precision) mapfile -t COMPREPLY < <(compgen -W "f64 f32 i64 i32 bool" -- "$word") ;;
    --compare) mapfile -t COMPREPLY < <(compgen -W "cusparse" -- "$word") ;;
    --semiring) mapfile -t COMPREPLY < <(compgen -W "$semirings" -- "$word") ;;
    --generate)
        mapfile -t COMPREPLY < <(compgen -W "$generators" -- "$word")
        compopt -o nospace 2>/dev/null
        ;;
    --seed | --threads | --repeat | --max-memory | --drop | --keep) ;;
    *)
        if [[ $word == -* && $before != -o && $before != --output && $before != --spy && $before != --mask ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
        else
            _spgemm_cli_files "$word" "$before"
        fi
        ;;
    esac
}

# Offers folders and files: pictures after --spy, otherwise matrices.
_spgemm_cli_files() {
    local name wanted='\.mtx(\.gz)?$'
    [[ $2 == --spy ]] && wanted='\.svg$'
    compopt -o filenames 2>/dev/null
    while IFS= read -r name; do
        [[ -d $name || $name =~ $wanted ]] && COMPREPLY+=("$name")
    done < <(compgen -f -- "$1")
}

complete -F _spgemm_cli spgemm-cli
