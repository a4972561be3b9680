internal import ArgumentParser
internal import Membership
internal import Notebook

struct WebGuestsCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "guests",
    abstract: "List the guests of the page; invite them, change their roles, send them away.",
    discussion: """
      A guest reads, or also writes, the notes in a browser that this device serves. What a guest \
      writes carries the guest's name. Without a subcommand it lists the guests, and the links that \
      are still good.

      Examples:
        notes web guests
        notes web guests invite Grandma
        notes web guests invite --reader
        notes web guests role Grandma reader
        notes web guests remove Grandma
      """,
    subcommands: [
      WebGuestsInviteCommand.self, WebGuestsRoleCommand.self, WebGuestsRemoveCommand.self,
    ])

  @OptionGroup var options: CommonOptions

  func run() throws {
    let book = try GuestBook.here()
    let (guests, links) = (try book.guests(), try book.invitations())
    options.write(guests.map(\.json) + links.map { $0.json() }) { terminal in
      if guests.isEmpty, links.isEmpty { return "No guests: 'notes web guests invite' invites.\n" }
      let now = TimeText.now
      let rows =
        guests.map { guest in
          [
            Styled(Visible.name(guest.name), .bold), Styled(guest.role.rawValue),
            Styled("came " + TimeText.relative(guest.since, now: now), .dim),
          ]
        }
        + links.map { link in
          [
            Styled(Visible.name(link.name ?? "a guest"), .dim), Styled(link.role.rawValue),
            Styled("invited; the link ends on " + TimeText.local(link.expires), .dim),
          ]
        }
      return Table(flexible: 0, rows: rows).text(on: terminal)
    }
  }
}

struct WebGuestsInviteCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "invite", abstract: "Print a link that lets a guest in, once.",
    discussion: """
      The link is good for a day, in one browser, while 'notes web' runs here. Without NAME the \
      guest is asked for one. 'notes web guests remove NAME' takes a link back.

      Examples:
        notes web guests invite Grandma
        notes web guests invite --reader
      """)

  @Argument(help: "What the guest is called.") var name: String?

  @Flag(help: "The guest can look at everything and change nothing.") var reader = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let origins = try ServedPage.origins(stateFolder: notebook.stateFolder)
    guard let origin = origins.first else {
      throw Failure(
        .failed, "web_not_running", "the page is not served, so no link would lead anywhere",
        hint: "run 'notes web' in another terminal first")
    }
    let (made, token) = try GuestBook(stateFolder: notebook.stateFolder)
      .invite(name, as: reader ? .reader : .writer)
    let link = "\(origin)/guest/\(token)"
    let networkLink = origins.dropFirst().first.map { "\($0)/guest/\(token)" }
    options.write([made.json(link: link, networkLink: networkLink)]) { terminal in
      let who = made.name.map { Visible.name($0) } ?? "A guest"
      // Nothing breaks a link.
      let first = terminal.wrapped("\(who) comes in at\n") + "\n  \(networkLink ?? link)\n\n"
      let here = networkLink.map { _ in
        terminal.wrapped("or, in a browser of this machine, at\n") + "\n  \(link)\n\n"
      }
      return first + (here ?? "") + terminal.wrapped("The link is good once, for a day.\n")
    }
  }
}

struct WebGuestsRoleCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "role", abstract: "Change what a guest may do.",
    discussion: """
      It holds from the next page that the guest asks for.

      Examples:
        notes web guests role Grandma reader
      """)

  @Argument(help: "The guest.", completion: LiveCompletion.guests) var name: String

  @Argument(help: "reader or writer.", completion: .list(["reader", "writer"])) var role: String

  @OptionGroup var options: CommonOptions

  func run() throws {
    guard let role = Role(rawValue: role.lowercased()), role != .admin else {
      throw Failure.usage(
        "a guest cannot be '\(Visible.name(role))'", hint: "it is reader or writer")
    }
    let guest = try GuestBook.here().setRole(role, of: name)
    options.tell(
      ["type": "role", "name": guest.name, "role": role.rawValue],
      "\(Visible.name(guest.name)) is now \(role.withArticle).")
  }
}

struct WebGuestsRemoveCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Send a guest away, or take back a link made for one.",
    discussion: """
      The guest's browser is shown nothing more from now on. What the guest wrote stays, and so do \
      pages that the browser has open.

      Examples:
        notes web guests remove Grandma
      """)

  @Argument(help: "The guest.", completion: LiveCompletion.guests) var name: String

  @OptionGroup var options: CommonOptions

  func run() throws {
    let removed = try GuestBook.here().remove(name)
    options.tell(
      ["type": "removed", "name": removed.name, "role": removed.role.rawValue],
      "\(Visible.name(removed.name)) is no longer a guest.")
  }
}

extension GuestBook {
  /// That of the notebook at hand.
  static func here() throws -> GuestBook {
    GuestBook(stateFolder: try NotebookLocator.notebook().stateFolder)
  }
}

extension Guest {
  fileprivate var json: JSON {
    [
      "type": "guest", "name": name, "role": role.rawValue, "state": "here",
      "since": TimeText.rfc3339(since), "expires": JSON.null,
    ]
  }
}

extension GuestInvitation {
  /// - Parameters:
  ///   - link: where it is known, which is once.
  ///   - networkLink: the same for other machines, where the page is served to them.
  fileprivate func json(link: String? = nil, networkLink: String? = nil) -> JSON {
    let all: JSON = [
      "type": "guest", "name": name, "role": role.rawValue, "state": "invited",
      "since": JSON.null, "expires": TimeText.rfc3339(expires),
    ]
    guard let link else { return all }
    let links = all + ["link": link]
    return networkLink.map { links + ["network_link": $0] } ?? links
  }
}
