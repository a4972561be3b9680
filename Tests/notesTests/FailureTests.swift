import Channel
import Discovery
import Exchange
import Git
import History
import Membership
import Merge
import Notebook
import State
import TestSupport
import Testing
import Watch
import WorkTree

@testable import notes

/// Every error of every module, as its user is told: message, hint and exit code.
@Suite struct FailureTests {
  private let id = ObjectID.emptyTree

  private var notebookErrors: [any Error] {
    [
      NotebookError.notANotebook(folder: "."), NotebookError.notANotebook(folder: "/tmp/x"),
      NotebookError.alreadyANotebook(folder: "/tmp/x"),
      NotebookError.linkedWorkTree(folder: "/tmp/x"), WorkTreeError.newerFormat("2"),
      StateDamage("/x/notebook", "a line is missing"),
      NotebookError.busy(folder: "/x"), NotebookError.gitOperation(.cherryPick),
      WorkTreeError.file(call: "open", path: "/x\u{1B}", errno: 13),
      WorkTreeError.obstructed(path: "A.txt"), WorkTreeError.noSuchNote("A\u{202E}"),
      HistoryError.ambiguousNote("o", candidates: ["one.txt", "two.txt"]),
      HistoryError.ambiguousNote(
        "o", candidates: (1...8).map { TreePath("o\($0).txt") }),
      HistoryError.noSuchVersion("x"), HistoryError.tooFewVersions("~9", count: 1),
      HistoryError.tooFewVersions("~0", count: 0),
      HistoryError.noVersionBy("monday", first: 1_700_000_000),
      HistoryError.ambiguousVersion("4b82"),
      HistoryError.notInVersion("A.txt", id), HistoryError.notText("photo.png"),
      HistoryError.tooManyLines("A.txt", limit: 131_072),
      NotebookError.massDeletion(deleted: 9, of: 10),
      HistoryError.invalidExpression("a[", reason: "unmatched [, [^"),
      NotebookError.unfitTitle(
        "a\u{1B}b", "a name that contains a line break or control character"),
      NotebookError.unfitTitle(
        String(repeating: "long ", count: 60), "a name longer than 255 bytes"),
      NotebookError.nameTaken("A.txt", by: "A.txt", isFolder: false),
      NotebookError.nameTaken("A.txt", by: "A.txt", isFolder: true),
      NotebookError.nameTaken("A.txt", by: "A.md", isFolder: false),
      NotebookError.nameTaken("A.txt", by: "a.txt", isFolder: false),
      NotebookError.nameTaken("A.txt/b.txt", by: "A.txt", isFolder: false),
      WorkTreeError.notPlain("A.txt", isLink: true), WorkTreeError.notPlain("A.txt", isLink: false),
      NotebookError.intoItself("trips"), NotebookError.nothingToUndo(available: 0),
      NotebookError.nothingToUndo(available: 2), NotebookError.nothingToRedo(available: 0),
      NotebookError.nothingToRedo(available: 2),
      NotebookError.wasPruned(id), NotebookError.wasForgotten(id), NotebookError.forgotOtherwise,
      NotebookError.mergeTooLarge("files", limit: 1000),
      NotebookError.largeVersion(bytes: 2 << 30, free: 1 << 30),
      NotebookError.noSuchOperation("4b82"), NotebookError.undoConflict(["A.txt", "B.txt"]),
      NotebookError.unmerged(["A.txt"]), NotebookError.fileTooLarge("A.txt", bytes: 70 << 20),
      NotebookError.unfitPath("a/b.txt", "a path longer than 4096 bytes"),
      NotebookError.converted("A.txt", by: .filter("git-crypt")),
      GitError.irreplaceable("annotated tags"),
      GitError.incomplete(.shallow, remote: "origin"),
      GitError.incomplete(.partial, remote: "origin"),
      GitError.incomplete(.alternates, remote: "origin"),
      GitError.incomplete(.grafts, remote: "origin"),
      GitError.incomplete(.replacements, remote: "origin"),
      GitError.objectTooLarge(.blob, bytes: 70 << 20, limit: 64 << 20),
      GitError.libraryMissing("libgit2", reason: "no such file"), GitError.notARepository("/x"),
      GitError.foreignOwner(folder: "/x"),
      GitError.unreadableConfiguration("/x/config"), GitError.missing(id),
      GitError.unsupported("Git LFS (filter=lfs in .gitattributes)"),
      GitError.unsupportedExtension("objectformat"), GitError.unsupportedExtension("refstorage"),
      GitError.unsupportedExtension("worktreeconfig"),
      GitError.unsupportedExtension("relativeworktrees"),
      GitError.unsupportedExtension("preciousobjects"), GitError.sharedRepository,
      GitError.unfit(version: id, name: "link.txt", why: "a symbolic link"),
      GitError.wrongKind(id, expected: .commit), GitError.malformed(id, "no tree"),
      GitError.brokenReference("HEAD"),
      GitError.brokenReference("refs/heads/main"), GitError.referenceMoved("refs/heads/main"),
      GitError.locked("refs/heads/main.lock"), GitError.ambiguousPrefix("4b82"),
      GitError.library(call: "git_x", code: -1, message: "it broke"),
      GitError.tooLarge(tree: id, what: "files and folders in a version", limit: 2_000_000),
      GitError.system(call: "open", path: "/x", errno: 28), MergeError.noHeads,
      MergeError.noConflict, MergeError.noSide(name: "Eve"),
      PackError.libraryMissing("no such file"), PackError.compression(code: -5),
      PackError.finished, PackError.malformed("cut short"),
      PackError.overLimit("a note", limit: 1024), PackError.costly("bytes unpacked", limit: 1024),
      PackError.diskNearlyFull(room: 10_459_136),
      PackError.refused(id, "a tree with a name twice"),
      PackError.incomplete(id, needs: id), PackError.baseMissing(id), PackError.headMissing(id),
    ]
  }

  private var membershipErrors: [any Error] {
    [
      MembershipError.libraryMissing("no such file"),
      MembershipError.library(call: "EVP_x", reasons: ["a", "b"]),
      MembershipError.system(call: "open", path: "/x", code: 13),
      MembershipError.deviceKeyUnusable(path: "/k", defect: .openToOthers(mode: 0o644)),
      MembershipError.deviceKeyUnusable(path: "/k", defect: .notAFile),
      MembershipError.deviceKeyUnusable(path: "/k", defect: .isLink),
      MembershipError.deviceKeyUnusable(path: "/k", defect: .foreignOwner(1)),
      MembershipError.deviceKeyUnusable(path: "/k", defect: .notAKey),
      MembershipError.deviceKeyUnusable(path: "/k", defect: .encrypted),
      MembershipError.nameRefused(.empty), MembershipError.nameRefused(.tooLong(65)),
      MembershipError.nameRefused(.forbidden(0x202E)),
      MembershipError.nameRefused(.surroundingSpace),
      MembershipError.nameRefused(.leadingPunctuation),
      MembershipError.certificateRefused(.signature), MembershipError.requestRefused(.encoding),
      MembershipError.notAMember(device: "ABC"),
      MembershipError.removed(device: "ABC", name: "Ben's phone"),
      MembershipError.notAnAdmin(device: "ABC"), MembershipError.founderIsPermanent,
      MembershipError.notTheFounder, MembershipError.heirRefused(name: "Ben's phone"),
      MembershipError.claimRefused(.wasFounder), MembershipError.claimRefused(.notByFounder),
      MembershipError.claimRefused(.wasStopped), MembershipError.claimRefused(.mayNotStop),
      MembershipError.anotherAdminNeeded,
      MembershipError.ownCertifier,
      MembershipError.blocked(device: "ABC", name: "Ben's phone"),
      MembershipError.passphraseRefused,
      MembershipError.limitExceeded(what: "certificates", limit: 10_000),
      MembershipError.membershipMissing(folder: "/x"),
      MembershipError.membershipExists(notebookID: "abc"),
      MembershipError.formatUnsupported(folder: "/x", found: "2"),
      MembershipError.begunAnew(notebookID: "abc"),
      MembershipError.fileDamaged(path: "/x"),
    ]
  }

  private var networkErrors: [any Error] {
    let address = Address(host: "192.0.2.7", port: 4242)
    return [
      ChannelError.libraryMissing("no such file"), ChannelError.invalidAddress("nowhere"),
      ChannelError.hostUnknown(host: "tablet", reason: "Name or service not known"),
      ChannelError.unreachable(address, code: 113), ChannelError.connectionRefused(address),
      ChannelError.portInUse(address), ChannelError.addressUnavailable(address, code: 99),
      ChannelError.notTLS, ChannelError.tlsVersionUnsupported, ChannelError.protocolUnsupported,
      ChannelError.notebookUnknown, ChannelError.invitationUnknown, ChannelError.wrongCode,
      ChannelError.certificateRefused(.stranger), ChannelError.certificateRefused(.blocked),
      ChannelError.refusedByPeer(.removed), ChannelError.refusedByPeer(.missing),
      ChannelError.verificationFailed("open: too many open files"), ChannelError.peerFailed,
      ChannelError.tls(call: "SSL_read", reasons: ["unexpected eof", "bad record mac"]),
      ChannelError.timedOut(.resolving), ChannelError.timedOut(.connecting),
      ChannelError.timedOut(.receiving), ChannelError.cancelled, ChannelError.closedByPeer,
      ChannelError.connectionLost, ChannelError.frameTooLarge(type: 3, length: 9, limit: 8),
      ChannelError.frameEmpty, ChannelError.system(call: "poll", code: 24),
      DiscoveryError.libraryMissing("no such file"), DiscoveryError.noSystemBus("no socket"),
      DiscoveryError.daemonNotRunning, DiscoveryError.daemonSilent,
      DiscoveryError.invalidRecord("a name longer than 63 bytes"),
      DiscoveryError.avahi(call: "avahi_client_new", code: -26, message: "Bad state"),
      DiscoveryError.stopped,
    ]
  }

  private var syncErrors: [any Error] {
    [ByeReason.notAMember, .version, .wrongNotebook, .expired, .duplicate, .overLimit, .stopped]
      .map { SyncError.peerEnded($0, "") as any Error } + [
        SyncError.peerEnded(.failed, "no room on the disk"),
        SyncError.protocolBroken("a pack before hello"), SyncError.overLimit("10000 heads"),
        SyncError.noCommonVersion([7]), SyncError.wrongNotebook,
        SyncError.notAMember(device: "ABC"), SyncError.packRefused(.malformed("cut short")),
        SyncError.packRefused(.costly("bytes that a pack unpacks to", limit: 1024)),
        SyncError.interrupted("the other end has gone"), SyncError.timedOut("no answer in 30 s"),
        SyncError.ended(.stopped), SyncError.duplicate(device: "ABC"),
        SyncError.notMerged(.massDeletion, "this would delete 9 of 10 notes"),
        SyncError.notMerged(.largeVersion, "this would bring 9 bytes into the folder"),
        SyncError.notMerged(.tooLarge, "it is too large"),
        SyncError.notMerged(.pruned, "it is cut"),
        SyncError.notMerged(.forgotten, "it is from before"),
        SyncError.notMergedAtPeer(.forgotten),
        SyncError.notMerged(.unsigned, "version 0123456789 is refused: no member has signed it"),
        SyncError.notMergedAtPeer(.massDeletion), SyncError.notMergedAtPeer(.largeVersion),
        SyncError.notMergedAtPeer(.tooLarge), SyncError.notMergedAtPeer(.pruned),
        SyncError.notMergedAtPeer(.unsigned),
        SyncError.invitationExpired, SyncError.declined, SyncError.wrongCode,
        SyncError.alreadyANotebook("/x"), SyncError.inviterNotFound, SyncError.unknownPeer("Eve"),
        SyncError.notLetIn(isReached: false), SyncError.notLetIn(isReached: true),
        SyncError.ownAddress, SyncError.keyShared, SyncError.stopped, SyncError.failed("it broke"),
        WatchError.system(call: "inotify_init1", path: "", errno: 24),
        WatchError.folderAway("/x"), WatchError.watchedAlready("/x", process: 17),
        WatchError.notAnswering("/x"), WatchError.watcherGone, WatchError.watcherRefused("paused"),
      ]
  }

  private var hubErrors: [any Error] {
    [
      HubDefect.name("a b"),
      HubDefect.nameTaken("home", url: "/x"),
      HubDefect.noSuchHub("home"),
      HubDefect.address("-x", why: "it begins with a dash"),
      HubDefect.scheme("ext"),
      HubDefect.secret, HubDefect.inNotebook("/x/notes/hub.git"),
      LinkError.missing, LinkError.expired, LinkError.cancelled, LinkError.used, LinkError.void,
      LinkError.anotherNotebook, LinkError.noInvitation, LinkError.noRequest,
      HubError.gitMissing,
      HubError.unreachable("Connection refused"),
      HubError.hostUnproved("Host key verification failed"),
      HubError.notLetIn("Permission denied (publickey)"),
      HubError.noRepository("'/x' does not appear to be a git repository"),
      HubError.foreignOwner("detected dubious ownership in repository at '/x/hub.git'"),
      HubError.refused("hook declined"),
      HubError.keepsForgotten("[remote rejected] (non-fast-forward)"),
      HubError.full("No space left on device"),
      HubError.excessive("more than 200 MiB of memory"),
      HubError.busy(attempts: 60),
      HubError.unrelated,
      HubError.anotherNotebook, HubError.startedOver(by: "Ada"), HubError.shallow,
      HubError.withoutMembers,
      HubError.noBranch,
      HubError.failed("something new"),
      BundleError.notABundle, BundleError.damaged, BundleError.form("# v3 git bundle"),
      BundleError.withoutMembers, BundleError.anotherNotebook, BundleError.startedOver(by: "Ada"),
      BundleError.lacking("4b825dc642", count: 1), BundleError.lacking("4b825dc642", count: 2),
      BundleError.noVersion, BundleError.reader,
      BundleError.file(call: "open", path: "/x", errno: 2),
      TransferError.silent(seconds: 60), TransferError.excessive("more than 200 MiB of memory"),
      TransferError.failed(status: 1, ["fatal: x"]),
    ]
  }

  private var forgetErrors: [any Error] {
    [
      ForgetError.tooShort(shortest: 4), ForgetError.notFound,
      ForgetError.nothingAdded("A.txt", id),
      ForgetError.remotes(["home", "pi"]), ForgetError.unfinished("A.txt"),
      ForgetError.lives("A.txt"), ForgetError.inName("A.txt"),
      ForgetError.isOpen("A.txt"), ForgetError.written,
    ]
  }

  private var allErrors: [any Error] {
    notebookErrors + membershipErrors + networkErrors + syncErrors + hubErrors + forgetErrors
  }

  private func expect(_ errors: [any Error], match name: String) throws {
    for (terminal, suffix) in [(Terminal.plain, ""), (.screen(colour: true), "-colour")] {
      let text = errors.map { error in
        let failure = Failure(describing: error)
        return "[\(failure.exit.rawValue)] \(failure.kind)\n" + failure.text(on: terminal)
      }.joined(separator: "\n")
      try Golden.expect(text, matches: "errors-\(name)\(suffix).txt")
    }
  }

  // Only an admin can help there.
  @Test func `Who needs an admin is told who is one`() {
    let failure = Failure(
      .refusedByPeer, "refused_by_peer", "refused",
      hint: "ask an admin of the notebook for an invitation")
    #expect(
      failure.naming(admins: ["desk", "laptop"]).hint
        == "ask an admin (desk or laptop) of the notebook for an invitation")
    #expect(failure.naming(admins: []) == failure)
  }

  @Test func `Errors of forgetting`() throws { try expect(forgetErrors, match: "forget") }

  @Test func `Errors of hubs`() throws { try expect(hubErrors, match: "hubs") }

  @Test func `Errors of notebooks and repositories`() throws {
    try expect(notebookErrors, match: "notebook")
  }

  @Test func `Errors of keys and certificates`() throws {
    try expect(membershipErrors, match: "membership")
  }

  @Test func `Errors of connections and discovery`() throws {
    try expect(networkErrors, match: "network")
  }

  @Test func `Errors of sessions and watchers`() throws { try expect(syncErrors, match: "sync") }

  @Test(arguments: [
    "WorkTree/WorkTreeError", "History/HistoryError", "Notebook/NotebookError", "Git/GitError",
    "Git/Pack/PackError", "Membership/MembershipError",
    "Channel/ChannelError", "Discovery/DiscoveryError", "Exchange/SyncError", "Watch/WatchError",
  ])
  func `No error of a module is left out`(file: String) throws {
    func lines(_ path: String) throws -> [Substring] {
      String(decoding: try readFile(BuiltBinary.sourceFolder + path), as: UTF8.self)
        .split(separator: "\n")
    }
    let type = file.split(separator: "/").last ?? ""
    let cases = try lines("/Sources/\(file).swift").prefix { $0 != "}" }
      .filter { $0.hasPrefix("  case ") }.map { $0.dropFirst(7).prefix(while: \.isLetter) }
    #expect(cases.count > 3)
    let words = Set(
      try lines("/Tests/notesTests/FailureTests.swift").flatMap { line in
        line.split { !$0.isLetter && $0 != "." }
      })
    #expect(cases.filter { !words.contains("\(type).\($0)") }.isEmpty)
  }

  @Test func `Each says what to do next`() {
    for error in allErrors {
      let failure = Failure(describing: error)
      #expect(failure.hint != nil || failure == .interrupted, "\(error)")
    }
  }

  @Test func `Errors are in lower case, on one line, without a full stop`() {
    for error in allErrors {
      let failure = Failure(describing: error)
      for text in [failure.message, failure.hint].compactMap(\.self) {
        #expect(!text.contains(where: \.isNewline) && !text.hasSuffix("."))
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
        let first = text.prefix { !$0.isWhitespace }
        // Names of programs and paths may begin otherwise.
        #expect(
          text.first?.isUppercase != true
            || ["OpenSSL", "A.txt", "Ben's", "EVP_x", "SSL_read"].contains(String(first)), "\(text)"
        )
      }
    }
  }

  @Test func `A failure for programs is one object`() {
    #expect(
      Failure.usage("bad").json.text
        == #"{"type":"error","code":64,"kind":"usage","message":"bad","hint":null}"#)
  }
}
