import Glibc
import Membership
import Testing
import WorkTree

@testable import notes

@Suite struct OutputTests {
  @Test func `JSON is one line with its fields in order`() {
    let value: JSON = [
      "text": "a\"b\\c\n\u{1B}\u{202E}é😀", "none": JSON.null, "yes": true,
      "list": [JSON.int(-1), JSON.string("")],
    ]
    #expect(
      value.text
        == #"{"text":"a\"b\\c\n\u001b\u202eé😀","none":null,"yes":true,"list":[-1,""]}"#)
  }

  @Test(arguments: [
    (0, "0 notes"), (1, "1 note"), (2, "2 notes"), (12_345_678, "12,345,678 notes"),
  ])
  func `Things are counted in words`(count: Int, expected: String) {
    #expect(Phrase.count(count, "note") == expected)
  }

  @Test(arguments: [
    (0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (9_999, "9.9 KB"), (12_345, "12 KB"),
    (999_999, "999 KB"), (1_000_000, "1.0 MB"), (52_428_800, "52 MB"), (3_000_000_000, "3.0 GB"),
  ])
  func `Sizes have two digits or three`(bytes: Int, expected: String) {
    #expect(Phrase.bytes(bytes) == expected)
  }

  @Test(
    arguments: [
      (0, 0, "1970-01-01T00:00:00Z"), (1_700_000_000, 60, "2023-11-14T23:13:20+01:00"),
      (1_709_164_800, -570, "2024-02-28T14:30:00-09:30"), (-1, 0, "1969-12-31T23:59:59Z"),
      (4_107_542_400, 0, "2100-03-01T00:00:00Z"), (951_782_400, 0, "2000-02-29T00:00:00Z"),
    ] as [(Int64, Int, String)])
  func `Times are RFC 3339`(seconds: Int64, offset: Int, expected: String) {
    #expect(TimeText.rfc3339(seconds, offset: offset) == expected)
  }

  @Test(
    arguments: [
      (0, "just now"), (-30, "just now"), (59, "just now"), (60, "1 minute ago"),
      (3_599, "59 minutes ago"), (3_600, "1 hour ago"), (86_399, "23 hours ago"),
      (86_400, "yesterday"), (172_800, "2 days ago"), (14 * 86_400, "2 weeks ago"),
      (70 * 86_400, "2 months ago"),
    ] as [(Int64, String)])
  func `Ages are told as people tell them`(age: Int64, expected: String) {
    #expect(TimeText.relative(1_700_000_000 - age, now: 1_700_000_000) == expected)
  }

  @Test(
    arguments: [
      ("stauts", "status"), ("lst", "list"), ("conf", "conflicts"), ("xyzzy", nil), ("Log", "log"),
      ("shwo", "show"),
    ] as [(String, String?)])
  func `A mistyped word finds its meaning`(typed: String, expected: String?) {
    let words = ["status", "list", "log", "show", "save", "conflicts"]
    #expect(Similarity.nearest(to: typed, among: words) == expected)
  }

  @Test(
    arguments: [
      ("shoping", ["Shopping"]), ("Sopu", ["Soup"]), ("Jurnal", ["Journal", "Journal 2026"]),
      ("xyzzy", []), ("recipe", ["My recipes"]), ("日木語", ["日本語"]), ("", []),
    ] as [(String, [String])])
  func `A mistyped title finds those it may mean`(typed: String, expected: [String]) {
    let titles = ["Soup", "Shopping", "Journal 2026", "Journal", "My recipes", "日本語", "Plan"]
    #expect(Similarity.titles(near: typed, among: titles) == expected)
  }

  // The XDG Base Directory Specification: unset, empty and relative values fall back.
  @Test(
    arguments: [
      (["HOME": "/h"], "/h/.local/share/notes", "/h/.config/notes", nil),
      (
        ["HOME": "/h", "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "c"], "/h/.local/share/notes",
        "/h/.config/notes", nil
      ),
      (
        ["XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c", "XDG_RUNTIME_DIR": "/r"], "/d/notes",
        "/c/notes", "/r/notes"
      ),
    ] as [([String: String], String, String, String?)])
  func `User folders follow XDG`(
    variables: [String: String], data: String, config: String, runtime: String?
  ) throws {
    let folders = UserFolders(environment: Environment(fixed: variables))
    #expect(try folders.data == data)
    #expect(try folders.config == config)
    #expect(folders.runtime == runtime)
  }

  @Test func `Without a home folder the failure says what to set`() {
    let folders = UserFolders(environment: Environment(fixed: ["HOME": "relative"]))
    #expect(throws: Failure.self) { try folders.data }
  }

  @Test func `Settings are lines of key and value`() {
    let settings = SettingsText("# note\n device-name =  Ann's laptop \nother\nempty=\n")
    #expect(settings["device-name"] == "Ann's laptop")
    #expect(settings["empty"]?.isEmpty == true)
    #expect(settings["other"] == nil && settings["# note"] == nil)
  }

  @Test func `The host's name is an acceptable device name`() throws {
    _ = try DisplayName.check(DeviceName.hostName)
  }
}
