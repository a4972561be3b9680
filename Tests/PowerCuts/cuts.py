"""What must hold after a cut: notes-save(1), "After a power cut", and the promises of notes(1)."""

import os
import random
import shutil
import subprocess
import tempfile
import time

import device
import play

WAYS = ["dropped", "kept", "mixed"]


class Broken(Exception):
    """A promise that did not hold."""


def started_anew(folder):
    """The words before a command that let it see a machine which was started a moment ago."""
    boot = folder + "/boot_id"
    if not os.path.exists(boot):
        with open(boot, "w") as file:
            file.write("00000000-0000-4000-8000-000000000000\n")
    running = time.clock_gettime(time.CLOCK_BOOTTIME)
    script = f'mount --bind "{boot}" /proc/sys/kernel/random/boot_id && exec "$@"'
    return ["unshare", "--mount", "--time", "--boottime", str(-int(running)), "sh", "-c", script, "sh"]


def reachable(user):
    """The blobs of all versions of the branch."""
    return {line[:40] for line in user.git("rev-list", "--objects", "HEAD").split("\n")}


def is_sound(user):
    """Whether git finds nothing wrong; what it says where it does."""
    for words in [("fsck", "--strict", "--no-dangling", "--no-progress"), ("status", "--porcelain")]:
        process = user.start("git", *words)
        _, error = process.communicate(timeout=300)
        complaints = [line for line in error.split("\n") if line and not line.startswith("notice:")]
        if process.returncode or complaints:
            return f"git {words[0]}: {process.returncode} {' '.join(complaints)[:300]}"
    return None


def damage(text, former):
    """How a text is what a power cut leaves of a former one; None where it is not."""
    if not text:
        return "empty"
    if not text.strip(b"\0"):
        return "zeros"
    if any(old.startswith(text.rstrip(b"\0")) for old in former):
        return "shortened"
    return None


class Check:
    """What a cut left of the disk, mounted in `place`."""

    def __init__(self, played, place, folder, position):
        self.played, self.position = played, position
        home = folder + "/after"
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(played.device.home, home, ignore=shutil.ignore_patterns("run"))
        binary = played.device.binary
        self.notes = play.Device(binary, home, place + "/notes")
        self.git = play.Device(binary, home, place + "/git")
        self.before = started_anew(folder)

    def promised(self, who):
        return {blob for position, blob in self.played.promised[who] if position <= self.position}

    def check_notes(self):
        """Raises `Broken`; returns the damaged notes."""
        complaint = is_sound(self.notes)
        if complaint:
            raise Broken(f"at once: {complaint}")
        self.check_promised("at once")
        damaged = self.damaged()
        before = {name: (self.text(name), self.text_of_tip(name)) for name in damaged}
        self.notes.notes("save", before=self.before)
        self.check_promised("after a save")
        for name, (left, former) in before.items():
            self.check_tip(name, left, former)
        self.bring_back(self.damaged())
        for name in damaged:
            if self.text(name) != self.text_of_tip(name):
                raise Broken(f"{name} was not brought back")
        complaint = is_sound(self.notes)
        # What an editor had not put in its note's place yet is none of ours.
        left = "\n".join(
            line for line in self.notes.git("status", "--porcelain").split("\n") if not line.endswith(".tmp"))
        if complaint or left:
            raise Broken(f"in the end: {complaint or self.described(left)}")
        return damaged

    def check_tip(self, name, left, former):
        """Wants the last version of a damaged note to be what it was, or what a checkout that the cut had
        interrupted brings: lines that somebody wrote."""
        text = self.text_of_tip(name)
        if text == former:
            return
        if text is None or text == left or damage(text, [former]):
            raise Broken(f"{name} was saved as the cut left it ({len(left)} bytes)")
        strange = self.not_written(name, text)
        if strange:
            raise Broken(f"{name} was merged with what nobody wrote: {strange[0][:60]}")

    def not_written(self, name, text):
        """The lines of a text that are neither in a text that somebody wrote nor a conflict's markers."""
        known = {line for written in self.played.texts.get(name, []) for line in written.split(b"\n")}
        return [line for line in text.split(b"\n")
                if line not in known and not line.startswith((b"<<<<<<<", b"=======", b">>>>>>>"))]

    def text(self, name):
        with open(f"{self.notes.folder}/{name}", "rb") as file:
            return file.read()

    def described(self, changes):
        """Changed files with what they hold, for whoever has to find out why."""
        told = []
        for name in [line[3:] for line in changes.split("\n") if line]:
            text = self.text(name)
            written = self.played.texts.get(name, [])
            told.append(
                f"{name} holds {len(text)} bytes {text[:30]}, "
                f"text {written.index(text) if text in written else None} of {len(written)}; "
                f"the last version {len(self.text_of_tip(name) or b'')}")
        return "; ".join(told) + " " + self.notes.notes("status", "--json", before=self.before)[-300:]

    def bring_back(self, damaged):
        """By hand, or by the watcher, which does it by itself."""
        if damaged and self.position % 2:
            words = [*self.before, self.notes.binary, "watch", "--json", "--no-discovery", "--listen", "127.0.0.1:0"]
            with play.ending(self.notes.start(*words)) as watcher:
                play.lines_until(watcher, '"brought_back"')
            return
        for name in damaged:
            self.notes.notes("restore", name, before=self.before)

    def check_promised(self, when):
        lost = self.promised("notes") - reachable(self.notes)
        if lost:
            raise Broken(f"{when}: lost {len(lost)} acknowledged texts")

    def text_of_tip(self, name):
        done = subprocess.run(
            ["git", "-C", self.notes.folder, "show", f"HEAD:{name}"], env=self.notes.environment,
            capture_output=True)
        return done.stdout if done.returncode == 0 else None

    def damaged(self):
        """The notes that hold what nobody wrote last, by name, and how that came about."""
        found = {}
        # Not by git's status, which goes by an index that may be as old as the file.
        for line in self.notes.git("ls-tree", "HEAD").split("\n")[:-1]:
            (_, _, last), name = line.split("\t")[0].split(" "), line.split("\t")[1]
            if not os.path.exists(f"{self.notes.folder}/{name}"):
                continue
            text = self.text(name)
            if play.blob(text) == last:
                continue
            former = self.text_of_tip(name)
            versions = self.notes.git(
                "log", "--full-history", "--format=", "--raw", "--no-abbrev", "-m", "HEAD", "--", name)
            if play.blob(text) in versions:
                found[name] = "an older text"
            elif damage(text, [former]):
                found[name] = damage(text, [former])
            elif text not in self.played.texts.get(name, []) and not damage(text, self.played.texts.get(name, [])):
                # The branch follows the checkout: a merge that is in its place already is in no version yet.
                strange = self.not_written(name, text)
                if strange:
                    raise Broken(f"{name} holds what nobody wrote: {strange[0][:60]}")
        return found

    def check_git(self):
        """How git fared in the same cut: damaged, lost or whole."""
        if is_sound(self.git):
            return "damaged"
        return "lost" if self.promised("git") - reachable(self.git) else "whole"


class Tally:
    """How the cuts of a play went."""

    def __init__(self):
        self.cuts, self.pending, self.broken = 0, 0, []
        self.unmountable = 0  # what the file system itself did not survive, as with half a superblock
        self.damaged, self.git = {}, {}

    def line(self, kind):
        damage = ", ".join(f"{count} {what}" for what, count in sorted(self.damaged.items())) or "none"
        git = ", ".join(f"{count} {what}" for what, count in sorted(self.git.items()))
        return (
            f"{kind}: {self.cuts} cuts, {self.pending} with unflushed writes, {self.unmountable} unmountable; "
            f"notes: {len(self.broken)} broken; "
            f"damaged notes brought back: {damage}; git in the same cuts: {git}")


def play_and_cut(kind, binary, seed, cuts, rounds, keep=None):
    """Plays on a file system, cuts its power at many points, and tells how that went."""
    tally = Tally()
    file_system = device.FileSystem(kind)
    with tempfile.TemporaryDirectory(prefix="notes-power-", dir=os.environ.get("TMPDIR")) as folder:
        with device.RecordedDisk(folder, file_system) as disk:
            played = play.Play(disk, binary, f"{seed} {kind}", rounds)
            played.run()
        # What was written last must be older than the start that the checks pretend, which is told to a second.
        time.sleep(3)
        recording = device.Recording(disk)
        points = recording.points(played.begin)
        chance = random.Random(f"{seed} {kind} cuts")
        place, image = folder + "/cut", folder + "/cut.image"
        os.makedirs(place)
        for number in range(cuts):
            point, way = chance.choice(points), WAYS[number % len(WAYS)]
            tally.pending += recording.write(image, point, way, chance) > 0
            tally.cuts += 1
            try:
                with file_system.mounted(image, place):
                    check = Check(played, place, folder, recording.position(point))
                    fate = check.check_git()
                    tally.git[fate] = tally.git.get(fate, 0) + 1
                    for what in check.check_notes().values():
                        tally.damaged[what] = tally.damaged.get(what, 0) + 1
            except device.Unmountable as error:
                tally.unmountable += 1
                if tally.unmountable > cuts // 20 + 1:
                    tally.broken.append(f"{kind}, cut {number} ({way}): {error}")
            except (Broken, RuntimeError, OSError, subprocess.SubprocessError) as error:
                story = [name for name, begin in played.spans if begin <= recording.position(point)][-1]
                tally.broken.append(f"{kind}, cut {number} amid {story} ({way}): {error}")
                if keep:
                    os.makedirs(keep, exist_ok=True)
                    shutil.copyfile(image, f"{keep}/{kind}-{number}.image")
    return tally
