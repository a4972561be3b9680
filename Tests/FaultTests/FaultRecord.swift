import Glibc
import TestSupport

/// A file that keeps what came of plays in which all held, a line each, so that a run of many hours
/// can be broken off, or divided among processes: `PLAY<tab>SUBJECT<tab>POINT<tab>FAULT`.
struct FaultRecord: Sendable {
  private let path = TestEnvironment.variable("NOTES_FAULTS_RECORD")

  /// What came of those plays of a subject that are known.
  func plays(of subject: String, among places: [FaultPlace]) -> [FaultPlace: Play] {
    guard let path, let content = try? readFile(path) else { return [:] }
    var lines: [String: Play] = [:]
    for line in String(decoding: content, as: UTF8.self).split(separator: "\n") {
      let parts = line.split(separator: "\t", maxSplits: 1)
      if parts.count == 2 { lines[String(parts[1])] = Play(rawValue: String(parts[0])) }
    }
    var plays: [FaultPlace: Play] = [:]
    for place in places { plays[place] = lines[Self.name(subject, place)] }
    return plays
  }

  /// Adds a play.
  func add(_ play: Play, of subject: String, at place: FaultPlace) {
    guard let path else { return }
    // One write a line: other processes add theirs.
    let line = Array("\(play.rawValue)\t\(Self.name(subject, place))\n".utf8)
    let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    _ = write(file, line, line.count)
    close(file)
  }

  private static func name(_ subject: String, _ place: FaultPlace) -> String {
    "\(subject)\t\(place.point)\t\(place.fault)"
  }
}
