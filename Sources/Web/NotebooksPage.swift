internal import Notebook

/// The list of the notebooks that are served, for their owner.
struct NotebooksPage {
  let notebooks: ServedNotebooks
  let request: Request

  private var root: String { request.visitor.root }

  func response() -> Response {
    switch (request.method, request.path) {
    case (.get, []): .page(list)
    case (.get, ["events"]): Response(status: 200, body: .events(nil))
    case (.get, let path) where path.count == 1:
      RequestContext.file(path[0]) ?? .page(missing, status: 404)
    default: .page(missing, status: 404)
    }
  }

  private var list: HTML {
    // If a notebook has disappeared, for example with its medium, this notices it.
    notebooks.update()
    let rows = notebooks.sites.compactMap(row)
    let none = HTML.empty(
      "No notebook yet", "<code>notes init</code> makes one, <code>notes join</code> brings one.")
    return page("Notebooks") {
      """
      <h1>Notebooks</h1>
      <div id="notebooks" data-live>
      \(HTML.group(rows, or: none))
      </div>
      """
    }
  }

  /// The page for a missing notebook, and for each page of a notebook that was removed from the
  /// list.
  private var missing: HTML {
    page("Not there") {
      """
      <h1>Not there</h1>
      <p class="error" role="alert" tabindex="-1" autofocus>There is no such page, or no such notebook \
      any more.</p>
      <p><a class="btn" href="\(root)/">All notebooks</a></p>
      """
    }
  }

  private func page(_ title: String, _ main: () -> HTML) -> HTML {
    .document(title, root: root, isLive: true) {
      """
      <div class="pane-note">
      <header class="bar"><p id="state" role="status"></p></header>
      <main id="main" tabindex="-1" class="page">
      \(main())
      </main>
      </div>
      """
    }
  }

  /// Nil if the notebook's folder is unavailable.
  private func row(_ site: Site) -> HTML? {
    // An unavailable notebook has no row, as documented.
    guard let notebook = try? Notebook.open(at: site.folder) else { return nil }
    return .row(
      notebook.identity.name, at: "\(root)/\(site.pathName)/", marks: ["\(site.folder)"])
  }
}
