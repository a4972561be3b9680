public import Git

/// An object that the history needs and that is not what it should be.
public struct Damage: Hashable, Sendable {
  /// The object's name: the hash that its bytes should have.
  public let id: ObjectID
  /// What is wrong, in words.
  public let what: String
}

/// What a look through the history found.
public struct IntegrityReport: Sendable {
  /// The versions that were looked at.
  public var versions = 0
  /// Whether these were all there are.
  public var isComplete = true
  /// What is damaged; the first few only.
  public var damages: [Damage] = []
}

extension History {
  /// Looks through the history from the tip: the newest versions with their trees must be there and
  /// readable, the files of the tip must hold what their IDs say, and those of older versions must
  /// be there.
  ///
  /// - Parameters:
  ///   - versions: how many versions to look at; the cost is bounded by it.
  ///   - bytes: how much of the tip's files to read again.
  public func checkIntegrity(
    versions limit: Int = 1_000, bytes: Int = 256 << 20
  ) throws -> IntegrityReport {
    var report = IntegrityReport()
    guard let tip = try state().tip else { return report }
    var inspection = Inspection(repository: repository)
    var pending = [tip]
    var seen: Set<ObjectID> = [tip]
    var next = 0
    while next < pending.count, report.versions < limit, inspection.hasRoom {
      let id = pending[next]
      next += 1
      report.versions += 1
      guard let commit = inspection.read(id, { try repository.commit(id) }) else { continue }
      inspection.look(atTree: commit.tree)
      for parent in commit.parents where seen.insert(parent).inserted { pending.append(parent) }
    }
    report.isComplete = next == pending.count
    if let tree = try? repository.commit(tip).tree, inspection.hasRoom {
      inspection.reread(tree: tree, bytes: bytes)
    }
    report.damages = inspection.damages
    return report
  }
}

/// The state of a look through the history.
private struct Inspection {
  let repository: Repository
  var damages: [Damage] = []
  private var seen: Set<ObjectID> = []

  init(repository: Repository) { self.repository = repository }

  /// Enough is enough: a broken disk breaks thousands.
  var hasRoom: Bool { damages.count < 20 }

  mutating func read<Value>(_ id: ObjectID, _ body: () throws -> Value) -> Value? {
    do {
      return try body()
    } catch {
      damages.append(Damage(id: id, what: "\(error)"))
      return nil
    }
  }

  mutating func look(atTree top: ObjectID) {
    let repository = repository
    var pending = [top]
    while let id = pending.popLast(), hasRoom {
      guard seen.insert(id).inserted, let tree = read(id, { try repository.tree(id) }) else {
        continue
      }
      for entry in tree.entries where !seen.contains(entry.id) {
        if entry.mode == .tree {
          pending.append(entry.id)
        } else if entry.mode != .submodule {
          seen.insert(entry.id)
          guard let isThere = read(entry.id, { try repository.contains(entry.id) }) else {
            continue
          }
          if !isThere {
            damages.append(Damage(id: entry.id, what: "\(entry.name) is missing"))
          }
        }
      }
    }
  }

  mutating func reread(tree: ObjectID, bytes: Int) {
    let repository = repository
    guard let files = read(tree, { try repository.files(in: tree) }) else { return }
    var left = bytes
    for (path, entry) in files where entry.mode != .submodule {
      guard hasRoom, left > 0 else { return }
      if damages.contains(where: { $0.id == entry.id }) { continue }
      guard let content = read(entry.id, { try repository.blob(entry.id) }) else { continue }
      left -= content.count
      if (try? repository.hash(blob: content)) != entry.id {
        damages.append(Damage(id: entry.id, what: "\(path) holds other bytes than its ID says"))
      }
    }
  }
}
