/// Strings in JSON: RFC 8259, section 7.
public enum JSONText {
  /// A string in quotes.
  public static func quoted(_ string: String) -> String {
    var text = ""
    append(string, to: &text)
    return text
  }

  /// Writes a string. Characters that could confuse a terminal (controls, bidirectional controls) are
  /// escaped although JSON allows them, as people also read the output.
  public static func append(_ string: String, to text: inout String) {
    text += "\""
    if string.utf8.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }) {
      text += string
    } else {
      for scalar in string.unicodeScalars { append(scalar, to: &text) }
    }
    text += "\""
  }

  private static func append(_ scalar: Unicode.Scalar, to text: inout String) {
    switch scalar.value {
    case 0x22: text += "\\\""
    case 0x5C: text += "\\\\"
    case 0x0A: text += "\\n"
    case 0x0D: text += "\\r"
    case 0x09: text += "\\t"
    case 0x00..<0x20, 0x7F..<0xA0, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069:
      text += "\\u" + String(0x1_0000 + scalar.value, radix: 16).dropFirst()
    default: text.unicodeScalars.append(scalar)
    }
  }
}
