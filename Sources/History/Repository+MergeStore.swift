package import Git
internal import Merge

extension Repository: MergeStore {
  package func withBatchedWrites<Result>(_ body: () throws -> Result) throws -> Result {
    try withBatchedWrites(isBeforeMove: false, body)
  }
}
