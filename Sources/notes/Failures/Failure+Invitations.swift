internal import Sync

extension Failure {
  /// An invitation that ended without anybody joined by it.
  ///
  /// - Parameter seconds: how long it was to be open.
  static func invitation(ended end: InvitationEnd?, after seconds: Double) -> Failure {
    switch end {
    case .exhausted:
      Failure(
        .refusedByPeer, "wrong_code", "three attempts with a wrong code ended the invitation",
        hint: "'notes invite' opens another")
    case .expired:
      Failure(
        .failed, "expired", "nobody joined in \(TimeText.duration(Int(seconds)))",
        hint: "'notes invite' opens another invitation")
    case .used, .withdrawn, nil:
      Failure(
        .failed, "cancelled", "the invitation was cancelled",
        hint: "'notes invite' opens a new one")
    }
  }

  /// A device joined, and then received nothing.
  static func firstSync(failed cause: Failure, in folder: String) -> Failure {
    Failure(
      cause.exit, "first_sync_failed",
      "this device is a member now, but the first sync failed: \(cause.message)",
      hint: "run 'notes sync' in \(Visible.name(folder))")
  }
}
