/// The rule for names of devices and notebooks: notes-security(7), DEVICE AND NOTEBOOK NAMES. The names come
/// from other people and are used in terminals, as git authors and in file names. So the rule refuses every
/// character that has an effect there. The list is explicit, because Unicode's tables have versions, and any
/// two devices must agree.
public enum DisplayName {
  /// The most Unicode scalars of a name: X.520's limit for a common name.
  public static let maximumLength = 64

  /// Returns the name; throws the reason if it is refused.
  @discardableResult
  public static func check(_ name: String) throws(NameDefect) -> String {
    let scalars = name.unicodeScalars
    if scalars.isEmpty { throw .empty }
    if scalars.count > maximumLength { throw .tooLong(scalars.count) }
    for scalar in scalars where !isAllowed(scalar) { throw .forbidden(scalar.value) }
    if scalars.first == " " || scalars.last == " " { throw .surroundingSpace }
    if scalars.first == "-" || scalars.first == "." { throw .leadingPunctuation }
    return name
  }

  /// Whether the name is accepted.
  static func isAccepted(_ name: String) -> Bool {
    do {
      try check(name)
      return true
    } catch {
      return false
    }
  }

  /// The name, followed by the first number that makes it unused.
  public static func numbered(_ name: String, _ isTaken: (String) -> Bool) -> String {
    let start = String(name.unicodeScalars.prefix(maximumLength - 4))
    return (2...999).lazy.map { "\(start) \($0)" }.first { !isTaken($0) } ?? name
  }

  /// The name, cut so that the mark after it fits.
  static func marked(_ name: String, with mark: String) -> String {
    String(name.unicodeScalars.prefix(maximumLength - mark.unicodeScalars.count)) + mark
  }

  /// The nearest acceptable name, without forbidden characters and cut to the limit. Nil if nothing remains.
  public static func made(from text: String) -> String? {
    var scalars = text.unicodeScalars.filter(isAllowed)[...]
    while let first = scalars.first, first == " " || first == "-" || first == "." {
      scalars.removeFirst()
    }
    scalars = scalars.prefix(maximumLength)
    while scalars.last == " " { scalars.removeLast() }
    var result = String.UnicodeScalarView()
    result.append(contentsOf: scalars)
    return result.isEmpty ? nil : String(result)
  }

  /// Refused are control characters, terminal escapes, line ends, bidirectional and invisible
  /// format characters, tags and noncharacters, and characters that are not allowed in git authors
  /// and file names.
  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0...0x1F, 0x7F...0x9F, 0xA0, 0xAD: false
    case 0x2F, 0x3C, 0x3E, 0x5C: false  // / < > \
    case 0x034F, 0x061C, 0x115F...0x1160, 0x17B4...0x17B5, 0x180B...0x180F: false
    case 0x1680, 0x2000...0x200F, 0x2028...0x202F, 0x205F...0x206F, 0x3000, 0x3164: false
    case 0xE000...0xF8FF: false  // private use: no agreed meaning
    case 0xFE00...0xFE0F, 0xFEFF, 0xFFA0, 0xFFF0...0xFFFB, 0xFFFC, 0xFDD0...0xFDEF: false
    case 0x1D173...0x1D17A, 0xE0000...0x10FFFF: false
    default: scalar.value & 0xFFFE != 0xFFFE
    }
  }
}

/// The reason why a name is refused.
public enum NameDefect: Error, Equatable, Sendable, CustomStringConvertible {
  /// The name is empty, or is not UTF-8.
  case empty
  /// The name has this many Unicode scalars.
  case tooLong(Int)
  /// The name contains this Unicode scalar.
  case forbidden(UInt32)
  case surroundingSpace
  case leadingPunctuation

  public var description: String {
    switch self {
    case .empty: "a name cannot be empty"
    case .tooLong(let count):
      "a name has at most \(DisplayName.maximumLength) characters; this one has \(count)"
    case .forbidden(let scalar):
      "a name cannot contain the character U+"
        + String(repeating: "0", count: max(0, 4 - String(scalar, radix: 16).count))
        + String(scalar, radix: 16, uppercase: true)
    case .surroundingSpace: "a name cannot begin or end with a space"
    case .leadingPunctuation: "a name cannot begin with '-' or '.'"
    }
  }
}
