internal import Membership
internal import Notebook

/// Parts of the pages that list something.
extension HTML {
  /// Rows on a card, or `none` if there are no rows.
  static func group(_ rows: [HTML], or none: HTML = nothing) -> HTML {
    rows.isEmpty ? none : "<ul class=\"group notes\">\n\(rows)</ul>\n"
  }

  /// A row: title, time, other words, and marks. It is a link if there is an address.
  static func row(
    _ title: String, at address: String?, _ when: HTML? = nil, _ words: [HTML] = [],
    marks: [HTML?] = [], isShown: Bool = false, isNew: Bool = false
  ) -> HTML {
    let inner: HTML = """
      \("<span class=\"unread\"></span>\(spoken("New: "))", if: isNew)\
      <span class="row-top"><span class="row-title" dir="auto">\(title)</span>\(when)</span>
      \(words)
      <span class="row-meta">\(marks.compactMap { $0 })</span>
      """
    guard let address else { return "<li><div class=\"row\">\(inner)</div></li>\n" }
    return """
      <li><a class="row" href="\(address)"\(" aria-current=\"page\"", if: isShown)>
      \(inner)</a></li>

      """
  }

  /// A row about a device or a person, with the possible actions.
  static func person(
    _ name: HTML, _ about: [HTML], _ deed: HTML? = nil, face: HTML? = nil
  ) -> HTML {
    """
    <li class="person">\(face)<div>\(name)<small class="about">\(RequestContext.list(about))</small></div> \(deed)</li>

    """
  }

  /// The link to the page for changing a device or a person, whose name is beside it.
  static func change(_ name: String, at address: String) -> HTML {
    "<a class=\"btn change\" href=\"\(address)\">Change\(spoken(" \(name)"))</a>"
  }

  /// A form that is one button.
  static func button(_ words: HTML, at address: String, _ style: HTML = "btn") -> HTML {
    "<form method=\"post\" action=\"\(address)\"><button class=\"\(style)\">\(words)</button></form>"
  }

  /// The choices of a role, each with its meaning.
  static func roles(chosen: Role, _ roles: [(role: Role, meaning: HTML)]) -> [HTML] {
    roles.map { role, meaning in
      """
      <label class="choice less"><input type="radio" name="role" value="\(role.rawValue)"\
      \(" checked", if: role == chosen)> <span><b>\(role.rawValue)</b>: \(meaning)</span></label>

      """
    }
  }

  /// A title and a hint in place of an empty list.
  static func empty(_ title: String, _ hint: HTML) -> HTML {
    "<div class=\"nothing\">\(emptySheet)<h2>\(title)</h2>\n<p class=\"soft\">\(hint)</p></div>"
  }

  /// Items grouped under common headings, in their order.
  static func grouped(
    _ items: [(heading: String, item: HTML)], _ list: ([HTML]) -> HTML
  ) -> [HTML] {
    var groups: [(heading: String, items: [HTML])] = []
    for (heading, item) in items {
      if groups.last?.heading != heading { groups.append((heading, [])) }
      groups[groups.count - 1].items.append(item)
    }
    return groups.map { "<h2 class=\"label\">\($0.heading)</h2>\n\(list($0.items))" }
  }
}

extension RequestContext {
  /// How many rows the previous pages have shown.
  var skipped: Int { max(0, Int(request.query["from"] ?? "") ?? 0) }

  /// The link to the remaining rows, whose address contains the number of shown ones.
  func more(_ rest: Int, _ address: String) -> HTML? {
    rest > 0 ? "<p><a class=\"btn\" href=\"\(address)\">\(rest) more</a></p>" : nil
  }

  /// A page that lists something, or says that there is nothing.
  func listPage(
    _ title: String, of notebook: Notebook, _ rows: [HTML], or none: HTML, _ more: HTML? = nil
  ) -> HTML {
    layout(title, name: notebook.identity.name) {
      """
      <h1>\(title)</h1>
      <div id="notes" data-live>
      \(HTML.group(rows, or: none))
      \(more)
      </div>
      """
    }
  }

  /// The page that changes a member or a guest: the role, and, if that is opened, the removal.
  func personPage(
    _ name: String, at address: String, in notebook: Notebook, about: HTML? = nil, role: HTML,
    removal: HTML
  ) -> HTML {
    let frame = Frame(back: (root + "/devices", "People and devices"))
    return layout(name, name: notebook.identity.name, frame) {
      """
      \(reachedHeading(name))
      \(about)
      <form method="post" action="\(address)/role" class="edit">
      <fieldset><legend class="label">Role</legend>
      \(role)
      </fieldset>
      <p><button class="btn main">Change the role</button></p>
      </form>
      <details id="removal" aria-label="Remove \(name)"><summary class="btn bad">Remove \(name) …</summary>
      <form method="post" action="\(address)/remove" class="stack">
      \(removal)
      <p><button class="btn bad">Remove \(name)</button></p>
      </form></details>
      """
    }
  }
}
