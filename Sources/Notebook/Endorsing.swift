package import Git
internal import WorkTree

extension Notebook {
  /// Makes a version of `tip` without a change, by which this device vouches for it:
  /// notes-security(7), VERSIONS. Does nothing if the notebook's version is no longer `tip`.
  ///
  /// - Returns: whether it made a version; false if the device's key is missing.
  package func endorse(_ tip: ObjectID) throws -> Bool {
    guard try signer?.sign(for: identity.device) != nil else { return false }
    return try withWriterLock { transaction in
      guard let shown = try transaction.writer.tip(), shown.id == tip else { return false }
      let version = try transaction.writer.makeVersion(
        of: shown.tree, parents: [shown], message: "Answer for versions that no member has signed")
      // The folder already has the version's tree, maybe with unsaved changes, which stay.
      let result = try transaction.merge([version], options: MergeOptions(allowsMassDeletion: true))
      transaction.portableRewrite.remember(result.tip)
      return true
    }
  }
}
