"""What is done on the recorded disk: the same edits in a notebook and in a git repository, and a note of when
each text was acknowledged."""

import contextlib
import hashlib
import json
import os
import random
import re
import select
import subprocess
import time


def blob(text):
    """The ID that git gives a text."""
    return hashlib.sha1(b"blob %d\0" % len(text) + text).hexdigest()


class Device:
    """A user with folders of its own, who runs notes and git in one notebook."""

    def __init__(self, binary, home, folder):
        self.binary, self.home, self.folder = binary, home, folder
        os.makedirs(home + "/run", mode=0o700, exist_ok=True)

    @property
    def environment(self):
        return {
            "PATH": os.environ["PATH"], "HOME": self.home, "XDG_RUNTIME_DIR": self.home + "/run", "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "P",
            "GIT_AUTHOR_EMAIL": "p@example.org", "GIT_COMMITTER_NAME": "P", "GIT_COMMITTER_EMAIL": "p@example.org",
        }

    def start(self, *words, **options):
        folder = self.folder if os.path.isdir(self.folder) else os.path.dirname(self.folder)
        return subprocess.Popen(
            words, cwd=folder, env=self.environment, text=True, stdin=subprocess.DEVNULL,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})

    def run(self, *words, before=(), allowed=(0,)):
        process = self.start(*before, *words)
        out, error = process.communicate(timeout=300)
        if process.returncode not in allowed:
            raise RuntimeError(f"{' '.join(words)}: {process.returncode}\n{out}{error}")
        return out

    def notes(self, *words, **options):
        return self.run(self.binary, *words, **options)

    def git(self, *words):
        return self.run("git", *words)


def lines_until(process, pattern, seconds=180):
    """Reads what a process prints up to the line that matches, which it returns."""
    deadline = time.monotonic() + seconds
    # Read byte by byte: what a buffer held, select(2) would not tell of.
    line, output = b"", process.stdout.fileno()
    while time.monotonic() < deadline:
        if not select.select([output], [], [], 0.2)[0]:
            continue
        byte = os.read(output, 1)
        if not byte:
            said = process.stderr.read()[:300] if process.stderr else ""
            raise RuntimeError(f"{process.args[:3]} ended: {process.wait()} {said}")
        line += byte
        if byte == b"\n":
            if re.search(pattern, line.decode()):
                return line.decode()
            line = b""
    raise RuntimeError(f"waited in vain for {pattern}")


@contextlib.contextmanager
def ending(process):
    """Ends the process with the block."""
    try:
        yield process
    finally:
        process.terminate()
        process.communicate()


def write_in_place(path, text):
    with open(path, "wb") as file:
        file.write(text)


def write_and_sync(path, text):
    with open(path, "wb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def write_beside(path, text):
    write_in_place(path + ".tmp", text)
    os.rename(path + ".tmp", path)


def write_beside_and_sync(path, text):
    write_and_sync(path + ".tmp", text)
    os.rename(path + ".tmp", path)


def write_in_pieces(path, text):
    with open(path, "wb", buffering=0) as file:
        for start in range(0, len(text), 4096):
            file.write(text[start : start + 4096])


EDITORS = [write_in_place, write_and_sync, write_beside, write_beside_and_sync, write_in_pieces]


class Play:
    """Edits and commands on a disk. Every text that was ever written is known, and when it was promised to be
    kept."""

    def __init__(self, disk, binary, seed, rounds):
        self.disk, self.chance, self.rounds = disk, random.Random(seed), rounds
        folder = os.path.dirname(disk.place)
        self.device = Device(binary, folder + "/home", disk.place + "/notes")
        self.other = Device(binary, folder + "/other", folder + "/elsewhere")
        self.git = Device(binary, folder + "/home", disk.place + "/git")
        self.texts = {}  # of each note, all that were ever in it
        self.promised = {"notes": [], "git": []}  # (position, blob)
        self.begin = 0
        self.spans = []  # (story, position where it begins)

    # -- what is written --------------------------------------------------------------------------

    def edit(self, places):
        name = f"n{self.chance.randrange(6)}.txt"
        size = self.chance.choice([40, 700, 5000, 20000])
        text = "".join(f"{self.chance.random():.9f} {name}\n" for _ in range(size // 20)).encode()
        editor = self.chance.choice(EDITORS)
        for place in places:
            editor(f"{place}/{name}", text)
        self.texts.setdefault(name, []).append(text)
        return text

    def promise(self, who, texts):
        position = self.disk.position()
        self.promised[who] += [(position, blob(text)) for text in texts]

    def commit(self, texts):
        self.git.git("add", "-A")
        self.git.git("commit", "-q", "--allow-empty", "-m", "edit")
        self.promise("git", texts)

    # -- stories ----------------------------------------------------------------------------------

    def run(self):
        self.device.notes("init", self.device.folder, "--name", "Home", "--device-name", "here")
        os.makedirs(self.git.folder)
        self.git.git("init", "-q")
        for _ in range(6):
            self.commit([self.edit([self.device.folder, self.git.folder])])
        self.device.notes("save")
        os.sync()
        self.begin = self.disk.position()
        for story in [self.save, self.sync, self.watch]:
            self.spans.append((story.__name__, self.disk.position()))
            story()

    def save(self):
        for _ in range(self.rounds):
            texts = [self.edit([self.device.folder, self.git.folder]) for _ in range(self.chance.randrange(1, 3))]
            self.device.notes("save")
            self.promise("notes", texts[-1:])
            self.commit(texts[-1:])

    def sync(self):
        listen = ["--json", "--no-discovery", "--listen", "127.0.0.1:0"]
        with ending(self.device.start(self.device.binary, "invite", *listen)) as invitation:
            offer = json.loads(lines_until(invitation, '"invitation"'))
            at = f"127.0.0.1:{offer['port']}"
            self.other.notes("join", offer["code"], self.other.folder, "--yes", "--name", "there", "--at", at)
            invitation.wait(timeout=30)
        with ending(self.other.start(self.other.binary, "serve", *listen)) as server:
            at = f"127.0.0.1:{json.loads(lines_until(server, 'listening'))['port']}"
            for _ in range(self.rounds):
                self.sync_once(at)

    def sync_once(self, at):
        theirs = self.edit([self.other.folder])
        self.other.notes("save")
        ours = self.edit([self.device.folder, self.git.folder])
        self.device.notes("sync", "--no-discovery", "--at", at, allowed=(0, 3))
        self.promise("notes", [theirs, ours])
        self.commit([ours])
        # What a merge made of both is as much a text of the note.
        for name, texts in self.texts.items():
            path = f"{self.device.folder}/{name}"
            if os.path.exists(path):
                with open(path, "rb") as file:
                    texts.append(file.read())

    def watch(self):
        listen = ["--json", "--no-discovery", "--listen", "127.0.0.1:0"]
        with ending(self.device.start(self.device.binary, "watch", *listen)) as watcher:
            lines_until(watcher, "listening")
            for _ in range(self.rounds):
                text = self.edit([self.device.folder, self.git.folder])
                lines_until(watcher, '"type":"version"')
                self.commit([text])
                # An editor that writes in pieces may be versioned in pieces.
                if blob(text) in self.device.git("rev-list", "--objects", "HEAD"):
                    self.promise("notes", [text])
