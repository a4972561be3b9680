internal import ArgumentParser
internal import Exchange
internal import Glibc
internal import History
internal import Membership
internal import Notebook
internal import System
internal import Watch
internal import WorkTree

struct ConfigCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Show and change the settings.",
    discussion: """
      Without a name it lists the settings; with a name it prints the value of that setting, and \
      with a value it sets it. notes-config(1) describes each.

      Examples:
        notes config
        notes config device-name laptop
        notes config name 'Our home'
        notes config on-conflict 'notify-send "Conflict" "$NOTES_PATHS"'
        notes config --unset on-conflict
      """)

  @Argument(
    help: .named("name", "The setting."), completion: .list(Setting.allCases.map(\.rawValue)))
  var name: String?
  @Argument(help: .named("value", "Its new value.")) var value: String?
  @Flag(help: "Remove the setting, so that the default applies.") var unset = false
  @OptionGroup var options: CommonOptions

  func validate() throws {
    if unset, name == nil || value != nil {
      throw ValidationError("--unset takes the name of a setting, and no value.")
    }
  }

  func run() throws {
    guard let name else { return try list() }
    let setting = try Setting.named(name)
    let notebook = setting.scope == .user ? nil : try NotebookLocator.notebook()
    if unset || value != nil {
      try setting.set(value, in: notebook)
      guard options.json else {
        if setting == .notebookName, let notebook { tellRenamed(notebook) }
        if setting == .deviceName { try renameDevice() }
        return
      }
      if setting == .deviceName, let value { _ = try DeviceRenaming(to: value) }
    }
    let current = try setting.value(in: notebook)
    if options.json { return Output.standard.lines([Self.json(setting, current)]) }
    guard let text = current ?? setting.fallback else { throw setting.isMissing }
    Output.standard.line(Visible.name(text))
  }

  /// Renames the device in all notebooks where this is allowed, and reports how it is renamed in
  /// the others.
  private func renameDevice() throws {
    let chosen = try DeviceName.choose(given: nil)
    Output.standard.line("New notebooks call this device \(Visible.name(chosen)).")
    // If the name was unset, there is no new name for the notebooks.
    guard !unset else { return }
    let renaming = try DeviceRenaming(to: chosen)
    if !renaming.done.isEmpty {
      Output.standard.line(
        "\(Phrase.list(renaming.done.map { Visible.name($0) })) "
          + "\(renaming.done.count == 1 ? "uses" : "use") this name from now on; other devices "
          + "learn the new name at their next sync.")
    }
    for line in renaming.left { Output.standard.line(line) }
  }

  /// Reports that the new name is for all members.
  private func tellRenamed(_ notebook: Notebook) {
    Output.standard.line(
      "The notebook is called \(Visible.name(notebook.identity.name)) now; its other devices learn "
        + "the new name at their next sync.")
  }

  private func list() throws {
    // Outside of a notebook there are only the user's settings.
    let notebook = try? NotebookLocator.notebook()
    let settings = try Setting.allCases.filter { $0.scope == .user || notebook != nil }
      .map { ($0, try $0.value(in: notebook)) }
    let rows = settings.map { setting, value in
      let text = value ?? setting.fallback.map { "\($0) (by default)" } ?? "not set"
      return [
        Styled(setting.rawValue, value != nil ? .bold : nil),
        Styled(Visible.name(text), value != nil ? nil : .dim),
      ]
    }
    options.write(settings.map(Self.json)) { Table(flexible: 1, rows: rows).text(on: $0) }
  }

  private static func json(_ setting: Setting, _ value: String?) -> JSON {
    [
      "type": "setting", "name": setting.rawValue, "value": value, "default": setting.fallback,
      "scope": setting.scope.rawValue,
    ] as JSON
  }
}

/// A setting of the user: notes-config(1).
enum Setting: String, CaseIterable {
  case defaultNotebook = "default"
  case deviceName = "device-name"
  case listen
  case executableFiles = "executable-files"
  case hiddenFiles = "hidden-files"
  case hubInterval = "hub-interval"
  case maxFileSize = "max-file-size"
  case notebookName = "name"
  case onChange = "on-change"
  case onConflict = "on-conflict"
  case ownDevices = "own-devices"

  /// The scope of a setting: the user's notebooks; one notebook on this device; or one notebook for all
  /// its members.
  enum Scope: String { case user, notebook, members }

  var scope: Scope {
    switch self {
    case .executableFiles, .hiddenFiles, .maxFileSize, .ownDevices: .notebook
    case .notebookName: .members
    case .defaultNotebook, .deviceName, .hubInterval, .listen, .onChange, .onConflict: .user
    }
  }

  /// The default value; nil if there is none.
  var fallback: String? {
    switch self {
    case .deviceName: DeviceName.hostName
    case .listen: Address.anywhere.description
    case .hiddenFiles, .executableFiles, .ownDevices: "false"
    case .hubInterval: "300"
    case .maxFileSize: "50m"
    case .defaultNotebook, .notebookName, .onChange, .onConflict: nil
    }
  }

  static func named(_ name: String) throws(Failure) -> Setting {
    if let found = Setting(rawValue: name) { return found }
    throw .usage(
      "there is no setting '\(Visible.name(name))'",
      hint: Failure.guess(name, among: allCases.map(\.rawValue))
        ?? "'notes config' lists the settings")
  }

  var isMissing: Failure {
    let hint = "'notes config \(rawValue) VALUE' sets it"
    return Failure(.failed, "not_set", "\(rawValue) is not set", hint: hint)
  }

  func check(_ value: String) throws {
    guard !value.contains(where: \.isNewline), !value.allSatisfy(\.isWhitespace) else {
      throw Failure.usage(
        "the value of \(rawValue) is empty or has more than one line",
        hint: "'notes config --unset \(rawValue)' removes a setting")
    }
    switch self {
    case .deviceName, .notebookName: try DisplayName.check(value)
    case .listen where Address(parsing: value) == nil:
      throw Failure.usage(
        "'\(Visible.name(value))' is not HOST:PORT", hint: "for instance '*:4711'")
    case .hiddenFiles where value != "true" && value != "false":
      throw notABoolean(value, "versions hidden files")
    case .executableFiles where value != "true" && value != "false":
      throw notABoolean(value, "lets received files be executable")
    case .ownDevices where value != "true" && value != "false":
      throw notABoolean(value, "lets in other devices of members who ask for them")
    case .hubInterval where Self.seconds(value) == nil:
      throw Failure.usage(
        "'\(Visible.name(value))' is not a number of seconds from 10 to 86400",
        hint: "for instance 60")
    case .maxFileSize where !WorkTree.isSizeLimit(value):
      throw Failure.usage(
        "'\(Visible.name(value))' is not a number of bytes", hint: "for instance 500k or 20m")
    case .maxFileSize where !WorkTree.isHonoured(sizeLimit: value):
      throw Failure.usage(
        "'\(Visible.name(value))' is above 64m, the most that devices accept from each other",
        hint: "'notes config max-file-size 64m' is the highest limit")
    default: break
    }
  }

  private func notABoolean(_ value: String, _ effect: String) -> Failure {
    .usage(
      "'\(Visible.name(value))' is neither true nor false",
      hint: "'notes config \(rawValue) true' \(effect)")
  }

  private static func seconds(_ text: String) -> Double? {
    Int(text).flatMap { (10...86_400).contains($0) ? Double($0) : nil }
  }

  /// The number of seconds between visits to hubs; an invalid value counts as unset.
  static func hubIntervalInSeconds() throws -> Double {
    try hubInterval.value().flatMap(seconds) ?? 300
  }

  func value(in notebook: Notebook? = nil) throws -> String? {
    switch self {
    case .maxFileSize: try notebook?.workTree.sizeLimitSetting()
    case .hiddenFiles: try notebook?.workTree.hiddenFilesSetting()
    case .executableFiles: try notebook?.workTree.executableFilesSetting()
    case .ownDevices: try notebook.flatMap(OwnDevices.setting)
    case .notebookName: notebook?.identity.name
    default: try UserSettings.read()[rawValue]
    }
  }

  func set(_ value: String?, in notebook: Notebook?) throws {
    if let value { try check(value) }
    switch self {
    case .defaultNotebook:
      // The folder setting is used from any folder, so the path must be absolute.
      let folder = try value.map { try Notebook.find(from: NotebookLocator.folder($0)) }
      try UserSettings.set(rawValue, to: folder)
    case .maxFileSize: try notebook?.setSizeLimit(value)
    case .hiddenFiles: try notebook?.setHiddenFiles(value)
    case .executableFiles: try notebook?.setExecutableFiles(value)
    case .ownDevices: try notebook.map { try OwnDevices.set(value, in: $0) }
    case .notebookName:
      guard let value, let notebook else {
        throw Failure.usage(
          "a notebook needs a name", hint: "'notes config name NAME' changes the name")
      }
      try notebook.renameForAll(value)
    default: try UserSettings.set(rawValue, to: value)
    }
  }
}

extension Notebook {
  /// Renames the notebook, on this device now and on the others with their next sync.
  fileprivate func renameForAll(_ name: String) throws {
    let context = try sessionContext()
    try context.membership.demandAdmin(context.key.deviceID)
    if context.membership.notebookName != name {
      try context.membership.rename(notebook: name, by: context.key)
    }
    try rename(notebook: name)
  }
}

/// Lines `key = value` in `$XDG_CONFIG_HOME/notes/config`, and comments, which start with `#`.
enum UserSettings {
  static func read() throws(Failure) -> SettingsText {
    let path = try UserFolders().config + "/config"
    do {
      return SettingsText(String(decoding: try Disk.readIfThere(path) ?? [], as: UTF8.self))
    } catch {
      throw .system(
        "the settings in \(Visible.name(path)) cannot be read", errno: error.errno,
        kind: "settings_unreadable")
    }
  }

  /// Sets a value, or removes it; comments and the rest of the file are unchanged.
  static func set(_ key: String, to value: String?) throws(Failure) {
    var settings = try read()
    settings[key] = value
    let folder = try UserFolders().config
    // If the file is a link to another place, it stays a link.
    let path = realPath(of: folder + "/config") ?? folder + "/config"
    do {
      try Disk.makeFolders(folder, mode: 0o700)
      try Disk.replace(path, with: Array(settings.text.utf8), mode: 0o644, isShared: true)
    } catch {
      throw .system(
        "the settings in \(Visible.name(path)) cannot be written", errno: error.errno,
        kind: "settings_not_written")
    }
  }
}

/// The name of this device in versions, invitations and lists of members.
enum DeviceName {
  static func choose(given: String?) throws -> String {
    if let name = try given ?? Setting.deviceName.value() { return try DisplayName.check(name) }
    return hostName
  }

  /// The host's name without its domain, shortened to a valid device name.
  static var hostName: String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return "device" }
    let bytes = buffer.prefix { $0 != 0 && $0 != CChar(bitPattern: UInt8(ascii: ".")) }
    let name = String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return DisplayName.made(from: name) ?? "device"
  }
}

/// The user's commands for changes that a watcher receives: the settings `on-change` and
/// `on-conflict`.
struct WatchHooks {
  private let hooks = Hooks(logger: ServiceLogging.logger(verbose: false))
  private let folders: [String: String]

  init(notebooks: [Notebook]) {
    folders = Dictionary(notebooks.map { ($0.identity.id, $0.folder) }) { first, _ in first }
  }

  func run(for event: Event) {
    if case .saveNews(let notebook, let news) = event, let folder = folders[notebook],
      // If the settings cannot be read, no command runs; commands that change settings report the
      // error.
      let command = try? UserSettings.read()[Setting.onChange.rawValue]
    {
      hooks.run(
        command,
        on: Hooks.Occasion(
          event: news.kind.rawValue, folder: folder, paths: [news.path],
          device: news.devices.first ?? ""))
    }
    // The settings are read for each event, so changes apply at once.
    guard case .received(let peer, let merge, let notebook?) = event,
      // If the settings cannot be read, no command runs.
      let folder = folders[notebook], let settings = try? UserSettings.read()
    else { return }
    let occasions = [
      (Setting.onChange, "change", merge.changes.map(\.path)),
      (.onConflict, "conflict", merge.conflicts),
    ]
    for (setting, name, paths) in occasions where !paths.isEmpty {
      guard let command = settings[setting.rawValue] else { continue }
      hooks.run(
        command, on: Hooks.Occasion(event: name, folder: folder, paths: paths, device: peer.name))
    }
  }
}
