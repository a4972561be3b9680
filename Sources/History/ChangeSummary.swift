public import WorkTree

extension Change {
  /// A line that says what changed.
  public static func summary(of changes: [Change]) -> String {
    func names(_ kind: ChangeKind) -> [String] {
      changes.filter { $0.kind == kind }.map { $0.path.noteTitle }
    }
    let verbs: [(String, [String])] = [
      ("Add", names(.added)), ("Update", names(.modified)), ("Delete", names(.deleted)),
    ]
    let parts = verbs.filter { !$0.1.isEmpty }.map { verb, names in
      names.count <= 3
        ? "\(verb) \(names.joined(separator: ", "))" : "\(verb) \(names.count) notes"
    }
    // A name may hold a line break, which would end the subject.
    return String(parts.joined(separator: "; ").map { $0.isNewline ? " " : $0 })
  }
}
