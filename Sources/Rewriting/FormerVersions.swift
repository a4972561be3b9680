package import Git
internal import System

/// Tells versions as they were before a forgetting from those that stand in their place: notes-forget(1), "Versions
/// from before".
package struct FormerVersions {
  private struct Lines: Hashable {
    let author: Signature
    let committer: Signature
  }

  private let repository: Repository

  package init(in repository: Repository) { self.repository = repository }

  /// A version that one of two histories has in one form and the other in another, of which one was made again.
  /// They are told by their authors, committers and dates, which stay the same. Only what the one has and the
  /// other has not is looked at. Nil where there is none: the two may be merged.
  ///
  /// - Parameter countsRewritten: whether one that both have rewritten counts, each in another way.
  package func first(
    between heads: [ObjectID], and tip: ObjectID, countsRewritten: Bool = false
  ) throws -> ObjectID? {
    let new = try repository.commits(from: heads, lacking: [tip])
    if new.isEmpty { return nil }
    let own = try repository.commits(from: [tip], lacking: heads)
    if own.isEmpty { return nil }
    let (few, many) = own.count < new.count ? (own, new) : (new, own)
    var known: [Lines: (plain: Bool, rewritten: Bool)] = [:]
    for id in few {
      let commit = try repository.commit(id)
      let lines = Lines(author: commit.author, committer: commit.committer)
      var forms = known[lines] ?? (false, false)
      if commit.isRewritten { forms.rewritten = true } else { forms.plain = true }
      known[lines] = forms
    }
    return try many.first { id in
      let commit = try repository.commit(id)
      let lines = Lines(author: commit.author, committer: commit.committer)
      guard let forms = known[lines] else { return false }
      if commit.isRewritten { return forms.plain || countsRewritten && forms.rewritten }
      return forms.rewritten
    }
  }
}
