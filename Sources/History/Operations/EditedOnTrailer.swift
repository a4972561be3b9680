package import Git

/// A save of an editor that had loaded an older text says so in its version's message:
/// `Notes-Edited-On: ID`, the commit that has that text.
package enum EditedOnTrailer {
  private static let key = "Notes-Edited-On"

  package static func line(_ base: ObjectID) -> String { "\(key): \(base)" }

  /// The commit that a message names; nil where it names none.
  package static func base(in message: String) -> ObjectID? {
    for line in message.utf8.split(separator: UInt8(ascii: "\n")).reversed()
    where line.starts(with: "\(key): ".utf8) {
      return ObjectID(hex: Array(line.dropFirst(key.utf8.count + 2))[...])
    }
    return nil
  }
}
