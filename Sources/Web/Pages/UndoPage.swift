internal import Git
internal import History
internal import Membership
internal import Notebook

/// The visitor's last operation, and the form that undoes it: notes-web(1).
extension RequestContext {
  private struct Deed {
    let operation: Operation
    /// The versions that the operation made, not their merges with others.
    let versions: [Commit]
  }

  /// The last operation on this device that is not undone; for a guest, only the guest's own.
  private func lastDeed(
    in notebook: Notebook, where isMeant: (Operation) -> Bool = { _ in true }
  ) throws -> Deed? {
    let (repository, history) = (notebook.repository, notebook.history)
    let made = try history.versionsMadeHere()
    let name = visitor.guest.map { notebook.identity.device.authorName(of: $0.name) }
    for operation in try history.operations() where !operation.isUndone && isMeant(operation) {
      guard let before = operation.before, operation.kind != .undo, operation.kind != .redo,
        // An operation whose version git has pruned cannot be undone.
        let after = try? repository.commit(operation.after)
      else { continue }
      let versions = try ([after.id] + after.parents)
        .filter { try made.contains($0) && !repository.isAncestor($0, of: before) }
        .map(repository.commit).filter { try !history.isDerived($0) }
      let isOwn = !versions.isEmpty && versions.allSatisfy { $0.author.name == name }
      if name == nil || isOwn { return Deed(operation: operation, versions: versions) }
    }
    return nil
  }

  func undoPage(of notebook: Notebook) throws -> HTML {
    // Unsaved texts in the folder are not affected.
    let last = try lastDeed(in: notebook)
    let words = try last?.versions.flatMap { try notebook.history.changes(of: $0) }.prefix(3).map {
      change -> HTML in
      "<h2>\(change.path.noteTitle)</h2>\n\(try changedWords(change, in: notebook))\n"
    }
    let change = visitor.isOwner ? "The last change on this device" : "Your last change here"
    return layout("Undo", name: notebook.identity.name) {
      guard let last = last?.operation else {
        return """
          <h1>Undo</h1>
          <div class="nothing">\(HTML.emptySheet)<p class="soft">There is nothing to undo.</p></div>
          """
      }
      return """
        <h1>Undo the last change?</h1>
        <form method="post" action="\(root)/undo/\(last.after)" class="stack">
        <p class="soft">\(change): <b>\(last.summary)</b>, \(time(last.time))</p>
        \(words ?? [])
        <p class="acts"><button class="btn main">Undo this</button> <a class="btn" href="\(root)/">Cancel</a></p>
        </form>
        """
    }
  }

  func undo(in notebook: Notebook) throws -> Response {
    guard let after = ObjectID(hex: request.path[1]) else { throw Refusal.noSuchVersion }
    let isOwn = try visitor.isOwner || lastDeed(in: notebook) { $0.after == after } != nil
    guard isOwn else { throw Refusal.notYours }
    _ = try notebook.undo(.version(after.hex))
    return .see(root + "/?done=undone")
  }
}
