internal import Channel
internal import Discovery
internal import Exchange
internal import Git
internal import Merge

/// What this program is, and what it found on this system.
enum ProgramVersion {
  /// As in CHANGELOG.md and `notes --version`.
  static let current = "0.1.0"

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

  private static func answer(_ ask: () throws -> String) -> Result<String, any Error> {
    Result(catching: ask)
  }

  private static var libraries: [(name: String, field: String, Result<String, any Error>)] {
    [
      ("libgit2", "libgit2", answer(GitLibrary.version)),
      ("OpenSSL", "openssl", answer(TLSLibrary.version)),
      (
        "Avahi", "avahi",
        answer { try AvahiDiscovery(deviceID: "", patience: 1).daemonVersion() }
      ),
    ]
  }

  private static var text: [String] {
    let own = [
      "notes " + current, "protocol \(ProtocolLimits.version)",
      "merge rules \(MergeTrailers.currentVersion)",
    ]
    return own
      + libraries.map { name, _, version in
        switch version {
        case .success(let version):
          version.hasPrefix(name.lowercased()) ? version : "\(name) \(version)"
        case .failure(let error): "\(name): \(Visible.text("\(error)"))"
        }
      }
  }

  private static var json: JSON {
    [
      "type": "version", "notes": current, "protocol": ProtocolLimits.version,
      "merge_rules": MergeTrailers.currentVersion,
    ] + .object(libraries.map { ($0.field, (try? $0.2.get()).json) })
  }
}
