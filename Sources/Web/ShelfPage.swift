internal import Notebook

/// The list of the notebooks that are served, for their owner.
struct ShelfPage {
  let sites: [Site]
  let request: Request

  private var root: String { request.visitor.root }

  func response() -> Response {
    switch (request.method, request.path) {
    case (.get, []): .page(list)
    case (.get, ["style.css"]):
      .file(PackageResources.style_css, type: "text/css; charset=utf-8")
    case (.get, ["icon.svg"]): .file(PackageResources.icon_svg, type: "image/svg+xml")
    default: .plain(404, "There is no such page.")
    }
  }

  private var list: HTML {
    let rows = sites.map(row)
    return .document("Notebooks", root: root) {
      """
      <header>
      <p class="name"><a href="\(root)/">Notebooks</a></p>
      </header>
      <main id="main" tabindex="-1">
      <h1>Notebooks</h1>
      <ul class="notes">
      \(rows)</ul>
      </main>
      """
    }
  }

  private func row(_ site: Site) -> HTML {
    guard let notebook = try? Notebook.open(at: site.folder) else {
      return "<li><b>\(site.folder)</b> <span class=\"mark\">not there now</span></li>\n"
    }
    return """
      <li><a href="\(root)/\(Site.pathName(of: site.notebookID))/">\(notebook.identity.name)</a>
      <span class="about">\(site.folder)</span></li>

      """
  }
}
