internal import Glibc

/// The mapped code of this process and its libraries.
public enum ProgramPages {
  /// Unmaps the code pages of an idle service. The kernel keeps them in its cache, and maps each again when it
  /// is next executed. Does nothing if the kernel does not list the mappings.
  public static func releasePages() {
    guard let maps = FileSystem<SystemCallError>.contentIfAny("/proc/self/maps") else { return }
    // `START-END PERMISSIONS OFFSET DEVICE INODE PATH`: proc_pid_maps(5).
    for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") {
      let fields = line.split(separator: " ", maxSplits: 5)
      // Only pages without write permission are unmapped: their content is the same as the file's.
      guard fields.count == 6, fields[1] == "r-xp", fields[5].contains("/") else { continue }
      let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      guard ends.count == 2, let start = UnsafeMutableRawPointer(bitPattern: ends[0]) else {
        continue
      }
      madvise(start, Int(ends[1] - ends[0]), MADV_DONTNEED)
    }
  }
}
