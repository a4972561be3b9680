internal import Git
internal import System

/// Markup of a page. Only literals in the source become markup; every inserted value is text, and goes
/// through `escaped`.
struct HTML: ExpressibleByStringInterpolation, Sendable {
  private(set) var markup: String

  init(stringLiteral markup: String) { self.markup = markup }

  init(stringInterpolation: StringInterpolation) { markup = stringInterpolation.markup }

  static let nothing: HTML = ""

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var markup = ""

    init(literalCapacity: Int, interpolationCount: Int) {
      markup.reserveCapacity(literalCapacity + 32 * interpolationCount)
    }

    mutating func appendLiteral(_ literal: String) { markup += literal }

    /// A name, a title, a sentence: on one line, without control characters.
    mutating func appendInterpolation(_ text: String) { markup += HTML.escaped(text, .name) }

    /// A note's text, or a part of it: newlines and tabs stay, and a CR LF is one line break.
    mutating func appendInterpolation(text bytes: some Collection<UInt8>) {
      let text = String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
      markup += HTML.escaped(text, .text)
    }

    /// The content of a form field, which the browser sends back unchanged.
    mutating func appendInterpolation(field text: String) { markup += HTML.escaped(text, .field) }

    mutating func appendInterpolation(_ number: Int) { markup += String(number) }

    mutating func appendInterpolation(_ id: ObjectID) { markup += id.hex }

    mutating func appendInterpolation(_ part: HTML?) { markup += part?.markup ?? "" }

    mutating func appendInterpolation(_ parts: [HTML]) {
      for part in parts { markup += part.markup }
    }

    /// Literal markup, if a condition is true.
    mutating func appendInterpolation(_ part: HTML, if holds: Bool) {
      if holds { markup += part.markup }
    }
  }
}

extension HTML {
  /// The way in which a text is shown.
  enum Use { case name, text, field }

  /// The only way to put a text into a page: into an element's content or between double quotes of an
  /// attribute.
  static func escaped(_ text: String, _ use: Use) -> String {
    var hidden = HiddenScalars(in: use == .name ? .name : .text)
    var markup = ""
    markup.reserveCapacity(text.utf8.count + 16)
    for scalar in text.unicodeScalars {
      let isHidden = hidden.hides(scalar)
      switch scalar {
      case "&": markup += "&amp;"
      case "<": markup += "&lt;"
      case ">": markup += "&gt;"
      case "\"": markup += "&quot;"
      case "'": markup += "&#39;"
      // Without the escape, a browser would convert a carriage return to a line break.
      case "\r" where use == .field: markup += "&#13;"
      // HTML cannot contain a zero byte.
      case "\0" where use == .field: markup += "\u{FFFD}"
      // A field must come back unchanged: no escape may replace a character.
      case _ where use == .field: markup.unicodeScalars.append(scalar)
      case _ where isHidden: markup += "\\u{" + String(scalar.value, radix: 16) + "}"
      default: markup.unicodeScalars.append(scalar)
      }
    }
    return markup
  }
}
