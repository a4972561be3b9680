package import Git
internal import System

/// How messages travel between this notebook and one other device. It carries: what is shown, taken and
/// kept is the replica's (Replica.swift).
///
/// All is called on the session's thread, but for what `waker` returns.
package protocol Link: AnyObject {
  var peer: PeerIdentity { get }
  /// What went over the link so far.
  var traffic: Traffic { get }
  var isGiving: Bool { get }
  /// Whether this side leaves a fetch to another session, and the peer is to be patient.
  var isWaitingForOthers: Bool { get set }

  /// Shows the other side what this one shows, and learns what it shows and what may be exchanged.
  func open(showing own: Shown, _ options: SessionOptions) throws -> LinkTerms
  /// Asks for these heads and all they are made of; `LinkEvent.arrived` follows. The known commits are
  /// here with all their history.
  func fetch(_ wanted: [ObjectID], known: [ObjectID]) throws
  /// Shows the other side something new, of which it takes what it lacks.
  func show(_ shown: Shown) throws
  /// Says what this side shows now, how many times the other side had told its heads by what this
  /// answers, how many versions came in this session, how many notes are in conflict, and why it was
  /// not merged, if it was not.
  func answer(_ shown: Shown, heard: Int, received: Int, conflicts: Int, refusal: MergeRefusal?)
    throws
  /// Tells the other side what is no version.
  func tell(_ remark: LinkRemark) throws
  /// What happens next, waited for; nil when `deadline` has come, somebody called the waker, or it is time to
  /// look at the notebook again. No link waits for ever.
  func next(until deadline: Instant?) throws -> LinkEvent?
  /// Ends the wait in `next(until:)`. From any thread.
  var waker: @Sendable () -> Void { get }
  /// Does what may take long, so that the other side knows of it.
  func whileBusy<Result>(onTick: () -> Void, _ body: @escaping () throws -> Result) throws -> Result
  /// Sends what is waiting to be sent, says why the session is over, and closes.
  func close(_ reason: ByeReason)
  /// Closes after a failure, and says as much of it as is the other side's business.
  func close(after error: any Error)
}

/// What may be exchanged on a link, and where it begins.
package struct LinkTerms {
  let theirs: Shown
  /// Which version of the merge rules it follows, where it says so.
  let rules: Int?
  let exchange: SessionRules.Terms

  /// The terms of a link that was opened.
  package init(theirs: Shown, rules: Int? = nil, exchange: SessionRules.Terms) {
    self.theirs = theirs
    self.rules = rules
    self.exchange = exchange
  }
}

/// What a side tells that is no version.
package enum LinkRemark: Sendable {
  case editing([TreePath])
  case invitation(CarriedInvitation)
  case ping
}

/// What happens on a link.
package enum LinkEvent {
  case shows(Shown)
  /// The same, as an answer: `heard` tells how many times this side had told its heads by what the
  /// other side has settled.
  case answered(Shown, heard: Int?, refusal: MergeRefusal?)
  /// What was asked for is here, apart from the repository.
  case arrived(Quarantine)
  /// Little of what was asked for has come in a while: others may be asked, too.
  case slow
  case editing([TreePath])
}
