package import Git
internal import System

/// How versions travel between this notebook and one other place: what a session needs of the other
/// side. A device behind TLS is one (`DeviceLink`); a git hub or a bundle is another.
///
/// All is called on the session's thread, but for what `waker` returns.
package protocol Link: AnyObject {
  /// Who is at the other end.
  var peer: PeerIdentity { get }
  /// What went over the link so far.
  var traffic: Traffic { get }
  /// Whether the other side is taking something now.
  var isGiving: Bool { get }
  /// Whether this side leaves a fetch to another session, and the peer is to be patient.
  var isWaitingForOthers: Bool { get set }

  /// Shows the other side what this one shows, and learns what it shows and what may be exchanged.
  func open(showing own: Shown, _ options: SessionOptions) throws -> LinkTerms
  /// Asks for these heads and all they are made of; `LinkEvent.arrived` follows.
  ///
  /// - Parameter known: commits that are here with all their history.
  func fetch(_ wanted: [ObjectID], known: [ObjectID]) throws
  /// Shows the other side something new, of which it takes what it lacks.
  func show(_ shown: Shown) throws
  /// Says what came of what the other side showed.
  func answer(_ answer: LinkAnswer) throws
  /// Tells the other side what is no version.
  func tell(_ remark: LinkRemark) throws
  /// What happens next, waited for; nil when `deadline` has come, or somebody called the waker.
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

extension Link {
  package func tell(_ remark: LinkRemark) throws {}
}

/// What may be exchanged on a link, and where it begins.
package struct LinkTerms {
  /// What the other side shows.
  package var theirs: Shown
  /// Which version of the merge rules it follows, where it says so.
  package var rules: Int?
  package var exchange: SessionRules.Terms

  package init(theirs: Shown, rules: Int? = nil, exchange: SessionRules.Terms) {
    self.theirs = theirs
    self.rules = rules
    self.exchange = exchange
  }
}

/// What came of what the other side showed.
package struct LinkAnswer: Sendable {
  package var shown: Shown
  /// How many times the other side had told its heads by what this answers.
  package var heard: Int
  /// How many versions came in this session, and how many notes are in conflict.
  package var received: Int
  package var conflicts: Int
  /// Whether the guard against mass deletion kept it from being merged.
  package var isRefused: Bool
}

/// What a side tells that is no version.
package enum LinkRemark: Sendable {
  /// These notes are edited here.
  case editing([TreePath])
  /// An invitation to another notebook.
  case invitation(CarriedInvitation)
  /// A sign of life is wanted.
  case ping
}

/// What happens on a link.
package enum LinkEvent {
  /// The other side shows this now.
  case shows(Shown)
  /// The same, as an answer: `heard` tells how many times this side had told its heads by what the
  /// other side has settled.
  case answered(Shown, heard: Int?, isRefused: Bool)
  /// What was asked for is here, apart from the repository.
  case arrived(Quarantine)
  /// Little of what was asked for has come in a while: others may be asked, too.
  case slow
  /// These notes are edited at the other side.
  case editing([TreePath])
}

/// What went over a link.
package struct Traffic: Hashable, Sendable {
  /// Versions that were sent.
  package var sentVersions = 0
  /// Bytes on the wire.
  package var sentBytes = 0
  package var receivedBytes = 0

  package init() {}
}
