internal import History
public import Membership
public import Notebook

/// Changes a notebook from this device's former key to its new one: notes-security(7), "A key of its
/// own".
public struct KeyRenewal {
  private let notebook: Notebook
  private let membership: MembershipStore
  private let former: DeviceKey
  private let key: DeviceKey

  /// A notebook that uses `former`, while this device's key is `key`.
  public init(
    of notebook: Notebook, _ membership: MembershipStore, from former: DeviceKey, to key: DeviceKey
  ) {
    (self.notebook, self.membership) = (notebook, membership)
    (self.former, self.key) = (former, key)
  }

  /// Changes to the new key if it is certified. An admin's former key certifies it.
  ///
  /// - Returns: the request for the admins if nobody has certified the key yet; nil after the change.
  public func carryOut() throws -> CertificateRequest? {
    let request = try CertificateRequest(name: notebook.identity.device.name, key: key)
    try membership.refresh()
    if membership.role(ofDevice: key.deviceID) == nil,
      membership.role(ofDevice: former.deviceID) == .admin
    {
      _ = try membership.certify(request, of: former.deviceID, by: former)
    }
    let new = membership.member(ofDevice: key.deviceID)
    if let new {
      try KeySharing(stateFolder: notebook.stateFolder).leave(former.deviceID)
      try notebook.become(DeviceIdentity(name: new.deviceName, deviceID: new.deviceID))
    }
    try membership.setRenewal(new == nil ? key.deviceID : nil)
    return new == nil ? request : nil
  }
}
