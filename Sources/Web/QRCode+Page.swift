internal import QRCodes

extension QRCode {
  /// An image for a page. The style sheet sets light and dark.
  func svg(label: String) -> HTML {
    let dark = rows.enumerated().flatMap { y, row in
      row.indices.filter { row[$0] }.map { x in "M\(x) \(y)h1v1h-1z" }
    }
    return """
      <svg class="code" viewBox="0 0 \(width) \(width)" role="img" aria-label="\(label)" \
      shape-rendering="crispEdges"><rect width="\(width)" height="\(width)"/>\
      <path d="\(dark.joined())"/></svg>
      """
  }
}
