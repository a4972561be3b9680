/// Which of the rules below the line a merge uses: notes-merge(7), "Below the line".
public struct MergeRules: OptionSet, Hashable, Codable, Sendable {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Both insertions stay where several sides only inserted lines at one place.
  public static let joinedInsertions = MergeRules(rawValue: 1)
  /// Edits of neighbouring lines merge.
  public static let touchingLines = MergeRules(rawValue: 2)
  /// Edits of different sentences merge.
  public static let sentences = MergeRules(rawValue: 4)
  /// Edits with a whole unchanged word between them merge.
  public static let words = MergeRules(rawValue: 8)

  /// Every rule: what a tip is made with.
  public static let all: MergeRules = [.joinedInsertions, .touchingLines, .sentences, .words]
  /// Lines alone: what is left is in markers.
  public static let lines: MergeRules = []
}
