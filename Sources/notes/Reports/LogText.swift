internal import Git
internal import History
internal import Notebook

/// The entries of a log as text, one after the other.
struct LogText {
  private let notebook: Notebook
  private let style: VersionReport.Style
  private let showsPatch: Bool
  private var graph: GraphLines?
  /// The parents that the graph shows, where they are not the versions' own.
  private let parents: [ObjectID: [ObjectID]]?
  private var isFirst = true

  init(
    _ notebook: Notebook, _ style: VersionReport.Style, showsPatch: Bool = false,
    drawsGraph: Bool = false, parents: [ObjectID: [ObjectID]]? = nil
  ) {
    self.notebook = notebook
    self.style = style
    self.showsPatch = showsPatch
    self.parents = parents
    graph = drawsGraph ? GraphLines(terminal: style.terminal) : nil
  }

  /// The text of the next entry; an empty line stands between two, or else the graph.
  mutating func entry(_ burst: Burst) throws -> String {
    let commit = burst.newest.commit
    let report = try VersionReport(burst, in: notebook, lineCounts: VersionReport.mostFiles)
    var here = style
    if let graph { here.terminal.narrow(by: graph.width(beside: commit.id)) }
    var text = report.text(in: here)
    if showsPatch { text += try report.patch(in: notebook, on: here.terminal) }
    defer { isFirst = false }
    let shown = parents.map { $0[commit.id] ?? [] } ?? commit.parents
    return graph?.text(text, of: commit.id, parents: shown) ?? (isFirst ? "" : "\n") + text
  }
}
