internal import Git
internal import History
internal import Merge
internal import Notebook
internal import System
internal import WorkTree

/// A note's text on the page: Markdown for notes with that suffix, and lines for others, both with links and
/// with boxes to tick: notes-web(1), "Reading".
struct NoteText {
  private let lines: [Substring]
  /// The number of the note's lines above the text: boxes are identified by their line in the note.
  private let above: Int
  private let links: Links
  /// The address of a note's page for a link inside the notebook; nil if there is none.
  private let inward: (String) -> String?
  /// The address of an image, for the address of its page; nil for files that are not shown inside
  /// a text.
  private let image: (String) -> String?
  /// The name of the field with the line number of a ticked box; nil if the visitor may not tick.
  private let field: String?
  private let text: String

  init(
    _ text: String, below above: Int = 0, field: String?, note: @escaping (String) -> String?,
    inward: @escaping (String) -> String?, image: @escaping (String) -> String? = { _ in nil }
  ) {
    (self.text, self.above, self.field) = (text, above, field)
    (self.inward, self.image) = (inward, image)
    lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    links = Links(note: note)
  }

  private func words(_ text: String) -> HTML {
    let parts = links.parts(of: text).map { part -> HTML in
      switch part {
      case .text(let text): "\(text: text.utf8)"
      case .link(let address, let words):
        Self.link(to: address, picture(at: address, words) ?? "\(text: words.utf8)")
      }
    }
    return "\(parts)"
  }

  /// The image for a page's address; nil for other addresses.
  private func picture(at address: String, _ words: String) -> HTML? {
    image(address).map { "<img src=\"\($0)\" alt=\"\(words)\" loading=\"lazy\">" }
  }

  private static func link(to address: String, _ words: HTML) -> HTML {
    let isOutward = address.first != "/"
    return """
      <a href="\(address)"\(" rel=\"noreferrer noopener\"", if: isOutward)>\(words)</a>
      """
  }

  /// A box, which is a button of the form around the text, so that it works without a script.
  ///
  /// - Parameter place: the number of its line in the text, counted from 0.
  private func box(_ place: Int, _ task: TaskLine) -> HTML {
    let mark = HTML.icon(.tick)
    let name = Preview.plain(task.text)
    guard let field else {
      return """
        <span class="tick" role="checkbox" aria-disabled="true" aria-checked="\(task.isTicked ? "true" : "false")" \
        aria-label="\(name)">\(mark)</span>
        """
    }
    return """
      <button class="tick" name="\(field)" value="\(above + place + 1)" role="checkbox" \
      aria-checked="\(task.isTicked ? "true" : "false")" aria-label="\(name)">\(mark)</button>
      """
  }

  // MARK: Lines

  /// The text line by line, as it was typed.
  func plain() -> HTML {
    let shown = lines.enumerated().map { place, line -> HTML in
      let end: HTML = place + 1 < lines.count ? "\n" : ""
      guard let task = TaskLine(line) else { return "\(words(String(line)))\(end)" }
      let start = line[..<task.start.endIndex]
      let indent = start.prefix { $0 == " " || $0 == "\t" || $0 == ">" }
      let mark = start.dropFirst(indent.count) + (task.isTicked ? "x] " : " ] ")
      return """
        <span class="task">\("\(indent)")\(box(place, task))<span class="vh" aria-hidden="true">\(String(mark))</span>\
        <span>\(words(String(task.text)))\(end)</span></span>
        """
    }
    return "<pre class=\"text\" dir=\"auto\">\(shown)</pre>"
  }

  // MARK: Markdown

  /// The text as Markdown; nil if the library is missing, or if the text exceeds a limit.
  func markdown() -> HTML? {
    var page = Markdown(text: self)
    let isWhole = CommonMark.shared?.walk(
      text, enter: { page.enter($0) }, leave: { page.leave($0) })
    return isWhole == true ? "<div class=\"prose\">\n\(page.parts)</div>" : nil
  }

  private struct Markdown {
    let text: NoteText
    var parts: [HTML] = []
    /// How many links are open: links are not nested.
    private var linksAround = 0
    private var alignments: [UInt8] = []
    private var column = 0
    private var isInHead = false
    private var hasBody = false

    init(text: NoteText) { self.text = text }

    /// The tags for nodes that need nothing else.
    private static let tags: [String: (open: HTML, close: HTML)] = [
      "block_quote": ("<blockquote>\n", "</blockquote>\n"), "strikethrough": ("<s>", "</s>"),
      "item": ("<li dir=\"auto\">", "</li>\n"), "emph": ("<em>", "</em>"),
      "strong": ("<strong>", "</strong>"), "thematic_break": ("<hr>\n", ""),
    ]

    mutating func enter(_ node: CommonMarkNode) -> Bool {
      switch node.kind {
      case "paragraph": if !node.isTight { parts.append("<p dir=\"auto\">") }
      case "heading": parts.append("<h\(min(6, node.level + 1)) dir=\"auto\">")
      case "list": parts.append(node.firstNumber.map { "<ol start=\"\($0)\">\n" } ?? "<ul>\n")
      case "tasklist": enterTask(node)
      case "code_block":
        parts.append("<pre tabindex=\"0\"><code>\(text: node.literal.utf8)</code></pre>\n")
        return false
      case "html_block":
        parts.append("<pre class=\"raw\">\(text: node.literal.utf8)</pre>\n")
        return false
      case "table", "table_header", "table_row", "table_cell": enterTable(node)
      case "text":
        parts.append(linksAround > 0 ? "\(text: node.literal.utf8)" : text.words(node.literal))
      case "html_inline": parts.append("\(text: node.literal.utf8)")
      case "code":
        parts.append("<code>\(text: node.literal.utf8)</code>")
      // A line break is intentional in a note.
      case "softbreak", "linebreak": parts.append("<br>\n")
      case "link": enterLink(node)
      case "image": enterImage(node)
      case let kind: if let tags = Self.tags[kind] { parts.append(tags.open) }
      }
      return true
    }

    mutating func leave(_ node: CommonMarkNode) {
      switch node.kind {
      case "paragraph": if !node.isTight { parts.append("</p>\n") }
      case "heading": parts.append("</h\(min(6, node.level + 1))>\n")
      case "list": parts.append(node.firstNumber == nil ? "</ul>\n" : "</ol>\n")
      case "tasklist": parts.append("</div></li>\n")
      case "table": parts.append("\("</tbody>", if: hasBody)</table></div>\n")
      case "table_header":
        parts.append("</tr></thead>\n")
        isInHead = false
      case "table_row": parts.append("</tr>\n")
      case "table_cell": parts.append(isInHead ? "</th>" : "</td>")
      case "link", "image":
        linksAround -= 1
        parts.append(opened.removeLast() ? "</a>" : "</span>")
      case let kind: if let tags = Self.tags[kind] { parts.append(tags.close) }
      }
    }

    private mutating func enterTask(_ node: CommonMarkNode) {
      let line = node.line - 1
      let task = text.lines.indices.contains(line) ? TaskLine(text.lines[line]) : nil
      parts.append("<li class=\"task\" dir=\"auto\">\(task.map { text.box(line, $0) })<div>")
    }

    private mutating func enterTable(_ node: CommonMarkNode) {
      switch node.kind {
      case "table":
        (alignments, hasBody) = (node.alignments, false)
        parts.append(
          "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>\n")
      case "table_header":
        (column, isInHead) = (0, true)
        parts.append("<thead><tr>")
      case "table_row":
        parts.append("\("<tbody>", if: !hasBody)<tr>")
        (column, hasBody) = (0, true)
      default:
        let alignment = column < alignments.count ? alignments[column] : 0
        let style: HTML =
          switch alignment {
          case UInt8(ascii: "c"): " class=\"middle\""
          case UInt8(ascii: "r"): " class=\"end\""
          default: ""
          }
        parts.append(isInHead ? "<th\(style) dir=\"auto\">" : "<td\(style) dir=\"auto\">")
        column += 1
      }
    }

    /// For each open link, whether it has a valid address.
    private var opened: [Bool] = []

    private mutating func enterLink(_ node: CommonMarkNode) {
      open(linksAround > 0 ? nil : Links.outward(node.url) ?? text.inward(node.url), "")
    }

    /// Images on other sites are not fetched: that would reveal to these sites who reads this note. The
    /// image's words are its child nodes.
    private mutating func enterImage(_ node: CommonMarkNode) {
      let inward = text.inward(node.url)
      let picture = inward.flatMap { text.picture(at: $0, node.url) }
      let target = Links.outward(node.url) ?? inward
      open(linksAround > 0 ? nil : target, picture == nil ? " class=\"image\"" : "")
      if let picture { parts.append(picture) }
    }

    private mutating func open(_ address: String?, _ style: HTML) {
      linksAround += 1
      opened.append(address != nil)
      guard let address else { return parts.append("<span\(style)>") }
      let isOutward = address.first != "/"
      parts.append(
        "<a\(style) href=\"\(address)\"\(" rel=\"noreferrer noopener\"", if: isOutward)>")
    }
  }
}

extension RequestContext {
  /// A note's text for reading, below its title, in the form for ticking its boxes; for a long one, the
  /// beginning.
  ///
  /// - Parameters:
  ///   - conflict: the blocks of the same text; nil if it is not in conflict.
  ///   - action: the version and text that are shown; nil if the visitor may not tick.
  func reading(
    _ bytes: [UInt8], of path: TreePath, conflict: ConflictedNote?, in notebook: Notebook,
    ticking action: (String, ShownNote)?
  ) throws -> HTML {
    guard bytes.count <= limit, let editable = EditableText(bytes) else { return whole(bytes) }
    let form = editable.text.contains("[") ? action : nil
    let addresses = NoteAddresses(
      of: notebook, root: root, near: path.parent, imageBytes: site.limits.imageBytes)
    func read(_ part: some StringProtocol, below above: Int, _ field: String?) -> HTML {
      let text = NoteText(
        String(part), below: above, field: field, note: addresses.note, inward: addresses.inward,
        image: addresses.image)
      return (path.isMarkdown ? text.markdown() : nil) ?? text.plain()
    }
    let writers = try conflict.map { try self.writers(in: $0, of: notebook) } ?? [:]
    let times = conflict?.times ?? [:]
    let pieces: [MarkedText.Piece] = conflict?.marked.pieces ?? [.text(bytes[...])]
    var (parts, above): ([HTML], Int) = ([], 0)
    for piece in pieces {
      let source: String
      switch piece {
      case .text(let bytes):
        source = EditableText(Array(bytes))?.text ?? ""
        let rest = (above == 0 ? path.textBehindTitle(source) : nil) ?? source[...]
        let title = source[..<rest.startIndex].count(where: \.isNewline)
        parts.append(read(rest, below: above + title, form?.1.name("line")))
      case .block(let sides, let bytes):
        source = EditableText(Array(bytes))?.text ?? ""
        let shown = sides.oldestFirst(times).map { side -> HTML in
          let text = read(EditableText(side.text)?.text ?? "", below: 0, nil)
          return
            "<section class=\"side\"><p class=\"writer\">\(writers[side.label])</p>\n\(text)</section>\n"
        }
        parts.append("<div class=\"sides\(" pair", if: shown.count == 2)\">\n\(shown)</div>\n")
      }
      above += source.count(where: \.isNewline)
    }
    guard let form else { return "\(parts)" }
    return
      "<form method=\"post\" action=\"\(form.0)\(form.1.path)\" class=\"ticks\">\(parts)</form>"
  }
}

/// Finds the notes and attachments for links; their list is read when the first link needs it.
private final class NoteAddresses {
  private let notebook: Notebook
  private let root: String
  private let folder: TreePath?
  private let imageBytes: Int
  // Without the list, links to titles and images remain text.
  private lazy var notes: [NoteSummary] = (try? notebook.history.files()) ?? []
  private lazy var byTitle = Dictionary(grouping: notes) { $0.title.lowercased() }
  private lazy var byPath = Dictionary(notes.map { ($0.path, $0) }) { first, _ in first }

  /// The addresses of the images, by the addresses of their pages.
  private var images: [String: String] = [:]

  init(of notebook: Notebook, root: String, near folder: TreePath?, imageBytes: Int) {
    (self.notebook, self.root, self.folder) = (notebook, root, folder)
    self.imageBytes = imageBytes
  }

  private func address(of note: NoteSummary?) -> String? {
    guard let note, !note.id.isEmpty else { return nil }
    if note.path.isNote { return "\(root)/n/\(note.id)" }
    let page = "\(root)/files/\(note.id)"
    if note.size <= imageBytes, FileKind(ofName: note.title)?.shape == .image {
      images[page] = page + "/bytes"
    }
    return page
  }

  func image(_ page: String) -> String? { images[page] }

  /// Finds a note by its title, maybe with folders; if there are several, the one in the same
  /// folder.
  func note(_ title: String) -> String? {
    let words = title.split(separator: "/").last.map { $0.lowercased() } ?? ""
    let parts = words.split { $0.isWhitespace }
    guard let first = parts.first, let last = parts.last else { return nil }
    let name = String(words[first.startIndex..<last.endIndex])
    let found = byTitle[name] ?? byTitle[String(TreePath(name).noteTitle)] ?? []
    let parent =
      title.contains("/") ? title.split(separator: "/").dropLast().joined(separator: "/") : nil
    let wanted =
      parent.map { parent in found.first { $0.path.parent?.description == parent } } ?? nil
    return address(of: wanted ?? found.first { $0.path.parent == folder } ?? found.first)
  }

  /// Finds a file by its name in a Markdown link.
  func inward(_ url: String) -> String? {
    guard !url.isEmpty,
      let name = Fields(
        parsing: "n=\(url.replacing("+", with: "%2B").replacing("&", with: "%26"))".utf8)?["n"]
    else { return nil }
    let path = name.prefix { $0 != "#" && $0 != "?" }
    let near = folder.map { $0.appending(TreePath(String(path))) } ?? TreePath(String(path))
    return address(of: byPath[near] ?? byPath[TreePath(String(path))])
  }
}
