internal import ArgumentParser
internal import Membership

struct DeviceCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "device",
    abstract: "Show this device's ID, and keep or move its key.",
    discussion: """
      The device key is what makes this device a member of its notebooks. Without it, it has to \
      be invited anew. Whoever has the key is this device to all others, so a copy is written \
      under a passphrase.

      Examples:
        notes device
        notes device export key-backup.pem
        notes device import key-backup.pem
      """,
    subcommands: [DeviceExportCommand.self, DeviceImportCommand.self])

  @OptionGroup var options: CommonOptions

  func run() throws {
    let folder = try UserFolders().data
    let path = folder + "/" + DeviceKey.fileName
    guard let key = try DeviceKey.load(in: folder) else {
      throw Failure(
        .failed, "no_device_key", "this device has no key yet",
        hint: "'notes init' and 'notes join' make one; 'notes device import' restores one")
    }
    options.tell(
      ["device": key.deviceID, "path": path],
      "device  \(key.deviceID)\nkey     \(Visible.name(path))")
  }
}

/// `--passphrase-file FILE`.
struct PassphraseOption: ParsableArguments {
  @Option(
    help: .named("file", "Read the passphrase from a file; '-' is standard input."),
    completion: .file())
  var passphraseFile: String?

  /// The passphrase: from the file, or asked for, twice where it is a new one.
  func passphrase(isNew: Bool) throws -> String {
    if let passphraseFile { return try SecretFile.firstLine(of: passphraseFile) }
    guard Console.canAsk else {
      throw Failure.usage(
        "there is no terminal to ask for the passphrase",
        hint: "--passphrase-file reads it from a file, or with '-' from standard input")
    }
    guard let first = Console.askSecret("Passphrase: ") else { throw Failure.interrupted }
    if isNew {
      guard let second = Console.askSecret("Repeat passphrase: ") else { throw Failure.interrupted }
      if first != second {
        throw Failure.usage(
          "the two passphrases differ", hint: "nothing was written; run the command again")
      }
    }
    return first
  }
}
