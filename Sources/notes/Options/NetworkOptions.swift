public import ArgumentParser
public import Channel
internal import Discovery
internal import Membership

extension Address: ExpressibleByArgument {
  /// Reads an argument as `init(parsing:)` does; nil for what is no address.
  public init?(argument: String) { self.init(parsing: argument) }
}

struct DiscoveryOption: ParsableArguments {
  @Flag(name: .customLong("no-discovery"), help: "Do not look for devices, nor announce this one.")
  var isOff = false

  /// What finds devices for this one, unless it is turned off.
  func discovery(for device: String) -> (any Discovery)? {
    isOff ? nil : Self.standard(for: device)
  }

  static func standard(for device: String) -> any Discovery { AvahiDiscovery(deviceID: device) }
}

struct AtOption: ParsableArguments {
  @Option(
    name: .customLong("at"),
    help: .named("host:port", "Where the other device is, instead of looking for it."))
  var addresses: [Address] = []
}

struct ListenOption: ParsableArguments {
  @Option(
    name: .customLong("listen"),
    help: .named("host:port", "Where to listen; all interfaces and any free port by default."))
  var address: Address?

  /// The address given, else the user's setting, for services that are left running.
  func configured() throws -> Address {
    if let address { return address }
    guard let text = try Settings.read(in: UserFolders().config)[Setting.listen.rawValue] else {
      return Address(host: Address.anyHost, port: 0)
    }
    guard let address = Address(parsing: text) else {
      throw Failure.usage(
        "the setting listen is not HOST:PORT", hint: "'notes config listen HOST:PORT' changes it")
    }
    return address
  }
}

struct WaitOption: ParsableArguments {
  /// How long a device is looked for by default: its announcement takes a second to be seen
  /// everywhere, and two people who type the same command are some seconds apart.
  static let standard = 5.0

  @Option(name: .customLong("wait"), help: .named("seconds", "How long to look for other devices."))
  var seconds: Double = WaitOption.standard

  func validate() throws {
    if !(0...86_400).contains(seconds) {
      throw ValidationError("--wait takes a number of seconds from 0 to 86400.")
    }
  }
}
