internal import ArgumentParser
internal import Glibc
internal import Notebook
internal import System
internal import WorkTree

struct WebCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "web", abstract: "Show the notebook in a browser, on this machine or its network.",
    discussion: """
      Serves the notes, their versions and conflicts as pages for your browser, until you press \
      Ctrl-C. The printed link works once. Others join as guests, by their own links; with --lan \
      also from other machines of the network, over TLS, by scanning a code with a phone. Without \
      --lan other machines cannot reach the page.

      Examples:
        notes web
        notes web --all
        notes web --lan
        notes web --no-open --port 4712
        notes web guests invite Grandma
      """,
    subcommands: [WebGuestsCommand.self])

  @Option(help: .named("n", "The port of the page; by default the notebook's own port."))
  var port: UInt16?

  @Flag(
    help: "All notebooks of this device, behind a page that lists them.")
  var all = false

  @Flag(help: "Also serve guests on other machines of this network, over TLS.")
  var lan = false

  @Flag(name: .customLong("no-open"), help: "Print the link without opening a browser.")
  var opensNothing = false

  @OptionGroup var options: CommonOptions

  func validate() throws {
    if port == 0 { throw ValidationError("--port takes a number from 1 to 65535.") }
  }

  /// The program that serves, in the same folder as this one.
  static var program: String {
    Disk.parent(of: realPath(of: "/proc/self/exe") ?? "notes") + "/notes-web"
  }

  /// Replaces this process by the program that serves, because no other command needs that program's libraries.
  func run() throws {
    let folders = UserFolders()
    // With --all the program reads the list repeatedly: unavailable notebooks may return.
    if all { _ = KnownNotebooks(dataFolder: try folders.data).openable() }
    let folder = try all ? nil : NotebookLocator.notebook().folder
    let program = Self.program
    Output.standard.flush()
    Output.errors.flush()
    let words = [
      "notes-web", try folders.data, folders.runtime ?? "",
      port.map { String($0) } ?? "any", options.json ? "json" : "text",
      opensNothing ? "no-open" : "open", lan ? "lan" : "local",
      folder.map { realPath(of: $0) ?? $0 } ?? "all",
    ]
    var arguments = words.map { strdup($0) } + [nil]
    execv(program, &arguments)
    let code = errno
    for word in arguments { free(word) }
    throw Failure.system(
      "\(Visible.name(program)) cannot be started", errno: code, kind: "web_missing",
      hint: "it belongs beside notes: install both from the same release")
  }
}
