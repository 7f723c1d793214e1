# Completion of cg-bench for bash.
_cg_bench() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} i
    local options="--class --matrix --generate --seed --rhs --output --solver --precondition --mg-smoother
        --mg-sweeps --mg-cycle --mg-threshold --mg-block --mg-levels --rtol --max-iter --method
        --passes --precision --device --threads --max-memory --repeat --compare --history --lenient --json --quiet
        --verbose --version --help"
    local generators="poisson2d: stencil27: fem3: er: rmat: web: perm: nascg:"
    local methods="auto reference rows equal gather diagonals blocks lengths propagate packed"
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
    --class) mapfile -t COMPREPLY < <(compgen -W "S W A B C D E" -- "$word") ;;
    --device) mapfile -t COMPREPLY < <(compgen -W "auto cpu cuda cuda:" -- "$word") ;;
    --solver) mapfile -t COMPREPLY < <(compgen -W "cg bicgstab" -- "$word") ;;
    --precondition) mapfile -t COMPREPLY < <(compgen -W "none jacobi multigrid" -- "$word") ;;
    --mg-smoother) mapfile -t COMPREPLY < <(compgen -W "jacobi chebyshev" -- "$word") ;;
    --mg-cycle) mapfile -t COMPREPLY < <(compgen -W "v w" -- "$word") ;;
    --mg-levels) mapfile -t COMPREPLY < <(compgen -W "f64 f32" -- "$word") ;;
    --method) mapfile -t COMPREPLY < <(compgen -W "$methods" -- "$word") ;;
    --passes) mapfile -t COMPREPLY < <(compgen -W "auto" -- "$word") ;;
    --precision) mapfile -t COMPREPLY < <(compgen -W "f64 f32" -- "$word") ;;
    --compare) mapfile -t COMPREPLY < <(compgen -W "cusparse" -- "$word") ;;
    --generate)
        mapfile -t COMPREPLY < <(compgen -W "$generators" -- "$word")
        compopt -o nospace 2>/dev/null
        ;;
    --seed | --threads | --mg-sweeps | --mg-threshold | --mg-block | --repeat | --max-memory | --rtol | --max-iter) ;;
    *)
        if [[ $word == -* && $before != -o && $before != --output && $before != --history && $before != --rhs &&
            $before != --matrix ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
        else
            _cg_bench_files "$word" "$before"
        fi
        ;;
    esac
}

# Offers folders and files: pictures and lists after --history, otherwise matrices.
_cg_bench_files() {
    local name wanted='\.mtx(\.gz)?$'
    [[ $2 == --history ]] && wanted='\.(svg|json)$'
    compopt -o filenames 2>/dev/null
    while IFS= read -r name; do
        [[ -d $name || $name =~ $wanted ]] && COMPREPLY+=("$name")
    done < <(compgen -f -- "$1")
}

complete -F _cg_bench cg-bench
