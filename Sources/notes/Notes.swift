internal import ArgumentParser

@main
struct Notes: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "notes", version: "0.1.0")
}
