import Glibc
import Synchronization
import TestSupport

/// What people do to their notes.
extension CrowdDevice {
  /// Changes one file at random.
  ///
  /// - Parameter token: text that no other edit has.
  func edit(_ token: String, _ random: inout SplitMix64) throws {
    let names = try self.names()
    guard let name = names.randomElement(using: &random) else {
      return try put("\(token).txt", "\(token)\n")
    }
    let text = try readFile(folder + "/" + name)
    touched.insert(name)
    let path = folder + "/" + name
    // Nobody writes on behind a marker: a text without an end gets one first.
    let ended = text.last == UInt8(ascii: "\n") ? text : text + [UInt8(ascii: "\n")]
    switch Int.random(in: 0..<24, using: &random) {
    case 0 where names.count > 3: unlink(path)
    case 1: try move(name, to: "moved \(token).txt")
    case 2: try move(name, to: "folder \(token.suffix(1))/\(token).txt")
    case 3 where names.count < 9:
      try put("new \(token).txt", "\(token)\nsecond\n")
    case 4: try writeFile(path, Array("\(token) instead of it all\n".utf8))
    case 5: chmod(path, text.count % 2 == 0 ? 0o755 : 0o644)
    case 6 where names.count < 9:
      // Two people may choose the same name.
      try put("same.txt", "\(token)\n")
    case 7 where names.count < 9:
      touched.insert("picture.png")
      try writeFile("\(folder)/picture.png", [0x89, 0, 1, 2] + Array(token.utf8))
    case 8: try writeFile(path, ended + Array("\(token) without an end".utf8))
    case 9, 10: try writeFile(path, ended + Array("\(token) appended\n".utf8))
    case 11, 12: try resolve(path, text, token, &random)
    default: try editLine(path, text, token, &random)
    }
    // The times of files are this device's clock's, so that a seed makes the same versions again.
    let stamp = timespec(tv_sec: Int(self.clock.seconds.load(ordering: .relaxed)), tv_nsec: 0)
    for name in touched { utimensat(AT_FDCWD, folder + "/" + name, [stamp, stamp], 0) }
  }

  private func put(_ name: String, _ text: String) throws {
    touched.insert(name)
    try writeFile(folder + "/" + name, Array(text.utf8))
  }

  private func move(_ name: String, to target: String) throws {
    if let slash = target.lastIndex(of: "/") {
      try makeFolder(folder + "/" + target[..<slash])
    }
    touched.insert(target)
    rename(folder + "/" + name, folder + "/" + target)
  }

  private static func isMarker(_ line: ArraySlice<UInt8>) -> Bool {
    ["<<<<<<<", "=======", ">>>>>>>"].contains { line.starts(with: $0.utf8) }
  }

  private func editLine(
    _ path: String, _ text: [UInt8], _ token: String, _ random: inout SplitMix64
  ) throws {
    var lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let place = Int.random(in: 0..<lines.count, using: &random)
    // Who edits by hand leaves the markers alone, or resolves.
    if Self.isMarker(lines[place]) { return }
    let line = Array("\(token) here\n".utf8).dropLast()
    switch Int.random(in: 0..<4, using: &random) {
    case 0: lines[place] = line
    case 1: lines.remove(at: place)
    case 2:
      lines[place] += Array(" \(token)".utf8)
    default: lines.insert(line, at: place)
    }
    try writeFile(path, Array(lines.joined(separator: [UInt8(ascii: "\n")])))
  }

  /// Takes the first side of each conflict, or just makes the text shorter.
  private func resolve(
    _ path: String, _ text: [UInt8], _ token: String, _ random: inout SplitMix64
  ) throws {
    var kept: [ArraySlice<UInt8>] = []
    var side = 0
    for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      if line.starts(with: "<<<<<<<".utf8) {
        side = 1
      } else if line.starts(with: ">>>>>>>".utf8) {
        side = 0
      } else if side > 0, line.starts(with: "=======".utf8) {
        side += 1
      } else if side <= 1 {
        kept.append(line)
      }
    }
    if kept.count > 12 { kept.removeSubrange(4..<8) }
    try writeFile(path, Array(kept.joined(separator: [UInt8(ascii: "\n")])))
  }
}
