internal import Glibc
internal import System

/// git's commit-graph (gitformat-commit-graph(5)): a cache of commits and their parents, which git trusts.
/// If it names commits that were lost when git was killed or the power was cut, git fails.
public struct CommitGraph {
  private let repository: Repository
  private var folder: String { repository.loose.folder + "/info" }

  /// The commit-graph of a repository.
  public init(of repository: Repository) { self.repository = repository }

  private var files: [String] {
    let chain = folder + "/commit-graphs"
    return
      ([folder + "/commit-graph"]
      + Disk.namesIfAny(in: chain).filter { $0.hasSuffix(".graph") }.map { chain + "/" + $0 })
      .filter { Counted.access($0, F_OK) == 0 }
  }

  /// The number of commits in the commit-graph that the repository lacks; an invalid file counts as one.
  public func unknownCommits() throws -> Int {
    try files.reduce(0) { count, path in
      guard let ids = Self.identifiers(in: Disk.contentIfAny(path) ?? []) else { return count + 1 }
      return try count + repository.lacking(ids).count
    }
  }

  /// Removes the commit-graph. git makes a new one when it next packs.
  public func remove() throws {
    for path in files { try Disk.remove(path) }
    Disk.removeTree(folder + "/commit-graphs")
    repository.close()
  }

  /// The commits that a file names; nil for an invalid file. A header of 8 bytes is followed by a table of
  /// chunks, 12 bytes each: a name and an offset.
  private static func identifiers(in file: [UInt8]) -> [ObjectID]? {
    func number(at place: Int, bytes: Int) -> Int {
      file[place..<(place + bytes)].reduce(0) { $0 << 8 | Int($1) }
    }
    guard file.count > 8 + 12, file.starts(with: Array("CGPH".utf8)), file[5] == 1 else {
      return nil
    }
    let chunks = Int(file[6])
    guard file.count >= 8 + 12 * (chunks + 1) else { return nil }
    let table = (0...chunks).map { 8 + 12 * $0 }
    for (entry, next) in zip(table, table.dropFirst())
    where file[entry..<(entry + 4)].elementsEqual("OIDL".utf8) {
      guard file[entry + 4] < 0x80, file[next + 4] < 0x80 else { return nil }
      let (start, end) = (number(at: entry + 4, bytes: 8), number(at: next + 4, bytes: 8))
      guard start <= end, end <= file.count, (end - start) % ObjectID.byteCount == 0
      else { return nil }
      return stride(from: start, to: end, by: ObjectID.byteCount).compactMap {
        ObjectID(bytes: Array(file[$0..<($0 + ObjectID.byteCount)]))
      }
    }
    return nil
  }
}
