import Glibc
import System
import TestSupport
import Testing

private typealias Disk = FileSystem<SystemCallError>

@Suite("Files that are whole or absent")
struct FileSystemTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func mode(_ name: String) throws -> mode_t {
    var status = stat()
    try #require(lstat(folder[name], &status) == 0)
    return status.st_mode & 0o7777
  }

  private func names() throws -> [String] { try Disk.names(in: folder.path).sorted() }

  @Test("folders are made below one that is there, and not that one")
  func makesFoldersBelow() throws {
    try Disk.makeFolders(folder["a/b"], in: folder.path)
    #expect(access(folder["a/b"], F_OK) == 0)
    for path in ["gone/x", "gone/x/y"] {
      #expect(throws: SystemCallError.system(call: "mkdir", path: folder["gone/x"], errno: ENOENT))
      {
        try Disk.makeFolders(folder[path], in: folder["gone"])
      }
    }
    #expect(try names() == ["a"])
  }

  // MARK: Replacing

  @Test("a file is replaced by another, with its own mode", arguments: [true, false])
  func replaces(isShared: Bool) throws {
    try folder.write("old and longer", to: "file")
    try Disk.replace(folder["file"], with: Array("new".utf8), isShared: isShared)
    #expect(try folder.text("file") == "new")
    #expect(try mode("file") == 0o600)
    try Disk.replace(folder["other"], with: [], mode: 0o400, isShared: isShared, waits: false)
    #expect(try mode("other") == 0o400)
    #expect(try names() == ["file", "other"])
  }

  @Test("what a killed process left is overwritten, and not followed where it is a link")
  func overwritesLeftovers() throws {
    try folder.write("half", to: "file.new")
    try Disk.replace(folder["file"], with: Array("1".utf8))
    #expect(try folder.text("file") == "1")
    #expect(try mode("file") == 0o600)
    try folder.write("mine", to: "victim")
    try #require(symlink("victim", folder["file.new"]) == 0)
    try Disk.replace(folder["file"], with: Array("2".utf8))
    #expect(try folder.text("file") == "2")
    #expect(try folder.text("victim") == "mine")
    #expect(try names() == ["file", "victim"])
  }

  @Test("a file that cannot be replaced leaves nothing beside it", arguments: [true, false])
  func leavesNothing(isShared: Bool) throws {
    try folder.write("1", to: "file/inside")
    #expect(throws: SystemCallError.system(call: "rename", path: folder["file"], errno: EISDIR)) {
      try Disk.replace(folder["file"], with: [1], isShared: isShared)
    }
    #expect(try names() == ["file"])
  }

  @Test("of several that replace a file at once, each reader meets one's bytes")
  func replacesTogether() throws {
    let path = folder["file"]
    let contents = (0..<4).map { [UInt8](repeating: UInt8($0), count: 100_000) }
    try Disk.replace(path, with: contents[0])
    let ends = EventLog<SystemCallError?>()
    for content in contents {
      startThread {
        do throws(SystemCallError) {
          for _ in 0..<25 { try Disk.replace(path, with: content, isShared: true, waits: false) }
          ends.append(nil)
        } catch {
          ends.append(error)
        }
      }
    }
    repeat {
      #expect(contents.contains(try Disk.read(path)))
    } while ends.all.count < contents.count
    #expect(ends.all == contents.map { _ in nil })
    #expect(try names() == ["file"])
  }

  // MARK: Making

  @Test("a new file takes nobody's place")
  func makesNew() throws {
    try Disk.create(folder["new"], Array("1".utf8), mode: 0o640)
    #expect(try folder.text("new") == "1")
    try #require(symlink("nowhere", folder["link"]) == 0)
    try makeFolder(folder["folder"])
    for name in ["new", "link", "folder"] {
      #expect(throws: SystemCallError.system(call: "open", path: folder[name], errno: EEXIST)) {
        try Disk.create(folder[name], Array("2".utf8), mode: 0o640)
      }
    }
    #expect(try names() == ["folder", "link", "new"])
    #expect(try folder.text("new") == "1")
  }

  @Test("a secret is its owner's alone, and is made once")
  func makesSecret() throws {
    #expect(try Disk.createSecret(folder["key"], Array("1".utf8)))
    #expect(try mode("key") == 0o600)
    #expect(try !Disk.createSecret(folder["key"], Array("2".utf8)))
    #expect(try folder.text("key") == "1")
    try #require(symlink("nowhere", folder["link"]) == 0)
    #expect(try !Disk.createSecret(folder["link"], Array("2".utf8)))
    #expect(try names() == ["key", "link"])
  }

  @Test("what does not fit the disk is an error")
  func fullDisk() throws {
    let file = try Disk.open("/dev/full", O_WRONLY)
    defer { close(file) }
    #expect(throws: SystemCallError.system(call: "write", path: "full", errno: ENOSPC)) {
      try Disk.write([1, 2, 3], to: file, path: "full")
    }
    try Disk.write([], to: file, path: "full")
  }

  @Test("all bytes are written where each call takes only some")
  func writesAll() throws {
    var ends: [Int32] = [0, 0]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let (from, to) = (ends[0], ends[1])
    let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    let failures = EventLog<SystemCallError>()
    startThread {
      do throws(SystemCallError) {
        try Disk.write(bytes, to: to, path: "socket")
      } catch {
        failures.append(error)
      }
      close(to)
    }
    var read: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1000)
    while case let count = Glibc.read(from, &buffer, buffer.count), count > 0 {
      read += buffer[..<count]
    }
    close(from)
    #expect(read == bytes)
    #expect(failures.all == [])
  }

  // MARK: Reading

  @Test("a file is read up to its limit", arguments: [0, 1, 511, 512, 513, 70_000])
  func reads(size: Int) throws {
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
    try folder.write(bytes, to: "file")
    #expect(try Disk.read(folder["file"]) == bytes)
    #expect(try Disk.readIfThere(folder["file"], limit: size) == bytes)
    guard size > 0 else { return }
    #expect(throws: SystemCallError.system(call: "read", path: folder["file"], errno: EFBIG)) {
      try Disk.read(folder["file"], limit: size - 1)
    }
  }

  @Test("a file that does not tell its size is read, too")
  func readsUnsized() throws {
    #expect(try Disk.read("/proc/self/maps").count > 512)
  }

  @Test("what is not there is nothing, or an error")
  func readsMissing() throws {
    try folder.write("1", to: "file")
    for (name, code) in [("none", ENOENT), ("file/none", ENOTDIR)] {
      #expect(try Disk.readIfThere(folder[name]) == nil)
      #expect(throws: SystemCallError.system(call: "open", path: folder[name], errno: code)) {
        try Disk.read(folder[name])
      }
    }
    try #require(symlink("loop", folder["loop"]) == 0)
    #expect(throws: SystemCallError.system(call: "open", path: folder["loop"], errno: ELOOP)) {
      try Disk.readIfThere(folder["loop"])
    }
  }

  @Test("nothing but plain files is read, and nobody waits for a writer")
  func readsPlainFiles() throws {
    try folder.write("1", to: "file")
    try #require(symlink("file", folder["link"]) == 0)
    #expect(try Disk.read(folder["link"]) == Array("1".utf8))
    #expect(throws: SystemCallError.system(call: "open", path: folder["link"], errno: ELOOP)) {
      try Disk.read(folder["link"], followsLink: false)
    }
    try #require(mkfifo(folder["fifo"], 0o600) == 0)
    for (path, code) in [(folder["fifo"], EINVAL), (folder.path, EISDIR), ("/dev/zero", EINVAL)] {
      #expect(throws: SystemCallError.system(call: "read", path: path, errno: code)) {
        try Disk.read(path)
      }
    }
  }

  // MARK: Folders

  @Test("a folder is made with those above it")
  func makesFolders() throws {
    try Disk.makeFolders(folder["a/b/c"], mode: 0o700)
    #expect(try mode("a") == 0o700)
    #expect(try mode("a/b/c") == 0o700)
    try Disk.makeFolders(folder["a/b"], mode: 0o755)
    #expect(try mode("a/b") == 0o700)
    try folder.write("1", to: "file")
    #expect(throws: SystemCallError.system(call: "mkdir", path: folder["file/b"], errno: ENOTDIR)) {
      try Disk.makeFolders(folder["file/b"])
    }
    #expect(throws: SystemCallError.system(call: "mkdir", path: folder["x/y"], errno: ENOENT)) {
      try Disk.makeFolder(folder["x/y"], mode: 0o700)
    }
    #expect(throws: SystemCallError.system(call: "mkdir", path: "", errno: ENOENT)) {
      try Disk.makeFolders("")
    }
  }

  @Test("the folder of a path")
  func parents() {
    let expected = ["/": "/", "/a": "/", "/a/b": "/a", "a": ".", "a/b": "a", ".": ".", "": "."]
    for (path, parent) in expected { #expect(Disk.parent(of: path) == parent, "\(path)") }
  }

  @Test("names, and what is no folder")
  func lists() throws {
    #expect(try names() == [])
    for name in ["a", "...", "ü"] { try folder.write("", to: name) }
    #expect(try names() == ["...", "a", "ü"])
    #expect(throws: SystemCallError.system(call: "opendir", path: folder["a"], errno: ENOTDIR)) {
      try Disk.names(in: folder["a"])
    }
    #expect(Disk.namesIfAny(in: folder["a"]) == [])
  }

  @Test("a tree goes with everything in it, and nothing that its links name")
  func removesTree() throws {
    for name in ["tree/a/b/c", "tree/d", "kept/e"] { try folder.write("", to: name) }
    try #require(symlink("../kept", folder["tree/link"]) == 0)
    try #require(symlink("kept", folder["link"]) == 0)
    Disk.removeTree(folder["tree"])
    Disk.removeTree(folder["link"])
    Disk.removeTree(folder["none"])
    #expect(try names() == ["kept"])
    #expect(try folder.text("kept/e") == "")
    try Disk.remove(folder["kept/e"])
    try Disk.remove(folder["kept/e"])
    #expect(throws: SystemCallError.self) { try Disk.remove(folder["kept"]) }
  }

  @Test("what is there can be waited for")
  func syncs() throws {
    try folder.write("1", to: "file")
    try Disk.sync(file: folder["file"])
    try Disk.sync(folder: folder.path)
    try Disk.syncFileSystem(of: folder.path)
    #expect(throws: SystemCallError.system(call: "open", path: folder["file"], errno: ENOTDIR)) {
      try Disk.sync(folder: folder["file"])
    }
  }
}
