package import Git

/// The line `Notes-Edited-On: ID` in a version's message: an editor that had loaded an older text made this
/// save. The ID is that of the commit with that text.
package enum EditedOnTrailer {
  private static let key = "Notes-Edited-On"

  package static func line(_ base: ObjectID) -> String { "\(key): \(base)" }

  /// The commit that a message names; nil if it names none.
  package static func base(in message: String) -> ObjectID? {
    for line in message.utf8.split(separator: UInt8(ascii: "\n")).reversed()
    where line.starts(with: "\(key): ".utf8) {
      return ObjectID(hex: Array(line.dropFirst(key.utf8.count + 2))[...])
    }
    return nil
  }
}
