internal import CQRencode

/// A text as a code that cameras read (ISO/IEC 18004), for a terminal or a page.
public struct QRCode: Sendable {
  /// The modules row by row, with light around: true is dark.
  public let rows: [[Bool]]

  /// The light around the code that cameras need, in modules.
  private static let margin = 2

  /// The library; nil if it is not installed.
  private static let library: libqrencode? = {
    let table = UnsafeMutablePointer<libqrencode>.allocate(capacity: 1)
    defer { table.deallocate() }
    return libqrencode_load(table) == nil ? table.pointee : nil
  }()

  /// Nil if the text is too long for a code, or nothing here can make one.
  public init?(_ text: String) {
    // Low correction: a screen has no stains, and a small code fits more terminals.
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

  /// Two rows a line, dark on light whatever the terminal's own colours are.
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
