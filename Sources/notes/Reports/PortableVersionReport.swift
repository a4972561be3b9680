internal import Notebook
internal import WorkTree

extension PortableVersion {
  var fields: JSON {
    ["made": made, "version": version, "left_out": excluded]
  }

  var warning: String {
    let shown = excluded.prefix(3).map { "\(Visible.name($0.path)) (\($0.reason.words))" }
    let more = excluded.count > 3 ? ["\(Phrase.number(excluded.count - 3)) more"] : []
    let what = excluded.isEmpty ? "a time or a name" : Phrase.list(shown + more)
    return """
      notes: warning: version \(made.short), made with git, holds what no device takes: \(what)
      notes: hint: version \(version.short) without it stands in its place; the folder is as it was

      """
  }
}
