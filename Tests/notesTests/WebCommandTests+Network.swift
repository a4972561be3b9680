import Glibc
import Membership
import State
import System
import TestSupport
import Testing

@testable import notes

/// `notes web --lan`: what it tells of the page on the network.
extension WebCommandTests {
  /// On a host of its own, with these addresses beside those of loopback.
  private func onHost(_ addresses: [String], _ arguments: [String]) throws -> RunningProcess {
    let added = addresses.map { "ip addr add \($0) dev lan0; " }.joined()
    let script = """
      hostname desk; ip link set lo up; ip link add lan0 type veth peer name lan1; ip link set lan1 up; \(added)ip link set lan0 up; \
      exec "$0" "$@"
      """
    return try RunningProcess(
      ["unshare", "-n", "-u", "sh", "-c", script, BuiltBinary.notes(), "web", "--no-open"]
        + arguments,
      in: shell.folder["notes"], environment: shell.environment)
  }

  // notes-web(1), "On the network".
  @Test func `On the network it tells a guest's link, and who certifies the page`() throws {
    let addresses = ["192.168.77.1/24", "198.51.100.7/24"]
    let web = try onHost(addresses, ["--lan", "--json"])
    let value = try #require(try JSONValue.lines(web.line(within: 120)).first)
    let page = try JSONPage()
    #expect(
      page.differences(of: value, from: try #require(page.commands["web"]), at: "web").isEmpty)
    let link = try #require(value["network_link"])
    let isNamed = access("/run/avahi-daemon/socket", F_OK) == 0
    let host = isNamed ? "desk.local" : "192.168.77.1"
    #expect(link.hasPrefix("https://\(host):") && link.contains("/guest/"))
    #expect(value["authority"]?.hasSuffix("/authority.crt") == true)
    let invited = try shell.notes("web", "guests", "invite", "Grandma", "--json")
    let made = try #require(try JSONValue.lines(invited.text).first)
    #expect(made["network_link"]?.hasPrefix("https://\(host):") == true)
    #expect(made["link"]?.hasPrefix("http://127.0.0.1:") == true)
    #expect(
      page.differences(of: made, from: try #require(page.commands["web guests"]), at: "").isEmpty)
    let both = try shell.notes("web", "guests", "invite").text
    #expect(both.contains("\n\nor, in a browser of this machine, at\n\n  http://127.0.0.1:"))
    #expect(
      try GuestBook(stateFolder: StateFolder(shell.folder["notes/.git/notes"])).invitations().count
        == 3)
    web.send(SIGINT)
    #expect(try web.wait(within: 120).status == .exited(130))
    // The link that it made for whoever comes leads nowhere now.
    #expect(
      try GuestBook(stateFolder: StateFolder(shell.folder["notes/.git/notes"])).invitations().count
        == 2)
    // The authority is the same each time.
    let again = try onHost(addresses, ["--lan"])
    var lines: [String] = []
    while lines.last?.hasSuffix("Press Ctrl-C to stop.") != true {
      lines.append(try again.line(within: 120))
    }
    again.send(SIGINT)
    #expect(try again.wait(within: 120).status == .exited(130))
    #expect(lines.contains("  " + (try #require(value["authority_fingerprint"]))))
    let text = lines.joined(separator: "\n").replacing(
      #/([0-9A-F]{2}:){31}[0-9A-F]{2}/#, with: "SHA-256"
    )
    .replacing(#/:[23]\d{4}\//#, with: ":PORT/").replacing(#/[a-z2-7]{52}/#, with: "TOKEN")
    // Where Avahi gives the name, it comes first.
    let named = "https://desk.local:PORT", numbered = "https://192.168.77.1:PORT"
    let plain =
      isNamed
      ? text.replacing(named, with: "\u{0}").replacing(numbered, with: named).replacing(
        "\u{0}", with: numbered) : text
    try Golden.expect(plain + "\n", matches: "web-lan.txt")
  }

  // notes-web(1): "When the machine's addresses change … the page is at the new ones".
  @Test(arguments: [true, false])
  func `The page follows the machine into another network`(isJSON: Bool) throws {
    let web = try onHost(["192.168.77.1/24"], ["--lan"] + (isJSON ? ["--json"] : []))
    let first = try web.line(within: 120) { $0.contains("/guest/") }
    let port = try #require(first.firstMatch(of: #/:(\d+)\/guest/#)?.1)
    func host(_ command: String) throws -> ProcessResult {
      try run(["nsenter", "-t", String(web.pid), "-n", "sh", "-c", command], within: 120)
    }
    func certified(_ address: String) throws -> String {
      let names = "openssl x509 -noout -ext subjectAltName"
      return try host(
        "openssl s_client -connect \(address):\(port) </dev/null 2>/dev/null | \(names)"
      ).text
    }
    #expect(try certified("192.168.77.1").contains("192.168.77.1"))
    try #require(
      try host("ip addr add 10.9.8.7/24 dev lan0; ip addr del 192.168.77.1/24 dev lan0").isSuccess)
    let second = try web.line(within: 120) { $0.contains("10.9.8.7:\(port)/guest/") }
    // The link is the same.
    let token = try #require(first.firstMatch(of: #/guest\/[a-z2-7]+/#)?.output)
    #expect(second.contains(token))
    let names = try certified("10.9.8.7")
    #expect(names.contains("10.9.8.7") && !names.contains("192.168.77.1"), "\(names)")
    let invited = try shell.notes("web", "guests", "invite", "--json").text
    #expect(invited.contains("10.9.8.7:\(port)/guest/") || invited.contains("desk.local"))
    // No network, and one again.
    try #require(try host("ip addr flush dev lan0").isSuccess)
    _ = try web.line(within: 120) {
      isJSON
        ? $0.contains(#""type":"web""#) && !$0.contains("network_link")
        : $0.contains("has lost its private address")
    }
    let none = try shell.notes("web", "guests", "invite", "--json").text
    #expect(!none.contains("https:"), "\(none)")
    try #require(try host("ip addr add 172.16.1.1/24 dev lan0").isSuccess)
    _ = try web.line(within: 120) { $0.contains("172.16.1.1:\(port)/guest/") }
    web.send(SIGINT)
    #expect(try web.wait(within: 120).status == .exited(130))
  }

  // notes-web(1), "All notebooks": "the command prints no link for a guest".
  @Test func `With --all on the network it says how guests are invited`() throws {
    let web = try onHost(["192.168.77.1/24"], ["--lan", "--all"])
    var text = ""
    while !text.hasSuffix("Press Ctrl-C to stop.\n") { text += try web.line(within: 120) + "\n" }
    web.send(SIGINT)
    #expect(try web.wait(within: 120).status == .exited(130))
    #expect(text.hasPrefix("Open the notebooks in a browser:\n\n  http://127.0.0.1:"))
    #expect(
      text.contains(
        "for guests, each with access to one notebook:\n'notes web guests "
          + "invite', in a"))
    #expect(!text.contains("/guest/"))
  }

  @Test func `Without a private address there is no page on the network`() throws {
    let result = try onHost(["198.51.100.7/24"], ["--lan"]).wait(within: 120)
    #expect(result.status == .exited(1))
    #expect(
      result.errorText
        == "notes: error: cannot serve the page to others: this machine has no private address on "
        + "a network\nnotes: hint: 'notes doctor' checks the network\n")
  }

  // notes-web(1): "If the terminal is wide enough, the command also draws the link for a phone's camera."
  @Test(arguments: [(100, true), (30, false)])
  func `A code is drawn where the terminal is wide enough`(columns: Int, isDrawn: Bool) throws {
    shell.environment["TERM"] = "xterm"
    shell.environment["LC_ALL"] = "C.UTF-8"
    let script = "stty cols \(columns); exec \"$NOTES\" web --no-open --lan"
    shell.environment["NOTES"] = try BuiltBinary.notes()
    let host =
      "ip link set lo up; ip link add lan0 type veth peer name lan1; ip link set lan1 up; ip addr add 10.1.2.3/24 dev lan0; "
    let web = try RunningProcess(
      [
        "unshare", "-n", "sh", "-c",
        host + "ip link set lan0 up; exec script -qefc \"$0\" /dev/null",
        script,
      ], in: shell.folder["notes"], environment: shell.environment)
    var lines: [String] = []
    while lines.last?.contains("Press Ctrl-C to stop.") != true {
      lines.append(try web.line(within: 120))
    }
    let drawn = lines.filter { $0.hasPrefix("\u{1B}[30;107m") }
    #expect(isDrawn ? drawn.count > 15 : drawn.isEmpty, "\(lines)")
    // "If the terminal is wide enough, the command also draws the link for a phone's camera."
    let invite = "stty cols \(columns); exec \"$NOTES\" web guests invite"
    let invited = try run(
      ["script", "-qefc", invite, "/dev/null"], in: shell.folder["notes"],
      environment: shell.environment
    ).text
    #expect(
      invited.contains("/guest/") && invited.contains("\u{1B}[30;107m") == isDrawn, "\(invited)")
    web.write([3])
    _ = try web.wait(within: 120)
  }
}
