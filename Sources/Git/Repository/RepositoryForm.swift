internal import Glibc
internal import System

/// What a repository's configuration says about how it is kept (git-config(1)).
enum RepositoryForm {
  /// Whether it says nothing but what git and we begin with. Where it says more, libgit2 reads it:
  /// extensions (other hashes, other stores of references), other versions of the form, included files, reflogs that are
  /// switched off, files shared between users.
  static func isCommon(gitFolder: String) -> Bool {
    guard let content = try? Disk.read(gitFolder + "/config") else { return false }
    for line in content.split(separator: UInt8(ascii: "\n")) {
      let text = line.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        .map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
      for word in ["[extensions", "[include", "sharedrepository"] where text.starts(with: word.utf8)
      {
        return false
      }
      if text.starts(with: "repositoryformatversion".utf8),
        !text.elementsEqual("repositoryformatversion=0".utf8)
      {
        return false
      }
      if text.starts(with: "logallrefupdates".utf8),
        !text.elementsEqual("logallrefupdates=true".utf8)
      {
        return false
      }
    }
    return access(gitFolder + "/commondir", F_OK) != 0
  }
}
