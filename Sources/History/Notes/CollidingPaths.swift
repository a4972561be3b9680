internal import Git
internal import Merge

extension History {
  /// Files of the present version, in groups, whose paths some file systems take for one:
  /// notes-merge(7), "Names that meet".
  public func collidingPaths() throws -> [[String]] {
    guard let tip = try state().tip else { return [] }
    let files = try repository.files(in: repository.commit(tip).tree).map(\.path)
    let groups = Dictionary(grouping: files) { path in path.components.map { NameKey($0) } }
    return groups.values.filter { $0.count > 1 }
      .map { group in group.sorted().map(\.description) }
      .sorted { $0.lexicographicallyPrecedes($1) }
  }
}
