import Channel
import Membership
import TestSupport

@testable import Git
@testable import History
@testable import Notebook

/// What people type: a note, a version, a code, an address.
enum NameTarget {
  /// A notebook with a few notes and versions.
  nonisolated(unsafe) private static let world = Result {
    let notes = try FuzzFolder.make() + "/notes"
    _ = try Notebook.prepare(at: notes)
    let notebook = try Notebook.adopt(
      at: notes,
      as: NotebookIdentity(
        id: "n", name: "Home", device: DeviceIdentity(name: "Ada", deviceID: "A")))
    try makeFolder(notes + "/folder")
    for (name, text) in [("a.txt", "a\n"), ("b@c.txt", "b\n"), ("folder/~1.md", "c\n")] {
      try writeFile(notes + "/" + name, Array(text.utf8))
      _ = try notebook.save()
    }
    return notebook
  }

  static func run(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    if let code = InvitationCode(parsing: text) {
      precondition(InvitationCode(parsing: code.description) == code)
    }
    if let address = Address(parsing: text) {
      precondition(Address(parsing: address.description) == address)
    }
    if let name = DisplayName.made(from: text) {
      precondition((try? DisplayName.check(name)) != nil)
    }
    _ = VersionName(parsing: text, now: 1_700_000_000)
    _ = NamedTime(parsing: text, now: 1_700_000_000)
    guard let world = try? Self.world.get() else { preconditionFailure("no notebook to name in") }
    if let path = try? world.history.note(named: text) {
      precondition(!path.bytes.isEmpty)
      _ = try? world.history.version(named: text, of: path)
    }
    _ = try? world.history.version(named: text)
  }
}
