/// Which way versions go.
public enum SyncMode: String, Sendable, Codable {
  /// Receive and send.
  case both
  /// Receive only.
  case pull
  /// Send only.
  case push

  /// Whether this side sends versions.
  var gives: Bool { self != .pull }
  /// Whether this side receives versions.
  var receives: Bool { self != .push }
}
