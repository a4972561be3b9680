import Glibc
import TestSupport
import Testing

@testable import Git
@testable import Merge

/// notes-merge(7), "Bounds": whatever one device takes leads to a state that every other device takes.
/// Random histories under limits so small that each is met: what passes the quarantine is merged, edited
/// on, and sent on.
@Suite struct TakenEverywhereTests {
  private struct World {
    let folder: TemporaryFolder
    let repository: Repository

    init() throws {
      folder = try TemporaryFolder()
      repository = try Repository.create(at: folder.path)
    }

    /// Why a pack of these commits is refused; nil when it was taken.
    func refusal(
      of heads: [ObjectID], from sender: Repository, _ limits: PackLimits
    ) throws -> (any Error)? {
      let pack = try sender.pack(wants: heads, haves: [])
      let quarantine = try repository.quarantine(limits: limits)
      do {
        while let bytes = try pack.next() { try quarantine.append(bytes) }
        try quarantine.join(promised: heads)
        return nil
      } catch {
        return error
      }
    }
  }

  @Test(arguments: 0..<4) func whateverPasses(run: Int) throws {
    let first = MergeLawsTests.firstSeed + UInt64(run * 10)
    print("taken everywhere: NOTES_TEST_SEED=\(MergeLawsTests.firstSeed)")
    var (taken, refused, made) = (0, 0, 0)
    for seed in first..<first + 10 {
      var limits = PackLimits()
      limits.parents = 2 + Int(seed % 2)
      limits.commitBytes = 1000
      limits.objectBytes = 400 + Int(seed % 5) * 100
      limits.treeBytes = limits.objectBytes
      var bounds = MergeBounds()
      bounds.parents = limits.parents
      bounds.listBytes = 350
      bounds.textBytes = limits.objectBytes
      let (hostile, receiver) = try (World(), World())
      // What others make is bound by nothing.
      let history = try MergeHistories(
        store: hostile.repository, seed: seed, devices: 3 + Int(seed % 5), steps: Int(seed % 13),
        onOneLine: seed % 2 == 0)
      var known: [ObjectID] = []
      for head in history.heads.joined() {
        let refusal = try receiver.refusal(of: [head], from: hostile.repository, limits)
        if refusal == nil { known.append(head) }
        (taken, refused) = refusal == nil ? (taken + 1, refused) : (taken, refused + 1)
      }
      guard !known.isEmpty else { continue }
      let tip = try DerivedMerge.tip(of: known, in: receiver.repository, bounds: bounds)
      let told = try DerivedMerge.advertisedHeads(
        of: tip.id, in: receiver.repository, bounds: bounds)
      // "A tip […] of which notes-protocol(7) says that no device takes it, is not made".
      let isMade = try (told + [tip.id]).allSatisfy {
        try receiver.repository.excess(
          ofTree: receiver.repository.commit($0).tree, limits: limits) == nil
      }
      guard isMade else { continue }
      made += 1
      let commit = try receiver.repository.commit(tip.id)
      let trailers = try OpenConflicts.carried(
        from: [commit], to: commit.tree, in: receiver.repository)
      let author = PackRepositoryAuthor.author
      let edit = try receiver.repository.write(
        commit: commit.tree, parents: [tip.id], author: author, committer: author,
        message: "edit\n\n" + trailers.lines(within: bounds.listBytes).joined(separator: "\n")
          + "\n")
      #expect(told.count <= limits.parents, "seed \(seed)")
      for heads in [told, [edit]] {
        let refusal = try World().refusal(of: heads, from: receiver.repository, limits)
        #expect(refusal == nil, "seed \(seed): \(String(describing: refusal))")
      }
    }
    #expect(taken > 0 && made > 0, "\(refused) were refused")
  }

  private enum PackRepositoryAuthor {
    static let author = Signature(
      name: "A", email: "a@notes.invalid", time: 1_800_000_000, offset: 0)
  }
}
