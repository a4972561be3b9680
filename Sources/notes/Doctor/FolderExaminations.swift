internal import Git
internal import History
internal import Notebook
internal import WorkTree

extension Examination {
  /// The file system can do what keeps notes whole.
  static let fileSystem = Examination(
    name: "file_system", title: "file system",
    remedy: "the folder must be writable; a local disk serves best"
  ) { patient in
    let abilities = try patient.notebook.workTree.fileSystemAbilities()
    var findings: [Finding] = []
    if !abilities.swapsFiles {
      findings.append(
        .problem(
          "the file system cannot swap two files in one step",
          remedy: "keep the notebook on a local disk: ext4, xfs, btrfs"))
    }
    if !abilities.hasLeases {
      findings.append(
        .advice(
          "the file system does not tell who has a file open, so a late save may go unnoticed",
          remedy: "keep the notebook on a local disk, or close notes before a sync"))
    }
    if !abilities.tellsCaseApart || !abilities.tellsFormsApart {
      findings.append(
        .advice(
          "the file system takes names that differ only by case or Unicode form for one",
          remedy: "give notes names that differ otherwise"))
    }
    return findings.isEmpty ? .good("swaps files, tells names apart, has leases") : findings
  }

  /// No two files have names that meet on other systems.
  static let names = Examination(name: "names", title: "names", remedy: "run 'notes save'") {
    patient in
    let groups = try patient.notebook.history.collidingPaths()
    if groups.isEmpty { return .good("no two meet on any system") }
    return groups.prefix(5).map { group in
      .advice(
        "\(Phrase.list(group.map { "'\(Visible.name($0))'" })) are one name on some systems",
        remedy: "rename all but one")
    }
  }

  /// There is room, and nothing that is left out unnoticed.
  static let size = Examination(name: "size", title: "size", remedy: "run 'notes status'") {
    patient in
    let free = try patient.notebook.workTree.fileSystemAbilities().freeBytes
    var findings: [Finding] = []
    // A save needs room for the versions and, in a checkout, for every file twice.
    if free < 100 << 20 {
      findings.append(
        .problem("only \(Phrase.bytes(free)) are free on the disk", remedy: "make room"))
    }
    for file in try patient.notebook.status().skipped.prefix(5) {
      if file.reason == .sparse {
        findings.append(
          .advice(
            "\(Visible.name(file.path)) is not in this folder: \(file.reason.words)",
            remedy: "rename it: 'notes mv OLD NEW'"))
        continue
      }
      findings.append(
        .advice(
          "\(Visible.name(file.path)) is not versioned: \(file.reason.words)",
          remedy: "move it elsewhere, or name it in .gitignore"))
    }
    guard findings.isEmpty else { return findings }
    let notes = try patient.notebook.history.noteCount()
    return .good("\(Phrase.count(notes, "note")); \(Phrase.bytes(free)) free")
  }
}

extension Examination {
  /// A watcher can be told of every change at once.
  static let watches = Examination(
    name: "watches", title: "watches",
    remedy: "raise fs.inotify.max_user_watches with sysctl(8)"
  ) { patient in
    let folders = try patient.notebook.workTree.versionedFolders(below: "").count
    let needed = folders + WatchLimits.own
    guard let limits = WatchLimits.present else { return .good("no limit is known") }
    if limits.watches < needed {
      return .advice(
        "the user may watch \(Phrase.number(limits.watches)) folders "
          + "and the notebook needs \(Phrase.number(needed)): "
          + "'notes watch' looks through it every 20 s instead",
        remedy: "raise fs.inotify.max_user_watches with sysctl(8)")
    }
    if limits.isExhausted {
      return .advice(
        "programs of the user hold all \(Phrase.number(limits.instances)) inotify instances",
        remedy: "raise fs.inotify.max_user_instances with sysctl(8)")
    }
    return .good(
      "\(Phrase.number(needed)) of \(Phrase.number(limits.watches)) that the user may have")
  }
}
