import TestSupport
import Testing

@testable import Membership

/// notes-security(7), "The notebook's name".
@Suite struct NotebookNameTests {
  private let family: Family
  private var store: MembershipStore { family.store }

  init() throws { family = try Family() }

  @Test func `An admin's name reaches all, and is there when the store is read again`() throws {
    let ann = try family.add("Ann", .admin)
    let (hers, ben) = (try family.copy("ann"), try family.copy("ben"))
    try hers.rename(notebook: "Our home", by: ann, now: Family.start + 10)
    #expect(hers.notebookName == "Our home" && ben.notebookName == "Home")
    #expect(try ben.merge(hers))
    #expect(try !ben.merge(hers))
    #expect(ben.notebookName == "Our home")
    #expect(try MembershipStore.open(in: ben.folder).notebookName == "Our home")
    #expect(try ben.digest() == hers.digest())
    // It is nobody's certificate.
    #expect(ben.members().map(\.name) == store.members().map(\.name))
    try store.merge(ben)
    // Who joins now has it from the start.
    let cleo = try MembershipStore.open(in: family.copy("cleo").folder)
    #expect(cleo.notebookName == "Our home")
    #expect(try cleo.digest() == hers.digest())
    try store.rename(notebook: "Home", by: family.founder, now: Family.start + 20)
    #expect(store.notebookName == "Home")
    #expect(store.notebookID == ben.notebookID)
  }

  @Test func `Only an admin names the notebook, and by a name that can be one`() throws {
    let cyd = try family.add("Cyd", .writer)
    let hers = try family.copy("cyd")
    #expect(
      failure { try hers.rename(notebook: "Mine", by: cyd) } == .notAnAdmin(device: cyd.deviceID))
    guard case .nameRefused = failure({ try store.rename(notebook: "a/b", by: family.founder) })
    else {
      Issue.record("a name with a slash was taken")
      return
    }
    // Signed all the same: it is passed over.
    let set = try CertificateSet(root: store.root)
    let own = try #require(
      try store.certificates.map { try Certificate(der: $0) }.first { $0.deviceID == cyd.deviceID })
    let forged = try Certificate.name(
      "Mine", ofNotebook: set.notebookID, issuer: own, signedWith: cyd, now: Family.start + 50)
    #expect(try !store.merge(certificates: [forged.der], revocations: []))
    // So is an admin's that is about another notebook.
    let other = try Family(name: "Other")
    let root = try Certificate(der: store.root)
    let foreign = try Certificate.name(
      "Mine", ofNotebook: other.store.notebookID, issuer: root, signedWith: family.founder,
      now: Family.start + 50)
    #expect(try !store.merge(certificates: [foreign.der], revocations: []))
    #expect(store.notebookName == "Home")
  }

  /// "The notebook has the name that counts with the latest notBefore".
  @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]])
  func `The latest counts, in whatever order they arrive`(order: [Int]) throws {
    let ann = try family.add("Ann", .admin)
    let ben = try family.add("Ben", .admin)
    let sources = try ["a", "b", "c"].map { try family.copy($0) }
    try sources[0].rename(notebook: "First", by: ann, now: Family.start + 10)
    try sources[1].rename(notebook: "Last", by: ben, now: Family.start + 30)
    try sources[2].rename(notebook: "Second", by: family.founder, now: Family.start + 20)
    let target = try family.copy("target")
    for index in order { try target.merge(sources[index]) }
    #expect(target.notebookName == "Last")
    // The latest name of each key is kept.
    let count = target.certificates.count
    try target.rename(notebook: "Later", by: family.founder, now: Family.start + 40)
    #expect(target.notebookName == "Later" && target.certificates.count == count)
  }

  /// "of equally late names, the one with the greater bytes"
  @Test func `Of names of one second all devices take the same`() throws {
    let ann = try family.add("Ann", .admin)
    let (one, other) = (try family.copy("one"), try family.copy("other"))
    try one.rename(notebook: "Mine", by: ann, now: Family.start + 10)
    try other.rename(notebook: "Yours", by: family.founder, now: Family.start + 10)
    try one.merge(other)
    try other.merge(one)
    #expect(one.notebookName == other.notebookName)
    #expect(try one.digest() == other.digest())
  }

  /// "A name counts while its key is an admin's".
  @Test(arguments: [false, true]) func `A former admin's name is void`(isRemoved: Bool) throws {
    let ann = try family.add("Ann", .admin)
    try store.rename(notebook: "Ours", by: family.founder, now: Family.start + 5)
    let hers = try family.copy("ann")
    try hers.rename(notebook: "Hers", by: ann, now: Family.start + 10)
    try store.merge(hers)
    #expect(store.notebookName == "Hers")
    if isRemoved {
      try store.remove(devices: [ann.deviceID], by: family.founder, now: Family.start + 20)
    } else {
      try store.reissue(
        device: ann.deviceID, role: .writer, by: family.founder, now: Family.start + 20)
    }
    #expect(store.notebookName == "Ours")
    // What she signs later changes nothing where the removal is known, whatever comes first.
    try hers.rename(notebook: "Hers again", by: ann, now: Family.start + 30)
    try store.merge(hers)
    #expect(store.notebookName == "Ours")
    try hers.merge(store)
    #expect(hers.notebookName == "Ours")
    if !isRemoved {
      try store.reissue(
        device: ann.deviceID, role: .admin, by: family.founder, now: Family.start + 40)
      #expect(store.notebookName == "Hers again")
    }
  }

  /// "So a name under a clock that stood in 2099 is changed like any other."
  @Test func `A name from the future is changed`() throws {
    let ann = try family.add("Ann", .admin)
    try store.rename(notebook: "Tomorrow", by: ann, now: 4_070_908_800)
    try store.rename(notebook: "Today", by: family.founder, now: Family.start + 10)
    #expect(store.notebookName == "Today")
  }

  @Test func `Of many names as many are kept as the limit says, and members stay`() throws {
    for number in 0..<(CertificateSet.maximumNames + 6) {
      let admin = try family.add("Admin \(number)", .admin)
      try store.rename(notebook: "Name \(number)", by: admin, now: Family.start + Int64(number))
    }
    let set = try CertificateSet(root: store.root, capacity: 4096)
    var kept = set
    _ = try kept.insert(certificates: store.certificates, revocationLists: store.revocations)
    #expect(kept.names.count == CertificateSet.maximumNames)
    #expect(kept.certificates.count == CertificateSet.maximumNames + 7)
    #expect(kept.notebookName == "Name \(CertificateSet.maximumNames + 5)")
  }

  @Test func `A notebook that is begun anew keeps its name`() throws {
    try store.rename(notebook: "Ours", by: family.founder, now: Family.start + 5)
    let anew = try MembershipStore.found(
      in: family.folder["anew"], notebookName: store.notebookName, deviceName: "Laptop",
      key: family.founder, continuing: store, now: Family.start + 60)
    #expect(anew.notebookName == "Ours" && anew.notebookID != store.notebookID)
  }
}
