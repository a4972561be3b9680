internal import History
internal import Membership
internal import Notebook

/// The page that a link for a guest opens: it asks for a name once, and makes the visitor who enters one
/// a guest.
extension RequestContext {
  func introduce(_ link: GuestInvitation, _ token: String) throws -> Response {
    switch (request.method, request.path) {
    case (.get, []): return .page(try namePage(link))
    case (.get, ["style.css"]), (.get, ["icon.svg"]):
      guard let file = Self.file(request.path[0]) else { throw Refusal.noSuchPage }
      return file
    case (.post, []): return try letIn(by: link, token)
    default: throw Refusal.noSuchPage
    }
  }

  private func namePage(
    _ link: GuestInvitation, typed: String = "", problem: String? = nil
  ) throws -> HTML {
    let identity = try Notebook.open(at: site.folder).identity
    let asked: HTML = """
      <label for="name">Your name</label>
      <input id="name" class="input" dir="auto" name="name" value="\(field: typed)" required maxlength="64"
      autocomplete="nickname" aria-describedby="about\(" problem", if: problem != nil)"\
      \(" aria-invalid=\"true\" autofocus", if: problem != nil)>
      """
    let known: HTML? = link.name.map { "<p>You are called <b>\($0)</b> here.</p>" }
    let said: HTML? = problem.map {
      "<p id=\"problem\" class=\"error\" role=\"alert\">\(sentence($0))</p>"
    }
    let may = link.role == .writer ? "read and change the notes" : "read the notes"
    return layout("Welcome", name: identity.name) {
      """
      <h1>Welcome to the notes <b dir="auto">\(identity.name)</b></h1>
      <p class="soft"><b>\(identity.device.name)</b> invites you. You can \(may) in this browser, until your \
      access is removed. There is nothing to install, and no password.</p>
      \(said)
      <form method="post" action="\(root)" class="edit">
      \(known ?? asked)
      <p class="hint" id="about">So the others see who wrote it.</p>
      <p><button class="btn main wide">Come in</button></p>
      </form>
      \(certificate)
      """
    }
  }

  /// The issuer of the page's certificate on the network, for a person who compares it with the
  /// terminal's output.
  var certificate: HTML? {
    request.entrance.network.map { network in
      """
      <section class="certificate" aria-labelledby="certificate">
      <h2 id="certificate">Why did the browser warn me?</h2>
      <p>The notes live on that device, not with a company, so no company vouches for the page. To stop \
      the warning, <a class="link" href="/\(Gate.authorityName)">install the device's certificate</a>, if the \
      terminal there shows this SHA-256:</p>
      <p class="fingerprint"><code>\(network.authorityFingerprint)</code></p>
      <p class="hint">It can speak for that device on private networks, and for nothing else.</p>
      </section>
      """
    }
  }

  private func letIn(by link: GuestInvitation, _ token: String) throws -> Response {
    let typed = request.form.typed("name") ?? ""
    do {
      let (_, secrets) = try site.guests.accept(token, name: typed)
      let root = "/" + secrets.path
      return Router.welcome(
        to: root, cookie: request.entrance.cookie(secrets.cookie, below: root, isKept: true))
    } catch let defect as NameDefect {
      return .page(try namePage(link, typed: typed, problem: "\(defect)"), status: 409)
    } catch GuestError.nameTaken(let name) {
      let problem = "\(GuestError.nameTaken(name)): choose another name"
      return .page(try namePage(link, typed: typed, problem: problem), status: 409)
    }
  }
}
