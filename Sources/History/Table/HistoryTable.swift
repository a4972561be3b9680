internal import Git

/// The history in columns: which version changed which file, from which bytes to which.
///
/// Versions are numbered so that parents come before children. What a note went through is found by
/// one pass over numbers, without opening an object; only what is shown is read from the repository.
struct HistoryTable: Sendable {
  /// Stands for "no path".
  static let none = UInt32.max

  // A version: its ID; the author's time; the order it is shown in.
  var ids = TableColumn<ObjectID>()
  var times = TableColumn<Int64>()
  var orders = TableColumn<Int64>()
  var generations = TableColumn<UInt32>()
  var authors = TableColumn<UInt32>()
  var flags = TableColumn<UInt32>()
  // Where the parents and the changes of a version end; they begin where the one before ends.
  var parentEnds = TableColumn<UInt32>()
  var changeEnds = TableColumn<UInt32>()
  var parents = TableColumn<UInt32>()
  // A change: a path, what it was called before, and its blobs, zeros where there is no file.
  var changePaths = TableColumn<UInt32>()
  var changeFormers = TableColumn<UInt32>()
  var changeOld = TableColumn<ObjectID>()
  var changeNew = TableColumn<ObjectID>()
  // Where a note of a merge has another name in one of the merge's further parents.
  var moveVersions = TableColumn<UInt32>()
  var moveParents = TableColumn<UInt32>()
  var movePaths = TableColumn<UInt32>()
  var moveFormers = TableColumn<UInt32>()
  // The texts that the numbers of paths and authors stand for.
  var paths = TextColumn()
  var authorTexts = TextColumn()

  /// How many versions there are.
  var count: Int { times.count }

  /// Bits of `flags`.
  static let derivedFlag: UInt32 = 1

  /// Texts one after the other.
  struct TextColumn: Sendable {
    var ends = TableColumn<UInt32>()
    var bytes = TableColumn<UInt8>()

    subscript(position: UInt32) -> ArraySlice<UInt8> {
      let start = position == 0 ? 0 : ends[Int(position) - 1]
      return bytes.slice(Int(start)..<Int(ends[Int(position)]))
    }

    mutating func append(_ text: some Collection<UInt8>) -> UInt32 {
      bytes.append(contentsOf: text)
      ends.append(UInt32(bytes.count))
      return UInt32(ends.count - 1)
    }

    /// The number of a text, or nil.
    func firstIndex(of text: [UInt8]) -> UInt32? {
      var start = 0
      for (position, end) in ends.enumerated() {
        let end = Int(end)
        if end - start == text.count, bytes.slice(start..<end).elementsEqual(text) {
          return UInt32(position)
        }
        start = end
      }
      return nil
    }
  }
}

extension HistoryTable {
  func id(of version: Int) -> ObjectID { ids[version] }

  func isDerived(_ version: Int) -> Bool { flags[version] & Self.derivedFlag != 0 }

  func parentRange(of version: Int) -> Range<Int> {
    (version == 0 ? 0 : Int(parentEnds[version - 1]))..<Int(parentEnds[version])
  }

  func changeRange(of version: Int) -> Range<Int> {
    (version == 0 ? 0 : Int(changeEnds[version - 1]))..<Int(changeEnds[version])
  }

  func firstParent(of version: Int) -> Int? {
    parentRange(of: version).first.map { Int(parents[$0]) }
  }

  /// The change that a version made to a path, or nil.
  func change(of path: UInt32, in version: Int) -> Int? {
    changeRange(of: version).first { changePaths[$0] == path }
  }

  /// What a path is called in the parent of that position.
  func former(of path: UInt32, in version: Int, parent: Int, change: Int?) -> UInt32 {
    if parent == 0 {
      guard let change, changeFormers[change] != Self.none else { return path }
      return changeFormers[change]
    }
    guard parentRange(of: version).count > 1 else { return path }
    let move = moveRange(of: version).first {
      moveParents[$0] == UInt32(parent) && movePaths[$0] == path
    }
    if let move { return moveFormers[move] }
    return path
  }

  /// The moves of a version, which are sorted by version, as they were added.
  func moveRange(of version: Int) -> Range<Int> {
    var (low, high) = (0, moveVersions.count)
    while low < high {
      let middle = (low + high) / 2
      if moveVersions[middle] < UInt32(version) { low = middle + 1 } else { high = middle }
    }
    var end = low
    while end < moveVersions.count, moveVersions[end] == UInt32(version) { end += 1 }
    return low..<end
  }

  /// The file's blob in a version, or nil where it has none: what the nearest version on the line
  /// of first parents made it.
  func blob(of path: UInt32, at version: Int) -> ObjectID? {
    var current: Int? = version
    while let version = current {
      if let change = change(of: path, in: version) { return newBlob(of: change) }
      current = firstParent(of: version)
    }
    return nil
  }

  func newBlob(of change: Int) -> ObjectID? { Self.blob(changeNew, change) }
  func oldBlob(of change: Int) -> ObjectID? { Self.blob(changeOld, change) }

  private static func blob(_ column: TableColumn<ObjectID>, _ change: Int) -> ObjectID? {
    let id = column[change]
    return id == .zero ? nil : id
  }

  /// The number of a version, or nil; the newest are looked at first.
  func firstIndex(of id: ObjectID) -> Int? { ids.lastIndex(of: id) }

  /// The order in which versions are shown, newest first: by time, which never goes back from
  /// parents to children; then children before parents; then by ID, so that all devices agree.
  func isNewer(_ left: Int, than right: Int) -> Bool {
    if orders[left] != orders[right] { return orders[left] > orders[right] }
    if generations[left] != generations[right] { return generations[left] > generations[right] }
    return id(of: left) > id(of: right)
  }

  /// The name of who made a version.
  func author(of version: Int) -> String {
    String(decoding: authorTexts[authors[version]].prefix { $0 != 0 }, as: UTF8.self)
  }

  func path(_ number: UInt32) -> TreePath { TreePath(bytes: paths[number]) }

  /// A change as a value.
  func value(of change: Int) -> VersionChange {
    let former = changeFormers[change]
    return VersionChange(
      path: path(changePaths[change]), formerPath: former == Self.none ? nil : path(former),
      old: oldBlob(of: change), new: newBlob(of: change))
  }
}
