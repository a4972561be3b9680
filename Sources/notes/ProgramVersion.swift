internal import Channel
internal import Discovery
internal import Exchange
internal import Git
internal import Merge

/// What this program is, and what it found on this system.
enum ProgramVersion {
  /// As in CHANGELOG.md and `notes --version`.
  static let current = "1.0.0"

  /// Answers `notes --version` with these options; false for any that it does not have.
  static func tell(_ options: [String]) -> Bool {
    switch options {
    case []: Output.standard.line("notes " + current)
    case ["--verbose"], ["-v"]: text.forEach { Output.standard.line($0) }
    case ["--json"]: Output.standard.event(json)
    default: return false
    }
    return true
  }

  private static func avahi() throws -> String {
    try AvahiDiscovery(deviceID: "", patience: 1).daemonVersion()
  }

  private static var text: [String] {
    let libraries: [(name: String, version: () throws -> String)] = [
      ("libgit2", GitLibrary.version), ("OpenSSL", TLSLibrary.version), ("Avahi", avahi),
    ]
    let own = [
      "notes " + current, "protocol \(ProtocolLimits.version)",
      "merge rules \(MergeTrailers.currentVersion)",
    ]
    return own
      + libraries.map { name, version in
        do {
          let version = try version()
          return version.hasPrefix(name.lowercased()) ? version : "\(name) \(version)"
        } catch {
          return "\(name): \(Visible.text("\(error)"))"
        }
      }
  }

  private static var json: JSON {
    [
      "type": "version", "notes": current, "protocol": ProtocolLimits.version,
      "merge_rules": MergeTrailers.currentVersion, "libgit2": try? GitLibrary.version(),
      "openssl": try? TLSLibrary.version(), "avahi": try? avahi(),
    ]
  }
}
