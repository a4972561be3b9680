/// Text in one style: a cell of a table, a piece of a line, or a whole one.
struct Styled: Equatable, Sendable {
  var text: String
  var style: Style?

  init(_ text: String, _ style: Style? = nil) {
    self.text = text
    self.style = style
  }
}

extension Terminal {
  /// The text in its style where colour may be used, else as it is.
  func paint(_ styled: Styled) -> String { paint(styled.text, styled.style) }
}
