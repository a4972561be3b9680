internal import Git
internal import Glibc

/// The words that the list shows below a note's title, and how many of its boxes are ticked.
struct Preview {
  let words: String
  /// Nil if the text has no boxes, or is too long to be read for a list.
  let boxes: (ticked: Int, all: Int)?

  /// How much of a file is read, in bytes.
  private static let mostRead = 16 << 10
  /// How many letters are shown at most.
  private static let longest = 200

  /// The preview of the file in the folder; empty if it cannot be read, or is not text.
  init(of path: TreePath, in folder: String) {
    guard let bytes = Self.beginning(of: folder + "/" + path.description), !bytes.contains(0) else {
      (words, boxes) = ("", nil)
      return
    }
    let text = String(decoding: bytes, as: UTF8.self)
    let lines = (path.textBehindTitle(text) ?? text[...]).split { $0.isNewline }
    var words = ""
    var (ticked, all) = (0, 0)
    for line in lines {
      // The markers of a conflict, which the list names.
      if ["<<<<<<<", "=======", ">>>>>>>"].contains(where: line.hasPrefix) { continue }
      let box = TaskLine(line)
      if let box { (ticked, all) = (ticked + (box.isTicked ? 1 : 0), all + 1) }
      let text = Self.plain(box?.text ?? line)
      guard words.count < Self.longest, !text.isEmpty else { continue }
      if let last = words.last { words += box == nil || last.isPunctuation ? " " : ", " }
      words += text
    }
    self.words = String(words.prefix(Self.longest))
    boxes = all > 0 && bytes.count < Self.mostRead ? (ticked, all) : nil
  }

  /// A line without the marks of Markdown around its words.
  static func plain(_ line: Substring) -> String {
    let marks: Set<Character> = ["#", ">", "-", "*", "+", "=", "_", "~", "`", "|", " ", "\t"]
    let (links, titles) = (#/!?\[([^\[\]]*)\]\([^\s()]+\)/#, #/\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]/#)
    let stress = #/(\*{1,3}|~~|`+)(\S|\S[^*~`]*\S)\1/#
    var line = line.prefix(2 * longest)
    if line.contains("](") { line = line.replacing(links) { $0.1 } }
    if line.contains("[[") { line = line.replacing(titles) { $0.1 } }
    if line.contains(where: { "*~`".contains($0) }) { line = line.replacing(stress) { $0.2 } }
    let text = line.drop(while: marks.contains)
    let end =
      text.lastIndex { !marks.contains($0) }.map { text.index(after: $0) } ?? text.startIndex
    return String(text[..<end].prefix(longest))
  }

  private static func beginning(of file: String) -> [UInt8]? {
    let descriptor = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    var bytes = [UInt8](repeating: 0, count: min(mostRead, Int(status.st_size)))
    let count = read(descriptor, &bytes, bytes.count)
    return count < 0 ? nil : Array(bytes.prefix(count))
  }
}

/// A line with a box to tick, `- [ ] milk`, as GitHub's Markdown has it.
struct TaskLine {
  let isTicked: Bool
  /// The line's text before the box's mark, and from its closing bracket on.
  let start: Substring
  let rest: Substring

  /// The text after the box.
  var text: Substring { rest.drop { $0 == " " || $0 == "\t" } }

  /// The same line with the box ticked, or not.
  var switched: String { start + (isTicked ? " " : "x") + "]" + rest }

  /// Nil for a line without a box.
  init?(_ line: Substring) {
    let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    // The box may be in quotations and lists.
    var place = line.drop { isSpace($0) || $0 == ">" }
    guard let bullet = place.first else { return nil }
    if "-*+".contains(bullet) {
      place = place.dropFirst()
    } else {
      let digits = place.prefix { $0.isASCII && $0.isNumber }
      guard (1...9).contains(digits.count), let mark = place.dropFirst(digits.count).first,
        mark == "." || mark == ")"
      else { return nil }
      place = place.dropFirst(digits.count + 1)
    }
    guard place.first.map(isSpace) == true else { return nil }
    place = place.drop(while: isSpace)
    guard place.first == "[", let mark = place.dropFirst().first, " xX".contains(mark) else {
      return nil
    }
    let inside = place.index(after: place.startIndex)
    let close = place.index(after: inside)
    guard close < place.endIndex, place[close] == "]" else { return nil }
    rest = place[place.index(after: close)...]
    guard rest.first.map(isSpace) ?? true else { return nil }
    isTicked = mark != " "
    start = line[..<inside]
  }
}
