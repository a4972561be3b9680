package import Git

/// What one side of a session knows of both, and what follows from it: notes-protocol(7), "Exchanging
/// versions" and "The end of a session". A plain value, so that a test can search all that can happen.
package struct SessionRules: Hashable, Sendable {
  /// What may be exchanged.
  package struct Terms: Hashable, Sendable {
    /// Versions go to the other side.
    package var gives: Bool
    /// Versions come from the other side.
    package var takes: Bool
    /// The other side gives, as far as it knows, and so waits for an answer.
    package var owesAnswers: Bool
    /// A side wants the session to end when both are done.
    package var ends: Bool

    package init(gives: Bool, takes: Bool, owesAnswers: Bool, ends: Bool) {
      self.gives = gives
      self.takes = takes
      self.owesAnswers = owesAnswers
      self.ends = ends
    }
  }

  /// What to do next.
  package enum Step: Hashable, Sendable {
    /// Ask for these heads, or leave them to another session that fetches them.
    case fetch([ObjectID])
    /// Merge the heads that the other side shows; they are here.
    case merge
    /// Say that all the other side told is settled.
    case answer
    /// Say that this side is done, and close.
    case end
    /// Wait for something to happen.
    case wait
  }

  /// How far the fetching of something is.
  package enum Fetch: Hashable, Sendable {
    case none
    /// Another session fetches it.
    case leftToOthers
    case asked([ObjectID])
  }

  package let terms: Terms
  /// The heads that this side has told, and the other.
  package private(set) var own: [ObjectID]
  package private(set) var theirs: [ObjectID]
  package private(set) var fetch = Fetch.none
  /// Whether the other side is taking something.
  package var isGiving = false
  /// How many times each side has told its heads.
  private var told = 1
  private var heard = 1
  /// How many of these times each has said to be settled.
  package private(set) var answered = 0
  private var confirmed = 0
  /// The heads of the other side that are settled.
  private var settled: [ObjectID]?
  private var packsTaken = 0

  /// The state after both have told what they show for the first time.
  package init(_ terms: Terms, own: [ObjectID], theirs: [ObjectID]) {
    self.terms = terms
    self.own = own
    self.theirs = theirs
  }

  /// Whether both show the same heads.
  package var areAlike: Bool { Set(own) == Set(theirs) }

  /// Whether what the other side has told is settled.
  private var isSettled: Bool { !terms.takes || settled == theirs || areAlike }

  /// What to do next. Settles what needs nothing.
  ///
  /// - Parameters:
  ///   - lacking: which of some heads are not here.
  ///   - isShown: whether this device shows these heads, or something made on top of them.
  package mutating func next(
    lacking: ([ObjectID]) throws -> [ObjectID], isShown: ([ObjectID]) throws -> Bool
  ) rethrows -> Step {
    guard case .none = fetch else { return .wait }
    if !isSettled {
      let wanted = try lacking(theirs)
      if wanted.isEmpty {
        if try !isShown(theirs) { return .merge }
      } else if !terms.ends || packsTaken < ProtocolLimits.packsTaken {
        return .fetch(wanted)
      }
      settled = theirs
    }
    guard terms.ends else { return .wait }
    if terms.owesAnswers, answered < heard, !areAlike { return .answer }
    return isDone ? .end : .wait
  }

  /// Whether the other side has all that this one told, as far as it takes it.
  package var isConfirmed: Bool { !terms.gives || areAlike || confirmed >= told }

  /// "A side is done when all of these hold".
  private var isDone: Bool { !isGiving && isSettled && isConfirmed }

  /// This side has asked for these heads.
  package mutating func ask(for heads: [ObjectID]) { fetch = .asked(heads) }

  /// Another session fetches what this side lacks.
  package mutating func leaveToOthers() { fetch = .leftToOthers }

  /// What another session was fetching may be asked for.
  package mutating func reconsider() {
    if case .leftToOthers = fetch { fetch = .none }
  }

  /// What was asked for has come.
  package mutating func arrived() {
    fetch = .none
    packsTaken += 1
  }

  /// These heads of the other side were merged, or refused.
  package mutating func settle(_ heads: [ObjectID]) { settled = heads }

  /// The other side tells its heads.
  package mutating func hear(_ heads: [ObjectID], answering: Int?) {
    if heads != theirs {
      theirs = heads
      heard += 1
    }
    confirmed = max(confirmed, answering ?? 0)
  }

  /// This side tells its heads.
  package mutating func tell(_ heads: [ObjectID]) {
    if heads != own {
      own = heads
      told += 1
    }
  }

  /// This side answers for all that is settled.
  ///
  /// - Returns: how many times the other side had told its heads by that.
  package mutating func answer() -> Int {
    if isSettled { answered = heard }
    return answered
  }
}
