package import Git
package import Glibc
package import State
internal import System

/// The permissions of notes and folders that not everybody can read, that have another group than new files, or
/// (for folders) that have the set-group-ID bit: `.git/notes/private`. Versions do not record permissions. With
/// this file, a removed note that comes back has permissions as strict as before, and the same group. It is a
/// cache: without it, new files get the system's default permissions. notes-merge(7), "What a file has besides
/// its text".
package struct PrivateFiles {
  /// The access rights of a note or folder, if they differ from those of new files.
  package struct Access: Equatable {
    /// The permissions; a folder's include the set-group-ID bit.
    let mode: mode_t
    /// The group; nil if it is the user's own.
    let group: gid_t?
  }

  private let file: String
  private var known: [TreePath: Access]
  private var isChanged = false

  /// The read permissions of a file that is not private.
  private static let read: mode_t = 0o044

  /// The file in this state folder.
  package init(in state: StateFolder) {
    file = state[.private]
    known =
      Disk.memory(at: file) { lines throws(StateDamage) -> [TreePath: Access] in
        var known: [TreePath: Access] = [:]
        for words in lines.lines.map(\.words) {
          let group = words.count == 3 ? gid_t(words[2]) : nil
          guard (2...3).contains(words.count), words.count == 2 || group != nil,
            let mode = mode_t(words[0], radix: 8), let path = words.path(1)
          else { throw StateDamage(state[.private], "a line is no private note") }
          known[path] = Access(mode: mode, group: group)
        }
        return known
      } ?? [:]
  }

  package var isEmpty: Bool { known.isEmpty }

  /// The access rights of a note or folder; nil if they are those of a new file.
  package subscript(path: TreePath) -> Access? { known[path] }

  /// Records the access rights that a note or folder has now.
  package mutating func record(_ path: TreePath, _ mode: mode_t, group: gid_t) {
    let isFolder = mode & S_IFMT == S_IFDIR
    let access = Access(
      mode: mode & (isFolder ? 0o2777 : 0o777), group: group == getegid() ? nil : group)
    let isPlain =
      mode & Self.read == Self.read && access.group == nil && access.mode & S_ISGID == 0
    let now = isPlain ? nil : access
    if known[path] == now { return }
    known[path] = now
    isChanged = true
  }

  /// Writes the changes to the disk.
  package mutating func keep() {
    guard isChanged else { return }
    let lines = known.sorted { $0.key < $1.key }.map { path, access in
      String(access.mode, radix: 8) + " " + path.hexadecimal
        + (access.group.map { " \($0)" } ?? "") + "\n"
    }
    Disk.keep(Array(lines.joined().utf8), at: file)
    isChanged = false
  }
}
