internal import CCommonMark

/// GitHub's Markdown, parsed by libcmark-gfm. The library is loaded when a text first needs it; it may not be
/// installed.
final class CommonMark: Sendable {
  private let api: commonmark

  /// Nil if the library is not installed.
  static let shared: CommonMark? = {
    let table = UnsafeMutablePointer<commonmark>.allocate(capacity: 1)
    defer { table.deallocate() }
    var position: Int32 = 0
    while let name = commonmark_version(position) {
      let version = String(cString: name)
      let files = ("libcmark-gfm.so.\(version)", "libcmark-gfm-extensions.so.\(version)")
      if commonmark_load(table, files.0, files.1) == nil {
        // This must be called only once, because it writes to tables inside the library.
        table.pointee.gfm_core_extensions_ensure_registered()
        return CommonMark(table.pointee)
      }
      position += 1
    }
    return nil
  }()

  private init(_ api: commonmark) { self.api = api }

  /// The longest text that is read as Markdown, in bytes.
  static let longest = 512 << 10
  /// The limit for the memory of a text's tree, in bytes.
  private static let memory = 96 << 20
  /// The limit for the processor time of parsing a text, in milliseconds.
  private static let time = 500
  /// The limit for nesting quotations, lists and emphasis.
  private static let depth = 100

  /// Visits a text's nodes in order. Calls `enter` before a node's children, and `leave` after them.
  ///
  /// - Returns: whether the whole text was visited; false if it exceeds a limit of time, memory or depth.
  func walk(
    _ text: String, enter: (CommonMarkNode) throws -> Void, leave: (CommonMarkNode) throws -> Void
  ) rethrows -> Bool {
    var text = text
    guard text.utf8.count <= Self.longest else { return false }
    defer { commonmark_forget() }
    let root = text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        withUnsafePointer(to: api) { api in
          bytes.baseAddress.flatMap {
            commonmark_parse(api, $0, bytes.count, Self.memory, Self.time)
          }
        }
      }
    }
    guard let root else { return text.isEmpty }
    var (node, depth) = (api.node_first_child(root), 1)
    while let here = node {
      try enter(CommonMarkNode(here, api))
      if let child = api.node_first_child(here) {
        (node, depth) = (child, depth + 1)
        if depth > Self.depth { return false }
        continue
      }
      try leave(CommonMarkNode(here, api))
      var last = here
      node = api.node_next(last)
      while node == nil, let parent = api.node_parent(last), parent != root {
        try leave(CommonMarkNode(parent, api))
        (last, depth) = (parent, depth - 1)
        node = api.node_next(last)
      }
    }
    return true
  }
}

/// A node of a text's tree.
struct CommonMarkNode {
  private let node: OpaquePointer
  private let api: commonmark

  fileprivate init(_ node: OpaquePointer, _ api: commonmark) { (self.node, self.api) = (node, api) }

  private func string(_ text: UnsafePointer<CChar>?) -> String {
    text.map { String(cString: $0) } ?? ""
  }

  /// The node's kind, in the library's words.
  var kind: String { string(api.node_get_type_string(node)) }
  /// The text of a node without children.
  var literal: String { string(api.node_get_literal(node)) }
  /// The address of a link or an image.
  var url: String { string(api.node_get_url(node)) }
  /// The level of a heading, from 1 to 6.
  var level: Int { Int(api.node_get_heading_level(node)) }
  /// The first number of a list; nil for a list without numbers.
  var firstNumber: Int? {
    api.node_get_list_type(node) == 2 ? Int(api.node_get_list_start(node)) : nil
  }
  /// The line on which the node begins, counted from 1.
  var line: Int { Int(api.node_get_start_line(node)) }

  /// Whether the node is a paragraph of a list without blank lines between the items.
  var isTight: Bool {
    guard let item = api.node_parent(node), let list = api.node_parent(item) else { return false }
    return string(api.node_get_type_string(list)) == "list" && api.node_get_list_tight(list) != 0
  }

  /// The alignment of a table's columns: `l`, `c`, `r`, or 0 for the direction of the text.
  var alignments: [UInt8] {
    guard let first = api.gfm_extensions_get_table_alignments(node) else { return [] }
    return Array(
      UnsafeBufferPointer(start: first, count: Int(api.gfm_extensions_get_table_columns(node))))
  }
}
