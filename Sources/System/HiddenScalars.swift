/// Finds the characters of a text that are invisible or change the position of others: control
/// characters, bidirectional controls, invisible signs, and selectors and tags that can carry hidden
/// text. Terminals and pages show them as escapes: notes(1), OPTIONS.
public struct HiddenScalars: Sendable {
  /// The kind of text in which a scalar is shown.
  public enum Place: Sendable {
    /// A name or title, within a line of the program's own text.
    case name
    /// A text on lines of its own, in which newlines and tabs have their effect.
    case text
  }

  private let place: Place
  private var last: Unicode.Scalar?
  /// Whether the last characters are tags that form a flag.
  private var isInFlag = false

  /// Starts at the beginning of a text.
  public init(in place: Place) { self.place = place }

  /// Whether the next character of the text must be shown as an escape. Pass the characters in order.
  public mutating func hides(_ scalar: Unicode.Scalar) -> Bool {
    defer { last = scalar }
    let value = scalar.value
    if value < 0x300, value != 0xAD {
      isInFlag = false
      return isControl(value)
    }
    switch value {
    case 0xE0020...0xE007F:
      isInFlag = isInFlag || last?.value == 0x1F3F4
      return !isInFlag
    case _ where Self.isSelector(value):
      return !takesSelector(value)
    default:
      isInFlag = false
      return Self.reorders(value) || place == .name && Self.isInvisible(value)
    }
  }

  /// Whether a text has such characters.
  public static func areIn(_ text: String, _ place: Place) -> Bool {
    var hidden = HiddenScalars(in: place)
    return text.unicodeScalars.contains { hidden.hides($0) }
  }

  private func isControl(_ value: UInt32) -> Bool {
    if place == .text, value == 0x0A || value == 0x09 { return false }
    return value < 0x20 || (0x7F...0x9F).contains(value)
  }

  /// Whether a selector may follow the character before it: an emoji or an ideograph without a selector yet.
  private func takesSelector(_ value: UInt32) -> Bool {
    guard let last else { return false }
    if value == 0xFE0E || value == 0xFE0F { return last.properties.isEmoji }
    return last.properties.isIdeographic
  }

  private static func isSelector(_ value: UInt32) -> Bool {
    switch value {
    case 0xFE00...0xFE0F, 0xE0100...0xE01EF, 0x180B...0x180F: true
    default: false
    }
  }

  /// Whether the character changes the order or lines of a text: embeddings, overrides, isolates, line and paragraph
  /// separators, and some tags.
  private static func reorders(_ value: UInt32) -> Bool {
    switch value {
    case 0x2028...0x202E, 0x2066...0x2069, 0xE0000...0xE001F: true
    default: false
    }
  }

  /// Whether the character is invisible: direction marks, invisible spaces, signs and fillers. Joiners are not
  /// included, because emoji and some scripts need them.
  private static func isInvisible(_ value: UInt32) -> Bool {
    switch value {
    case 0xAD, 0x034F, 0x061C, 0x115F...0x1160, 0x17B4...0x17B5, 0x200B, 0x200E...0x200F,
      0x2060...0x206F, 0x3164, 0xFEFF, 0xFFA0, 0xFFF9...0xFFFB, 0x1D173...0x1D17A:
      true
    default: false
    }
  }
}
