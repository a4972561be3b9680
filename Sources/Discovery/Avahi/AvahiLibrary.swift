internal import CAvahi
internal import System

/// The functions of Avahi's client library, loaded on first use. Unchecked Sendable: it contains
/// addresses of functions, and nothing changes them after `load`.
struct AvahiLibrary: @unchecked Sendable {
  let functions: libavahi

  static let anyInterface = Int32(AVAHI_IF_UNSPEC)
  static let anyProtocol = Int32(AVAHI_PROTO_UNSPEC)

  static func load(
    client: String = "libavahi-client.so.3", common: String = "libavahi-common.so.3"
  ) throws(DiscoveryError) -> AvahiLibrary {
    // The fields are not initialised here: `libavahi_load` fills all of them, or returns what is
    // missing.
    let table = UnsafeMutablePointer<libavahi>.allocate(capacity: 1)
    defer { table.deallocate() }
    if let message = libavahi_load(table, client, common) {
      throw .libraryMissing(String(cString: message))
    }
    return AvahiLibrary(functions: table.pointee)
  }

  /// The error for an Avahi status; statuses that mean an unreachable daemon have their own cases.
  func error(_ code: Int32, in call: String) -> DiscoveryError {
    let message = functions.avahi_strerror(code).map { String(cString: $0) } ?? "unknown error"
    return switch Int(code) {
    // A client that waits for the daemon (AVAHI_CLIENT_NO_FAIL) fails only if there is no bus.
    case Int(AVAHI_ERR_DBUS_ERROR) where call == "avahi_client_new",
      Int(AVAHI_ERR_NO_DAEMON) where call == "avahi_client_new":
      .noSystemBus(message)
    case Int(AVAHI_ERR_NO_DAEMON), Int(AVAHI_ERR_DISCONNECTED): .daemonNotRunning
    default: .avahi(call: call, code: code, message: message)
    }
  }

  func strings(of list: AvahiStrings, limit: Int) -> [[UInt8]] {
    var strings: [[UInt8]] = []
    var next = list
    while let item = next, strings.count < limit {
      let text = functions.avahi_string_list_get_text(item)
      let size = functions.avahi_string_list_get_size(item)
      strings.append(Array(UnsafeBufferPointer(start: text, count: text == nil ? 0 : size)))
      next = functions.avahi_string_list_get_next(item)
    }
    return strings
  }

  /// Calls `body` with the strings in an Avahi list, which is freed afterwards.
  func withList<R>(_ strings: [[UInt8]], _ body: (AvahiStrings) -> R) -> R {
    var list: AvahiStrings = nil
    // Each string is added at the front.
    for string in strings.reversed() {
      list = functions.avahi_string_list_add_arbitrary(list, string, string.count)
    }
    defer { functions.avahi_string_list_free(list) }
    return body(list)
  }

  func text(of address: UnsafePointer<AvahiAddress>) -> String? {
    var buffer = [CChar](repeating: 0, count: Int(AVAHI_ADDRESS_STR_MAX))
    guard functions.avahi_address_snprint(&buffer, buffer.count, address) != nil else { return nil }
    return String(upToNUL: buffer)
  }

  /// Another name for a service whose name is in use, by Avahi's rule: "name #2" and so on.
  func alternative(to name: String) -> String {
    guard let other = functions.avahi_alternative_service_name(name) else { return name }
    defer { functions.avahi_free(other) }
    return String(cString: other)
  }
}

typealias AvahiStrings = UnsafeMutablePointer<AvahiStringList>?
