internal import Glibc
internal import Sync
internal import System

/// Notices that this machine has a network that it had not, or an address, or has one no more, as the
/// kernel tells of it (rtnetlink(7)): whoever could not be reached may be there now, and connections
/// may be dead.
final class NetworkWatch: Sendable {
  private let stopping: WakeUp

  // Of <linux/netlink.h> and <linux/rtnetlink.h>, which Swift does not see.
  private static let netlink: Int32 = 16
  private static let route: Int32 = 0
  /// Links and addresses of both families: RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV6_IFADDR.
  private static let groups: UInt32 = 0x1 | 0x10 | 0x100

  /// - Parameter changed: is called on a thread of the watch's own.
  /// - Throws: `WatchError` where the kernel tells nothing, as in some containers.
  init(_ changed: @escaping @Sendable (NetworkState.News) -> Void) throws {
    let stopping = try WakeUp()
    self.stopping = stopping
    let socket = try Self.open()
    try startThread {
      var state = NetworkState()
      var buffer = [UInt8](repeating: 0, count: 1 << 14)
      while true {
        if Poll.wait(for: [socket, stopping.descriptor]).contains(stopping.descriptor) { break }
        var news = NetworkState.News.none
        while true {
          let count = recv(socket, &buffer, buffer.count, 0)
          if count > 0 {
            news = max(news, state.takes(buffer[..<count]))
          } else if count < 0, errno == ENOBUFS {
            // More was told than there was room for.
            news = .got
          } else {
            break
          }
        }
        if news != .none { changed(news) }
      }
      close(socket)
    }
  }

  func stop() { stopping.signal() }

  private static func open() throws -> Int32 {
    let type = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let socket = Glibc.socket(netlink, type, route)
    guard socket >= 0 else {
      throw WatchError.system(call: "socket", path: "rtnetlink", errno: errno)
    }
    // struct sockaddr_nl: family, padding, port, groups.
    var address: (UInt16, UInt16, UInt32, UInt32) = (UInt16(netlink), 0, 0, groups)
    let size = socklen_t(MemoryLayout.size(ofValue: address))
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, size) }
    }
    guard status == 0 else {
      let failure = errno
      close(socket)
      throw WatchError.system(call: "bind", path: "rtnetlink", errno: failure)
    }
    return socket
  }
}

/// What the kernel has told of links and addresses.
///
/// Much of what it tells is no news: addresses are told again whenever their life is made longer, and
/// links whenever a radio reports its strength.
struct NetworkState {
  /// What there is to say of links and addresses: some are there no more, or some that were not. The
  /// latter says more.
  enum News: Int, Comparable, Sendable {
    case none, lost, got

    static func < (a: News, b: News) -> Bool { a.rawValue < b.rawValue }
  }

  /// Which links run, of those that were told of: how things were at the start nobody tells.
  private var running: [UInt32: Bool] = [:]
  private var addresses: Set<[UInt8]> = []

  // Types of messages, flags and attributes of rtnetlink(7).
  private enum Message { static let newLink = 16, gone = 17, newAddress = 20, addressGone = 21 }
  private static let isRunning: UInt32 = 0x40
  private static let address = 1

  /// Takes messages in, and says what is new in them.
  mutating func takes(_ messages: ArraySlice<UInt8>) -> News {
    var news = News.none
    func note(_ isNews: Bool, _ kind: News) { if isNews { news = max(news, kind) } }
    var rest = messages
    // struct nlmsghdr: length, type, flags, sequence, port.
    while rest.count >= 16 {
      let length = Int(rest.word(0))
      guard length >= 16, length <= rest.count else { break }
      let body = rest.dropFirst(16).prefix(length - 16)
      switch Int(rest.half(4)) {
      case Message.newLink where body.count >= 16:
        // struct ifinfomsg: family, type, index, flags, change.
        let runs = body.word(8) & Self.isRunning != 0
        note(running.updateValue(runs, forKey: body.word(4)) != runs, runs ? .got : .lost)
      case Message.gone where body.count >= 16:
        note(running.removeValue(forKey: body.word(4)) != false, .lost)
      case Message.newAddress where body.count >= 8:
        note(addresses.insert(Self.place(body)).inserted, .got)
      case Message.addressGone where body.count >= 8:
        addresses.remove(Self.place(body))
        note(true, .lost)
      default: break
      }
      // Each begins at a multiple of four bytes.
      rest = rest.dropFirst((length + 3) & ~3)
    }
    return news
  }

  /// What tells an address from others: family, prefix and link of its struct ifaddrmsg, and the
  /// attribute that holds it.
  private static func place(_ body: ArraySlice<UInt8>) -> [UInt8] {
    let start = body.startIndex
    var place = Array(body[start..<(start + 2)] + body[(start + 4)..<(start + 8)])
    var rest = body.dropFirst(8)
    while rest.count >= 4 {
      let length = Int(rest.half(0))
      guard length >= 4, length <= rest.count else { break }
      if Int(rest.half(2)) == address { place += rest.dropFirst(4).prefix(length - 4) }
      rest = rest.dropFirst((length + 3) & ~3)
    }
    return place
  }
}

extension ArraySlice<UInt8> {
  /// Numbers in the machine's own order of bytes, as the kernel writes them.
  fileprivate func word(_ offset: Int) -> UInt32 {
    withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
  }

  fileprivate func half(_ offset: Int) -> UInt16 {
    withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt16.self) }
  }
}
