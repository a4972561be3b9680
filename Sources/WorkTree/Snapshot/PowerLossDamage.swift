package import Git
internal import State
internal import System

/// The kind of damage that a power cut did to a file's last text: notes-save(1), "After a power
/// cut".
public enum DamageKind: String, Hashable, Codable, Sendable {
  /// The file is empty.
  case empty
  /// The file has only zero bytes.
  case zeros
  /// The file has the beginning of the last version, maybe followed by zero bytes.
  case shortened
  /// The file has the text of an earlier version.
  case older

  /// File systems write whole blocks to the disk.
  private static let blockSize = 4096

  /// The kind of damage of a text, except `older`; nil for an intact text.
  ///
  /// - Parameter isTouched: whether the file was written to after its last version.
  init?(of bytes: [UInt8], from former: [UInt8], isTouched: Bool) {
    let rest = bytes.reversed().drop { $0 == 0 }.count
    if bytes.isEmpty {
      self = .empty
    } else if rest == 0 {
      self = .zeros
    } else if !isTouched || rest < bytes.count || rest.isMultiple(of: Self.blockSize),
      rest < former.count, former.starts(with: bytes.prefix(rest))
    {
      self = .shortened
    } else {
      return nil
    }
  }
}

/// A versioned file that a power cut damaged because its editor had not waited for the disk.
package struct PowerLossDamage: Hashable, Sendable {
  package let path: TreePath
  /// The file's present content.
  package let id: ObjectID
  package let damage: DamageKind

  package var skipped: SkippedFile { SkippedFile(path: path, reason: .cut(damage)) }
}

/// The boot of the machine in which a command last scanned the whole folder, and the damaged files
/// that it found: `.git/notes/machine`. If the record is lost, the files are found again.
private struct MachineRecord: Equatable {
  static let format = "1"

  var id = ""
  var cut: [PowerLossDamage] = []

  init(id: String, cut: [PowerLossDamage]) { (self.id, self.cut) = (id, cut) }

  init(in state: StateFolder) {
    let file = state[.machine]
    let known = Disk.memory(at: file) { content throws(StateDamage) -> MachineRecord? in
      let lines = content.lines.map(\.words)
      guard lines.count > 1, lines[0].count == 1, lines[1].count == 1 else {
        throw StateDamage(file, "a line is missing")
      }
      if lines[0][0] != Self.format { return nil }
      var record = MachineRecord(id: lines[1][0], cut: [])
      for words in lines.dropFirst(2) {
        guard words.count == 3, let id = words.id(0), let damage = DamageKind(rawValue: words[1]),
          let path = words.path(2)
        else { throw StateDamage(file, "a line is no damaged file") }
        record.cut.append(PowerLossDamage(path: path, id: id, damage: damage))
      }
      return record
    }
    if let known { self = known }
  }

  func store(in state: StateFolder) throws {
    var text = "\(Self.format)\n\(id)\n"
    for file in cut { text += "\(file.id) \(file.damage.rawValue) \(file.path.hexadecimal)\n" }
    try Disk.replace(state[.machine], with: Array(text.utf8), waits: false)
  }
}

extension WorkTree {
  /// The candidates that a power cut damaged and that nobody has touched since.
  package func damagedFiles(
    among candidates: [Candidate], of index: IndexFile
  ) throws -> [PowerLossDamage] {
    let record = MachineRecord(in: stateFolder)
    let isStartedAnew = record.id != machine.id
    if !isStartedAnew, record.cut.isEmpty { return [] }
    let version = try repository.head().commit.map(repository.commit)
    let tip = version?.tree
    let behind = try isStartedAnew ? unlisted(candidates, index, tip) : []
    return try (candidates + behind).compactMap { candidate in
      let known = record.cut.first { $0.path == candidate.path }
      let isSuspect = isStartedAnew && machine.isLater(than: Int64(candidate.modifiedSeconds))
      // Git's index may be behind the last version.
      let last = try tip.flatMap { try repository.entry(at: candidate.path, in: $0) }
      let versioned = last?.mode.isFile == true ? last?.id : nil
      guard let former = versioned ?? candidate.position.map({ index.id(at: $0) }),
        known != nil || isSuspect,
        case .read(let content) = try FileContent.read(
          candidate.path, in: folder, sizeLimit: sizeLimit)
      else { return nil }
      let id = try repository.hash(blob: content.bytes)
      if let known, known.id == id { return known }
      // If the index has another text than the last version, the index did not reach the disk: the file had
      // been written before that version.
      let listed = candidate.position.flatMap { position in
        index.id(at: position) == former ? Int64(index.status(at: position).modifiedSeconds) : nil
      }
      let isTouched =
        (listed ?? version?.author.time).map { $0 < Int64(candidate.modifiedSeconds) } ?? false
      guard isSuspect,
        let damage = try damage(
          content.bytes, id, of: candidate.path, from: former, isTouched: isTouched)
      else { return nil }
      return PowerLossDamage(path: candidate.path, id: id, damage: damage)
    }
  }

  /// Files that agree with the index and differ from the last version: the power cut happened after the version
  /// and before its index.
  private func unlisted(
    _ candidates: [Candidate], _ index: IndexFile, _ tip: ObjectID?
  ) throws -> [Candidate] {
    guard let tip, index.tree != tip else { return [] }
    let known = Set(candidates.map(\.path))
    let access = try FolderAccess(folder: folder)
    return try repository.files(in: tip).compactMap { path, entry in
      guard entry.mode.isFile, !known.contains(path), let position = index.position(of: path),
        index.id(at: position) != entry.id, let status = try access.status(of: path)
      else { return nil }
      return Candidate(path, status, position: position)
    }
  }

  /// Whether a power cut damaged a file that an interrupted checkout found in the place of `former`.
  package func isDamaged(_ file: ObjectID, at path: TreePath, from former: ObjectID) throws -> Bool
  {
    guard MachineRecord(in: stateFolder).id != machine.id else { return false }
    return try damage(repository.blob(file), file, of: path, from: former, isTouched: false) != nil
  }

  private func damage(
    _ bytes: [UInt8], _ id: ObjectID, of path: TreePath, from former: ObjectID, isTouched: Bool
  ) throws -> DamageKind? {
    if id == former { return nil }
    let text = try repository.blob(former)
    if let damage = DamageKind(of: bytes, from: text, isTouched: isTouched) { return damage }
    // If a person restores a note by hand, the file gets a new time; after a power cut, an old text has its old
    // time.
    guard !isTouched, let tip = try repository.head().commit else { return nil }
    for version in try repository.commits(from: [tip]).reversed().prefix(Self.searchedVersions) {
      if try repository.entry(at: path, in: repository.commit(version).tree)?.id == id {
        return .older
      }
    }
    return nil
  }

  /// How many versions are searched for an older text.
  private static let searchedVersions = 10_000

  /// Records the damaged files that a scan found.
  ///
  /// - Parameter candidates: the files that the scan compared; nil for a scan of the whole folder.
  package func remember(_ cut: [PowerLossDamage], among candidates: [Candidate]?) throws {
    let former = MachineRecord(in: stateFolder)
    var record = MachineRecord(id: machine.id, cut: cut)
    if let candidates {
      let seen = Set(candidates.map(\.path))
      let others = former.cut.filter { !seen.contains($0.path) }
      record = MachineRecord(id: former.id, cut: others + cut)
    }
    if record != former { try record.store(in: stateFolder) }
  }

  /// The files known to be damaged that have not been written since.
  package func knownDamagedFiles() throws -> [PowerLossDamage] {
    try MachineRecord(in: stateFolder).cut.filter { file in
      guard
        case .read(let content) = try FileContent.read(file.path, in: folder, sizeLimit: sizeLimit)
      else { return false }
      return try repository.hash(blob: content.bytes) == file.id
    }
  }

  /// Forgets files that have their last version's text again.
  package func forgetDamagedFiles(_ files: [PowerLossDamage]) throws {
    var record = MachineRecord(in: stateFolder)
    record.cut.removeAll(where: files.contains)
    try record.store(in: stateFolder)
  }
}
