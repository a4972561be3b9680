internal import Glibc
internal import TestSupport
import Testing

@testable import Membership

// notes-security(7), "The page on the network".
@Suite("Membership: the page's authority", .timeLimit(.minutes(20)))
struct PageAuthorityTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func authority(_ name: String = "desk.local") throws -> PageAuthority {
    try PageAuthority.loadOrCreate(in: folder["keys"], hostName: name)
  }

  private var file: String { folder["keys/page-authority.pem"] }

  private func pem(_ der: [UInt8], _ name: String) throws -> String {
    try folder.write(der, to: name + ".crt")
    let result = try run([
      "openssl", "x509", "-inform", "DER", "-in", folder[name + ".crt"], "-out",
      folder[name + ".pem"],
    ])
    try #require(result.isSuccess, "\(result)")
    return folder[name + ".pem"]
  }

  private func verify(
    _ page: PageCertificate, _ options: String...
  ) throws -> ProcessResult {
    let names = try zip(page.chain, ["page", "issuer", "root"]).map { try pem($0, $1) }
    return try run(
      ["openssl", "verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", names[2]]
        + ["-untrusted", names[1]] + options + [names[0]])
  }

  @Test("It is made once, readable by its owner alone, and found again")
  func made() throws {
    let made = try authority()
    #expect(try authority().root == made.root)
    var status = stat()
    #expect(stat(file, &status) == 0 && status.st_mode & 0o7777 == 0o600)
    #expect(try run(["ls", "-A", folder["keys"]]).lines == ["page-authority.pem"])
    // It could not certify another name.
    #expect(try authority("lap.local").root != made.root)
    #expect(try authority("lap.local").hostName == "lap.local")
  }

  // "stays the same as long as the addresses do"
  @Test("The certificate is kept for its addresses, for its owner alone, until it is old")
  func kept() throws {
    let (one, path) = (try authority(), folder["keys/page-certificate.pem"])
    let start: Int64 = 1_800_000_000
    func page(_ addresses: [String] = ["10.0.0.1", "10.0.0.2"], at now: Int64 = start) throws
      -> [UInt8]
    {
      let page = try authority().certificate(for: addresses, keptIn: folder["keys"], now: now)
      return page.chain[0]
    }
    let first = try page()
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o600)
    #expect(try page() == first && page(["10.0.0.2", "10.0.0.1"]) == first)
    #expect(try page(at: start + PageAuthority.renewal - 1) == first)
    #expect(
      try PageKey.with(
        pem: one.certificate(for: ["10.0.0.1", "10.0.0.2"], keptIn: folder["keys"], now: start)
          .privateKey, { try $0.isKey(of: first) }))
    let changes: [(String, () throws -> [UInt8])] = [
      ("old", { try page(at: start + PageAuthority.renewal) }),
      ("another address", { try page(["10.0.0.1"]) }),
      ("readable by others", { chmod(path, 0o644) == 0 ? try page() : [] }),
      (
        "damaged",
        {
          try folder.write("x", to: "keys/page-certificate.pem"); return try page()
        }
      ),
    ]
    for (name, change) in changes {
      let former = try page()
      #expect(try change() != former, "\(name)")
    }
  }

  @Test("openssl takes what it certifies, by name and by address, for servers alone")
  func certified() throws {
    let page = try authority().certify(addresses: ["192.168.1.5", "fd00::5", "no address"])
    #expect(page.chain.count == 3)
    for options in [
      ["-verify_hostname", "desk.local"], ["-verify_ip", "192.168.1.5"], ["-verify_ip", "fd00::5"],
    ] {
      let result = try verify(page, options[0], options[1])
      #expect(result.isSuccess, "\(result)")
    }
    for options in [["-verify_hostname", "lap.local"], ["-verify_ip", "192.168.1.6"]] {
      #expect(try !verify(page, options[0], options[1]).isSuccess)
    }
    #expect(try !verify(page, "-purpose", "sslclient").isSuccess)
    #expect(try !verify(page, "-purpose", "smimesign").isSuccess)
    // For days, not for years.
    let after = Int64(time(nil)) + PageAuthority.certificateLifetime + 60
    #expect(try !verify(page, "-attime", "\(after)").isSuccess)
    // As browsers and openssl show it.
    let shown = try run([
      "openssl", "x509", "-in", folder["root.pem"], "-noout", "-fingerprint", "-sha256",
    ])
    #expect(shown.text == "sha256 Fingerprint=\(try authority().fingerprint())\n")
  }

  @Test(
    "What it signs for other names and addresses is refused by its own certificates",
    arguments: ["example.org", "lap.local", "esk.local", "local", "xdesk.local"])
  func otherName(name: String) throws {
    let authority = try authority()
    let result = try verify(authority.certify(name, addresses: []))
    #expect(!result.isSuccess)
    #expect(result.errorText.contains("permitted subtree violation"), "\(result)")
  }

  @Test(
    "The same of addresses that are not private",
    arguments: [
      "192.0.2.1", "8.8.8.8", "172.32.0.1", "11.0.0.1", "127.0.0.1", "2001:db8::1", "::1",
    ])
  func otherAddress(address: String) throws {
    let result = try verify(authority().certify(addresses: [address]))
    #expect(result.errorText.contains("permitted subtree violation"), "\(result)")
  }

  @Test("What it certifies certifies nothing, and the root's key is kept nowhere")
  func keys() throws {
    let authority = try authority()
    let page = try authority.certify(addresses: [])
    // A page's key, in the authority's place.
    let text = try run(["openssl", "pkey", "-in", file, "-pubout"]).text
    let roots = try run(
      ["openssl", "x509", "-in", pem(authority.root, "root"), "-noout", "-pubkey"]
    ).text
    let issuers = try run(
      ["openssl", "x509", "-in", pem(page.chain[1], "issuer"), "-noout", "-pubkey"]
    ).text
    #expect(text == issuers && text != roots && roots.hasPrefix("-----BEGIN PUBLIC KEY-----"))
    #expect(try folder.text("keys/page-authority.pem").components(of: "PRIVATE KEY-----\n") == 2)
    let shown = try run([
      "openssl", "x509", "-in", pem(page.chain[0], "page"), "-noout", "-ext", "basicConstraints",
    ])
    #expect(shown.text.contains("CA:FALSE"))
  }

  @Test("A file that others may read, or that holds something else, is refused and stays")
  func damaged() throws {
    _ = try authority()
    let whole = try folder.text("keys/page-authority.pem")
    try #require(chmod(file, 0o640) == 0)
    #expect(throws: PageAuthorityError(path: file, defect: .openToOthers(mode: 0o640))) {
      try authority()
    }
    try #require(chmod(file, 0o600) == 0)
    let key = String(
      whole.prefix(upTo: try #require(whole.firstRange(of: "-----BEGIN CERT")).lowerBound))
    let other = try TemporaryFolder()
    _ = try PageAuthority.loadOrCreate(in: other.path, hostName: "desk.local")
    let foreign = try other.text("page-authority.pem")
    let certificates = foreign.suffix(
      from: try #require(foreign.firstRange(of: "-----BEGIN CERT")).lowerBound)
    for text in [
      "", key, String(whole.dropLast(60)), key + certificates,
      String(repeating: "x", count: 20_000),
      try String(decoding: DeviceKey.random().pem(), as: UTF8.self) + certificates,
    ] {
      try folder.write(text, to: "keys/page-authority.pem")
      #expect(throws: PageAuthorityError(path: file, defect: .notAKey), "\(text.prefix(40))") {
        try authority()
      }
      #expect(try folder.text("keys/page-authority.pem") == text)
    }
    #expect("\(PageAuthorityError(path: "/k", defect: .notAKey))".contains("/k cannot be used"))
  }
}

extension String {
  fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
