internal import ArgumentParser
internal import Exchange
internal import Git
internal import Glibc
internal import History
internal import Membership
internal import Merge
internal import Notebook
internal import System

struct RemoteCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "remote", abstract: "List, add and remove hubs.",
    discussion: """
      A hub is an ordinary git repository that is always available: on a server, with a git host, \
      or a folder on a stick. 'notes sync' exchanges versions with it after the devices. Anyone \
      with access to it can read the notes and their history; notes-hub(7) says which versions \
      notes accepts from it.

      Without a subcommand it lists the hubs.

      Examples:
        notes remote add home git@git.example.org:ada/notes.git
        notes remote add stick /media/ada/STICK/notes.git
        notes remote
        notes remote remove stick
      """,
    subcommands: [
      RemoteAddCommand.self, RemoteListCommand.self, RemoteShowCommand.self,
      RemoteRemoveCommand.self,
    ])

  @OptionGroup var options: CommonOptions

  func run() throws { try RemoteList.write(options) }
}

struct RemoteListCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the hubs, and the state of each at the last visit.",
    discussion: """
      Examples:
        notes remote list --json
      """)

  @OptionGroup var options: CommonOptions

  func run() throws { try RemoteList.write(options) }
}

struct RemoteAddCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Name a git repository as a hub of this notebook.",
    discussion: """
      The address is one that git knows: ssh, https or git, HOST:PATH, or the path of a folder. \
      This sends nothing yet; 'notes sync' does. To make an empty repository, use 'git init \
      --bare'. If git already has a remote of that name and address, it becomes a hub.

      notes accepts a version from a hub if a member signed it, or a version on top of it. With \
      --accept-unsigned an admin's device also accepts commits of people who only use git, and \
      vouches for them to the other devices. To stop that, add the hub again without it.

      Examples:
        notes remote add home git@git.example.org:ada/notes.git
        notes remote add office https://git.example.org/ada/notes.git
        notes remote add home git@git.example.org:ada/notes.git --accept-unsigned
      """)

  @Argument(help: "A name for it: letters, digits, '.', '_' and '-'.") var name: String
  @Argument(help: .named("url", "Its address."), completion: .directory) var url: String

  @Flag(help: "Accept commits of people who only use git; for admins.")
  var acceptUnsigned = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let folder = try NotebookLocator.folder(nil)
    let hub = Hub(
      name: name, url: try Hub.address(url, from: folder), acceptsUnsigned: acceptUnsigned)
    let device = notebook.identity.device.deviceID
    let role = try notebook.membership().role(ofDevice: device)
    if acceptUnsigned, role != .admin { throw MembershipError.notAnAdmin(device: device) }
    try notebook.add(hub)
    let unsigned = acceptUnsigned ? "; unsigned versions there are accepted" : ""
    options.tell(
      [
        "type": "added", "name": hub.name, "url": hub.shownURL,
        "accepts_unsigned": hub.acceptsUnsigned,
      ],
      "\(Visible.name(hub.name)) is now a hub\(unsigned); 'notes sync' "
        + (role == nil || role == .reader
          ? "receives versions from it." : "exchanges versions with it."))
    if hub.url.hasPrefix("/"), Counted.access(hub.url, F_OK) != 0 {
      Output.standard.flush()
      Output.errors.write(
        "notes: warning: there is no folder \(Visible.name(hub.url)) now\n"
          + "notes: hint: 'git init --bare \(Visible.word(hub.url))' makes it; or connect its disk\n"
      )
    }
    if hub.isOpen {
      Output.standard.flush()
      Output.errors.write(
        "notes: warning: git:// is neither encrypted nor authenticated: anyone on the network path "
          + "can read and change the notes\nnotes: hint: use ssh or https\n")
    }
  }
}

struct RemoteRemoveCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Forget a hub. Nothing is deleted, here or there.",
    discussion: """
      Examples:
        notes remote remove stick
      """)

  @Argument(help: "The hub's name.", completion: LiveCompletion.hubs) var name: String

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    try notebook.removeHub(named: name)
    HubSightings(of: notebook).forget(hub: name)
    options.tell(["type": "removed", "name": name], "\(Visible.name(name)) is no longer a hub.")
  }
}

struct RemoteShowCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show one hub: its address, and its state at the last visit.",
    discussion: """
      It does not connect to the hub.

      Examples:
        notes remote show home
      """)

  @Argument(help: "The hub's name.", completion: LiveCompletion.hubs) var name: String

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    try RemoteList.write([HubState(of: notebook.hub(named: name), in: notebook)], options)
  }
}

extension HubState {
  fileprivate var words: String {
    guard let ahead else { return "never met" + accepts }
    let state = ahead == 0 ? "has all versions" : "lacks \(Phrase.count(ahead, "version"))"
    return state + accepts
  }

  private var accepts: String { hub.acceptsUnsigned ? ", unsigned versions are accepted" : "" }

  fileprivate var json: JSON {
    [
      "type": "hub", "name": hub.name, "url": hub.shownURL, "branch": branch, "tip": tip,
      "ahead": ahead, "accepts_unsigned": hub.acceptsUnsigned,
    ]
  }
}

private enum RemoteList {
  static func write(_ options: CommonOptions) throws {
    let notebook = try NotebookLocator.notebook()
    try write(notebook.hubs().map { try HubState(of: $0, in: notebook) }, options)
  }

  static func write(_ states: [HubState], _ options: CommonOptions) throws {
    options.write(states.map(\.json)) { terminal in
      if states.isEmpty { return "No hubs: 'notes remote add NAME URL' adds one.\n" }
      let rows = states.map { state in
        [
          Styled(Visible.name(state.hub.name), .bold), Styled(Visible.name(state.hub.shownURL)),
          Styled(state.words, .dim),
        ]
      }
      return Table(flexible: 1, rows: rows).text(on: terminal)
    }
  }
}
