public import Notebook
public import Sync

/// What happens while a service runs.
public enum ServiceEvent: Sendable {
  /// The service listens there; the host is what was asked for (`*` for all interfaces).
  case listening(address: String, port: UInt16)
  /// An invitation is open.
  case invitation(Invitation, port: UInt16)
  /// A member has connected.
  case peer(PeerIdentity)
  /// Versions of a peer were joined.
  case received(from: PeerIdentity, JoinResult)
  /// A session ran to its end.
  case finished(SessionResult)
  /// A member has the same heads and shows another tip.
  case differs(PeerIdentity, TipDifference)
  /// A session failed, or somebody was refused; the peer is known when it proved who it is.
  case failed(peer: PeerIdentity?, address: String, any Error)
  /// A device joined by an invitation.
  case joined(Invitation, PairedDevice)
  /// Somebody who has the code is shown the offer.
  case offered(Invitation, address: String)
  /// Somebody who had the code was shown the offer and declined. The invitation stays open.
  case declined(Invitation, address: String)
  /// Somebody tried a wrong code.
  case wrongCode(Invitation, address: String, attemptsLeft: Int)
  /// An invitation ended without being used.
  case ended(Invitation, InvitationEnd)
  /// This device cannot be found by discovery now; it goes on being tried.
  case discoveryFailed(any Error)
  /// Something happened in a notebook that is watched.
  case watch(WatchEvent)
}
