internal import CLibgit2
internal import Glibc

/// New objects in a folder of their own, so that none is in the repository before it is on the disk:
/// an object cut short by a power cut would count as there, and its content would never be stored.
struct ObjectsAside {
  private let folder: QuarantineFolder
  private let objects: QuarantineDatabase
  private let repository: Repository

  var database: OpaquePointer { objects.handle }

  init(repository: Repository) throws {
    self.repository = repository
    folder = try QuarantineFolder(for: repository)
    objects = try QuarantineDatabase(objects: folder.objects, repository: repository)
  }

  /// Moves the objects into the repository; their content is to be on the disk by then.
  func join() throws {
    let target = repository.gitFolder + "/objects/"
    for group in QuarantineFolder.names(in: folder.objects) where group.utf8.count == 2 {
      try QuarantineFolder.makeFolder(target + group, mode: 0o777)
      for name in QuarantineFolder.names(in: folder.objects + "/" + group) {
        try QuarantineFolder.move(
          "\(folder.objects)/\(group)/\(name)", to: "\(target)\(group)/\(name)")
      }
    }
    try repository.refreshObjects()
  }
}
