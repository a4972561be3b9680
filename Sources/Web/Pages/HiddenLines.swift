internal import System

/// Hidden characters in a field, which has no escapes because a text for editing must come back
/// unchanged.
extension HTML {
  /// The lines with hidden characters, shown as escapes; empty if there are none.
  static func hiddenLines(of text: String, _ place: HiddenScalars.Place = .text) -> HTML {
    guard HiddenScalars.areIn(text, place) else { return nothing }
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    let hidden = lines.enumerated().lazy.map { ($0.offset + 1, String($0.element)) }
      .filter { HiddenScalars.areIn($0.1, place) }
    let items = hidden.prefix(most).map { number, line -> HTML in
      "<li>line \(number): <code>\(String(line.prefix(longest)))</code></li>"
    }
    return """
      <details class="hidden-lines">
      <summary>This text contains invisible characters</summary>
      <ul>\(Array(items))</ul>
      </details>
      """
  }

  private static let most = 20
  private static let longest = 200
}
