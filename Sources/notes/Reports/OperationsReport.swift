internal import Git
internal import History
internal import Notebook

/// What was done on this device.
struct OperationsReport {
  let operations: [Operation]
  /// Whether exact times are shown.
  var isLong = false

  var json: [JSON] { operations.map(\.json) }

  /// - Parameter now: what relative times count from.
  func text(on terminal: Terminal, now: Int64) -> String {
    guard !operations.isEmpty else { return "Nothing was done here yet.\n" }
    var table = Table(flexible: 3)
    for operation in operations {
      table.add([
        Table.Cell(operation.after.short, .yellow),
        Table.Cell(
          isLong ? TimeText.local(operation.time) : TimeText.relative(operation.time, now: now),
          .dim), Table.Cell(operation.kind.rawValue),
        Table.Cell(Visible.name(operation.summary), operation.isUndone ? .dim : .bold),
        Table.Cell(operation.isUndone ? "undone" : "", .dim),
      ])
    }
    return table.lines(for: terminal).map { $0 + "\n" }.joined()
  }
}

extension Operation {
  fileprivate var json: JSON {
    [
      "type": .string("operation"), "kind": .string(kind.rawValue),
      "time": .string(TimeText.rfc3339(time)), "before": before.map(JSON.id) ?? .null,
      "after": .id(after), "summary": .string(summary), "undone": .bool(isUndone),
    ]
  }

  /// An operation in the result of an undo, where it need not have led to a version.
  fileprivate var briefJSON: JSON {
    [
      "kind": .string(kind.rawValue), "time": .string(TimeText.rfc3339(time)),
      "summary": .string(summary),
    ]
  }
}

/// What an undo or redo did.
struct ReversalReport {
  let reversal: Reversal
  let isUndo: Bool
  let isTrial: Bool

  var json: JSON {
    [
      "type": .string(isUndo ? "undone" : "redone"),
      "operations": .array(reversal.operations.map(\.briefJSON)),
      "changes": .array(reversal.changes.map(\.json)),
      "version": reversal.version.map(JSON.id) ?? .null, "dry_run": .bool(isTrial),
    ]
  }

  func text(on terminal: Terminal, now: Int64) -> String {
    let verb = isTrial ? "This would \(isUndo ? "undo" : "redo")" : isUndo ? "Undone" : "Redone"
    var text = ""
    for operation in reversal.operations {
      // A redo takes an undo back; what it does again is what the undo's summary names.
      let when = TimeText.relative(operation.time, now: now)
      text += "\(verb): \(terminal.paint(Visible.name(shown(operation)), .bold)) "
      text += terminal.paint("(\(operation.kind.rawValue), \(when))", .dim) + "\n"
    }
    if reversal.changes.isEmpty {
      text += "  no file changes\n"
    } else {
      text += ChangeList(changes: reversal.changes).text(on: terminal)
    }
    if let version = reversal.version {
      let back = isUndo ? "notes redo" : "notes undo"
      text += "Version \(terminal.paint(version.short, .yellow)); '\(back)' takes it back\n"
    }
    return text
  }

  private func shown(_ operation: Operation) -> String {
    isUndo ? operation.summary : Operation.undoneSummary(operation.summary) ?? operation.summary
  }

  func print(json asJSON: Bool) {
    if asJSON {
      Output.standard.event(json)
    } else {
      Output.standard.write(text(on: Console.output, now: TimeText.now))
    }
  }
}

extension LogCommand {
  /// `--operations`.
  func showOperations(in notebook: Notebook) throws -> Exit {
    let report = OperationsReport(
      operations: Array(try notebook.history.operations().prefix(limit ?? .max)), isLong: long)
    if format.json {
      Output.standard.lines(report.json)
      return .done
    }
    paging.page { Output.standard.write(report.text(on: Console.output, now: TimeText.now)) }
    return .done
  }
}
