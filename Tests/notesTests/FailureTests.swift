import Channel
import Discovery
import Git
import Membership
import Notebook
import Testing

@testable import notes

/// Every error of every module, as its user is told: message, hint and exit code.
@Suite struct FailureTests {
  private let id = ObjectID.emptyTree

  private var notebookErrors: [any Error] {
    [
      NotebookError.notANotebook(folder: "."), NotebookError.notANotebook(folder: "/tmp/x"),
      NotebookError.alreadyANotebook(folder: "/tmp/x"),
      NotebookError.linkedWorkTree(folder: "/tmp/x"), NotebookError.newerFormat("2"),
      NotebookError.brokenState(path: "/x/notebook", "a line is missing"),
      NotebookError.busy(folder: "/x"),
      NotebookError.file(call: "open", path: "/x\u{1B}", errno: 13),
      NotebookError.obstructed(path: "A.txt"), NotebookError.noSuchNote("A\u{202E}"),
      NotebookError.ambiguousNote("o", candidates: ["one.txt", "two.txt"]),
      NotebookError.ambiguousNote(
        "o", candidates: (1...8).map { TreePath("o\($0).txt") }),
      NotebookError.noSuchVersion("x"), NotebookError.tooFewVersions("~9", count: 1),
      NotebookError.tooFewVersions("~0", count: 0),
      NotebookError.noVersionBy("monday", first: 1_700_000_000),
      NotebookError.ambiguousVersion("4b82"),
      NotebookError.notInVersion("A.txt", id), NotebookError.notText("photo.png"),
      NotebookError.massDeletion(deleted: 9, of: 10),
      NotebookError.invalidExpression("a[", reason: "Unmatched [, [^"),
      NotebookError.unfitTitle("a\u{1B}b", "a control character in a name"),
      NotebookError.unfitTitle(
        String(repeating: "long ", count: 60), "a name longer than 255 bytes"),
      NotebookError.nameTaken("A.txt", by: "A.txt", isFolder: false),
      NotebookError.nameTaken("A.txt", by: "A.txt", isFolder: true),
      NotebookError.nameTaken("A.txt", by: "A.md", isFolder: false),
      NotebookError.nameTaken("A.txt", by: "a.txt", isFolder: false),
      NotebookError.nameTaken("A.txt/b.txt", by: "A.txt", isFolder: false),
      NotebookError.intoItself("trips"), NotebookError.nothingToUndo(available: 0),
      NotebookError.nothingToUndo(available: 2), NotebookError.nothingToRedo,
      NotebookError.noSuchOperation("4b82"), NotebookError.undoConflict(["A.txt", "B.txt"]),
      GitError.libraryMissing("no such file"), GitError.notARepository("/x"),
      GitError.foreignOwner(folder: "/x"), GitError.missing(id),
      GitError.wrongKind(id, expected: .commit), GitError.malformed(id, "no tree"),
      GitError.referenceMoved("refs/heads/main"), GitError.ambiguousPrefix("4b82"),
      GitError.library(call: "git_x", code: -1, message: "it broke"),
      GitError.system(call: "open", path: "/x", errno: 28), MergeError.noHeads,
      PackError.malformed("cut short"),
    ]
  }

  private var membershipErrors: [any Error] {
    [
      MembershipError.libraryMissing("no such file"),
      MembershipError.library(call: "EVP_x", reasons: ["a", "b"]),
      MembershipError.system(call: "open", path: "/x", code: 13),
      MembershipError.deviceKeyUnusable(path: "/k", defect: .openToOthers(mode: 0o644)),
      MembershipError.deviceKeyUnusable(path: "/k", defect: .notAFile),
      MembershipError.deviceKeyUnusable(path: "/k", defect: .foreignOwner(1)),
      MembershipError.deviceKeyUnusable(path: "/k", defect: .notAKey),
      MembershipError.nameRefused(.empty), MembershipError.nameRefused(.tooLong(65)),
      MembershipError.nameRefused(.forbidden(0x202E)),
      MembershipError.nameRefused(.surroundingSpace),
      MembershipError.nameRefused(.leadingPunctuation),
      MembershipError.certificateRefused(.signature), MembershipError.requestRefused(.encoding),
      MembershipError.notAMember(device: "ABC"),
      MembershipError.removed(device: "ABC", name: "Ben's phone"),
      MembershipError.notAnAdmin(device: "ABC"), MembershipError.founderIsPermanent,
      MembershipError.anotherAdminNeeded,
      MembershipError.limitExceeded(what: "certificates", limit: 10_000),
      MembershipError.membershipMissing(folder: "/x"),
      MembershipError.membershipExists(notebookID: "abc"),
      MembershipError.formatUnsupported(folder: "/x", found: "2"),
      MembershipError.fileDamaged(path: "/x"),
    ]
  }

  private func told(_ errors: [any Error]) -> String {
    errors.map { error in
      let failure = Failure(describing: error)
      return "[\(failure.exit.rawValue)] \(failure.kind)\n" + failure.text(on: .plain)
    }.joined(separator: "\n")
  }

  @Test func `Errors of notebooks and repositories`() throws {
    try Golden.expect(told(notebookErrors), matches: "errors-notebook.txt")
  }

  @Test func `Errors of keys and certificates`() throws {
    try Golden.expect(told(membershipErrors), matches: "errors-membership.txt")
  }

  @Test func `Errors are in lower case, on one line, without a full stop`() {
    for error in notebookErrors + membershipErrors {
      let failure = Failure(describing: error)
      for text in [failure.message, failure.hint].compactMap(\.self) {
        #expect(!text.contains(where: \.isNewline) && !text.hasSuffix("."))
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
        let first = text.prefix { !$0.isWhitespace }
        // Names of programs and paths may begin otherwise.
        #expect(
          text.first?.isUppercase != true
            || ["OpenSSL", "A.txt", "Ben's", "EVP_x"].contains(String(first)), "\(text)")
      }
    }
  }

  @Test func `A failure for programs is one object`() {
    #expect(
      String(decoding: Failure.usage("bad").json.encoded, as: UTF8.self)
        == #"{"type":"error","code":64,"kind":"usage","message":"bad","hint":null}"#)
  }
}
