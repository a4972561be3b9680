import FoundationEssentials
import TestSupport
import Testing

/// notes-json(5) as a program reads it: which fields an object has, and of which types.
struct JSONPage {
  struct Field: Equatable {
    let name: String
    /// `string`, `number`, …, or the name of an object.
    let type: String
    var isArray = false
    var mayBeNull = false
    var mayBeAbsent = false
  }

  private(set) var commands: [String: [Field]] = [:]
  private(set) var events: [String: [Field]] = [:]
  private(set) var objects: [String: [Field]] = [:]
  /// The kinds of failure, with the exit statuses as the page says them.
  private(set) var failures: [String: String] = [:]
  /// The fields that are the same in many objects.
  private var commonFields: [String: Field] = [:]

  init() throws {
    let page = try readFile(BuiltBinary.sourceFolder + "/man/notes-json.5")
    var part = ""
    var section = ""
    // The objects whose fields a command or event has, too.
    var included: [(part: String, section: String, object: String)] = []
    for line in String(decoding: page, as: UTF8.self).split(separator: "\n") {
      if line.hasPrefix(".Sh ") { part = String(line.dropFirst(4)) }
      if line.hasPrefix(".Ss ") { section = String(line.dropFirst(4)) }
      if line.hasPrefix(".Ss "), part == "EVENTS" {
        events[section, default: []].append(Field(name: "type", type: "string"))
      }
      if line.hasPrefix("Type "), part == "COMMANDS" {
        commands[section, default: []].append(Field(name: "type", type: "string"))
      }
      if line.hasPrefix(".Em "), part == "COMMANDS" || part == "EVENTS" {
        let object = line.dropFirst(4).split { $0 == " " || $0 == "," || $0 == "." }
        included.append((part, section, object.joined(separator: " ")))
      }
      if line.hasPrefix(".Li "), part != "DESCRIPTION" {
        for name in line.dropFirst(4).split(separator: " , ") {
          add(try #require(commonFields[String(name)], "\(line)"), to: section, of: part)
        }
      }
      guard line.hasPrefix(".It Li ") else { continue }
      let cells = line.dropFirst(7).split(separator: " Ta ")
      let field = try #require(Self.field(cells, in: part), "\(line)")
      if cells.count == 2, part != "FAILURES", field.name != "type" {
        #expect(commonFields[field.name] != nil, "\(line) has no meaning")
      }
      add(field, to: section, of: part)
    }
    for (part, section, name) in included {
      let fields = try #require(objects[name] ?? commands[name], "\(section) has \(name)")
      for field in fields { add(field, to: section, of: part) }
    }
  }

  private mutating func add(_ field: Field, to section: String, of part: String) {
    switch part {
    case "DESCRIPTION": commonFields[field.name] = field
    case "COMMANDS": commands[section, default: []].append(field)
    case "EVENTS": events[section, default: []].append(field)
    case "OBJECTS": objects[section, default: []].append(field)
    case "FAILURES": failures[field.name] = field.type
    default: Issue.record("\(field.name) is in \(part)")
    }
  }

  private static func field(_ cells: [Substring], in part: String) -> Field? {
    let name = String(cells[0])
    if part == "FAILURES" {
      // A status other than 1 is in brackets before the meaning.
      let status = cells.count == 2 && cells[1].hasPrefix("(") ? cells[1].dropFirst() : "1)"
      return Field(name: name, type: String(status.prefix { $0 != ")" }))
    }
    // The second cell of `type` is its value.
    if cells.count == 2, name == "type" { return Field(name: name, type: "string") }
    guard cells.count == 2 || cells.count == 3 else { return nil }
    var type = String(cells[1])
    func ends(_ words: String) -> Bool {
      guard type.hasSuffix(words) else { return false }
      type.removeLast(words.count)
      return true
    }
    let mayBeAbsent = ends(", or absent")
    let mayBeNull = ends(" or null")
    let isArray = type.hasPrefix("array of ")
    if isArray { type.removeFirst("array of ".count) }
    return Field(
      name: name, type: type, isArray: isArray, mayBeNull: mayBeNull,
      mayBeAbsent: mayBeAbsent)
  }

  var allFields: [Field] { [commands, events, objects].flatMap(\.values).flatMap(\.self) }

  /// Where an object differs from what the page says of it.
  func differences(of value: JSONValue, from fields: [Field], at place: String) -> [String] {
    guard case .object(let object) = value else { return ["\(place) is no object"] }
    var found: [String] = []
    for name in object.keys.sorted() where !fields.contains(where: { $0.name == name }) {
      found.append("\(place).\(name) is not in notes-json(5)")
    }
    for field in fields {
      guard let value = object[field.name] else {
        if !field.mayBeAbsent { found.append("\(place).\(field.name) is missing") }
        continue
      }
      found += differences(of: value, from: field, at: "\(place).\(field.name)")
    }
    return found
  }

  private func differences(
    of value: JSONValue, from field: Field, at place: String
  ) -> [String] {
    if value == .null { return field.mayBeNull ? [] : ["\(place) is null"] }
    guard field.isArray else { return differences(of: value, from: field.type, at: place) }
    guard case .array(let values) = value else { return ["\(place) is no array"] }
    return values.flatMap { differences(of: $0, from: field.type, at: place + "[]") }
  }

  private func differences(of value: JSONValue, from type: String, at place: String) -> [String] {
    if let fields = objects[type] { return differences(of: value, from: fields, at: place) }
    let isRight =
      switch (type, value) {
      case ("string", .string), ("number", .number), ("boolean", .bool): true
      case ("id", .string(let text)): text.count == 40 && text.allSatisfy(\.isHexDigit)
      case ("time", .string(let text)):
        text.contains("T") && (text.hasSuffix("Z") || text.dropLast(6).last?.isNumber == true)
      default: false
      }
    return isRight ? [] : ["\(place) is no \(type): \(value)"]
  }
}

/// A JSON value as the tests read it.
enum JSONValue: Decodable, Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if let array = try? value.decode([JSONValue].self) {
      self = .array(array)
    } else {
      self = .object(try value.decode([String: JSONValue].self))
    }
  }

  /// The values of JSON Lines.
  static func lines(_ text: some StringProtocol) throws -> [JSONValue] {
    try text.split(separator: "\n").map {
      try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8))
    }
  }

  subscript(name: String) -> String? {
    guard case .object(let fields) = self, case .string(let text) = fields[name] else { return nil }
    return text
  }
}
