internal import Git

/// Some names, told from any others by their number and the sum of their hashes: equal ones came in
/// whatever order, and other names give the same sum once in 2^64.
struct NameSet: Equatable {
  private var count = 0
  private var sum: UInt64 = 0

  mutating func insert(_ name: UnsafeRawBufferPointer, _ hash: BytesHash) {
    count += 1
    sum &+= hash(name)
  }
}

/// The folders of the files that the index has, and what names it has in each.
struct IndexFolders {
  /// Files that stand next to each other in the index, all in one folder.
  struct Run {
    let folder: Int
    fileprivate(set) var positions: Range<Int>
  }

  let hash = BytesHash()
  private(set) var runs: [Run] = []
  private var numbers: [TreePath: Int] = [:]
  private var names: [NameSet] = []

  init(_ index: IndexFile) {
    // The path of the last run's folder, with the slash after it.
    var prefix = UnsafeRawBufferPointer(start: nil, count: 0)
    for position in 0..<index.count {
      let path = index.pathBytes(at: position)
      let start = path.nameStart
      let parent = UnsafeRawBufferPointer(rebasing: path[..<start])
      if !runs.isEmpty && parent.isEqual(to: prefix) {
        runs[runs.count - 1].positions = runs[runs.count - 1].positions.lowerBound..<(position + 1)
      } else {
        prefix = parent
        let folder = TreePath(bytes: prefix.dropLast())
        let number = numbers[folder] ?? names.count
        if number == names.count {
          numbers[folder] = number
          names.append(NameSet())
        }
        runs.append(Run(folder: number, positions: position..<(position + 1)))
      }
      names[runs[runs.count - 1].folder].insert(
        UnsafeRawBufferPointer(rebasing: path[start...]), hash)
    }
  }

  /// The folder whose files in the index have just these names; nil where they have others.
  func folder(_ path: TreePath, holding names: NameSet) -> Int? {
    guard let number = numbers[path], self.names[number] == names else { return nil }
    return number
  }
}
