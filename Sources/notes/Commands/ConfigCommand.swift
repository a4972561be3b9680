internal import ArgumentParser
internal import History
internal import Notebook

struct ConfigCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Show and change the settings.",
    discussion: """
      Alone it lists the settings, with a name it prints that one's value, with a value it sets it. \
      notes-config(1) says what each is for.

      Examples:
        notes config
        notes config device-name laptop
        notes config on-conflict 'notify-send "Conflict" "$NOTES_PATHS"'
        notes config --unset on-conflict
      """)

  @Argument(help: ArgumentHelp("The setting.", valueName: "name"))
  var name: String?
  @Argument(help: ArgumentHelp("What to set it to.", valueName: "value"))
  var value: String?
  @Flag(help: "Take the setting away, so that the default holds.")
  var unset = false
  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  func validate() throws {
    if unset, name == nil || value != nil {
      throw ValidationError("--unset takes the name of a setting, and no value.")
    }
  }

  func perform() throws -> Exit {
    guard let name else {
      try list()
      return .done
    }
    let setting = try Setting.named(name)
    let notebook = setting.scope == .notebook ? try Place.notebook() : nil
    if unset {
      try setting.set(nil, in: notebook)
    } else if let value {
      try setting.set(value, in: notebook)
    } else {
      try show(setting, in: notebook)
    }
    return .done
  }

  private func show(_ setting: Setting, in notebook: Notebook?) throws {
    let value = try setting.value(in: notebook)
    if format.json { return Output.standard.event(Self.json(setting, value)) }
    guard let text = value ?? setting.fallback else {
      throw setting.isMissing
    }
    Output.standard.line(Visible.name(text))
  }

  /// All settings; those of a notebook only where one is at hand.
  private func list() throws {
    let notebook = try? Place.notebook()
    var table = Table(flexible: 1)
    for setting in Setting.allCases where setting.scope == .user || notebook != nil {
      let value = try setting.value(in: notebook)
      if format.json {
        Output.standard.event(Self.json(setting, value))
      } else {
        let isSet = value != nil
        let text = value ?? setting.fallback.map { "\($0) (by default)" } ?? "not set"
        table.add([
          Table.Cell(setting.rawValue, isSet ? .bold : nil),
          Table.Cell(Visible.name(text), isSet ? nil : .dim),
        ])
      }
    }
    for line in table.lines(for: Console.output) { Output.standard.line(line) }
  }

  private static func json(_ setting: Setting, _ value: String?) -> JSON {
    [
      "name": .string(setting.rawValue), "value": .optional(value),
      "default": .optional(setting.fallback), "scope": .string(setting.scope.rawValue),
    ]
  }
}
