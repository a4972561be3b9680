internal import Glibc

private typealias Disk = FileSystem<SystemCallError>

extension ChildProcess {
  /// A number that changes when the process, or a process that it started, reads or writes. It is the sum of the bytes
  /// that they passed to read(2) and write(2) and of the bytes that wait in their TCP sockets, from `io` and `net/tcp`
  /// of proc(5). 0 if the system does not provide the numbers.
  public var traffic: Int {
    let family = Self.family(of: "\(id)")
    let moved = family.flatMap { Self.lines(of: "/proc/\($0)/io") }.reduce(0) { sum, line in
      let words = line.split(separator: " ")
      guard words.count == 2, words[0] == "rchar:" || words[0] == "wchar:" else { return sum }
      return sum + (Int(words[1]) ?? 0)
    }
    return moved + Self.waiting(in: Set(family.flatMap(Self.sockets)), seenBy: id)
  }

  /// A process, and all running processes that it has started.
  private static func family(of process: String) -> [String] {
    let tasks = "/proc/\(process)/task"
    return [process]
      + Disk.namesIfAny(in: tasks).flatMap { lines(of: "\(tasks)/\($0)/children") }
      .flatMap { $0.split(separator: " ") }.flatMap { family(of: String($0)) }
  }

  /// The inode numbers of a process's sockets.
  private static func sockets(of process: String) -> [Substring] {
    let folder = "/proc/\(process)/fd/"
    return Disk.namesIfAny(in: folder).compactMap { name in
      var buffer = [CChar](repeating: 0, count: 64)
      let count = readlink(folder + name, &buffer, buffer.count)
      let target = String(
        decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      return target.hasPrefix("socket:[") ? target.dropFirst(8).dropLast() : nil
    }
  }

  /// How many bytes in these sockets are not sent, not acknowledged or not read.
  private static func waiting(in sockets: Set<Substring>, seenBy process: pid_t) -> Int {
    if sockets.isEmpty { return 0 }
    return ["tcp", "tcp6"].flatMap { lines(of: "/proc/\(process)/net/\($0)") }.reduce(0) {
      // `sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode`
      sum, line in
      let words = line.split(separator: " ")
      guard words.count > 9, sockets.contains(words[9]) else { return sum }
      return words[4].split(separator: ":").reduce(sum) { $0 + (Int($1, radix: 16) ?? 0) }
    }
  }

  private static func lines(of path: String) -> [Substring] {
    let text = Disk.contentIfAny(path) ?? []
    return String(decoding: text, as: UTF8.self).split(separator: "\n")
  }
}
