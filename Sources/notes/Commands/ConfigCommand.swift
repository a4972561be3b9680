internal import ArgumentParser
internal import History

struct ConfigCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Show and change the settings.",
    discussion: """
      Alone it lists the settings, with a name it prints that one's value, with a value it sets it. \
      notes-config(1) says what each is for.

      Examples:
        notes config
        notes config device-name laptop
        notes config on-conflict 'notify-send "Conflict" "$NOTES_PATHS"'
        notes config --unset on-conflict
      """)

  @Argument(
    help: .named("name", "The setting."), completion: .list(Setting.allCases.map(\.rawValue)))
  var name: String?
  @Argument(help: .named("value", "What to set it to.")) var value: String?
  @Flag(help: "Take the setting away, so that the default holds.") var unset = false
  @OptionGroup var options: CommonOptions

  func validate() throws {
    if unset, name == nil || value != nil {
      throw ValidationError("--unset takes the name of a setting, and no value.")
    }
  }

  func run() throws {
    guard let name else { return try list() }
    let setting = try Setting.named(name)
    let notebook = setting.scope == .notebook ? try NotebookLocator.notebook() : nil
    if unset || value != nil { return try setting.set(value, in: notebook) }
    let current = try setting.value(in: notebook)
    if options.json { return Output.standard.lines([Self.json(setting, current)]) }
    guard let text = current ?? setting.fallback else { throw setting.isMissing }
    Output.standard.line(Visible.name(text))
  }

  /// All settings; those of a notebook only where one is at hand.
  private func list() throws {
    let notebook = try? NotebookLocator.notebook()
    let settings = try Setting.allCases.filter { $0.scope == .user || notebook != nil }
      .map { ($0, try $0.value(in: notebook)) }
    var table = Table(flexible: 1)
    for (setting, value) in settings {
      let text = value ?? setting.fallback.map { "\($0) (by default)" } ?? "not set"
      table.add([
        Styled(setting.rawValue, value != nil ? .bold : nil),
        Styled(Visible.name(text), value != nil ? nil : .dim),
      ])
    }
    options.write(settings.map(Self.json)) { table.text(on: $0) }
  }

  private static func json(_ setting: Setting, _ value: String?) -> JSON {
    [
      "name": setting.rawValue, "value": value, "default": setting.fallback,
      "scope": setting.scope.rawValue,
    ] as JSON
  }
}
