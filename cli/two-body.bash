# Completion of two-body for bash.
_two_body() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} i
    local options="--radius --range --bins --approximate --neighbours --bandwidth --kernel --squared --pattern --half --output
        --format --element --name --box --no-box --generate --seed --method --precision --device --devices --threads --max-memory --repeat --check
        --svg --json --quiet --verbose --version --help"
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
    if ((COMP_CWORD == 1)) && [[ $word != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "count histogram gr join nearest density generate" -- "$word")
        return
    fi
    if [[ ${COMP_WORDS[1]} == generate ]]; then
        options="--distance --predicate --functions --output --size --dimensions --type --parameters --squared --target
            --folder --force --help"
        case $before in
        --output) mapfile -t COMPREPLY < <(compgen -W "count histogram join sum" -- "$word") ;;
        --type) mapfile -t COMPREPLY < <(compgen -W "f32 f64 u32 u64" -- "$word") ;;
        --target) mapfile -t COMPREPLY < <(compgen -W "sm80 sm86 sm90" -- "$word") ;;
        --functions | --folder | -o) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        *) [[ $word == -* ]] && mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
        esac
        return
    fi
    case $before in
    --kernel) mapfile -t COMPREPLY < <(compgen -W "gaussian epanechnikov" -- "$word") ;;
    --format) mapfile -t COMPREPLY < <(compgen -W "xyz gro pdb csv npy" -- "$word") ;;
    --method) mapfile -t COMPREPLY < <(compgen -W "auto all grid boxes" -- "$word") ;;
    --precision) mapfile -t COMPREPLY < <(compgen -W "f64 f32" -- "$word") ;;
    --device) mapfile -t COMPREPLY < <(compgen -W "auto cpu cuda cuda:" -- "$word") ;;
    --devices) mapfile -t COMPREPLY < <(compgen -W "0,1 0,1,2,3 cpu,cpu" -- "$word") ;;
    --generate)
        mapfile -t COMPREPLY < <(compgen -W "uniform: blobs: lattice:" -- "$word")
        compopt -o nospace 2>/dev/null
        ;;
    -r | --radius | --range | --bins | -k | --neighbours | --bandwidth | --element | --name | --box | --seed | \
        --threads | --max-memory | --repeat) ;;
    *)
        if [[ $word == -* && $before != -o && $before != --output && $before != --svg ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
        else
            _two_body_files "$word" "$before"
        fi
        ;;
    esac
}

# Offers folders and files: pictures after --svg, matrices and tables after -o, otherwise points.
_two_body_files() {
    local name wanted='\.(xyz|gro|pdb|csv|npy)(\.gz)?$'
    [[ $2 == --svg ]] && wanted='\.svg$'
    [[ $2 == -o || $2 == --output ]] && wanted='\.(mtx(\.gz)?|txt|dat)$'
    compopt -o filenames 2>/dev/null
    while IFS= read -r name; do
        [[ -d $name || $name =~ $wanted ]] && COMPREPLY+=("$name")
    done < <(compgen -f -- "$1")
}

complete -F _two_body two-body
