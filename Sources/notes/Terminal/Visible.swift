internal import Git
internal import System

/// Makes text from a file, a peer or a commit safe to show. A name can contain an escape sequence
/// that moves the cursor, or a bidirectional control that makes `txt.exe` look like `exe.txt`. Such
/// characters are shown as escapes and have no effect.
enum Visible {
  /// A name on one line: nothing in it controls the terminal or reorders the text around it.
  static func name(_ text: String) -> String { replacing(.name, in: text, by: escaped) }

  /// A path on one line; bytes that are not UTF-8 show as `\xHH`.
  static func name(_ path: TreePath) -> String {
    path.utf8String.map(name) ?? name(decoding: path.bytes)
  }

  /// A name in a hint's command line: quoted if a shell would not take it as a plain word.
  static func word(_ text: String) -> String {
    guard text.contains(where: { $0.isWhitespace || "'\"&|;<>()[]{}*?#~!$`\\".contains($0) })
    else { return name(text) }
    return "\"" + name(text.map { "\"$`\\".contains($0) ? "\\\($0)" : "\($0)" }.joined()) + "\""
  }

  /// A note's text for a terminal: newlines and tabs stay, other control characters are shown as
  /// `^X`, as by cat(1) -v. The carriage return of a CRLF line end is left out.
  static func text(_ text: String) -> String {
    guard HiddenScalars.areIn(text, .text) else { return text }
    let lines = String(text.map { $0 == "\r\n" ? "\n" : $0 })
    return replacing(.text, in: lines, by: caret)
  }

  private static func replacing(
    _ place: HiddenScalars.Place, in text: String, by escape: (Unicode.Scalar) -> String
  ) -> String {
    guard HiddenScalars.areIn(text, place) else { return text }
    var shown = ""
    var hidden = HiddenScalars(in: place)
    for scalar in text.unicodeScalars {
      if hidden.hides(scalar) {
        shown += escape(scalar)
      } else {
        shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }

  private static func name(decoding bytes: [UInt8]) -> String {
    var shown = ""
    var parser = Unicode.UTF8.ForwardParser()
    var input = bytes.makeIterator()
    var offset = 0
    while true {
      switch parser.parseScalar(from: &input) {
      case .valid(let encoded):
        shown += name(String(Unicode.UTF8.decode(encoded)))
        offset += encoded.count
      case .error(let length):
        let wrong = bytes[offset..<(offset + length)]
        shown += wrong.map { "\\x" + String(hexadecimal: [$0]) }.joined()
        offset += length
      case .emptyInput: return shown
      }
    }
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    default: "\\u{" + String(scalar.value, radix: 16) + "}"
    }
  }

  private static func caret(_ scalar: Unicode.Scalar) -> String {
    guard scalar.value < 0x20 || scalar.value == 0x7F else { return escaped(scalar) }
    return "^" + String(UnicodeScalar(UInt8(scalar.value ^ 0x40)))
  }
}

extension Terminal {
  /// Whether a person reads the output, so that control characters must be made visible.
  var isForPeople: Bool { isInteractive || usesColour }

  func shown(_ bytes: some Collection<UInt8>) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    return isForPeople ? Visible.text(text) : text
  }
}
