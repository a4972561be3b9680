internal import Membership
internal import Notebook
internal import System

/// The files of the page, the parts that make it an app, and the files that a guest's browser keeps:
/// notes-security(7), "The page as an app".
extension RequestContext {
  /// Whether the browser may store the page and open it without a connection: only for guests, and only
  /// under the name in the certificate. An address may belong to another machine tomorrow, and 127.0.0.1
  /// belongs to every program here.
  var mayBeApp: Bool { visitor.guest != nil && request.isByName }

  var appLinks: HTML {
    """
    <link rel="manifest" href="\(root)/app.webmanifest" crossorigin="use-credentials">
    <link rel="apple-touch-icon" href="\(root)/icon.png">
    """
  }

  /// The style sheet.
  static let style = Response.file(PackageResources.style_css, type: "text/css; charset=utf-8")

  /// A file that belongs to all pages; nil for another name.
  static func file(_ name: String) -> Response? {
    switch name {
    case "style.css": style
    case "icon.svg": .file(PackageResources.icon_svg, type: "image/svg+xml")
    case "page.js": .file(PackageResources.page_js, type: "text/javascript; charset=utf-8")
    case "icon.png": .file(PackageResources.icon_png, type: "image/png")
    default: nil
    }
  }

  /// The file that the path names, which may be one that makes the page an app.
  func file(of notebook: Notebook) throws -> Response {
    switch request.path[0] {
    case "worker.js" where mayBeApp:
      return .file(Self.worker, type: "text/javascript; charset=utf-8")
    case "app.webmanifest" where mayBeApp:
      let manifest = manifest(notebook.identity.name)
      return .file(Array(manifest.utf8), type: "application/manifest+json")
    case let name:
      guard let file = Self.file(name) else { throw Refusal.noSuchPage }
      return file
    }
  }

  /// The worker. Its first line is a hash that distinguishes its files from those of another release.
  private static let worker: [UInt8] = {
    let files = [
      PackageResources.page_js, PackageResources.style_css, PackageResources.worker_js,
      PackageResources.icon_svg,
    ]
    let text = String(decoding: files.joined(), as: UTF8.self)
    // Without a version the worker fails, and so stores nothing.
    let version = (try? SecretText.mark(of: text)).map { "const version = \"\($0)\";\n" } ?? ""
    return Array(version.utf8) + PackageResources.worker_js
  }()

  /// The Web Application Manifest. Only the guest can read it, because it contains the notebook's
  /// name.
  private func manifest(_ notebook: String) -> String {
    let name = JSONText.quoted(notebook)
    return """
      {"name":\(name),"short_name":\(name),"id":"\(root)/","start_url":"\(root)/","scope":"\(root)/",
      "display":"standalone","background_color":"#f6f4ef","theme_color":"#17624f","icons":[
      {"src":"\(root)/icon.svg","sizes":"any","type":"image/svg+xml"},
      {"src":"\(root)/icon.png","sizes":"512x512","type":"image/png"},
      {"src":"\(root)/icon.png","sizes":"512x512","type":"image/png","purpose":"maskable"}]}

      """
  }

  // MARK: This browser

  func browserPage(of notebook: Notebook) throws -> HTML {
    guard visitor.guest != nil else { throw Refusal.noSuchPage }
    return layout("This browser", name: notebook.identity.name) {
      """
      <h1>This browser</h1>
      \(app)
      \(certificate)
      <section aria-labelledby="leave">
      <h2 id="leave">Leave</h2>
      <form method="post" action="\(root)/leave" class="stack">
      <p>Your saved changes stay in the notebook. This browser deletes its copy of the notes, and the texts \
      that you have not saved. To come back you need another link.</p>
      <button class="btn bad">Leave the notebook</button>
      </form>
      </section>
      """
    }
  }

  private var app: HTML {
    guard request.entrance.network != nil else {
      return "<p class=\"soft\">What you type is kept in this browser until it is saved.</p>"
    }
    guard mayBeApp else {
      let place = request.entrance.nameHost.map { "https://\($0)" }
      let how: HTML? = place.map { " To keep it as an app, join by a link to <b>\($0)</b>." }
      return """
        <p class="soft">At this address the page needs a connection: the address may be another machine's \
        tomorrow.\(how)</p>
        """
    }
    return """
      <p class="soft">Keep the page as an app: choose \u{201C}Install\u{201D} or \u{201C}Add to home screen\u{201D} in \
      the menu of the browser. Then it opens without a connection, with the texts of the notes, and sends what \
      you typed when the connection is back. For that, the browser must accept the certificate.</p>
      <p id="app" role="status"></p>
      <div class="field" id="keeping" hidden><label for="most">Texts that are kept in this browser</label>
      <select class="input" id="most">\(sizes)</select>
      <p class="hint" role="status"></p></div>
      """
  }

  /// The choices for how much text the browser stores, in MB.
  private var sizes: [HTML] {
    [0, 10, 50, 200].map { size in
      "<option value=\"\(size * 1_000_000)\">\(size == 0 ? "none" : "up to \(size) MB")</option>"
    }
  }

  /// The path of the form by which a guest leaves.
  static let leaving = ["leave"]

  func leave() throws -> Response {
    guard let guest = visitor.guest else { throw Refusal.noSuchPage }
    _ = try site.guests.remove(guest.name)
    let page = HTML.document("You have left – notes", root: "") {
      """
      <main id="main" class="page">\(reachedHeading("You have left"))
      <p>This browser keeps nothing of the notebook any more.</p></main>
      """
    }
    var response = Response.page(page)
    response.headers.append(("Set-Cookie", request.entrance.cookie("", below: root, isEnded: true)))
    return response
  }
}
