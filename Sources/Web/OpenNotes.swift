internal import Synchronization
internal import Watch

/// The notes of a notebook that are open for editing in browsers, and their editors.
final class OpenNotes: Sendable {
  private struct State {
    var next = 0
    var open: [Int: (note: String, name: String)] = [:]
  }

  private let state = Mutex(State())
  private let changed = Mutex<@Sendable () -> Void>({})

  /// Calls `body` when a note was opened or closed.
  func whenChanged(_ body: @escaping @Sendable () -> Void) { changed.withLock { $0 = body } }

  /// The names of the people who have a note open, by the notes' IDs.
  func names(except own: String) -> [String: Set<String>] {
    state.withLock { state in
      Dictionary(grouping: state.open.values.filter { $0.name != own }, by: \.note)
        .mapValues { Set($0.map(\.name)) }
    }
  }

  fileprivate func open(_ note: String, by name: String) -> Int {
    let number = state.withLock { state in
      state.next += 1
      state.open[state.next] = (note, name)
      return state.next
    }
    changed.withLock { $0 }()
    return number
  }

  fileprivate func close(_ number: Int) {
    state.withLock { _ = $0.open.removeValue(forKey: number) }
    changed.withLock { $0 }()
  }
}

/// A note that is open in a browser, as long as this object exists.
final class OpenNote: Sendable {
  private let notes: OpenNotes
  private let number: Int
  /// Tells the other devices through the watcher, as long as this object exists.
  private let watcher: ControlClient?

  init(_ note: String, by name: String, in notes: OpenNotes, watcher: ControlClient?) {
    (self.notes, self.watcher) = (notes, watcher)
    number = notes.open(note, by: name)
  }

  deinit { notes.close(number) }
}
