public import Git

/// Something a merge did that is worth telling: notes-merge(7), "Trailers".
public struct MergeReport: Hashable, Codable, Sendable {
  /// The kind of decision.
  public enum Kind: Hashable, Codable, Sendable {
    /// The note holds a conflict block.
    case conflict
    /// Fine-grained rules settled what lines left in conflict.
    case merged(MergeRules)
    /// One side edited the file, another deleted it: the edit stays.
    case keptEdit
    /// The file follows a side that renamed it.
    case renamed(from: TreePath)
    /// Sides renamed the file differently: it stays under each name.
    case renamedDifferently(from: TreePath)
    /// The file was added to a folder that another side renamed to this one: it stays in the former.
    case folderRenamed(to: TreePath)
    /// The newer side's file stays beside the older one's, which has the name `of`.
    case copied(of: TreePath)
  }

  /// The file, under its name in the merged tree.
  public let path: TreePath
  /// The kind of decision.
  public let kind: Kind

  /// Reports what was done with the file at `path` of the merged tree.
  public init(path: TreePath, kind: Kind) {
    self.path = path
    self.kind = kind
  }
}

/// Which of the fine-grained rules a merge uses: notes-merge(7), "Fine-grained merge".
public struct MergeRules: OptionSet, Hashable, Codable, Sendable {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Both insertions stay where several sides only inserted lines at one place.
  public static let joinedInsertions = MergeRules(rawValue: 1)
  /// Edits of neighbouring lines merge.
  public static let touchingLines = MergeRules(rawValue: 2)
  /// Edits with a whole unchanged word between them merge, and white space gives way to words.
  public static let words = MergeRules(rawValue: 8)

  /// Every rule: what a tip is made with.
  public static let all: MergeRules = [.joinedInsertions, .touchingLines, .words]
  /// Lines alone: what is left is in markers.
  public static let lines: MergeRules = []
}
