import Glibc
import TestSupport
import Testing

// The program and the second implementation in Tests/Reference, which follows notes-merge(7) alone,
// on random texts and histories. agree.py prints its seed and every case that differs.

@Suite struct MergeReferenceTests {
  @Test func referenceAgreesOnRandomCases() throws {
    let script = BuiltBinary.sourceFolder + "/Tests/Reference/agree.py"
    let seed = TestEnvironment.variable("NOTES_TEST_SEED").map { [$0] } ?? []
    let result = try run(["python3", script, try mergeTrial(), "2000"] + seed, within: 720)
    print(result.text)
    #expect(result.isSuccess, "\(result)")
  }

  /// "a merge that is clean in git has the same result here": bench/merge-oracle prints its seed and every file
  /// that differs for no reason that notes-merge(7) states.
  @Test func whatGitMergesCleanlyIsMergedAlike() throws {
    let script = BuiltBinary.sourceFolder + "/bench/merge-oracle"
    let seed = TestEnvironment.variable("NOTES_TEST_SEED").map { ["--seed", $0] } ?? []
    let result = try run(
      ["python3", script, "--pairs", "150", "--trial", try mergeTrial()] + seed, within: 720)
    print(result.text)
    #expect(result.isSuccess, "\(result)")
  }

  /// The program of Tests/MergeTrial, built beside the tests.
  private func mergeTrial() throws -> String {
    guard let path = realpath("/proc/self/exe", nil) else { throw SystemError("realpath") }
    defer { free(path) }
    let folder = String(cString: path).split(separator: "/").dropLast().joined(separator: "/")
    return "/\(folder)/MergeTrial"
  }
}
