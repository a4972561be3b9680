// swift-tools-version: 6.2
import PackageDescription

/// The targets of Tests/Fuzz are a test, or, where $NOTES_FUZZING is set, what libFuzzer calls: see
/// scripts/fuzz.
let fuzzes = Context.environment["NOTES_FUZZING"] != nil

let settings: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// A notebook and the layers it is made of, from the top down.
let notebookLayers: [Target.Dependency] = ["Notebook", "History", "WorkTree", "Merge", "State"]

// The C libraries are loaded when first used (see each shim.h), so nothing is linked here and a
// command that needs none of them does not pay for loading them.
let package = Package(
  name: "notes",
  products: [
    .executable(name: "notes", targets: ["notes"]),
    .executable(name: "notes-web", targets: ["notes-web"]),
  ],
  dependencies: [
    // Up to the next minor version: what is new in one is looked at, and its licence, before it comes in.
    .package(
      url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.2")),
    .package(url: "https://github.com/apple/swift-log", .upToNextMinor(from: "1.16.2")),
    .package(url: "https://github.com/apple/swift-nio", .upToNextMinor(from: "2.101.2")),
  ],
  targets: [
    .systemLibrary(name: "CLibgit2", providers: [.apt(["libgit2-dev"])]),
    .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CAvahi", providers: [.apt(["libavahi-client-dev"])]),
    .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CCommonMark"),
    .systemLibrary(name: "CQRencode", providers: [.apt(["libqrencode-dev"])]),
    .systemLibrary(name: "CLinux"),
    .target(name: "System", dependencies: ["CLinux"], swiftSettings: settings),
    .target(name: "State", dependencies: ["System"], swiftSettings: settings),
    .target(
      name: "Git",
      dependencies: [
        "State", "System", "OpenSSLLoader", "COpenSSL", "CLibgit2", "CZlib", "CLinux",
      ],
      swiftSettings: settings),
    .target(name: "Merge", dependencies: ["Git", "System"], swiftSettings: settings),
    .target(
      name: "WorkTree", dependencies: ["Merge", "Git", "State", "System", "CLinux"],
      swiftSettings: settings),
    .target(
      name: "History", dependencies: ["WorkTree", "Merge", "Git", "State", "System"],
      swiftSettings: settings),
    .target(
      name: "Rewriting", dependencies: ["History", "WorkTree", "Merge", "Git", "System"],
      swiftSettings: settings),
    .target(
      name: "Notebook",
      dependencies: [
        "Rewriting", "History", "WorkTree", "Merge", "Git", "State", "System", "CLinux",
      ],
      swiftSettings: settings),
    .target(
      name: "Membership", dependencies: ["State", "System", "OpenSSLLoader", "COpenSSL", "CLinux"],
      swiftSettings: settings),
    .target(name: "QRCodes", dependencies: ["CQRencode"], swiftSettings: settings),
    .target(name: "OpenSSLLoader", dependencies: ["COpenSSL"], swiftSettings: settings),
    .target(name: "Discovery", dependencies: ["System", "CAvahi"], swiftSettings: settings),
    .target(
      name: "Channel", dependencies: ["System", "OpenSSLLoader", "COpenSSL"],
      swiftSettings: settings),
    .target(
      name: "Exchange",
      dependencies: notebookLayers + ["Git", "Membership", "Discovery", "Channel", "System"],
      swiftSettings: settings),
    .target(
      name: "Watch",
      dependencies: notebookLayers + [
        "Git", "Exchange", "Membership", "Discovery", "Channel", "System", "CLinux",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "notes",
      dependencies: notebookLayers + [
        "Watch", "Exchange", "Membership", "Discovery", "Channel", "Git", "System",
        "QRCodes", "CLinux",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings),
    .target(
      name: "Web",
      dependencies: notebookLayers + [
        "Exchange", "Watch", "Membership", "Discovery", "Channel", "Git", "System", "QRCodes",
        "CCommonMark",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      resources: [.embedInCode("Files")],
      swiftSettings: settings),
    // A program of its own: `notes` links no NIO.
    .executableTarget(
      name: "notes-web", dependencies: notebookLayers + ["Web", "QRCodes", "Membership", "System"],
      swiftSettings: settings),
    .executableTarget(
      name: "MergeTrial", dependencies: notebookLayers + ["Git"], path: "Tests/MergeTrial",
      swiftSettings: settings),
    .target(
      name: "TestSupport", dependencies: ["System", "Discovery", "Channel"],
      path: "Tests/TestSupport", swiftSettings: settings),
    .target(
      name: "GitSupport", dependencies: ["Git"], path: "Tests/GitSupport",
      swiftSettings: settings),
    .target(
      name: "NotebookSupport", dependencies: notebookLayers + ["Git", "TestSupport"],
      path: "Tests/NotebookSupport", swiftSettings: settings),
    .target(
      name: "ExchangeSupport",
      dependencies: notebookLayers + ["Exchange", "Membership", "TestSupport"],
      path: "Tests/ExchangeSupport", swiftSettings: settings),
    .testTarget(
      name: "SystemTests", dependencies: ["System", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "GitTests",
      dependencies: ["Git", "System", "CLibgit2", "GitSupport", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "MergeTests", dependencies: ["History", "Merge", "Git", "TestSupport", "MergeTrial"],
      swiftSettings: settings),
    .testTarget(
      name: "WorkTreeTests",
      dependencies: notebookLayers + ["Git", "System", "NotebookSupport", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "HistoryTests",
      dependencies: notebookLayers + ["Git", "NotebookSupport", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "NotebookTests",
      dependencies: notebookLayers + ["Rewriting", "Git", "NotebookSupport", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "MembershipTests", dependencies: ["Membership", "State", "System", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "DiscoveryTests", dependencies: ["Discovery", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "ChannelTests", dependencies: ["Channel", "Membership", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "ExchangeTests",
      dependencies: notebookLayers + [
        "Watch", "Exchange", "Git", "Membership", "Discovery", "Channel",
        "ExchangeSupport", "GitSupport", "TestSupport",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "WatchTests",
      dependencies: notebookLayers + [
        "Watch", "Exchange", "Git", "Membership", "Discovery", "Channel",
        "ExchangeSupport", "TestSupport",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "notesTests",
      dependencies: notebookLayers + [
        "notes", "Watch", "Exchange", "Membership", "Discovery", "Channel", "Git", "QRCodes",
        "TestSupport", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "WebTests",
      dependencies: notebookLayers + [
        "Web", "notes-web", "QRCodes", "Watch", "Exchange", "Membership", "Discovery", "Channel",
        "Git",
        "System", "TestSupport", .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "FaultSubject", dependencies: notebookLayers + ["Git"], path: "Tests/FaultSubject",
      swiftSettings: settings),
    .executableTarget(
      name: "Crowd",
      dependencies: notebookLayers + ["Exchange", "Membership", "Git", "TestSupport"],
      path: "Tests/Crowd",
      swiftSettings: settings),
    .executableTarget(
      name: "EditorPlay", dependencies: notebookLayers + ["Git", "System", "TestSupport"],
      path: "Tests/EditorPlay", swiftSettings: settings),
    .testTarget(
      name: "FaultTests",
      dependencies: notebookLayers + ["FaultSubject", "notes", "Git", "TestSupport"],
      exclude: ["faults.c"], swiftSettings: settings),
    .testTarget(
      name: "EndToEnd", dependencies: ["TestSupport"], path: "Tests/EndToEnd",
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)

let fuzzed: [Target.Dependency] =
  notebookLayers + [
    "Exchange", "Git", "Membership", "Channel", "TestSupport",
  ]
package.targets.append(
  fuzzes
    ? .executableTarget(
      name: "Fuzz", dependencies: fuzzed, path: "Tests/Fuzz",
      exclude: ["Corpus", "Found", "Tests"], sources: ["Targets", "Entry"],
      swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])])
    : .testTarget(
      name: "FuzzTests", dependencies: fuzzed, path: "Tests/Fuzz",
      exclude: ["Corpus", "Found", "Entry"], sources: ["Targets", "Tests"],
      swiftSettings: settings))

// Which test modules there are while somebody works on a few: each change builds fewer of them.
if let wanted = Context.environment["NOTES_TEST_TARGETS"] {
  let names = wanted.split(separator: ",").map(String.init)
  package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}

// Where $NOTES_PROGRAMS is set, a build makes both programs and nothing else: SwiftPM takes one product or
// everything, and one program after the other leaves a processor idle (scripts/release).
if Context.environment["NOTES_PROGRAMS"] != nil {
  package.targets.removeAll { target in
    switch target.type {
    case .test: true
    case .executable: !["notes", "notes-web"].contains(target.name)
    // What tests share.
    default: target.name.hasSuffix("Support")
    }
  }
}
