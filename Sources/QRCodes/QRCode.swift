internal import CQRencode

/// A text as a QR code (ISO/IEC 18004), for a terminal or a page.
public struct QRCode: Sendable {
  /// The modules row by row, with a light margin: true is dark.
  public let rows: [[Bool]]

  /// The width of the light margin that cameras need, in modules.
  private static let margin = 2

  /// The library; nil if it is not installed.
  private static let library: libqrencode? = {
    let table = UnsafeMutablePointer<libqrencode>.allocate(capacity: 1)
    defer { table.deallocate() }
    return libqrencode_load(table) == nil ? table.pointee : nil
  }()

  /// Nil if the text is too long for a code, or if the library is missing.
  public init?(_ text: String) {
    // Low error correction is enough for a screen, and gives a small code for more terminals.
    guard let library = Self.library, let code = library.encode(text, 0, QR_ECLEVEL_L)
    else { return nil }
    defer { library.release(code) }
    let width = Int(code.pointee.width)
    guard let data = code.pointee.data, width > 0 else { return nil }
    let light = [Bool](repeating: false, count: width + 2 * Self.margin)
    let beside = [Bool](repeating: false, count: Self.margin)
    let above = [[Bool]](repeating: light, count: Self.margin)
    let inner = (0..<width).map { row in
      beside + (0..<width).map { data[row * width + $0] & 1 == 1 } + beside
    }
    rows = above + inner + above
  }

  /// The width in columns.
  public var width: Int { rows.count }

  /// The code as lines for a terminal: each line shows two rows of modules, dark on light whatever the terminal's
  /// colours are.
  public var lines: [String] {
    stride(from: 0, to: rows.count, by: 2).map { top in
      let upper = rows[top]
      let lower = top + 1 < rows.count ? rows[top + 1] : upper.map { _ in false }
      let blocks = zip(upper, lower).map { upper, lower in
        switch (upper, lower) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): " "
        }
      }
      return "\u{1B}[30;107m" + blocks.joined() + "\u{1B}[0m"
    }
  }
}
