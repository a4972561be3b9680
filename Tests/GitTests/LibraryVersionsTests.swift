import CLibgit2
import Glibc
import TestSupport
import Testing

@testable import Git

/// A program that was built with the headers of one libgit2 calls the library of another: each that is
/// on this system has the layouts and numbers of Sources/CLibgit2/shim.h.
@Suite struct LibraryVersionsTests {
  private static let present = Set(GitLibrary.fileNames).filter { dlopen($0, RTLD_NOW) != nil }

  @Test(arguments: present.sorted()) func `A library answers as its headers say`(
    fileName: String
  ) throws {
    let table = UnsafeMutablePointer<libgit2>.allocate(capacity: 1)
    defer { table.deallocate() }
    #expect(Libgit2.load([fileName], into: table) == nil)
    let api = table.pointee
    #expect(api.git_libgit2_init() > 0)
    var version = (Int32(0), Int32(0), Int32(0))
    _ = api.git_libgit2_version(&version.0, &version.1, &version.2)
    #expect(fileName == "libgit2.so.\(version.0).\(version.1)")
    // Options are named by number.
    #expect(libgit2_set_fsync(table, 1) == 0 && libgit2_set_owner_validation(table, 0) == 0)
    #expect(libgit2_set_strict_object_creation(table, 0) == 0)
    #expect(libgit2_set_search_path(table, Int32(GIT_CONFIG_LEVEL_GLOBAL.rawValue), "") == 0)

    let folder = try TemporaryFolder()
    let environment = try TestEnvironment.isolated(home: folder["home"])
    try folder.write("milk\n", to: "notes/Shopping.txt")
    for words in [["init", "--quiet"], ["add", "Shopping.txt"]] {
      try #require(
        run(["git"] + words, in: folder["notes"], environment: environment).isSuccess)
    }
    var repository: OpaquePointer?
    try #require(
      api.git_repository_open_ext(
        &repository, folder["notes"], GIT_REPOSITORY_OPEN_NO_SEARCH.rawValue, nil) == 0)
    defer { api.git_repository_free(repository) }
    var index: OpaquePointer?
    try #require(api.git_repository_index(&index, repository) == 0)
    defer { api.git_index_free(index) }
    let entry = try #require(api.git_index_get_byindex(index, 0)).pointee
    #expect(String(cString: entry.path) == "Shopping.txt" && entry.file_size == 5)
    #expect(entry.mode == 0o100644 && entry.mtime.seconds > 1_700_000_000)
    #expect(entry.id.objectID.hex == "7c95f9a9836102046c3f2e33b88e3bf498a00ea5")

    var settings: OpaquePointer?
    try #require(api.git_repository_config_snapshot(&settings, repository) == 0)
    defer { api.git_config_free(settings) }
    var value: UnsafePointer<CChar>?
    #expect(
      api.git_config_get_string(&value, settings, "notes.nothing") == GIT_ENOTFOUND.rawValue)
    let problem = try #require(api.git_error_last()).pointee
    #expect(problem.message.map { String(cString: $0) }?.contains("notes.nothing") == true)
  }

  @Test func `Without any of them the names of all are told`() throws {
    let table = UnsafeMutablePointer<libgit2>.allocate(capacity: 1)
    defer { table.deallocate() }
    let names = ["libgit2.so.0.1", "libgit2.so.0.2"]
    #expect(
      Libgit2.load(names, into: table)
        == "libgit2.so.0.1, libgit2.so.0.2: none of them is installed")
    // One that is there, and is no library, is the one to tell of.
    let folder = try TemporaryFolder()
    try folder.write("no library", to: "libgit2.so.1.9")
    let told = Libgit2.load(["libgit2.so.0.1", folder["libgit2.so.1.9"]], into: table)
    #expect(told?.hasPrefix(folder["libgit2.so.1.9"]) == true, "\(told ?? "")")
  }

  @Test func `All versions from 1.5 to 1.9 are tried, the one built with first`() {
    #expect(GitLibrary.fileNames.first == "libgit2.so." + LIBGIT2_SOVERSION)
    #expect(
      Set(GitLibrary.fileNames).sorted() == (5...9).map { "libgit2.so.1.\($0)" })
  }
}
