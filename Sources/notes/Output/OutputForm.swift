/// The form of a command's report: for people, in a pager if there is a terminal, or for programs.
struct OutputForm {
  var json = false
  var isPaged = true

  func page(_ body: () throws -> Void) rethrows {
    let pager = isPaged && !json ? Pager.start() : nil
    defer { pager?.finish() }
    try body()
  }

  func report(_ lines: @autoclosure () -> [JSON], text: (Terminal) -> String) {
    page { Output.standard.report(json ? lines() : nil, text: text) }
  }
}
