package import System

/// The error for a file of this device's state that exists but does not have the form that this program writes.
public struct StateDamage: Error, Hashable, CustomStringConvertible {
  /// The file.
  public let path: String
  /// The damage, in words.
  public let problem: String

  /// The damage of a file.
  public init(_ path: String, _ problem: String) { (self.path, self.problem) = (path, problem) }

  /// The message for people.
  public var description: String { "\(path) is damaged: \(problem)" }

  /// The suffix that is added to the name of a damaged cache file.
  package static let suffix = ".damaged"
}

extension FileSystem {
  /// The lines of a required file; nil if there is no file.
  ///
  /// - Throws: `StateDamage`, or an error if the file cannot be read.
  package static func lines(of path: String, limit: Int = .max) throws -> StateLines? {
    try readIfThere(path, limit: limit).map { try StateLines(of: $0, at: path) }
  }

  /// The content of a cache file, whose loss costs little; nil if there is none. Renames a damaged file; `notes doctor`
  /// reports it, and also a file that cannot be read.
  ///
  /// - Parameter parse: reads the lines; throws `StateDamage`, or returns nil for the content of another
  ///   version of this program.
  package static func memory<Value>(
    at path: String, limit: Int = .max, _ parse: (StateLines) throws(StateDamage) -> Value?
  ) -> Value? {
    guard let content = contentIfAny(path, limit: limit, followsLink: false) else { return nil }
    do {
      return try parse(StateLines(of: content, at: path))
    } catch {
      // If the file cannot be renamed, the next reader finds the damage again.
      try? rename(path, to: path + StateDamage.suffix)
      return nil
    }
  }

  /// Writes a cache file. If that fails, the cached work is done again; nothing else changes.
  package static func keep(_ content: [UInt8], at path: String) {
    do {
      try makeFolder(parent(of: path), mode: 0o777)
      try replace(path, with: content, isShared: true, waits: false)
    } catch {}
  }
}
