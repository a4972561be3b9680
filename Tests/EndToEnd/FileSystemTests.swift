import Glibc
import TestSupport
import Testing

/// notes-merge(7), "Notes that are left out of the folder": the table of file systems.
@Suite("What each file system takes")
struct FileSystemTests {
  static let script = BuiltBinary.sourceFolder + "/bench/file-systems"

  /// The file systems that this machine mounts.
  private static func isToBeHad(_ kind: String) -> Bool {
    (try? run([script, "--can", kind]))?.isSuccess == true
  }

  private func check(_ kind: String) throws {
    let notes = try BuiltBinary.notes()
    let result = try run([Self.script, "--check", "--binary", notes, kind], within: 360)
    #expect(result.isSuccess && result.errorText.isEmpty, "\(result.text)\(result.errorText)")
  }

  @Test("ext4", .enabled("this machine mounts no ext4") { isToBeHad("ext4") })
  func ext4() throws { try check("ext4") }

  @Test("xfs", .enabled("this machine mounts no xfs") { isToBeHad("xfs") })
  func xfs() throws { try check("xfs") }

  @Test("btrfs", .enabled("this machine mounts no btrfs") { isToBeHad("btrfs") })
  func btrfs() throws { try check("btrfs") }

  @Test("tmpfs", .enabled("this machine mounts no tmpfs") { isToBeHad("tmpfs") })
  func tmpfs() throws { try check("tmpfs") }

  @Test("overlay", .enabled("this machine mounts no overlay") { isToBeHad("overlay") })
  func overlay() throws { try check("overlay") }

  @Test(
    "exFAT", .enabled("this machine mounts no exFAT") { isToBeHad("exFAT (exfat-fuse)") })
  func exFAT() throws { try check("exFAT (exfat-fuse)") }

  @Test("NTFS", .enabled("this machine mounts no NTFS") { isToBeHad("NTFS (ntfs-3g)") })
  func ntfs() throws {
    try check("NTFS (ntfs-3g)")
    try check("NTFS (ntfs-3g, windows_names)")
  }

  /// notes-join(1): what cannot be a notebook is left as it was.
  @Test(
    "FAT by a driver that loses files",
    .enabled("this machine mounts no FAT by FUSE") { isToBeHad("FAT (fusefat)") })
  func useless() throws { try check("FAT (fusefat)") }

  /// Both fold names. No row of the manual is of them: none of our machines mounts one.
  @Test(
    "ext4 that folds case, and FAT",
    .enabled("this machine mounts no ext4 that folds case, and no vfat") {
      isToBeHad("ext4, folding case") || isToBeHad("FAT (vfat)")
    })
  func folding() throws {
    for kind in ["ext4, folding case", "FAT (vfat)"] where Self.isToBeHad(kind) { try check(kind) }
  }
}
