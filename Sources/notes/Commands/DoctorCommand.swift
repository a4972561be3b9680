internal import ArgumentParser
internal import History
internal import Notebook

struct DoctorCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Look for what is wrong, and say what to do about it.",
    discussion: """
      Looks at the device key, the history, the membership, the clock, the network and the file \
      system. It changes nothing. The exit status is 0 when nothing is wrong and 1 otherwise; \
      advice alone is not wrong.

      Examples:
        notes doctor
        notes doctor --listen '*:4410' --json
      """)

  @OptionGroup var listen: ListenOption
  @OptionGroup var discovery: DiscoveryOption
  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    var context = CheckContext(
      notebook: notebook, dataFolder: try UserFolders().data,
      discovery: discovery.discovery(for: notebook.identity.device.deviceID))
    if let address = listen.address { context.listen = address }
    var all: [Finding] = []
    for check in Check.all {
      let findings = check.findings(in: context)
      options.write(check.json(of: findings)) { check.text(of: findings, on: $0) }
      Output.standard.flush()
      all += findings
    }
    let report = DoctorReport(all)
    options.write([report.json]) { _ in report.text + "\n" }
    if report.problems > 0 { throw Exit.failed }
  }
}
