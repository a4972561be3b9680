/// A request of an admitted browser.
struct Request: Sendable {
  enum Method: Sendable { case get, post }

  let method: Method
  let visitor: Visitor
  let entrance: Entrance
  /// Whether the request's host is the machine's name on its network, and not an address.
  let isByName: Bool
  /// The parts of the path after the visitor's root: only letters, digits, `-`, `_` and `.`.
  let path: [String]
  let query: Fields
  var form = Fields()
  /// Whether a script of the page sent the request, and needs facts instead of a page.
  var isByScript = false
  /// The bytes of a request without a form: a piece of a file.
  var piece: [UInt8] = []
  /// The value of the Range header.
  var range: String?

  /// Whether the byte is an ASCII letter or digit.
  static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// The parts of a path; nil if no page links to such a path. Nothing is decoded: page addresses have only
  /// letters, digits, `-`, `_`, and dots inside names.
  static func parts(ofPath path: Substring) -> [String]? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard path.first == "/", parts.count <= 10 else { return nil }
    var names = parts.dropFirst()
    if names.last == "" { names = names.dropLast() }
    let isPlain = names.allSatisfy { name in
      !name.isEmpty && name.utf8.count <= 64 && name.first != "."
        && name.utf8.allSatisfy { isAlphanumeric($0) || "-_.".utf8.contains($0) }
    }
    return isPlain ? names.map(String.init) : nil
  }
}

/// The answer to a request.
struct Response: Sendable {
  enum Body: Sendable {
    case bytes([UInt8], type: String)
    /// The stream of events, which continues until the browser disconnects. Until then, the note on its page
    /// counts as open here.
    case events(OpenNote?)
    /// A part of a file.
    case file(OpenFile, Range<Int>, type: String)
  }

  var status: Int
  var headers: [(name: String, value: String)] = []
  var body: Body

  static func page(_ html: HTML, status: Int = 200) -> Response {
    Response(
      status: status, body: .bytes(Array(html.markup.utf8), type: "text/html; charset=utf-8"))
  }

  static func file(_ bytes: [UInt8], type: String) -> Response {
    Response(status: 200, body: .bytes(bytes, type: type))
  }

  /// Facts for a script, as JSON.
  static func facts(_ json: String) -> Response {
    .file(Array(json.utf8), type: "application/json")
  }

  /// The page to show after a change.
  static func see(_ address: String) -> Response {
    Response(
      status: 303, headers: [("Location", address)],
      body: .bytes([], type: "text/plain; charset=utf-8"))
  }

  static func plain(_ status: Int, _ text: String) -> Response {
    Response(
      status: status, body: .bytes(Array((text + "\n").utf8), type: "text/plain; charset=utf-8"))
  }
}

extension Response {
  /// The headers that each answer has: notes-security(7), "What the page lets in".
  static let guards: [(name: String, value: String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; "
        + "manifest-src 'self'; worker-src 'self'; connect-src 'self'; "
        + "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
    // With "no-referrer" a browser sends a form without its origin.
    ("Referrer-Policy", "same-origin"), ("Cache-Control", "no-store"),
    ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ("X-Robots-Tag", "noindex"),
  ]
}
