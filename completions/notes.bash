#!/bin/bash

shopt -u hostcomplete

__notes_cursor_index_in_current_word() {
    local remaining="${COMP_LINE}"

    local word
    for word in "${COMP_WORDS[@]::COMP_CWORD}"; do
        remaining="${remaining##*([[:space:]])"${word}"*([[:space:]])}"
    done

    local -ir index="$((COMP_POINT - ${#COMP_LINE} + ${#remaining}))"
    if [[ "${index}" -le 0 ]]; then
        printf 0
    else
        printf %s "${index}"
    fi
}

# positional arguments:
#
# - 1: the current (sub)command's count of positional arguments
#
# required variables:
#
# - repeating_flags: the repeating flags that the current (sub)command can accept
# - non_repeating_flags: the non-repeating flags that the current (sub)command can accept
# - repeating_options: the repeating options that the current (sub)command can accept
# - non_repeating_options: the non-repeating options that the current (sub)command can accept
# - positional_number: value ignored
# - unparsed_words: unparsed words from the current command line
#
# modified variables:
#
# - non_repeating_flags: remove flags for this (sub)command that are already on the command line
# - non_repeating_options: remove options for this (sub)command that are already on the command line
# - positional_number: set to the current positional number
# - unparsed_words: remove all flags, options, and option values for this (sub)command
__notes_offer_flags_options() {
    local -ir positional_count="${1}"
    positional_number=0

    local was_flag_option_terminator_seen=false
    local is_parsing_option_value=false

    local -ar unparsed_word_indices=("${!unparsed_words[@]}")
    local -i word_index
    for word_index in "${unparsed_word_indices[@]}"; do
        if "${is_parsing_option_value}"; then
            # This word is an option value:
            # Reset marker for next word iff not currently the last word
            [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]] && is_parsing_option_value=false
            unset "unparsed_words[${word_index}]"
            # Do not process this word as a flag or an option
            continue
        fi

        local word="${unparsed_words["${word_index}"]}"
        if ! "${was_flag_option_terminator_seen}"; then
            case "${word}" in
            --)
                unset "unparsed_words[${word_index}]"
                # by itself -- is a flag/option terminator, but if it is the last word, it is the start of a completion
                if [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]]; then
                    was_flag_option_terminator_seen=true
                fi
                continue
                ;;
            -*)
                # ${word} is a flag or an option
                # If ${word} is an option, mark that the next word to be parsed is an option value
                local option
                for option in "${repeating_options[@]}" "${non_repeating_options[@]}"; do
                    [[ "${word}" = "${option}" ]] && is_parsing_option_value=true && break
                done

                # Remove ${word} from ${non_repeating_flags} or ${non_repeating_options} so it isn't offered again
                local not_found=true
                local -i index
                for index in "${!non_repeating_flags[@]}"; do
                    if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                        unset "non_repeating_flags[${index}]"
                        non_repeating_flags=("${non_repeating_flags[@]}")
                        not_found=false
                        break
                    fi
                done
                if "${not_found}"; then
                    for index in "${!non_repeating_flags[@]}"; do
                        if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                            unset "non_repeating_flags[${index}]"
                            non_repeating_flags=("${non_repeating_flags[@]}")
                            break
                        fi
                    done
                fi
                unset "unparsed_words[${word_index}]"
                continue
                ;;
            esac
        fi

        # ${word} is neither a flag, nor an option, nor an option value
        if [[ "${positional_number}" -lt "${positional_count}" || "${positional_count}" -lt 0 ]]; then
            # ${word} is a positional
            ((positional_number++))
            unset "unparsed_words[${word_index}]"
        else
            if [[ -z "${word}" ]]; then
                # Could be completing a flag, option, or subcommand
                positional_number=-1
            else
                # ${word} is a subcommand or invalid, so stop processing this (sub)command
                positional_number=-2
            fi
            break
        fi
    done

    unparsed_words=("${unparsed_words[@]}")

    if\
        ! "${was_flag_option_terminator_seen}"\
        && ! "${is_parsing_option_value}"\
        && [[ ("${cur}" = -* && "${positional_number}" -ge 0) || "${positional_number}" -eq -1 ]]
    then
        COMPREPLY+=($(compgen -W "${repeating_flags[*]} ${non_repeating_flags[*]} ${repeating_options[*]} ${non_repeating_options[*]}" -- "${cur}"))
    fi
}

__notes_add_completions() {
    local completion
    while IFS='' read -r completion; do
        COMPREPLY+=("${completion}")
    done < <(IFS=$'\n' compgen "${@}" -- "${cur}")
}

__notes_custom_complete() {
    if [[ -n "${cur}" || -z ${COMP_WORDS[${COMP_CWORD}]} || "${COMP_LINE:${COMP_POINT}:1}" != ' ' ]]; then
        local -ar words=("${COMP_WORDS[@]}")
    else
        local -ar words=("${COMP_WORDS[@]::${COMP_CWORD}}" '' "${COMP_WORDS[@]:${COMP_CWORD}}")
    fi

    "${COMP_WORDS[0]}" "${@}" "${words[@]}"
}

_notes() {
    local state
    state="$(shopt -p;shopt -po)"
    trap "${state//$'\n'/;}" RETURN
    shopt -s extglob
    set +o history +o posix

    local -xr SAP_SHELL=bash
    local -x SAP_SHELL_VERSION
    SAP_SHELL_VERSION="$(IFS='.';printf %s "${BASH_VERSINFO[*]}")"
    local -r SAP_SHELL_VERSION

    local -r cur="${2}"
    local -r prev="${3}"

    local -i positional_number
    local -a unparsed_words=("${COMP_WORDS[@]:1:${COMP_CWORD}}")

    local -a repeating_flags=()
    local -a non_repeating_flags=(--version -h --help)
    local -a repeating_options=(-C)
    local -a non_repeating_options=()
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    init|clone|notebooks|status|save|new|add|edit|list|show|search|browse|web|mv|rm|log|diff|blame|restore|undo|redo|forget|conflicts|resolve|invite|invitations|join|sync|pull|push|remote|bundle|watch|serve|peers|members|device|export|import|config|doctor|gc|help)
        # Offer subcommand argument completions
        "_notes_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'init clone notebooks status save new add edit list show search browse web mv rm log diff blame restore undo redo forget conflicts resolve invite invitations join sync pull push remote bundle watch serve peers members device export import config doctor gc help' -- "${cur}"))
        ;;
    esac
}

_notes_init() {
    repeating_flags=()
    non_repeating_flags=(--yes -y --include --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=(--name --device-name)
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--name')
        return
        ;;
    '--device-name')
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_clone() {
    repeating_flags=()
    non_repeating_flags=(--from-member --no-discovery --allow-large --allow-unsigned --json --version -h --help)
    repeating_options=(--at -C)
    non_repeating_options=(--device-name --wait)
    __notes_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '--device-name')
        return
        ;;
    '--at')
        return
        ;;
    '--wait')
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -f
        return
        ;;
    2)
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_notebooks() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_status() {
    repeating_flags=()
    non_repeating_flags=(--stats --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_save() {
    repeating_flags=()
    non_repeating_flags=(--include --allow-deletes --stats --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=(--message -m)
    __notes_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--message'|'-m')
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __notes_add_completions -W "$(__notes_custom_complete ---completion save -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_new() {
    repeating_flags=()
    non_repeating_flags=(--edit -e --today --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=(--template)
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--template')
        __notes_add_completions -W "$(__notes_custom_complete ---completion new -- --template "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_add() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W "$(__notes_custom_complete ---completion add -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_edit() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __notes_add_completions -W "$(__notes_custom_complete ---completion edit -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_list() {
    repeating_flags=()
    non_repeating_flags=(--long -l --reverse -r --attachments --new --mark-seen --deleted --no-pager --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=(-n --limit --sort --folder --since)
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-n'|'--limit')
        return
        ;;
    '--sort')
        __notes_add_completions -W 'modified'$'\n''created'$'\n''title'$'\n''size'
        return
        ;;
    '--folder')
        __notes_add_completions -d
        return
        ;;
    '--since')
        __notes_add_completions -W 'today'$'\n''yesterday'$'\n''monday'$'\n''last week'$'\n''last month'
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_show() {
    repeating_flags=()
    non_repeating_flags=(--no-pager --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W "$(__notes_custom_complete ---completion show -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_search() {
    repeating_flags=()
    non_repeating_flags=(--history --regex --title --match-case --ignore-accents --no-pager --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=(--folder -n --limit --lines --context)
    __notes_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--folder')
        __notes_add_completions -d
        return
        ;;
    '-n'|'--limit')
        return
        ;;
    '--lines')
        return
        ;;
    '--context')
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_browse() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_web() {
    repeating_flags=()
    non_repeating_flags=(--all --lan --no-open --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=(--port)
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--port')
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    guests)
        # Offer subcommand argument completions
        "_notes_web_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'guests' -- "${cur}"))
        ;;
    esac
}

_notes_web_guests() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    invite|role|remove)
        # Offer subcommand argument completions
        "_notes_web_guests_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'invite role remove' -- "${cur}"))
        ;;
    esac
}

_notes_web_guests_invite() {
    repeating_flags=()
    non_repeating_flags=(--reader --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_web_guests_role() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W "$(__notes_custom_complete ---completion web guests role -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    2)
        __notes_add_completions -W 'reader'$'\n''writer'
        return
        ;;
    esac
}

_notes_web_guests_remove() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W "$(__notes_custom_complete ---completion web guests remove -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_mv() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __notes_add_completions -W "$(__notes_custom_complete ---completion mv -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_rm() {
    repeating_flags=()
    non_repeating_flags=(--allow-deletes --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __notes_add_completions -W "$(__notes_custom_complete ---completion rm -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_log() {
    repeating_flags=()
    non_repeating_flags=(-p --patch --graph --oneline --all --long -l --operations --no-pager --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=(-n --limit --since --until --by --format)
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-n'|'--limit')
        return
        ;;
    '--since')
        __notes_add_completions -W 'today'$'\n''yesterday'$'\n''monday'$'\n''last week'$'\n''last month'
        return
        ;;
    '--until')
        __notes_add_completions -W 'today'$'\n''yesterday'$'\n''monday'$'\n''last week'$'\n''last month'
        return
        ;;
    '--by')
        __notes_add_completions -W "$(__notes_custom_complete ---completion log -- --by "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    '--format')
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W "$(__notes_custom_complete ---completion log -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_diff() {
    repeating_flags=()
    non_repeating_flags=(--unified -u --no-pager --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __notes_add_completions -W "$(__notes_custom_complete ---completion diff -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_blame() {
    repeating_flags=()
    non_repeating_flags=(--long -l --no-pager --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W "$(__notes_custom_complete ---completion blame -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_restore() {
    repeating_flags=()
    non_repeating_flags=(--all -d --dry-run --allow-deletes --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=(--as)
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--as')
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W "$(__notes_custom_complete ---completion restore -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_undo() {
    repeating_flags=()
    non_repeating_flags=(-d --dry-run --allow-deletes --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W "$(__notes_custom_complete ---completion undo -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_redo() {
    repeating_flags=()
    non_repeating_flags=(-d --dry-run --allow-deletes --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_forget() {
    repeating_flags=()
    non_repeating_flags=(--text --deleted --status --yes -d --dry-run --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=(--attachments-over)
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--attachments-over')
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W "$(__notes_custom_complete ---completion forget -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_conflicts() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_resolve() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(--block -C)
    non_repeating_options=(--keep --tool)
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--keep')
        __notes_add_completions -W 'older'$'\n''newer'$'\n''both'
        return
        ;;
    '--block')
        return
        ;;
    '--tool')
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W "$(__notes_custom_complete ---completion resolve -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_invite() {
    repeating_flags=()
    non_repeating_flags=(--mine --no-discovery --json --version -h --help)
    repeating_options=(--name -C)
    non_repeating_options=(--role --count --for --hub --file --device --via --listen)
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--role')
        __notes_add_completions -W 'reader'$'\n''writer'$'\n''admin'
        return
        ;;
    '--count')
        return
        ;;
    '--name')
        return
        ;;
    '--for')
        return
        ;;
    '--hub')
        __notes_add_completions -W "$(__notes_custom_complete ---completion invite -- --hub "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    '--file')
        __notes_add_completions -f
        return
        ;;
    '--device')
        __notes_add_completions -W "$(__notes_custom_complete ---completion invite -- --device "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    '--via')
        __notes_add_completions -d
        return
        ;;
    '--listen')
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_invitations() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    cancel|answer|accept|decline)
        # Offer subcommand argument completions
        "_notes_invitations_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'cancel answer accept decline' -- "${cur}"))
        ;;
    esac
}

_notes_invitations_cancel() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_invitations_answer() {
    repeating_flags=()
    non_repeating_flags=(--yes -y --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -f
        return
        ;;
    2)
        __notes_add_completions -f
        return
        ;;
    esac
}

_notes_invitations_accept() {
    repeating_flags=()
    non_repeating_flags=(--yes -y --include --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    2)
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_invitations_decline() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_join() {
    repeating_flags=()
    non_repeating_flags=(--yes -y --include --no-discovery --stats --json --version -h --help)
    repeating_options=(--at -C)
    non_repeating_options=(--device-name --name --code-file --wait)
    __notes_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '--device-name'|'--name')
        return
        ;;
    '--code-file')
        __notes_add_completions -f
        return
        ;;
    '--at')
        return
        ;;
    '--wait')
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    2)
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_sync() {
    repeating_flags=()
    non_repeating_flags=(--allow-deletes --allow-large --no-discovery --hub --no-hub --allow-unrelated --allow-unsigned --stats --json --version -h --help)
    repeating_options=(--at -C)
    non_repeating_options=(--wait --listen)
    __notes_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--at')
        return
        ;;
    '--wait')
        return
        ;;
    '--listen')
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __notes_add_completions -W "$(__notes_custom_complete ---completion sync -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_pull() {
    repeating_flags=()
    non_repeating_flags=(--allow-deletes --allow-large --no-discovery --stats --json --version -h --help)
    repeating_options=(--at -C)
    non_repeating_options=(--wait)
    __notes_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--at')
        return
        ;;
    '--wait')
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __notes_add_completions -W "$(__notes_custom_complete ---completion pull -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_push() {
    repeating_flags=()
    non_repeating_flags=(--allow-deletes --allow-large --no-discovery --stats --json --version -h --help)
    repeating_options=(--at -C)
    non_repeating_options=(--wait)
    __notes_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--at')
        return
        ;;
    '--wait')
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __notes_add_completions -W "$(__notes_custom_complete ---completion push -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_remote() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    add|list|show|remove)
        # Offer subcommand argument completions
        "_notes_remote_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'add list show remove' -- "${cur}"))
        ;;
    esac
}

_notes_remote_add() {
    repeating_flags=()
    non_repeating_flags=(--accept-unsigned --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    2)
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_remote_list() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_remote_show() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W "$(__notes_custom_complete ---completion remote show -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_remote_remove() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W "$(__notes_custom_complete ---completion remote remove -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_bundle() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    create|apply)
        # Offer subcommand argument completions
        "_notes_bundle_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'create apply' -- "${cur}"))
        ;;
    esac
}

_notes_bundle_create() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=(--since)
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--since')
        __notes_add_completions -W "$(__notes_custom_complete ---completion bundle create -- --since "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -f
        return
        ;;
    esac
}

_notes_bundle_apply() {
    repeating_flags=()
    non_repeating_flags=(--allow-deletes --allow-large --allow-unsigned --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -f
        return
        ;;
    esac
}

_notes_watch() {
    repeating_flags=()
    non_repeating_flags=(--all --no-discovery --pause --resume --install --verbose --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=(--listen)
    __notes_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--listen')
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_serve() {
    repeating_flags=()
    non_repeating_flags=(--no-discovery --verbose --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=(--listen)
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--listen')
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_peers() {
    repeating_flags=()
    non_repeating_flags=(--watch --no-discovery --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=(--wait)
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--wait')
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_members() {
    repeating_flags=()
    non_repeating_flags=(--all --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    role|remove|rename|certify|handover|block|unblock|reset)
        # Offer subcommand argument completions
        "_notes_members_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'role remove rename certify handover block unblock reset' -- "${cur}"))
        ;;
    esac
}

_notes_members_role() {
    repeating_flags=()
    non_repeating_flags=(--with-invited -y --yes --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W "$(__notes_custom_complete ---completion members role -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    2)
        __notes_add_completions -W 'reader'$'\n''writer'$'\n''admin'
        return
        ;;
    esac
}

_notes_members_remove() {
    repeating_flags=()
    non_repeating_flags=(--with-invited -y --yes --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W "$(__notes_custom_complete ---completion members remove -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_members_rename() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W "$(__notes_custom_complete ---completion members rename -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_members_certify() {
    repeating_flags=()
    non_repeating_flags=(-y --yes --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W "$(__notes_custom_complete ---completion members certify -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_members_handover() {
    repeating_flags=()
    non_repeating_flags=(--stop -y --yes --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W "$(__notes_custom_complete ---completion members handover -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_members_block() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W "$(__notes_custom_complete ---completion members block -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_members_unblock() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W "$(__notes_custom_complete ---completion members unblock -- positional@0 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_members_reset() {
    repeating_flags=()
    non_repeating_flags=(-y --yes --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_device() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    export|import|renew)
        # Offer subcommand argument completions
        "_notes_device_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'export import renew' -- "${cur}"))
        ;;
    esac
}

_notes_device_export() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=(--passphrase-file)
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--passphrase-file')
        __notes_add_completions -f
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -f
        return
        ;;
    esac
}

_notes_device_import() {
    repeating_flags=()
    non_repeating_flags=(--replace --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=(--passphrase-file)
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--passphrase-file')
        __notes_add_completions -f
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -f
        return
        ;;
    esac
}

_notes_device_renew() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_export() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=(--at)
    __notes_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--at')
        __notes_add_completions -W 'today'$'\n''yesterday'$'\n''monday'$'\n''last week'$'\n''last month'
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -d
        return
        ;;
    *)
        __notes_add_completions -W "$(__notes_custom_complete ---completion export -- positional@1 "${COMP_CWORD}" "$(__notes_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_notes_import() {
    repeating_flags=()
    non_repeating_flags=(--include -d --dry-run --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=(--into)
    __notes_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--into')
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_config() {
    repeating_flags=()
    non_repeating_flags=(--unset --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __notes_add_completions -W 'default'$'\n''device-name'$'\n''listen'$'\n''executable-files'$'\n''hidden-files'$'\n''hub-interval'$'\n''max-file-size'$'\n''name'$'\n''on-change'$'\n''on-conflict'$'\n''own-devices'
        return
        ;;
    esac
}

_notes_doctor() {
    repeating_flags=()
    non_repeating_flags=(--repair --no-discovery --json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=(--listen)
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--listen')
        return
        ;;
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_gc() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(-C)
    non_repeating_options=()
    __notes_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '-C')
        __notes_add_completions -d
        return
        ;;
    esac
}

_notes_help() {
    repeating_flags=()
    non_repeating_flags=(--version)
    repeating_options=()
    non_repeating_options=()
    __notes_offer_flags_options -1
}

complete -o filenames -F _notes notes
