# Completion of notes(1) for fish: commands, options, and the titles, versions and members of the
# notebook at hand.

# Asks notes for words; -C on the command line says where.
function __notes_words
    set -l place
    set -l words (commandline -opc)
    for index in (seq (count $words))
        if test "$words[$index]" = -C; and set -q words[(math $index + 1)]
            set -a place -C $words[(math $index + 1)]
        end
    end
    command notes $place complete-words $argv 2>/dev/null
end

# The notes: their titles, or their paths where one is typed.
function __notes_titles
    set -l token (commandline -ct | string unescape)
    if string match -q '*/*' -- $token
        __notes_words notes $token
    else
        __notes_words notes
    end
end

# The notes, or, after NOTE@, that note's versions.
function __notes_versions
    # The shell gives the token as it was typed, with its backslashes and quotes.
    set -l token (commandline -ct | string unescape)
    if string match -q '*@*' -- $token
        set -l note (string replace -r '@[^@]*$' '' -- $token)
        for line in (__notes_words versions $note)
            echo "$note@$line"
        end
    else
        # Where the title is not all, an @ at its end keeps the shell from going on to another word.
        if __notes_is restore
            __notes_words deleted
        else
            __notes_titles
        end
        __notes_titles | string replace -r '$' '@'
    end
end

# Whether the command has been given, and is one of these.
function __notes_is
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]; and test "$words[1]" = -C
        set -e words[1..2]
    end
    set -q words[1]; and contains -- $words[1] $argv
end

# Whether one of these words stands after the command.
function __notes_does
    set -l words (commandline -opc)
    for word in $words[2..-1]
        contains -- $word $argv; and return 0
    end
    return 1
end

# Whether this is the last whole word.
function __notes_last
    set -l words (commandline -opc)
    test "$words[-1]" = $argv[1]
end

function __notes_none
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]; and test "$words[1]" = -C
        set -e words[1..2]
    end
    not set -q words[1]
end

complete -c notes -f
complete -c notes -n __notes_none -a '(__notes_words commands)'
complete -c notes -n __notes_none -l version -d 'Show the version'
complete -c notes -s C -r -a '(__fish_complete_directories)' -d 'Run as if started there'
complete -c notes -s h -l help -d 'Show how to use it'
complete -c notes -n '__notes_is help' -a '(__notes_words commands)'

complete -c notes -l json -d 'Write JSON Lines' \
    -n 'not __notes_none; and not __notes_is help browse'
complete -c notes -n '__notes_is init join watch' -F
complete -c notes -n '__notes_is init' -l name -x -d "The notebook's name"
complete -c notes -n '__notes_is init' -l device-name -x -d 'What to call this device'
complete -c notes -n '__notes_is save log diff resolve undo edit mv rm' -a '(__notes_titles)'
complete -c notes -n '__notes_is new mv rm' -a '(__fish_complete_directories)'
complete -c notes -n '__notes_is new' -s e -l edit -d 'Write it in the editor'
complete -c notes -n '__notes_is undo' -a '(__notes_words operations)'
complete -c notes -n '__notes_is restore undo redo' -s d -l dry-run -d 'Show what would be done'
complete -c notes -n '__notes_is restore' -l all -d 'Restore the whole notebook'
complete -c notes -n '__notes_is list' -l sort -x -a 'modified created title size' -d 'The order'
complete -c notes -n '__notes_is list' -s r -l reverse -d 'In the opposite order'
complete -c notes -n '__notes_is list' -l folder -x -a '(__fish_complete_directories)' \
    -d 'Only what is in it'
complete -c notes -n '__notes_is list' -l attachments -d 'The other files'
complete -c notes -n '__notes_is list' -l deleted -d 'What was deleted'
complete -c notes -n '__notes_is save' -l allow-deletes -d 'Go on although most notes are gone'
complete -c notes -n '__notes_is save' -s m -l message -x -d 'What to call the version'
complete -c notes -n '__notes_is list' -s l -l long -d 'Also IDs, sizes and exact times'
complete -c notes -n '__notes_is blame log' -s l -l long -d 'Exact times'
complete -c notes -n '__notes_is show restore blame' -a '(__notes_versions)'
complete -c notes -n '__notes_is search' -l history -d 'Also what notes once held'
complete -c notes -n '__notes_is search' -l regex -d 'Texts are regular expressions'
complete -c notes -n '__notes_is search' -l title -d 'Look at titles only'
complete -c notes -n '__notes_is search' -l match-case -d 'Tell capital letters from small ones'
complete -c notes -n '__notes_is search' -s n -l limit -x -d 'At most N notes'
complete -c notes -n '__notes_is search' -l lines -x -d 'Matching lines of a note to show'
complete -c notes -n '__notes_is search' -l context -x -d 'Lines to show around each'
complete -c notes -n '__notes_is show log diff blame search' -l no-pager -d 'Do not page the output'
complete -c notes -n '__notes_is log' -s n -l limit -x -d 'At most N versions'
complete -c notes -n '__notes_is log' -l all -d 'Each version, and all merges'
complete -c notes -n '__notes_is log list' -l since -x -a "today yesterday monday 'last week'" \
    -d 'Only what was made since'
complete -c notes -n '__notes_is log' -l by -x -a '(__notes_words authors)' \
    -d 'Only what this author made'
complete -c notes -n '__notes_is log' -s p -l patch -d 'Also what changed'
complete -c notes -n '__notes_is log' -l graph -d 'Draw what was made on what'
complete -c notes -n '__notes_is diff' -s u -l unified -d 'Changed lines, for patch'
complete -c notes -n '__notes_is log' -l operations -d 'What was done on this device'
complete -c notes -n '__notes_is members; and not __notes_does role remove rename block unblock reset' -l all \
    -d 'Also devices that were removed'
complete -c notes -n '__notes_is members; and not __notes_does role remove rename block unblock reset' \
    -a 'role remove rename block unblock reset'
complete -c notes -n '__notes_is members; and __notes_does remove rename block unblock' \
    -a '(__notes_words members)'
complete -c notes -n '__notes_is members; and __notes_does remove reset' -s y -l yes -d 'Do not ask'
complete -c notes -n '__notes_is members; and __notes_does role; and __notes_last role' \
    -a '(__notes_words members)'
complete -c notes -n '__notes_is members; and __notes_does role; and not __notes_last role' \
    -a 'reader writer admin'
complete -c notes -n '__notes_is device; and not __notes_does export import' -a 'export import'
complete -c notes -n '__notes_is device; and __notes_does export import' -F
complete -c notes -n '__notes_is device; and __notes_does export import' -l passphrase-file -r -F \
    -d 'Read the passphrase from a file'
complete -c notes -n '__notes_is device; and __notes_does import' -l replace \
    -d 'Put it in the place of the key that is there'
complete -c notes -n '__notes_is restore' -l as -x -d 'Restore it as another note'
complete -c notes -n '__notes_is resolve' -l keep -x -a 'older newer both' -d 'The text to keep'
complete -c notes -n '__notes_is sync pull push' -a '(__notes_words members)'
complete -c notes -n '__notes_is sync pull push join' -l at -x -d 'The peer is at HOST:PORT'
complete -c notes -n '__notes_is sync serve watch invite doctor' -l listen -x -d 'Listen at HOST:PORT'
complete -c notes -n '__notes_is sync pull push peers join' -l wait -x -d 'Look for this many seconds'
complete -c notes -n '__notes_is sync pull push peers serve watch invite join doctor' -l no-discovery \
    -d 'Do not use Avahi'
complete -c notes -n '__notes_is sync pull push rm restore undo redo' -l allow-deletes -d 'Let most notes be deleted'
complete -c notes -n '__notes_is invite' -l role -x -a 'reader writer admin' \
    -d 'What the new device may do'
complete -c notes -n '__notes_is join' -l name -x -d 'What to call this device'
complete -c notes -n '__notes_is config' -l unset -d 'Take the setting away'
complete -c notes -n '__notes_is config' \
    -a 'device-name listen max-file-size on-change on-conflict'
complete -c notes -n '__notes_is watch' -l all -d 'All notebooks of this device'
complete -c notes -n '__notes_is watch' -l install -d 'Have systemd run it'
complete -c notes -n '__notes_is invite' -l for -x -d 'How long it is open'
complete -c notes -n '__notes_is invite' -l device -x -a '(__notes_words members)' \
    -d 'Invite this device'
complete -c notes -n '__notes_is invite' -l via -r -F -d 'The notebook that it shares'
complete -c notes -n '__notes_is invitations; and not __notes_does cancel accept decline' \
    -a 'cancel accept decline'
complete -c notes -n '__notes_is invitations; and __notes_does accept' -F
complete -c notes -n '__notes_is invitations; and __notes_does accept' -s y -l yes -d 'Do not ask'
complete -c notes -n '__notes_is watch' -l pause -d 'Let a running watcher close its connections'
complete -c notes -n '__notes_is watch' -l resume -d 'Let a paused watcher connect again'
complete -c notes -n '__notes_is peers' -l watch -d 'Go on showing it'
complete -c notes -n '__notes_is serve watch' -l verbose -d 'Log more'
complete -c notes -n '__notes_is join' -s y -l yes -d 'Do not ask'
complete -c notes -n '__notes_is join' -l code-file -r -F -d 'Read the code from a file'
