internal import CAvahi

final class AvahiPublication {
  private(set) var error: DiscoveryError?

  private unowned let session: AvahiSession
  private let service: ServiceRecord
  private var group: OpaquePointer?
  private var name: String
  private var renamings = 0
  private var hasCollided = false

  /// How many names to try: another device or process may have each.
  private static let maximumRenamings = 50

  init(service: ServiceRecord, session: AvahiSession) {
    self.service = service
    self.session = session
    name = service.instanceName
  }

  /// Registers the service if it is not registered, and under another name if its name is in use.
  func settle() {
    if hasCollided {
      hasCollided = false
      reset()
      rename()
    }
    guard group == nil, error == nil, let client = session.client else { return }
    group = session.library.functions.avahi_entry_group_new(
      client,
      { _, state, publication in
        guard let publication else { return }
        Unmanaged<AvahiPublication>.fromOpaque(publication).takeUnretainedValue().handle(state)
      }, Unmanaged.passUnretained(self).toOpaque())
    guard let group else { return error = session.lastError(in: "avahi_entry_group_new") }
    register(in: group)
  }

  func reset() {
    if let group { _ = session.library.functions.avahi_entry_group_free(group) }
    group = nil
    error = nil
  }

  private func register(in group: OpaquePointer) {
    let functions = session.library.functions
    while true {
      let added = session.library.withList(service.strings) { list in
        functions.avahi_entry_group_add_service_strlst(
          group, AvahiLibrary.anyInterface, AvahiLibrary.anyProtocol, AvahiPublishFlags(0), name,
          service.kind.serviceType, nil, nil, service.port, list)
      }
      // The name is in use on this host; a name in use on the network is reported later, in `handle`.
      if added == Int32(AVAHI_ERR_COLLISION), rename() { continue }
      guard added == 0 else { return fail(added, "avahi_entry_group_add_service_strlst") }
      break
    }
    let committed = functions.avahi_entry_group_commit(group)
    if committed != 0 { fail(committed, "avahi_entry_group_commit") }
  }

  @discardableResult
  private func rename() -> Bool {
    guard renamings < Self.maximumRenamings else { return false }
    renamings += 1
    name = session.library.alternative(to: name)
    return true
  }

  private func handle(_ state: AvahiEntryGroupState) {
    switch state {
    case AVAHI_ENTRY_GROUP_COLLISION: hasCollided = true
    case AVAHI_ENTRY_GROUP_FAILURE: error = session.lastError(in: "avahi_entry_group_commit")
    default: break
    }
  }

  private func fail(_ code: Int32, _ call: String) {
    reset()
    error = session.library.error(code, in: call)
  }
}
