public import Membership
public import Notebook

extension VersionSigner {
  /// Signs with this key, or with one of another device that is kept beside it: a notebook may go by
  /// the former key of a device that has a new one.
  public init(_ key: DeviceKey) {
    self.init { deviceID in
      guard let key = try key.deviceID == deviceID ? key : key.sibling(deviceID) else { return nil }
      return { try VersionSignature(over: $0, by: key).armored }
    }
  }
}

extension VersionSigner {
  /// Signs with the device keys of a user's data folder, each read when the first version is made.
  public init(keysIn dataFolder: String) {
    self.init { deviceID in
      guard let key = try DeviceKey.load(deviceID, in: dataFolder) else { return nil }
      return { try VersionSignature(over: $0, by: key).armored }
    }
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
