import Git
import TestSupport
import Testing

@testable import Exchange

/// notes-protocol(7), "The end of a session": every order in which the messages of sessions between two
/// and three devices can arrive, with edits in between and loss of connection at any point, played with
/// the rules that sessions go by.
@Suite("The end of a session, searched")
struct SessionModelTests {
  @Test("Two devices, in every way that versions may go", arguments: ModelWorld.pairs)
  func two(world: ModelWorld) throws {
    let found = try ModelSearch(world).run()
    print("\(world.name): \(found.states) states, \(found.ends) ends")
    #expect(found.ends > 0)
  }

  @Test("Three devices in a row", arguments: ModelWorld.rows)
  func three(world: ModelWorld) throws {
    let found = try ModelSearch(world).run()
    print("\(world.name): \(found.states) states, \(found.ends) ends")
    #expect(found.ends > 0)
  }

  /// A model that finds nothing wrong in wrong rules shows nothing.
  @Test("Rules that are wrong are found out", arguments: ModelMutation.allCases)
  func mutated(mutation: ModelMutation) {
    #expect(throws: ModelFault.self) {
      for var world in ModelWorld.pairs + ModelWorld.rows {
        world.mutation = mutation
        _ = try ModelSearch(world).run()
      }
    }
  }
}

/// A rule of the table that is broken on purpose.
enum ModelMutation: CaseIterable, Sendable {
  /// `applied` is not sent for what is known already.
  case answersNothing
  /// A side is done although the other has not confirmed what it told.
  case endsUnconfirmed
  /// A side is done although it waits for what it asked for, or has not settled all.
  case endsUnsettled
  /// What was told twice is confirmed by the answer to the first time.
  case confirmsAll
}

/// What is played: who knows what, and which ways versions go.
struct ModelWorld: Sendable, CustomTestStringConvertible {
  var name: String
  /// What each device shows at first: commits as bits. A commit stands for itself; that one descends
  /// from another is said by `parents`.
  var heads: [[Int]]
  /// The parents of each commit.
  var parents: [[Int]]
  /// Which commits a device may make while sessions are under way, in order.
  var edits: [[Int]]
  /// The sessions: two devices, and their terms.
  var sessions: [(Int, Int, SessionRules.Terms, SessionRules.Terms)]
  var mutation: ModelMutation?

  var testDescription: String { name }

  private static func terms(
    _ gives: Bool, _ takes: Bool, owes: Bool? = nil, ends: Bool = true
  ) -> SessionRules.Terms {
    SessionRules.Terms(gives: gives, takes: takes, owesAnswers: owes ?? takes, ends: ends)
  }

  /// 0 is common; 1 is an edit of the one, 2 of the other, 3 and 4 are made meanwhile; 5 follows 1.
  private static let parents = [[], [0], [0], [1], [2], [1]]

  static let pairs: [ModelWorld] = {
    let both = terms(true, true)
    let give = terms(true, false)
    let take = terms(false, true)
    let none = terms(false, false)
    // A role that was taken away by what the session itself brought: the peer gives in vain.
    let takesNoMore = terms(true, false, owes: true)
    let ways: [(String, SessionRules.Terms, SessionRules.Terms)] = [
      ("both ways", both, both), ("push", give, take), ("pull", take, give), ("no way", none, none),
      ("a reader that gives in vain", both, takesNoMore),
    ]
    let starts: [(String, [[Int]])] = [
      ("alike", [[0], [0]]), ("one ahead", [[1], [0]]), ("the other ahead", [[0], [2]]),
      ("apart", [[1], [2]]), ("far ahead", [[5], [1]]), ("one without versions", [[], [2]]),
      ("two heads", [[1, 2], [5]]),
    ]
    var worlds: [ModelWorld] = []
    for (way, one, other) in ways {
      for (start, heads) in starts {
        for edits in [[[], []], [[3], []], [[3], [4]]] {
          worlds.append(
            ModelWorld(
              name: "\(way), \(start), \(edits.joined().count) edits meanwhile", heads: heads,
              parents: parents, edits: edits, sessions: [(0, 1, one, other)]))
        }
      }
    }
    return worlds
  }()

  static let rows: [ModelWorld] = {
    let both = terms(true, true)
    let lasting = terms(true, true, ends: false)
    return [
      ModelWorld(
        name: "two sessions that end", heads: [[1], [0], [2]], parents: parents,
        edits: [[], [], []], sessions: [(0, 1, both, both), (1, 2, both, both)]),
      ModelWorld(
        name: "two sessions that end, an edit meanwhile", heads: [[1], [0], [0]], parents: parents,
        edits: [[], [4], []], sessions: [(0, 1, both, both), (1, 2, both, both)]),
      ModelWorld(
        name: "one that ends beside one that goes on", heads: [[1], [0], [2]], parents: parents,
        edits: [[], [], []], sessions: [(0, 1, both, both), (1, 2, lasting, lasting)]),
    ]
  }()
}

/// What the search found wrong.
struct ModelFault: Error, CustomStringConvertible {
  var description: String
}
