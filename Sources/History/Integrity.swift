public import Git

/// An object that the history needs and that is not what it should be.
public struct Damage: Hashable, Sendable {
  /// The object's name: the hash that its bytes should have.
  public let id: ObjectID
  /// The damage, in words.
  public let what: String
}

/// The result of a look through the history.
public struct IntegrityReport: Sendable {
  /// The versions that were looked at.
  public var versions = 0
  /// Whether these were all there are.
  public var isComplete = true
  /// The damages that were found; the first few only.
  public var damages: [Damage] = []
  /// Those of them that are not here at all.
  public var missing: [ObjectID] = []
  /// Versions that stand for more than devices take: `Notebook.pruneOversized`.
  public var oversized: [Damage] = []
}

extension History {
  /// Looks through the history from the tip: the newest versions with their trees must be there and
  /// readable, the files of the tip must hold what their IDs say, and those of older versions must
  /// be there. So many versions are looked at, and so many bytes of the tip's files.
  public func checkIntegrity(
    versions limit: Int = 1_000, bytes: Int = 256 << 20
  ) throws -> IntegrityReport {
    guard let tip = try state().tip else { return IntegrityReport() }
    var inspection = Inspection(repository: repository)
    inspection.look(atVersionsOf: tip, limit: limit)
    // A version that cannot be read was reported by the look before.
    if let tree = try? repository.commit(tip).tree { inspection.reread(tree: tree, bytes: bytes) }
    return inspection.report
  }
}

extension History {
  /// The objects that the history of the tip needs and that are not here; the first few only.
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
  /// Whether it is looked for what is too large, too.
  var measures = true
  var report = IntegrityReport()
  var seen: Set<ObjectID> = []

  /// A broken disk breaks thousands: the first few tell.
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

  /// Why no device takes the version, as far as that shows in it alone.
  private func excess(of commit: Commit) -> String? {
    let limits = PackLimits.standard
    if commit.parents.count > limits.parents { return "it has \(commit.parents.count) parents" }
    // One that cannot be read is reported as damaged, not as too large.
    if let size = try? repository.header(of: commit.id).size, size > limits.commitBytes {
      return "it has \(size) bytes"
    }
    // The same.
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
            // One that cannot be read is reported where it is read.
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
      // An ID that cannot be computed counts as another one: that reports the object.
      if (try? repository.hash(blob: content)) != entry.id {
        let what = "\(path) holds other bytes than its ID says"
        report.damages.append(Damage(id: entry.id, what: what))
      }
    }
  }
}
