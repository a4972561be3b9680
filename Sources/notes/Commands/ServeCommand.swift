internal import ArgumentParser
internal import Channel
internal import Discovery
internal import Logging
internal import Membership
internal import Sync
internal import Watch

struct ServeCommand: Verb {
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
  @Flag(help: "Log also what is usually not worth a line.")
  var verbose = false
  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let context = try OwnDevice.context(in: notebook)
    let finder = discovery.discovery(for: context.key.deviceID)
    defer { finder?.stop() }
    let service = try Service(
      contexts: [context], discovery: finder,
      listen: listen.configured(),
      logger: ServiceLogging.logger(verbose: verbose))
    let report = EventReport(json: format.json, .service)
    try service.run(cancellation: Interruption.token()) { report.tell($0) }
    return Interruption.exit
  }
}

/// Where a service logs.
enum ServiceLogging {
  /// A logger that writes a line an event to standard error.
  static func logger(verbose: Bool) -> Logger {
    var logger = Logger(label: "notes") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = verbose ? .debug : .info
    return logger
  }

  /// A logger that writes nothing, for commands that report in their own words.
  static var silent: Logger { Logger(label: "notes") { _ in SwiftLogNoOpLogHandler() } }
}
