internal import Git
internal import History
internal import Notebook
internal import System
internal import WorkTree

/// The attachments of the notebook: the list, a page for each, their bytes, and the form that adds
/// one.
extension RequestContext {
  /// The path to which pieces of a file are sent.
  static let adding = ["files", "add"]

  func filesPage(of notebook: Notebook) throws -> HTML {
    let files = try notebook.history.files().filter { !$0.path.isNote }
      .sorted { ($1.modified ?? .max, $0.path) < ($0.modified ?? .max, $1.path) }
    let shown = files.dropFirst(skipped).prefix(Self.notesAtOnce)
    let rows = shown.map { file -> HTML in
      let marks: [HTML?] = [
        file.path.parent.map { "<span class=\"folder\"><bdi>\("\($0)")</bdi></span>" },
        "<span>\(Self.size(file.size))</span>",
        file.id.isEmpty ? "<span class=\"chip\">not saved yet</span>" : nil,
      ]
      return .row(
        file.title, at: file.id.isEmpty ? nil : "\(root)/files/\(file.id)",
        file.modified.map { .time($0, .brief) }, marks: marks)
    }
    let next = skipped + shown.count
    return listPage(
      "Files", of: notebook, rows,
      or: .empty("No files yet", "Photos and files that you add to a note are listed here."),
      more(files.count - next, "\(root)/files?from=\(next)"))
  }

  /// A number of bytes, for people.
  private static func size(_ bytes: Int) -> String {
    bytes < 1 << 20 ? "\((bytes + 1_023) >> 10) KiB" : "\((bytes + (1 << 19)) >> 20) MiB"
  }

  /// The attachment whose ID is in the path.
  private func file(in notebook: Notebook) throws -> NoteSummary {
    let id = try noteID(request.path[1])
    let file = try notebook.history.files().first { $0.id == id && !$0.path.isNote }
    guard let file else { throw Refusal.noSuchFile }
    return file
  }

  func filePage(in notebook: Notebook) throws -> HTML {
    let file = try file(in: notebook)
    let source = "\(root)/files/\(file.id)/bytes"
    let player: HTML? =
      switch FileKind(ofName: file.title)?.shape {
      case .image: "<p class=\"prose\"><img src=\"\(source)\" alt=\"\(file.title)\"></p>"
      case .audio:
        "<p><audio controls preload=\"metadata\" src=\"\(source)\" aria-label=\"\(file.title)\"></audio></p>"
      case .video:
        "<p><video controls preload=\"metadata\" src=\"\(source)\" aria-label=\"\(file.title)\"></video></p>"
      case .download, nil: nil
      }
    let frame = Frame(back: (root + "/files", "Files"))
    return layout(file.title, name: notebook.identity.name, frame) {
      """
      <h1 dir="auto">\(file.title)</h1>
      <div class="about"><span>\(Self.size(file.size))</span>\(file.modified.map { time($0) })</div>
      \(player)
      <p><a class="btn" href="\(source)" download>Download</a></p>
      """
    }
  }

  /// The bytes, with a restrictive policy: whatever they contain, a browser does not run them as a
  /// page.
  func fileBytes(in notebook: Notebook) throws -> Response {
    let file = try file(in: notebook)
    guard let opened = try notebook.workTree.open(file.path) else { throw Refusal.noSuchFile }
    let content = OpenFile(opened)
    let kind = FileKind(ofName: file.title)
    let isShown = kind.map { $0.shape != .download } ?? false
    // A name with hidden characters, which could make it look different, is not used.
    let name = HiddenScalars.areIn(file.title, .name) ? "file" : file.title
    var headers: [(name: String, value: String)] = [
      (
        name: "Content-Security-Policy",
        value: "default-src 'none'; sandbox; frame-ancestors 'none'"
      ),
      ("Accept-Ranges", "bytes"),
      (
        "Content-Disposition",
        "\(isShown ? "inline" : "attachment"); filename*=UTF-8''\(name.percentEncoded)"
      ),
    ]
    let range: Range<Int>
    switch FilePart(request.range, of: content.size) {
    case .whole: range = 0..<content.size
    case .part(let part):
      range = part
      let last = part.upperBound - 1
      headers.append(("Content-Range", "bytes \(part.lowerBound)-\(last)/\(content.size)"))
    case .unsatisfiable:
      return Response(
        status: 416, headers: [("Content-Range", "bytes */\(content.size)")],
        body: .bytes([], type: "text/plain; charset=utf-8"))
    }
    let status = headers.last?.name == "Content-Range" ? 206 : 200
    let type = kind?.type ?? FileKind.bytes
    return Response(status: status, headers: headers, body: .file(content, range, type: type))
  }

  // MARK: Add

  /// Receives a piece of a file. With the last piece, adds the file beside the note.
  func addFile(in notebook: Notebook) throws -> Response {
    let query = request.query
    guard let token = query["upload"], (16...64).contains(token.utf8.count),
      let start = query["from"].flatMap({ Int($0) }), start >= 0,
      let size = query["size"].flatMap({ Int($0) }), size > 0, let name = query.typed("name")
    else { throw Refusal.brokenForm }
    guard size <= min(site.limits.fileBytes, notebook.workTree.sizeLimit) else {
      throw Refusal.tooLarge(site.limits.fileBytes)
    }
    guard let kind = FileKind(ofName: name) else { throw Refusal.unknownKind }
    let piece = Uploads.Piece(
      name: token, visitor: root, start: start, size: size, bytes: request.piece)
    switch try site.uploads.take(piece) {
    case .partial(let count): return .facts("{\"from\":\(count)}")
    case .added(let link): return .facts("{\"link\":\(JSONText.quoted(link))}")
    case .whole(let bytes):
      do {
        let link = try add(bytes, kind, named: name, in: notebook)
        site.uploads.end(piece, link: link)
        return .facts("{\"link\":\(JSONText.quoted(link))}")
      } catch {
        site.uploads.end(piece, link: nil)
        throw error
      }
    }
  }

  /// Adds a file, with another name if its own is taken.
  ///
  /// - Returns: the text of the link in the note.
  private func add(
    _ bytes: [UInt8], _ kind: FileKind, named name: String, in notebook: Notebook
  ) throws -> String {
    guard kind.matches(bytes) else { throw Refusal.otherKind }
    var content = bytes
    if request.query["places"] != "keep" {
      switch kind.places {
      case .none: break
      case .fixed: throw Refusal.mayTellPlace
      case .removable(let removed):
        guard let picture = removed(bytes) else { throw Refusal.otherKind }
        content = picture
      }
    }
    let note =
      try query("beside").map { id in
        try self.note(id, in: notebook)?.path
      } ?? nil
    // The characters with a meaning in a link, or in a path.
    let whole = String(
      name.map {
        "/\\[]()|#<>:\"*?!`".contains($0) || HiddenScalars.areIn(String($0), .name) ? "-" : $0
      })
    let dot = whole.lastIndex(of: ".") ?? whole.endIndex
    for number in 1...99 {
      let mark = number == 1 ? "" : " \(number)"
      let title = whole[..<dot] + mark + whole[dot...]
      let path = try notebook.path(titled: String(title), in: note?.parent ?? "", suffix: "")
      do {
        _ = try notebook.create(path, text: content)
      } catch NotebookError.nameTaken {
        // If the file cannot be read, it counts as different.
        guard (try? notebook.workTree.text(of: path)) == content else { continue }
      }
      return Self.link(to: path, kind, isMarkdown: note?.isMarkdown ?? false)
    }
    throw NotebookError.nameTaken(TreePath(whole), by: TreePath(whole), isFolder: false)
  }

  private func query(_ name: String) throws -> String? { try request.query[name].map(noteID) }

  private static func link(to path: TreePath, _ kind: FileKind, isMarkdown: Bool) -> String {
    let name = path.name.description
    guard isMarkdown else { return "[[\(name)]]" }
    let address = name.replacing("%", with: "%25").replacing(" ", with: "%20")
    return kind.shape == .image ? "![](\(address))" : "[\(name)](\(address))"
  }
}
