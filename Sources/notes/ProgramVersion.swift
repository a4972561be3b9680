internal import CLinux
internal import Channel
internal import Discovery
internal import Exchange
internal import Git
internal import Merge

/// The version of this program, and the libraries that it found on this system.
enum ProgramVersion {
  /// The version of the newest section of CHANGELOG.md. Between releases it ends in "-dev"; a release
  /// removes that, and the commit after it sets the next version.
  static let current = "1.2.0-dev"

  /// The version in `notes --version`: between releases with the commit of the build, if known,
  /// such as "1.2.0-dev (1a2b3c4)".
  static let shown: String = {
    guard current.hasSuffix("-dev"), let commit = BuildRecord.own["commit"] else { return current }
    return "\(current) (\(commit))"
  }()

  /// Prints the version for `notes --version` with these options; false if an option is unknown.
  static func tell(_ options: [String]) -> Bool {
    switch options {
    case []: Output.standard.line("notes " + shown)
    case ["--verbose"], ["-v"]: text.forEach { Output.standard.line($0) }
    case ["--json"]: Output.standard.event(json)
    default: return false
    }
    return true
  }

  /// The libraries that are loaded when first used, with the versions of their headers at build time.
  private static let libraries:
    [(name: String, loaded: @Sendable () throws -> String, builtWith: String)] = [
      ("libgit2", GitLibrary.version, GitLibrary.builtWith),
      ("OpenSSL", TLSLibrary.version, TLSLibrary.builtWith),
      ("zlib", CompressionLibrary.version, CompressionLibrary.builtWith),
    ]

  private static func avahi() throws -> String {
    try AvahiDiscovery(deviceID: "", patience: 1).daemonVersion()
  }

  private static var builtWith: [(name: String, version: String)] {
    BuildRecord.own.components + libraries.map { ($0.name, $0.builtWith) }
  }

  private static var text: [String] {
    let found = libraries.map { ($0.name, $0.loaded) } + [("Avahi", avahi)]
    let own = [
      "notes " + shown, "protocol \(ProtocolLimits.version)",
      "merge rules \(MergeTrailers.currentVersion)",
    ]
    let loaded = found.map { name, version in
      do {
        let version = try version()
        return version.hasPrefix(name.lowercased()) ? version : "\(name) \(version)"
      } catch {
        return "\(name): \(Visible.text("\(error)"))"
      }
    }
    return own + loaded
      + ["built with " + builtWith.map { "\($0.name) \($0.version)" }.joined(separator: ", ")]
  }

  private static var json: JSON {
    [
      "type": "version", "notes": current, "commit": BuildRecord.own["commit"],
      "protocol": ProtocolLimits.version, "merge_rules": MergeTrailers.currentVersion,
      // A missing library has no version: null.
      "libgit2": try? GitLibrary.version(), "openssl": try? TLSLibrary.version(),
      "zlib": try? CompressionLibrary.version(), "avahi": try? avahi(),
      "built_with": JSON.array(builtWith.map { ["name": $0.name, "version": $0.version] }),
    ]
  }
}

/// The record of the build by scripts/release; empty in other builds.
struct BuildRecord {
  private let lines: [(name: String, value: String)]

  /// This program's record.
  static let own = BuildRecord(notes_build_record().map { String(cString: $0) } ?? "")

  /// Reads lines of `name value`.
  init(_ text: String) {
    lines = text.split(separator: "\n").compactMap { line in
      guard let space = line.firstIndex(of: " ") else { return nil }
      return (String(line[..<space]), String(line[line.index(after: space)...]))
    }
  }

  /// The value with that name; nil if there is none.
  subscript(name: String) -> String? { lines.first { $0.name == name }?.value }

  /// The compiler and the Swift packages, with their versions.
  var components: [(name: String, version: String)] {
    lines.filter { $0.name != "commit" }.map { ($0.name, $0.value) }
  }
}
