import Testing

/// What people outside met when they tried the installed program, each with the tests of that situation.
@Suite struct OutsideCasesTests {
  private static let cases: [(met: String, tests: [String])] = [
    (
      "a filter's plain text goes into history",
      ["ConversionTests.filter", "ConversionTests.versioned", "ConversionTests.removedElsewhere"]
    ),
    ("a shallow or partial clone", ["IncompleteRepositoryTests.clones"]),
    (
      "permissions, tags and hard links of a note's file",
      ["FileTraitsTests.edited", "FileTraitsTests.commands", "FileTraitsTests.hardLinks"]
    ),
    (
      "two go on writing inside a conflict, or settle it differently",
      [
        "BlockLawsTests.conflictsInWhichPeopleGoOn",
        "BlockLawsTests.conflictsThatAreSettledDifferently",
      ]
    ),
    (
      "git's index is lost, or has marks and texts of git's",
      [
        "LostIndexTests.lost", "LostIndexTests.staged", "LostIndexTests.marked",
        "LostIndexTests.intended", "LostIndexTests.unmerged", "SparseFilesTests.isThere",
      ]
    ),
    (
      "the page changes what nobody typed",
      ["EditableTextTests.comesBack", "EditableTextTests.untyped"]
    ),
    (
      "indentation, code and front matter in merges; the texts with what should come out",
      ["MergeVectorsTests.everyVectorHasItsTip"]
    ),
    (
      "'Everything is saved.' above a file that is not",
      ["HeldTests.unsaved", "HeldTests.missing", "TakenPlaceTests.edited"]
    ),
    (
      "a hub's visit waits for ever",
      ["SecondProcessTests.merges", "SecondProcessTests.saves", "SecondProcessTests.goesBack"]
    ),
    (
      "a killed run's lock stays",
      ["KilledRunTests.several", "KilledRunTests.duringMerge", "ResetFaultTests.killed"]
    ),
    (
      "a note grows past what others take",
      [
        "TooLargeFilesTests.edited", "TooLargeFilesTests.deleted", "TooLargeFilesTests.commands",
        "TooLargeFilesTests.pruned",
      ]
    ),
    ("a note that cannot be replaced", ["HeldNotesTests.changed", "HeldNotesTests.edited"]),
    (
      "a member, or the founder, lost the folder",
      ["MembershipStoryTests.diskLost", "MembershipStoryTests.founderFolderLost"]
    ),
    (
      "git removes objects beside a save",
      ["GitPruningTests.madeAnew", "GitPruningTests.textsAlone", "MissingObjectsTests.unnoticed"]
    ),
  ]

  @Test(arguments: cases.indices)
  func isPlayed(number: Int) throws {
    let (met, tests) = Self.cases[number]
    let functions = try TestNames.functions()
    for test in tests {
      let isKnown = functions.contains(test)
      #expect(isKnown, "\(test) is no test: \(met)")
    }
  }
}
