import ArgumentParser
import Glibc
import TestSupport
import Testing

@testable import notes

/// What the commands say, in long sessions at a shell's prompt, with and without colour. What differs
/// from run to run stands as a word in capitals.
@Suite struct TranscriptTests {
  /// Runs the lines of a script one by one, and returns what a terminal would show.
  private func transcript(_ script: String, in place: String, colour: Bool) throws -> String {
    let shell = try Shell()
    return try transcript(
      script, in: shell.folder[place], home: shell.folder.path, environment: shell.environment,
      colour: colour)
  }

  private func transcript(
    _ script: String, in place: String, home: String, environment: [String: String], colour: Bool
  ) throws -> String {
    try makeFolder(home + "/bin")
    _ = symlink(try BuiltBinary.notes(), home + "/bin/notes")
    for (name, text) in [("phone", Self.phone), ("beside", Self.beside)] {
      try writeFile(home + "/bin/" + name, Array(text.utf8))
      chmod(home + "/bin/" + name, 0o755)
    }
    var environment = environment
    environment["BIN"] = home + "/bin"
    environment["PATH"] = home + "/bin:" + (environment["PATH"] ?? "")
    environment["EDITOR"] = #"sh -c 'echo bread >>"$0"'"#
    if colour { environment["CLICOLOR_FORCE"] = "1" }
    var text = ""
    for line in script.split(separator: "\n") {
      let result = try run(
        ["sh", "-c", String(line)], in: place, environment: environment, within: 180)
      text += "$ \(line)\n" + result.text + result.errorText
      if case .exited(let status) = result.status, status != 0 { text += "[\(status)]\n" }
      text += "\n"
    }
    return try Self.masked(text, folder: home)
  }

  /// `notes` on another device.
  private static let phone = """
    #!/bin/sh
    HOME="$HOME/phone" XDG_CONFIG_HOME="$HOME/config" XDG_DATA_HOME="$HOME/data"
    XDG_RUNTIME_DIR="$HOME/run"
    mkdir -p "$XDG_RUNTIME_DIR"; chmod 700 "$XDG_RUNTIME_DIR"
    exec notes "$@"

    """

  /// `beside COMMAND PATTERN THEN`: runs THEN while COMMAND listens, ends that as soon as it has said
  /// what the pattern says, or waits for its `end`, and shows what both said.
  private static let beside = """
    #!/bin/sh
    said=$(mktemp)
    await() { until grep -q "$1" "$said"; do i=$((i + 1)); [ $i -lt 1200 ] || exit 9; sleep 0.05; done; }
    sh -c "exec $1" >"$said" 2>&1 &
    child=$!
    trap 'kill $child 2>/dev/null; rm "$said"' EXIT
    await '\\(:\\|port \\)[0-9]\\{4,\\}'
    PORT=$(grep -o '\\(:\\|port \\)[0-9]\\{4,\\}' "$said" | head -n 1 | tr -dc 0-9)
    CODE=$(grep -o '[0-9][0-9]-[0-9A-Z]\\{4\\}-[0-9A-Z]\\{4\\}' "$said" | head -n 1)
    export PORT CODE
    sh -c "$3"
    status=$?
    [ "$2" = end ] || { await "$2"; kill $child; }
    wait $child
    echo "[$?]"
    cat "$said"
    exit $status

    """

  /// The text without what differs from run to run.
  private static func masked(_ text: String, folder: String) throws -> String {
    var shown = text.split(separator: folder, omittingEmptySubsequences: false)
      .joined(separator: "FOLDER")
    for (pattern, word) in [
      ("[0-9a-f]{40}", "VERSION"), ("\u{1B}\\[33m[0-9a-f]{10,12}\u{1B}", "\u{1B}[33mID\u{1B}"),
      ("\\b[0-9a-f]{10,12}\\b", "ID"), ("[A-Z2-7]{52}", "DEVICE"),
      ("\\b[A-Z2-7]{8,10}\\b", "DEVICE"),
      ("\u{1B}\\[2m[A-Z2-7]{8}\u{1B}", "\u{1B}[2mDEVICE\u{1B}"), ("[0-9.]+ (B|KB|MB)\\b", "SIZE"),
      ("[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}(:[0-9]{2})?( [-+][0-9]{4})?", "TIME"),
      ("(Mon|Tue|Wed|Thu|Fri|Sat|Sun) TIME", "TIME"),
      ("(just now|[0-9]+ minutes? ago)", "AGE"),
      // Cells are as wide as the longest age.
      ("AGE   *", "AGE  "), ("AGE\u{1B}\\[0m   *", "AGE\u{1B}[0m  "),
      ("within a minute|in [0-9]+ minutes?", "QUICKLY"),
      ("[0-9]{2}-[0-9A-Z]{4}-[0-9A-Z]{4}", "CODE"),
      ("127\\.0\\.0\\.1:[0-9]{4,5}", "127.0.0.1:PORT"),
      ("HOST:[0-9]{4,5}", "HOST:PORT"), ("port [0-9]{4,5}", "port PORT"),
      ("\"port\":[0-9]+", "\"port\":PORT"),
      ("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(Z|[-+][0-9:]{4,5})", "TIME"),
      ("_bytes\":[0-9]+", "_bytes\":SIZE"),
      ("device-key-[A-Z2-7]{8}", "device-key-DEVICE"), ("[0-9]{2}-…", "NN-…"),
      ("back: [0-9]{2}\\.", "back: NN."), ("\\] [a-z2-7]{8}:", "] NOTEBOOK:"),
    ] {
      shown = shown.replacing(try Regex(pattern), with: word)
    }
    return shown
  }

  private func expect(_ script: String, in place: String = "notes", matches name: String) throws {
    for (colour, suffix) in [(false, ""), (true, "-colour")] {
      try Golden.expect(
        transcript(script, in: place, colour: colour), matches: "session-\(name)\(suffix).txt")
    }
  }

  @Test func `A day with notes`() throws {
    try expect(
      #"""
      notes init --name Home --device-name laptop
      notes status
      notes list
      notes log
      notes new Shopping
      notes new trips/Rome
      printf 'milk\neggs\n' | notes new Groceries
      printf 'milk\neggs\nflour\n' >Shopping.txt; rm Groceries.txt; echo "A *day*" >Day.md
      notes status
      notes diff
      notes diff --unified
      notes save -m 'What we need'
      notes save
      notes diff
      notes edit Shopping
      EDITOR=true notes edit Shopping
      notes show Shopping
      notes show Shopping@~1
      notes mv Shopping 'Shopping list'
      notes mv 'Shopping list' 'Shopping list'
      notes mv trips/ travels
      notes blame 'Shopping list'
      notes search flour
      notes search 'nothing of the kind'
      notes search --history eggs
      notes log 'Shopping list'
      notes log --graph 'Shopping list' -n 1
      notes log -p -n 1 'Shopping list'
      notes show "$(git rev-parse HEAD~2)"
      notes restore 'Shopping list@~1' --dry-run
      notes restore 'Shopping list@~1'
      notes restore 'Shopping list@~0'
      notes restore 'Shopping list@~2' --as 'Shopping before'
      notes restore --all @~1 --dry-run
      notes restore --all @~1
      notes rm 'Shopping list' travels/
      notes list --deleted --sort title
      notes restore Rome
      notes list --attachments
      notes list --long --sort title
      notes undo --dry-run
      notes undo
      notes undo 2 --dry-run
      notes undo 2
      notes redo --dry-run
      notes redo 2
      notes redo
      notes log --operations -n8
      notes log --operations --long -n 1
      notes conflicts
      notes members
      notes device
      notes invitations
      notes config max-file-size 10m
      notes config max-file-size
      notes config --unset max-file-size
      notes peers --no-discovery --wait 0
      notes gc
      notes gc
      notes status
      """#, matches: "day")
  }

  @Test func `A day of mistakes`() throws {
    try expect(
      #"""
      notes status
      notes init --name a/b
      notes init --name Home --device-name laptop
      notes init
      mkdir linked; echo 'gitdir: /elsewhere' >linked/.git; notes init linked; rm -r linked
      notes init within; rm -r within
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
      notes show List
      notes show ''
      notes show Shopping@~99
      notes show Shopping@yesterdoy
      notes show Shopping@2020-01-01
      notes show "Shopping@$(git rev-parse HEAD^{tree})"
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
      notes join 12
      notes join 42-AAAA-AAAA
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
    try expect(
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
      """#, matches: "corners")
  }

  @Test func `What is refused, as programs read it`() throws {
    try expect(
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

  @Test func `A day on two devices`() throws {
    try expect(
      #"""
      notes init --name Home --device-name laptop >../made
      echo milk >Shopping.txt; echo forum >Rome.txt; notes save
      beside 'notes invite --listen 127.0.0.1:0 --no-discovery' end 'phone join $CODE ../phone --name phone --yes --at 127.0.0.1:$PORT'
      beside 'notes invite --role reader --for 90s --listen 127.0.0.1:0 --no-discovery --json' wrong_code 'phone join ${CODE%????}AAAA ../none --yes --at 127.0.0.1:$PORT'
      beside 'notes invite --role reader --listen 127.0.0.1:0 --no-discovery' end 'notes invitations cancel $CODE'
      notes invitations | grep joined
      notes invitations | grep -v joined
      notes members
      phone -C ../phone status
      phone -C ../phone members --json
      phone -C ../phone list --sort title
      beside 'notes serve --listen 127.0.0.1:0 --no-discovery --json' result 'cd ../phone; echo bread >>Shopping.txt; phone sync --at 127.0.0.1:$PORT --no-discovery'
      beside 'notes serve --listen 127.0.0.1:0 --no-discovery' done.with 'phone -C ../phone pull --at 127.0.0.1:$PORT --no-discovery'
      beside 'notes serve --listen 127.0.0.1:0 --no-discovery' done.with 'cd ../phone; phone mv Rome "Rome in May" >../made; phone push laptop --at 127.0.0.1:$PORT --no-discovery'
      beside 'notes serve --listen 127.0.0.1:0 --no-discovery' done.with 'phone -C ../phone sync --at 127.0.0.1:$PORT --json'
      beside 'notes watch --listen 127.0.0.1:0 --no-discovery' version.of 'notes peers --json; echo black >Tea.txt'
      notes log
      notes peers --no-discovery
      notes sync phon --no-discovery
      notes sync phone --no-discovery --wait 0
      notes sync laptop
      notes undo
      notes redo
      notes members role phone reader
      notes members role phone reader
      notes members rename phone tablet
      notes members rename tablet laptop
      notes members block tablet
      notes sync tablet
      notes members unblock tablet
      notes members
      notes members remove tablet --yes
      notes members remove tablet --yes
      notes members remove tablet --yes --json
      notes sync tablet
      notes members --all
      notes members reset --yes
      notes members
      echo long enough to be safe | notes device export key.pem --passphrase-file -
      echo long enough to be safe | phone device import key.pem --replace --passphrase-file -
      """#, matches: "devices")
  }

  @Test func `A day of conflicts`() throws {
    for (colour, suffix) in [(false, ""), (true, "-colour")] {
      let fixture = try ReportFixture()
      try fixture.save(
        [("List.txt", "milk\n"), ("Journal.txt", "one\n"), ("Plan.txt", "buy a boat\n")],
        at: 1_700_000_000)
      try fixture.save(
        [("List.txt", "milk\neggs\n"), ("Journal.txt", "ONE\n"), ("Plan.txt", "buy a big boat\n")],
        at: 1_700_003_600)
      try fixture.meet(
        "Ben",
        [("List.txt", "milk\nbread\n"), ("Journal.txt", "eins\n"), ("Plan.txt", "buy the boat\n")],
        at: 1_700_007_200)
      let home = try TemporaryFolder()
      let text = try transcript(
        #"""
        notes status
        notes list
        notes conflicts
        notes show Journal
        notes log
        notes undo List
        notes undo List
        notes conflicts
        notes resolve Journal --keep Eve
        notes resolve Journal --keep Eve --json
        notes resolve Journal --keep Ben
        notes resolve Journal --keep Ben
        notes resolve List --keep both
        notes resolve Plan --keep newer
        notes status
        notes undo
        notes conflicts
        """#, in: fixture.folder.path, home: home.path,
        environment: TestEnvironment.isolated(home: home["home"]), colour: colour)
      try Golden.expect(text, matches: "session-conflicts\(suffix).txt")
    }
  }

  /// In a session that is there with and without colour, in which it does its work, or in files of its
  /// own.
  @Test(arguments: ["", "-colour"])
  func `Each command and verb is shown at its work`(suffix: String) throws {
    let folder = BuiltBinary.sourceFolder + "/Tests/Golden/"
    let files = try run(["ls", folder]).lines
    let sessions = files.filter {
      $0.hasPrefix("session-") && $0.hasSuffix("\(suffix).txt")
        && $0.hasSuffix("-colour.txt") == !suffix.isEmpty
    }
    // What was typed, of commands that did not fail.
    let typed = try sessions.flatMap { file -> [Substring] in
      String(decoding: try readFile(folder + file), as: UTF8.self).split(separator: "\n\n$ ")
        .filter { $0.split(separator: "\n").last?.wholeMatch(of: #/\[[0-9]+\]/#) == nil }
        .map { $0.prefix { $0 != "\n" } }
    }
    for type in Commands.all {
      let name = type._commandName
      let names = [name] + type.configuration.subcommands.map { "\(name) \($0._commandName)" }
      for name in names {
        let file = name.replacing(" ", with: "-") + suffix + ".txt"
        let isTyped = typed.contains { line in
          ["notes \(name)", "phone \(name)"].contains { words in
            line.ranges(of: words).contains { range in
              line[range.upperBound...].first.map { " ';".contains($0) } ?? true
            }
          }
        }
        #expect(files.contains(file) || isTyped, "\(name)\(suffix)")
      }
    }
  }
}
