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
  // By path. Not a dictionary: the Swift library looks through all conformances of the program before
  // it makes the first one of a kind, which a small notebook's scan would notice.
  private var folders: [(path: TreePath, number: Int)] = []
  private var names: [NameSet] = []

  init(_ index: IndexFile) {
    // The path of the last run's folder, with the slash after it.
    var prefix = UnsafeRawBufferPointer(start: nil, count: 0)
    // The folders that the last run's is in, and itself: the index is sorted, so that what is below a
    // folder stands together.
    var open: [(prefix: UnsafeRawBufferPointer, number: Int)] = []
    for position in 0..<index.count {
      let path = index.pathBytes(at: position)
      let start = path.nameStart
      let parent = UnsafeRawBufferPointer(rebasing: path[..<start])
      if !runs.isEmpty && parent.isEqual(to: prefix) {
        runs[runs.count - 1].positions = runs[runs.count - 1].positions.lowerBound..<(position + 1)
      } else {
        prefix = parent
        while let last = open.last, !prefix.starts(with: last.prefix) { open.removeLast() }
        if let last = open.last, last.prefix.count == prefix.count {
          runs.append(Run(folder: last.number, positions: position..<(position + 1)))
        } else {
          open.append((prefix, names.count))
          let folder = TreePath(bytes: prefix.dropLast())
          // Mostly at the end: only a folder's own files may come after those of folders in it.
          folders.insert((folder, names.count), at: place(of: folder))
          runs.append(Run(folder: names.count, positions: position..<(position + 1)))
          names.append(NameSet())
        }
      }
      names[runs[runs.count - 1].folder].insert(
        UnsafeRawBufferPointer(rebasing: path[start...]), hash)
    }
  }

  /// How many folders there are; their numbers count from 0.
  var count: Int { names.count }

  /// The folder whose files in the index have just these names; nil where they have others.
  func folder(_ path: TreePath, holding names: NameSet) -> Int? {
    let place = place(of: path)
    guard place < folders.count, folders[place].path == path else { return nil }
    let number = folders[place].number
    return self.names[number] == names ? number : nil
  }

  /// Where a folder is among them by path, or would be.
  private func place(of path: TreePath) -> Int {
    var low = 0
    var high = folders.count
    while low < high {
      let middle = (low + high) / 2
      if folders[middle].path < path { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
