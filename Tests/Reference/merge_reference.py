#!/usr/bin/env python3
"""The merge of notes-merge(7) once more, from that page alone, with Python's standard library.

    merge_reference.py REPOSITORY COMMIT...

prints the tip of the commits as a line of JSON; nothing is written to the repository.
"""

import datetime
import json
import re
import sys
from collections import Counter, defaultdict

sys.dont_write_bytecode = True

import text as texts
import unicode_table
from objects import EMPTY_BLOB, EMPTY_TREE, TREE_MODE, Person, Store

REGULAR, EXECUTABLE = 0o100644, 0o100755

# notes-merge(7), "Bounds".
BOUNDS = {"parents": 256, "textBytes": 64 << 20, "listBytes": 1 << 19, "pathBytes": 4096,
          "fineWork": 1 << 30, "contentBytes": 96 << 20, "contentNewlines": 1 << 20, "newlinesInAll": 1 << 23}


def takes_markers(path):
    last = path.rsplit(b"/", 1)[-1]
    return any(len(last) > len(s) and last[-len(s):].lower() == s for s in (b".txt", b".md"))


def is_binary(content):
    return b"\0" in content[:8000]


# The version of the rules of notes-merge(7).
RULES = 4
UNSIGNED = " (unsigned)"
# Letter case and canonical decomposition in the version of Unicode that notes-merge(7) names.
LOWER = {chr(n): chr(n + d)
         for a, b, step, d in unicode_table.LOWER_RUNS for n in range(a, b + 1, step)}
LOWER.update({chr(n): "".join(map(chr, t)) for n, t in unicode_table.LOWER_TEXTS.items()})
CLASSES = {chr(n): value
           for a, b, step, value in unicode_table.CLASS_RUNS for n in range(a, b + 1, step)}
PARTS = {chr(int(scalar, 16)): "".join(chr(int(part, 16)) for part in parts.split(","))
         for scalar, parts in (w.split("=") for w in unicode_table.DECOMPOSITIONS.split())}


def decomposed(character):
    syllable = ord(character) - 0xAC00
    if not 0 <= syllable < 11172:
        return PARTS.get(character, character)
    vowel, last = divmod(syllable, 28)
    lead, vowel = divmod(vowel, 21)
    return chr(0x1100 + lead) + chr(0x1161 + vowel) + (chr(0x11A7 + last) if last else "")


def is_utf8(name):
    try:
        name.decode()
        return True
    except UnicodeDecodeError:
        return False


def names_device(address):
    local, at, domain = address.rpartition("@")
    return domain == "notes.invalid" and at and local not in ("", "merge", "hub", "unsigned")


# Trailers.


def quote(path):
    plain = is_utf8(path) and not path.startswith(b" ") and not path.endswith(b" ") and not any(
        b < 0x20 or b in b'\x7f"\\' for b in path)
    if plain:
        return path.decode()
    return '"' + "".join(
        chr(b) if 0x20 <= b < 0x7F and b not in b'"\\' else "\\%03o" % b for b in path) + '"'


def unquote(value):
    if not value.startswith('"'):
        return value.encode()
    out, data, i = bytearray(), value[1:-1].encode(), 0
    while i < len(data):
        if data[i] == 0x5C:
            out.append(int(data[i + 1:i + 4], 8))
            i += 4
        else:
            out.append(data[i])
            i += 1
    return bytes(out)


def trailers(message):
    """(version or None, conflicts, how many had no room)"""
    lines = message.split("\n")
    while lines and not lines[-1]:
        lines.pop()
    start = max((i + 1 for i, line in enumerate(lines) if not line), default=0)
    version, conflicts, more = None, {}, 0
    for line in lines[start:]:
        if match := re.fullmatch(r"Notes-Merge: (\d+)", line):
            version = int(match[1])
        elif match := re.fullmatch(r"Notes-More: (\d+)", line):
            more = int(match[1])
        elif match := re.fullmatch(r"Notes-Conflict: (\d+) (.+)", line):
            conflicts[unquote(match[2])] = int(match[1])
    return version, conflicts, more


def conflict_line(path, size):
    return f"Notes-Conflict: {size} {quote(path)}"


def trailer_lines(version, conflicts, merged, room, first=()):
    """The trailers as far as they have room; conflicts of `first` get theirs before others."""
    kept = set()
    for paths in (first, set(conflicts) - set(first)):
        for path in sorted(paths):
            room -= len(conflict_line(path, conflicts[path]).encode()) + 1
            if room >= 0:
                kept.add(path)
    lines = [conflict_line(p, conflicts[p]) for p in sorted(kept)]
    for path in sorted(merged):
        line = f"Notes-Merged: {','.join(merged[path])} {quote(path)}"
        room -= len(line.encode()) + 1
        if room >= 0:
            lines.append(line)
    more = len(conflicts) + len(merged) - len(lines)
    return ([f"Notes-Merge: {version}"] if version else []) + lines + (
        [f"Notes-More: {more}"] if more else [])


class Merge:
    def __init__(self, store, bounds=BOUNDS):
        self.store, self.bounds = store, bounds
        self.contents, self.known_bases, self.budget = {}, {}, texts.Budget(bounds)

    # Heads and bases.

    def is_derived(self, commit):
        return (len(commit.parents) > 1 and commit.author[:2] == ("notes", "merge@notes.invalid")
                and commit.author == commit.committer and trailers(commit.message)[0] is not None)

    def reduce(self, names):
        found, waiting, seen = set(), list(names), set()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            commit = self.store.commit(name)
            if self.is_derived(commit):
                waiting += commit.parents
            else:
                found.add(name)
        return self.sorted(self.store.maximal(found))

    def sorted(self, names):
        return sorted((self.store.commit(n) for n in names), key=lambda c: (c.author.time, c.id))

    def tip(self, names):
        """(tip, conflicts)"""
        self.budget = texts.Budget(self.bounds)
        heads = self.reduce(names)
        if len(heads) == 1:
            return heads[0].id, self.open_conflicts(heads[0])
        while len(heads) > self.bounds["parents"]:
            groups = [heads[i:i + self.bounds["parents"]]
                      for i in range(0, len(heads), self.bounds["parents"])]
            heads = [g[0] if len(g) == 1 else self.store.commit(self.derived(g)[0]) for g in groups]
        return self.derived(heads)

    def derived(self, heads):
        self.known_bases = {}
        tree, conflicts, merged, new = self.merge(heads)
        time = max(max(h.author.time, h.committer.time) for h in heads)
        person = Person("notes", "merge@notes.invalid", time, 0)
        message = f"Merge {len(heads)} versions\n\n" + "".join(
            line + "\n" for line in trailer_lines(
                RULES, conflicts, merged, self.bounds["listBytes"], new))
        return self.store.put_commit(tree, [h.id for h in heads], person, person, message), conflicts

    def merge(self, heads, depth=0):
        """(tree, conflicts, rules used, new conflicts) of sorted commits."""
        bases = []
        for i in range(1, len(heads)):
            common = set()
            for other in heads[:i]:
                common |= self.store.maximal(
                    self.store.history(other.id) & self.store.history(heads[i].id))
            key = depth, frozenset(common)
            if key not in self.known_bases:
                best = self.sorted(self.store.maximal(common))
                if not best:
                    self.known_bases[key] = EMPTY_TREE, {}
                elif len(best) == 1 or depth == 100:
                    self.known_bases[key] = best[0].tree, self.open_conflicts(best[0])
                else:
                    self.known_bases[key] = self.merge(best, depth + 1)[:2]
            bases.append(self.known_bases[key])
        return TreeSum(self, heads, bases).run()

    # Open conflicts.

    def open_conflicts(self, commit):
        found, waiting, seen, position = {}, [commit], {commit.id}, 0
        while position < len(waiting) and position < 256:
            current = waiting[position]
            position += 1
            if current.author.email.endswith("@notes.invalid"):
                _, listed, more = trailers(current.message)
                standing = self.standing(listed, current.tree, commit.tree)
                for path, size in standing.items():
                    found[path] = max(size, found.get(path, 0))
                if not more:
                    continue
            for parent in current.parents:
                if parent not in seen:
                    seen.add(parent)
                    waiting.append(self.store.commit(parent))
        return found

    def blocks(self, blob, size):
        lines = self.store.get(blob).replace(b"\r\n", b"\n").split(b"\n")
        return [u for u in texts.parse(lines, size) if isinstance(u, texts.Block)]

    def standing(self, conflicts, old, new):
        if old == new:
            return dict(conflicts)
        before, after, result = self.store.files(old), self.store.files(new), {}
        labels = defaultdict(set)
        for path, size in conflicts.items():
            mode, blob = after.get(path, (0, None))
            if mode in (REGULAR, EXECUTABLE) and (
                    before.get(path, (0, 0))[1] == blob or self.blocks(blob, size)):
                result[path] = size
            if before.get(path, (0, 0))[0] in (REGULAR, EXECUTABLE):
                labels[size] |= {tuple(l for l, _ in b.sides) for b in self.blocks(before[path][1], size)}
        for name, (mode, blob) in after.items():
            if mode in (REGULAR, EXECUTABLE) and before.get(name) != (mode, blob):
                for size in labels:
                    if any(tuple(l for l, _ in b.sides) in labels[size] for b in self.blocks(blob, size)):
                        result[name] = max(size, result.get(name, 0))
        return result

    # Labels.

    def label(self, head, path):
        commit = head
        entry = self.store.entry(head.tree, path)
        writer = head
        for _ in range(1000 if entry else 0):
            for parent in map(self.store.commit, commit.parents):
                found = self.store.entry(parent.tree, path)
                if found and found[1] == entry[1]:
                    commit = parent
                    break
            else:
                writer = head if self.is_derived(commit) else commit
                break
        name = "".join(" " if ord(c) < 32 or ord(c) == 127 else c for c in writer.author.name)
        mark = "" if names_device(writer.author.email) else UNSIGNED
        # The calendar repeats itself every 400 years; Python's ends with 9999.
        eras, seconds = divmod(writer.author.time + 60 * writer.author.offset, 146097 * 86400)
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
        year = min(max(moment.year + 400 * eras, 0), 9999)
        return f"{name.strip(' ') or 'unknown'}{mark} \u00b7 {year:04}-{moment:%m-%d %H:%M}".encode()

    # Similarity.

    def chunks(self, blob):
        if blob not in self.contents:
            data = self.store.get(blob)
            plain = data if is_binary(data) else data.replace(b"\r\n", b"\n")
            found = Counter()
            for chunk in re.findall(rb"[^\n]{0,63}\n|[^\n]{1,64}", plain):
                found[chunk] += len(chunk)
            self.contents[blob] = (len(data), found)
        return self.contents[blob]

    def similarity(self, a, b):
        (size_a, in_a), (size_b, in_b) = self.chunks(a), self.chunks(b)
        if not size_a or not size_b:
            return 0
        return sum((in_a & in_b).values()) * 60000 // max(size_a, size_b)


class TreeSum:
    def __init__(self, merge, heads, bases):
        self.merge, self.store, self.heads = merge, merge.store, heads
        self.trees = [h.tree for h in heads] + [tree for tree, _ in bases]
        self.open = [merge.open_conflicts(h) for h in heads] + [open for _, open in bases]
        self.count = len(heads)
        self.reference = bases[0][0]
        self.base = self.store.files(self.reference)
        self.files = [self.store.files(tree) for tree in self.trees]
        self.room = merge.bounds["listBytes"] // 2

    def last(self, path):
        return path.rpartition(b"/")[2]

    def run(self):
        changed = [{p: f.get(p) for p in set(f) | set(self.base) if f.get(p) != self.base.get(p)}
                   for f in self.files]
        paths = set().union(*changed)
        renamed = [self.renames(t, changed) for t in range(len(self.files))]
        for files, moves in zip(self.files, renamed):
            taken = {old: files.pop(new) for old, new in moves.items()}
            files.update(taken)
        self.renamed = renamed
        # Claims are (value, position, the head's name, marker size, whether its blocks are new).
        self.claims, self.copies = defaultdict(list), defaultdict(list)
        used = {}
        for path in sorted(paths):
            names, claims, rules = self.sum_file(path)
            for name in names if claims else []:
                self.claims[name].append(claims[0])
                self.copies[name] += claims[1:]
                if rules:
                    used[name] = rules
        self.settle()
        conflicts = {}
        for term in self.open[:self.count]:
            conflicts.update({p: s for p, s in term.items() if p not in paths})
        files = {p: v for p, v in self.base.items() if p not in paths}
        for path, claim in self.final.items():
            files[path] = claim[0]
            if claim[3]:
                conflicts[path] = claim[3]
            else:
                conflicts.pop(path, None)
        new = {p for p, claim in self.final.items() if claim[4]}
        return self.store.put_files(files), conflicts, used, new

    def sum_file(self, path):
        """(names, claims, rules): the first claim has the name, the others are copies."""
        terms = []
        for t, files in enumerate(self.files):
            own = self.renamed[t].get(path, path)
            terms.append((files.get(path), t, own, self.open[t].get(own)))
        above, below = terms[:self.count], terms[self.count:]
        names = [t[2] for t in above if t[0]]
        under = [t[2] for t in below if t[0]]
        left = texts.cancel(names, under)[0]
        names = sorted([n for n in left if n not in under] or left) or [path]
        claims, rules = self.sum_values(
            above, below, names != [path], names,
            lambda t: self.merge.label(self.heads[t[1]], t[2]))
        return names, claims, rules

    def sum_values(self, above, below, renamed, names, label):
        bounds, terms = self.merge.bounds, above
        net = Counter(t[0] for t in above)
        net.subtract(Counter(t[0] for t in below))

        def left(terms, sign):
            counts, kept = {v: n * sign for v, n in net.items()}, []
            for term in terms:
                if counts[term[0]] > 0:
                    counts[term[0]] -= 1
                    kept.append(term)
            return kept

        above, below = left(above, 1), left(below, -1)
        if len({t[0] for t in above}) > 1 or renamed:
            present = [t for t in above if t[0]] or [t for t in terms if t[0] and t[2] in names][:renamed]
            if present:
                for _ in range(len(above) - len(present)):
                    absent = next((i for i, t in enumerate(below) if t[0] is None), None)
                    if absent is None and below:
                        count = Counter(t[0] for t in below)
                        absent = next(i for i, t in enumerate(below)
                                      if count[t[0]] == max(count.values()))
                    if absent is not None:
                        del below[absent]
                above = present
        if len({t[0] for t in above}) == 1:
            size = next((t[3] for t in above if t[3]), None)
            return ([above[0][:3] + (size, False)] if above[0][0] else []), []
        copies = []
        for term in above:
            if term[0] and term[0] not in [c[0] for c in copies]:
                copies.append(term[:4] + (False,))
        values = [t[0] for t in above + below if t[0]]
        if any(mode not in (REGULAR, EXECUTABLE) for mode, _ in values):
            return copies, []
        modes = texts.cancel(*[[t[0] and t[0][0] for t in terms] for terms in (above, below)])[0]
        mode = (modes[0] if len(modes) == 1 else None) or REGULAR
        ids = texts.cancel(*[[t[0] and t[0][1] for t in terms] for terms in (above, below)])[0]
        if len(ids) == 1:
            term = next(t for t in above if t[0][1] == ids[0])
            return [((mode, ids[0]),) + term[1:4] + (False,)], []
        if any(is_binary(self.store.get(blob)) for _, blob in values):
            return copies, []
        contents, budget = [self.store.get(b) for b in {b for _, b in values}], self.merge.budget
        size, newlines = sum(map(len, contents)), sum(c.count(b"\n") for c in contents)
        if (size > bounds["contentBytes"] or newlines > min(bounds["contentNewlines"], budget.newlines)
                or len(ids) > 2 and size > budget.crowd):
            return copies, []
        budget.newlines -= newlines
        budget.crowd -= size if len(ids) > 2 else 0
        marked = all(map(takes_markers, names)) or any(t[0] and t[3] for t in above + below)
        content, size, rules = texts.merge_texts(
            [(self.store.get(t[0][1]), t[3], label(t)) for t in above],
            [t[0] and (self.store.get(t[0][1]), t[3], b"") for t in below], fine=marked, budget=budget)
        if size and not marked:
            return copies, []
        trailers = sum(len(conflict_line(n, size).encode()) + 1 for n in names) if size else 0
        if len(content) > bounds["textBytes"] or trailers > self.room:
            return copies, []
        self.room -= trailers
        return [((mode, self.store.put("blob", content)),) + above[0][1:3] + (size, bool(size))], rules

    # Renames.

    def size(self, blob):
        return len(self.store.get(blob))

    def renames(self, term, changed):
        own = changed[term]
        gone = {p: self.base[p] for p, v in own.items() if v is None and p in self.base}
        new = {p: v for p, v in own.items() if v is not None and p not in self.base}
        gone, new = ({p: v[1] for p, v in side.items() if v[0] in (REGULAR, EXECUTABLE)
                      and v[1] != EMPTY_BLOB} for side in (gone, new))
        matters = {p for p in gone if any(p in other and other != own for other in changed)}
        if not matters or not new:
            return {}
        found = {}

        def take(old, name):
            found[old] = name
            del gone[old], new[name]

        spelled = {}
        for old in sorted(gone):
            spelled.setdefault(self.spelling(old), old)
        for name in sorted(new):
            if (old := spelled.get(self.spelling(name))) in gone:
                take(old, name)
        for same_name in (True, False):
            for name in sorted(new):
                for old in sorted(gone):
                    if gone[old] == new[name] and (
                            not same_name or self.last(old) == self.last(name)):
                        take(old, name)
                        break
        gone = {p: v for p, v in gone.items() if p in matters and self.size(v) <= 1 << 22}
        new = {p: v for p, v in new.items() if self.size(v) <= 1 << 22}
        pairs = []
        for last in {self.last(p) for p in gone}:
            olds = [p for p in gone if self.last(p) == last]
            names = [p for p in new if self.last(p) == last]
            if len(olds) == len(names) == 1:
                pairs.append((olds[0], names[0]))
        if sum(self.size(gone[old]) + self.size(new[name]) for old, name in pairs) <= 64 << 20:
            for old, name in pairs:
                if self.merge.similarity(gone[old], new[name]) >= 45000:
                    take(old, name)
        if (len(gone) * len(new) <= 100000
                and sum(map(self.size, [*gone.values(), *new.values()])) <= 16 << 20):
            scored = []
            for old, a in gone.items():
                for name, b in new.items():
                    score = self.merge.similarity(a, b)
                    if score >= 30000:
                        scored.append((-score, self.last(old) != self.last(name), old, name))
            for _, _, old, name in sorted(scored):
                if old in gone and name in new:
                    take(old, name)
        return {old: name for old, name in found.items() if old in matters and not self.is_added_alike(name)}

    def is_added_alike(self, path):
        """Whether all heads have the same file there."""
        found = {files.get(path) for files in self.files[:self.count]}
        return len(found) == 1 and None not in found

    # Names that meet.

    def label(self, claim):
        return self.merge.label(self.heads[claim[1]], claim[2])

    def settle(self):
        self.final = {}
        for path in sorted(self.claims):
            claims = sorted(self.claims[path], key=lambda c: c[1:3]) if len(
                self.claims[path]) > 1 else self.claims[path]
            if len({c[0] for c in claims}) > 1:
                merged, _ = self.sum_values(claims, [(None, 0, b"", None)] * (len(claims) - 1),
                                            False, [path], self.label)
                if len(merged) == 1:
                    claims = [(merged[0][0],) + claims[0][1:3] + merged[0][3:]]
                else:
                    claims = self.claims[path]
            else:
                claims = claims[:1]
            self.final[path] = claims[0]
            self.copies[path] += claims[1:]
        for path in sorted(self.copies):
            for claim in self.copies[path]:
                self.final[self.free_name(path, claim)] = claim
        for path in sorted(self.final):
            while b"/" in path:
                path = path.rpartition(b"/")[0]
                if path in self.final:
                    claim = self.final.pop(path)
                    self.final[self.free_name(path, claim)] = claim
        depth = 0
        while True:
            groups = defaultdict(set)
            for path in self.final:
                parts = path.split(b"/")
                if len(parts) > depth:
                    groups[b"/".join(parts[:depth]), self.key(parts[depth])].add(
                        b"/".join(parts[:depth + 1]))
            if not groups:
                return
            meeting = [(folder, sorted(names)) for (folder, _), names in groups.items()
                       if len(names) > 1]
            for _, names in sorted(meeting):
                self.separate(names)
            depth += 1

    def key(self, name):
        if not is_utf8(name):
            return name
        lower = "".join(LOWER.get(c, c) for c in name.decode())
        marks = [(i, c) for i, c in enumerate("".join(decomposed(c) for c in lower))]
        # Marks that follow one another go by their class; all others stay where they are.
        starter = 0
        keys = []
        for i, c in marks:
            if not CLASSES.get(c, 0):
                starter = i
            keys.append((starter, CLASSES.get(c, 0), i, c))
        return "".join(c for _, _, _, c in sorted(keys))

    def spelling(self, path):
        return tuple(map(self.key, path.split(b"/")))

    def below(self, name):
        return sorted(p for p in self.final if p == name or p.startswith(name + b"/"))

    def separate(self, names):
        """Puts folders together, and makes copies of other names but the first."""
        trees = [self.reference] + self.trees[:self.count]
        has = {n: {i for i, tree in enumerate(trees) if self.store.entry(tree, n)} for n in names}
        # A name of the reference comes first, but not one in whose place some head has another.
        rank = {n: (2 if 0 in has[n] and any(has[m] - has[n] - {0} for m in names) else 0 not in has[n],
                    min(self.final[p][1] for p in self.below(n)), n) for n in names}
        kept = []
        for name in sorted(names, key=rank.get):
            paths = self.below(name)
            longest = max(map(len, paths)) - len(self.last(name)) + 255
            if all(has[name] & has[other] for other in kept) or (
                    paths[0] != name and longest > self.merge.bounds["pathBytes"]):
                kept.append(name)
                continue
            if paths[0] != name and (folder := next((k for k in kept if k not in self.final), None)):
                for path in paths:
                    claim = self.final.pop(path)
                    place = folder + path[len(name):]
                    if self.below(place) or len(place) > self.merge.bounds["pathBytes"]:
                        place = self.free_name(place, claim)
                    self.final[place] = claim
                continue
            first = min((self.final[p] for p in paths), key=lambda c: c[1])
            copy = self.free_name(name, first, paths[0] != name)
            for path in paths:
                self.final[copy + path[len(name):]] = self.final.pop(path)

    def free_name(self, path, claim, is_folder=False):
        folder, slash, name = path.rpartition(b"/")
        who, date = texts.LABEL.fullmatch(self.label(claim)).groups()
        mark = UNSIGNED.encode() if who.endswith(UNSIGNED.encode()) else b""
        who = who.removesuffix(mark)[:100].replace(b"/", b"-") + mark
        dot = name.rfind(b".")
        stem, suffix = name, b""
        if not is_folder and dot > 0 and len(name) - dot <= 16:
            stem, suffix = name[:dot], name[dot:]
        attempt = 1
        while True:
            number = b" %d" % attempt if attempt > 1 else b""
            note = b" (" + who + b"'s copy, " + date.replace(
                b":", b".") + number + b")"
            short = stem
            while len(short) + len(note) + len(suffix) > 255:
                short = short[:-1]
                while short and len(stem) > len(short) and stem[len(short)] & 0xC0 == 0x80:
                    short = short[:-1]
            copy = folder + slash + short + note + suffix
            place = folder
            while len(copy) > self.merge.bounds["pathBytes"] and place:
                place = place.rpartition(b"/")[0]
                copy = place + (b"/" if place else b"") + short + note + suffix
            if not self.below(copy) and not self.store.entry(self.reference, copy):
                return copy
            attempt += 1


def main():
    store = Store(sys.argv[1])
    tip, conflicts = Merge(store).tip(sys.argv[2:])
    print(json.dumps({"tip": tip, "tree": store.commit(tip).tree,
                      "conflicts": sorted(quote(p) for p in conflicts)}))


if __name__ == "__main__":
    main()
