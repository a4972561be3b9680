internal import ArgumentParser
internal import Membership
internal import Notebook
internal import QRCodes

struct WebGuestsCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "guests",
    abstract: "List the page's guests, invite or remove them, change their roles.",
    discussion: """
      A guest reads, or also writes, the notes in a browser that this device serves. A guest's \
      versions carry the guest's name. Without a subcommand the command lists the guests, and the \
      links that still work.

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
      if guests.isEmpty, links.isEmpty {
        return "No guests. To invite one, run 'notes web guests invite'.\n"
      }
      let now = TimeText.now
      let rows =
        guests.map { guest in
          [
            Styled(Visible.name(guest.name), .bold), Styled(guest.role.rawValue),
            Styled("joined " + TimeText.relative(guest.since, now: now), .dim),
          ]
        }
        + links.map { link in
          [
            Styled(Visible.name(link.name ?? "a guest"), .dim), Styled(link.role.rawValue),
            Styled("invited; the link expires on " + TimeText.local(link.expires), .dim),
          ]
        }
      return Table(flexible: 0, rows: rows).text(on: terminal)
    }
  }
}

struct WebGuestsInviteCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "invite", abstract: "Print a link by which one guest can join. It works once.",
    discussion: """
      The link works for a day, in one browser, while 'notes web' runs here. Without NAME the page \
      asks the guest for one. 'notes web guests remove NAME' cancels a link.

      Examples:
        notes web guests invite Grandma
        notes web guests invite --reader
      """)

  @Argument(help: "The guest's name.") var name: String?

  @Flag(help: "The guest can read everything and change nothing.") var reader = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let origins = try ServedPage.origins(stateFolder: notebook.stateFolder)
    guard let origin = origins.first else {
      throw Failure(
        .failed, "web_not_running", "'notes web' is not running, so the link would not work",
        hint: "run 'notes web' in another terminal first")
    }
    let (made, token) = try GuestBook(stateFolder: notebook.stateFolder)
      .invite(name, as: reader ? .reader : .writer)
    let link = "\(origin)/guest/\(token)"
    let networkLink = origins.dropFirst().first.map { "\($0)/guest/\(token)" }
    options.write([made.json(link: link, networkLink: networkLink)]) { terminal in
      let who = made.name.map { Visible.name($0) } ?? "A guest"
      // A link is never broken into lines.
      let first = terminal.wrapped("\(who) can join at\n") + "\n  \(networkLink ?? link)\n\n"
      let here = networkLink.map { _ in
        terminal.wrapped("or, in a browser of this machine, at\n") + "\n  \(link)\n\n"
      }
      // No code for the other link: a phone cannot open an address that only this machine has.
      let code = networkLink.map { QRCode.lines(ofText: $0) } ?? []
      let drawn = code.isEmpty ? "" : code.joined(separator: "\n") + "\n\n"
      return first + drawn + (here ?? "")
        + terminal.wrapped("The link works once, within a day.\n")
    }
  }
}

struct WebGuestsRoleCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "role", abstract: "Change what a guest may do.",
    discussion: """
      It applies from the next page that the guest opens.

      Examples:
        notes web guests role Grandma reader
      """)

  @Argument(help: "The guest.", completion: LiveCompletion.guests) var name: String

  @Argument(help: "reader or writer.", completion: .list(["reader", "writer"])) var role: String

  @OptionGroup var options: CommonOptions

  func run() throws {
    guard let role = Role(rawValue: role.lowercased()), role != .admin else {
      throw Failure.usage(
        "a guest cannot be '\(Visible.name(role))'", hint: "use reader or writer")
    }
    let guest = try GuestBook.here().setRole(role, of: name)
    options.tell(
      ["type": "role", "name": guest.name, "role": role.rawValue],
      "\(Visible.name(guest.name)) is now \(role.withArticle).")
  }
}

struct WebGuestsRemoveCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a guest, or cancel a link.",
    discussion: """
      The guest's browser shows no other page from now on. Pages that it has open stay, and so do \
      the guest's texts.

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
  /// The guests of the current notebook.
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
  ///   - link: the link. Nil if it is unknown, because only the command that makes it knows it.
  ///   - networkLink: the link for other machines. Nil if the page is not served to them.
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
