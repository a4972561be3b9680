internal import ArgumentParser

/// `--no-pager`, which commands with long output take.
struct PagerOption: ParsableArguments {
  @Flag(name: .customLong("no-pager"), help: "Do not page the output on a terminal.")
  var isOff = false

  /// Runs `body` with standard output going through the pager where a terminal reads it.
  ///
  /// - Parameter isForProgram: whether nobody reads it page by page.
  func page(unless isForProgram: Bool = false, _ body: () throws -> Void) rethrows {
    let pager = isOff || isForProgram ? nil : Pager.start()
    defer { pager?.finish() }
    try body()
  }
}
