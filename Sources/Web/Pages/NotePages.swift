internal import Git
internal import History
internal import Notebook
internal import System
internal import WorkTree

/// A note: its text, and the forms that change it.
extension Visit {
  func notePage(of subject: Subject, in notebook: Notebook) throws -> HTML {
    let text =
      try subject.isDeleted
      ? lastText(of: subject, in: notebook) : presentText(of: subject, in: notebook)
    return layout(subject.title, name: notebook.identity.name) {
      """
      \(editors(of: subject, in: notebook))
      <div id="note" data-live>
      \(heading(of: subject))
      \(deletion(of: subject), if: subject.isDeleted)
      \(conflict(of: subject), if: subject.isInConflict)
      \(whole(text))
      </div>
      """
    }
  }

  private func presentText(of subject: Subject, in notebook: Notebook) throws -> [UInt8] {
    try notebook.workTree.text(of: subject.path)
  }

  private func lastText(of subject: Subject, in notebook: Notebook) throws -> [UInt8] {
    guard let last = try notebook.history.lastVersion(with: subject.path) else {
      throw Refusal.noSuchNote
    }
    return try notebook.history.text(of: subject.path, at: last)
  }

  private func deletion(of subject: Subject) -> HTML {
    guard visitor.mayWrite else { return "<p class=\"mark\">This note is deleted.</p>" }
    return """
      <form method="post" action="\(address(subject, "/restore"))" class="deed">
      <p class="mark">This note is deleted.</p> <button>Bring it back</button>
      </form>
      """
  }

  private func conflict(of subject: Subject) -> HTML {
    let settle: HTML = "<a href=\"\(address(subject, "/settle"))\">Choose which to keep</a>"
    return """
      <p class="error">This note is in conflict: others changed the same lines.
      \(settle, if: visitor.mayWrite)</p>
      """
  }

  // MARK: Edit

  func editPage(of subject: Subject, in notebook: Notebook) throws -> HTML {
    let shown = try shownNote(from: 3, in: notebook)
    guard let text = try text(of: shown, subject, in: notebook) else { throw Refusal.noSuchText }
    guard text.count <= limit else { throw Refusal.tooLong(limit) }
    guard let editable = EditableText(text) else { throw Refusal.noText }
    return layout("Edit \(subject.title)", name: notebook.identity.name) {
      """
      \(heading(of: subject, "edit"))
      \(editors(of: subject, in: notebook))
      \(editForm(of: subject, editable.text, shown))
      """
    }
  }

  /// The text, in a form that is for the version and the text that it was made of.
  func editForm(of subject: Subject, _ text: String, _ shown: ShownNote) -> HTML {
    """
    <form method="post" action="\(address(subject, "/edit"))\(shown.path)" class="edit" \
    data-note="\(subject.id)">
    <label for="text">Text</label>
    <textarea id="text" name="\(shown.name("text"))" rows="24" spellcheck="true">
    \(field: text)</textarea>
    \(HTML.hiddenLines(of: text))
    <p><button>Save</button> <a href="\(address(subject))">Leave it as it was</a></p>
    </form>
    """
  }

  // MARK: New, rename, delete

  func newPage(of notebook: Notebook) -> HTML {
    layout("New note", name: notebook.identity.name) {
      """
      <h1>New note</h1>
      \(newForm(title: "", text: ""))
      """
    }
  }

  func newForm(title: String, text: String) -> HTML {
    """
    <form method="post" action="\(root)/new" class="edit" data-note="new">
    <label for="title">Title</label>
    <input id="title" name="title" value="\(field: title)" required>
    <p class="hint">Folders may stand in front: <code>trips/Rome</code></p>
    <label for="text">Text</label>
    <textarea id="text" name="text" rows="20" spellcheck="true">
    \(field: text)</textarea>
    <p><button>Save</button></p>
    </form>
    """
  }

  /// A note's title with the folders in front, as the form for another one holds it.
  func wholeTitle(_ path: TreePath) -> String {
    TreePath(bytes: path.bytes.dropLast(path.noteSuffix.utf8.count)).description
  }

  func renamePage(of subject: Subject, in notebook: Notebook) throws -> HTML {
    guard let tip = try notebook.state().tip else { throw Refusal.noSuchNote }
    return layout("Rename \(subject.title)", name: notebook.identity.name) {
      """
      \(heading(of: subject, "rename"))
      <form method="post" action="\(address(subject, "/rename/\(tip.hex)"))" class="edit">
      <label for="title">New title</label>
      <input id="title" name="title" value="\(field: wholeTitle(subject.path))" required>
      \(HTML.hiddenLines(of: wholeTitle(subject.path), .name))
      <p class="hint">Folders may stand in front: <code>trips/Rome</code></p>
      <p><button>Rename</button></p>
      </form>
      """
    }
  }

  func deletePage(of subject: Subject, in notebook: Notebook) throws -> HTML {
    let shown = try shownNote(subject, in: notebook)
    return layout("Delete \(subject.title)", name: notebook.identity.name) {
      """
      \(heading(of: subject, "delete"))
      <form method="post" action="\(address(subject, "/delete"))\(shown.path)" class="deed">
      <p>Its text stays in the history, and it can be brought back.</p>
      <button>Delete</button>
      </form>
      """
    }
  }

  // MARK: Undo

  func undoPage(of notebook: Notebook) throws -> HTML {
    let last = try lastOperation(of: notebook)
    return layout("Undo", name: notebook.identity.name) {
      guard let last else { return "<h1>Undo</h1><p>There is nothing to undo.</p>" }
      return """
        <h1>Undo</h1>
        <form method="post" action="\(root)/undo/\(last.after)" class="deed">
        <p>The last thing done on this device: <b>\(last.summary)</b>, \(time(last.time))</p>
        <button>Undo this</button>
        </form>
        """
    }
  }

  /// What would be undone. What the folder holds unsaved is left alone.
  private func lastOperation(of notebook: Notebook) throws -> Operation? {
    let left = try notebook.history.operations().filter {
      !$0.isUndone && $0.before != nil && $0.kind != .undo && $0.kind != .redo
    }
    return left.first
  }
}
