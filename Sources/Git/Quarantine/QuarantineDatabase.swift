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
