package import Git
internal import WorkTree

extension Notebook {
  /// Makes a version of what the notebook shows, without a change, so that this device answers for it:
  /// notes-security(7), VERSIONS. Nothing where it shows something else than `tip` by now.
  ///
  /// - Returns: whether it made one; not where its key is not here.
  package func endorse(_ tip: ObjectID) throws -> Bool {
    guard try signer?.sign(for: identity.device) != nil else { return false }
    return try withWriterLock { transaction in
      guard let shown = try transaction.writer.tip(), shown.id == tip else { return false }
      let version = try transaction.writer.makeVersion(
        of: shown.tree, parents: [shown], message: "Answer for versions that no member has signed")
      // The folder holds that tree, or what is not saved yet, which stays as it is.
      let result = try transaction.merge([version], options: MergeOptions(allowsMassDeletion: true))
      transaction.portableRewrite.remember(result.tip)
      return true
    }
  }
}
