"""Devices in a bad neighbourhood: editors, the page, kills, stops, clocks, cuts, a hub, and git by hand and by
cron, and an oracle over all texts and dates."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import threading
import time
import urllib.error
import uuid

import play
import reader


def save_by_backup(path, text):
    """As vim does: the old file becomes a backup, the new one is written anew."""
    if os.path.exists(path):
        os.rename(path, path + "~")
    play.write_and_sync(path, text)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path + "~")


def append(path, text):
    with open(path, "ab") as file:
        file.write(text)


def delete_and_create(path, text):
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    play.write_in_place(path, text)


EDITORS = [*play.EDITORS, save_by_backup, append, delete_and_create]
YEAR = 31_556_952
# By how many seconds a clock is wrong; git writes no time zone that it could read after the year 2099.
SHIFTS = [0, 9 * YEAR, -20 * YEAR, 60 * YEAR, 3600]
NAMES = [f"n{number}.txt" for number in range(5)]


class Resident(play.Device):
    """A device whose machine can be started anew, and that may have a watcher."""

    def __init__(self, binary, folder, name):
        super().__init__(binary, f"{folder}/{name}", f"{folder}/{name}/notes")
        self.name, self.boot, self.watcher, self.at = name, f"{folder}/{name}.boot", None, None
        self.reader = None
        self.lines = []  # what was added by the page
        self.written = set()  # the blobs of all that editors wrote here
        self.promised = {}  # of those: what was done then
        self.clock, self.shift = f"{folder}/clock.so", 0
        self.start_machine()

    @property
    def environment(self):
        wrong = {"LD_PRELOAD": self.clock, "CLOCK_SHIFT": str(self.shift)} if self.shift else {}
        return {**super().environment, **wrong}

    def start_machine(self):
        with open(self.boot, "w") as file:
            file.write(str(uuid.uuid4()) + "\n")

    @property
    def before(self):
        bind = f'mount --bind "{self.boot}" /proc/sys/kernel/random/boot_id && exec "$@"'
        return ["unshare", "--mount", "sh", "-c", bind, "sh"]

    def watch(self):
        if self.watcher and self.watcher.poll() is None:
            return
        listen = ["--json", "--no-discovery", "--listen", "127.0.0.1:0"]
        self.watcher = self.start(*self.before, self.binary, "watch", *listen, stderr=subprocess.DEVNULL)
        self.at = f"127.0.0.1:{json.loads(play.lines_until(self.watcher, 'listening'))['port']}"
        # What nobody reads would stop it in the end.
        threading.Thread(target=self.watcher.stdout.read, daemon=True).start()

    def end_watcher(self, how=signal.SIGKILL):
        if self.watcher:
            with contextlib.suppress(ProcessLookupError):
                self.watcher.send_signal(signal.SIGCONT)
                self.watcher.send_signal(how)
            self.watcher.wait()
            self.watcher = None

    def end_reader(self):
        if self.reader:
            self.reader.end()
            self.reader = None

    def texts(self):
        for name in NAMES:
            with contextlib.suppress(FileNotFoundError):
                with open(f"{self.folder}/{name}", "rb") as file:
                    yield name, file.read()

    def command(self, *words, allowed=(0,), promises=True):
        """Runs a command that saves: what the folder held before it is kept from then on."""
        held = [text for _, text in self.texts()]
        self.notes(*words, before=self.before, allowed=allowed)
        if promises:
            # What a merge made of several texts is made anew with every further one.
            for blob in map(play.blob, held):
                if blob in self.written:
                    self.promised.setdefault(blob, " ".join(words))

    def lost(self):
        """What was promised and that no reference leads to."""
        kept = {line[:40] for line in self.git("rev-list", "--objects", "--all").split("\n")}
        return {blob: what for blob, what in self.promised.items() if blob not in kept}


class Chaos:
    """Three devices, and what happens to them."""

    def __init__(self, binary, folder, chance):
        self.chance, self.begin = chance, int(time.time())
        source = pathlib.Path(__file__).parent / "clock.c"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", f"{folder}/clock.so", source], check=True)
        self.devices = [Resident(binary, folder, name) for name in ["ada", "ben", "cleo"]]
        self.counts, self.number = {}, 0
        ada = self.devices[0]
        ada.notes("init", ada.folder, "--device-name", "ada", before=ada.before)
        for device in self.devices[1:]:
            listen = ["--json", "--no-discovery", "--listen", "127.0.0.1:0"]
            with play.ending(ada.start(*ada.before, ada.binary, "invite", *listen)) as invitation:
                offer = json.loads(play.lines_until(invitation, '"invitation"'))
                device.notes(
                    "join", offer["code"], device.folder, "--yes", "--name", device.name, "--at",
                    f"127.0.0.1:{offer['port']}", before=device.before)
        self.meeting_point = f"{folder}/hub.git"
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", self.meeting_point], check=True)
        for device in self.devices:
            device.notes("remote", "add", "hub", self.meeting_point, before=device.before)

    # -- what happens ------------------------------------------------------------------------------

    def edit(self, device):
        self.number += 1
        lines = self.chance.choice([1, 8, 40])
        text = "".join(f"{device.name} {self.number}.{line}\n" for line in range(lines)).encode()
        path = f"{device.folder}/{self.chance.choice(NAMES)}"
        self.chance.choice(EDITORS)(path, text)
        with contextlib.suppress(FileNotFoundError):
            with open(path, "rb") as file:
                device.written.add(play.blob(file.read()))

    def delete(self, device):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{device.folder}/{self.chance.choice(NAMES)}")

    def save(self, device):
        device.command("save", "--allow-deletes")

    def sync(self, device):
        other = self.chance.choice([other for other in self.devices if other is not device])
        other.watch()
        device.command(
            "sync", "--no-discovery", "--allow-deletes", "--at", other.at, allowed=(0, 1, 3, 4, 5), promises=False)

    def hub(self, device):
        """One or two processes visit the hub, beside a watcher that may; one of them may be killed."""
        words = [*device.before, device.binary, "sync", "--hub", "--allow-deletes"]
        visits = [device.start(*words) for _ in range(self.chance.choice([1, 2]))]
        if self.chance.random() < 0.3:
            time.sleep(self.chance.random() * 0.3)
            visits[0].kill()
        for visit in visits:
            try:
                visit.communicate(timeout=120)
            except subprocess.TimeoutExpired:
                visit.kill()
                visit.communicate()
                raise AssertionError(f"{device.name}: a visit to the hub does not end") from None

    def housekeeping(self, device):
        """What cron does with repositories, whatever else is at work there."""
        # git-gc(1): --prune=now while another process writes may take what it has just written.
        words = self.chance.choice([
            ["repack", "-adq"], ["gc", "-q"], ["prune-packed"], ["pack-refs", "--all"],
            ["maintenance", "run", "--quiet", "--task=gc"]])
        device.run("git", *words, allowed=(0, 1, 128, 255))

    def unattended(self, device):
        """Git packs anew while commands save."""
        words = self.chance.choice([["gc", "-q"], ["repack", "-adq"]])
        git = device.start("git", *words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while git.poll() is None:
            self.edit(device)
            device.command("save", "--allow-deletes", promises=False)
        git.wait()

    def page(self, device):
        """Somebody adds a line to a note by the page, whose server goes on."""
        if device.shift:
            return
        if not device.reader:
            device.reader = reader.Reader(device)
        self.number += 1
        line = f"{device.name} by the page {self.number}"
        try:
            if device.reader.append(self.chance.choice(NAMES).removesuffix(".txt"), line):
                device.lines.append(line)
        except (urllib.error.URLError, OSError):
            device.end_reader()

    def undo(self, device):
        device.command("undo", allowed=(0, 1), promises=False)

    def watch(self, device):
        device.watch()

    def kill(self, device):
        if self.chance.random() < 0.5:
            return device.end_watcher()
        # Amid a command.
        process = device.start(*device.before, device.binary, "save", "--allow-deletes")
        time.sleep(self.chance.random() * 0.05)
        process.kill()
        process.communicate()

    def stop(self, device):
        if device.watcher and device.watcher.poll() is None:
            device.watcher.send_signal(signal.SIGSTOP)
            self.edit(device)
            device.watcher.send_signal(signal.SIGCONT)

    def clock(self, device):
        """The clock is wrong from now on, or right again; one device's is right all the time."""
        if device is not self.devices[2]:
            device.end_watcher(signal.SIGTERM)
            device.end_reader()
            device.shift = self.chance.choice(SHIFTS)

    def cut(self, device):
        """The machine is started anew, and a note is back as less than it was."""
        device.end_watcher()
        self.save(device)
        name, text = self.chance.choice([*device.texts()] or [(None, b"")])
        if not text:
            return
        path = f"{device.folder}/{name}"
        left = self.chance.choice([b"", bytes(len(text)), text[: len(text) // 2]])
        if left == text:
            return
        play.write_in_place(path, left)
        os.utime(path, (1_577_880_000, 1_577_880_000))
        device.start_machine()
        device.notes("save", before=device.before)
        device.notes("restore", name, before=device.before)
        with open(path, "rb") as file:
            if file.read() != text:
                raise AssertionError(f"{device.name}: {name} was not brought back")

    def git(self, device):
        """Git by hand; it refuses (128; reflog: 255) while a stopped or killed process holds the lock of a reference."""
        way = self.chance.randrange(5)
        if way == 4:
            # As above; nor is the page's server to save then.
            device.end_watcher(signal.SIGTERM)
            device.end_reader()
        if device.watcher and device.watcher.poll() is None:
            device.watcher.send_signal(signal.SIGSTOP)
        try:
            if way == 0:
                device.run("git", "commit", "-qam", "by hand", allowed=(0, 1, 128))
            elif way == 1:
                device.run("git", "commit", "-qa", "--amend", "-m", "amended", allowed=(0, 1, 128))
            elif way == 2:
                # What git throws away that no command has seen is git's.
                self.save_quietly(device)
                device.run("git", "reset", "-q", "--hard", "HEAD~1", allowed=(0, 1, 128))
            elif way == 3:
                device.run("git", "branch", "-f", "side", allowed=(0, 1, 128))
                device.run("git", "branch", "-qD", "side", allowed=(0, 1, 128))
            else:
                device.run("git", "reflog", "expire", "--expire=now", "--all", allowed=(0, 1, 128, 255))
                device.run("git", "gc", "-q", "--prune=now", allowed=(0, 1, 128))
        finally:
            if device.watcher and device.watcher.poll() is None:
                device.watcher.send_signal(signal.SIGCONT)

    def save_quietly(self, device):
        """Saves although the watcher is stopped, which may hold the lock: then nothing is promised."""
        process = device.start(*device.before, device.binary, "save", "--allow-deletes")
        try:
            process.communicate(timeout=2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()

    # -- the play ----------------------------------------------------------------------------------

    def run(self, seconds):
        actions = [self.edit] * 10 + [self.save] * 4 + [self.sync] * 5 + [self.watch] * 2 + [self.kill] * 3 + [
            self.stop, self.clock, self.cut, self.undo, self.delete, self.git, self.git] + [self.hub] * 3 + [
            self.housekeeping] * 2 + [self.unattended] * 2 + [self.page] * 3
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            action, device = self.chance.choice(actions), self.chance.choice(self.devices)
            action(device)
            self.counts[action.__name__] = self.counts.get(action.__name__, 0) + 1
        return self.settle()

    def settle(self):
        """Ends all, lets the devices meet, and returns what is wrong."""
        for device in self.devices:
            device.end_watcher(signal.SIGTERM)
            device.end_reader()
            device.shift = 0
            device.command("save", "--allow-deletes")
        wrong = []
        for turn in range(8):
            hub = self.devices[turn % 3]
            hub.watch()
            for device in self.devices:
                if device is not hub:
                    device.command(
                        "sync", "--no-discovery", "--allow-deletes", "--at", hub.at, allowed=(0, 3), promises=False)
            hub.end_watcher(signal.SIGTERM)
            tips = {device.git("rev-parse", "HEAD") for device in self.devices}
            if turn > 1 and len(tips) == 1:
                break
        else:
            wrong.append("the devices do not come to one tip")
        for device in self.devices:
            complaints = device.git("fsck", "--strict", "--no-dangling", "--no-progress")
            wrong += [f"{device.name}: git fsck: {complaints}"] if complaints.strip() else []
            left = device.git("status", "--porcelain")
            wrong += [f"{device.name}: git status: {left}"] if left else []
            locks = [*pathlib.Path(device.folder, ".git").glob("*.lock"),
                     *pathlib.Path(device.folder, ".git/refs").rglob("*.lock")]
            wrong += [f"{device.name}: {lock} was left" for lock in locks]
            wrong += self.wrongly_dated(device)
            wrong += self.lost_lines(device)
            wrong += [f"{device.name}: lost {blob}, kept by '{what}'" for blob, what in device.lost().items()]
        return wrong

    def lost_lines(self, device):
        """Lines that were added by the page and that are in no version."""
        if not device.lines:
            return []
        texts = device.git("log", "-p", "-m", "--all", "--format=")
        return [f"{device.name}: lost '{line}'" for line in device.lines if line not in texts]

    def wrongly_dated(self, device):
        """Versions of the device whose clock was right all the time that are of another time."""
        right = self.devices[2].name
        wrong = []
        for line in device.git("log", "--format=%cn %ct %h", "HEAD").splitlines():
            name, seconds, version = line.rsplit(" ", 2)
            if name == right and not self.begin - 2 <= int(seconds) <= time.time() + 2:
                wrong.append(f"{device.name}: {version} of {right} is dated {seconds}")
        return wrong

    def end(self):
        for device in self.devices:
            device.end_watcher()
            device.end_reader()
