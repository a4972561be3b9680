/// The request of a browser, once it has been let in.
struct Request: Sendable {
  enum Method: Sendable { case get, post }

  let method: Method
  let visitor: Visitor
  let entrance: Entrance
  /// Whether it names the machine on its network, rather than an address of it.
  let isByName: Bool
  /// The parts of the path behind the visitor's own: letters, digits, `-`, `_` and `.` alone.
  let path: [String]
  let query: Fields
  var form = Fields()
  /// Whether a script of the page asks, which wants facts and no page.
  var isByScript = false
  /// The bytes that were sent without a form: a piece of a file.
  var piece: [UInt8] = []
  /// The part of a file that is asked for, as the header has it.
  var range: String?

  /// Whether it is a letter or a digit of ASCII.
  static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// The parts of a path; nil where it is not one that a page links to. Nothing is decoded: no page's
  /// address has anything but letters, digits, `-`, `_`, and a dot inside a name.
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

/// The answer to it.
struct Response: Sendable {
  enum Body: Sendable {
    case bytes([UInt8], type: String)
    /// The stream of events, which goes on until the browser leaves; for as long the note of its page is
    /// open here.
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

  /// The page to look at after something was done.
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
  /// notes-security(7), "What the page lets in": what each answer tells the browser.
  static let guards: [(name: String, value: String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; "
        + "manifest-src 'self'; worker-src 'self'; connect-src 'self'; "
        + "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
    // With "no-referrer" a browser names no origin in a form that it sends.
    ("Referrer-Policy", "same-origin"), ("Cache-Control", "no-store"),
    ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ("X-Robots-Tag", "noindex"),
  ]
}
