import Testing

@Suite("What is refused, and what to do then")
struct RefusalTranscriptTests {
  @Test func `A day of mistakes`() throws {
    try Transcript.expect(
      #"""
      notes status
      notes init --name a/b
      notes init --name Home --device-name laptop
      notes init
      notes export ../empty
      mkdir ../linked; echo 'gitdir: /elsewhere' >../linked/.git; notes init ../linked
      notes init within
      notes init "$HOME"
      notes init ..
      mkdir ../keys; echo x >../keys/id_rsa; notes init ../keys --yes
      for n in 1 2 3 4 5 6 7 8 9 10 11; do echo "$n" >"List $n.txt"; done
      printf 'a\0b' >photo.png; echo milk >Shopping.txt; mkdir trips; echo forum >trips/Rome.txt
      notes save
      notes init trips
      notes stauts
      notes xyzzy
      notes commit
      notes help xyzzy
      notes status --jsn
      notes status extra
      notes -C nowhere status
      notes save nowhere
      notes list --folder nowhere
      notes list --since soonish
      notes list --sort colour
      notes list --deleted --sort size
      notes list nowhere
      notes show
      notes show Shoping
      notes show trips
      notes log trips/
      notes log -n1x
      notes log --oneline --graph
      notes log --format '%q'
      notes config max-file-size 100m
      notes add 'List 1' </dev/null
      notes show List
      notes show ''
      notes show Shopping@~99
      notes show Shopping@yesterdoy
      notes show Shopping@2020-01-01
      notes show "Shopping@$(git rev-parse HEAD^{tree})"
      notes export .. Shopping
      notes export .. --json
      notes export out.zip
      notes import trips
      notes import ../nowhere
      notes restore trips/@~1
      notes restore trips/
      notes restore Shopping
      notes restore
      notes restore --all --as x
      notes restore trips/@~0 --as x
      notes restore 'Shopping@~0' --as 'List 1'
      rm Shopping.txt; mkfifo Shopping.txt; notes restore Shopping
      rm Shopping.txt; notes restore Shopping
      notes blame photo.png
      notes diff a b c
      notes diff Shopping yesterdoy
      notes search
      notes search ''
      notes search --regex 'a['
      notes search milk -n 0
      notes search milk --lines x
      notes new Shopping
      notes new shopping
      notes new trips
      notes new .git/x
      notes new ''
      notes new ../x
      notes new "$(printf 'a\nb')"
      notes mv Shopping 'List 1'
      notes mv Shopping
      notes mv trips/ trips/further
      notes mv nowhere x
      notes rm nowhere
      notes rm trips/nowhere/
      notes rm 'List 1' 'List 2' 'List 3' 'List 4' 'List 5' 'List 6' 'List 7' 'List 8'
      for n in 1 2 3 4 5 6 7 8; do rm "List $n.txt"; done; notes save
      notes new Another
      notes new </dev/null
      notes restore --all
      notes edit Shoping
      notes edit trips
      EDITOR=false notes edit Shopping
      EDITOR=/no/such/editor notes edit Shopping
      EDITOR='kill -9 $$; :' notes edit Shopping
      EDITOR='' PATH="$BIN" notes edit Shopping
      EDITOR=true notes new --edit Nothing
      notes undo 0
      notes undo 99
      notes undo Shopping
      notes undo Shopping --dry-run
      notes undo abcdef12
      echo oats >Shopping.txt; notes save -m Oats; echo rye >Shopping.txt; notes save -m Rye
      notes undo "$(git rev-parse HEAD^)"
      notes redo
      notes redo 0
      notes redo two
      notes resolve Shopping
      notes resolve Shopping --keep both
      notes resolve nowhere --keep both
      notes browse
      notes log -n 0
      notes log --operations Shopping
      notes log nowhere
      notes log --since soonish
      notes list >/dev/full
      notes members role nobody reader
      notes members role laptop king
      notes members handover
      notes members handover --stop
      notes members remove laptop --yes
      notes members reset
      notes device export
      notes invitations cancel nobody
      notes push nobody --no-discovery
      notes pull --at nowhere
      notes sync --wait x
      notes sync --wait=-1
      notes config nonsense
      notes config listen nowhere
      notes config hidden-files maybe
      notes join 12
      notes join 42-AAAA-AAAAAA
      notes invite --role king
      notes serve extra
      notes peers --wait x
      notes doctor --listen x
      notes watch --listen x
      chmod 644 "$XDG_DATA_HOME/notes/device-key.pem"; notes device
      cp .git/notes/notebook saved; echo 'format 9' >.git/notes/notebook; notes status
      echo nonsense >.git/notes/notebook; notes status
      cp saved .git/notes/notebook; echo nonsense >.git/HEAD; notes status
      echo 'ref: refs/heads/main' >.git/HEAD; notes list saved
      """#, matches: "mistakes")
  }

  @Test func `What is refused in corners that few people see`() throws {
    try Transcript.expect(
      #"""
      notes init --name Home --device-name laptop
      notes redo; notes redo --dry-run
      echo milk >Shopping.txt; notes save
      env -u HOME -u XDG_DATA_HOME notes device
      XDG_DATA_HOME="$PWD/none" notes device
      XDG_DATA_HOME="$PWD/none" notes device export key.pem
      XDG_DATA_HOME="$PWD/none" notes sync
      mkdir gone; cd gone; rmdir ../gone; notes status
      notes -C '' status
      notes -C ../notes status --jsno
      notes device export key.pem
      echo short | notes device export key.pem --passphrase-file -
      echo long enough to be safe | notes device export key.pem --passphrase-file -
      echo long enough to be safe | notes device export key.pem --passphrase-file -
      echo long enough to be safe | notes device export nowhere/key.pem --passphrase-file -
      notes device export other.pem --passphrase-file nowhere
      notes device import nowhere
      notes device import key.pem
      echo not this one | notes device import key.pem --replace --passphrase-file -
      rm key.pem
      notes invitations accept
      notes invitations decline nobody
      notes invite --device nobody
      notes join --yes --at 127.0.0.1:1
      notes join --code-file code folder further
      notes sync --no-discovery
      notes watch --pause
      notes watch --pause --resume
      notes watch --all .
      PATH="$BIN" notes watch --install
      notes config listen
      notes config listen ''
      notes config max-file-size lots
      notes config --unset
      notes config --unset listen 127.0.0.1:1
      notes config listen 127.0.0.1:1; sed -i s/127.*/nowhere/ "$XDG_CONFIG_HOME/notes/config"
      timeout 5 notes serve
      notes config --unset listen
      notes config max-file-size 10; echo more than ten bytes | notes new Large
      notes config --unset max-file-size
      notes new Folder <.
      notes search milk --lines=-1
      echo "1 elsewhere" >.git/gc.pid; notes gc
      notes list --folder ''
      notes mv Shopping ''
      notes show @~1
      notes diff Shopping ~0..~9
      notes log --by
      notes redo 3
      notes rm Shopping; notes mv Shopping Groceries
      notes edit Shopping
      notes show Shopping
      notes show Shopping --json
      notes blame Shopping
      notes list --deleted --long
      notes diff Shopping
      notes restore Shopping@~1
      echo 1 >'What next?.txt'; notes save
      git update-index --skip-worktree What*; rm What*; notes status
      notes edit What; notes show What; notes save What
      notes save; ls
      """#, matches: "corners")
  }

  @Test func `What is refused, as programs read it`() throws {
    try Transcript.expect(
      #"""
      notes status --json
      notes watch --all --json
      env -u HOME -u XDG_DATA_HOME notes device --json
      notes device --json
      notes init '' --json
      notes init --name Home --device-name laptop >../made
      mkdir trips; echo forum >trips/Rome.txt; echo milk >Shopping.txt; notes save --json
      notes list --folder nowhere --json
      notes edit trips --json
      git update-index --skip-worktree Shopping.txt; rm Shopping.txt
      notes edit Shopping --json; notes save --json
      EDITOR=false notes edit Shopping --json
      EDITOR='' PATH="$BIN" notes edit Shopping --json
      ln -s /bin/true "$BIN/vi"; EDITOR='' PATH="$BIN" notes edit Shopping --json
      EDITOR=true notes new --edit Nothing --json
      notes new Folder --json <.
      notes config max-file-size 10; echo more than ten bytes | notes new Large --json
      notes config --unset max-file-size
      notes list --json >/dev/full
      notes resolve Shopping --keep both --json
      mkdir gone; cd gone; rmdir ../gone; notes status --json
      XDG_DATA_HOME="$PWD/none" notes sync --json
      notes sync --no-discovery --json
      notes sync laptop --json
      notes sync lapptop --json
      notes members role nobody reader --json
      notes members certify laptop --json
      notes members handover --stop --json
      notes members rol laptop reader --json
      notes device keep --json
      notes invitations accept --json
      notes config on-change --json
      XDG_CONFIG_HOME=/dev/null notes config listen 127.0.0.1:1 --json
      mkdir -p none/notes/config; XDG_CONFIG_HOME="$PWD/none" notes config listen --json
      notes watch --pause --json
      PATH="$BIN" notes watch --install --json
      XDG_CONFIG_HOME=/dev/null notes watch --install --json
      echo long enough to be safe | notes device export key.pem --passphrase-file -
      notes device import key.pem --json
      echo not this one | notes device import key.pem --replace --passphrase-file - --json
      """#, matches: "programs")
  }
}
