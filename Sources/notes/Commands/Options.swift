public import ArgumentParser
public import Channel
internal import Discovery
internal import Glibc
internal import Notebook
internal import WorkTree

// Options of several commands.

protocol FolderChoice: ParsableArguments {
  func enterFolder() throws(Failure)
}

/// `-C DIR`, an option of every command.
struct FolderOption: FolderChoice {
  @Option(
    name: .customShort("C"), help: .named("dir", "Run as if started in this folder."),
    completion: .directory)
  var folders: [String] = []

  /// Changes to the folder; several options are applied in turn, as in git.
  func enterFolder() throws(Failure) { for folder in folders { try Self.enter(folder) } }

  static func enter(_ folder: String) throws(Failure) {
    // An empty value changes nothing (git's rule): scripts pass `-C "$unset"`.
    guard !folder.isEmpty, chdir(folder) != 0 else { return }
    throw Failure(
      .failed, "no_such_folder",
      "cannot enter the folder \(Visible.name(folder)): \(String(errorNumber: errno))",
      hint: "give -C a folder of a notebook; its path starts from the current folder")
  }
}

/// `--json` and `-C DIR`, the options of every command with a report.
struct CommonOptions: FolderChoice {
  @Flag(help: "Write JSON Lines for programs.") var json = false
  @OptionGroup var folder: FolderOption

  func enterFolder() throws(Failure) { try folder.enterFolder() }

  func tell(_ object: @autoclosure () -> JSON, _ sentence: @autoclosure () -> String) {
    write([object()]) { _ in sentence() + "\n" }
  }

  func write(_ lines: @autoclosure () -> [JSON], text: (Terminal) -> String) {
    Output.standard.report(json ? lines() : nil, text: text)
  }
}

extension Output {
  /// Writes a report: lines for programs, or text for people if `lines` is nil.
  func report(_ lines: [JSON]?, text: (Terminal) -> String) {
    if let lines { self.lines(lines) } else { tell(text(Console.output)) }
  }
}

struct PagerOption: ParsableArguments {
  @Flag(name: .customLong("no-pager"), help: "Do not page the output on a terminal.")
  var isOff = false

  func page(unless isForProgram: Bool = false, _ body: () throws -> Void) rethrows {
    try form(json: isForProgram).page(body)
  }

  func form(json: Bool) -> OutputForm { OutputForm(json: json, isPaged: !isOff) }
}

struct DryRunOption: ParsableArguments {
  @Flag(
    name: [.customShort("d"), .customLong("dry-run")],
    help: "Show what the command would do, and change nothing.")
  var isOn = false
}

/// The options to accept versions other than those of members.
struct AcceptanceOptions: ParsableArguments {
  @Flag(
    help:
      "Accept very large versions: over 1 GiB, over half the free disk space, or costly to unpack.")
  var allowLarge = false

  @Flag(help: "Accept versions that no member vouches for.")
  var allowUnsigned = false
}

/// `--allow-deletes`: allows a mass deletion. Without it, the command asks on a terminal.
struct DeletionOption: ParsableArguments {
  @Flag(
    name: .customLong("allow-deletes"),
    help: "Continue although more than half of the notes are deleted.")
  var isAllowed = false

  /// Runs `body`, which makes a mass deletion only if it is allowed. Asks before allowing it.
  func guarded<Result>(_ body: (_ isAllowed: Bool) throws -> Result) throws -> Result {
    do {
      return try body(isAllowed)
    } catch NotebookError.massDeletion(let deleted, let total) where !isAllowed && Console.canAsk {
      let question =
        "This deletes \(Phrase.number(deleted)) of \(Phrase.count(total, "note")). Continue?"
      guard try Console.confirm(question, byDefault: false)
      else { throw NotebookError.massDeletion(deleted: deleted, of: total) }
      return try body(true)
    }
  }

  /// Runs `body`, which only saves the folder before the command's own work.
  static func foundBefore<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch NotebookError.massDeletion(let deleted, let total) {
      throw Failure(
        .failed, "mass_deletion",
        "\(Phrase.number(deleted)) of \(Phrase.count(total, "note")) are gone from the folder",
        hint: "'notes restore --all' brings them back, 'notes save --allow-deletes' deletes them")
    }
  }
}

// MARK: The network

extension Address: ExpressibleByArgument {
  /// Reads an argument as `init(parsing:)` does; nil if it is not an address.
  public init?(argument: String) { self.init(parsing: argument) }

  /// All interfaces, and any free port.
  static let anywhere = Address(host: Address.anyHost, port: 0)
}

struct DiscoveryOption: ParsableArguments {
  @Flag(name: .customLong("no-discovery"), help: "Neither look for devices nor announce this one.")
  var isOff = false

  func discovery(for device: String) -> (any Discovery)? {
    isOff ? nil : AvahiDiscovery(deviceID: device)
  }
}

struct AtOption: ParsableArguments {
  @Option(
    name: .customLong("at"),
    help: .named("host:port", "Connect to this address instead of looking for the device."))
  var addresses: [Address] = []
}

struct ListenOption: ParsableArguments {
  @Option(
    name: .customLong("listen"),
    help: .named(
      "host:port", "The address to listen on; by default all interfaces and any free port."))
  var address: Address?

  /// The given address, otherwise the user's setting, for long-running services.
  func configured() throws -> Address {
    if let address { return address }
    guard let text = try Setting.listen.value(in: nil) else { return .anywhere }
    guard let address = Address(parsing: text) else {
      throw Failure.usage(
        "the setting listen is not HOST:PORT", hint: "'notes config listen HOST:PORT' changes it")
    }
    return address
  }
}

struct WaitOption: ParsableArguments {
  /// The default leaves time for announcements, which take a second to arrive, and for two people who start a command
  /// one after the other.
  @Option(name: .customLong("wait"), help: .named("seconds", "How long to look for other devices."))
  var seconds: Double = 5.0

  func validate() throws {
    if !(0...86_400).contains(seconds) {
      throw ValidationError("--wait takes a number of seconds from 0 to 86400.")
    }
  }
}

extension ArgumentHelp {
  static func named(_ value: String, _ text: String) -> ArgumentHelp {
    ArgumentHelp("\(text)", valueName: value)
  }
}
