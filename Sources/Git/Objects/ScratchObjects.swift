/// Objects in memory that are not in a repository: results that are only compared or shown.
struct ScratchObjects {
  /// Whether `withScratchWrites` runs, so that objects are written into memory.
  fileprivate(set) var isOpen = false
  fileprivate var objects: [ObjectID: StoredObject] = [:]
  fileprivate var kept: [ObjectID: StoredObject] = [:]

  /// The object with this ID; nil if it is not here.
  func object(_ id: ObjectID) -> StoredObject? {
    objects.isEmpty && kept.isEmpty ? nil : objects[id] ?? kept[id]
  }

  mutating func add(_ kind: ObjectKind, _ content: [UInt8], id: ObjectID) {
    objects[id] = (kind, content)
  }
}

extension Repository {
  /// Runs `body`. The objects that it writes stay in memory, and never become part of the repository. They can be read
  /// until `body` ends, or as long as this instance exists if `body` returns `isKept`.
  package func withScratchWrites<Result>(
    _ body: () throws -> (result: Result, isKept: Bool)
  ) throws -> Result {
    if scratch.isOpen { return try body().result }
    scratch.isOpen = true
    defer {
      scratch.isOpen = false
      scratch.objects = [:]
    }
    let (result, isKept) = try body()
    if isKept { scratch.kept.merge(scratch.objects) { first, _ in first } }
    return result
  }
}
