internal import Git

/// One side's knowledge of both sides in a session, and the steps that follow from it: notes-protocol(7),
/// "Exchanging versions" and "The end of a session". A plain value, so that a test can search all possible
/// sequences.
package struct SessionRules: Hashable, Sendable {
  /// The directions of an exchange.
  package struct Terms: Hashable, Sendable {
    var gives: Bool
    var takes: Bool
    /// Whether the other side believes that it sends versions, and so waits for answers.
    var owesAnswers: Bool
    /// Whether one side wants the session to end when both are done.
    var ends: Bool
    /// How many packs this side accepts in a session that ends.
    var mostPacks: Int

    /// The terms at the beginning of a session.
    package init(
      gives: Bool, takes: Bool, owesAnswers: Bool, ends: Bool,
      mostPacks: Int = ProtocolLimits.packsTaken
    ) {
      self.mostPacks = mostPacks
      self.gives = gives
      self.takes = takes
      self.owesAnswers = owesAnswers
      self.ends = ends
    }
  }

  enum Step: Hashable, Sendable {
    case fetch([ObjectID])
    /// Merge the heads that the other side shows; their objects are here.
    case merge
    case answer
    case end
    case wait
  }

  enum Fetch: Hashable, Sendable {
    case none
    /// Another session fetches the heads.
    case leftToOthers
    case asked([ObjectID])
  }

  let terms: Terms
  /// The versions that this side has last told the other.
  private(set) var own: Shown
  /// The heads that the other side has last told this one.
  private(set) var theirs: [ObjectID]
  private(set) var fetch = Fetch.none
  var isGiving = false
  /// How many `heads` messages each side has sent, this side first.
  private var told = 1
  private var heard = 1
  /// How many of the received messages each side has reported as settled, this side first.
  private(set) var answered = 0
  private var confirmed = 0
  /// The other side's heads that this side settled last: notes-protocol(7), "The end of a session". Nil if none are,
  /// or if these may need a merge again.
  private var settled: [ObjectID]?
  private var packsTaken = 0

  init(_ terms: Terms, own: Shown, theirs: [ObjectID]) {
    self.terms = terms
    self.own = own
    self.theirs = theirs
  }

  var isAsking: Bool { if case .asked = fetch { true } else { false } }

  var areAlike: Bool { Set(own.heads) == Set(theirs) }

  /// Whether this side has merged or refused the other side's last heads, or need not.
  private var isSettled: Bool { !terms.takes || settled == theirs || areAlike }

  /// Whether the other side has settled all heads that this side sent. True if it accepts no versions.
  var isConfirmed: Bool { !terms.gives || areAlike || confirmed >= told }

  /// Whether this side is done: notes-protocol(7), "The end of a session".
  private var isDone: Bool { !isGiving && isSettled && isConfirmed }

  /// The next step. Settles heads that need no step. `lacking` returns the heads that are not here; `isShown`
  /// says whether this device's tip has the heads in its history.
  mutating func next(
    lacking: ([ObjectID]) throws -> [ObjectID], isShown: ([ObjectID]) throws -> Bool
  ) rethrows -> Step {
    guard case .none = fetch else { return .wait }
    if !isSettled {
      let wanted = try lacking(theirs)
      if wanted.isEmpty {
        if try !isShown(theirs) { return .merge }
      } else if !terms.ends || packsTaken < terms.mostPacks {
        return .fetch(wanted)
      }
      settled = theirs
    }
    guard terms.ends else { return .wait }
    if terms.owesAnswers, answered < heard, !areAlike { return .answer }
    return isDone ? .end : .wait
  }

  mutating func ask(for heads: [ObjectID]) { fetch = .asked(heads) }

  mutating func leaveToOthers() { fetch = .leftToOthers }

  /// Allows a request for versions that another session was fetching.
  mutating func reconsider() { if case .leftToOthers = fetch { fetch = .none } }

  mutating func arrived() {
    fetch = .none
    packsTaken += 1
  }

  /// Records that these heads of the other side were merged, or refused.
  mutating func settle(_ heads: [ObjectID]) { settled = heads }

  /// Marks the other side's heads as not settled: they may need a merge again, because this device shows other versions
  /// than before.
  mutating func unsettle() { settled = nil }

  mutating func received(_ heads: [ObjectID], answering: Int?) {
    if heads != theirs {
      theirs = heads
      heard += 1
    }
    confirmed = max(confirmed, answering ?? 0)
  }

  mutating func sent(_ shown: Shown) {
    if shown.heads != own.heads { told += 1 }
    own = shown
  }

  /// Marks all settled heads as answered, and returns how many of the other side's `heads` messages that covers.
  mutating func reply() -> Int {
    if isSettled { answered = heard }
    return answered
  }
}
