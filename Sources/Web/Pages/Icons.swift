/// The drawings of the page: lines in a 24 by 24 square, in the colour of the text beside them.
enum Icon: String {
  case back = "M15 5l-7 7 7 7"
  case search = "M17.5 11a6.5 6.5 0 1 1-13 0a6.5 6.5 0 0 1 13 0zM16 16l4.500 4.500"
  case menu = "M5.500 12h.01M12 12h.01M18.500 12h.01"
  case plus = "M12 5v14M5 12h14"
  case folder =
    "M3.500 7a2 2 0 0 1 2-2h4l2 2.500h7a2 2 0 0 1 2 2V17a2 2 0 0 1-2 2h-13a2 2 0 0 1-2-2z"
  case fork =
    "M12 20.500V14M12 14c0-4-5-3.500-5-8.500M12 14c0-4 5-3.500 5-8.500M4.500 8L7 5l2.500 3M14.500 8L17 5l2.500 3"
  case people =
    "M12.500 8.500a3.500 3.500 0 1 1-7 0a3.500 3.500 0 0 1 7 0zM2.500 19.500c.500-3.500 3-5.500 6.500-5.500s6 2 6.500 5.500M16 5.300a3.500 3.500 0 0 1 0 6.400M18.500 14.700c1.700.900 2.700 2.500 3 4.800"
  case undo = "M8.500 5L4.500 9l4 4M4.500 9h9.500a5.500 5.500 0 0 1 0 11H9"
  case bin =
    "M4.500 6.500h15M9.500 6.500v-2h5v2M6.500 6.500l1 13h9l1-13M10.500 10.500v5M13.500 10.500v5"
  case browser = "M3.500 6h17v12.500h-17zM3.500 10h17M6.500 8h.01"
  case pen = "M4.500 19.500l1-4L16 5a2.100 2.100 0 0 1 3 3L8.500 18.500zM14 7l3 3"
  case clock = "M20 12a8 8 0 1 1-16 0a8 8 0 0 1 16 0zM12 7.500V12l3 2"
  case rename = "M4 18.500h7M4.500 14l4-9 4 9M6 11h5M16 4.500c1.500 0 2 .8 2 2v11c0 1.200.5 2 2 2"
  case clip =
    "M19 11.500l-7.500 7.500a4.500 4.500 0 0 1-6.400-6.400l8-8a3 3 0 0 1 4.300 4.300l-7.700 7.700a1.500 1.500 0 0 1-2.200-2.200l7-7"
  case pin = "M12 15v5.500M8 4h8l-1 6 3 4.500H6L9 10z"
  case copy =
    "M11 8.500h6.500a2.500 2.500 0 0 1 2.500 2.500v6.500a2.500 2.500 0 0 1-2.500 2.500h-6.500a2.500 2.500 0 0 1-2.500-2.500v-6.500a2.500 2.500 0 0 1 2.500-2.500zM15.500 5.500a2 2 0 0 0-2-2h-7a3 3 0 0 0-3 3v7a2 2 0 0 0 2 2"
  case tick = "M5 12.500l4.500 4.500L19 7.500"
  case more = "M6 9.500l6 6 6-6"
}

extension HTML {
  /// A drawing beside words that have the same meaning.
  static func icon(_ icon: Icon, _ style: HTML = "i") -> HTML {
    "<svg class=\"\(style)\" viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"\(icon.rawValue)\"/></svg>"
  }

  /// The first letter of a person's name, always in the same colour for the same name. The name is beside it.
  static func face(_ name: String) -> HTML {
    // In versions, the device's name follows a guest's name.
    let name = name.firstRange(of: " (").map { name[..<$0.lowerBound] } ?? name[...]
    let colour = name.utf8.reduce(0) { ($0 * 31 + Int($1)) % 4 } + 1
    let letter = name.prefix(1).uppercased()
    return "<span class=\"face p\(colour)\" aria-hidden=\"true\">\(letter)</span>"
  }

  /// A sheet of paper, for an empty page.
  static let emptySheet: HTML = """
    <svg class="pic" viewBox="0 0 120 100" aria-hidden="true"><path d="M30 12h44l16 16v60H30z"/>\
    <path d="M74 12v16h16"/><path class="lit" d="M60 42v28M46 56h28"/></svg>
    """

  /// Words for screen readers, in place of a drawing.
  static func spoken(_ words: String) -> HTML { "<span class=\"vh\">\(words)</span>" }
}
