import Channel
import State
import TestSupport

@testable import Exchange
@testable import Git
@testable import History
@testable import Notebook
@testable import WorkTree

/// Files that only this program writes, but that a disk, a backup or a person may have changed: an
/// error at worst.
enum StateTarget {
  private static let state = Result { try FuzzFolder.make() }

  static func run(_ bytes: [UInt8]) {
    if let identity = try? NotebookIdentity(parsing: bytes, path: "notebook") {
      let again = try? NotebookIdentity(parsing: identity.serialized, path: "notebook")
      precondition(again?.id == identity.id && again?.device.deviceID == identity.device.deviceID)
    }
    _ = HistoryTable(parsing: bytes)
    _ = bytes.withUnsafeBytes { IndexTree(parsing: $0) }
    _ = SizeLimit.parse(String(decoding: bytes, as: UTF8.self))
    _ = BranchLog(parsing: bytes, tip: nil)
    _ = try? ReceivedInvitation(parsing: StateLines(parsing: bytes), at: "")
    _ = try? InvitationRecord(parsing: StateLines(parsing: bytes), at: "")
    guard let state = try? Self.state.get() else { preconditionFailure("no folder to work in") }
    for name in ["checkout/journal", "addresses", "index", "config"] {
      try? makeFolder(state + "/checkout")
      try? writeFile(state + "/" + name, bytes)
    }
    try? RepositoryExtensions(bytes)?.check()
    if let journal = try? CheckoutJournal.load(from: StateFolder(state)) {
      for overlay in journal.overlay { precondition(overlay.file.name == overlay.path.name) }
    }
    // Members' devices are looked up in it: a device that is none is never asked for.
    for address in PeerAddresses(stateFolder: StateFolder(state)).all().values {
      precondition(!address.host.isEmpty)
    }
    if let index = try? IndexFile(ofRepositoryAt: state) {
      for position in 0..<min(index.count, 64) {
        _ = index.pathBytes(at: position).count
        _ = index.id(at: position)
        _ = index.status(at: position)
      }
    }
  }
}
