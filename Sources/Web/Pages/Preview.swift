internal import Git
internal import WorkTree

/// The words that the list shows below a note's title, and the number of its ticked boxes.
struct Preview {
  let words: String
  /// The numbers of ticked and of all boxes; nil if the text has none, or is too long to be read for a list.
  let boxes: (ticked: Int, all: Int)?

  /// How many bytes of a file are read.
  private static let mostRead = 16 << 10
  /// The most letters that are shown.
  private static let longest = 200

  /// The preview of the file in the folder; empty if it cannot be read, or is not text.
  init(of path: TreePath, in folder: WorkTree) {
    // A file that cannot be opened has an empty preview.
    let file = (try? folder.open(path)).map { OpenFile($0) }
    guard let bytes = file?.read(from: 0, min(Self.mostRead, file?.size ?? 0)), !bytes.contains(0)
    else {
      (words, boxes) = ("", nil)
      return
    }
    let text = String(decoding: bytes, as: UTF8.self)
    let lines = (path.textBehindTitle(text) ?? text[...]).utf8.split { "\r\n".utf8.contains($0) }
    var words = ""
    var (ticked, all) = (0, 0)
    for line in lines {
      let box = line.contains(UInt8(ascii: "[")) ? TaskLine(Substring(line)) : nil
      if let box { (ticked, all) = (ticked + (box.isTicked ? 1 : 0), all + 1) }
      // The list already shows that there is a conflict: skip its markers.
      guard words.utf8.count < 4 * Self.longest, !Self.markers.contains(where: line.starts) else {
        continue
      }
      let text = Self.plain(box?.text ?? Substring(line))
      if text.isEmpty { continue }
      if let last = words.last { words += box == nil || last.isPunctuation ? " " : ", " }
      words += text
    }
    self.words = String(words.prefix(Self.longest))
    boxes = all > 0 && bytes.count < Self.mostRead ? (ticked, all) : nil
  }

  private static let markers = ["<<<<<<<", "=======", ">>>>>>>"].map { Array($0.utf8) }

  /// A line without Markdown's marks around and in its words. A list has thousands of lines, so each letter is
  /// read only once.
  static func plain(_ line: Substring) -> String {
    let bytes = Array(line.prefix(2 * longest).utf8)
    let words = bytes.contains { "[*`~".utf8.contains($0) } ? unstressed(unlinked(bytes)) : bytes
    let marks = Set("#>-*+=_~`| \t".utf8)
    guard let first = words.firstIndex(where: { !marks.contains($0) }),
      let last = words.lastIndex(where: { !"#=*_~`| \t".utf8.contains($0) }), first <= last
    else { return "" }
    return String(String(decoding: words[first...last], as: UTF8.self).prefix(longest))
  }

  /// Links replaced by their words: `[words](address)`, `[[title|words]]` and `[[title]]`.
  private static func unlinked(_ line: [UInt8]) -> [UInt8] {
    let (open, close) = (UInt8(ascii: "["), UInt8(ascii: "]"))
    var words: [UInt8] = []
    var rest = line[...]
    while let start = rest.firstIndex(of: open) {
      let isTitle = rest.dropFirst(start + 1 - rest.startIndex).first == open
      let inside = rest[(start + (isTitle ? 2 : 1))...].prefix { $0 != open && $0 != close }
      let behind = rest[inside.endIndex...]
      let address = behind.dropFirst(2).prefix { !" \t()".utf8.contains($0) }
      let end: Int
      if isTitle, behind.starts(with: [close, close]) {
        end = behind.startIndex + 2
      } else if !isTitle, behind.starts(with: [close, UInt8(ascii: "(")]), !address.isEmpty,
        address.endIndex < line.endIndex, line[address.endIndex] == UInt8(ascii: ")")
      {
        end = address.endIndex + 1
      } else {
        words += rest[...start]
        rest = rest[(start + 1)...]
        continue
      }
      words += rest[..<start]
      if !isTitle, words.last == UInt8(ascii: "!") { words.removeLast() }
      words +=
        isTitle ? inside.split(separator: UInt8(ascii: "|"), maxSplits: 1).last ?? [] : inside
      rest = rest[end...]
    }
    return words + rest
  }

  /// The words without the marks of emphasis, of struck words and of code; a mark between two spaces, or
  /// alone, is kept.
  private static func unstressed(_ line: [UInt8]) -> [UInt8] {
    var words: [UInt8] = []
    var place = 0
    while place < line.count {
      let mark = line[place]
      let end = line[place...].firstIndex { $0 != mark } ?? line.count
      func isBeside(_ byte: UInt8?) -> Bool {
        byte.map { $0 >= 0x80 || Request.isAlphanumeric($0) } ?? false
      }
      let isBetween = isBeside(words.last) == isBeside(end < line.count ? line[end] : nil)
      let isStress =
        switch mark {
        case UInt8(ascii: "`"): true
        case UInt8(ascii: "*"): end - place > 1 || !isBetween
        case UInt8(ascii: "~"): end - place == 2
        default: false
        }
      if !isStress { words += line[place..<end] }
      place = end
    }
    return words
  }
}

/// A line with a box to tick, `- [ ] milk`, as in GitHub's Markdown.
struct TaskLine {
  let isTicked: Bool
  /// The text before the box's mark.
  let start: Substring
  /// The text after the closing bracket of the box.
  let rest: Substring

  /// The text after the box.
  var text: Substring { rest.drop { $0 == " " || $0 == "\t" } }

  /// The line with a ticked box unticked, or an unticked box ticked.
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
