internal import Glibc

extension QRCode {
  /// The lines that draw a text as a code on standard output; empty if that is not a terminal, or if the
  /// terminal is too narrow or cannot draw.
  public static func lines(ofText text: String) -> [String] {
    let columns = columns
    guard columns > 0, let code = QRCode(text), code.width <= columns else { return [] }
    return code.lines
  }

  /// The greatest width of a code in columns; 0 if the terminal cannot show any code.
  private static var columns: Int {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"]
    let locale = names.lazy.compactMap { getenv($0).map { String(cString: $0) } }
      .first { !$0.isEmpty }
    let isUTF8 = locale?.uppercased().replacing("-", with: "").hasSuffix("UTF8") ?? false
    let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
    var size = winsize()
    guard isUTF8, !isDumb, isatty(STDOUT_FILENO) == 1,
      ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0
    else { return 0 }
    return Int(size.ws_col)
  }
}
