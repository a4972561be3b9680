import FoundationEssentials
import Git
import Glibc
import Merge
import Notebook

/// Makes merges for scripts: one JSON request a line on standard input, one answer a line.
///
/// `{"repository": FOLDER, "heads": [ID, …]}` makes a tip in that repository, within `"bounds"`.
/// `{"positives": [TEXT, …], "negatives": [TEXT or null, …]}` merges texts, in base64; the sides are
/// labelled `S1 · 2026-01-01 00:00` and so on. `"rules": 0` leaves the fine-grained rules out.
@main
struct MergeTrial {
  struct Request: Decodable {
    var repository: String?
    var heads: [String]?
    var positives: [String]?
    var negatives: [String?]?
    /// The sizes of the markers that positives and then negatives hold.
    var markerSizes: [Int?]?
    var rules: Int?
    var bounds: MergeBounds?
  }

  struct Answer: Encodable {
    var tip: String?
    var tree: String?
    /// Paths, which may be any bytes, in base64.
    var conflicts: [String]?
    var reports: [String]?
    /// Paths in base64, and the fine-grained rules that had a part in them.
    var merged: [[String]]?
    var text: String?
    var markerSize: Int?
    var rules: String?
    var milliseconds = 0.0
    var error: String?
  }

  static func main() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    while let line = readLine() {
      let request = try JSONDecoder().decode(Request.self, from: Data(line.utf8))
      var answer = Answer()
      let clock = ContinuousClock()
      let time = clock.measure {
        do {
          answer = try self.answer(request)
        } catch {
          answer.error = "\(error)"
        }
      }
      answer.milliseconds =
        Double(time.components.seconds) * 1e3 + Double(time.components.attoseconds) / 1e15
      print(String(decoding: try encoder.encode(answer), as: UTF8.self))
      fflush(nil)
    }
  }

  private static func base64(_ path: TreePath) -> String {
    Data(path.bytes).base64EncodedString()
  }

  private static func answer(_ request: Request) throws -> Answer {
    var answer = Answer()
    if let folder = request.repository {
      let repository = try Repository.open(at: folder)
      let heads = (request.heads ?? []).compactMap { ObjectID(hex: $0) }
      let tip = try DerivedMerge.tip(
        of: heads, in: repository, bounds: request.bounds ?? .standard)
      answer.tip = tip.id.hex
      answer.tree = try repository.commit(tip.id).tree.hex
      answer.conflicts = tip.conflicts.map(base64)
      answer.merged = tip.reports.compactMap { report in
        if case .merged(let rules) = report.kind {
          [base64(report.path), rules.names]
        } else {
          nil
        }
      }
      answer.reports = tip.reports.map { "\($0.path): \($0.kind)" }
    } else {
      let sizes = request.markerSizes ?? []
      func terms(_ texts: [String?], from first: Int, name: String) -> [TextTerm?] {
        texts.enumerated().map { index, text in
          text.map {
            TextTerm(
              text: [UInt8](Data(base64Encoded: $0) ?? Data()),
              markerSize: first + index < sizes.count ? sizes[first + index] : nil,
              label: Array("\(name)\(index + 1) · 2026-01-01 00:00".utf8))
          }
        }
      }
      let positives = terms(request.positives ?? [], from: 0, name: "S").compactMap { $0 }
      var budget = MergeBudget(request.bounds ?? .standard)
      let result = TextMerge.merge(
        positives: positives,
        negatives: terms(request.negatives ?? [], from: positives.count, name: "B"),
        rules: request.rules.map { MergeRules(rawValue: $0) } ?? .all, budget: &budget)
      answer.text = Data(result.text).base64EncodedString()
      answer.markerSize = result.markerSize
      answer.rules = result.rules.names
    }
    return answer
  }
}
