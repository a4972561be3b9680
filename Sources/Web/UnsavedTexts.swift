internal import Git
internal import Synchronization

/// Texts that pages for editing have shown and that are not in a version: an editor's unsaved
/// texts.
final class UnsavedTexts: Sendable {
  private let shown = Mutex<[ObjectID]>([])
  private static let most = 1_000

  func remember(_ blob: ObjectID) {
    shown.withLock { shown in
      guard !shown.contains(blob) else { return }
      shown.append(blob)
      if shown.count > Self.most { shown.removeFirst() }
    }
  }

  func contains(_ blob: ObjectID) -> Bool { shown.withLock { $0.contains(blob) } }
}
