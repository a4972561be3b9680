import Channel
import Membership
import Notebook
import WorkTree

/// The settings that a user wrote: whatever stands there, what is set is found again, and nothing else
/// changes.
enum SettingsTarget {
  private static let keys = ["device-name", "listen", "on-change", "on-conflict", "k"]

  static func run(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    let settings = SettingsText(text)
    precondition(settings.text == text || settings.text == text + "\n")
    let value = settings["k"] ?? "v"
    for key in keys {
      var changed = settings
      changed[key] = value
      precondition(changed[key] == value && SettingsText(changed.text)[key] == value)
      changed[key] = nil
      let again = SettingsText(changed.text)
      precondition(again[key] == nil)
      for other in keys where other != key { precondition(again[other] == settings[other]) }
    }
    if let name = settings["device-name"] { _ = try? DisplayName.check(name) }
    if let address = settings["listen"].flatMap(Address.init(parsing:)) {
      precondition(Address(parsing: address.description) == address)
    }
    _ = settings["max-file-size"].map(WorkTree.isSizeLimit)
  }
}
