internal import Channel
internal import Discovery
internal import Sync
internal import Watch

/// Who holds an invitation open: the watcher of the notebook, or this process.
protocol Inviter: Sendable {
  var invitation: Invitation { get }
  /// Whether it notes in the book of invitations what becomes of it, and looks whether it was taken
  /// back there.
  var keepsBook: Bool { get }
  /// Takes the invitation back. From any thread.
  func withdraw()
  func run(cancellation: CancellationToken, onEvent: (Event) -> Void) throws
}

extension WatchedInvitation: Inviter {
  var keepsBook: Bool { true }
}

/// This process, by a service that lasts as long as the invitation.
struct OwnInviter: Inviter {
  let invitation: Invitation
  var keepsBook: Bool { false }
  private let service: Service
  private let discovery: (any Discovery)?

  init(
    _ context: SessionContext, _ invitation: Invitation, discovery: (any Discovery)?,
    listen: Address
  ) throws {
    self.invitation = invitation
    self.discovery = discovery
    service = try Service(
      contexts: [context], discovery: discovery, listen: listen, logger: ServiceLogging.silent)
    try service.open(invitation)
  }

  func withdraw() { service.withdraw(invitation) }

  func run(cancellation: CancellationToken, onEvent: (Event) -> Void) throws {
    defer { discovery?.stop() }
    try service.run(cancellation: cancellation, until: invitation, onEvent: onEvent)
  }
}
