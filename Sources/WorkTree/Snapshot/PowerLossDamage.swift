package import Git
internal import State
internal import System

/// How a file is not what was last written into it: notes-save(1), "After a power cut".
public enum DamageKind: String, Hashable, Codable, Sendable {
  /// It holds nothing.
  case empty
  /// It holds zero bytes only.
  case zeros
  /// It holds the beginning of the last version, with zero bytes after it or none.
  case shortened
  /// It holds the text of an earlier version.
  case older

  /// File systems bring whole blocks to the disk.
  private static let blockSize = 4096

  /// The damage of a text, but for an older one; nil for a text that is whole.
  ///
  /// - Parameter isTouched: whether it was written to after its last version.
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

/// A versioned file whose editor had not waited for the disk when the power was cut.
package struct PowerLossDamage: Hashable, Sendable {
  package let path: TreePath
  /// Its present content.
  package let id: ObjectID
  package let damage: DamageKind

  package var skipped: SkippedFile { SkippedFile(path: path, reason: .cut(damage)) }
}

/// Which run of the machine a command last looked at the whole folder in, and the files it found then
/// that a power cut damaged: `.git/notes/machine`. If it is lost, they are found again.
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
  /// Those of the candidates that a power cut damaged, and that nobody has touched since.
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
      // An index that has another text than the last version was not on the disk yet: the file had been
      // written by the time of that version.
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

  /// Files that the index has as they stand, but not as the last version has: the cut fell between the
  /// version and its index.
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

  /// Whether an interrupted checkout has met a file that a power cut damaged, in the place of `former`.
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
    // A person who takes a note back by hand writes it anew; one that a cut brings back has its former
    // time.
    guard !isTouched, let tip = try repository.head().commit else { return nil }
    for version in try repository.commits(from: [tip]).reversed().prefix(Self.searchedVersions) {
      if try repository.entry(at: path, in: repository.commit(version).tree)?.id == id {
        return .older
      }
    }
    return nil
  }

  /// How many versions are looked through for an older text.
  private static let searchedVersions = 10_000

  /// Remembers what a look found.
  ///
  /// - Parameter candidates: the files that it compared; nil for a look at the whole folder.
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

  /// The files known to be damaged that still hold what the cut left.
  package func knownDamagedFiles() throws -> [PowerLossDamage] {
    try MachineRecord(in: stateFolder).cut.filter { file in
      guard
        case .read(let content) = try FileContent.read(file.path, in: folder, sizeLimit: sizeLimit)
      else { return false }
      return try repository.hash(blob: content.bytes) == file.id
    }
  }

  /// Forgets files that hold their last version again.
  package func forgetDamagedFiles(_ files: [PowerLossDamage]) throws {
    var record = MachineRecord(in: stateFolder)
    record.cut.removeAll(where: files.contains)
    try record.store(in: stateFolder)
  }
}
