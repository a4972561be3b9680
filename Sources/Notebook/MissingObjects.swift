public import Git
internal import History
public import State
internal import System
internal import WorkTree

/// Objects that the history needs and that are not here, as far as somebody has come upon them:
/// `.git/notes/missing`. Sessions ask the other devices and hubs for them: notes-protocol(7), "Missing objects".
public struct MissingObjects: Sendable {
  private let path: String

  /// How many are remembered: one is enough to ask for all.
  private static let most = 20

  /// Those of the notebook with this state folder.
  public init(stateFolder: StateFolder) { path = stateFolder[.missing] }

  /// Lines of `object ID`, and of `asked DEVICE` for who was asked since the last one was found.
  private var lines: StateLines { Disk.memory(at: path) { $0 } ?? StateLines() }

  private func values(_ key: String) -> [String] { lines.values(of: key) }

  private func write(_ ids: [ObjectID], asked: [String]) {
    var lines = StateLines()
    for id in ids.prefix(Self.most) { lines.append("object", id.hex) }
    for device in asked { lines.append("asked", device) }
    // It is found anew where it cannot be kept.
    try? Disk.replace(path, with: lines.bytes, isShared: true, waits: false)
  }

  /// Those that are missing still; what came meanwhile is forgotten.
  public func all(in repository: Repository) throws -> [ObjectID] {
    let known = values("object").compactMap { ObjectID(hex: $0) }
    if known.isEmpty { return [] }
    let missing = try known.filter { try !repository.contains($0) }
    if missing.isEmpty { forget() }
    return missing
  }

  /// Keeps that objects are missing; whoever was asked is asked again where one is new.
  package func record(_ ids: [ObjectID]) {
    let known = values("object").compactMap { ObjectID(hex: $0) }
    let new = ids.filter { !known.contains($0) }
    if !new.isEmpty { write(new + known, asked: []) }
  }

  /// Whether something is missing that this device or hub was not asked for.
  package func isNews(for device: String) -> Bool {
    !values("object").isEmpty && !values("asked").contains(device)
  }

  /// Keeps that a device or hub has sent all that it has.
  package func record(asked device: String) {
    let ids = values("object").compactMap { ObjectID(hex: $0) }
    if !ids.isEmpty { write(ids, asked: values("asked") + [device]) }
  }

  /// Nothing is missing.
  package func forget() { Disk.removeLeftover(path) }
}

extension Notebook {
  /// The objects that are known to be missing.
  public var missingObjects: MissingObjects { MissingObjects(stateFolder: stateFolder) }

  /// Does something with the history. Keeps which object is missing, where that is why it failed.
  package func recordingMissing<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch GitError.missing(let id) {
      missingObjects.record([id])
      throw GitError.missing(id)
    }
  }

  /// Keeps that objects are missing, so that the next sessions ask for them.
  public func record(missing ids: [ObjectID]) {
    missingObjects.record(ids)
    // A text that cannot be restored from the folder is asked for, as noted.
    try? restoreMissing()
  }

  /// Stores the missing texts anew that stand in the folder as the history needs them: what a collection of
  /// git's took away between a save and the move of the branch nobody else has.
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

  /// Looks for texts of the latest version that are not here, and keeps that: see `missingTexts`. A missing
  /// text that is in the folder is stored again. A caller that needs an unreadable text finds that out itself.
  package func lookForMissingTexts() {
    // As above: a caller that needs an unreadable text finds that out itself.
    let missing = try? missingTexts(in: workTree.indexFile(), of: repository.head())
    record(missing: missing ?? [])
  }

  /// The texts of the latest version that are not here. git-prune(1) may take them while they are saved; nothing
  /// else reads them before somebody wants them.
  func missingTexts(in index: IndexFile, of head: Head) throws -> [ObjectID] {
    guard let tip = head.commit else { return [] }
    let lacking = Set(try repository.lacking((0..<index.count).map { index.id(at: $0) }))
    if lacking.isEmpty { return [] }
    let tree = try repository.commit(tip).tree
    // The index may be ahead of the version, or behind it.
    return try (0..<index.count).filter { lacking.contains(index.id(at: $0)) }.compactMap {
      let entry = try repository.entry(at: index.path(at: $0), in: tree)
      return entry?.mode != .submodule && entry?.id == index.id(at: $0) ? entry?.id : nil
    }.eachOnce
  }

  /// Looks through the whole history for what is missing, and keeps that.
  ///
  /// - Returns: the first few; none where all is there.
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
