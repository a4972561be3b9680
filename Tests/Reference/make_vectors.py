#!/usr/bin/env python3
"""Writes Tests/Vectors: what goes in is below, what comes out is the reference's answer.

A vector holds commits, heads, and the tip's tree and commit ID. A commit's parent is the name of
another one, or a list of names whose tip it is made on. Cases with two heads come in both orders of
time: `-1` with the first head older, `-2` with the second.
"""

import base64
import json
import os
import sys

sys.dont_write_bytecode = True

from merge_reference import BOUNDS, Merge, quote, trailer_lines
from objects import EMPTY_TREE, Person, Store

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Vectors")
START = 1_790_000_000

NOTE = "Shopping\n\nbread\nmilk\nbutter\n\nOn Monday the shop opens late. Bring bags.\n"
PROSE = ("The ferry leaves at nine from the old pier and takes an hour. Tickets are sold on board.\n"
         "Bring a coat, because the wind on the upper deck is cold even in summer.\n")
LONG = "word " * 30_000
DAYS = "".join(f"\n## 2026-11-{day}\n\n* slept {day % 5 + 5} hours\n\nTodo: none\n" for day in (18, 19, 20))[1:]
RUNS = "".join(f"2026-11-{day} ran {day % 4 + 3} km in {day + 10} minutes\n" for day in (17, 18, 20))
TALKS = ("- stack switching\n  - fibers\n    - 30 mins (Jo)\n  - open talk\n    - 45 mins\n",
         "- extended constants\n  - 15 mins (Sam)\n", "- memory64\n  - 30 mins (Sam)\n",
         "- type reflection, with a poll\n  - 30 mins (Ilya)\n", "- recovering from traps\n  - 15 mins (Ross)\n")
PROSES = ("The ferry leaves at nine from the pier in town.\n\n", "We saw the old pier and all of its lamps.\n\n",
          "A harbour master eats bread at noon.\n\n", "On deck the weather is cold.\n\n")
PARAGRAPHS = "".join(f"Paragraph {n} says something of its own.\n" for n in range(12))


def swap(text, old, new):
    assert old in text, old
    return text.replace(old, new, 1)


# name: (what it shows, base files, first head's files, second head's files)
PAIRS = {
    "one-side-changed": ("one side changed: that side", {"n.txt": NOTE},
                         {"n.txt": swap(NOTE, "milk", "oat milk")}, {"n.txt": NOTE, "other.txt": "x\n"}),
    "both-the-same": ("both the same: that", {"n.txt": NOTE}, {"n.txt": swap(NOTE, "milk", "tea")},
                      {"n.txt": swap(NOTE, "milk", "tea"), "other.txt": "x\n"}),
    "different-places": ("different places merge by lines", {"n.txt": NOTE},
                         {"n.txt": swap(NOTE, "Shopping", "Shopping list")},
                         {"n.txt": swap(NOTE, "Bring bags", "Bring two bags")}),
    "same-line": ("the same line: markers", {"n.txt": NOTE}, {"n.txt": swap(NOTE, "milk", "oat milk")},
                  {"n.txt": swap(NOTE, "milk", "soy milk")}),
    "touching-lines": ("edits of neighbouring lines merge", {"n.txt": NOTE},
                       {"n.txt": swap(NOTE, "bread", "rye bread")}, {"n.txt": swap(NOTE, "milk", "goat milk")}),
    "sentences": ("edits of different sentences merge by words", {"n.txt": PROSE},
                  {"n.txt": swap(PROSE, "at nine from the old pier and takes an hour", "whenever the tide allows")},
                  {"n.txt": swap(PROSE, "are sold on board", "cost four euros")}),
    "words": ("edits with a whole word between them merge", {"n.txt": PROSE},
              {"n.txt": swap(PROSE, "at nine", "at ten")}, {"n.txt": swap(PROSE, "old pier", "new pier")}),
    "words-too-close": ("neighbouring words conflict", {"n.txt": PROSE},
                        {"n.txt": swap(PROSE, "old pier", "new pier")},
                        {"n.txt": swap(PROSE, "old pier", "old jetty")}),
    "word-longer": ("of two edits of one stretch the one that holds the other wins", {"n.txt": PROSE},
                    {"n.txt": swap(PROSE, "a coat", "a warm coat")},
                    {"n.txt": swap(PROSE, "a coat", "a warm long coat")}),
    "joined": ("two people append to a list", {"n.txt": "bread\n"}, {"n.txt": "bread\nmilk\n"},
               {"n.txt": "bread\nscrewdriver\n"}),
    "joined-blank-lines": ("blank runs stay with their own block", {"n.txt": "# Journal\n"},
                           {"n.txt": "# Journal\n\nMonday: rained all day.\n"},
                           {"n.txt": "# Journal\n\nWe went to the lake.\nIt was cold.\n"}),
    "joined-contains": ("an insertion that holds the other wins", {"n.txt": "a\n"},
                        {"n.txt": "a\none thing\n"}, {"n.txt": "a\none thing\nanother\n"}),
    "joined-similar": ("similar insertions are versions of one thing", {"n.txt": "a\n"},
                       {"n.txt": "a\ncall the plumber at noon\n"},
                       {"n.txt": "a\ncall the plumber at noon!\n"}),
    "joined-punctuation": ("insertions that differ in punctuation alone are versions of one thing",
                           {"n.txt": "a\n"}, {"n.txt": "a\n      * blake3\n      * xxh3\n"},
                           {"n.txt": "a\n- blake3\n- xxh3\n"}),
    "lines-punctuation": ("a list is not repeated behind another form of itself",
                          {"n.txt": "Known:\n\n  * md5\n  * sha1\n\nThen\n"},
                          {"n.txt": "Known:\n\n  * md5\n  * sha1\n  * blake3\n\nThen\n"},
                          {"n.txt": "Known:\n\n- md5\n- sha1\n- blake3\n\nThen\n"}),
    "joined-fence": ("half a code fence is not joined", {"n.txt": "a\n"}, {"n.txt": "a\n```\ncode\n"},
                     {"n.txt": "a\nwords\n"}),
    "joined-in-order": ("a list in alphabetical order stays so",
                        {"n.txt": "* apple\n* berry\n* plum\n* quince\n"},
                        {"n.txt": "* apple\n* berry\n* melon\n* plum\n* quince\n"},
                        {"n.txt": "* apple\n* berry\n* fig\n* nut\n* plum\n* quince\n"}),
    "joined-sections": ("sections in alphabetical order stay so",
                        {"n.txt": "## Ada\n\nx\n\n## Bea\n\ny\n\n## Zoe\n\nz\n"},
                        {"n.txt": "## Ada\n\nx\n\n## Bea\n\ny\n\n## Max\n\nmm\n\n## Zoe\n\nz\n"},
                        {"n.txt": "## Ada\n\nx\n\n## Bea\n\ny\n\n## Eve\n\nee ee\n\n## Zoe\n\nz\n"}),
    "joined-days": ("days of a journal repeat what the days before have", {"n.txt": DAYS},
                    {"n.txt": DAYS + "\n## 2026-11-21\n\n* slept 7 hours\n* rain\n\nTodo: none\n"},
                    {"n.txt": DAYS + "\n## 2026-11-22\n\n* slept 8 hours\n* wind\n\nTodo: none\n"}),
    "joined-same-day": ("one day of a journal, begun twice, keeps one heading", {"n.txt": DAYS},
                        {"n.txt": DAYS + "\n## 2026-11-21\n\n* rain\n\nTodo: none\n"},
                        {"n.txt": DAYS + "\n## 2026-11-21\n\n* wind\n\nTodo: some\n"}),
    "joined-usual-items": ("an item of a list that the list has already is still the same thing",
                           {"n.txt": "- milk\n- tea\n- bread\n"},
                           {"n.txt": "- milk\n- tea\n- bread\n- milk\n- eggs\n"},
                           {"n.txt": "- milk\n- tea\n- bread\n- cheese\n- milk\n"}),
    "joined-usual-likeness": ("lines are as alike as those around them", {"n.txt": RUNS},
                              {"n.txt": RUNS + "2026-11-21 ran 6 km in 31 minutes\n"},
                              {"n.txt": RUNS + "2026-11-22 ran 5 km in 27 minutes\n"}),
    "wrapped": ("words changed here, lines wrapped there: the words", {"n.txt": PROSE},
                {"n.txt": swap(PROSE, "pier and takes", "pier\nand takes")},
                {"n.txt": swap(PROSE, "old pier and takes an", "new bridge which needs one")}),
    "words-equal-edits": ("an edit that both made needs no gap", {"n.txt": "Navegar este tutorial\n"},
                          {"n.txt": "Navegar neste tutorial\n"}, {"n.txt": "navegar neste tutorial\n"}),
    "white-space-sides": ("sides that differ in white space alone", {"n.txt": "one two\nthree\n"},
                          {"n.txt": "one 2\n  three four\n"}, {"n.txt": "one 2 three\nfour\n"}),
    "white-space-indented": ("white space gives way to words", {"n.txt": "list\n* one, two, three\n"},
                             {"n.txt": "list\n    * one,\n    two, three\n"},
                             {"n.txt": "list\n* two, one, four\n"}),
    "joined-blank-base": ("blank lines are nothing to edit", {"n.txt": "list\n- a\n\n"},
                          {"n.txt": "list\n- a\n- milk\n"}, {"n.txt": "list\n- a\n- bread\n"}),
    "tick": ("a tick does not land on another task", {"n.txt": "# Todo\n\n- [ ] Call the bank\n- [ ] Mow\n"},
             {"n.txt": "# Todo\n\n- [ ] Buy two stamps\n- [ ] Mow\n"},
             {"n.txt": "# Todo\n\n- [x] Call the bank\n- [ ] Mow\n"}),
    "tick-reworded": ("a tick of a task of which half of the words stay", {"n.txt": "- [ ] Call the bank today\n"},
                      {"n.txt": "- [ ] Call the bank tomorrow\n"}, {"n.txt": "- [x] Call the bank today\n"}),
    "tick-inserted": ("a tick does not land on a task put before it", {"n.txt": "- [ ] Buy bread\n"},
                      {"n.txt": "- [ ] Buy stamps\n- [ ] Buy bread now\n"}, {"n.txt": "- [x] Buy bread\n"}),
    "words-numbers": ("two new times of one line conflict", {"n.txt": "Dentist on 2026-11-20 in town at 10:00\n"},
                      {"n.txt": "Dentist on 2026-11-23 in town at 10:00\n"},
                      {"n.txt": "Dentist on 2026-11-20 in town at 14:00\n"}),
    "words-joined": ("a word joined is a change of words", {"n.txt": "From this stand point. The synaxt is nice.\n"},
                     {"n.txt": "From this standpoint. The syntax is nice.\n"},
                     {"n.txt": "From this stand point. The syntax is nice.\n"}),
    "words-indented": ("indentation here, words there", {"n.txt": "- Pack\n- Passport\n- Tickets\n- Charger\n"},
                       {"n.txt": "- Pack\n  - Passport\n  - Tickets\n  - Charger\n"},
                       {"n.txt": "- Pack\n- Passport\n- Train tickets\n- Charger\n"}),
    "words-hard-break": ("a hard break stays where words change", {"n.txt": "one two\nthree four\n"},
                         {"n.txt": "one two  \nthree four\n"}, {"n.txt": "one 2 two\nthree four\n"}),
    "moved-by-both": ("moved by both, to two places: where the newer put it",
                      {"n.txt": TALKS[0] + TALKS[1] + TALKS[2] + TALKS[3] + TALKS[4]},
                      {"n.txt": TALKS[0] + swap(TALKS[2], "(Sam)", "(Sam) slides.pdf")
                       + swap(TALKS[1], "(Sam)", "(Sam) more.pdf") + TALKS[3] + TALKS[4]},
                      {"n.txt": TALKS[1] + TALKS[3] + TALKS[0] + TALKS[2] + TALKS[4]}),
    "tick-short": ("a tick of a short task of which half stays", {"n.txt": "- [ ] Buy milk\n"},
                   {"n.txt": "- [ ] Buy bread\n"}, {"n.txt": "- [x] Buy milk\n"}),
    "tick-keyword": ("a keyword is no word of a task", {"n.txt": "* TODO Visit bank\n"}, {"n.txt": "* TODO Visit aunt\n"},
                     {"n.txt": "* DONE Visit bank\n"}),
    "tick-numbered": ("a tick does not land on a task put before a numbered one", {"n.txt": "1. [ ] Buy bread\n2. [ ] Mow\n"},
                      {"n.txt": "1. [ ] Read\n1. [ ] Buy bread now\n2. [ ] Mow\n"}, {"n.txt": "1. [x] Buy bread\n2. [ ] Mow\n"}),
    "moved-in-part": ("some of the lines that went were moved, and edited where they were",
                      {"n.txt": "".join(PROSES).replace("\n\n", "\n") + "At last the sea.\n"},
                      {"n.txt": (PROSES[0] + PROSES[3] + PROSES[1]).replace("\n\n", "\n") + "At last the sea.\n"},
                      {"n.txt": swap("".join(PROSES), "old", "new").replace("\n\n", "\n") + "At last the sea.\n"}),
    "tick-date-of-org": ("a date of org is part of the line above it", {"n.txt": "* TODO Call\nSCHEDULED: <2026-01-02 Fri>\n"},
                         {"n.txt": "* TODO Buy stamps\nSCHEDULED: <2026-01-02 Fri>\n"},
                         {"n.txt": "* TODO Call\nSCHEDULED: <2026-01-09 Fri>\n"}),
    "moved-and-edited": ("moved here, edited there: once, with the edit", {"n.txt": "".join(PROSES)},
                         {"n.txt": PROSES[0] + PROSES[2] + PROSES[3] + PROSES[1]},
                         {"n.txt": PROSES[0] + swap(PROSES[1], "old", "new") + PROSES[2] + PROSES[3]}),
    "moved-and-rewritten": ("moved here, written anew there: a block where it went", {"n.txt": "".join(PROSES)},
                            {"n.txt": PROSES[0] + PROSES[2] + PROSES[3] + PROSES[1]},
                            {"n.txt": PROSES[0] + "Whales sing.\n\n" + PROSES[2] + PROSES[3]}),
    "moved-by-both-alone": ("moved by both, to two places: once", {"n.txt": "".join(PROSES)},
                            {"n.txt": PROSES[1] + PROSES[0] + PROSES[2] + PROSES[3]},
                            {"n.txt": PROSES[0] + PROSES[2] + PROSES[3] + PROSES[1]}),
    "moved-by-both-edited": ("moved by both and edited by both: once", {"n.txt": "".join(PROSES)},
                             {"n.txt": swap(PROSES[1], "old", "new") + PROSES[0] + PROSES[2] + PROSES[3]},
                             {"n.txt": PROSES[0] + PROSES[2] + PROSES[3] + swap(PROSES[1], "lamps", "lights")}),
    "moved-with-child": ("a child goes where its parent went", {"n.txt": "- Pack\n  - Passport\n- Home\n  - keys\n"},
                         {"n.txt": "- Home\n  - keys\n- Pack\n  - Passport\n"},
                         {"n.txt": "- Pack\n  - Passport\n  - Tickets\n- Home\n  - keys\n"}),
    "lines-orphan": ("a child does not stay without its parent", {"n.txt": "- Pack\n  - Passport\n- Home\n"},
                     {"n.txt": "- Home\n"}, {"n.txt": "- Pack\n  - Passport\n  - Tickets\n- Home\n"}),
    "numbered-and-edited": ("numbered anew here, an item edited there", {"n.txt": "1. Boil the water\n2. Grind\n3. Pour slowly\n"},
                            {"n.txt": "1. Boil the water\n2. Warm the cups\n3. Grind\n4. Pour slowly\n"},
                            {"n.txt": "1. Boil the water\n2. Grind\n3. Pour slowly, in circles\n"}),
    "numbered-both": ("both add an item with one number", {"n.txt": "1) bread\n2) milk\n"},
                      {"n.txt": "1) bread\n2) milk\n3) screws\n"}, {"n.txt": "1) bread\n2) milk\n3) whales\n"}),
    "numbered-same-place": ("both add an item at one place and number on", {"n.txt": "1. bread\n2. milk\n"},
                            {"n.txt": "1. bread\n2. screws\n3. milk\n"}, {"n.txt": "1. bread\n2. whales\n3. milk\n"}),
    "numbered-ones": ("a list in which each item has the number 1", {"n.txt": "1. bread\n1. milk\n"},
                      {"n.txt": "1. bread\n1. milk\n1. screws\n"}, {"n.txt": "1. bread\n1. milk\n1. whales\n"}),
    "numbered-goes-on": ("a list that goes on with another number", {"n.txt": "1. bread\n2. milk\n\n3. tea\n"},
                         {"n.txt": "1. bread\n2. screws\n3. milk\n\n3. tea\n"},
                         {"n.txt": "1. bread\n2. milk, fat\n\n3. tea\n"}),
    "words-list": ("both add to a list in a line", {"n.txt": "---\ntags: [x, y]\n---\n"},
                   {"n.txt": "---\ntags: [x, y, a, b]\n---\n"}, {"n.txt": "---\ntags: [x, y, c]\n---\n"}),
    "words-list-same": ("an element that both add is a conflict", {"n.txt": "Buy: milk, bread.\n"},
                        {"n.txt": "Buy: milk, bread, tea, jam.\n"}, {"n.txt": "Buy: milk, bread, jam, Tea.\n"}),
    "words-list-prose": ("a sentence is no list", {"n.txt": "We bought milk, bread.\n"},
                         {"n.txt": "We bought milk, bread, and slept.\n"}, {"n.txt": "We bought milk, bread, then left.\n"}),
    "joined-sections-below": ("an item does not get under another heading", {"n.txt": "# Log\n"},
                              {"n.txt": "# Log\n\n## Today\n\n- one\n\n## Rain\n\n- much\n"},
                              {"n.txt": "# Log\n\n## Today\n\n- three\n"}),
    "front-matter-toml": ("both add front matter of TOML", {"n.txt": "# T\n"}, {"n.txt": '+++\ntags = ["a"]\n+++\n# T\n'},
                          {"n.txt": "+++\ndraft = true\n+++\n# T\n"}),
    "front-matter-unlike": ("front matter of two languages", {"n.txt": "# T\n"}, {"n.txt": "+++\ntags = 1\n+++\n# T\n"},
                            {"n.txt": "---\ndraft: true\n...\n# T\n"}),
    "front-matter-and-edit": ("both add front matter, one edits the line below", {"n.txt": "# T\n"},
                              {"n.txt": "---\ntags: [a]\n---\n# Title\n"}, {"n.txt": "---\ndraft: true\n---\n# T\n"}),
    "front-matter-first": ("front matter stays first", {"n.txt": "# T\n"}, {"n.txt": "Of a ferry.\n\n# T\n"},
                           {"n.txt": "---\ndraft: true\n---\n\n# T\n"}),
    "joined-properties": ("one property of org, two values", {"n.txt": "* T\nx\n"}, {"n.txt": "* T\n:PROPERTIES:\n:ID: 1\n:END:\nx\n"},
                          {"n.txt": "* T\n:PROPERTIES:\n:ID: 2\n:END:\nx\n"}),
    "joined-unlike-items": ("one heading for items of unlike marks", {"n.txt": "# Log\n\n### Fixed\n\n* One\n"},
                            {"n.txt": "# Log\n\n### Added\n\n* [#144](https://e.org/144) Tags.\n\n### Fixed\n\n* One\n"},
                            {"n.txt": "# Log\n\n### Added\n\n* New flag for dates.\n\n### Fixed\n\n* One\n"}),
    "joined-front-matters": ("both put front matter to a note that had none", {"n.txt": "# T\n\nx\n"},
                             {"n.txt": "---\ntags: [a]\nlang: de\n---\n# T\n\nx\n"},
                             {"n.txt": "---\nlang: de\naliases:\n---\n\n# T\n\nx\n"}),
    "joined-front-matter-clash": ("a key of both with two values", {"n.txt": "# T\n\nx\n"},
                                  {"n.txt": "---\ntags: [a]\n---\n# T\n\nx\n"},
                                  {"n.txt": "---\ntags:\n- b\n---\n# T\n\nx\n"}),
    "joined-blanks": ("one blank line between two sections", {"n.txt": "# A\n\nx\n"},
                      {"n.txt": "# A\n\nx\n\n# Bees\n\nThey hum.\n\n"},
                      {"n.txt": "# A\n\nx\n\n# Cats\n\nMine sleeps.\n"}),
    "joined-code": ("code fences may be alike", {"n.txt": "Notes\n"},
                    {"n.txt": "Notes\n\n## Ruby\n\n```sh\nbundle install\n```\n"},
                    {"n.txt": "Notes\n\n## Python\n\n```sh\npip download\n```\n"}),
    "joined-heading-and-items": ("a heading and items of a list: the heading once", {"n.txt": "# List\n"},
                                 {"n.txt": "# List\n\n## Monday\n* bread\n"},
                                 {"n.txt": "# List\n\n## Monday\n* stamps\n"}),
    "joined-paraphrases": ("a heading and paraphrases: one thing said twice", {"n.txt": "# Log\n"},
                           {"n.txt": "# Log\n\n## Monday\nWe went to the lake early.\n"},
                           {"n.txt": "# Log\n\n## Monday\nEarly trip, to some lake.\n"}),
    "joined-wrapped-alike": ("paragraphs are compared however they are wrapped", {"n.txt": "# Log\n"},
                             {"n.txt": "# Log\n\nThe ferry leaves at nine from the old pier\nand takes an hour.\n"},
                             {"n.txt": "# Log\n\nThe ferry leaves at nine\nfrom the new pier and takes an hour.\n"}),
    "joined-link-items": ("two items for one thing", {"n.txt": "* [a](https://a.org)\n"},
                          {"n.txt": "* [a](https://a.org)\n* [b](https://b.org) bundles\n"},
                          {"n.txt": "* [a](https://a.org)\n* [b](https://example.org/b): serves files\n"}),
    "joined-definitions": ("two definitions of one link", {"n.txt": "See [map].\n\n"},
                           {"n.txt": "See [map].\n\n[map]: https://example.org/a\n"},
                           {"n.txt": "See [map].\n\n[map]: ../pictures/overview.png\n"}),
    "joined-front-matter": ("two values of one key in front matter", {"n.txt": "---\ntitle: x\n---\ntext\n"},
                            {"n.txt": "---\ntitle: x\ntags: [home]\n---\ntext\n"},
                            {"n.txt": "---\ntitle: x\ntags: garden, rain\n---\ntext\n"}),
    "joined-front-matter-keys": ("two keys in front matter", {"n.txt": "---\ntitle: x\n---\ntext\n"},
                                 {"n.txt": "---\ntitle: x\ntags: [home]\n---\ntext\n"},
                                 {"n.txt": "---\ntitle: x\nlang: de\n---\ntext\n"}),
    "joined-child-item": ("a child stays with its parent", {"n.txt": "- fruit\n"},
                          {"n.txt": "- fruit\n- bread\n"}, {"n.txt": "- fruit\n  - plum\n"}),
    "lines-lost-place": ("an insertion beside lines that became others", {"n.txt": "one\ntwo\nthree\nfour\n"},
                         {"n.txt": "one\ntwo\nthree\nfour\nfive\n"}, {"n.txt": "Something else altogether\n"}),
    "lines-same-date": ("a date that both added stands once, or in a block", {"n.txt": "old\n"},
                        {"n.txt": "21.11.\nrain\nold\n"}, {"n.txt": "21.11.\nwind\nold text\n"}),
    "lines-fence-closed": ("a fence that both closed is closed once", {"n.txt": "```\nx = 1\n"},
                           {"n.txt": "```\nx = 2\n```\n"}, {"n.txt": "```\nx = 1\n```\nmore\n"}),
    "lines-fences": ("fences that both put about a text", {"n.txt": "echo \"a\";\n"},
                     {"n.txt": "```md\necho \"a\";\n```\n"}, {"n.txt": "```php\necho \"a\";\n```\n"}),
    "block-of-a-part": ("a block holds only the lines that clash", {"n.txt": "one\ntwo\nthree\nfour\n"},
                        {"n.txt": "one 1\ntwo\nthree\nvier\n"}, {"n.txt": "one\nzwei\ndrei\nquatre\n"}),
    "block-shared-middle": ("what both sides share stands outside", {"n.txt": "a\n"},
                            {"n.txt": "x y\nthe same line\nz z\n"}, {"n.txt": "v w\nthe same line\nu u\n"}),
    "block-shared-blank": ("blank lines do not part a block", {"n.txt": "a\n"},
                           {"n.txt": "x y\n\nz z\n"}, {"n.txt": "v w\n\nu u\n"}),
    "added-by-both-empty": ("both added, one of them empty: the text", {"a.txt": "a\n"},
                            {"a.txt": "a\n", "n.txt": ""}, {"a.txt": "a\n", "n.txt": NOTE}),
    "added-by-both-alike": ("both added: what both have stands once, and so does what one has",
                            {"a.txt": "a\n"}, {"a.txt": "a\n", "n.txt": NOTE + "\nMine.\n"},
                            {"a.txt": "a\n", "n.txt": "Theirs.\n\n" + swap(NOTE, "milk", "oat milk")}),
    "added-by-both": ("both added, different text: markers around what differs", {"a.txt": "a\n"},
                      {"a.txt": "a\n", "n.txt": "title\n\nfirst\n\nend\n"},
                      {"a.txt": "a\n", "n.txt": "title\n\nsecond\n\nend\nand more\n"}),
    "edit-delete": ("one edited, one deleted: the edited text stays", {"n.txt": NOTE, "a.txt": "a\n"},
                    {"n.txt": swap(NOTE, "milk", "tea"), "a.txt": "a\n"}, {"a.txt": "a\n"}),
    "delete-delete": ("both deleted", {"n.txt": NOTE, "a.txt": "a\n"}, {"a.txt": "a\n"},
                      {"a.txt": "a\n", "b.txt": "b\n"}),
    "edit-rename": ("one renamed, one edited: the edited text under the new name", {"n.txt": NOTE},
                    {"list.txt": NOTE}, {"n.txt": swap(NOTE, "milk", "tea")}),
    "edit-rename-folder": ("renamed into a folder and changed there, edited here",
                           {"a/b/n.txt": NOTE + PARAGRAPHS},
                           {"a/c/d/n.txt": swap(NOTE + PARAGRAPHS, "Shopping", "To buy")},
                           {"a/b/n.txt": swap(NOTE + PARAGRAPHS, "Bring bags", "Bring two bags")}),
    "rename-delete": ("a rename counts as an edit", {"n.txt": NOTE, "a.txt": "a\n"},
                      {"list.txt": NOTE, "a.txt": "a\n"}, {"a.txt": "a\n"}),
    "rename-one-to-two": ("both renamed differently: both names keep the merged text", {"n.txt": NOTE},
                          {"x.txt": swap(NOTE, "milk", "tea")}, {"y.txt": swap(NOTE, "Shopping", "To buy")}),
    "rename-alike": ("both renamed alike", {"n.txt": NOTE}, {"x.txt": swap(NOTE, "milk", "tea")},
                     {"x.txt": swap(NOTE, "Shopping", "To buy")}),
    "rename-two-to-one": ("two files renamed to one name: markers around what differs",
                          {"a.txt": NOTE, "b.txt": PARAGRAPHS}, {"c.txt": NOTE, "b.txt": PARAGRAPHS + "end\n"},
                          {"a.txt": swap(NOTE, "milk", "tea"), "c.txt": PARAGRAPHS}),
    "rename-meets-added": ("renamed to a name that the other side added", {"n.txt": NOTE},
                           {"x.txt": NOTE}, {"n.txt": swap(NOTE, "milk", "tea"), "x.txt": "something new\n"}),
    "rename-meets-copied": ("moved here, copied to the same place and edited there: both",
                            {"n.txt": NOTE}, {"x.txt": NOTE}, {"n.txt": swap(NOTE, "milk", "tea"), "x.txt": NOTE}),
    "rename-least": ("half of a file must stay",
                     {"n.txt": "0123456\n" * 2 + "abcdefg\nhijklmn\n", "m.txt": "one\ntwo\nsix\nten\n"},
                     {"x.txt": "abcdefg\nhijklmn\nOPQRSTU\nVWXYZ01\n", "y.txt": "one\nTWO\nSIX\nTEN\n"},
                     {"n.txt": "0123456\n" * 2 + "abcdefg\nhijklmn\nadded\n", "m.txt": "one\ntwo\nsix\nten\nadded\n"}),
    "rename-same-name": ("moved files with one last name", {"a/n.txt": PARAGRAPHS, "b/n.txt": NOTE},
                         {"c/n.txt": PARAGRAPHS + "more\n", "b/n.txt": NOTE},
                         {"a/n.txt": swap(PARAGRAPHS, "Paragraph 3", "Paragraph three"), "b/n.txt": NOTE}),
    "binary": ("attachment changed on both sides: both stay", {"p.png": b"\x89PNG\0a"},
               {"p.png": b"\x89PNG\0b"}, {"p.png": b"\x89PNG\0c"}),
    "binary-names": ("extensions, folders and names already in use", {
        "d/archive.tar.gz": b"\0a", "none": b"\0a", ".hidden": b"\0a"},
        {"d/archive.tar.gz": b"\0b", "none": b"\0b", ".hidden": b"\0b"},
        {"d/archive.tar.gz": b"\0c", "none": b"\0c", ".hidden": b"\0c"}),
    "binary-long-name": ("a copy's name has at most 255 bytes", {"\u00e9" * 125 + ".png": b"\0a"},
                         {"\u00e9" * 125 + ".png": b"\0b"}, {"\u00e9" * 125 + ".png": b"\0c"}),
    "data": ("a file that is no note takes no markers, and no finer merge: both stay",
             {"a.json": '{\n "a": 1,\n "b": 2\n}\n', "deep/b.CANVAS": "x\n", "c.MD": "x\n", ".md": "x\n"},
             {"a.json": '{\n "a": 3,\n "b": 2\n}\n', "deep/b.CANVAS": "y\n", "c.MD": "y\n", ".md": "y\n"},
             {"a.json": '{\n "a": 1,\n "b": 4\n}\n', "deep/b.CANVAS": "z\n", "c.MD": "z\n", ".md": "z\n"}),
    "data-places": ("edits of different places of a file that is no note merge by lines",
                    {"a.ics": "1\n2\n3\n4\n5\n"}, {"a.ics": "one\n2\n3\n4\n5\n"}, {"a.ics": "1\n2\n3\n4\nfive\n"}),
    "data-added": ("a file that is no note and that both added: both stay",
                   {"n.txt": "x\n"}, {"n.txt": "x\n", "a.svg": "<svg>1</svg>\n"}, {"n.txt": "x\n", "a.svg": "<svg>2</svg>\n"}),
    "data-renamed": ("a note that was renamed to a file that is none takes none, either",
                     {"n.txt": NOTE}, {"n.json": swap(NOTE, "milk", "oat milk")}, {"n.txt": swap(NOTE, "milk", "tea")}),
    "binary-edit-delete": ("attachment edited and deleted", {"p.png": b"\0a", "a.txt": "a\n"},
                           {"p.png": b"\0b", "a.txt": "a\n"}, {"a.txt": "a\n"}),
    "nul-late": ("a NUL after 8000 bytes does not make a file binary", {"n.txt": "line " * 2000 + "\na\0b\nc\nd\n"},
                 {"n.txt": "first\n" + "line " * 2000 + "\na\0b\nc\nd\n"}, {"n.txt": "line " * 2000 + "\na\0b\nc\ne\n"}),
    "file-against-folder": ("file against folder: the file gets a suffix", {"a.txt": "a\n"},
                            {"a.txt": "a\n", "thing": "a file\n"}, {"a.txt": "a\n", "thing/n.txt": "in a folder\n"}),
    "folder-becomes-file": ("a folder replaced by a file, edited inside", {"f/n.txt": NOTE, "f/o.txt": "o\n"},
                            {"f": "now a file\n"}, {"f/n.txt": swap(NOTE, "milk", "tea"), "f/o.txt": "o\n"}),
    "names-by-case": ("names that differ only by case", {"a.txt": "a\n"}, {"a.txt": "a\n", "Note.txt": "one\n"},
                      {"a.txt": "a\n", "note.TXT": "two\n"}),
    "rename-by-case": ("renamed by case alone, written anew and edited", {"note.txt": "one\n"},
                       {"Note.txt": "something else\n"}, {"note.txt": "one\ntwo\n"}),
    "rename-folder-by-case": ("a folder renamed by case alone, and a new file in it",
                              {"daily/a.md": "a\n", "daily/b.md": "b\n"}, {"Daily/a.md": "a\n", "Daily/b.md": "b\n"},
                              {"daily/a.md": "a a\n", "daily/b.md": "b\n", "daily/new.md": "new\n"}),
    "names-by-form": ("names that differ only by Unicode form", {"a.txt": "a\n"},
                      {"a.txt": "a\n", "Caf\u00e9.txt": "composed\n"}, {"a.txt": "a\n", "cafe\u0301.txt": "decomposed\n"}),
    "names-of-folders": ("folders whose names differ only by case", {"a.txt": "a\n"},
                         {"a.txt": "a\n", "Trip/one.txt": "1\n", "Trip/more/x.txt": "x\n"},
                         {"a.txt": "a\n", "trip/two.txt": "2\n"}),
    "names-of-folders-clash": ("files of such folders that clash", {"a.txt": "a\n"},
                               {"a.txt": "a\n", "Caf\u00e9/x": "1\n", "Caf\u00e9/y/z": "2\n", "Caf\u00e9/b": b"\0b"},
                               {"a.txt": "a\n", "cafe\u0301/X": "2\n", "cafe\u0301/y": "3\n", "cafe\u0301/b": b"\0c"}),
    "names-of-folder-and-file": ("a folder and a file", {"a.txt": "a\n"},
                                 {"a.txt": "a\n", "Trip/one.txt": "1\n"}, {"a.txt": "a\n", "trip": "2\n"}),
    "names-one-head-has-both": ("names that one head has both stay", {"a.txt": "a\n", "B.txt": "B\n"},
                                {"a.txt": "a\n", "B.txt": "B\n", "b.txt": "b\n"},
                                {"a.txt": "a\n", "B.txt": "BB\n"}),
    "names-sigma-and-sharp-s": ("each letter in lower case by itself", {"a.txt": "a\n"},
                                {"a.txt": "a\n", "\u039f\u0394\u039f\u03a3.txt": "1\n", "STRASSE": "1\n"},
                                {"a.txt": "a\n", "\u03bf\u03b4\u03bf\u03c2.txt": "2\n", "stra\u00dfe": "2\n"}),
    "modes": ("the mode merges by itself", {"run.sh": ("100644", "echo\n"), "x.sh": ("100644", "a\n")},
              {"run.sh": ("100755", "echo\n"), "x.sh": ("100755", "b\n")},
              {"run.sh": ("100644", "echo hello\n"), "x.sh": ("100644", "c\n")}),
    "symlinks": ("symbolic links do not merge as text", {"l": ("120000", "a")}, {"l": ("120000", "b")},
                 {"l": ("120000", "c")}),
    "symlink-against-file": ("a link against a file", {"l": ("120000", "a")}, {"l": ("100644", "b\n")},
                             {"l": ("120000", "c")}),
    "empty-file": ("an empty file that both fill", {"n.txt": ""}, {"n.txt": "one line\n"}, {"n.txt": "other words\n"}),
    "emptied-file": ("emptied against edited", {"n.txt": NOTE}, {"n.txt": ""}, {"n.txt": swap(NOTE, "milk", "tea")}),
    "empty-not-renamed": ("empty files are not renamed", {"n.txt": "", "m.txt": "a\n"}, {"x.txt": "", "m.txt": "a\n"},
                          {"n.txt": "words\n", "m.txt": "a\n"}),
    "no-final-newline": ("a missing final newline is not an edit", {"n.txt": "a\nb\nc"}, {"n.txt": "a\nb\nc\nd"},
                         {"n.txt": "a\nb\nc\n"}),
    "no-final-newline-kept": ("nor does it appear by itself", {"n.txt": "a\nb\nc\nd"}, {"n.txt": "A\nb\nc\nd"},
                              {"n.txt": "a\nb\nc\nD"}),
    "no-final-newline-block": ("a note that ends in a block ends in a newline", {"n.txt": "a"}, {"n.txt": "b b"},
                               {"n.txt": "c c"}),
    "crlf-one-side": ("line endings merge by themselves", {"n.txt": NOTE},
                      {"n.txt": NOTE.replace("\n", "\r\n")}, {"n.txt": swap(NOTE, "milk", "tea")}),
    "crlf-conflict": ("markers end lines as the note does", {"n.txt": "a\r\nb\r\nc\r\n"},
                      {"n.txt": "a\r\nb b b\r\nc\r\n"}, {"n.txt": "a\r\nd d d\r\nc\r\n"}),
    "crlf-mixed": ("mixed endings stay as they are", {"n.txt": "a\r\nb\nc\r\nd\ne\n"},
                   {"n.txt": "A\r\nb\nc\r\nd\ne\n"}, {"n.txt": "a\r\nb\nc\r\nd\nE\n"}),
    "crlf-mixed-conflict": ("a block in a note of mixed endings", {"n.txt": "a\r\nb\nc\r\n"},
                            {"n.txt": "a\r\nx x\nc\r\n"}, {"n.txt": "a\r\ny y\r\nc\r\n"}),
    "invalid-utf8": ("bytes that are not UTF-8", {"n.txt": b"a\n\xff\xfe\nb\nc\n"}, {"n.txt": b"a\n\xff\xfe\nb\n\xc3\n"},
                     {"n.txt": b"\x80\n\xff\xfe\nb\nc\n"}),
    "invalid-utf8-names": ("names that are not UTF-8, in trailers too",
                           {"\udcff.txt": "a\n", "new\nline \"x\".txt": "a\n", " space ": "a\n"},
                           {"\udcff.txt": "b b\n", "new\nline \"x\".txt": "b b\n", " space ": "b b\n"},
                           {"\udcff.txt": "c c\n", "new\nline \"x\".txt": "c c\n", " space ": "c c\n"}),
    "long-line": ("very long lines merge by words", {"n.txt": LONG + "\n"}, {"n.txt": "start " + LONG + "\n"},
                  {"n.txt": LONG + "end\n"}),
    "long-lines-similar": ("lines above 4096 bytes are not compared", {"n.txt": "a\n"},
                           {"n.txt": "a\n" + LONG[:5000] + "x\n"}, {"n.txt": "a\n" + LONG[:5000] + "y\n"}),
    "looks-like-markers": ("text that looks like markers makes ours longer",
                           {"git.txt": "How git shows it:\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n\nend\n"},
                           {"git.txt": "How git shows it:\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n\nthe end\n"},
                           {"git.txt": "How git shows it:\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n\nno end\n"}),
    "underlines-in-sides": ("underlined titles in a block make its markers longer",
                            {"n.txt": "Title\n=====\n\nx\n"}, {"n.txt": "A title\n==========\n\nx\n"},
                            {"n.txt": "The name of it\n==============\n\nx\n"}),
    "frequent-lines": ("lines too frequent to anchor on", {"n.txt": "a\nb\n" * 100},
                       {"n.txt": "a\nb\n" * 60 + "a\n" + "a\nb\n" * 40}, {"n.txt": "x\n" + "a\nb\n" * 100 + "y\n"}),
    "sliding": ("unmatched runs slide down", {"n.txt": "{\n1\n}\n\n{\n2\n}\n"},
                {"n.txt": "{\n1\n}\n\n{\nnew\n}\n\n{\n2\n}\n"}, {"n.txt": "{\n1\n}\n\n{\n2\n}\n\n{\n3\n}\n"}),
    "nested-folders": ("folders within folders", {"a/b/c/d/n.txt": NOTE, "a/b/x.txt": "x\n", "z/n.txt": "n\n"},
                       {"a/b/c/d/n.txt": swap(NOTE, "milk", "oat milk"), "a/b/x.txt": "x\n", "z/n.txt": "n\n"},
                       {"a/b/c/d/n.txt": swap(NOTE, "milk", "tea for two"), "a/b/c/new.txt": "new\n", "z/n.txt": "n\n"}),
}


class Vector:
    def __init__(self, about):
        self.about, self.store, self.commits, self.ids = about, Store(), [], {}
        self.merge = Merge(self.store)

    def add(self, name, files, parents=(), time=0, author=None, zone=60, host="notes.invalid", made=None):
        author = author or name.capitalize()
        stored = {}
        for path, value in files.items():
            mode, content = value if isinstance(value, tuple) else ("100644", value)
            data = content.encode() if isinstance(content, str) else content
            stored[path.encode(errors="surrogateescape")] = (int(mode, 8), data)
        ids = [self.merge.tip([self.ids[n] for n in p])[0] if isinstance(p, list) else self.ids[p]
               for p in parents]
        tree = self.store.put_files({p: (m, self.store.put("blob", d)) for p, (m, d) in stored.items()})
        conflicts = {}
        for parent in map(self.store.commit, ids):
            found = self.merge.standing(self.merge.open_conflicts(parent), parent.tree, tree)
            conflicts.update({p: max(s, conflicts.get(p, 0)) for p, s in found.items()})
        trailers = "".join(line + "\n" for line in trailer_lines(
            None, conflicts, {}, BOUNDS["listBytes"]))
        message = name + "\n" + ("\n" + trailers if trailers and host == "notes.invalid" else "")
        person = Person(author, f"{name}@{host}", START + time, zone)
        committer = person if made is None else person._replace(time=made)
        self.ids[name] = self.store.put_commit(tree, ids, person, committer, message)
        self.commits.append({
            "name": name, "parents": list(parents), "author": author, "email": person.email,
            "time": person.time, "zone": zone, "message": message,
            **({} if made is None else {"made": made}),
            "files": [dict(path=shown(p), mode="%o" % m, **content_of(d))
                      for p, (m, d) in sorted(stored.items())]})
        return self

    def text(self, names, path):
        """A note as the tip of some commits has it."""
        tree = self.store.commit(self.merge.tip([self.ids[n] for n in names])[0]).tree
        return self.store.get(self.store.entry(tree, path.encode())[1]).decode()

    def write(self, name, heads):
        tip, conflicts = self.merge.tip([self.ids[h] for h in heads])
        tree = self.store.commit(tip).tree
        vector = {
            "about": self.about, "commits": self.commits, "heads": heads, "tip": tip, "tree": tree,
            "conflicts": [shown(p) for p in sorted(conflicts)],
            "message": self.store.commit(tip).message,
            "result": [dict(path=shown(p), mode="%o" % m, **content_of(self.store.get(blob)))
                       for p, (m, blob) in sorted(self.store.files(tree).items())]}
        with open(os.path.join(FOLDER, name + ".json"), "w") as file:
            json.dump(vector, file, indent=1, ensure_ascii=True)
            file.write("\n")


def shown(path):
    """UTF-8 paths as they are, others in the trailers' quoted form."""
    return quote(path)


def content_of(data):
    if len(data) > 2000 and len(set(data.split(b" "))) < 10:
        word = data.split(b" ")[5 if len(data.split(b" ")) > 5 else 0]
        count = data.count(word + b" ")
        first = data.find((word + b" ") * count)
        if first >= 0 and word:
            return {"before": data[:first].decode(), "repeated": word.decode() + " ", "times": count,
                    "after": data[first + count * (len(word) + 1):].decode()}
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def pairs():
    for name, (about, base, first, second) in PAIRS.items():
        for order, times in (("1", (60, 7320)), ("2", (7320, 60))):
            vector = Vector(about).add("base", base)
            vector.add("ann", first, ["base"], times[0]).add("bob", second, ["base"], times[1], zone=-330)
            vector.write(f"{name}-{order}", ["ann", "bob"])


def many():
    def side(word):
        return {"n.txt": swap(NOTE, "milk", word + " milk")}

    for count in (3, 4, 8):
        vector = Vector(f"{count} heads on one line stand in one block").add("base", {"n.txt": NOTE})
        names = ["ann", "bob", "cyd", "dan", "eve", "fay", "gil", "hal"][:count]
        for index, name in enumerate(names):
            vector.add(name, side(["oat", "soy", "rice", "goat", "nut", "pea", "hemp", "sour"][index]),
                       ["base"], 60 * index)
        vector.write(f"heads-{count}", names[::-1])

    vector = Vector("three people append").add("base", {"n.txt": "list\n"})
    for index, (name, line) in enumerate((("ann", "bread"), ("bob", "light bulbs"), ("cyd", "stamps"))):
        vector.add(name, {"n.txt": "list\n" + line + "\n"}, ["base"], index)
    vector.write("heads-3-joined", ["ann", "bob", "cyd"])

    vector = Vector("what all or all but one share stands outside the block").add(
        "base", {"n.txt": "milk\nbutter\nham\n"})
    vector.add("ann", {"n.txt": "milk\nbutter\nham\neggs\n"}, ["base"], 1)
    vector.add("bob", {"n.txt": "milk\nbutter\nham\nbread\n"}, ["base"], 2)
    vector.add("cyd", {"n.txt": "milk\nbutter\nsmoked ham\ntea\n"}, ["base"], 3)
    vector.write("heads-3-list", ["ann", "bob", "cyd"])

    vector = Vector("a block has as many sides as there are texts").add("base", {"n.txt": NOTE})
    vector.add("ann", {"n.txt": swap(swap(NOTE, "milk", "oat milk"), "bread", "rye")}, ["base"], 1)
    vector.add("bob", side("soy"), ["base"], 2)
    vector.add("cyd", {"n.txt": swap(side("soy")["n.txt"], "butter", "no butter")}, ["base"], 3)
    vector.write("heads-3-two-texts", ["ann", "bob", "cyd"])

    vector = Vector("three heads, two of them alike").add("base", {"n.txt": NOTE})
    vector.add("ann", side("oat"), ["base"], 1).add("bob", side("soy"), ["base"], 2)
    vector.add("cyd", {**side("oat"), "o.txt": "o\n"}, ["base"], 3).write("heads-3-two-alike", ["cyd", "bob", "ann"])

    vector = Vector("edited twice and deleted by the third").add("base", {"n.txt": NOTE, "a.txt": "a\n"})
    vector.add("ann", {**side("oat"), "a.txt": "a\n"}, ["base"], 1)
    vector.add("bob", {"a.txt": "a\n"}, ["base"], 2)
    vector.add("cyd", {"n.txt": swap(NOTE, "Bring bags", "No bags"), "a.txt": "a\n"}, ["base"], 3)
    vector.write("heads-3-edit-delete", ["ann", "bob", "cyd"])

    vector = Vector("sides that all end alike").add("base", {"n.txt": "eggs\n"})
    vector.add("ann", {"n.txt": "milk\nmilk\nbread\n"}, ["base"], 1)
    vector.add("bob", {"n.txt": "milk\nbread\nmilk\n"}, ["base"], 2)
    vector.add("cyd", {"n.txt": "bread\nmilk\nbread\n"}, ["base"], 3).write("heads-3-trimmed", ["ann", "bob", "cyd"])

    vector = Vector("an empty side of three that were added").add("base", {"a.txt": "a\n"})
    vector.add("ann", {"a.txt": "a\n", "n.txt": "bread\nmilk\neggs\n"}, ["base"], 1)
    vector.add("bob", {"a.txt": "a\n", "n.txt": "bread\nsoap\neggs\n"}, ["base"], 2)
    vector.add("cyd", {"a.txt": "a\n", "n.txt": ""}, ["base"], 3).write("heads-3-added", ["ann", "bob", "cyd"])

    vector = Vector("heads with different bases").add("base", {"n.txt": NOTE})
    vector.add("mid", {"n.txt": swap(NOTE, "Shopping", "To buy")}, ["base"], 1)
    vector.add("ann", {"n.txt": swap(swap(NOTE, "Shopping", "To buy"), "milk", "oat milk")}, ["mid"], 2)
    vector.add("bob", {"n.txt": swap(swap(NOTE, "Shopping", "To buy"), "milk", "soy milk")}, ["mid"], 3)
    vector.add("cyd", {"n.txt": swap(NOTE, "milk", "rice milk")}, ["base"], 4)
    vector.write("heads-3-two-bases", ["ann", "bob", "cyd"])

    vector = Vector("three different renames").add("base", {"n.txt": NOTE})
    for index, name in enumerate(("ann", "bob", "cyd")):
        vector.add(name, {name + ".txt": NOTE + name * 3 + "\n"}, ["base"], index)
    vector.write("heads-3-renames", ["ann", "bob", "cyd"])

    vector = Vector("three attachments, and a copy's name in use").add("base", {"p.png": b"\0a"})
    for index, name in enumerate(("ann", "bob", "cyd")):
        vector.add(name, {"p.png": b"\0" + name.encode(), "p (Zoe-x's copy, 2026-09-21 16.15).png": b"x"},
                   ["base"], 60 * 12, author="Zoe/x", zone=60 * index)
    vector.write("heads-3-binary", ["ann", "bob", "cyd"])

    def crossed(about, left, right):
        vector = Vector(about).add("base", {"n.txt": NOTE})
        vector.add("ann", side("oat"), ["base"], 1)
        vector.add("bob", {"n.txt": swap(NOTE, "Bring bags", "No bags")}, ["base"], 2)
        both = swap(side("oat")["n.txt"], "Bring bags", "No bags")
        vector.add("cyd", {"n.txt": left(both)}, ["ann", "bob"], 3)
        return vector.add("dan", {"n.txt": right(both)}, ["bob", "ann"], 4)

    crossed("two bases that merge", lambda t: swap(t, "bread", "rye"), lambda t: swap(t, "late", "at ten")).write(
        "criss-cross", ["cyd", "dan"])
    crossed("two bases, one line changed again", lambda t: swap(t, "oat milk", "oat"),
            lambda t: swap(t, "oat milk", "oats")).write("criss-cross-conflict", ["cyd", "dan"])

    vector = Vector("two bases that conflict, resolved differently").add("base", {"n.txt": NOTE})
    vector.add("ann", side("oat"), ["base"], 1).add("bob", side("soy"), ["base"], 2)
    vector.add("cyd", side("oat and soy"), ["ann", "bob"], 3).add("dan", side("no"), ["ann", "bob"], 4)
    vector.write("criss-cross-bases-conflict", ["cyd", "dan"])

    vector = Vector("unrelated histories: the base is the empty tree")
    vector.add("ann", {"n.txt": NOTE, "a.txt": "a\n"}, [], 1)
    vector.add("bob", {"n.txt": swap(NOTE, "milk", "tea"), "b.txt": "b\n"}, [], 2)
    vector.write("unrelated", ["ann", "bob"])

    vector = Vector("one of the commits descends from the other: it is the only head").add("base", {"n.txt": NOTE})
    vector.add("ann", side("oat"), ["base"], 1).write("one-head", ["base", "ann", "ann"])


def standing():
    """Conflicts that were not resolved when somebody edited on."""

    def start(about):
        vector = Vector(about).add("base", {"n.txt": NOTE})
        vector.add("ann", {"n.txt": swap(NOTE, "milk", "oat milk")}, ["base"], 1)
        return vector.add("bob", {"n.txt": swap(NOTE, "milk", "soy milk")}, ["base"], 2)

    both = ["ann", "bob"]
    vector = start("an edit on top of a block, and nothing else")
    text = vector.text(both, "n.txt")
    vector.add("cyd", {"n.txt": swap(text, "Shopping", "To buy")}, [both], 3).write("block-kept", ["cyd"])

    vector = start("a block joined by a new side").add("dan", {"n.txt": swap(NOTE, "milk", "rice milk")}, ["base"], 4)
    vector.add("cyd", {"n.txt": swap(text, "Shopping", "To buy")}, [both], 3).write("block-joined", ["cyd", "dan"])

    vector = start("a block and an edit beside it, joined by a new side")
    vector.add("dan", {"n.txt": swap(NOTE, "milk", "rice milk")}, ["base"], 4)
    vector.add("cyd", {"n.txt": swap(text, "bread", "rye")}, [both], 3).write("block-touched", ["cyd", "dan"])

    vector = start("two blocks with sides in common, and a head that knows neither: no side goes")
    for name, milk, time in (("eve", "rice milk", 3), ("fay", "nut milk", 4), ("gus", "no milk", 9)):
        vector.add(name, {"n.txt": swap(NOTE, "milk", milk)}, ["base"], time)
    for name, third, time in (("cyd", "eve", 5), ("dan", "fay", 6)):
        with_block = vector.text(both + [third], "n.txt")
        vector.add(name, {"n.txt": swap(with_block, "Shopping", "To buy")}, [both + [third]], time)
    vector.write("blocks-and-a-stranger", ["cyd", "dan", "gus"])

    vector = start("one side of a block edited on: the older text of that side goes")
    vector.add("eve", {"n.txt": swap(NOTE, "milk", "oat milk, barista")}, ["ann"], 4)
    vector.add("cyd", {"n.txt": swap(text, "Shopping", "To buy")}, [both], 3).write("block-side-edited", ["cyd", "eve"])

    vector = start("resolved by one, kept by the other: resolved")
    vector.add("cyd", {"n.txt": swap(NOTE, "milk", "any milk")}, [both], 3)
    vector.add("dan", {"n.txt": swap(text, "Shopping", "To buy")}, [both], 4).write("block-resolved", ["cyd", "dan"])

    vector = start("resolved twice, differently, to the two sides: an ordinary conflict")
    vector.add("cyd", {"n.txt": swap(NOTE, "milk", "oat milk")}, [both], 3)
    vector.add("dan", {"n.txt": swap(NOTE, "milk", "soy milk")}, [both], 4).write(
        "block-resolved-twice", ["cyd", "dan"])

    vector = start("both sides kept by two, in either order: one block")
    vector.add("cyd", {"n.txt": swap(NOTE, "milk", "oat milk\nsoy milk")}, [both], 3)
    vector.add("dan", {"n.txt": swap(NOTE, "milk", "soy milk\noat milk")}, [both], 4).write(
        "block-resolved-in-either-order", ["cyd", "dan"])

    vector = start("both edit inside the block, one side each")
    vector.add("cyd", {"n.txt": swap(text, "oat milk", "oats")}, [both], 3)
    vector.add("dan", {"n.txt": swap(text, "soy milk", "soya")}, [both], 4).write("block-both-edit", ["cyd", "dan"])

    def longer(first, second):
        return {"n.txt": "".join(f"{n} {first} thinks so\n" for n in range(1, 10)) + second}

    vector = Vector("both go on in one side of a block, and a third who does not know it").add("base", {"n.txt": "x\n"})
    vector.add("ann", longer("Ann", ""), ["base"], 1)
    vector.add("bob", {"n.txt": "Bob knows better\nand says why\n"}, ["base"], 2)
    block = vector.text(both, "n.txt")
    vector.add("cyd", {"n.txt": swap(block, "2 Ann thinks so", "the second point")}, [both], 3)
    vector.add("dan", {"n.txt": swap(block, "8 Ann thinks so", "point number eight")}, [both], 4)
    vector.write("block-side-by-side", ["cyd", "dan"])
    vector.add("eve", {"n.txt": swap(longer("Ann", "")["n.txt"], "5 Ann thinks so", "fifth: nothing")}, ["ann"], 5)
    vector.write("block-and-edit-of-side", ["cyd", "dan", "eve"])
    vector.add("fay", {"n.txt": swap(block, "2 Ann thinks so", "number two")}, [both], 6)
    vector.write("block-side-in-conflict", ["cyd", "fay"])

    vector = start("a block damaged by hand is text")
    vector.add("cyd", {"n.txt": swap(text, "=======\n", "")}, [both], 3)
    vector.add("dan", {"n.txt": swap(NOTE, "Shopping", "To buy")}, ["bob"], 4).write("block-damaged", ["cyd", "dan"])

    vector = start("equal blocks with other labels: all get those of the first")
    vector.add("cyd", {"n.txt": swap(text, "bread", "rye")}, [both], 3)
    vector.add("dan", {"n.txt": swap(swap(text, "bread", "spelt"), "Bob", "Rob")}, [both], 4)
    vector.add("gus", {"n.txt": swap(NOTE, "bread\nmilk", "no bread\nno milk")}, ["base"], 5)
    vector.write("block-relabelled", ["cyd", "dan", "gus"])

    vector = start("a note renamed while in conflict is still in conflict")
    vector.add("cyd", {"list.txt": text}, [both], 3)
    vector.add("dan", {"n.txt": swap(NOTE, "milk", "rice milk")}, ["base"], 4).write("block-renamed", ["cyd", "dan"])

    vector = start("a copy of a note in conflict is in conflict, too")
    vector.add("cyd", {"n.txt": swap(text, "oat milk", "oats"), "copy.txt": text}, [both], 3)
    vector.add("dan", {"n.txt": text, "copy.txt": swap(text, "Shopping", "To buy")}, [both], 4).write(
        "block-copied", ["cyd", "dan"])

    vector = start("a note in conflict moved over another one")
    vector.add("base2", {"n.txt": text, "o.txt": "o\n"}, [both], 3)
    vector.add("cyd", {"o.txt": text}, ["base2"], 4)
    vector.add("dan", {"n.txt": text, "o.txt": "o\np\n"}, ["base2"], 5).write("block-moved-over", ["cyd", "dan"])

    vector = start("a commit made by hand on top of a conflict")
    vector.add("cyd", {"n.txt": swap(text, "Shopping", "To buy")}, [both], 3, host="example.org")
    vector.add("dan", {"n.txt": swap(NOTE, "milk", "rice milk")}, ["base"], 4).write("block-by-hand", ["cyd", "dan"])

    vector = start("an edit on a derived merge meets an edit of one of its heads")
    vector.add("cyd", {"n.txt": text, "o.txt": "o\n"}, [both], 3)
    vector.add("dan", {"n.txt": swap(NOTE, "milk", "soy milk"), "p.txt": "p\n"}, ["bob"], 4)
    vector.write("block-and-its-head", ["cyd", "dan"])

    vector = Vector("labels name who wrote the side, not who has the head").add("base", {"n.txt": NOTE})
    vector.add("ann", {"n.txt": swap(NOTE, "milk", "oat milk")}, ["base"], 1, zone=-480)
    vector.add("bob", {"n.txt": swap(NOTE, "milk", "oat milk"), "o.txt": "o\n"}, ["ann"], 90000)
    vector.add("cyd", {"n.txt": swap(NOTE, "milk", "soy milk")}, ["base"], 5, author="  Cy\td ", zone=845)
    vector.write("labels", ["bob", "cyd"])

    vector = Vector("labels and copies say of an author that is no device: unsigned")
    vector.add("base", {"n.txt": NOTE, "p.png": b"\0a"})
    vector.add("ann", {"n.txt": swap(NOTE, "milk", "oat milk"), "p.png": b"\0b"}, ["base"], 1)
    vector.add("bob", {"n.txt": swap(NOTE, "milk", "soy milk"), "p.png": b"\0c"}, ["base"], 2,
               author="Bob " + "o" * 120, host="example.org")
    vector.write("labels-unsigned", ["ann", "bob"])
    vector.add("unsigned", {"n.txt": swap(NOTE, "milk", "rice milk")}, ["base"], 3)
    vector.write("labels-without-key", ["ann", "unsigned"])


def clocks():
    """Times that go back and forth along history."""
    latest = 253402300799

    def drink(word):
        return {"n.txt": swap(NOTE, "milk", word + " milk")}

    vector = Vector("written first and saved last is older").add("base", {"n.txt": NOTE})
    vector.add("ann", drink("oat"), ["base"], 60, made=START + 10800).add("bob", drink("soy"), ["base"], 3600)
    vector.write("clock-written-first", ["ann", "bob"])

    vector = Vector("a clock in 9999 is the newest as long as its version is a head").add("base", {"n.txt": NOTE})
    vector.add("ann", drink("oat"), ["base"], latest - START).add("bob", drink("soy"), ["base"], 60)
    vector.write("clock-of-9999", ["ann", "bob"])
    vector.add("cyd", drink("rice"), ["ann"], 30).write("clock-of-9999-passed", ["cyd", "bob"])
    vector.add("dan", drink("nut"), ["base"], 90).add("eve", drink("no"), [["ann", "bob"]], 45)
    vector.write("clock-of-9999-merged", ["eve", "dan"])

    vector = Vector("a clock in 1970, and what was written upon it").add("base", {"n.txt": NOTE})
    vector.add("ann", drink("oat"), ["base"], -START).add("bob", drink("soy"), ["base"], 60)
    vector.write("clock-of-1970", ["ann", "bob"])
    vector.add("cyd", drink("rice"), ["ann"], 90).write("clock-of-1970-passed", ["cyd", "bob"])

    vector = Vector("the base is the newest ancestor, whatever its times").add("base", {"n.txt": NOTE}, time=500)
    vector.add("ann", drink("oat"), ["base"], 400, made=latest).add("bob", drink("oat"), ["ann"], -START, made=5)
    vector.add("cyd", drink("rice"), ["bob"], 10, made=START + 20).add("dan", drink("nut"), ["bob"], 20, made=0)
    vector.write("clock-of-bases", ["cyd", "dan"])


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for name in os.listdir(FOLDER):
        if name.endswith(".json"):
            os.remove(os.path.join(FOLDER, name))
    pairs()
    many()
    standing()
    clocks()
    print(len(os.listdir(FOLDER)), "vectors")


if __name__ == "__main__":
    main()
