internal import History
public import Membership
public import Notebook

extension VersionSigner {
  /// Signs with this key, or with a former key of the device: a notebook may still use the former
  /// one.
  public init(_ key: DeviceKey) {
    self.init { deviceID in try key.deviceID == deviceID ? key : key.sibling(deviceID) }
  }

  /// Signs with the device keys of a user's data folder; each is read when it signs its first
  /// version.
  public init(keysIn dataFolder: @autoclosure @escaping @Sendable () throws -> String) {
    self.init { deviceID in try DeviceKey.load(deviceID, in: dataFolder()) }
  }

  /// Signs with the key that `find` returns, and gives devices with the same name distinct names:
  /// notes-security(7), SIGNATURES.
  private init(_ find: @escaping @Sendable (_ deviceID: String) throws -> DeviceKey?) {
    self.init(
      load: { deviceID in
        guard let key = try find(deviceID) else { return nil }
        return { try VersionSignature(over: $0, by: key).armored }
      },
      authorName: { device, stateFolder in
        do {
          let status = try MembershipStore.status(ofDevice: device.deviceID, at: stateFolder)
          return SharedNames(status).name(status.name ?? device.name, device.deviceID)
        } catch {
          // An unreadable list of members must not prevent a save: authors are shown by their
          // signatures.
          return device.name
        }
      },
      makers: { versions, notebook in
        let proofs = VersionProofs(in: notebook)
        return try versions.map { try proofs.author(of: $0).markedName }
      },
      counts: { version, heads, notebook in
        try ForgettingJudge(notebook).counts(version, below: heads)
      })
  }
}

extension SessionContext {
  /// The notebook, whose versions are signed with this device's key.
  public func notebook() throws -> Notebook {
    let notebook = try Notebook.open(at: folder)
    notebook.signer = VersionSigner(key)
    return notebook
  }
}
