internal import Channel
internal import Membership
internal import Notebook
internal import WorkTree

/// Something that the user can set: notes-config(1).
enum Setting: String, CaseIterable {
  case deviceName = "device-name"
  case listen
  case maxFileSize = "max-file-size"
  case onChange = "on-change"
  case onConflict = "on-conflict"

  /// Where it stands: with the user, for all notebooks, or in one notebook on this device.
  enum Scope: String { case user, notebook }

  var scope: Scope { self == .maxFileSize ? .notebook : .user }

  /// What holds while it is not set; nil for nothing.
  var fallback: String? {
    switch self {
    case .deviceName: DeviceName.hostName
    case .listen: Address(host: Address.anyHost, port: 0).description
    case .maxFileSize: "50m"
    case .onChange, .onConflict: nil
    }
  }

  static func named(_ name: String) throws(Failure) -> Setting {
    if let found = Setting(rawValue: name) { return found }
    throw .usage(
      "there is no setting '\(Visible.name(name))'",
      hint: Failure.guess(name, among: allCases.map(\.rawValue))
        ?? "'notes config' lists the settings")
  }

  /// That it has neither a value nor a default.
  var isMissing: Failure {
    Failure(
      .failed, "not_set", "\(rawValue) is not set",
      hint: "'notes config \(rawValue) VALUE' sets it")
  }

  /// Checks a value.
  ///
  /// - Throws: a `Failure`, or the `NameDefect` of a device's name.
  func check(_ value: String) throws {
    guard !value.contains(where: \.isNewline), !value.allSatisfy(\.isWhitespace) else {
      throw Failure.usage(
        "the value of \(rawValue) is empty or has more than one line",
        hint: "'notes config --unset \(rawValue)' takes a setting away")
    }
    switch self {
    case .deviceName: try DisplayName.check(value)
    case .listen where Address(parsing: value) == nil:
      throw Failure.usage(
        "'\(Visible.name(value))' is not HOST:PORT", hint: "for instance '*:4711'")
    case .maxFileSize where !WorkTree.isSizeLimit(value):
      throw Failure.usage(
        "'\(Visible.name(value))' is not a number of bytes", hint: "for instance 500k, 20m or 1g")
    default: break
    }
  }

  /// Its value; nil while it is not set.
  ///
  /// - Parameter notebook: needed for a setting of a notebook.
  func value(in notebook: Notebook?) throws -> String? {
    switch scope {
    case .user: try Settings.read(in: UserFolders().config)[rawValue]
    case .notebook: try notebook?.workTree.sizeLimitSetting()
    }
  }

  func set(_ value: String?, in notebook: Notebook?) throws {
    if let value { try check(value) }
    switch scope {
    case .user: try Settings.set(rawValue, to: value, in: UserFolders().config)
    case .notebook: try notebook?.setSizeLimit(value)
    }
  }
}
