public import Git

/// A decision of a merge that is reported: notes-merge(7), "Trailers".
public struct MergeReport: Hashable, Codable, Sendable {
  /// The kind of decision.
  public enum Kind: Hashable, Codable, Sendable {
    /// The note has a conflict block.
    case conflict
    /// Fine-grained rules merged lines that would be in conflict.
    case merged(MergeRules)
    /// One side edited the file, another deleted it: the edited file is kept.
    case keptEdit
    /// The file follows a side that renamed it.
    case renamed(from: TreePath)
    /// Sides renamed the file differently: it is kept under each name.
    case renamedDifferently(from: TreePath)
    /// The file was added to a folder that another side renamed to this one. The file stays in the former
    /// folder.
    case folderRenamed(to: TreePath)
    /// The newer side's file is kept beside the older one's, which has the name `of`.
    case copied(of: TreePath)
  }

  /// The file, under its name in the merged tree.
  public let path: TreePath
  /// The kind of decision.
  public let kind: Kind

  /// A report about the file at `path` of the merged tree.
  public init(path: TreePath, kind: Kind) {
    self.path = path
    self.kind = kind
  }
}

/// The fine-grained rules that a merge uses: notes-merge(7), "Fine-grained merge".
public struct MergeRules: OptionSet, Hashable, Codable, Sendable {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Both insertions are kept if sides only inserted lines at one place.
  public static let joinedInsertions = MergeRules(rawValue: 1)
  /// Edits of neighbouring lines merge.
  public static let touchingLines = MergeRules(rawValue: 2)
  /// Edits with a whole unchanged word between them merge, and edits of words take precedence over
  /// white space.
  public static let words = MergeRules(rawValue: 8)

  /// All rules, which are used for tips.
  public static let all: MergeRules = [.joinedInsertions, .touchingLines, .words]
  /// No rules: differing lines become conflicts.
  public static let lines: MergeRules = []
}
