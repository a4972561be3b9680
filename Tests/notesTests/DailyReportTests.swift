import Git
import Glibc
import History
import Notebook
import TestSupport
import Testing

@testable import notes

/// What undo, redo, the log of operations and the sorted lists look like.
@Suite(.serialized) struct DailyReportTests {
  private func lines(_ values: [JSON]) -> String {
    values.map { $0.text + "\n" }.joined()
  }

  /// A notebook in which everything was done once. The log of operations has the real time, so that
  /// the reports get another.
  private func busy() throws -> ReportFixture {
    let fixture = try ReportFixture()
    try fixture.save(
      [("Shopping.txt", "milk\n"), ("trips/Rome.md", "forum\n"), ("evil\u{1B}[31m.txt", "x\n")],
      at: 1_700_000_000, "Start notebook Home")
    _ = try fixture.notebook.create("Plan.txt", text: Array("one\ntwo\n".utf8))
    _ = try fixture.notebook.rename("Plan.txt", to: "trips/A plan of many words.txt")
    _ = try fixture.notebook.delete(["Shopping.txt", "evil\u{1B}[31m.txt"])
    try fixture.meet("Ben's phone", [("Shopping.txt", "milk\nbread\n")], at: 1_700_007_200)
    return fixture
  }

  private func timed(_ operations: [Operation]) -> [Operation] {
    operations.map { operation in
      var operation = operation
      operation.time = 1_700_009_000
      return operation
    }
  }

  @Test func `operations`() throws {
    let fixture = try busy()
    _ = try fixture.notebook.undo(.last(2))
    let report = OperationsReport(operations: timed(try fixture.notebook.history.operations()))
    try Golden.screens("operations") { report.text(on: $0, now: ReportFixture.now) }
    try Golden.expect(lines(report.json), matches: "operations.json")
    #expect(
      OperationsReport(operations: []).text(on: .plain, now: 0) == "Nothing was done here yet.\n")
  }

  @Test func `undo and redo`() throws {
    let fixture = try busy()
    let trial = try fixture.notebook.undo(.last(3), trial: true)
    let undone = try fixture.notebook.undo(.last(3))
    let redone = try fixture.notebook.redo()
    for (name, reversal, isUndo, isTrial) in [
      ("undo-trial", trial, true, true), ("undo", undone, true, false),
      ("redo", redone, false, false),
    ] {
      let report = ReversalReport(
        reversal: Reversal(
          operations: timed(reversal.operations), changes: reversal.changes,
          version: reversal.version), isUndo: isUndo, isTrial: isTrial)
      try Golden.screens(name) { report.text(on: $0, now: ReportFixture.now) }
      try Golden.expect(lines([report.json]), matches: "\(name).json")
    }
  }

  @Test func `lists in each order`() throws {
    let fixture = try busy()
    try fixture.save([("Zoo.txt", "zebra\n")], at: 1_700_008_000)
    try fixture.folder.write("unsaved and long\n", to: "abc.txt")
    let notes = try fixture.notebook.history.notes()
    var text = ""
    for order in ListCommand.Order.allCases {
      for isReversed in [false, true] {
        var style = ListStyle(order: order, isReversed: isReversed)
        style.names = try ListCommand.authors(
          of: notes.compactMap(\.lastVersion), in: fixture.notebook)
        let report = ListReport(notes: notes, style)
        text += "\(order.rawValue)\(isReversed ? ", reversed" : "")\n"
        text += report.text(on: .screen(), now: ReportFixture.now) + "\n"
      }
    }
    try Golden.expect(text, matches: "list-sorted.txt")
    for (isFiltered, kind, words) in [
      (false, "note", "No notes yet.\n"), (true, "note", "No notes match.\n"),
      (false, "attachment", "No attachments yet.\n"),
    ] {
      let empty = ListReport(notes: [], ListStyle(isFiltered: isFiltered, kind: kind))
      #expect(empty.text(on: .plain, now: 0) == words)
    }
  }
}
