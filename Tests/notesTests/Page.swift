import TestSupport
import Testing

/// The page of a notebook, as a browser reads it.
final class Page {
  private let service: RunningProcess
  private let (jar, origin, root): (String, String, String)

  init(of shell: Shell) throws {
    service = try RunningProcess(
      [BuiltBinary.notes(), "web", "--no-open", "--json"], in: shell.folder["notes"],
      environment: shell.environment)
    let link = try #require(try JSONValue.lines(service.line(within: 120)).first?["link"])
    jar = shell.folder["jar"]
    let opened = try run(["curl", "-sS", "-c", jar, link]).text
    root = String(try #require(opened.firstMatch(of: #/url=(\/[a-z0-9]+)\//#)).1)
    origin = "http://" + link.split(separator: "/")[1]
  }

  deinit { service.send(9) }

  func get(_ path: String) throws -> String {
    try run(["curl", "-sS", "-b", jar, origin + path]).text
  }

  /// The address of the first note in the list.
  func firstNote() throws -> String {
    String(
      try #require(try get(root + "/").firstMatch(of: #/href="(\/[a-z0-9]+\/n\/[^"#?\/]*)"/#)).1)
  }

  /// Whether a line of the page shows a conflict's marker, whose label is the note's own text: notes-security(7), "What
  /// is not promised".
  private static func isMarker(_ line: Substring) -> Bool {
    ["&lt;&lt;&lt;", "&gt;&gt;&gt;", "|||||||", "======="].contains(where: line.contains)
  }

  /// Reads the pages that lead to versions: each shows a mark where nothing proves the author, and the name that
  /// nobody has never without one.
  func expectEarned(_ isProved: [String: Bool], _ forged: String) throws {
    let before = try ProcessCost(of: service.pid)
    try ProcessCost.forgetPeak(of: service.pid)
    var (pending, seen, versions) = ([root + "/"], Set([root + "/"]), 0)
    while let path = pending.popLast(), seen.count < 60 {
      let text = try get(path)
      for match in text.matches(of: #/href="(\/[a-z0-9]+\/n\/[^"#?]*)"/#) {
        let next = String(match.1)
        if next.hasPrefix(root), seen.insert(next).inserted { pending.append(next) }
      }
      for line in text.split(separator: "\n")
      where !Self.isMarker(line) {
        for rest in line.ranges(of: forged).map({ line[$0.upperBound...] }) {
          let isMarked = ["", "</b>"].contains {
            rest.hasPrefix($0 + " (via bob)") || rest.hasPrefix($0 + " <span class=\"chip warn\">")
          }
          #expect(isMarked, "\(path): \(line)")
        }
      }
      if let id = path.firstMatch(of: #/[0-9a-f]{40}/#).map({ String($0.output) }),
        isProved[id] == false
      {
        versions += 1
        #expect(text.contains("chip warn"), "\(path): \(text)")
      }
    }
    #expect(versions > 0 || !isProved.values.contains(false), "\(seen)")
    let after = try ProcessCost(of: service.pid)
    #expect(after.processorSeconds - before.processorSeconds <= 10)
    #expect(after.peakBytes <= 200 << 20)
  }
}
