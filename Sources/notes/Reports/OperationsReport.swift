internal import History
internal import Notebook

struct OperationsReport {
  let operations: [Operation]
  var isLong = false

  var json: [JSON] { operations.map(\.json) }

  func text(on terminal: Terminal, now: Int64) -> String {
    guard !operations.isEmpty else { return "Nothing was done here yet.\n" }
    let rows = operations.map { operation in
      let time = operation.time
      return [
        Styled(operation.after.short, .yellow),
        Styled(isLong ? TimeText.local(time) : TimeText.relative(time, now: now), .dim),
        Styled(operation.kind.rawValue),
        Styled(Visible.name(operation.summary), operation.isUndone ? .dim : .bold),
        Styled(operation.isUndone ? "undone" : "", .dim),
      ]
    }
    return Table(flexible: 3, rows: rows).text(on: terminal)
  }
}

extension Operation {
  fileprivate var json: JSON {
    [
      "type": "operation", "kind": kind.rawValue, "time": TimeText.rfc3339(time), "before": before,
      "after": after, "summary": summary, "undone": isUndone,
    ]
  }

  fileprivate var briefJSON: JSON {
    ["kind": kind.rawValue, "time": TimeText.rfc3339(time), "summary": summary]
  }
}

struct ReversalReport {
  let reversal: Reversal
  let isUndo: Bool
  let isTrial: Bool

  var json: JSON {
    [
      "type": isUndo ? "undone" : "redone", "operations": reversal.operations.map(\.briefJSON),
      "changes": reversal.changes, "version": reversal.version, "dry_run": isTrial,
      "skipped": reversal.excluded,
    ]
  }

  func text(on terminal: Terminal, now: Int64) -> String {
    let verb = isTrial ? "This would \(isUndo ? "undo" : "redo")" : isUndo ? "Undone" : "Redone"
    var text = ""
    for operation in reversal.operations {
      // A redo undoes an undo; the redone operation is in the undo's summary.
      let summary =
        isUndo ? operation.summary : Operation.undoneSummary(operation.summary) ?? operation.summary
      let when = TimeText.relative(operation.time, now: now)
      text += "\(verb): \(terminal.paint(Visible.name(summary), .bold)) "
      text += terminal.paint("(\(operation.kind.rawValue), \(when))", .dim) + "\n"
    }
    text += reversal.changes.isEmpty ? "  no file changes\n" : reversal.changes.text(on: terminal)
    if let version = reversal.version {
      let back = isUndo ? "notes redo" : "notes undo"
      text += "Version \(terminal.paint(version)); '\(back)' \(isUndo ? "redoes" : "undoes") it\n"
    }
    if isUndo, reversal.operations.contains(where: { $0.kind == .receive }) {
      text +=
        "Undoing a sync takes back changes of other devices, after the next sync also there"
        + (isTrial ? ".\n" : "; 'notes redo' brings them back.\n")
    }
    return text + reversal.excluded.text(on: terminal)
  }
}

extension LogCommand {
  func showOperations(in notebook: Notebook) throws {
    let report = OperationsReport(
      operations: Array(try notebook.history.operations().prefix(limit ?? .max)), isLong: long)
    paging.page(unless: options.json) {
      options.write(report.json) { report.text(on: $0, now: TimeText.now) }
    }
  }
}
