internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import Watch

/// The other people who edit a note, as reported by the notebook's watcher.
extension RequestContext {
  /// How long a note's page waits for a watcher, in seconds.
  private static let patience = 0.3

  /// The note of the page that follows the events. While this object exists, the other browsers show the name
  /// of the visitor, and the watcher tells the other devices who edits it: notes-control(7), `edit`.
  func openNote(in notebook: Notebook) throws -> OpenNote? {
    let isEditing = visitor.mayWrite && request.query["edit"] != nil
    guard let id = request.query[isEditing ? "edit" : "read"], let note = try note(id, in: notebook)
    else { return nil }
    let watcher = isEditing ? site.watcher(of: notebook) : nil
    let isTold = watcher?.ask(.edit(paths: [note.path])) ?? false
    let page = OpenNote.Page(note: id, name: ownName(in: notebook), isEditing: isEditing)
    return OpenNote(page, in: site.openNotes, watcher: isTold ? watcher : nil)
  }

  /// The name under which others see the visitor.
  func ownName(in notebook: Notebook) -> String {
    visitor.guest?.name ?? notebook.identity.device.name
  }

  /// The other people who edit notes, by the notes' IDs and paths: in other browsers, and on other devices.
  /// Guests see no devices: notes-security(7), GUESTS.
  struct Editors {
    fileprivate let browsers: [String: Set<String>]
    fileprivate let devices: [TreePath: [String]]

    /// The other people who edit one note.
    func names(of id: String, _ path: TreePath) -> [String] {
      Set(devices[path] ?? []).union(browsers[id] ?? []).sorted()
    }
  }

  func editors(in notebook: Notebook) -> Editors {
    var devices: [TreePath: [String]] = [:]
    let watcher = visitor.isOwner ? site.watcher(of: notebook) : nil
    for peer in watcher?.status(within: Self.patience)?.peers ?? [] {
      for path in peer.shows.editing { devices[path, default: []].append(peer.identity.name) }
    }
    let browsers = site.openNotes.names(except: ownName(in: notebook), editing: true)
    return Editors(browsers: browsers, devices: devices)
  }

  static func isWriting(_ names: [String]) -> HTML {
    let names: [HTML] = names.map { "<b>\($0)</b>" }
    return "\(list(names)) \(names.count == 1 ? "is" : "are") writing"
  }

  /// The people who write in the note, and those who read it in other browsers.
  func editors(of subject: Subject, in notebook: Notebook) -> HTML {
    let writers = subject.isDeleted ? [] : editors(in: notebook).names(of: subject.id, subject.path)
    let open = site.openNotes.names(except: ownName(in: notebook), editing: false)[subject.id]
    let readers = (open ?? []).subtracting(writers).sorted().map { "<b>\($0)</b>" as HTML }
    return """
      <span id="editors" role="status" data-live data-presence>\
      \("<span class=\"chip live\">\(Self.isWriting(writers))</span>", if: !writers.isEmpty)\
      \("<span class=\"chip\">\(Self.list(readers)) \(readers.count == 1 ? "has" : "have") it open</span>", if: !readers.isEmpty)</span>
      """
  }
}
