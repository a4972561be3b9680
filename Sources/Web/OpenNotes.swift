internal import Synchronization
internal import Watch

/// The notes of a notebook that are open in browsers, for reading or for editing, and the people there.
final class OpenNotes: Sendable {
  private struct State {
    var next = 0
    var open: [Int: OpenNote.Page] = [:]
  }

  private let state = Mutex(State())
  private let changed = Mutex<@Sendable (OpenNote.Page) -> Void>({ _ in })

  /// Calls `body` when a note was opened or closed.
  func whenChanged(_ body: @escaping @Sendable (OpenNote.Page) -> Void) {
    changed.withLock { $0 = body }
  }

  /// The names of the other people who have a note open, by the notes' IDs.
  func names(except own: String, editing: Bool) -> [String: Set<String>] {
    state.withLock { state in
      let others = state.open.values.filter { $0.name != own && $0.isEditing == editing }
      return Dictionary(grouping: others, by: \.note).mapValues { Set($0.map(\.name)) }
    }
  }

  fileprivate func open(_ page: OpenNote.Page) -> Int {
    let number = state.withLock { state in
      state.next += 1
      state.open[state.next] = page
      return state.next
    }
    changed.withLock { $0 }(page)
    return number
  }

  fileprivate func close(_ number: Int) {
    guard let page = state.withLock({ $0.open.removeValue(forKey: number) }) else { return }
    changed.withLock { $0 }(page)
  }
}

/// A note that is open in a browser, as long as this object exists.
final class OpenNote: Sendable {
  /// A note's page, and the person in front of it.
  struct Page {
    let note: String
    let name: String
    let isEditing: Bool
  }

  private let notes: OpenNotes
  private let number: Int
  /// Tells the other devices through the watcher, as long as this object exists.
  private let watcher: ControlClient?

  init(_ page: Page, in notes: OpenNotes, watcher: ControlClient?) {
    (self.notes, self.watcher) = (notes, watcher)
    number = notes.open(page)
  }

  deinit { notes.close(number) }
}
