import System
internal import TestSupport
import Testing

@testable import Membership

// notes-security(7), "Certificates": the profile, field by field, as OpenSSL's own tools see it.
@Suite("Membership: certificates", .timeLimit(.minutes(20)))
struct CertificateTests {
  @Test("The root: self-signed, named by the notebook ID and the notebook's name")
  func root() throws {
    let family = try Family(name: "Zuhause · 家")
    let text = try run([
      "openssl", "x509", "-in", family.folder["founder/root.crt"], "-noout", "-text", "-nameopt",
      "utf8,sep_comma_plus,lname",
    ]).text
    let identifier = family.store.notebookID
    #expect(text.contains("Version: 3 (0x2)"))
    #expect(text.contains("Signature Algorithm: ED25519"))
    #expect(text.contains("Issuer: commonName=\(identifier),organizationName=Zuhause · 家"))
    #expect(text.contains("Subject: commonName=\(identifier),organizationName=Zuhause · 家"))
    #expect(text.contains("Not Before: Jan 15 08:00:00 2027 GMT"))
    #expect(text.contains("Not After : Dec 31 23:59:59 9999 GMT"))
    #expect(text.contains("X509v3 Basic Constraints: critical\n                CA:TRUE"))
    #expect(text.contains("Digital Signature, Certificate Sign, CRL Sign"))
  }

  @Test("The notebook ID is the hash of the founder's key and the root's serial number")
  func notebookID() throws {
    let family = try Family()
    let script = """
      key() { openssl x509 -in "$1" -noout -pubkey | openssl pkey -pubin -outform DER; }
      serial() { openssl x509 -in "$1" -noout -serial | sed 's/.*=//' | tr -d '\\n' |
        sed -e ':a' -e 's/^.\\{1,31\\}$/0&/' -e 'ta' | tr a-f A-F | basenc --base16 -d; }
      { printf 'notes notebook 1\\0'; key "$1"; serial "$1"; } | openssl dgst -sha256 -binary |
        base32 -w0 | tr -d = | tr A-Z a-z
      """
    let result = try run(["sh", "-c", script, "sh", family.folder["founder/root.crt"]])
    #expect(result.text == family.store.notebookID)
  }

  @Test("Members: CN is the device's name, OU the role; admins are authorities, others are not")
  func members() throws {
    let family = try Family()
    for role in Role.allCases {
      let key = try family.add("desk", role)
      let der = try #require(try family.store.chain(for: key).first)
      try family.folder.write(der, to: "member.crt")
      let text = try run([
        "openssl", "x509", "-in", family.folder["member.crt"], "-noout", "-text", "-nameopt",
        "utf8,sep_comma_plus,sname",
      ]).text
      #expect(text.contains("Subject: CN=desk,OU=\(role.rawValue)\n"))
      #expect(text.contains(role == .admin ? "CA:TRUE" : "CA:FALSE"))
      #expect(text.contains("Certificate Sign") == (role == .admin))
      #expect(text.contains("Digital Signature"))
      // "its device signs every version that it makes"
      #expect(text.contains(Extension.signsVersions.rawValue))
      // The key identifier is the device ID's own hash.
      let identifier = String(hexadecimal: try PublicKey.identifier(key.publicKey)).uppercased()
      #expect(text.replacing(":", with: "").contains(identifier))
    }
  }

  @Test("openssl verify follows a chain through an admin, and needs the admin")
  func verify() throws {
    let family = try Family()
    let admin = try family.add("admin", .admin)
    let phone = try family.add("phone", .writer, by: admin)
    let chain = try family.store.chain(for: phone)
    #expect(chain.count == 2)
    let folder = family.folder
    for (name, der) in [("phone", chain[0]), ("admin", chain[1]), ("root", family.store.root)] {
      try folder.write(der, to: "\(name).crt")
      #expect(
        try run([
          "openssl", "x509", "-in", folder["\(name).crt"], "-out", folder["\(name).pem"],
        ]).isSuccess)
    }
    let command = [
      "openssl", "verify", "-x509_strict", "-no_check_time", "-CAfile", folder["root.pem"],
    ]
    for purpose in ["sslclient", "sslserver"] {
      let full =
        command + ["-purpose", purpose, "-untrusted", folder["admin.pem"], folder["phone.pem"]]
      #expect(try run(full).isSuccess)
    }
    #expect(try !run(command + [folder["phone.pem"]]).isSuccess)
    // What a revoked member says to others: signatures are right, so only our check refuses it.
    try family.store.remove(devices: [phone.deviceID], by: family.founder)
    #expect(failure { _ = try family.store.verify(chain: chain) }?.isRemoval == true)
  }

  @Test("Any byte changed anywhere makes a certificate that is not taken in")
  func everyByte() throws {
    let family = try Family()
    let phone = try family.add("phone", .writer)
    let der = try #require(try family.store.chain(for: phone).first)
    var set = try CertificateSet(root: family.store.root)
    for index in der.indices {
      for bit in [UInt8(0x01), 0x80] {
        var changed = der
        changed[index] ^= bit
        #expect(try set.insert(certificates: [changed], revocationLists: []) == false)
      }
    }
    for changed in [der + [0], Array(der.dropLast()), []] {
      #expect(try set.insert(certificates: [changed], revocationLists: []) == false)
    }
    #expect(try set.insert(certificates: [der], revocationLists: []))
  }

  @Test("Any byte changed anywhere makes a root that is refused")
  func everyRootByte() throws {
    let family = try Family()
    let root = family.store.root
    for index in root.indices {
      var changed = root
      changed[index] ^= 0x01
      #expect(throws: MembershipError.self) { try CertificateSet(root: changed) }
    }
  }

  @Test(
    "Certificates signed with the right key but outside the profile are refused",
    arguments: [
      // What makes each wrong, for `openssl x509 -req`: subject, extensions, key.
      ("/CN=desk/OU=writer", "basicConstraints=critical,CA:TRUE", "ED25519"),
      ("/CN=desk/OU=admin", "basicConstraints=critical,CA:FALSE", "ED25519"),
      ("/CN=desk/OU=owner", "basicConstraints=critical,CA:FALSE", "ED25519"),
      ("/CN=desk", "basicConstraints=critical,CA:FALSE", "ED25519"),
      ("/OU=writer/CN=desk", "basicConstraints=critical,CA:FALSE", "ED25519"),
      ("/CN=desk/OU=writer/O=x", "basicConstraints=critical,CA:FALSE", "ED25519"),
      ("/CN=-desk/OU=writer", "basicConstraints=critical,CA:FALSE", "ED25519"),
      ("/CN=desk/OU=writer", "basicConstraints=CA:FALSE", "ED25519"),
      (
        "/CN=desk/OU=writer", "basicConstraints=critical,CA:FALSE\n1.2.3.4=critical,DER:0500",
        "ED25519"
      ),
      ("/CN=desk/OU=writer", "basicConstraints=critical,CA:FALSE", "ED448"),
      ("/CN=desk/OU=writer", "basicConstraints=critical,CA:FALSE", "EC"),
      ("", "", ""),
    ] as [(String, String, String)])
  func outsideTheProfile(subject: String, extensions: String, algorithm: String) throws {
    let family = try Family()
    try family.folder.write(family.founder.pem(), to: "founder.pem")
    let isControl = subject.isEmpty
    let constraints = isControl ? "basicConstraints=critical,CA:FALSE" : extensions
    // A control: the same by all means within the profile is taken in.
    try family.folder.write(
      """
      \(constraints)
      keyUsage=critical,digitalSignature\(constraints.contains("TRUE") ? ",keyCertSign,cRLSign" : "")
      subjectKeyIdentifier=KEYID
      authorityKeyIdentifier=DER:30228020ISSUER
      """, to: "extensions")
    let script = """
      set -e; cd "$1"
      case $3 in
      EC) openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem ;;
      ED448) openssl genpkey -algorithm ED448 -out key.pem ;;
      *) openssl genpkey -algorithm ED25519 -out key.pem ;;
      esac
      hash() { openssl dgst -sha256 -r | cut -c 1-64; }
      id=$(openssl pkey -in key.pem -pubout -outform DER | hash)
      issuer=$(openssl pkey -in founder.pem -pubout -outform DER | hash)
      sed -i "s/KEYID/$id/; s/ISSUER/$issuer/" extensions
      openssl req -new -utf8 -key key.pem -subj "$2" -out desk.csr
      openssl x509 -in founder/root.crt -out root.pem
      openssl x509 -req -in desk.csr -CA root.pem -CAkey founder.pem -days 10 \\
        -set_serial 0x1234567890 -extfile extensions -outform DER -out desk.crt
      """
    let made = try run([
      "sh", "-c", script, "sh", family.folder.path, isControl ? "/CN=desk/OU=writer" : subject,
      algorithm,
    ])
    #expect(made.isSuccess, "\(made.errorText)")
    let taken = try family.store.merge(
      certificates: [family.folder.read("desk.crt")], revocations: [])
    #expect(taken == isControl)
  }

  @Test("A request proves that its sender holds the key; openssl reads and checks it")
  func requests() throws {
    let folder = try TemporaryFolder()
    let key = try DeviceKey.random()
    let request = try CertificateRequest(name: "Anna's phone", key: key)
    try folder.write(request.der, to: "request.csr")
    let shown = try run([
      "openssl", "req", "-inform", "DER", "-in", folder["request.csr"], "-verify", "-noout",
      "-subject", "-nameopt", "utf8,sep_comma_plus,sname",
    ])
    #expect((shown.errorText + shown.text).contains("verify OK"))
    #expect(shown.text.contains("subject=CN=Anna's phone"))
    let read = try CertificateRequest(der: request.der)
    #expect(read.name == "Anna's phone" && read.deviceID == key.deviceID)
    for index in request.der.indices {
      var changed = request.der
      changed[index] ^= 0x01
      #expect(throws: MembershipError.self) { try CertificateRequest(der: changed) }
    }
    #expect(throws: MembershipError.requestRefused(.name(.forbidden(0x1B)))) {
      try CertificateRequest(name: "\u{1B}[2J", key: key)
    }
    #expect(throws: MembershipError.requestRefused(.tooLarge(2049))) {
      try CertificateRequest(der: [UInt8](repeating: 0x30, count: 2049))
    }
  }
}

extension MembershipError {
  var isRemoval: Bool { if case .removed = self { true } else { false } }
}
