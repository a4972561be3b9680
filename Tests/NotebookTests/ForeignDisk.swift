import Glibc
import TestSupport
import Testing

/// A disk as other systems have it, for a test: an exFAT file system in a file, which refuses some
/// names, takes names that differ by case for one, and has neither modes nor links.
final class ForeignDisk {
  let folder: TemporaryFolder
  var path: String { folder["disk"] }

  /// Whether this machine lets us have one: root, with loop devices and FUSE.
  static let isToBeHad =
    geteuid() == 0 && access("/dev/fuse", F_OK) == 0
    && access("/dev/loop-control", F_OK) == 0 && (try? ForeignDisk()) != nil

  init() throws {
    folder = try TemporaryFolder()
    try makeFolder(folder["disk"])
    let image = folder["image"]
    try #require(try run(["truncate", "-s", "32M", image]).isSuccess)
    try #require(try run(["mkfs.exfat", image]).isSuccess)
    let loop = try run(["losetup", "--find", "--show", image])
    try #require(loop.isSuccess, "\(loop)")
    let device = loop.text.split(separator: "\n").first.map(String.init) ?? ""
    let mounted = try run(["mount.exfat-fuse", device, folder["disk"]])
    // The device goes when the file system lets go of it, or now where it was not mounted.
    _ = try run(["losetup", "--detach", device])
    guard mounted.isSuccess else { throw ForeignDiskError(text: mounted.errorText) }
  }

  // A program that another test is just starting may hold something open there for a moment.
  deinit { _ = try? run(["umount", "--lazy", folder["disk"]]) }
}

struct ForeignDiskError: Error { let text: String }
