package import Git

/// The steps of a checkout. There may be a step for every note, and all are in memory while the
/// checkout runs: their paths are in one array of bytes.
package struct CheckoutSteps: RandomAccessCollection, Sendable {
  package struct Step: Sendable {
    /// The step's number, which names its file in the staging folder.
    package let number: Int
    fileprivate let list: List.Storage

    package var path: TreePath { TreePath(bytes: list.path(number)) }
    /// The file in the old tree; nil if it is new.
    package var old: File? { list.old(number) }
    /// The file in the new tree; nil if it is deleted.
    package var new: File? { list.new[number] }
    /// Whether the folder does not have the old file, because it could not be put there.
    package var wasSparse: Bool { list.sparse.contains(number) }

    /// Whether another step's file is in the same folder.
    func isBeside(_ other: Step) -> Bool {
      list.folder(number).elementsEqual(other.list.folder(other.number))
    }
  }

  /// A file in a tree, without its name.
  package struct File: Hashable, Sendable {
    package let mode: FileMode
    package let id: ObjectID

    fileprivate init(_ entry: TreeEntry) { (mode, id) = (entry.mode, entry.id) }
  }

  private let list: List.Storage

  package var startIndex: Int { 0 }
  package var endIndex: Int { list.ends.count }
  package subscript(number: Int) -> Step { Step(number: number, list: list) }

  init(_ list: List) { self.list = list.storage }
}

extension CheckoutSteps {
  /// The storage of the steps.
  struct List {
    fileprivate var storage = Storage()

    /// Shared by all steps, on any thread. Sendable: nothing changes it once there are steps.
    fileprivate final class Storage: @unchecked Sendable {
      private(set) var paths: [UInt8] = []
      private(set) var ends: [Int] = []
      /// The array ends at the last step with an old file: in a first checkout it is empty.
      private var old: [File?] = []
      private(set) var new: [File?] = []
      private(set) var sparse: Set<Int> = []

      func append(_ path: ArraySlice<UInt8>, _ old: File?, _ new: File?, wasSparse: Bool) {
        if wasSparse { sparse.insert(ends.count) }
        if let old {
          self.old += repeatElement(nil, count: ends.count - self.old.count)
          self.old.append(old)
        }
        paths += path
        ends.append(paths.count)
        self.new.append(new)
      }

      func old(_ number: Int) -> File? { number < old.count ? old[number] : nil }

      func path(_ number: Int) -> ArraySlice<UInt8> {
        paths[(number == 0 ? 0 : ends[number - 1])..<ends[number]]
      }

      /// The path of the folder that a file is in, with the slash at its end.
      func folder(_ number: Int) -> ArraySlice<UInt8> {
        let path = path(number)
        return path[..<(path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? path.startIndex)]
      }
    }

    func append(_ change: TreeChange, wasSparse: Bool) {
      storage.append(
        change.path.bytes[...], change.old.map(File.init), change.new.map(File.init),
        wasSparse: wasSparse)
    }

    /// Adds the steps of another list; an empty list becomes the other one.
    mutating func append(_ other: List) {
      if storage.ends.isEmpty {
        storage = other.storage
      } else {
        for number in other.storage.ends.indices { append(number, of: other) }
      }
    }

    private func append(_ number: Int, of other: List) {
      let from = other.storage
      storage.append(
        from.path(number), from.old(number), from.new[number],
        wasSparse: from.sparse.contains(number))
    }

    /// Sorts the steps by path; most of them are in order already.
    mutating func sort() {
      func precedes(_ left: Int, _ right: Int) -> Bool {
        storage.path(left).lexicographicallyPrecedes(storage.path(right))
      }
      let numbers = storage.ends.indices
      guard zip(numbers, numbers.dropFirst()).contains(where: { precedes($1, $0) }) else { return }
      let sorted = List()
      for number in numbers.sorted(by: precedes) { sorted.append(number, of: self) }
      self = sorted
    }
  }
}
