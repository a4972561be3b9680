internal import Git
internal import Notebook
internal import WorkTree

/// Why heads whose objects are here are not merged, the field `refused` of notes-protocol(7),
/// "applied". The same heads would be refused again.
public enum MergeRefusal: String, Codable, Sendable, CaseIterable {
  /// Most notes would be deleted; the user may allow it.
  case massDeletion = "mass_deletion"
  /// More would come into the folder than is usual, or free; the user may allow it.
  case largeVersion = "large_version"
  /// The merge would exceed what devices take.
  case tooLarge = "merge_too_large"
  /// They descend from a version that was cut off.
  case pruned = "version_cut_off"
  /// They descend from a version as it was before something was forgotten, or each side had something else forgotten.
  case forgotten = "was_forgotten"
  /// No member answers for them.
  case unsigned = "unsigned_version"

  /// Nil where a merge failed for another reason, which may have gone by the next time.
  init?(_ error: any Error) {
    switch error {
    case NotebookError.massDeletion: self = .massDeletion
    case NotebookError.largeVersion: self = .largeVersion
    case NotebookError.mergeTooLarge, GitError.tooLarge, GitError.objectTooLarge: self = .tooLarge
    case NotebookError.wasPruned: self = .pruned
    case NotebookError.wasForgotten, NotebookError.forgotOtherwise: self = .forgotten
    case is UnansweredVersion: self = .unsigned
    default: return nil
    }
  }
}

extension PeerState {
  /// The side that refuses to merge the other one's versions, and the reason. To programs it is the
  /// reason's name, with `_there` behind it if the other device refuses.
  public struct Refusal: Hashable, Codable, Sendable {
    /// Why.
    public let reason: MergeRefusal
    /// Whether the other one refuses what this one shows; else it is the other way round.
    public let isThere: Bool

    /// As programs are told: the reason's name, with `_there` where the other device refuses.
    public var name: String { reason.rawValue + (isThere ? Self.suffix : "") }

    init(_ reason: MergeRefusal, isThere: Bool) {
      self.reason = reason
      self.isThere = isThere
    }

    private static let suffix = "_there"

    /// Throws for a reason that is none.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      let text = try container.decode(String.self)
      isThere = text.hasSuffix(Self.suffix)
      let name = String(isThere ? text.dropLast(Self.suffix.count) : text[...])
      guard let reason = MergeRefusal(rawValue: name) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "a reason: \(text)")
      }
      self.reason = reason
    }

    /// Writes one string.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(name)
    }
  }
}
