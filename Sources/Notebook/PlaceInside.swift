internal import Glibc
internal import System
internal import WorkTree

extension Notebook {
  /// Whether a path leads to the notebook's folder or into it. Follows links, and compares folders by device
  /// and inode (for example with bind mounts). The place need not exist yet.
  public func contains(place: String) -> Bool {
    // A path through a missing folder may lead elsewhere once the folder exists.
    [place, Self.withoutSteps(place)].contains { contains(existing: Self.existingFolder(of: $0)) }
  }

  private func contains(existing folder: String) -> Bool {
    guard let own = PlaceIdentity(of: self.folder) else { return false }
    var current = folder
    while true {
      if PlaceIdentity(of: current) == own { return true }
      if current == "/" { return false }
      current = Disk.parent(of: current)
    }
  }

  /// The real path of a place, or of the nearest existing folder above it.
  private static func existingFolder(of place: String) -> String {
    var place = withoutSlashes(place)
    // The number of links that the system follows: path_resolution(7).
    var links = 40
    while true {
      if let real = realPath(of: place) { return real }
      if links > 0, let target = linkTarget(of: place) {
        links -= 1
        place = target.hasPrefix("/") ? target : Disk.parent(of: place) + "/" + target
      } else {
        place = Disk.parent(of: place)
      }
      place = withoutSlashes(place)
    }
  }

  /// A path without `.` and `..`, as if no folder in it were a link.
  private static func withoutSteps(_ path: String) -> String {
    var parts: [Substring] = []
    for part in path.split(separator: "/") where part != "." {
      if part == "..", let last = parts.last, last != ".." {
        parts.removeLast()
      } else {
        parts.append(part)
      }
    }
    return (path.hasPrefix("/") ? "/" : "./") + parts.joined(separator: "/")
  }

  private static func withoutSlashes(_ path: String) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }

  private static func linkTarget(of path: String) -> String? {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &target, target.count)
    return count > 0
      ? String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
  }
}

/// The numbers that identify a folder: stat(2).
private struct PlaceIdentity: Equatable {
  let device: dev_t
  let inode: ino_t

  init?(of path: String) {
    var status = stat()
    guard Counted.stat(path, &status) == 0 else { return nil }
    (device, inode) = (status.st_dev, status.st_ino)
  }
}
