internal import Exchange
internal import History
internal import Membership
internal import Notebook
internal import Watch

/// Who else is editing a note, by the notebook's watcher.
extension Visit {
  /// How long a note's page waits for a watcher, in seconds.
  private static let patience = 0.3

  func watcher(of notebook: Notebook) -> ControlClient? {
    let identity = notebook.identity
    return ControlClient.connect(
      in: site.controlFolder, notebookID: identity.id, deviceID: identity.device.deviceID)
  }

  /// Has the watcher tell the other devices that the note is edited here which the page of the stream is for,
  /// as long as what is returned lives: notes-control(7), `edit`.
  func editing(in notebook: Notebook) throws -> ControlClient? {
    guard visitor.mayWrite, let id = request.query["edit"],
      let note = try notebook.history.notes().first(where: { $0.id == id }),
      let watcher = watcher(of: notebook)
    else { return nil }
    return watcher.ask(.edit(paths: [note.path])) ? watcher : nil
  }

  /// Nothing for guests, who are told nothing of the devices: notes-security(7), GUESTS.
  func editors(of subject: Subject, in notebook: Notebook) -> HTML {
    guard visitor.isOwner, !subject.isDeleted else { return .nothing }
    let peers = watcher(of: notebook)?.status(within: Self.patience)?.peers ?? []
    let names: [HTML] = peers.filter { $0.shows.editing.contains(subject.path) }
      .map { "<b>\($0.identity.name)</b>" }
    let verb = names.count == 1 ? "is" : "are"
    return """
      <div id="editors" role="status" data-live data-presence>\
      \("<p class=\"coming\">\(Self.list(names)) \(verb) editing this note.</p>", if: !names.isEmpty)\
      </div>
      """
  }
}
