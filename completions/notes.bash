# Completion of notes(1) for bash: commands, options, and the titles, versions and members of the
# notebook at hand.

# Offers the lines of standard input that begin with what was typed, quoted for the shell as the
# word is.
_notes_offer() {
  local quote='' typed=${cur//\\/} line
  if [[ $cur == [\"\']* ]]; then quote=${cur:0:1} typed=${cur:1}; fi
  while IFS= read -r line; do
    [[ $line == "$typed"* ]] || continue
    case $quote in
      \") line=${line//\\/\\\\} line=${line//\"/\\\"} line=${line//\$/\\\$} line=${line//\`/\\\`} ;;
      \') line=${line//\'/\'\\\'\'} ;;
      *) printf -v line %q "$line" ;;
    esac
    COMPREPLY+=("$line")
  done
}

# The notes: their titles, or their paths where one is typed.
_notes_titles() {
  if [[ $cur == */* ]]; then
    _notes_words notes "${cur//[\\\"\']/}"
  else
    _notes_words notes
  fi
}

# Asks notes for words; -C before the cursor says where. Nothing is offered outside a notebook.
_notes_words() {
  command notes "${place[@]}" complete-words "$@" 2>/dev/null
}

_notes() {
  local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local verb='' action='' note='' index word options='' arguments=''
  local -a place=()
  COMPREPLY=()

  for ((index = 1; index < COMP_CWORD; index++)); do
    word=${COMP_WORDS[index]}
    if [[ $word == -C ]]; then
      place+=(-C "${COMP_WORDS[++index]}")
    elif [[ -z $verb && $word != -* ]]; then
      verb=$word
    elif [[ -z $action && $word != -* ]]; then
      action=$word
    fi
  done

  case $previous in
    --since)
      _notes_offer <<<$'today\nyesterday\nmonday\nlast week\nlast month'
      return
      ;;
    -C | --folder) mapfile -t COMPREPLY < <(compgen -d -X .git -- "$cur") && compopt -o filenames 2>/dev/null; return ;;
    --role) _notes_offer <<<$'reader\nwriter\nadmin'; return ;;
    --sort) _notes_offer <<<$'modified\ncreated\ntitle\nsize'; return ;;
    --device) _notes_offer < <(_notes_words members); return ;;
    --via) mapfile -t COMPREPLY < <(compgen -d -X .git -- "$cur") && compopt -o filenames 2>/dev/null; return ;;
    --passphrase-file | --code-file) mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      compopt -o filenames 2>/dev/null; return ;;
    --by) _notes_offer < <(_notes_words authors); return ;;
    --keep) _notes_offer <<<$'older\nnewer\nboth'; return ;;
    --name | --device-name | --at | --listen | --as | --wait | --for | -m | --message | -n | --limit | --lines | --context) return ;;
  esac

  case $verb in
    '') options='-C --help --version' ;;
    help) _notes_offer < <(_notes_words commands | cut -f 1); return ;;
    init) options='--name --device-name --json -C --help' arguments=folder ;;
    status | conflicts) options='--json -C --help' ;;
    members)
      case $action in
        role) options='--json -C --help' arguments=role ;;
        remove) options='-y --yes --json -C --help' arguments=members ;;
        rename | block | unblock) options='--json -C --help' arguments=members ;;
        reset) options='-y --yes --json -C --help' ;;
        *) options='--all --json -C --help' arguments=verbs ;;
      esac
      ;;
    device)
      case $action in
        export) options='--passphrase-file --json -C --help' arguments=file ;;
        import) options='--passphrase-file --replace --json -C --help' arguments=file ;;
        *) options='--json -C --help' arguments=device ;;
      esac
      ;;
    save) options='-m --message --allow-deletes --json -C --help' arguments=notes ;;
    new) options='-e --edit --json -C --help' arguments=folder ;;
    edit) options='--json -C --help' arguments=notes ;;
    mv) options='--json -C --help' arguments=places ;;
    rm) options='--allow-deletes --json -C --help' arguments=places ;;
    list)
      options='-l --long --sort -r --reverse --folder --since --attachments --deleted'
      options+=' --json -C --help'
      ;;
    show) options='--no-pager --json -C --help' arguments=version ;;
    search)
      options='--history --regex --title --match-case -n --limit --lines --context'
      options+=' --no-pager --json -C --help'
      ;;
    browse) options='-C --help' ;;
    log)
      options='-n --limit --since --by -p --patch --graph --all --operations -l --long'
      options+=' --no-pager --json -C --help'
      arguments=notes
      ;;
    blame) options='-l --long --no-pager --json -C --help' arguments=version ;;
    diff) options='-u --unified --no-pager --json -C --help' arguments=notes ;;
    restore)
      options='--as --all -d --dry-run --allow-deletes --json -C --help'
      arguments=version
      ;;
    resolve) options='--keep --json -C --help' arguments=notes ;;
    undo) options='-d --dry-run --allow-deletes --json -C --help' arguments=operations ;;
    redo) options='-d --dry-run --allow-deletes --json -C --help' ;;
    gc) options='--json -C --help' ;;
    sync)
      options='--at --listen --wait --no-discovery --allow-deletes --json -C --help'
      arguments=members
      ;;
    pull) options='--at --wait --no-discovery --allow-deletes --json -C --help' arguments=members ;;
    push) options='--at --wait --no-discovery --allow-deletes --json -C --help' arguments=members ;;
    peers) options='--watch --wait --no-discovery --json -C --help' ;;
    config) options='--unset --json -C --help' arguments=settings ;;
    doctor) options='--listen --no-discovery --json -C --help' ;;
    watch)
      options='--all --listen --no-discovery --pause --resume --install --verbose --json -C --help'
      arguments=folder
      ;;
    serve) options='--listen --no-discovery --verbose --json -C --help' ;;
    invite) options='--role --for --device --via --listen --no-discovery --json -C --help' ;;
    invitations)
      case $action in
        accept) options='-y --yes --json -C --help' arguments=folder ;;
        cancel | decline) options='--json -C --help' ;;
        *) options='--json -C --help' arguments=answers ;;
      esac
      ;;
    join)
      options='--at --name -y --yes --code-file --wait --no-discovery --json -C --help'
      arguments=folder
      ;;
    *) return ;;
  esac

  if [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
    return
  fi
  if [[ -z $verb ]]; then
    _notes_offer < <(_notes_words commands | cut -f 1)
    return
  fi
  # bash splits words at the @ of NOTE@VERSION.
  if [[ $arguments == version && ($cur == @ || $previous == @) ]]; then
    note=$previous
    if [[ $previous == @ ]]; then note=${COMP_WORDS[COMP_CWORD - 2]}; fi
    note=${note//\\/}
    # The @ alone is the word that the completion takes the place of.
    local before=${cur%%[!@]*}
    _notes_offer < <(_notes_words versions "${note//[\"\']/}" | cut -f 1 | sed "s/^/$before/")
    return
  fi
  # Between quotes it does not.
  if [[ $arguments == version && $cur == [\"\']*@* ]]; then
    note=${cur:1}
    note=${note%@*}
    _notes_offer < <(_notes_words versions "$note" | cut -f 1 |
      while IFS= read -r word; do printf '%s@%s\n' "$note" "$word"; done)
    return
  fi
  case $arguments in
    notes | version)
      _notes_offer < <(_notes_titles)
      if [[ $arguments == version ]]; then compopt -o nospace 2>/dev/null; fi
      if [[ $verb == restore ]]; then _notes_offer < <(_notes_words deleted); fi
      ;;
    places)
      _notes_offer < <(_notes_titles)
      _notes_offer < <(compgen -d -X .git -S / -- "$cur")
      ;;
    operations)
      _notes_offer < <(_notes_words operations | cut -f 1)
      _notes_offer < <(_notes_titles)
      ;;
    members) _notes_offer < <(_notes_words members) ;;
    verbs) _notes_offer <<<$'role\nremove\nrename\nblock\nunblock\nreset' ;;
    role)
      if [[ $previous == role ]]; then
        _notes_offer < <(_notes_words members)
      else
        _notes_offer <<<$'reader\nwriter\nadmin'
      fi
      ;;
    answers) _notes_offer <<<$'cancel\naccept\ndecline' ;;
    settings)
      if [[ -z $action ]]; then
        _notes_offer <<<$'device-name\nlisten\nmax-file-size\non-change\non-conflict'
      fi
      ;;
    device) _notes_offer <<<$'export\nimport' ;;
    file) mapfile -t COMPREPLY < <(compgen -f -- "$cur") && compopt -o filenames 2>/dev/null ;;
    folder) mapfile -t COMPREPLY < <(compgen -d -X .git -- "$cur") && compopt -o filenames 2>/dev/null ;;
  esac
}

complete -F _notes notes
