package import Git
internal import System

/// How messages travel between a session and the other side of it. It carries, and knows no notebook:
/// what is shown, taken and kept is the replica's (Replica.swift).
///
/// All is called on the session's thread, but for what `waker` returns.
package protocol Link: AnyObject {
  /// The bytes that went over the link so far.
  var traffic: Traffic { get }
  /// Whether a pack goes to the other side, or was asked for.
  var isGiving: Bool { get }
  /// Says something to the other side.
  func send(_ message: LinkMessage) throws
  /// Sends a pack that the other side has asked for, while other messages come and go.
  func give(_ pack: PackSender)
  /// The next event, waited for; nil when `deadline` has come, somebody called the waker, or it is time to
  /// look at the notebook again. No link waits for ever. `isPatient`: this side leaves a fetch to another
  /// session, and the other side is to know that it is alive.
  func next(until deadline: Instant?, isPatient: Bool) throws -> LinkEvent?
  /// Ends the wait in `next(until:)`. From any thread.
  var waker: @Sendable () -> Void { get }
  /// Does what may take long, so that the other side knows of it.
  func whileBusy<Result>(onTick: () -> Void, _ body: @escaping () throws -> Result) throws -> Result
  /// Sends what is waiting to be sent, says why the session is over, as far as that is the other side's
  /// business, and closes. Without an error it is done.
  func close(after error: (any Error)?)
}

/// The versions that may be exchanged in a session, and its start.
package struct SessionTerms {
  /// The versions that the other side shows.
  let theirs: Shown
  /// Which version of the merge rules it follows, where it says so.
  let rules: Int?
  let exchange: SessionRules.Terms
  /// Whether the other side knows that something may be forgotten.
  let knowsForgettings: Bool

  /// The terms of a session that begins.
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
  /// Asks for these heads and all they are made of; `LinkEvent.arrived` follows. The known commits are
  /// here with all their history.
  case want([ObjectID], known: [ObjectID])
  /// Something new is shown, of which the other side takes what it lacks.
  case shows(Shown)
  /// The versions shown now, how many times the other side had told its heads by what this answers, how
  /// many versions came in this session, how many notes are in conflict, and why it was not merged, if it
  /// was not.
  case answer(Shown, heard: Int, received: Int, conflicts: Int, refusal: MergeRefusal?)
  /// Asks for a sign of life.
  case ping
  /// Something that is no version.
  case notice(Remark)
}

/// The events on a link.
package enum LinkEvent {
  case shows(Shown)
  /// The same, as an answer: `heard` tells how many times this side had told its heads by what the
  /// other side has settled.
  case answered(Shown, heard: Int?, refusal: MergeRefusal?)
  /// The other side asks for these heads; it has the known commits with all their history.
  case asked([ObjectID], known: [ObjectID])
  /// The versions that were asked for are here, apart from the repository.
  case arrived(Quarantine)
  /// Little of what was asked for has come in a while: others may be asked, too.
  case slow
  /// Something that is no version.
  case notice(Remark)
}

/// A message that is no version, nor about one: `Notice` says which there are.
package struct Remark {
  let message: any Message
}
