package import Git
package import Glibc
package import State
internal import System

/// The notes and folders that not everybody may read, with their permissions: `.git/notes/private`. Versions hold
/// no permissions; by this a note that was removed comes back as closed as it was. It is a memory: without it, new
/// files have the permissions that the system gives them. notes-merge(7), "What a file has besides its text".
package struct PrivateFiles {
  private let file: String
  private var modes: [TreePath: mode_t]
  private var isChanged = false

  /// The permissions that a file has which is no private one.
  private static let read: mode_t = 0o044

  /// The ones of the notebook with this state folder.
  package init(in state: StateFolder) {
    file = state[.private]
    modes =
      Disk.memory(at: file) { lines throws(StateDamage) -> [TreePath: mode_t] in
        var modes: [TreePath: mode_t] = [:]
        for words in lines.lines.map(\.words) {
          guard words.count == 2, let mode = mode_t(words[0], radix: 8), let path = words.path(1)
          else { throw StateDamage(state[.private], "a line is no private note") }
          modes[path] = mode
        }
        return modes
      } ?? [:]
  }

  package var isEmpty: Bool { modes.isEmpty }

  /// The permissions that a note or folder had; nil for one that everybody might read.
  package subscript(path: TreePath) -> mode_t? { modes[path] }

  /// Notes the permissions that a note or folder has now.
  package mutating func record(_ path: TreePath, _ mode: mode_t) {
    let now = mode & Self.read == Self.read ? nil : mode & 0o777
    if modes[path] == now { return }
    modes[path] = now
    isChanged = true
  }

  /// Writes what has changed.
  package mutating func keep() {
    guard isChanged else { return }
    let lines = modes.sorted { $0.key < $1.key }
      .map { String($0.value, radix: 8) + " " + $0.key.hexadecimal + "\n" }
    Disk.keep(Array(lines.joined().utf8), at: file)
    isChanged = false
  }
}
