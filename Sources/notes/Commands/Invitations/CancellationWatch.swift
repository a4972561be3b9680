internal import Glibc
internal import Sync
internal import Synchronization

/// Looks whether `notes invitations cancel` asked this process to take an invitation back.
final class CancellationWatch: Sendable {
  private let isOver = Atomic(false)

  private static let interval: UInt32 = 250_000

  init(
    _ held: HeldInvitation, of invitation: Invitation, withdraw: @escaping @Sendable () -> Void
  ) throws {
    try startThread { [self] in
      while !isOver.load(ordering: .sequentiallyConsistent), invitation.end == nil {
        if held.isCancelled { return withdraw() }
        usleep(Self.interval)
      }
    }
  }

  func end() { isOver.store(true, ordering: .sequentiallyConsistent) }
}
