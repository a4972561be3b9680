internal import Channel
internal import Glibc
internal import Membership
internal import Notebook
internal import State

extension Check {
  /// Checks the libraries that `notes web` needs: notes-web(1).
  static let page = Check(
    name: "page", title: "page", remedy: "'notes web' serves the notebook to browsers"
  ) { context in
    let state = context.notebook.stateFolder
    var findings = program + (try authority(in: context))
    let book = state[.guests]
    var guests: [Guest] = []
    do {
      guests = try GuestBook(stateFolder: state).guests()
    } catch GuestError.openToOthers {
      findings += .problem(
        "no guest has access, because other users can write in \(Visible.name(book))",
        remedy: "chmod go-w \(Visible.name(book)), then check the list of 'notes web guests'")
    } catch {
      findings += .problem(
        "cannot read the list of guests, so no guest has access",
        remedy:
          "make \(Visible.name(book)) a file that you can read, or remove it and invite the guests again"
      )
    }
    // If the file cannot be read, no page is served.
    let origins = (try? ServedPage.origins(stateFolder: state)) ?? []
    if origins.isEmpty { findings += port(in: context) }
    if !findings.isEmpty { return findings }
    let count = Phrase.count(guests.count, "guest")
    if !origins.isEmpty { return .good("served at \(Phrase.list(origins)); \(count)") }
    let network = WebNetwork.ofThisMachine()
    let places =
      ((network.isNamePublished ? network.name : nil).map { [$0] } ?? []) + network.addresses
    let there =
      places.isEmpty
      ? "there is no private address for --lan" : "with --lan at \(Phrase.list(places))"
    return .good("not served now; \(there); \(count)")
  }

  private static var program: [Finding] {
    let program = Visible.name(WebCommand.program)
    guard Counted.access(WebCommand.program, X_OK) != 0 else { return [] }
    return .advice(
      "'notes web' cannot serve: \(program) is missing, or cannot be run",
      remedy: "install both programs from the same release")
  }

  private static func port(in context: CheckContext) -> [Finding] {
    // Browsers store data under the port at which the page was served.
    guard ServedPage.wasServed(stateFolder: context.notebook.stateFolder) else { return [] }
    let port = ServedPage.port(
      notebookID: context.notebook.identity.id, deviceID: context.ownDevice)
    // Any failure means that the port is not free.
    if (try? Listener(at: Address(host: "127.0.0.1", port: UInt16(port)))) != nil { return [] }
    return .advice(
      "another program listens at the page's own port \(port); browsers keep unsaved texts, and "
        + "the page as an app, only for that port",
      remedy: "stop that program before 'notes web', or give another port with --port each time")
  }

  private static func authority(in context: CheckContext) throws -> [Finding] {
    let path = Visible.name("\(try context.dataFolder)/\(PageAuthority.fileName)")
    let anew = "'notes web --lan' makes another one, which phones must install"
    do {
      guard let kept = try PageAuthority.kept(in: try context.dataFolder) else { return [] }
      var findings: [Finding] = []
      if try !kept.isGood(at: context.now) {
        findings += .problem(
          "browsers reject the page's certificate authority: it is not valid on \(TimeText.local(context.now))",
          remedy: "set the clock; if it is right, remove \(path): \(anew)")
      }
      if let name = WebNetwork.ofThisMachine().name, name != kept.hostName {
        findings += .advice(
          "the page's certificate authority is for \(kept.hostName), but this machine is now "
            + "called \(name)",
          remedy: "give the machine its former name, or \(anew)")
      }
      return findings
    } catch let error as PageAuthorityError {
      let isOpen = if case .openToOthers = error.defect { true } else { false }
      return .problem(
        Visible.name("\(error)"),
        remedy: isOpen
          ? "chmod 600 \(path); if somebody may have read it, remove it: \(anew)"
          : "remove it: \(anew)")
    } catch {
      return .problem(Failure(describing: error).message, remedy: "make \(path) readable by you")
    }
  }
}
