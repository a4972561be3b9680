internal import CLibgit2

/// The objects of a quarantine together with those of the repository it is for.
final class QuarantineDatabase {
  private let library: Libgit2
  let handle: OpaquePointer

  /// Opens the objects in the folder `objects`, and as an alternate those of `repository`.
  init(objects: String, repository: Repository) throws {
    library = try Libgit2.shared.get()
    var opened: OpaquePointer?
    let status = library.api.git_odb_open(&opened, objects)
    guard status == 0, let opened else { throw library.error("git_odb_open", status) }
    handle = opened
    try library.check(
      "git_odb_add_disk_alternate",
      library.api.git_odb_add_disk_alternate(handle, repository.gitFolder + "/objects"))
  }

  deinit { library.api.git_odb_free(handle) }

  /// An object's kind and size, without unpacking it.
  func header(of id: ObjectID) throws -> (kind: ObjectKind, size: Int) {
    var oid = git_oid(id)
    var size = 0
    var type = GIT_OBJECT_INVALID
    try library.check(
      "git_odb_read_header", library.api.git_odb_read_header(&size, &type, handle, &oid))
    guard let kind = ObjectKind(rawValue: type.rawValue) else {
      throw PackError.refused(id, "an unknown kind of object")
    }
    return (kind, size)
  }

  /// An object's content; its size was checked before.
  func content(of id: ObjectID) throws -> [UInt8] {
    if id == .emptyTree { return [] }
    var oid = git_oid(id)
    var object: OpaquePointer?
    try library.check("git_odb_read", library.api.git_odb_read(&object, handle, &oid))
    defer { library.api.git_odb_object_free(object) }
    return Array(
      UnsafeRawBufferPointer(
        start: library.api.git_odb_object_data(object),
        count: library.api.git_odb_object_size(object)))
  }
}

/// Indexes a pack that arrives in pieces into a folder.
final class QuarantineIndexer {
  private let library: Libgit2
  private let handle: OpaquePointer
  private var progress = git_indexer_progress()

  init(folder: String, database: QuarantineDatabase) throws {
    library = try Libgit2.shared.get()
    var options = git_indexer_options()
    try library.check(
      "git_indexer_options_init",
      library.api.git_indexer_options_init(&options, UInt32(GIT_INDEXER_OPTIONS_VERSION)))
    var made: OpaquePointer?
    let status = library.api.git_indexer_new(&made, folder, 0o444, database.handle, &options)
    guard status == 0, let made else { throw library.error("git_indexer_new", status) }
    handle = made
  }

  deinit { library.api.git_indexer_free(handle) }

  func append(_ bytes: UnsafeRawBufferPointer) throws {
    try library.check(
      "git_indexer_append",
      library.api.git_indexer_append(handle, bytes.baseAddress, bytes.count, &progress))
  }

  /// Resolves the deltas and writes the index; returns the pack's name.
  func commit() throws -> String {
    try library.check(
      "git_indexer_commit", library.api.git_indexer_commit(handle, &progress))
    guard let name = library.api.git_indexer_name(handle) else {
      throw PackError.malformed("it has no name")
    }
    return "pack-" + String(cString: name)
  }
}
