internal import Git
internal import History
internal import Membership
internal import Notebook
internal import System
internal import WorkTree

/// What all pages have in common.
extension Visit {
  /// A whole page around what is its own.
  func layout(_ title: String, name: String?, _ main: () throws -> HTML) rethrows -> HTML {
    let notebook = name ?? "notes"
    return try .document(
      "\(title) – \(notebook)", root: root, drafts: drafts, isLive: visitor.isHere,
      appLinks: mayBeApp ? appLinks : nil
    ) {
      """
      <header>
      <p class="name"><a href="\(root)/">\(notebook)</a></p>
      \(navigation, if: visitor.isHere)
      <p id="state" role="status"></p>
      </header>
      <main id="main" tabindex="-1">
      \(message)
      \(try main())
      </main>
      """
    }
  }

  /// Whose drafts the page keeps and sends. A browser keeps them by the port, at which another notebook,
  /// or another guest, may be later.
  private var drafts: String { site.notebookID + (visitor.guest == nil ? "" : root) }

  private var navigation: HTML {
    let who: HTML? = visitor.guest.map {
      "<p class=\"who\">Guest: <b>\($0.name)</b>, \($0.role.rawValue)</p>"
    }
    let shelf: HTML? = visitor.shelf.map { "<a href=\"\($0)/\">Notebooks</a>" }
    return """
      <nav aria-label="Notebook">
      \(shelf)
      <a href="\(root)/">Notes</a>
      \("<a href=\"\(root)/new\">New note</a>", if: visitor.mayWrite)
      <a href="\(root)/deleted">Deleted</a>
      \("<a href=\"\(root)/undo\">Undo</a>", if: visitor.mayWrite)
      \("<a href=\"\(root)/devices\">Devices</a>", if: visitor.isOwner)
      \("<a href=\"\(root)/browser\">This browser</a>", if: visitor.guest != nil)
      </nav>
      \(who)
      """
  }

  /// What was done, where the address says that something was. An address of somebody else's can say no
  /// more than one of these.
  private var message: HTML? {
    let said: String? =
      switch request.query["done"] {
      case "saved": "Saved."
      case "merged": "Saved. The note had changed meanwhile: both changes are in it now."
      case "conflict": "Saved. Others changed the same lines: choose which to keep."
      case "same": "Nothing changed."
      case "renamed": "Renamed."
      case "deleted": "Deleted. Its text stays in the history: see Deleted."
      case "restored": "Restored. What was there before is a version, too."
      case "copied": "This is the copy."
      case "undone": "Undone."
      case "settled": "Settled. What was not chosen stays in the history."
      case "role": "The role is changed. Other devices learn it at their next sync."
      case "removed":
        "Removed. Other devices learn it at their next sync. What the device has received it keeps: "
          + "a removal cannot take it back."
      case "cancelled": "Cancelled."
      case "partly": "Settled in part: the note is still in conflict."
      default: nil
      }
    return said.map { "<p class=\"done\" role=\"status\" tabindex=\"-1\" autofocus>\($0)</p>" }
  }

  /// The heading of a page that a form leads to, or that asks before something is done: it has the focus, so
  /// that it is read, and the next Tab leads to what is below it.
  func reachedHeading(_ text: String) -> HTML {
    "<h1 tabindex=\"-1\" autofocus>\(text)</h1>"
  }

  /// A time, for people in the zone of this device.
  func time(_ seconds: Int64) -> HTML {
    let time = CalendarTime(seconds)
    let machine = "\(time.date)T\(time.timeOfDayWithSeconds)Z"
    return "<time datetime=\"\(machine)\">\(WallClock.text(seconds, "%Y-%m-%d %H:%M"))</time>"
  }

  /// What stands above a page about a note: its title, its folder, and where one can go from it.
  func heading(of subject: Subject, _ what: String? = nil) -> HTML {
    let folder: HTML? = subject.path.parent.map { "<p class=\"folder\">in \("\($0)")</p>" }
    let isOpen = visitor.mayWrite && !subject.isDeleted
    return """
      <h1>\(subject.title)\(what.map { " – " + $0 } ?? "")</h1>
      \(folder)
      <nav class="note" aria-label="Note">
      <a href="\(address(subject))">Text</a>
      \("<a href=\"\(address(subject, "/edit"))\">Edit</a>", if: isOpen)
      <a href="\(address(subject, "/versions"))">Versions</a>
      \("<a href=\"\(address(subject, "/settle"))\">Settle</a>", if: isOpen && subject.isInConflict)
      \("<a href=\"\(address(subject, "/rename"))\">Rename</a>", if: isOpen)
      \("<a href=\"\(address(subject, "/delete"))\">Delete</a>", if: isOpen)
      </nav>
      """
  }

  /// A note's text; of a long one the beginning.
  func whole(_ text: [UInt8]) -> HTML {
    if text.contains(0) { return "<p>This is no text.</p>" }
    let more: HTML =
      "<p>These are the first \(limit >> 10) KiB of \(text.count >> 10) KiB.</p>"
    return """
      <pre class="text">\(text: text.prefix(limit))</pre>
      \(text.count > limit ? more : nil)
      """
  }
}

extension HTML {
  /// A whole page.
  ///
  /// - Parameters:
  ///   - drafts: whose drafts the page keeps and sends.
  ///   - isLive: whether the script belongs to it.
  ///   - appLinks: what makes an app of it, where a browser may keep it.
  static func document(
    _ title: String, root: String, drafts: String = "", isLive: Bool = false,
    appLinks: HTML? = nil, _ body: () throws -> HTML
  ) rethrows -> HTML {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <title>\(title)</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <link rel="stylesheet" href="\(root)/style.css">
    <link rel="icon" href="\(root)/icon.svg" type="image/svg+xml">
    \(appLinks)
    \("<script type=\"module\" src=\"\(root)/page.js\"></script>", if: isLive)
    </head>
    <body data-root="\(root)" data-drafts="\(drafts)"\(" data-app=\"yes\"", if: appLinks != nil)>
    <a class="skip" href="#main">To the text</a>
    \(try body())
    </body>
    </html>

    """
  }
}
