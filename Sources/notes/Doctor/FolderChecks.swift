internal import Exchange
internal import Git
internal import Glibc
internal import History
internal import Membership
internal import Notebook
internal import System
internal import WorkTree

extension Check {
  private static let joinAgain =
    "'git fsck' shows more; another device has the notes: join again in a new folder"
  private static let ask = "'notes sync' asks the other devices and hubs for it"

  static let history = Check(name: "history", title: "history", remedy: joinAgain) { context in
    let repository = context.notebook.repository
    do {
      try repository.checkIsComplete()
    } catch GitError.incomplete(let gap, let remote) {
      return .problem(
        "\(GitError.incomplete(gap, remote: remote))",
        remedy: gap.remedy(remote: Visible.word(remote)))
    }
    let head = try repository.head()
    if head.commit == nil, let other = try repository.references(under: "refs/heads/").first {
      let branch = Visible.name(String(other.name.dropFirst("refs/heads/".count)))
      return .problem(
        "the branch \(Visible.name(head.branch ?? "")) that .git/HEAD names has no versions, "
          + "and \(branch) has",
        remedy: "'git symbolic-ref HEAD refs/heads/\(branch)' returns to it; otherwise the next "
          + "save begins the other branch with the last version that the folder showed")
    }
    let unknown = try CommitGraph(of: repository).unknownCommits()
    if unknown > 0 {
      return .problem(
        "git's commit-graph names \(Phrase.count(unknown, "version")) that \(unknown == 1 ? "is" : "are") "
          + "not here",
        remedy: "'notes doctor --repair' removes it; git makes a new one")
    }
    let report = try context.notebook.history.checkIntegrity()
    let versions = Phrase.count(report.versions, "version")
    let cuts = report.oversized.prefix(5).flatMap { version in
      [Finding].problem(
        "version \(version.id.short) is too large: \(Visible.name(version.what))",
        remedy: "'notes doctor --repair' removes it from the history; your notes stay as they are")
    }
    if report.damages.isEmpty, cuts.isEmpty {
      return .good(
        report.isComplete ? "\(versions), all intact" : "the newest \(versions) are intact")
    }
    if !report.missing.isEmpty { context.notebook.record(missing: report.missing) }
    return cuts
      + report.damages.prefix(5).flatMap { damage in
        [Finding].problem(
          "\(damage.id.short): \(Visible.name(damage.what))",
          remedy: report.missing.contains(damage.id) ? ask : joinAgain)
      }
  }

  static let merges = Check(
    name: "merges", title: "merges", remedy: "'notes show' shows what a version changed"
  ) { context in
    let notebook = context.notebook
    let proofs = VersionProofs(in: notebook)
    defer { proofs.remember() }
    var (checked, unchecked) = (0, 0)
    var findings: [Finding] = []
    guard let tip = try notebook.state().tip else { return .good("none yet") }
    for id in try notebook.repository.commits(from: [tip]).reversed() {
      if checked + unchecked + findings.count >= 10_000 { break }
      switch try proofs.merges.verdict(on: notebook.repository.commit(id)) {
      case nil: continue
      case .asComputed: checked += 1
      case .unchecked: unchecked += 1
      case .altered(let altered):
        let who = try altered.endorsedBy.map {
          "; \(SharedNames().shown(try proofs.author(of: $0))) vouches for it"
        }
        findings += .advice(
          "merge \(id.short) contains text that none of its versions has\(who ?? "")",
          remedy: "'notes show \(id.short)' shows it")
      }
    }
    if !findings.isEmpty { return Array(findings.prefix(10)) }
    let rest = unchecked > 0 ? ", \(Phrase.count(unchecked, "merge")) not checked yet" : ""
    return .good("\(Phrase.count(checked, "merge")) as computed" + rest)
  }

  static let interruption = Check(
    name: "checkout", title: "files", remedy: "run 'notes status'"
  ) { context in
    guard try context.notebook.status().isInterrupted else {
      return .good("no update was interrupted")
    }
    return .problem(
      "bringing the folder to the newest version was interrupted",
      remedy: "nothing is lost: 'notes save' finishes it")
  }

  /// The age from which a lock file counts as stale, in seconds.
  private static let lockAge: Int64 = 60

  static let locks = Check(
    name: "locks", title: "lock files", remedy: "run 'notes status'"
  ) { context in
    let found = try context.notebook.lockFiles(olderThan: lockAge, now: context.now)
    if found.isEmpty { return .good("no lock file was left behind") }
    return found.prefix(10).flatMap { name in
      [Finding].problem(
        "git or another program has locked .git/\(Visible.name(name)) for over a minute",
        remedy: "if no such program is running, the one that locked it was killed: "
          + "rm \(Visible.word(".git/" + name))")
    }
  }

  static let fileSystem = Check(
    name: "file_system", title: "file system",
    remedy: "make the folder writable, and keep it on a local disk if possible"
  ) { context in
    let abilities = try context.notebook.workTree.fileSystemAbilities()
    var findings: [Finding] = []
    if !abilities.swapsFiles {
      findings += .problem(
        "the file system cannot swap two files in one step",
        remedy: "keep the notebook on a local disk: ext4, xfs, btrfs")
    }
    if !abilities.hasLeases {
      findings += .advice(
        "the file system does not show which programs have a file open, so a sync may overwrite a "
          + "note that an editor saves at that moment",
        remedy: "keep the notebook on a local disk, or close your editors before a sync")
    }
    if !abilities.tellsCaseApart || !abilities.tellsFormsApart {
      findings += .advice(
        "the file system does not distinguish names that differ only by case or Unicode form",
        remedy: "give notes names that differ in more than that")
    }
    return findings.isEmpty ? .good("swaps files, distinguishes names, has leases") : findings
  }

  static let names = Check(name: "names", title: "names", remedy: "run 'notes save'") { context in
    let groups = try context.notebook.history.collidingPaths()
    if groups.isEmpty { return .good("no two names clash on any system") }
    return groups.prefix(5).flatMap { group in
      let names = Phrase.list(group.map { "'\(Visible.name($0))'" })
      return [Finding].advice(
        "\(names) are one name on some systems", remedy: "rename all except one with 'notes mv'")
    }
  }

  static let size = Check(name: "size", title: "size", remedy: "run 'notes status'") { context in
    let free = try context.notebook.workTree.fileSystemAbilities().freeBytes
    var findings: [Finding] = []
    // A save needs space for the versions; a checkout needs space for a second copy of each file.
    if free < 100 << 20 {
      findings += .problem(
        "only \(Phrase.bytes(free)) are free on the disk", remedy: "free disk space")
    }
    let status = try context.notebook.status()
    for name in status.hardLinks.prefix(5).map({ Visible.name($0) }) {
      findings += .advice(
        "\(name) has a second name on this disk, which will keep the old text when another device "
          + "edits the note",
        remedy: "replace the second name by a copy of the note, or a symbolic link to it")
    }
    for file in status.skipped.prefix(5) {
      let remedy =
        switch file.reason {
        case .cut: file.remedy
        case .unfitName: "give it another name"
        case .converted: Failure.convertedByGit
        case .deletedElsewhere: file.remedy
        case let reason where reason.isVersioned: file.remedy
        default: "move it elsewhere, or name it in .gitignore"
        }
      let isVersioned = file.reason.isVersioned
      let name = Visible.name(file.path)
      findings += .advice(
        isVersioned ? file.absence : "\(name) is not versioned: \(file.reason.words)",
        remedy: remedy)
    }
    guard findings.isEmpty else { return findings }
    let notes = try context.notebook.history.noteCount()
    return .good("\(Phrase.count(notes, "note")); \(Phrase.bytes(free)) free")
  }

  private static let raiseWatches = "raise fs.inotify.max_user_watches with sysctl(8)"

  /// Checks that a watcher can be notified of every change at once: inotify(7), "/proc interfaces".
  static let watches = Check(name: "watches", title: "watches", remedy: raiseWatches) { context in
    let folders = try context.notebook.workTree.versionedFolders(below: "").count
    // One watch for each folder, and those inside `.git`.
    let needed = folders + 5
    guard let watches = inotifyLimit("max_user_watches"),
      let instances = inotifyLimit("max_user_instances")
    else { return .good("no limit is known") }
    if watches < needed {
      return .advice(
        "the user may watch \(Phrase.number(watches)) folders, "
          + "and the notebook needs \(Phrase.number(needed)): "
          + "'notes watch' scans it every 20 s instead", remedy: raiseWatches)
    }
    let descriptor = inotify_init1(Int32(IN_CLOEXEC))
    if descriptor < 0 {
      return .advice(
        "programs of the user use all \(Phrase.number(instances)) inotify instances",
        remedy: "raise fs.inotify.max_user_instances with sysctl(8)")
    }
    close(descriptor)
    return .good("needs \(Phrase.number(needed)) of \(Phrase.number(watches)) allowed")
  }

  private static func inotifyLimit(_ name: String) -> Int? {
    guard let digits = Disk.contentIfAny("/proc/sys/fs/inotify/" + name) else { return nil }
    return Int(String(decoding: digits.prefix { $0 > 32 }, as: UTF8.self))
  }
}
