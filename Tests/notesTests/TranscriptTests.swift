import ArgumentParser
import TestSupport
import Testing

@testable import notes

@Suite("What the commands say, in long sessions")
struct TranscriptTests {
  @Test func `A day with notes`() throws {
    try Transcript.expect(
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
      printf flour | notes forget --text --dry-run
      printf flour | notes forget --text --yes
      notes status
      """#, matches: "day")
  }

  @Test func `A day on two devices`() throws {
    try Transcript.expect(
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
      phone -C ../phone device renew
      beside 'notes serve --listen 127.0.0.1:0 --no-discovery' done.with 'phone -C ../phone sync --at 127.0.0.1:$PORT --no-discovery'
      notes members
      notes members certify phone --yes
      notes members certify phone --yes
      beside 'notes serve --listen 127.0.0.1:0 --no-discovery' done.with 'phone -C ../phone sync --at 127.0.0.1:$PORT --no-discovery'
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

  @Test func `A device joins by files`() throws {
    try Transcript.expect(
      #"""
      notes init --name Home --device-name laptop >../made
      echo milk >Shopping.txt; notes save >../made
      notes invite --file ../home.invitation --for 3d
      phone join ../home.invitation ../phone --device-name phone --yes
      phone -C ../phone status
      notes invitations answer ../home.request
      notes invitations answer ../home.request --yes
      phone -C ../phone bundle apply ../home.answer
      phone join ../home.invitation ../phone --yes
      notes members
      notes members handover phone --yes
      notes members role phone admin
      notes members handover phone --yes
      notes members
      """#, matches: "files")
  }

  @Test func `A day with a hub`() throws {
    try Transcript.expect(
      #"""
      notes init --name Home --device-name laptop
      printf 'a kite\n' | notes new Ideas
      echo 'a boat' | notes add Ideas
      notes add Ideas 'a tent'
      notes notebooks
      git init -q --bare -b main ../hub.git
      notes remote
      notes remote add hub "$(cd ../hub.git && pwd)"
      notes remote list
      notes sync --no-discovery --wait 0
      notes sync --no-discovery --wait 0
      notes remote show hub
      git --git-dir ../hub.git show main:Ideas.txt
      notes bundle create ../home.bundle
      notes bundle apply ../home.bundle
      phone clone ../hub.git ../copy --device-name phone
      notes remote remove hub
      notes export ../plain
      ls ../plain
      rm Ideas.txt; notes save --allow-deletes
      notes import --dry-run ../plain
      notes import ../plain
      """#, matches: "hub")
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
      let text = try Transcript.play(
        #"""
        notes status
        notes list
        notes conflicts
        notes show Journal
        notes log
        notes undo List
        notes undo List
        notes conflicts
        notes resolve Journal
        notes resolve Journal --block 2 --keep newer
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
