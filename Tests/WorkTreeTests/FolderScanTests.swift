import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

@Suite("Looking at the folder")
struct FolderScanTests {
  /// What git says: the letter of the change and the path. Without links, which are not versioned,
  /// and without what stood where a link stands now, which is not taken for deleted.
  private func gitStatus(_ home: Fixture) throws -> Set<String> {
    let output = try run([
      "git", "-C", home.path, "status", "--porcelain", "-z", "-uall",
      "--no-renames",
    ])
    try #require(output.isSuccess)
    var found: Set<String> = []
    for line in output.text.split(separator: "\0") {
      let path = String(line.dropFirst(3))
      let isBeyondLink = TreePath(path).components.indices.contains {
        isLink(home.path + "/" + path.split(separator: "/")[...$0].joined(separator: "/"))
      }
      switch line.prefix(2) {
      case _ where isBeyondLink: break
      case "??": found.insert("A \(path)")
      case " M": found.insert("M \(path)")
      case " D": found.insert("D \(path)")
      default: Issue.record("git says \(line)")
      }
    }
    return found
  }

  private func isLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  private func ownStatus(_ home: Fixture) throws -> Set<String> {
    let letters: [ChangeKind: String] = [.added: "A", .modified: "M", .deleted: "D"]
    return Set(
      try home.notebook.status().changes.map { "\(letters[$0.kind] ?? "?") \($0.path)" })
  }

  private func shell(_ home: Fixture, _ command: String) throws {
    let result = try run(["sh", "-c", "cd '\(home.path)' && \(command)"])
    try #require(result.isSuccess, "\(command): \(result)")
  }

  // notes-merge(7), "Files that are not versioned", and design §4: what git would call new, changed
  // or gone is so here. Folders whose names are as they were are not compared one by one, so the
  // changes keep the number of names in a folder as often as not.
  @Test("whatever is done to many files, the same is found as git finds")
  func likeGit() throws {
    var random = SplitMix64.reported()
    let home = try Fixture()
    let folders = ["", "a/", "a/b/", "a.b/", "c/", "d/e/f/"]
    for number in 0..<420 {
      try home.write("\(folders[number % folders.count])n\(number).txt", "\(number)\n")
    }
    _ = try home.notebook.save()
    var fresh = 0
    func some() -> String { folders[Int.random(in: 0..<6, using: &random)] }
    func known() -> String {
      let number = Int.random(in: 0..<420, using: &random)
      return "\(folders[number % folders.count])n\(number).txt"
    }
    func new() -> String {
      fresh += 1
      return "\(some())m\(fresh).txt"
    }
    for _ in 0..<25 {
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        switch Int.random(in: 0..<9, using: &random) {
        case 0: try shell(home, "rm -rf \(known())")
        case 1: try home.write(new(), "new\n")
        case 2:  // As many names as before, and one of them another.
          try shell(home, "o=\(known()); if [ -f $o ]; then mv $o $o.moved.txt; fi")
        case 3: try shell(home, "o=\(known()); if [ -f $o ]; then echo more >> $o; fi")
        case 4: try shell(home, "o=\(known()); rm -rf $o; mkdir $o; echo x > $o/in.txt")
        case 5: try shell(home, "if [ -d c ] && [ ! -L c ]; then mv c gone; ln -s gone c; fi")
        case 6: try shell(home, "rm -rf a/b; mkdir -p a/b; echo 1 > a/b/n2.txt")
        case 7: try shell(home, "echo 'm*[02468].txt' > a/.gitignore")
        default: try shell(home, "ln -sf n0.txt \(known()).link || true")
        }
      }
      let (own, git) = (try ownStatus(home), try gitStatus(home))
      #expect(own.symmetricDifference(git).sorted() == [])
      // What is new is so, too, where the others are not looked at.
      let (workTree, index) = try (home.notebook.workTree, home.notebook.workTree.indexFile())
      let candidates = try workTree.scan(against: index).candidates
      #expect(try workTree.newFiles(besides: index) == candidates.filter(\.isNew).map(\.path))
      if Int.random(in: 0..<5, using: &random) == 0 {
        // Git would write through the link.
        try shell(home, "[ ! -L c ] || rm c; git reset -q --hard && git clean -qfdx")
        #expect(try ownStatus(home).sorted() == [])
      }
    }
  }
}
