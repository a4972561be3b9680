"""Two devices that meet at a hub alone, one of which joined by a link, and kills at random moments of what they do."""

import os
import pathlib
import random
import signal
import subprocess
import time


class HubKills:
    """Counts the kills after which a lock was left, a command failed, or a line that was saved is nowhere."""

    def __init__(self, binary, folder, seed):
        self.binary, self.top, self.random = binary, pathlib.Path(folder), random.Random(seed)
        self.promised, self.wrong, self.rounds = [], [], 0
        self.hub = self.top / "hub.git"
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", self.hub], check=True)
        self.environments = {name: self.environment(name) for name in "ab"}
        self.notes("a").mkdir()
        (self.notes("a") / "Start.txt").write_text("start\n")
        self.run("a", "init", ".", "--name", "Home")
        self.run("a", "remote", "add", "hub", str(self.hub))
        said = self.run("a", "invite", "--hub", "hub").stdout.splitlines()
        link = next(line for line in said if line.startswith("notes://"))
        self.run("b", "join", link, str(self.notes("b")), "--yes", folder=self.top / "b")
        for name in "ab":
            self.run(name, "sync", "--hub")

    def notes(self, name):
        """The folder of a device's notebook."""
        return self.top / name / "notes"

    def environment(self, name):
        """That of a device of its own."""
        home = self.top / name / "home"
        home.mkdir(parents=True)
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "GIT_"))}
        return kept | {"HOME": str(home), "XDG_RUNTIME_DIR": str(home), "GIT_CONFIG_NOSYSTEM": "1"}

    def run(self, name, *words, folder=None):
        """Runs a command that is to do what it says, with conflicts or without."""
        done = subprocess.run([self.binary, *words], cwd=folder or self.notes(name), text=True, timeout=120,
                              env=self.environments[name], capture_output=True, check=False)
        if done.returncode not in (0, 3):
            self.wrong.append(f"{name}: notes {' '.join(words[:2])}: {done.returncode} {done.stderr.strip()}")
        return done

    def locks(self, name):
        """The lock files of git's kind that stand in a device's repository."""
        git = self.notes(name) / ".git"
        return [str(path) for path in git.rglob("*.lock") if git / "notes" not in path.parents]

    def kill(self):
        """Begins a command after an edit, and kills it at a random moment, alone or with the git that it runs."""
        self.rounds += 1
        name = self.random.choice("ab")
        line = f"{name}{self.rounds}"
        with open(self.notes(name) / f"N{self.random.randrange(8)}.txt", "a", encoding="utf-8") as note:
            note.write(line + "\n")
        if self.random.random() < 0.3 and self.run(name, "save").returncode == 0:
            self.promised.append(line)
        words = self.random.choice([["sync", "--hub"]] * 7 + [["save"], ["status"]])
        begun = subprocess.Popen([self.binary, *words], cwd=self.notes(name), env=self.environments[name],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(self.random.random() ** 2 * 0.5)
        is_killed = begun.poll() is None
        if is_killed:
            (os.killpg if self.random.random() < 0.5 else os.kill)(begun.pid, signal.SIGKILL)
        begun.wait()
        return is_killed

    def check(self):
        """A visit of each device goes well, and leaves no lock."""
        for name in "ab":
            self.run(name, "sync", "--hub")
            self.wrong += [f"left: {path}" for path in self.locks(name)]

    def play(self, kills):
        """Kills so often, and returns what is wrong then."""
        done = 0
        while done < kills:
            if self.kill():
                done += 1
                if done % 25 == 0:
                    self.check()
        for _ in range(2):
            self.check()
        texts = {name: "\n".join(path.read_text() for path in self.notes(name).rglob("*.txt")) for name in "ab"}
        for name, text in texts.items():
            lines = set(text.splitlines())
            self.wrong += [f"{name} has lost {line}" for line in self.promised if line not in lines]
        for place in (self.notes("a"), self.notes("b"), self.hub):
            found = subprocess.run(["git", "-C", place, "fsck", "--strict"], capture_output=True, text=True,
                                   check=False)
            if found.returncode != 0:
                self.wrong.append(f"{place}: {found.stderr.strip()}")
        return self.wrong
