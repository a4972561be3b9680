public import Git
internal import History
public import State
internal import System
internal import WorkTree

/// Objects that the history needs and the repository lacks, as far as this was noticed: `.git/notes/missing`.
/// Sessions ask the other devices and hubs for them: notes-protocol(7), "Missing objects".
public struct MissingObjects: Sendable {
  private let path: String

  /// How many are recorded: one is enough to ask for all.
  private static let most = 20

  /// The record in this state folder.
  public init(stateFolder: StateFolder) { path = stateFolder[.missing] }

  /// Lines `object ID`, and `asked DEVICE` for each device that was asked since the last object was
  /// added.
  private var lines: StateLines { Disk.memory(at: path) { $0 } ?? StateLines() }

  private func values(_ key: String) -> [String] { lines.values(of: key) }

  private func write(_ ids: [ObjectID], asked: [String]) {
    var lines = StateLines()
    for id in ids.prefix(Self.most) { lines.append("object", id.hex) }
    for device in asked { lines.append("asked", device) }
    // If the file cannot be written, the objects are noticed again later.
    try? Disk.replace(path, with: lines.bytes, isShared: true, waits: false)
  }

  /// The objects that are still missing; received ones are dropped from the record.
  public func all(in repository: Repository) throws -> [ObjectID] {
    let known = values("object").compactMap { ObjectID(hex: $0) }
    if known.isEmpty { return [] }
    let missing = try known.filter { try !repository.contains($0) }
    if missing.isEmpty { forget() }
    return missing
  }

  /// Records missing objects; if one is new, all devices are asked again.
  package func record(_ ids: [ObjectID]) {
    let known = values("object").compactMap { ObjectID(hex: $0) }
    let new = ids.filter { !known.contains($0) }
    if !new.isEmpty { write(new + known, asked: []) }
  }

  /// Whether an object is missing for which this device or hub has not been asked.
  package func isNews(for device: String) -> Bool {
    !values("object").isEmpty && !values("asked").contains(device)
  }

  /// Records that a device or hub has sent everything that it has.
  package func record(asked device: String) {
    let ids = values("object").compactMap { ObjectID(hex: $0) }
    if !ids.isEmpty { write(ids, asked: values("asked") + [device]) }
  }

  /// Records that nothing is missing.
  package func forget() { Disk.removeLeftover(path) }
}

extension Notebook {
  /// The objects that are known to be missing.
  public var missingObjects: MissingObjects { MissingObjects(stateFolder: stateFolder) }

  /// Runs `body`, which reads the history. If it fails because of a missing object, that object is
  /// recorded.
  package func recordingMissing<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch GitError.missing(let id) {
      missingObjects.record([id])
      throw GitError.missing(id)
    }
  }

  /// Records missing objects, so that the next sessions ask for them.
  public func record(missing ids: [ObjectID]) {
    missingObjects.record(ids)
    // A text that cannot be restored from the folder is recorded and asked for.
    try? restoreMissing()
  }

  /// Stores missing texts again that are still in the folder. If git's garbage collection removed a text
  /// between a save and the move of the branch, no other device has it.
  private func restoreMissing() throws {
    let missing = Set(try missingObjects.all(in: repository))
    if missing.isEmpty { return }
    let index = try workTree.indexFile()
    for position in 0..<index.count where missing.contains(index.id(at: position)) {
      let (path, id) = (index.path(at: position), index.id(at: position))
      guard
        case .read(let content) = try FileContent.read(
          path, in: folder, sizeLimit: workTree.sizeLimit),
        try repository.hash(blob: content.bytes) == id
      else { continue }
      _ = try repository.write(blob: content.bytes)
    }
    _ = try missingObjects.all(in: repository)
  }

  /// Looks for missing texts of the latest version, and records them: see `missingTexts`. Stores a missing text
  /// again if it is in the folder. Reports no unreadable text; a caller that needs it finds out itself.
  package func lookForMissingTexts() {
    // An unreadable index or branch counts as if no text were missing.
    let missing = try? missingTexts(in: workTree.indexFile(), of: repository.head())
    record(missing: missing ?? [])
  }

  /// The missing texts of the latest version. git-prune(1) may remove texts during a save, and nobody would
  /// notice until somebody reads them.
  func missingTexts(in index: IndexFile, of head: Head) throws -> [ObjectID] {
    guard let tip = head.commit else { return [] }
    let lacking = Set(try repository.lacking((0..<index.count).map { index.id(at: $0) }))
    if lacking.isEmpty { return [] }
    let tree = try repository.commit(tip).tree
    // The index may be newer or older than the version.
    return try (0..<index.count).filter { lacking.contains(index.id(at: $0)) }.compactMap {
      let entry = try repository.entry(at: index.path(at: $0), in: tree)
      return entry?.mode != .submodule && entry?.id == index.id(at: $0) ? entry?.id : nil
    }.eachOnce
  }

  /// Searches the whole history for missing objects, and records them.
  ///
  /// - Returns: the first few; empty if nothing is missing.
  package func lookForMissing() throws -> [ObjectID] {
    var missing = try history.missingObjects()
    if !missing.isEmpty {
      record(missing: missing)
      missing = try history.missingObjects()
    }
    if missing.isEmpty { missingObjects.forget() } else { missingObjects.record(missing) }
    return missing
  }
}
