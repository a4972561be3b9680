public import Git
public import Notebook
public import Sync

/// What happens in a notebook that is watched; the first value is the notebook's ID.
public enum WatchEvent: Sendable {
  /// What was written became a version.
  case version(String, SaveResult)
  /// Versions of a device were joined.
  case joined(String, PeerIdentity, JoinResult)
  /// A session with a device stands.
  case connected(String, PeerIdentity)
  /// It does not any more.
  case disconnected(String, PeerIdentity)
  /// A device shows another version.
  case shows(String, PeerIdentity, ObjectID?)
  /// These notes are edited at a device.
  case editing(String, PeerIdentity, [TreePath])
  /// What is known of the members has changed, or whom this device exchanges with.
  case members(String)
  /// Where a device was reached last was noted, by this process or another command.
  case addresses(String)
  /// A save was held back, because it would delete most of the notebook.
  case held(String, deleted: Int, of: Int)
  /// A version made with git held what no device takes: another stands in its place now.
  case replaced(String, PlainVersion)
  /// A save or a look at the folder failed; it is tried again.
  case failed(String, any Error)
  /// The user has no more watches: the folder is looked through every so many seconds instead.
  case watchLimit(String, interval: Double)
  /// The folder is not there; or is there again.
  case folder(String, isThere: Bool)
  /// There is so much to pack that it pays.
  case housekeepingDue(String, folder: String)
}
