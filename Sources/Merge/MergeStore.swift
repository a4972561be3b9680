package import Git

/// The objects and the history that a merge reads and writes. A repository is a store; tests of the
/// merge's laws use one in memory, which is fast enough for tens of thousands of histories.
package protocol MergeStore: AnyObject {
  func commit(_ id: ObjectID) throws -> Commit
  func blob(_ id: ObjectID) throws -> [UInt8]
  /// The size of a blob in bytes.
  func size(ofBlob id: ObjectID) throws -> Int
  func write(blob content: [UInt8]) throws -> ObjectID
  func write(
    commit tree: ObjectID, parents: [ObjectID], author: Signature, committer: Signature,
    message: String
  ) throws -> ObjectID
  func mergeBases(of left: ObjectID, and right: ObjectID) throws -> [ObjectID]
  func isAncestor(_ ancestor: ObjectID, of descendant: ObjectID) throws -> Bool
  func heads(among commits: [ObjectID]) throws -> Set<ObjectID>
  func changes(from old: ObjectID?, to new: ObjectID?) throws -> [TreeChange]
  func entry(at path: TreePath, in tree: ObjectID) throws -> TreeEntry?
  func write(tree: ObjectID?, replacing files: [TreePath: TreeEntry?]) throws -> ObjectID
  /// Runs `body`, whose objects become durable together.
  func withBatchedWrites<Result>(_ body: () throws -> Result) throws -> Result
}

extension MergeStore {
  package func withBatchedWrites<Result>(_ body: () throws -> Result) throws -> Result {
    try body()
  }

  /// The commits among these that are not ancestors of others.
  package func heads(among commits: [ObjectID]) throws -> Set<ObjectID> {
    try Set(
      commits.filter { commit in
        try !commits.contains { try $0 != commit && isAncestor(commit, of: $0) }
      })
  }
}
