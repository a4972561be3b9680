internal import CLinux
internal import Git
internal import Glibc
internal import System

/// The properties of a file besides its text: permissions, owner and group, extended attributes of the
/// desktop (user.*, xattr(7)) and access control lists (acl(5)). A note keeps all of these when it is
/// replaced.
enum FileTraits {
  /// Gives a file the traits of another, as far as this user may.
  ///
  /// - Parameter isExecutable: whether everyone who may read the file may run it.
  static func copy(from source: Int32, to target: Int32, isExecutable: Bool) {
    var (former, new) = (stat(), stat())
    guard Counted.fstat(source, &former) == 0, Counted.fstat(target, &new) == 0 else { return }
    // Only root can change the owner; the group may be any that the user is in.
    if former.st_uid != new.st_uid { _ = fchown(target, former.st_uid, uid_t.max) }
    if former.st_gid != new.st_gid { _ = fchown(target, uid_t.max, former.st_gid) }
    for name in attributes(of: source) { copy(attribute: name, from: source, to: target) }
    // Set the permissions last: setting an access control list changes the group's bits, which are its mask.
    fchmod(target, permissions(former.st_mode, isExecutable: isExecutable))
  }

  /// A file's permissions without the set-user-ID and set-group-ID bits.
  static func permissions(_ mode: mode_t, isExecutable: Bool) -> mode_t {
    mode & 0o666 | (isExecutable ? (mode & 0o444) >> 2 : 0)
  }

  private static func attributes(of file: Int32) -> [[CChar]] {
    let size = notes_list_attributes(file, nil, 0)
    guard size > 0 else { return [] }
    var names = [CChar](repeating: 0, count: size)
    let count = notes_list_attributes(file, &names, UInt(size))
    guard count > 0 else { return [] }
    return names.prefix(count).split(separator: 0).map { Array($0) + [0] }.filter { name in
      let text = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
      return text.hasPrefix("user.") || text == "system.posix_acl_access"
    }
  }

  private static func copy(attribute name: [CChar], from source: Int32, to target: Int32) {
    let size = notes_get_attribute(source, name, nil, 0)
    guard size >= 0 else { return }
    var value = [UInt8](repeating: 0, count: max(size, 1))
    let count = notes_get_attribute(source, name, &value, UInt(size))
    if count >= 0 { _ = notes_set_attribute(target, name, value, UInt(count)) }
  }
}

extension Checkout {
  /// Gives a step's staged file the traits of the file in the folder.
  func keepTraits(of step: CheckoutSteps.Step) {
    // A file in a folder that cannot be opened has no traits to keep.
    _ = try? folder.withParent(of: step.path, create: false) { parent, name in
      let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
      let source = Counted.openat(parent, name, flags)
      guard source >= 0 else { return }
      defer { close(source) }
      copyTraits(from: source, to: step)
    }
  }

  /// Gives the traits of a renamed file to its new file: the same version removes a file with the same text or
  /// name.
  ///
  /// - Returns: whether there is such a file.
  mutating func takeOverTraits(to step: CheckoutSteps.Step) -> Bool {
    guard let new = step.new, let former = goneFiles.file(renamedTo: step.path, new.id),
      // If the former file cannot be opened, the new one keeps the traits of a new file.
      let source = try? openStaged(former)
    else { return false }
    defer { close(source) }
    var status = stat()
    if Counted.fstat(source, &status) == 0, status.st_nlink > 1 { parted.insert(step.path) }
    copyTraits(from: source, to: step)
    return true
  }

  /// Gives a new file, and the folders made for it, permissions as strict as those of the file that was removed
  /// here, and the same group.
  func keepPrivate(_ step: CheckoutSteps.Step) throws {
    if privateFiles.isEmpty { return }
    for folder in step.path.ancestors.reversed() {
      guard let access = privateFiles[folder] else { continue }
      _ = try self.folder.withParent(of: folder, create: true) { parent, name in
        guard mkdirat(parent, name, access.mode & 0o777 | S_IRWXU) == 0 else { return }
        // Without the group, the permissions would apply to another group.
        let hasGroup =
          access.group.map { fchownat(parent, name, .max, $0, AT_SYMLINK_NOFOLLOW) == 0 } ?? true
        if hasGroup { _ = fchmodat(parent, name, access.mode | S_IRWXU, 0) }
      }
    }
    guard let access = privateFiles[step.path] else { return }
    var status = stat()
    let file = path(of: step)
    guard Counted.lstat(file, &status) == 0 else { return }
    if let group = access.group, lchown(file, .max, group) == 0 {
      let isExecutable = status.st_mode & 0o111 != 0
      chmod(file, FileTraits.permissions(access.mode, isExecutable: isExecutable))
    } else {
      chmod(file, status.st_mode & access.mode)
    }
  }

  private func copyTraits(from source: Int32, to step: CheckoutSteps.Step) {
    // If a staged file cannot be opened, the step that places it reports that.
    guard let target = try? openStaged(step) else { return }
    defer { close(target) }
    let permissions = step.new.map { workTree.fileModes.permissions(of: $0.mode) } ?? 0
    FileTraits.copy(from: source, to: target, isExecutable: permissions & 0o111 != 0)
  }
}

/// The files that a checkout removes. Deletions are its first steps, and the removed files stay in the staging
/// folder until the end.
final class GoneFiles {
  private let steps: CheckoutSteps.SubSequence
  private lazy var byText = Dictionary(grouping: steps) { $0.old?.id ?? .zero }
  private lazy var byName = Dictionary(grouping: steps, by: \.path.name)

  init(of plan: CheckoutPlan) { steps = plan.steps.prefix { $0.new == nil } }

  /// The file that was renamed to another path: it has the same text, or the same name in another
  /// folder.
  func file(renamedTo path: TreePath, _ text: ObjectID) -> CheckoutSteps.Step? {
    if steps.isEmpty { return nil }
    let name = path.name
    let same = byText[text] ?? []
    return same.first { $0.path.name == name } ?? same.first ?? byName[name]?.first
  }
}
