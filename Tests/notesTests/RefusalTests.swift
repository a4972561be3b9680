import Exchange
import Glibc
import TestSupport
import Testing

@testable import notes

/// Every refusal is seen by somebody who reads the tests, and every kind of failure stands in
/// notes-json(5).
@Suite struct RefusalTests {
  /// What the sources of the commands hold that looks like this.
  private func sources(_ pattern: String) throws -> [String] {
    let folder = BuiltBinary.sourceFolder + "/Sources/notes"
    let found = try run(["grep", "-rPzoh", "--include=*.swift", pattern, folder])
    return found.output.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The texts that people review: golden files, and the tests themselves but for this one.
  private func reviewed(_ folders: [String]) throws -> [CChar] {
    let paths = folders.map { BuiltBinary.sourceFolder + "/Tests/" + $0 }
    let files = try run(
      ["find"] + paths + ["(", "-name", "*.txt", "-o", "-name", "*Tests.swift", ")"]
    ).lines.filter { !$0.hasSuffix("/RefusalTests.swift") }
    return try files.flatMap { try readFile($0) }.filter { $0 != 0 }
      .map { CChar(bitPattern: $0) } + [0]
  }

  private static let codes: [String: Exit] = [
    "done": .done, "failed": .failed, "notANotebook": .notANotebook,
    "conflictsToResolve": .conflictsToResolve, "noPeerReached": .noPeerReached,
    "refusedByPeer": .refusedByPeer, "usage": .usage, "interrupted": .interrupted,
    // What the error table and failures of system calls say for them.
    "misused": .usage, "unreached": .noPeerReached, "refused": .refusedByPeer, "kind": .failed,
  ]

  /// How an entry of the error table begins.
  private static let entry = #"\b(?:failed|misused|unreached|refused|notANotebook)\("#

  /// The kinds in the sources, each with its exit statuses as the manual writes them.
  private func kinds() throws -> [String: String] {
    var codes: [String: Set<Int32>] = [:]
    let start = #"(?:(?:Failure|init)\(\s*[\w.]*,|errno: [\w.]+,\s*kind:|"# + Self.entry + ")"
    for found in try sources(start + #"\s*"[a-z_]+""#) {
      let words = found.split { !$0.isLetter && $0 != "_" }
      let kind = String(words.last ?? "")
      // A cause's own status is any.
      codes[kind, default: []].formUnion(
        Self.codes[String(words.dropLast().last ?? "")].map {
          [$0.rawValue]
        } ?? [])
    }
    return codes.mapValues { codes in
      codes.isEmpty ? "the cause's" : codes.sorted().map { String($0) }.joined(separator: " or ")
    }
  }

  @Test func `Each kind of failure stands in the manual with its exit status`() throws {
    let page = try JSONPage()
    let kinds = try kinds()
    #expect(kinds.count > 100)
    for (kind, codes) in kinds { #expect(page.failures[kind] == codes, "\(kind)") }
    for kind in page.failures.keys { #expect(kinds[kind] != nil, "\(kind)") }
  }

  @Test func `Each kind of failure is shown`() throws {
    let shown = try reviewed(["Golden", "notesTests", "EndToEnd"])
    for kind in try kinds().keys {
      let forms = ["] \(kind)\n", "\"kind\":\"\(kind)\""]
      #expect(forms.contains { strstr(shown, $0) != nil }, "\(kind)")
    }
  }

  /// By the longest part of a message that is always the same.
  @Test func `Each message of a refusal is shown`() throws {
    let shown = try reviewed(["Golden", "notesTests", "EndToEnd"])
    let start =
      #"(?:(?:Failure|init)\(\s*[\w.]*,\s*"\w+",|usage\(|system\(|ValidationError\(|"#
      + Self.entry + #"\s*"\w+",)"#
    let messages = try sources(start + #"\s*"(?:[^"\\]|\\.)*""#)
    #expect(messages.count > 150)
    for found in messages {
      let quoted = found.split(separator: "\"", omittingEmptySubsequences: false)
      var parts = Self.constantParts(of: quoted.dropLast().last ?? "")
      // The parser's own are shown in lower case, without a full stop.
      if found.hasPrefix("Validation") {
        parts = parts.map { $0.dropFirst() }.map { $0.hasSuffix(".") ? $0.dropLast() : $0 }
      }
      let longest = parts.max { $0.count < $1.count } ?? ""
      #expect(longest.count < 4 || strstr(shown, String(longest)) != nil, "\(longest)")
    }
  }

  /// A literal without what is filled in.
  private static func constantParts(of literal: Substring) -> [Substring] {
    var parts: [Substring] = []
    var rest = literal
    while let place = rest.firstRange(of: "\\(") {
      parts.append(rest[..<place.lowerBound])
      var depth = 1
      rest = rest[place.upperBound...]
      while depth > 0, let next = rest.popFirst() {
        depth += next == "(" ? 1 : next == ")" ? -1 : 0
      }
    }
    return parts + [rest]
  }
}

extension RefusalTests {
  /// An error that no module of notes throws.
  private struct Unexplained: Error {}

  private func failure(_ body: () throws -> Void) -> Failure {
    do {
      try body()
      return .usage("nothing went wrong")
    } catch {
      return Failure(describing: error)
    }
  }

  /// What would take minutes or a system without memory to see, made where it is made.
  @Test func `Refusals that are rare`() throws {
    // execve(2): one word of a command line has at most 128 KiB.
    let endless = String(repeating: "x", count: 1 << 17)
    let failures = [
      Failure.invitation(ended: .expired, after: 600),
      .invitation(ended: .expired, after: 90), .invitation(ended: .exhausted, after: 600),
      .invitation(ended: .withdrawn, after: 600),
      failure { try Editor(command: endless).edit([Array("/x/A.txt".utf8)]) },
      failure { _ = try NotebookLocator.folder("") },
      .firstSync(failed: Failure(describing: SyncError.timedOut("no answer in 30 s")), in: "/x"),
      .firstSyncInterrupted(in: "/x"), Setting.onChange.isMissing, .system("pipe", errno: EMFILE),
      Failure(describing: Unexplained()), .outputLost(errno: ENOSPC), .outputLost(errno: EBADF),
      .interrupted,
    ]
    for (terminal, suffix) in [(Terminal.plain, ""), (.screen(colour: true), "-colour")] {
      let text = failures.map { failure in
        "[\(failure.exit.rawValue)] \(failure.kind)\n" + failure.text(on: terminal)
      }.joined(separator: "\n")
      try Golden.expect(text, matches: "errors-rare\(suffix).txt")
    }
    try Golden.expect(Golden.lines(failures.map(\.json)), matches: "errors-rare.json")
  }
}
