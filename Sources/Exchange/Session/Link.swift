package import Git
internal import System

/// Carries messages between a session and the other side. It knows no notebook: the replica
/// (Replica.swift) decides what is shown, accepted and stored.
///
/// Everything is called on the session's thread, except the result of `waker`.
package protocol Link: AnyObject {
  /// The number of bytes over the link so far.
  var traffic: Traffic { get }
  /// Whether a pack is being sent to the other side, or was requested.
  var isGiving: Bool { get }
  /// Sends a message to the other side.
  func send(_ message: LinkMessage) throws
  /// Sends a pack that the other side has requested, in parallel to other messages.
  func give(_ pack: PackSender)
  /// Waits for the next event; nil at `deadline`, when the waker was called, or when the notebook must be
  /// checked again. No link waits for ever. `isPatient`: this side leaves a fetch to another session, and
  /// shows the other side that it is alive.
  func next(until deadline: Instant?, isPatient: Bool) throws -> LinkEvent?
  /// Ends the wait in `next(until:)`. Can be called from any thread.
  var waker: @Sendable () -> Void { get }
  /// Runs `body`, which may take long, and lets the other side know.
  func whileBusy<Result>(onTick: () -> Void, _ body: @escaping () throws -> Result) throws -> Result
  /// Sends waiting messages and, if it concerns the other side, the reason for the end; then closes the link.
  /// Without an error, the reason is that the session is complete.
  func close(after error: (any Error)?)
}

/// The terms of a session: the directions in which versions go, and the versions that the other side shows at
/// first.
package struct SessionTerms {
  /// The versions that the other side shows.
  let theirs: Shown
  /// The version of the other side's merge rules; nil if unknown.
  let rules: Int?
  let exchange: SessionRules.Terms
  /// Whether the other side supports forgettings.
  let knowsForgettings: Bool

  /// The terms at the beginning of a session.
  package init(
    theirs: Shown, rules: Int? = nil, exchange: SessionRules.Terms, knowsForgettings: Bool = true
  ) {
    self.knowsForgettings = knowsForgettings
    self.theirs = theirs
    self.rules = rules
    self.exchange = exchange
  }
}

/// The messages of a side of a session.
package enum LinkMessage {
  /// Requests these heads and their history; `LinkEvent.arrived` follows. The known commits are here
  /// with all their history.
  case want([ObjectID], known: [ObjectID])
  /// This side shows new versions, and the other side requests those that it lacks.
  case shows(Shown)
  /// This side's answer: the versions shown now; how many of the other side's heads messages this answers; how
  /// many versions were received in this session; how many notes are in conflict; and the reason if the heads
  /// were not merged.
  case answer(Shown, heard: Int, received: Int, conflicts: Int, refusal: MergeRefusal?)
  /// Asks the other side for a sign of life.
  case ping
  /// A message that is not about versions.
  case notice(Remark)
}

/// The events on a link.
package enum LinkEvent {
  case shows(Shown)
  /// The other side shows new versions, as an answer: `heard` says how many of this side's heads
  /// messages the other side has settled.
  case answered(Shown, heard: Int?, refusal: MergeRefusal?)
  /// The other side requests these heads. It has the known commits with all their history.
  case asked([ObjectID], known: [ObjectID])
  /// The requested versions have arrived, in a quarantine.
  case arrived(Quarantine)
  /// The requested pack arrives slowly: the session may also ask other peers.
  case slow
  /// A message that is not about versions.
  case notice(Remark)
}

/// A message that is not about versions: see `Notice`.
package struct Remark {
  let message: any Message
}
