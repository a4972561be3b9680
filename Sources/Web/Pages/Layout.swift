internal import Git
internal import History
internal import Membership
internal import Notebook
internal import System
internal import WorkTree

/// The parts of a page around its content: the target of its back link, the header's button, and
/// its menu.
struct Frame {
  /// Nil on a page without a back link.
  var back: (address: String, name: String)?
  /// The button for the main action, which is at the lower edge on a phone.
  var deed: HTML?
  /// The title, which the header shows when that of the page is scrolled out of view.
  var title: String?
  /// The links of the menu.
  var menu: HTML?
  /// The list of the notes, beside a note on a wide screen.
  var list: HTML?
  /// Whether the header shows the text's state.
  var isEditor = false
}

/// Parts that all pages share.
extension RequestContext {
  /// A whole page with its content. Without a frame its header links to the list.
  func layout(
    _ title: String, name: String?, _ frame: Frame? = nil, _ main: () throws -> HTML
  ) rethrows -> HTML {
    let notebook = name ?? "notes"
    let frame = frame ?? Frame(back: visitor.isHere ? (root + "/", notebook) : nil)
    let style: HTML = frame.list == nil ? "one" : "at-note"
    return try document("\(title) – \(notebook)", style) {
      """
      \(frame.list)
      <div class="pane-note">
      \(header(frame))
      <main id="main" tabindex="-1" class="page">
      \(message)
      \(try main())
      \(frame.isEditor ? nil : frame.deed.map { "<div class=\"deeds phone-only\">\($0)</div>" })
      </main>
      </div>
      """
    }
  }

  /// A document without the header.
  func document(_ title: String, _ style: HTML, _ body: () throws -> HTML) rethrows -> HTML {
    try .document(
      title, root: root, drafts: drafts, isLive: visitor.isHere,
      appLinks: mayBeApp ? appLinks : nil, style: style, body)
  }

  /// The owner of the drafts that the page stores and sends: the notebook, and the guest if there is one. The browser
  /// stores drafts for each host and port, which another notebook or guest may use later.
  private var drafts: String {
    site.notebookID + (visitor.guest.map { "/" + $0.name.lowercased().percentEncoded } ?? "")
  }

  /// One line: the back link, the state, the main action, and the menu.
  private func header(_ frame: Frame) -> HTML {
    let menu: HTML? = frame.menu.map { .menu("menu", named: "Menu of the note", $0) }
    // The script shows this button, because a telephone has no key for undo.
    let undo: HTML = """
      <button class="tap" type="button" id="undo" disabled hidden>\(HTML.icon(.undo))\(HTML.spoken("Undo typing"))</button>
      """
    return """
      <header class="bar\(" edit", if: frame.isEditor)">
      \(frame.back.map { .back(to: $0.address, $0.name) })
      \(frame.title.map { "<span class=\"here\" id=\"here\" data-live aria-hidden=\"true\" dir=\"auto\">\($0)</span>" })
      <p id="state" role="status"></p>
      \(undo, if: frame.isEditor)
      \(frame.isEditor ? frame.deed : frame.deed.map { "<div class=\"wide-only\">\($0)</div>" })
      \(menu)
      </header>
      """
  }

  /// The message about a change, if the address names one. An address made by another person can name only
  /// one of these messages.
  var message: HTML? {
    let said: String? =
      switch request.query["done"] {
      case "saved": "Saved"
      case "merged": "Saved. Somebody else also changed the note: it now contains both changes."
      case "conflict": "Saved. You and somebody else changed the same words: choose which to keep."
      case "same": "Nothing changed"
      case "renamed": "Renamed"
      case "deleted": "Deleted. You find it under \u{201C}Deleted notes\u{201D} in the menu."
      case "restored": "Restored. The former text is among the versions."
      case "pin": "Pinned to the top of the list"
      case "unpin": "No longer pinned"
      case "copied": "This is the copy"
      case "undone": "Undone"
      case "settled": "Done. The other text is among the versions."
      case "role": "The role is changed. Other devices learn the new role at their next sync."
      case "removed":
        "Removed. Other devices learn of it at their next sync. The removed device keeps the notes "
          + "that it has received."
      case "guest-role": "The role is changed"
      case "guest-removed": "Removed. The guest's texts stay."
      case "cancelled": "Cancelled"
      case "partly": "Partly done: there is more to choose"
      default: nil
      }
    return said.map { "<p class=\"done\" role=\"status\" tabindex=\"-1\" autofocus>\($0)</p>" }
  }

  /// The heading of a page that follows a form, or that asks before an action. It has the focus, so screen
  /// readers read it, and the next Tab leads to the part below it.
  func reachedHeading(_ text: String) -> HTML {
    "<h1 tabindex=\"-1\" autofocus>\(text)</h1>"
  }

  /// A time, for people in the zone of this device.
  func time(_ seconds: Int64) -> HTML { .time(seconds) }

  /// The frame of a page about a note: back to the note, or from the note itself to the list.
  func frame(of subject: Subject, isNote: Bool = false, in notebook: Notebook) throws -> Frame {
    let list = (root + "/", notebook.identity.name)
    return Frame(
      back: isNote ? list : (address(subject), subject.title), title: isNote ? subject.title : nil,
      menu: isNote ? menu(of: subject, in: notebook) : nil,
      list: try sideList(of: notebook, shown: subject))
  }

  private func menu(of subject: Subject, in notebook: Notebook) -> HTML {
    let isOpen = visitor.mayWrite && !subject.isDeleted
    let isPinned = PinnedNotes(in: notebook.stateFolder).ids.contains(subject.id)
    let pin = HTML.button(
      "\(HTML.icon(.pin))\(isPinned ? "Pinned: unpin" : "Pin to the top")",
      at: address(subject, isPinned ? "/unpin" : "/pin"), "")
    let copy: HTML = """
      <button type="button" id="copy" value="\(address(subject, "/text"))" hidden>\(HTML.icon(.copy))Copy the text</button>
      """
    let change: HTML = """
      <a href="\(address(subject, "/rename"))">\(HTML.icon(.rename))Rename or move</a>
      <hr><a class="bad" href="\(address(subject, "/delete"))">\(HTML.icon(.bin))Delete</a>
      """
    let settle: HTML = """
      <a href="\(address(subject, "/settle"))">\(HTML.icon(.fork))Choose between two texts</a>
      """
    return """
      \(settle, if: isOpen && subject.isInConflict)
      \(pin, if: isOpen)
      <a href="\(address(subject, "/versions"))">\(HTML.icon(.clock))Versions</a>
      \(copy, if: !subject.isDeleted)
      \(change, if: isOpen)
      """
  }

  /// The text of a note, unchanged; for a long one, the beginning.
  func whole(_ text: [UInt8]) -> HTML {
    if text.contains(0) { return "<p>This is not text.</p>" }
    let more: HTML =
      "<p class=\"soft\">These are the first \(limit >> 10) KiB of \(text.count >> 10) KiB.</p>"
    return """
      <pre class="text" dir="auto">\(text: text.prefix(limit))</pre>
      \(text.count > limit ? more : nil)
      """
  }
}

extension HTML {
  /// A whole page.
  ///
  /// - Parameters:
  ///   - drafts: the owner of the drafts that the page stores and sends.
  ///   - isLive: whether the page includes the script.
  ///   - appLinks: the links that make it an app, if a browser may store it.
  ///   - style: the kind of page.
  static func document(
    _ title: String, root: String, drafts: String = "", isLive: Bool = false,
    appLinks: HTML? = nil, style: HTML = "one", _ body: () throws -> HTML
  ) rethrows -> HTML {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <title>\(title)</title>
    <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, \
    interactive-widget=resizes-content">
    <meta name="color-scheme" content="light dark">
    <meta name="theme-color" content="#f6f4ef" media="(prefers-color-scheme: light)">
    <meta name="theme-color" content="#151514" media="(prefers-color-scheme: dark)">
    <link rel="stylesheet" href="\(root)/style.css">
    <link rel="icon" href="\(root)/icon.svg" type="image/svg+xml">
    \(appLinks)
    \("<script type=\"module\" src=\"\(root)/page.js\"></script>", if: isLive)
    </head>
    <body class="\(style)" data-root="\(root)" data-drafts="\(drafts)"\(" data-app=\"yes\"", if: appLinks != nil)>
    <a class="skip" href="#main">To the text</a>
    <div class="panes">
    \(try body())
    </div>
    </body>
    </html>

    """
  }

  /// The back link, with the name of its target.
  static func back(to address: String, _ name: String) -> HTML {
    "<a class=\"tap back\" data-leave href=\"\(address)\">\(icon(.back, "i turn"))<span>\(name)</span></a>"
  }

  /// A menu that opens without a script, and its button.
  static func menu(_ id: HTML, named name: String, _ links: HTML) -> HTML {
    """
    <button class="tap" type="button" popovertarget="\(id)">\(icon(.menu, "i dots"))\(spoken(name))</button>
    <nav class="sheet" id="\(id)" popover aria-label="\(name)">
    \(links)
    </nav>
    """
  }
}
