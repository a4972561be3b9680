internal import Git
internal import Notebook
internal import WorkTree

/// The reason why heads whose objects are here are not merged: the field `refused` of
/// notes-protocol(7), "applied". The same heads would be refused again.
public enum MergeRefusal: String, Codable, Sendable, CaseIterable {
  /// Most notes would be deleted; the user may allow it.
  case massDeletion = "mass_deletion"
  /// More bytes would be written into the folder than notes writes without asking, or than half the free disk
  /// space; the user may allow it.
  case largeVersion = "large_version"
  /// The merge would exceed a limit of all devices.
  case tooLarge = "merge_too_large"
  /// The versions descend from a version that was pruned.
  case pruned = "version_cut_off"
  /// The versions descend from a version from before a forgetting, or each side has a forgetting
  /// unknown to the other.
  case forgotten = "was_forgotten"
  /// No member vouches for the versions.
  case unsigned = "unsigned_version"

  /// Nil if the error is not a refusal; the merge may then succeed the next time.
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
  /// The side that refuses to merge the other one's versions, and the reason. For programs it is
  /// the reason's name, with the suffix `_there` if the other device refuses.
  public struct Refusal: Hashable, Codable, Sendable {
    /// The reason.
    public let reason: MergeRefusal
    /// Whether the other device refuses this device's versions. False if this device refuses the other's.
    public let isThere: Bool

    /// The name for programs: the reason's, with `_there` if the other device refuses.
    public var name: String { reason.rawValue + (isThere ? Self.suffix : "") }

    init(_ reason: MergeRefusal, isThere: Bool) {
      self.reason = reason
      self.isThere = isThere
    }

    private static let suffix = "_there"

    /// Throws if the reason is unknown.
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

    /// Encodes the name for programs as one string.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(name)
    }
  }
}
