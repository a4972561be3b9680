internal import Git
internal import History
internal import Merge
internal import Notebook
internal import System
internal import WorkTree

/// A note's text on the page: as Markdown if the note's suffix is one of Markdown's, otherwise line by line. Both have
/// links, and boxes to tick. notes-web(1), "Reading".
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
        "\(Self.start(ofLink: address))\(picture(at: address, words) ?? "\(text: words.utf8)")</a>"
      }
    }
    return "\(parts)"
  }

  /// The image for a page's address; nil for other addresses.
  private func picture(at address: String, _ words: String) -> HTML? {
    image(address).map { "<img src=\"\($0)\" alt=\"\(words)\" loading=\"lazy\">" }
  }

  private static func start(ofLink address: String, _ style: HTML = "") -> HTML {
    "<a\(style) href=\"\(address)\"\(" rel=\"noreferrer noopener\"", if: address.first != "/")>"
  }

  /// A box: a button of the form around the text, so it works without a script.
  ///
  /// - Parameter place: the number of its line in the text, counted from 0.
  private func box(_ place: Int, _ task: TaskLine) -> HTML {
    let state: HTML = """
      role="checkbox" aria-checked="\(task.isTicked ? "true" : "false")" aria-label="\(Preview.plain(task.text))"
      """
    let mark = HTML.icon(.tick)
    guard let field else {
      return "<span class=\"tick\" aria-disabled=\"true\" \(state)>\(mark)</span>"
    }
    let number = above + place + 1
    return "<button class=\"tick\" name=\"\(field)\" value=\"\(number)\" \(state)>\(mark)</button>"
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
    /// The end tags of the open nodes, the innermost last.
    private var ends: [HTML] = []
    /// How many links are open: links are not nested.
    private var linksAround = 0
    private var alignments: [UInt8] = []
    private var column = 0
    private var isInHead = false

    init(text: NoteText) { self.text = text }

    mutating func enter(_ node: CommonMarkNode) {
      let (start, end) = tags(of: node)
      parts.append(start)
      ends.append(end)
    }

    mutating func leave(_ node: CommonMarkNode) {
      if ["link", "image"].contains(node.kind) { linksAround -= 1 }
      parts.append(ends.removeLast())
    }

    /// The markup before and after a node's children.
    private mutating func tags(of node: CommonMarkNode) -> (start: HTML, end: HTML) {
      switch node.kind {
      case "paragraph": return node.isTight ? ("", "") : ("<p dir=\"auto\">", "</p>\n")
      case "heading":
        let level = min(6, node.level + 1)
        return ("<h\(level) dir=\"auto\">", "</h\(level)>\n")
      case "list":
        return node.firstNumber.map { ("<ol start=\"\($0)\">\n", "</ol>\n") } ?? (
          "<ul>\n", "</ul>\n"
        )
      case "item": return ("<li dir=\"auto\">", "</li>\n")
      case "tasklist":
        let line = node.line - 1
        let task = text.lines.indices.contains(line) ? TaskLine(text.lines[line]) : nil
        return (
          "<li class=\"task\" dir=\"auto\">\(task.map { text.box(line, $0) })<div>", "</div></li>\n"
        )
      case "block_quote": return ("<blockquote>\n", "</blockquote>\n")
      case "code_block":
        return ("<pre tabindex=\"0\"><code>\(text: node.literal.utf8)", "</code></pre>\n")
      case "html_block": return ("<pre class=\"raw\">\(text: node.literal.utf8)", "</pre>\n")
      case "thematic_break": return ("<hr>\n", "")
      case "text" where linksAround == 0: return (text.words(node.literal), "")
      case "text", "html_inline": return ("\(text: node.literal.utf8)", "")
      case "code": return ("<code>\(text: node.literal.utf8)", "</code>")
      case "emph": return ("<em>", "</em>")
      case "strong": return ("<strong>", "</strong>")
      case "strikethrough": return ("<s>", "</s>")
      // A line break is intentional in a note.
      case "softbreak", "linebreak": return ("<br>\n", "")
      case "link": return link(to: Links.outward(node.url) ?? text.inward(node.url))
      case "image": return image(node)
      case "table":
        alignments = node.alignments
        return (
          "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>\n",
          "</tbody></table></div>\n"
        )
      case "table_header":
        (column, isInHead) = (0, true)
        return ("<thead><tr>", "</tr></thead>\n<tbody>")
      case "table_row":
        (column, isInHead) = (0, false)
        return ("<tr>", "</tr>\n")
      case "table_cell": return cell()
      default: return ("", "")
      }
    }

    private mutating func cell() -> (start: HTML, end: HTML) {
      let style: HTML =
        switch column < alignments.count ? alignments[column] : 0 {
        case UInt8(ascii: "c"): " class=\"middle\""
        case UInt8(ascii: "r"): " class=\"end\""
        default: ""
        }
      column += 1
      let kind: HTML = isInHead ? "th" : "td"
      return ("<\(kind)\(style) dir=\"auto\">", "</\(kind)>")
    }

    /// Images on other sites are not fetched: that would reveal to these sites who reads this note. The
    /// image's words are its child nodes.
    private mutating func image(_ node: CommonMarkNode) -> (start: HTML, end: HTML) {
      let inward = text.inward(node.url)
      let picture = inward.flatMap { text.picture(at: $0, node.url) }
      let tags = link(
        to: Links.outward(node.url) ?? inward, picture == nil ? " class=\"image\"" : "")
      return ("\(tags.start)\(picture)", tags.end)
    }

    private mutating func link(
      to address: String?, _ style: HTML = ""
    ) -> (start: HTML, end: HTML) {
      linksAround += 1
      guard let address, linksAround == 1 else { return ("<span\(style)>", "</span>") }
      return (NoteText.start(ofLink: address, style), "</a>")
    }
  }
}

extension RequestContext {
  /// A note's text for reading, below its title, in the form for ticking its boxes. Of a long text, only the
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
    guard !url.isEmpty, let name = String(percentEncoded: Array(url.utf8)) else { return nil }
    let path = name.prefix { $0 != "#" && $0 != "?" }
    let near = folder.map { $0.appending(TreePath(String(path))) } ?? TreePath(String(path))
    return address(of: byPath[near] ?? byPath[TreePath(String(path))])
  }
}
