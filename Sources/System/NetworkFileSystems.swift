internal import CLinux

/// Whether other machines may write into a folder without the kernel noticing here: inotify(7),
/// "Limitations and caveats". True if the file system is unknown.
public func isOnNetwork(_ folder: String) -> Bool {
  let number = notes_file_system(folder)
  return number < 0 || networkFileSystems.contains(number)
}

/// The numbers in statfs(2) for NFS, SMB (three), 9P, Ceph, AFS, Coda and VirtualBox's shared folders, and for
/// FUSE, which any of them may use.
private let networkFileSystems = [
  0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997, 0x00C3_6400, 0x5346_414F, 0x7375_7245,
  0x786F_4256, 0x6573_5546,
]
