internal import Git
internal import Merge
internal import Notebook
internal import State
internal import System

/// A program for merging, run as git-mergetool(1) runs it: notes-resolve(1), "A merge tool".
struct MergeTool {
  /// A command line for the shell.
  let command: String

  /// Lets the tool resolve a note, and makes a version of its result.
  ///
  /// - Returns: nil if the tool changed nothing.
  func settle(_ path: TreePath, in notebook: Notebook) throws -> ObjectID? {
    let note = try notebook.conflictedNote(at: path)
    if let number = note.blocks.firstIndex(where: { $0.count > 2 }) {
      throw Failure(
        .failed, "tool_failed",
        "block \(number + 1) of \(Visible.name(path)) has \(note.blocks[number].count) sides; a "
          + "merge tool works with two",
        hint: "'notes resolve \(Visible.word(path.label))' asks block by block")
    }
    return try ScratchFolder.use(of: notebook.stateFolder) { folder in
      let merged = try folder.file("MERGED", of: path, note.text)
      let files = [
        ("LOCAL", try folder.file("LOCAL", of: path, note.text(keeping: .older))),
        ("REMOTE", try folder.file("REMOTE", of: path, note.text(keeping: .newer))),
        ("BASE", try folder.file("BASE", of: path, notebook.base(of: note))), ("MERGED", merged),
      ]
      try run(files.map { "\($0)=\($1)" })
      return try notebook.settle(note, as: folder.read(merged))
    }
  }

  private func run(_ variables: [String]) throws(Failure) {
    let ending: ChildProcess.Ending
    do {
      ending = try TerminalProgram.run(command, variables: variables.map { Array($0.utf8) })
    } catch {
      throw .system(
        "the merge tool '\(Visible.name(command))' cannot be started", errno: error.errno,
        kind: "tool_failed")
    }
    guard let what = ending.failure else { return }
    throw Failure(
      .failed, "tool_failed",
      "the merge tool '\(Visible.name(command))' "
        + (ending.isMissing ? "cannot be started" : what),
      hint: "the note is as it was; 'notes resolve' without --tool asks block by block")
  }
}
