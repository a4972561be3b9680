public import Git

/// An object that the history needs and that is damaged or missing.
public struct Damage: Hashable, Sendable {
  /// The object's name: the hash that its bytes should have.
  public let id: ObjectID
  /// The damage, in words.
  public let what: String
}

/// The result of a check of the history.
public struct IntegrityReport: Sendable {
  /// The number of versions checked.
  public var versions = 0
  /// Whether all versions were checked.
  public var isComplete = true
  /// The damaged objects found; only the first few.
  public var damages: [Damage] = []
  /// The damaged objects that are missing.
  public var missing: [ObjectID] = []
  /// Versions over the limits that devices accept: `Notebook.pruneOversized`.
  public var oversized: [Damage] = []
}

extension History {
  /// Checks the history from the tip. The newest versions and their trees must be readable. The files of the
  /// tip must match their IDs; the files of older versions must exist.
  ///
  /// - Parameters:
  ///   - versions: how many versions are checked.
  ///   - bytes: how many bytes of the tip's files are read.
  public func checkIntegrity(
    versions limit: Int = 1_000, bytes: Int = 256 << 20
  ) throws -> IntegrityReport {
    guard let tip = try state().tip else { return IntegrityReport() }
    var inspection = Inspection(repository: repository)
    inspection.look(atVersionsOf: tip, limit: limit)
    // The check before has already reported an unreadable version.
    if let tree = try? repository.commit(tip).tree { inspection.reread(tree: tree, bytes: bytes) }
    return inspection.report
  }
}

extension History {
  /// The objects that the history of the tip needs and the repository lacks; only the first few.
  public func missingObjects() throws -> [ObjectID] {
    guard let tip = try repository.head().commit else { return [] }
    var inspection = Inspection(repository: repository)
    inspection.measures = false
    inspection.look(atVersionsOf: tip, limit: .max)
    return inspection.report.missing
  }
}

private struct Inspection {
  let repository: Repository
  /// Whether to also look for oversized objects.
  var measures = true
  var report = IntegrityReport()
  var seen: Set<ObjectID> = []

  /// Whether further damages are recorded. A broken disk damages thousands of objects, and the first few are enough.
  private var hasRoom: Bool { report.damages.count + report.oversized.count < 20 }

  private mutating func read<Value>(
    _ id: ObjectID, _ body: (Repository) throws -> Value
  ) -> Value? {
    do {
      return try body(repository)
    } catch {
      if case GitError.missing(let id) = error { report.missing.append(id) }
      report.damages.append(Damage(id: id, what: "\(error)"))
      return nil
    }
  }

  mutating func look(atVersionsOf tip: ObjectID, limit: Int) {
    var pending = [tip]
    var next = 0
    while next < pending.count, report.versions < limit, hasRoom {
      let id = pending[next]
      next += 1
      report.versions += 1
      guard let commit = read(id, { try $0.commit(id) }) else { continue }
      look(atTree: commit.tree, of: id)
      if measures, let why = excess(of: commit) {
        report.oversized.append(Damage(id: id, what: why))
      }
      for parent in commit.parents where seen.insert(parent).inserted { pending.append(parent) }
    }
    report.isComplete = next == pending.count
  }

  /// The reason why every device refuses the version, judging by the version alone.
  private func excess(of commit: Commit) -> String? {
    let limits = PackLimits.standard
    if commit.parents.count > limits.parents { return "it has \(commit.parents.count) parents" }
    // An unreadable version is reported as damaged, not as too large.
    if let size = try? repository.header(of: commit.id).size, size > limits.commitBytes {
      return "it has \(size) bytes"
    }
    // An unreadable tree is also reported as damaged.
    return ((try? repository.excess(ofTree: commit.tree)) ?? nil).map { "\($0)" }
  }

  private mutating func look(atTree top: ObjectID, of version: ObjectID) {
    let limit = PackLimits.standard.objectBytes
    var pending = [top]
    while let id = pending.popLast(), hasRoom {
      guard seen.insert(id).inserted, let tree = read(id, { try $0.tree(id) }) else { continue }
      for entry in tree.entries where entry.mode != .submodule && !seen.contains(entry.id) {
        if entry.mode == .tree {
          pending.append(entry.id)
        } else if seen.insert(entry.id).inserted {
          if read(entry.id, { try $0.contains(entry.id) }) == false {
            report.missing.append(entry.id)
            report.damages.append(Damage(id: entry.id, what: "\(entry.name) is missing"))
            // An unreadable object is reported when it is read.
          } else if measures, let size = try? repository.header(of: entry.id).size, size > limit {
            report.oversized.append(
              Damage(id: version, what: "\(entry.name) has \(size) bytes"))
          }
        }
      }
    }
  }

  mutating func reread(tree: ObjectID, bytes: Int) {
    guard hasRoom, let files = read(tree, { try $0.files(in: tree) }) else { return }
    var left = bytes
    for (path, entry) in files where entry.mode != .submodule {
      guard hasRoom, left > 0 else { return }
      if report.damages.contains(where: { $0.id == entry.id }) { continue }
      guard let content = read(entry.id, { try $0.blob(entry.id) }) else { continue }
      left -= content.count
      // If the ID cannot be computed, it counts as different, and the object is reported.
      if (try? repository.hash(blob: content)) != entry.id {
        let what = "\(path) does not have the bytes that its ID names"
        report.damages.append(Damage(id: entry.id, what: what))
      }
    }
  }
}
