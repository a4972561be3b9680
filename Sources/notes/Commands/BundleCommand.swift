internal import ArgumentParser
internal import Exchange
internal import Git
internal import Glibc
internal import History
internal import Membership
internal import Notebook
internal import System

struct BundleCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "bundle", abstract: "Carry versions in a file, on a stick or through a pipe.",
    discussion: """
      A bundle is a file in git's format with versions and the list of members. It reaches the \
      other device on a stick, by mail or through a pipe. It is not encrypted: anyone who has it \
      can read the notes in it.

      Examples:
        notes bundle create /media/stick/notes.bundle
        notes bundle apply /media/stick/notes.bundle
        notes bundle create - --since pi | ssh pi notes -C notes bundle apply -
      """, subcommands: [BundleCreateCommand.self, BundleApplyCommand.self])

  @OptionGroup var options: FolderOption

  func run() throws {
    throw Failure.usage(
      "say what to do with a bundle", hint: "run 'notes bundle create' or 'notes bundle apply'")
  }
}

struct BundleCreateCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Write versions into a bundle.",
    discussion: """
      Saves the changes in the folder, and writes the whole history, or with --since only the \
      versions that the reader lacks. 'git bundle verify' checks the bundle, and 'git clone FILE' \
      reads the notes from it.

      Examples:
        notes bundle create notes.bundle
        notes bundle create --since phone for-the-phone.bundle
        notes bundle create --since yesterday - | ssh pi notes -C notes bundle apply -
      """)

  @Argument(
    help: .named("file", "A new file; '-' is standard output."), completion: .file())
  var file: String

  @Option(
    help: .named(
      "point",
      "Leave out the versions that this device or hub has, or those up to a version or "
        + "time."),
    completion: LiveCompletion.peers)
  var since: String?

  @OptionGroup var options: CommonOptions

  func run() throws {
    let isPiped = file == "-"
    if isPiped, options.json {
      throw Failure.usage(
        "--json and a bundle cannot both go to standard output", hint: "write it into a file")
    }
    if isPiped, isatty(STDOUT_FILENO) == 1 {
      throw Failure.usage(
        "a terminal cannot show a bundle", hint: "name a file, or send it through a pipe")
    }
    let notebook = try NotebookLocator.notebook()
    let place = isPiped ? nil : try NewFile(named: file, outside: notebook)
    let context = try notebook.sessionContext()
    _ = try DeletionOption.foundBefore { try notebook.autosave() }
    let known = try since.map { try KnownThere(named: $0, in: notebook, context) }
    let bundle = try Self.bundle(of: notebook, for: context, since: known?.commits ?? [])
    _ = try Interruption.token()
    let bytes = try write(bundle, to: place)
    let object: JSON = [
      "type": "bundled", "file": place?.path, "tip": bundle.tip, "since": bundle.since.map(\.hex),
      "versions": bundle.versions, "bytes": bytes,
    ]
    var sentence =
      bundle.versions == 0
      ? "Wrote only the list of members, no version"
      : "Wrote \(Phrase.count(bundle.versions, "version"))"
    sentence += " (\(Phrase.bytes(bytes))) to \(isPiped ? "standard output" : Visible.name(file))"
    if let known { sentence += ", for \(known.words)" }
    if isPiped { return Output.errors.line(sentence) }
    options.tell(object, sentence)
  }

  /// Makes a bundle. If it fails because this device is a reader, the error names the admins.
  private static func bundle(
    of notebook: Notebook, for context: SessionContext, since commits: [ObjectID]
  ) throws -> NewBundle {
    do {
      return try NewBundle(of: notebook, for: context, since: commits)
    } catch BundleError.reader {
      var failure = Failure(describing: BundleError.reader)
      failure.hint = OwnMembership(of: notebook).readerRemedy
      throw failure
    }
  }

  /// Writes the bundle to standard output, or to a file.
  private func write(_ bundle: NewBundle, to place: NewFile?) throws -> Int {
    try place?.write(bundle) ?? bundle.write(to: STDOUT_FILENO, path: "standard output")
  }
}

extension NewBundle {
  /// Writes the bundle to an open file, shows the progress, and returns the number of bytes.
  fileprivate func write(to descriptor: Int32, path: String) throws -> Int {
    let line = ProgressLine()
    defer { line.clear() }
    var bytes = 0
    return try write { piece in
      if Interruption.hasCome { throw Failure.interrupted }
      bytes += piece.count
      let (done, total) = (progress.done, Phrase.count(progress.total, "object"))
      line.show("writing \(Phrase.number(done)) of \(total), \(Phrase.bytes(bytes))")
      try FileSystem<BundleError>.write(piece, to: descriptor, path: path)
    }
  }
}

/// A file that a command makes. It appears complete and on the disk, or not at all, and never replaces another
/// file.
struct NewFile {
  let path: String
  private let name: String

  /// A path at which nothing exists, in a folder that does.
  ///
  /// - Parameter notebook: the notebook whose folder must not contain the path, if there is one
  ///   yet.
  init(named name: String, outside notebook: Notebook?) throws {
    self.name = name
    path = try NotebookLocator.folder(name)
    try notebook?.checkIsOutside(path, named: name)
    guard NotebookLocator.kind(of: path) == nil else { throw isThere }
    let folder = Disk.parent(of: path)
    if Counted.access(folder, W_OK) != 0 { throw Self.cannotWrite(name, in: folder, errno) }
  }

  /// The error for a file that cannot be made in a folder.
  private static func cannotWrite(_ name: String, in folder: String, _ code: Int32) -> Failure {
    let what = "cannot write \(Visible.name(name))"
    return code == ENOENT
      ? .system(what, errno: code, hint: "'mkdir -p \(Visible.word(folder))' makes the folder")
      : .system(what, errno: code)
  }

  private var isThere: Failure {
    Failure(
      .failed, "target_exists", "\(Visible.name(name)) already exists",
      hint: "nothing is overwritten: choose another name")
  }

  /// Writes a bundle, and returns the number of bytes.
  func write(_ bundle: NewBundle) throws -> Int {
    try write { try bundle.write(to: $0, path: path) }
  }

  /// Writes these bytes.
  func write(_ bytes: [UInt8]) throws {
    try write { try FileSystem<BundleError>.write(bytes, to: $0, path: path) }
  }

  private func write<Value>(_ fill: (Int32) throws -> Value) throws -> Value {
    let temporary = FileSystem<BundleError>.unique(beside: path)
    do {
      let descriptor = try FileSystem<BundleError>.open(
        temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
      defer { close(descriptor) }
      let value = try fill(descriptor)
      try FileSystem<BundleError>.sync(descriptor, path: path)
      guard try FileSystem<BundleError>.rename(temporary, toFree: path) else { throw isThere }
      try FileSystem<BundleError>.sync(folder: Disk.parent(of: path))
      return value
    } catch BundleError.file(_, temporary, let code) {
      unlink(temporary)
      throw Self.cannotWrite(name, in: Disk.parent(of: path), code)
    } catch {
      unlink(temporary)
      throw error
    }
  }
}

/// The versions that the receiver of a bundle already has.
private struct KnownThere {
  let commits: [ObjectID]
  /// The receiver, in words.
  let words: String

  /// A hub, the devices of a name, or anyone who has a version.
  init(named name: String, in notebook: Notebook, _ context: SessionContext) throws {
    let branch = try notebook.repository.head().branch ?? "HEAD"
    let hubs = try notebook.hubs().map(\.name).filter { $0 == name }
    let devices = context.membership.members().matches(of: name)
      .filter { $0.deviceID != context.key.deviceID }
    let places = hubs + devices.map(\.deviceID)
    guard !places.isEmpty else {
      let version = try Self.version(named: name, in: notebook.history)
      commits = [version.id]
      words = "whoever has version \(version.id.short)"
      return
    }
    commits = try places.compactMap {
      try notebook.repository.reference("refs/remotes/\($0)/\(branch)")
    }
    guard commits.count == places.count else {
      throw Failure(
        .failed, "never_met",
        "this device has never synced with \(Visible.name(name)), so --since cannot use it",
        hint: "leave out --since, or name a version or a time")
    }
    words = Visible.name(name)
  }

  /// The version with a name, or the last one by a time.
  private static func version(named name: String, in history: History) throws -> Commit {
    do {
      return try history.pastVersion(named: name)
    } catch {
      // If neither form of the name works, the first error is reported.
      guard let version = try? history.pastVersion(named: "@" + name) else { throw error }
      return version
    }
  }
}

struct BundleApplyCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "apply", abstract: "Merge the versions of a bundle.",
    discussion: """
      Saves the changes in the folder, then merges the versions of the bundle as 'notes sync' merges \
      those of a device. The file stays as it is.

      Examples:
        notes bundle apply /media/stick/notes.bundle
        ssh pi notes -C notes bundle create - | notes bundle apply -
      """)

  @Argument(help: .named("file", "The bundle; '-' is standard input."), completion: .file())
  var file: String

  @OptionGroup var deletions: DeletionOption
  @OptionGroup var accepted: AcceptanceOptions
  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let isPiped = file == "-"
    let place = isPiped ? nil : try NotebookLocator.folder(file)
    var run = BundleRun(context: try notebook.sessionContext())
    run.options.allowsMassDeletion = deletions.isAllowed
    run.options.allowsLarge = accepted.allowLarge
    run.options.allowsUnsigned = accepted.allowUnsigned
    defer { BackgroundGC.startIfDue(in: notebook) }
    let report = EventReport(json: options.json)
    defer { report.finish() }
    let result = try run.apply(
      place, named: isPiped ? "standard input" : file, cancellation: Interruption.token()
    ) { event in
      switch event {
      case .progress where !options.json, .replaced, .admitted: report.write(event)
      default: break
      }
    }
    report.finish()
    try notebook.keepMembership()
    let conflicts = try notebook.conflictReports()
    options.write([result.json(ofBundle: place, conflicts: conflicts)]) { terminal in
      result.text(on: terminal) + conflicts.summary
    }
    // The imported members may have removed this device.
    let ownMembership = OwnMembership(of: notebook)
    if ownMembership.isRemoved {
      ownMembership.warn()
      throw Exit.refusedByPeer
    }
    try (conflicts.isEmpty ? Exit.done : .conflictsToResolve).end()
  }
}

extension SessionResult {
  fileprivate func json(ofBundle file: String?, conflicts: [ConflictReport]) -> JSON {
    [
      "type": "applied", "file": file, "tip": tip, "bundle_tip": peerTip,
      "received_versions": receivedVersions, "received_bytes": receivedBytes,
      "conflicts": conflicts,
    ]
  }
}
