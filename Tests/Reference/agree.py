#!/usr/bin/env python3
"""Random cases on which the reference and the program must agree.

    agree.py MERGE-TRIAL [COUNT [SEED]]

MERGE-TRIAL is the program built from Tests/MergeTrial. Half of the cases are texts, half are
histories. Prints the seed, and every case on which the two differ; exits 1 if there is one.
"""

import base64
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import text as texts
from merge_reference import BOUNDS, Merge, quote, trailer_lines
from objects import EMPTY_TREE, Person, Store

WORDS = "the a note of bread rain and Milk 2026 list; to-do: buy (soon) é 日本 «x» don't".split(" ")


class Cases:
    def __init__(self, seed):
        self.seed, self.random = seed, random.Random(seed)

    def pick(self, *choices):
        return self.random.choice(choices)

    def line(self):
        kind = self.random.random()
        if kind < 0.35:
            return self.pick(b"a", b"b", b"c", b"", b"", b"}", b"# x")
        if kind < 0.4:
            return self.pick(b"=======", b"<<<<<<< HEAD", b">>>>>>> x", b"```", b"<<<<<<<<", b"======== y")
        if kind < 0.55:
            return b"* " + self.pick(b"Apple", b"Birne", b"Cherry", b"Date", b"Elder") + b" %d" % (
                self.random.randrange(4))
        if kind < 0.57:
            return b"  https://e.org/" + self.pick(b"issues/%d", b"issue/1%d", b"%d#2") % (
                self.random.randrange(12))
        if kind < 0.58:
            return b"## 2026-11-%d" % self.random.randrange(10, 14)
        if kind < 0.585:
            return self.pick(b"---", b"+++", b"tags: [a]", b"title: b", b"- [ ] buy bread", b"- [x] 2026", b"\tindented",
                             b"SCHEDULED: <2026-11-%d>" % self.random.randrange(10, 30), b":PROPERTIES:", b":END:",
                             b":ID: %d" % self.random.randrange(9), b"## Unreleased", b"# Log")
        if kind < 0.59:
            mark = self.pick(b", ", b", ", b"; ", "\u3001".encode())
            return mark.join(self.random.choices([w.encode() for w in WORDS], k=self.pick(2, 4, 5)))
        if kind < 0.595:
            return self.pick(b"~" * 7, b"a line.", "l\u00fcneli.".encode())
        if kind < 0.6:
            return bytes(self.random.randrange(1, 256) for _ in range(5)).replace(b"\n", b"")
        count = self.random.randrange(1, 14)
        words = [self.random.choice(WORDS) for _ in range(count)]
        return (" ".join(words) + self.pick("", ".", ". ", "! And so.", "? (Yes.) No.")).encode()

    def lines(self):
        if self.random.random() < 0.3:
            return [" ".join(self.random.choices(WORDS, k=12)).encode() + self.pick(b"", b".")
                    for _ in range(self.pick(1, 1, 2, 5))]
        if self.random.random() < 0.05:
            fence = self.pick(b"---", b"+++")
            return [fence, b"title: %d" % self.random.randrange(9), fence, self.line()]
        if self.random.random() < 0.05:
            return self.numbered([self.line() for _ in range(self.pick(2, 3, 5))])
        if self.random.random() < 0.05:
            words = [self.random.choice(WORDS).encode() for _ in range(self.pick(0, 2, 3))]
            return [self.pick(b"tags: [%s]", b"Buy: %s", b"We %s.") % self.pick(b", ", b"; ").join(words), self.line()]
        return [self.line() for _ in range(self.pick(0, 1, 3, 6, 12, 40))]

    def numbered(self, lines):
        """The lines as items of a list that counts up; those that were items get new numbers."""
        indentation, mark, start = self.pick(b"", b"", b"  "), self.pick(b".", b".", b")"), self.pick(1, 1, 2)
        step = self.pick(1, 1, 1, 0)
        return [indentation + b"%d" % (start + i * step) + mark + b" " + (re.sub(rb"^ *\d+[.)] ", b"", line) or b"x")
                for i, line in enumerate(lines)]

    def edited(self, lines):
        was_numbered = lines and all(re.match(rb" *\d+[.)] ", line) for line in lines)
        lines = self.edited_once(lines)
        return self.numbered(lines) if was_numbered and self.random.random() < 0.8 else lines

    def edited_once(self, lines):
        lines = list(lines)
        if lines and self.random.random() < 0.15:
            # Moved, perhaps with a word changed.
            at, count = self.random.randrange(len(lines)), self.pick(1, 1, 2, 3)
            moved = lines[at:at + count]
            del lines[at:at + count]
            if self.random.random() < 0.3:
                moved[-1] += self.pick(b" x", b"!", b" and more")
            at = self.random.randrange(len(lines) + 1)
            lines[at:at] = moved
        listed = [i for i, line in enumerate(lines) if re.match(rb"tags: \[|Buy: |We ", line)]
        if listed and self.random.random() < 0.7:
            line, word, mark = lines[listed[0]], self.random.choice(WORDS).encode(), self.pick(b", ", b", ", b"; ")
            lines[listed[0]] = line[:-1] + mark + word + line[-1:] if self.random.random() < 0.7 else re.sub(
                rb"([\[ ])", rb"\1" + word + mark, line, count=1)
        for _ in range(self.pick(0, 1, 1, 2, 4)):
            at, kind = self.random.randrange(len(lines) + 1), self.random.random()
            count = self.pick(1, 1, 2, 3)
            if kind < 0.35:
                lines[at:at] = [self.line() for _ in range(count)]
            elif kind < 0.45:
                lines += [self.line() for _ in range(count)]
            elif kind < 0.6:
                del lines[at:at + count]
            elif kind < 0.7 and lines:
                source = self.random.randrange(len(lines))
                lines[at:at] = lines[source:source + count]
            elif kind < 0.73 and lines:
                # Wrapped anew.
                words = b" ".join(lines[at:at + 4]).split(b" ")
                middle = self.random.randrange(len(words) + 1)
                lines[at:at + 4] = [b" ".join(words[:middle]), b" ".join(words[middle:])]
            elif kind < 0.75 and lines:
                # Children of a list, or code.
                lines[at:at + count] = [self.pick(b"  ", b"    ") + line for line in lines[at:at + count]]
            elif kind < 0.76:
                fence = self.pick(b"---", b"---", b"+++")
                lines[:0] = [fence, self.pick(b"tags: [a]", b"title: b", b"title = c"), self.pick(fence, b"...")]
            elif kind < 0.78 and at < len(lines):
                word = self.random.choice(WORDS).encode()
                mark = self.pick(b", ", b", ", b"; ", "\u3001".encode())
                lines[at] = self.pick(word + mark + lines[at], lines[at] + mark + word)
            elif kind < 0.81 and lines:
                lines += [b"", b"## 2026-11-%d" % self.random.randrange(10, 30), self.line()]
                lines += self.random.choices(lines[:12], k=count)
            elif at < len(lines):
                words = lines[at].split(b" ")
                new = self.random.choice(WORDS).encode() + b"%d" % self.random.randrange(9)
                words[self.random.randrange(len(words))] = self.pick(self.line(), new, new, new)
                lines[at] = b" ".join(words)
        return lines

    def text(self, lines, style=b"\n"):
        text = style.join(lines) + (style if lines and self.random.random() < 0.9 else b"")
        return text.replace(b"\n", b"\r\n", 1) if self.random.random() < 0.02 else text

    def text_case(self):
        """Positive and negative terms."""
        style = self.pick(b"\n", b"\n", b"\n", b"\r\n")
        base = self.lines()
        count = self.pick(2, 2, 2, 2, 3, 4, 6)
        sides = [self.edited(base) for _ in range(count)]
        if self.random.random() < 0.2:
            sides[-1] = self.edited(sides[0])
        bases = [self.pick(base, base, base, self.edited(base), sides[0]) if count > 2 else base
                 for _ in range(count - 1)]
        if self.random.random() < 0.1:
            bases = [None] * (count - 1)
        styles = [style if self.random.random() < 0.9 else self.pick(b"\n", b"\r\n")
                  for _ in range(2 * count)]
        above = [self.term(self.text(s, styles[i])) for i, s in enumerate(sides)]
        below = [b if b is None else self.term(self.text(b, styles[count + i]))
                 for i, b in enumerate(bases)]
        if self.random.random() < 0.25 and None not in bases:
            # A side, and perhaps a base, that hold blocks.
            content, size, _ = texts.merge_texts(
                [t[:2] + (b"Old%d \xc2\xb7 2020-01-01 00:00" % i,) for i, t in enumerate(above)], below)
            if size:
                where = self.pick(above, above, below)
                where[self.random.randrange(len(where))] = (content, size)
                for i in range(len(above) - 1) if self.random.random() < 0.5 else ():
                    above[i], below[i] = (self.edit_of(content), size), (content, size)
                if self.random.random() < 0.5:
                    above[-1] = (self.edit_of(content), size)
        return above, below

    def edit_of(self, content):
        return b"\n".join(self.edited(content.split(b"\n")[:-1])) + b"\n"

    def term(self, content):
        return content, None

    # Histories.

    def path(self):
        return self.pick(
            b"n.txt", b"n.txt", b"m.txt", b"d/o.txt", b"d/p/q.md", b"N.txt", b"D/o.txt", b"d",
            b"d.txt", "\u00e9.txt".encode(), "e\u0301.txt".encode(), b"\xff.txt", b"x\ny.txt", b"pic.png")

    def history(self, store):
        """Some commits nobody descends from, in random order."""
        merge, clock = Merge(store, self.bounds()), 1_700_000_000
        first = {self.path(): self.content() for _ in range(4)}
        first[b"n.txt"] = 0o100644, self.text(self.lines())
        devices = [self.commit(store, merge, self.fitting(first), [], clock)]
        devices *= self.pick(2, 2, 3, 5, 8)
        for _ in range(self.random.randrange(3, 14)):
            device = self.random.randrange(len(devices))
            clock += self.random.randrange(3) * 31
            if self.random.random() < 0.3:
                other = self.random.randrange(len(devices))
                devices[device] = merge.tip([devices[device], devices[other]])[0]
                continue
            files = {p: (mode, store.get(blob)) for p, (mode, blob) in store.files(
                store.commit(devices[device]).tree).items()}
            for _ in range(self.pick(1, 1, 2)):
                self.change(files)
            parents = [devices[device]]
            if self.random.random() < 0.05:
                parents.append(self.random.choice(devices))
            devices[device] = self.commit(store, merge, self.fitting(files), parents, clock)
        return devices

    def bounds(self):
        """Mostly those of notes-merge(7); else such that each of them is met."""
        limits = random.Random(self.seed)
        if limits.random() < 0.6:
            return BOUNDS
        return {"parents": limits.choice([2, 2, 3, 256]), "textBytes": limits.choice([100, 400, 4000]),
                "listBytes": limits.choice([50, 100, 200, 4000]),
                "pathBytes": limits.choice([30, 50, 300, 4096]),
                "fineWork": limits.choice([1 << 30, 2000, 20000]),
                "contentBytes": limits.choice([96 << 20, 96 << 20, 300, 1000]),
                "contentNewlines": limits.choice([1 << 20, 1 << 20, 10, 40]),
                "newlinesInAll": limits.choice([1 << 23, 1 << 23, 20, 100])}

    def content(self):
        mode = self.pick(0o100644, 0o100644, 0o100644, 0o100755, 0o120000)
        if mode == 0o120000:
            return mode, b"target %d" % self.random.randrange(3)
        return mode, self.text(self.lines()) if self.random.random() < 0.9 else b"\0%d" % (
            self.random.randrange(9))

    def change(self, files):
        kind, paths = self.random.random(), sorted(files)
        if kind < 0.2 or not paths:
            files[self.path()] = self.content()
        elif kind < 0.3:
            del files[self.random.choice(paths)]
        elif kind < 0.45:
            # Moved, or copied.
            path = self.random.choice(paths)
            mode, content = files[path] if self.random.random() < 0.3 else files.pop(path)
            if self.random.random() < 0.5:
                content = b"\n".join(self.edited(content.split(b"\n")))
            files[self.path()] = mode, content
        else:
            path = self.random.choice(paths)
            if b"n.txt" in files and self.random.random() < 0.6:
                path = b"n.txt"
            mode, content = files[path]
            files[path] = mode, b"\n".join(self.edited(content.split(b"\n")))

    def fitting(self, files):
        """The files that can stand beside each other, without folders that are files too."""
        return {p: v for p, v in files.items() if not any(q.startswith(p + b"/") for q in files)}

    def commit(self, store, merge, files, parents, clock):
        tree = store.put_files({p: (mode, store.put("blob", data))
                                for p, (mode, data) in files.items()}) if files else EMPTY_TREE
        number = self.random.randrange(3)
        host = "notes.invalid" if self.random.random() < 0.8 else "example.org"
        offset = self.pick(0, 60, -330)
        person = Person(self.pick("Ann", "Bob", "Z\u00f6e/x"), f"d{number}@{host}", clock, offset)
        conflicts = {}
        for parent in map(store.commit, parents):
            standing = merge.standing(merge.open_conflicts(parent), parent.tree, tree)
            for path, size in standing.items():
                conflicts[path] = max(size, conflicts.get(path, 0))
        lines = "".join(line + "\n" for line in trailer_lines(
            None, conflicts, {}, merge.bounds["listBytes"]))
        return store.put_commit(tree, parents, person, person, f"Edit {clock}\n\n{lines}")


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    print(f"agree.py: {count} cases, seed {seed}")
    trial = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(request):
        trial.stdin.write(json.dumps(request) + "\n")
        trial.stdin.flush()
        return json.loads(trial.stdout.readline())

    wrong = 0
    for number in range(seed, seed + count // 2):
        above, below = Cases(number).text_case()
        encode = lambda t: t and base64.b64encode(t[0]).decode()
        answer = ask({"positives": list(map(encode, above)), "negatives": list(map(encode, below)),
                      "markerSizes": [t and t[1] for t in above + below]})
        labelled = [t + (b"S%d \xc2\xb7 2026-01-01 00:00" % (i + 1),) for i, t in enumerate(above)]
        content, size, rules = texts.merge_texts(labelled, [t and t + (b"",) for t in below])
        got = base64.b64decode(answer["text"]), answer.get("markerSize"), answer["rules"]
        if got != (content, size, ",".join(rules)):
            wrong += 1
            print(f"text case {number} differs\n  program   {got}\n  reference {content, size, rules}")
    shared = "/dev/shm" if os.path.isdir("/dev/shm") else None
    for number in range(seed, seed + count - count // 2, 50):
        folder = tempfile.mkdtemp(dir=shared)
        subprocess.run(["git", "init", "-q", folder], check=True)
        store, cases = Store(), {}
        for case in range(number, min(number + 50, seed + count - count // 2)):
            cases[case] = Cases(case).history(store)
        bounds = {case: Cases(case).bounds() for case in cases}
        wanted = {case: Merge(store, bounds[case]).tip(devices) for case, devices in cases.items()}
        tips = {tip for tip, _ in wanted.values()}
        # The program has to make the tips itself.
        kept = store.objects
        store.objects = {n: o for n, o in kept.items() if n not in tips or any(
            n in store.history(d) for devices in cases.values() for d in devices)}
        store.save(folder)
        for case, devices in cases.items():
            tip, conflicts = wanted[case]
            answer = ask({"repository": folder, "heads": devices, "bounds": bounds[case]})
            if answer.get("tip") != tip:
                wrong += 1
                print(f"history case {case} differs: {answer}, reference {tip} {conflicts}")
        shutil.rmtree(folder)
    print(f"{count - wrong} of {count} alike")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
