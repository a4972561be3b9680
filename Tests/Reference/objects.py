"""Git objects in memory, read from a repository where they are not there yet."""

import hashlib
import os
import re
import subprocess
import zlib
from collections import namedtuple

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
TREE_MODE = 0o40000

Commit = namedtuple("Commit", "id tree parents author committer message")
Person = namedtuple("Person", "name email time offset")


def parse_person(line):
    match = re.match(rb"(.*?) ?<(.*)>(.*)$", line, re.S)
    fields = match[3].split()
    offset = 0
    if len(fields) > 1:
        zone = int(fields[1])
        offset = (abs(zone) // 100 * 60 + abs(zone) % 100) * (-1 if zone < 0 else 1)
    return Person(
        match[1].decode(errors="replace"), match[2].decode(errors="replace"), int(fields[0]), offset)


def format_person(person):
    digits = "%02d%02d" % divmod(abs(person.offset), 60)
    sign = "-" if person.offset < 0 else "+"
    return f"{person.name} <{person.email}> {person.time} {sign}{digits}".encode()


class Store:
    """Objects by ID; `folder` is a repository to read from, or nothing."""

    def __init__(self, folder=None):
        self.objects = {EMPTY_TREE: ("tree", b"")}
        self.parsed = {}
        self.histories = {}
        self.reader = folder and subprocess.Popen(
            ["git", "-C", folder, "cat-file", "--batch"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)

    def get(self, name):
        if name not in self.objects:
            self.reader.stdin.write(name.encode() + b"\n")
            self.reader.stdin.flush()
            _, kind, size = self.reader.stdout.readline().split()
            self.objects[name] = (kind.decode(), self.reader.stdout.read(int(size)))
            self.reader.stdout.read(1)
        return self.objects[name][1]

    def put(self, kind, data):
        name = hashlib.sha1(b"%s %d\0" % (kind.encode(), len(data)) + data).hexdigest()
        self.objects[name] = (kind, data)
        return name

    def save(self, folder):
        """Writes all objects as loose ones."""
        for name, (kind, data) in self.objects.items():
            path = f"{folder}/.git/objects/{name[:2]}/{name[2:]}"
            if not os.path.exists(path):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(zlib.compress(b"%s %d\0" % (kind.encode(), len(data)) + data, 1))

    # Trees: a dictionary of name to (mode, ID), and of path to (mode, ID) for whole trees.

    def tree(self, name):
        data, entries, position = self.get(name), {}, 0
        while position < len(data):
            end = data.index(b"\0", position)
            mode, entry = data[position:end].split(b" ", 1)
            entries[entry] = (int(mode, 8), data[end + 1:end + 21].hex())
            position = end + 21
        return entries

    def files(self, name, prefix=b""):
        found = {}
        for entry, (mode, child) in self.tree(name).items():
            if mode == TREE_MODE:
                found.update(self.files(child, prefix + entry + b"/"))
            else:
                found[prefix + entry] = (mode, child)
        return found

    def entry(self, tree, path):
        current = (TREE_MODE, tree)
        for name in path.split(b"/"):
            if current[0] != TREE_MODE:
                return None
            current = self.tree(current[1]).get(name)
            if current is None:
                return None
        return current

    def put_files(self, files):
        entries, folders = {}, {}
        for path, value in files.items():
            name, _, rest = path.partition(b"/")
            if rest:
                folders.setdefault(name, {})[rest] = value
            else:
                entries[name] = value
        for name, below in folders.items():
            entries[name] = (TREE_MODE, self.put_files(below))
        order = sorted(entries, key=lambda n: n + (b"/" if entries[n][0] == TREE_MODE else b""))
        return self.put("tree", b"".join(
            b"%o %s\0" % (entries[n][0], n) + bytes.fromhex(entries[n][1]) for n in order))

    # Commits.

    def commit(self, name):
        if name not in self.parsed:
            head, _, message = self.get(name).partition(b"\n\n")
            fields = [line.split(b" ", 1) for line in head.split(b"\n")]
            first = dict(reversed(fields))
            self.parsed[name] = Commit(
                name, first[b"tree"].decode(), [v.decode() for k, v in fields if k == b"parent"],
                parse_person(first[b"author"]), parse_person(first[b"committer"]),
                message.decode(errors="replace"))
        return self.parsed[name]

    def put_commit(self, tree, parents, author, committer, message):
        return self.put("commit", b"".join(
            [b"tree %s\n" % tree.encode()] + [b"parent %s\n" % p.encode() for p in parents]
            + [b"author %s\n" % format_person(author), b"committer %s\n\n" % format_person(committer),
               message.encode()]))

    def history(self, name):
        if name not in self.histories:
            found = {name}
            for parent in self.commit(name).parents:
                found |= self.history(parent)
            self.histories[name] = found
        return self.histories[name]

    def maximal(self, names):
        return {n for n in names if not any(m != n and n in self.history(m) for m in names)}
