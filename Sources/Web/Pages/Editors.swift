internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import System
internal import Watch
internal import WorkTree

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
    /// The names of the connected devices.
    fileprivate let connected: [String]

    /// The other people who edit one note.
    func names(of id: String, _ path: TreePath) -> [String] {
      Set(devices[path] ?? []).union(browsers[id] ?? []).sorted()
    }
  }

  func editors(in notebook: Notebook) -> Editors {
    var devices: [TreePath: [String]] = [:]
    let watcher = visitor.isOwner ? site.watcher(of: notebook) : nil
    let peers = watcher?.status(within: Self.patience)?.peers ?? []
    for peer in peers {
      for path in peer.shows.editing { devices[path, default: []].append(peer.identity.name) }
    }
    let browsers = site.openNotes.names(except: ownName(in: notebook), editing: true)
    return Editors(
      browsers: browsers, devices: devices, connected: peers.map(\.identity.name))
  }

  /// How many faces are beside the notebook's name.
  private static let mostFaces = 4

  /// The faces of the people who write in other browsers and, for the owner, of the connected devices.
  func faces(_ editors: Editors) -> HTML {
    let names = editors.browsers.values.reduce(Set(editors.connected)) { $0.union($1) }.sorted()
    let more = names.count - Self.mostFaces
    let words: HTML =
      "\(Self.list(names.map { "\($0)" })) \(names.count == 1 ? "is" : "are") connected"
    let faces: HTML = """
      \(names.prefix(Self.mostFaces).map(HTML.face))\("<small>+\(more)</small>", if: more > 0)<span class="vh">\(words)</span>
      """
    return """
      <span id="faces" class="faces" data-live data-presence>\
      \(visitor.isOwner ? "<a class=\"tap\" href=\"\(root)/devices\">\(faces)</a>" : faces, if: !names.isEmpty)</span>
      """
  }

  /// People who write in a note, each with the line of their last change, if that is known.
  static func isWriting(_ names: [String], at lines: [String: Int] = [:]) -> HTML {
    let places: [HTML] = names.map { name in
      let line: HTML? = lines[name].map { " (line \($0))" }
      return "<b>\(name)</b>\(line)"
    }
    return "\(list(places)) \(names.count == 1 ? "is" : "are") writing"
  }

  /// How long ago a change may be that says where somebody writes, in seconds.
  private static let longestSitting: Int64 = 600
  /// How many of a note's last versions are searched for such a change.
  private static let mostVersions = 20

  /// The lines of the note's present text that these people changed last, to show roughly where they write. A
  /// change that is older than ten minutes, or is no longer in the text, does not count.
  private func lines(
    of writers: [String], in subject: Subject, _ notebook: Notebook
  ) throws -> [String: Int] {
    let (walk, proofs) = (
      try notebook.history.versions(of: subject.path), VersionProofs(in: notebook)
    )
    defer { proofs.remember() }
    let time = WallClock.now()
    let sitting = (time - Self.longestSitting)...(time + Self.longestSitting)
    // If the file cannot be read, no line is known.
    let text = (try? notebook.workTree.text(of: subject.path)) ?? []
    let now = text.split(separator: Self.newline, omittingEmptySubsequences: false)
    var (found, seen): ([String: Int], Set<String>) = ([:], [])
    for _ in 0..<Self.mostVersions where seen.count < writers.count {
      guard let version = try walk.next(), sitting.contains(version.commit.author.time) else {
        break
      }
      let author = try proofs.author(of: version.commit)
      let named = writers.first { author.isOf($0) && author.name == $0 }
      guard let writer = named ?? writers.first(where: author.isOf), seen.insert(writer).inserted,
        let change = version.changes.last, let new = try change.new.map(notebook.repository.blob)
      else { continue }
      let old = try change.old.map(notebook.repository.blob) ?? []
      found[writer] = Self.place(of: Self.changedLine(from: old, to: new), in: now)
    }
    return found
  }

  private static let newline = UInt8(ascii: "\n")

  /// The first line of a text that differs from the text before, and its number, from 0.
  private static func changedLine(
    from old: [UInt8], to new: [UInt8]
  ) -> (number: Int, text: ArraySlice<UInt8>) {
    let same = zip(old, new).prefix { $0 == $1 }.count
    let start = new[..<same].lastIndex(of: newline).map { $0 + 1 } ?? 0
    return (
      new[..<start].count { $0 == newline }, new[start...].prefix { $0 != newline }
    )
  }

  /// The number, from 1, of the line with this text that is nearest; nil if no line has it.
  private static func place(
    of line: (number: Int, text: ArraySlice<UInt8>), in lines: [ArraySlice<UInt8>]
  ) -> Int? {
    lines.indices.filter { lines[$0].elementsEqual(line.text) }
      .min { abs($0 - line.number) < abs($1 - line.number) }.map { $0 + 1 }
  }

  /// The people who write in the note, and those who read it in other browsers.
  func editors(of subject: Subject, in notebook: Notebook) throws -> HTML {
    let writers = subject.isDeleted ? [] : editors(in: notebook).names(of: subject.id, subject.path)
    let lines = writers.isEmpty ? [:] : try lines(of: writers, in: subject, notebook)
    let open = site.openNotes.names(except: ownName(in: notebook), editing: false)[subject.id]
    let readers = (open ?? []).subtracting(writers).sorted().map { "<b>\($0)</b>" as HTML }
    return """
      <span id="editors" role="status" data-live data-presence>\
      \("<span class=\"chip live\">\(Self.isWriting(writers, at: lines))</span>", if: !writers.isEmpty)\
      \("<span class=\"chip\">\(Self.list(readers)) \(readers.count == 1 ? "has" : "have") it open</span>", if: !readers.isEmpty)</span>
      """
  }
}
