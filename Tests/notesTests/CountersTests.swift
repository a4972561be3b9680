import TestSupport
import Testing

/// `--stats`: notes-json(5), "stats". The bounds are what the program needs today, so that what makes it
/// slower fails here, without a clock.
@Suite(.timeLimit(.minutes(5))) struct CountersTests {
  private typealias Counts = [String: Int]

  private func shell(notes: Int) throws -> Shell {
    let shell = try Shell()
    for number in 0..<notes {
      try shell.folder.write(
        "note \(number)\n", to: "notes/folder \(number % 4)/note \(number).txt")
    }
    // What is as new as the index is read once more.
    let touch = ["find", shell.folder["notes"], "-exec", "touch", "-d", "1 hour ago", "{}", "+"]
    try #require(try run(touch).isSuccess)
    try shell.initialise()
    return shell
  }

  private func edit(_ shell: Shell, _ line: String = "one line") throws {
    try shell.folder.write("note 5\n\(line)\n", to: "notes/folder 1/note 5.txt")
  }

  /// Runs a command that tells its counters last.
  private func counts(
    _ shell: Shell, _ words: String..., below tracer: [String] = []
  ) throws -> Counts {
    let result = try run(
      tracer + [BuiltBinary.notes()] + words + ["--stats", "--json"], in: shell.folder["notes"],
      environment: shell.environment)
    try #require(result.isSuccess, "\(result)")
    let last = try #require(try JSONValue.lines(result.text).last)
    guard case .object(let fields) = last else { return [:] }
    #expect(fields["type"] == .string("stats"))
    return fields.compactMapValues { if case .number(let count) = $0 { Int(count) } else { nil } }
  }

  private func expect(
    _ counts: Counts, atMost bounds: Counts, _ location: SourceLocation = #_sourceLocation
  ) {
    for (name, bound) in bounds {
      #expect(
        counts[name, default: .max] <= bound, "\(name) of \(counts)", sourceLocation: location)
    }
  }

  @Test func `A status without changes opens no note and asks for each once`() throws {
    let (few, many) = try (counts(shell(notes: 200), "status"), counts(shell(notes: 300), "status"))
    // Two threads look at the folders, and each opens those that it meets.
    expect(
      many, atMost: ["read_files": 22, "written_files": 0, "syncs": 0, "opened_folders": 20])
    #expect(many["read_files"] == few["read_files"])
    expectOneEach(few, many)
  }

  /// A hundred notes more are a hundred questions more, give or take a folder's.
  private func expectOneEach(_ few: Counts, _ many: Counts) {
    let more = many["status_calls", default: 0] - few["status_calls", default: 0]
    #expect((95...105).contains(more), "\(few) \(many)")
  }

  @Test func `Saving a line costs alike in small and in large notebooks`() throws {
    let all = try [200, 300].map { count in
      let shell = try shell(notes: count)
      try edit(shell)
      return try counts(shell, "save")
    }
    for counts in all {
      expect(
        counts,
        atMost: [
          "read_files": 44, "written_files": 10, "opened_folders": 30, "syncs": 14,
          "writebacks": 8,
        ])
    }
    expectOneEach(all[0], all[1])
    #expect(all[1]["read_files"] == all[0]["read_files"])
  }

  /// How many bytes more each side sends where both have OpenSSL 3.5: its key exchange has a part, ML-KEM-768,
  /// that holds against quantum computers, with a key of 1,184 bytes and an answer of 1,088 (FIPS 203).
  private static func hybridBytes() throws -> Int {
    let version = try run(["openssl", "version"]).text.split { !$0.isNumber }.compactMap { Int($0) }
    let isHybrid = version.count > 1 && (version[0], version[1]) >= (3, 5)
    return isHybrid ? 1_200 : 0
  }

  @Test func `A line that is synced costs little on the wire and the disk`() throws {
    let hybrid = try Self.hybridBytes()
    let (ada, bob) = (try shell(notes: 200), try Shell())
    try bob.join(ada, as: "bob")
    let (server, port) = try ada.listening("serve")
    defer { withExtendedLifetime(server) {} }
    let words = ["sync", "--no-discovery", "--at", "127.0.0.1:\(port)"]
    let nothing = try counts(bob, words[0], words[1], words[2], words[3])
    expect(
      nothing,
      atMost: [
        "sent_bytes": 1550 + hybrid, "received_bytes": 1500 + hybrid, "round_trips": 4,
        "sent_objects": 0,
        "received_objects": 0, "syncs": 0, "written_files": 4, "read_files": 109,
        // The folder, which has 200 notes, is looked at once; each command that writes looks for a former
        // repository beside the notebook's, and for claims of the founder's place.
        "status_calls": 346,
      ])
    try edit(bob)
    let one = try counts(bob, words[0], words[1], words[2], words[3])
    // A version, its note, and the two folders that the note is in.
    #expect(one["sent_objects"] == 4)
    expect(
      one,
      atMost: [
        "sent_bytes": 2550 + hybrid, "received_bytes": 1850 + hybrid, "round_trips": 6,
        "received_objects": 0,
        "syncs": 18, "written_files": 17, "read_files": 178, "status_calls": 432,
      ])
    try edit(ada, "two lines")
    let back = try counts(bob, words[0], words[1], words[2], words[3])
    #expect(back["received_objects"] == 4)
    // It is not looked at again for the merge.
    expect(
      back,
      atMost: ["sent_bytes": 2000 + hybrid, "received_bytes": 2500 + hybrid, "status_calls": 512])
  }

  // It parses all the certificates of the system when it is loaded.
  @Test func `Syncing a line, and no news, needs no libgit2`() throws {
    let (ada, bob) = (try shell(notes: 20), try Shell())
    try bob.join(ada, as: "bob")
    let (server, port) = try ada.listening("serve")
    defer { withExtendedLifetime(server) {} }
    let trace = bob.folder["trace"]
    try makeFolder(trace)
    bob.environment.merge(["LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": trace + "/x"]) { $1 }
    for turn in 0..<2 {
      if turn == 1 { try edit(bob) }
      _ = try counts(bob, "sync", "--no-discovery", "--at", "127.0.0.1:\(port)")
    }
    let loaded = try run(["grep", "-rhoE", "(libgit2|libssl)[.]so", trace]).lines
    #expect(loaded.contains("libssl.so") && !loaded.contains("libgit2.so"))
  }

  // Each has a note and its versions to read; the list of files is read once for all.
  @Test func `A conflict more reads no list of files again`() throws {
    let all = try [10, 40].map { count in
      let (ada, bob) = (try shell(notes: 50), try Shell())
      try bob.join(ada, as: "bob")
      for (device, text) in [(ada, "of ada"), (bob, "of bob")] {
        for number in 0..<count {
          try device.folder.write(
            "\(text)\n", to: "notes/folder \(number % 4)/note \(number).txt")
        }
      }
      let (server, port) = try ada.listening("serve")
      defer { withExtendedLifetime(server) {} }
      _ = try bob.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)")
      #expect(try JSONValue.lines(bob.notes("conflicts", "--json").text).count == count)
      return try counts(bob, "status")
    }
    let more = all[1]["read_files", default: 0] - all[0]["read_files", default: 0]
    #expect((30...95).contains(more), "\(all)")
  }

  @Test func `A first sync tells what came`() throws {
    let (ada, bob) = (try shell(notes: 20), try Shell())
    let invitation = try ada.invite()
    let result = try bob.notes(
      "join", "--code-file", "-", bob.folder["notes"], "--yes", "--name", "bob", "--at",
      "127.0.0.1:\(invitation.port)", "--stats", in: ".", input: invitation.code + "\n")
    #expect(result.isSuccess, "\(result)")
    // A version, 20 notes, 4 folders and theirs.
    #expect(result.errorText.contains("objects sent 0, received 26"), "\(result)")
    _ = try invitation.process.wait()
  }

  /// What the kernel was asked for below the device's folders, as strace(1) saw it.
  @Test(arguments: ["status", "save"])
  func `The counters are those of the kernel`(command: String) throws {
    let shell = try shell(notes: 20)
    try edit(shell)
    let trace = shell.folder["trace"]
    let calls =
      "open,openat,stat,lstat,fstat,newfstatat,access,faccessat,faccessat2,fsync,fdatasync,"
    let told = try counts(
      shell, command,
      below: ["strace", "-f", "-y", "-o", trace, "-e", "trace=\(calls)syncfs,sync_file_range"])
    let lines = String(decoding: try readFile(trace), as: UTF8.self).split(separator: "\n")
      // Of the dynamic loader's calls the folder is shown where they begin.
      .map { $0.replacing(/AT_FDCWD<[^>]*>/, with: "AT_FDCWD") }
      // The C library asks what a folder is that it is to list.
      .filter { line in
        // The settings of git for the whole system are read, too.
        [shell.folder.path, "/boot_id", "/etc/gitconfig", "/etc/gitattributes"].contains {
          line.contains($0)
        }
      }
      .filter {
        !$0.contains("\"\", {st_mode=S_IFDIR")
          && !$0.contains(/fstat\(\d+<[^>]*>, {st_mode=S_IFDIR/)
      }
    func count(_ names: [String], where condition: (Substring) -> Bool = { _ in true }) -> Int {
      lines.count { line in
        names.contains { line.contains(" \($0)(") || line.hasPrefix("\($0)(") } && condition(line)
      }
    }
    let opens = ["open", "openat"]
    func isOpened(_ line: Substring) -> Bool { !line.contains(" = -1 ") }
    #expect(
      told["read_files"]
        == count(opens) { isOpened($0) && $0.contains("O_RDONLY") && !$0.contains("O_DIRECTORY") })
    #expect(
      told["written_files"]
        == count(opens) { isOpened($0) && ($0.contains("O_WRONLY") || $0.contains("O_RDWR")) })
    #expect(told["opened_folders"] == count(opens) { isOpened($0) && $0.contains("O_DIRECTORY") })
    #expect(told["syncs"] == count(["fsync", "fdatasync", "syncfs"]))
    #expect(told["writebacks"] == count(["sync_file_range"]))
    #expect(
      told["status_calls"]
        == count(["stat", "lstat", "fstat", "newfstatat", "access", "faccessat", "faccessat2"]))
  }
}
