internal import ArgumentParser
internal import Channel
internal import History
internal import Notebook

struct DoctorCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Look for what is wrong, and say what to do about it.",
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
    var patient = Patient(
      notebook: notebook, dataFolder: try UserFolders().data,
      discovery: discovery.discovery(for: notebook.identity.device.deviceID))
    if let address = listen.address { patient.listen = address }
    var report = DoctorReport()
    for examination in Examination.all {
      let findings = examination.findings(in: patient)
      let section = report.add(findings, of: examination)
      options.write(lines: section.json, text: section.text(on: Console.output))
      Output.standard.flush()
    }
    options.write(lines: [report.json], text: report.text + "\n")
    if report.problems > 0 { throw Exit.failed }
  }
}
