package import Git
internal import System

/// Whether the executable bit of a file says anything: `core.fileMode` in `.git/config`
/// (git-config(1)). Where it does not, as on file systems of other systems, a note keeps the mode that
/// its last version has, and a new one is not executable.
package struct FileModeTrust {
  private let isTrusted: Bool

  init(_ repository: Repository, configuration: [UInt8]) {
    isTrusted =
      Self.saysTrue(configuration) || Self.isTrue(try? repository.setting("core.fileMode"))
  }

  /// Whether a file's mode in the folder is the one that is known, as far as can be told.
  package func isSame(_ seen: FileMode, as known: FileMode) -> Bool {
    mode(of: seen, known: known) == known
  }

  /// The mode that a file has in a version.
  ///
  /// - Parameters:
  ///   - seen: what it has in the folder.
  ///   - known: what it had in the last version; nil for a new file.
  package func mode(of seen: FileMode, known: FileMode?) -> FileMode {
    isTrusted ? seen : known ?? .regular
  }

  /// The line as git writes it into every new repository: nothing else has to be read then.
  private static func saysTrue(_ configuration: [UInt8]) -> Bool {
    var lines = configuration.split(separator: UInt8(ascii: "\n")).lazy
      .map { $0.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }.map { $0 | 0x20 } }
      .filter { $0.starts(with: Array("filemode".utf8)) }
      .makeIterator()
    guard let line = lines.next(), lines.next() == nil else { return false }
    return line.elementsEqual("filemode=true".utf8.map { $0 | 0x20 })
  }

  private static func isTrue(_ value: String?) -> Bool {
    guard let value else { return true }
    return !["false", "no", "off", "0", ""].contains(value.lowercased())
  }
}
