import Git
import Glibc
import History
import Notebook
import TestSupport
import Testing

@testable import Membership
@testable import notes

/// notes-doctor(1): what is broken on purpose is found, with a remedy.
@Suite struct DoctorTests {
  let shell: Shell

  init() throws { shell = try Shell.withTwoVersions() }

  @Test func `A notebook without trouble is well`() throws {
    let result = try shell.notes("doctor", "--no-discovery")
    #expect(result.isSuccess, "\(result)")
    #expect(result.text.contains("ok       history      2 versions, all intact\n"))
    #expect(result.text.hasSuffix("\nNothing is wrong.\n"))
    // "It changes nothing": the empty files are gone.
    #expect(
      try run(["ls", shell.folder["notes/.git/notes"]]).lines.allSatisfy {
        !$0.hasPrefix("probe")
      })
    let json = try shell.notes("doctor", "--no-discovery", "--json").lines
    #expect(json.count == Check.all.count + 1)
    #expect(json.last == #"{"type":"result","problems":0,"advice":0}"#)
  }

  @Test func `Each other device is told with when and where it was met`() throws {
    #expect(
      try shell.notes("doctor", "--no-discovery").text.contains(
        "there is no other device, and no hub"))
    let bob = try Shell()
    try bob.join(shell, as: "bob")
    #expect(try shell.notes("doctor", "--no-discovery").text.contains("bob was met just now"))
    let other = try bob.notes("doctor", "--no-discovery")
    #expect(other.text.contains(/laptop was met just now, last at 127\.0\.0\.1:\d+/), "\(other)")
    try #require(try run(["git", "init", "-q", "--bare", shell.folder["hub.git"]]).isSuccess)
    try #require(try shell.notes("remote", "add", "home", shell.folder["hub.git"]).isSuccess)
    #expect(
      try shell.notes("doctor", "--no-discovery").text.contains(
        "this device has never visited the "
          + "hub home"))
  }

  @Test func `What it tells fits on the screen`() throws {
    let findings: [[Finding]] = [
      .good("GDEVICE, readable by you only"),
      .problem("2 versions are damaged", remedy: "'git fsck' shows more"),
      [Finding].advice("a checkout was interrupted", remedy: "the next command ends it")
        + [Finding].good("fine"),
    ]
    try Golden.screens("doctor") { terminal in
      let sections = zip(Check.all, findings).map { $0.text(of: $1, on: terminal) }
      return sections.joined() + DoctorReport(Array(findings.joined())).text + "\n"
    }
  }

  /// A way to break a notebook, and what is said of it.
  struct Trouble: Sendable, CustomTestStringConvertible {
    let name: String
    let check: String
    let level: Finding.Level
    let says: String
    let make: @Sendable (Shell) throws -> Void
    var testDescription: String { name }
  }

  /// Puts a version of 2^20 files below the last one.
  private static let plant = """
    tree=$(git hash-object -w -t tree /dev/null)
    for i in $(seq 21); do
      tree=$(printf '040000 tree %s\\ta\\n040000 tree %s\\tb\\n' $tree $tree | git mktree)
    done
    export GIT_AUTHOR_NAME=M GIT_AUTHOR_EMAIL=m@example.org
    export GIT_COMMITTER_NAME=M GIT_COMMITTER_EMAIL=m@example.org
    bomb=$(git commit-tree -p HEAD -m bomb $tree)
    git reset -q --soft $(git commit-tree -p $bomb -m next HEAD^{tree})
    """

  /// notes-doctor(1), --repair.
  @Test func `A version that is too large is told by what meets it, and cut off`() throws {
    try Self.sh(shell, "cd notes; \(Self.plant)")
    let log = try shell.notes("log")
    #expect(log.status == .exited(1))
    #expect(
      log.errorText.contains("files and folders in a version: the limit is 2000000"), "\(log)")
    #expect(log.errorText.contains("'notes doctor --repair' removes it"), "\(log)")
    let repair = try shell.notes("doctor", "--repair", "--no-discovery")
    #expect(repair.isSuccess && repair.text.hasPrefix("Cut off version "), "\(repair)")
    #expect(try shell.notes("log").isSuccess)
    #expect(try readFile(shell.folder["notes/Two.txt"]) == Array("two\n".utf8))
  }

  /// A version of 300 parents, as an earlier release made it of so many heads, under an edit.
  static let wide = """
    export GIT_AUTHOR_NAME=M GIT_AUTHOR_EMAIL=m@example.org
    export GIT_COMMITTER_NAME=M GIT_COMMITTER_EMAIL=m@example.org
    parents=$(for n in $(seq 300); do
      echo "-p $(git commit-tree -p HEAD -m side$n HEAD^{tree})"
    done)
    git reset -q --soft $(git commit-tree $parents -m wide HEAD^{tree})
    git reset -q --soft $(git commit-tree -p HEAD -m next HEAD^{tree})
    """

  // notes-doctor(1), --repair: "So are parents … that are too many … for other devices."
  @Test func `A version of too many parents is cut off, and other devices take the rest`() throws {
    try Self.sh(shell, "cd notes; \(Self.wide)")
    let told = try shell.notes("doctor", "--no-discovery")
    #expect(told.text.contains("is too large: it has 300 parents"), "\(told)")
    let repair = try shell.notes("doctor", "--repair", "--no-discovery")
    #expect(repair.isSuccess && repair.text.hasPrefix("Cut off version "), "\(repair)")
    #expect(try !shell.notes("doctor", "--no-discovery").text.contains("too large"))
    let home = try Notebook.open(at: shell.folder["notes"])
    let tip = try #require(try home.state().tip)
    let taken = try TemporaryFolder()
    let other = try Repository.create(at: taken.path)
    let pack = try home.repository.pack(wants: [tip], haves: [])
    let quarantine = try other.quarantine()
    while let piece = try pack.next() { try quarantine.append(piece) }
    #expect(try quarantine.join(promised: [tip]) > 300)
    #expect(try readFile(shell.folder["notes/Two.txt"]) == Array("two\n".utf8))
  }

  private static func sh(_ shell: Shell, _ script: String) throws {
    let result = try run(
      ["sh", "-ec", script], in: shell.folder.path, environment: shell.environment)
    try #require(result.isSuccess, "\(result)")
  }

  /// Begins what meets a conflict about One.txt.
  private static func conflict(_ shell: Shell, _ command: String) throws {
    try sh(
      shell,
      """
      cd notes; export GIT_AUTHOR_NAME=M GIT_AUTHOR_EMAIL=m@example.org
      export GIT_COMMITTER_NAME=M GIT_COMMITTER_EMAIL=m@example.org
      git checkout -q -b other; echo other > One.txt; git commit -q -a -m other
      git checkout -q main; echo main > One.txt; git commit -q -a -m main
      if \(command); then exit 9; fi
      """)
  }

  static let troubles: [Trouble] = [
    Trouble(
      name: "a key that others may read", check: "device_key", level: .problem,
      says: "other users may read it"
    ) { try sh($0, "chmod 644 home/.local/share/notes/device-key.pem") },
    Trouble(
      name: "no key", check: "device_key", level: .problem, says: "there is no device key"
    ) { try sh($0, "mv home/.local/share/notes/device-key.pem key") },
    Trouble(
      name: "a key folder that others may write in", check: "device_key", level: .problem,
      says: "other users may replace the device key"
    ) { try sh($0, "chmod 777 home/.local/share/notes") },
    Trouble(
      name: "a missing note", check: "history", level: .problem, says: "One.txt is missing"
    ) {
      try sh($0, "cd notes; id=$(git rev-parse HEAD:One.txt)\nrm -f \(Self.path)")
    },
    Trouble(
      name: "a missing folder", check: "history", level: .problem, says: "is missing"
    ) { try sh($0, "cd notes; id=$(git rev-parse HEAD~1^{tree})\nrm -f \(Self.path)") },
    Trouble(
      name: "a damaged note", check: "history", level: .problem, says: ""
    ) {
      try sh(
        $0,
        "cd notes; id=$(git rev-parse HEAD:One.txt)\nchmod u+w \(Self.path)\n"
          + "other=$(printf 'other\\n' | git hash-object -w --stdin)\n"
          + "cp .git/objects/$(echo $other | cut -c1-2)/$(echo $other | cut -c3-) \(Self.path)")
    },
    Trouble(
      name: "a version of a million files", check: "history", level: .problem,
      says: "is too large: files and folders in a version: the limit is 2000000"
    ) { try sh($0, "cd notes; \(Self.plant)") },
    Trouble(
      name: "an interrupted checkout", check: "checkout", level: .problem, says: "was interrupted"
    ) {
      try sh(
        $0,
        "cd notes; mkdir -p .git/notes/checkout; (echo 1; git rev-parse HEAD~1 HEAD) "
          + "> .git/notes/checkout/journal")
    },
    Trouble(
      name: "a merge in conflict", check: "git", level: .problem,
      says: "a git merge is in progress, in conflict about One.txt"
    ) { try conflict($0, "git merge -q other") },
    Trouble(
      name: "a rebase in conflict", check: "git", level: .problem,
      says: "a git rebase is in progress, in conflict about One.txt"
    ) { try conflict($0, "git rebase -q other") },
    Trouble(
      name: "a cherry-pick in conflict", check: "git", level: .problem,
      says: "a git cherry-pick is in progress, in conflict about One.txt"
    ) { try conflict($0, "git cherry-pick other") },
    Trouble(
      name: "a stash in conflict", check: "git", level: .problem,
      says: "git could not merge One.txt; until somebody merges them, nothing is saved"
    ) {
      try conflict(
        $0, "echo stashed > One.txt; git stash -q; git reset -q --hard other; git stash pop")
    },
    Trouble(
      name: "grafts", check: "git", level: .problem, says: "versions with wrong parents"
    ) { try sh($0, "cd notes; git rev-parse HEAD > .git/info/grafts") },
    Trouble(
      name: "a replaced object", check: "git", level: .problem, says: "(refs/replace)"
    ) { try sh($0, "cd notes; git replace HEAD:One.txt HEAD:Two.txt; git pack-refs --all") },
    Trouble(
      name: "a device that merges differently", check: "agreement", level: .problem,
      says: "laptop merges the same versions differently: it shows 2222222222 by rules 2"
    ) {
      try sh(
        $0,
        "cd notes/.git/notes; mkdir differing; "
          + "id=$(sed -n 's/^device-id //p' notebook); tip() { printf %40s | tr ' ' $1; }\n"
          + "printf 'tip %s\\nrules 1\\npeer-tip %s\\npeer-rules 2\\n' $(tip 1) $(tip 2) "
          + "> differing/$id")
    },
    Trouble(
      name: "a single admin", check: "membership", level: .advice, says: "only laptop is an admin"
    ) { shell in
      let store = try MembershipStore.open(in: shell.folder["notes/.git/notes/membership"])
      let founder = try #require(try DeviceKey.load(in: shell.folder["home/.local/share/notes"]))
      let key = try DeviceKey.random()
      _ = try store.issue(
        for: CertificateRequest(name: "phone", key: key), role: .writer, by: founder)
    },
    Trouble(
      name: "no certificates", check: "membership", level: .problem,
      says: "the notebook has no certificates"
    ) { try sh($0, "rm -r notes/.git/notes/membership") },
    Trouble(
      name: "another notebook's certificates", check: "membership", level: .problem,
      says: "belong to another notebook"
    ) { try sh($0, "sed -i -e 's/^id x/id y/; t' -e 's/^id ./id x/' notes/.git/notes/notebook") },
    Trouble(
      name: "an authority of the page that others may read", check: "page", level: .problem,
      says: "page-authority.pem cannot be used: other users may read it"
    ) { shell in
      try authority("desk.local", in: shell)
      try sh(shell, "chmod 640 home/.local/share/notes/page-authority.pem")
    },
    Trouble(
      name: "an authority of the page that is none", check: "page", level: .problem,
      says: "it does not contain the key and certificates of an authority"
    ) { try sh($0, "umask 077; echo x > home/.local/share/notes/page-authority.pem") },
    Trouble(
      name: "an authority of another name", check: "page", level: .advice,
      says: "the page's certificate authority is for another-name.local, but this machine is now "
        + "called "
    ) { try authority("another-name.local", in: $0) },
    Trouble(
      name: "an authority made by a wrong clock", check: "page", level: .problem,
      says: "browsers reject the page's certificate authority"
    ) { try authority(WebNetwork.ofThisMachine().name ?? "x", in: $0, now: 4_000_000_000) },
    Trouble(
      name: "an authority that has ended", check: "page", level: .problem,
      says: "browsers reject the page's certificate authority"
    ) { try authority(WebNetwork.ofThisMachine().name ?? "x", in: $0, now: 1_000_000_000) },
    Trouble(
      name: "guests that cannot be read", check: "page", level: .problem,
      says: "cannot read the list of guests"
    ) { try sh($0, "mkdir notes/.git/notes/guests; chmod 700 notes/.git/notes/guests") },
    Trouble(
      name: "guests that others may write", check: "page", level: .problem,
      says: "no guest has access, because other users can write in"
    ) { try sh($0, "touch notes/.git/notes/guests; chmod 622 notes/.git/notes/guests") },
    Trouble(
      name: "names that meet", check: "names", level: .advice,
      says: "'Caf\u{E9}.txt' and 'cafe\u{301}.txt' are one name"
    ) { shell in
      try shell.folder.write("1\n", to: "notes/Caf\u{E9}.txt")
      try shell.folder.write("2\n", to: "notes/cafe\u{301}.txt")
      try #require(try shell.notes("save").isSuccess)
    },
    Trouble(
      name: "a version from the future", check: "clock", level: .problem, says: "from 2999-"
    ) { shell in
      try sh(
        shell,
        "cd notes; GIT_AUTHOR_DATE='@32472144000 +0000' GIT_COMMITTER_DATE='@32472144000 +0000' "
          + "git -c user.name=x -c user.email=x commit -q --allow-empty -m future")
    },
    Trouble(
      name: "a link among the notes", check: "size", level: .advice, says: "is not versioned"
    ) { try sh($0, "mkfifo notes/pipe.txt") },
    Trouble(
      name: "a name with a line break", check: "size", level: .advice, says: "give it another name"
    ) { try sh($0, "touch \"notes/a\nb.txt\"") },
  ]

  private static func authority(
    _ name: String, in shell: Shell, now: Int64 = Int64(time(nil))
  ) throws {
    _ = try PageAuthority.loadOrCreate(
      in: shell.folder["home/.local/share/notes"], hostName: name, now: now)
  }

  /// The file of the loose object `$id`, in a shell.
  private static let path = ".git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-)"

  @Test(arguments: troubles) func `What is broken is found`(trouble: Trouble) throws {
    // Loose objects, so that one can be broken alone.
    let unpack = "cd notes; for p in .git/objects/pack/*.pack; do [ -e $p ] || continue; "
    try Self.sh(
      shell,
      unpack + "mv $p .git/p; rm -f .git/objects/pack/*; git unpack-objects -q < .git/p; done")
    try trouble.make(shell)
    let result = try shell.notes("doctor", "--no-discovery", "--json")
    #expect(result.status == .exited(trouble.level == .problem ? 1 : 0), "\(result)")
    let line = result.lines.first {
      $0.contains(#""check":"\#(trouble.check)","state":"\#(trouble.level.rawValue)""#)
    }
    #expect(line?.contains(trouble.says) == true, "\(result)")
    #expect(line?.contains(#""remedy":null"#) == false)
    let others = result.lines.filter { $0.contains(#""state":"problem""#) && $0 != line }
    #expect(others.isEmpty)
  }

  // notes-doctor(1), lock files.
  @Test
  func
    `A lock file that a killed program left is named, and says what it keeps from being written`()
    throws
  {
    let names = ["index.lock", "config.lock", "packed-refs.lock", "refs/heads/main.lock"]
    for name in names { try shell.folder.write("", to: "notes/.git/" + name) }
    var context = CheckContext(
      notebook: try Notebook.open(at: shell.folder["notes"]), knownDataFolder: shell.folder.path)
    #expect(Check.locks.findings(in: context) == .good("no lock file was left behind"))
    context.now += 61
    let told = Check.locks.findings(in: context)
    #expect(told.count == names.count && told.allSatisfy { $0.level == .problem })
    for name in names { #expect(told.contains { $0.remedy?.hasSuffix("rm .git/\(name)") == true }) }

    let add = try shell.notes("remote", "add", "home", shell.folder["hub.git"])
    #expect(
      add.status == .exited(1) && add.errorText.contains("has locked .git/config.lock"), "\(add)")
    #expect(add.errorText.contains("rm .git/config.lock"))
  }
}
