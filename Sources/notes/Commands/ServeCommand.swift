internal import ArgumentParser
internal import Channel
internal import Discovery
internal import Logging
internal import Membership
internal import Sync
internal import Watch

struct ServeCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Answer the other devices until it is stopped.",
    discussion: """
      Listens in the foreground and lets itself be found, so that 'notes sync' on another device \
      finds this one at any time. Each session saves first what was written here. What happens is \
      logged on standard error, a line an event, without the text of a note.

      Examples:
        notes serve
        notes serve --listen 0.0.0.0:4711 --verbose
      """)

  @OptionGroup var listen: ListenOption
  @OptionGroup var discovery: DiscoveryOption
  @Flag(help: "Log details.")
  var verbose = false
  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let context = try notebook.sessionContext()
    let finder = discovery.discovery(for: context.key.deviceID)
    defer { finder?.stop() }
    let service = try Service(
      contexts: [context], discovery: finder,
      listen: listen.configured(),
      logger: ServiceLogging.logger(verbose: verbose))
    let report = EventReport(json: options.json, .service)
    try service.run(cancellation: Interruption.token()) { report.write($0) }
    try Interruption.exit.end()
  }
}

enum ServiceLogging {
  static func logger(verbose: Bool) -> Logger {
    var logger = Logger(label: "notes") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = verbose ? .debug : .info
    return logger
  }

  static var silent: Logger { Logger(label: "notes") { _ in SwiftLogNoOpLogHandler() } }
}
