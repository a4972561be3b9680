"""What benchmarks of two machines need: a wire that counts, processes whose cost is known, notes.

The process that imports this and calls `Wire()` moves into a network namespace of its own; servers run
in a second one. Needs root.
"""
import ctypes
import datetime
import os
import platform
import random
import re
import shutil
import subprocess
import time

CLONE_NEWNET = 0x40000000  # <sched.h>
CLIENT, SERVER = "10.78.0.2", "10.78.0.1"


class Wire:
    """A cable between this process and the servers. Counts what the client's card sent and received,
    with the headers of Ethernet, IP and TCP."""

    def __init__(self):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWNET) != 0:
            raise SystemExit(f"bench-sync: unshare: {os.strerror(ctypes.get_errno())}")
        self.keeper = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        mine = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.keeper.pid}/ns/net") == mine:
            time.sleep(0.001)
        self.inside = ["nsenter", "--net", f"--target={self.keeper.pid}"]
        ip = lambda *words: subprocess.run(["ip", *words], check=True)
        ip("link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", str(self.keeper.pid))
        for prefix, address in ([], CLIENT), (self.inside, SERVER):
            for words in (["addr", "add", f"{address}/24", "dev", "eth0"],
                          ["link", "set", "eth0", "addrgenmode", "none"],
                          ["link", "set", "lo", "up"], ["link", "set", "eth0", "up"]):
                subprocess.run([*prefix, "ip", *words], check=True)

    def bytes(self):
        """Bytes sent to the servers, and received from them."""
        with open("/proc/self/net/dev") as file:
            words = re.search(r"eth0:(.*)", file.read()).group(1).split()
        return int(words[8]), int(words[0])

    def end(self):
        """Ends every process on the servers' side, also what was left when this one was told to end."""
        there = os.readlink(f"/proc/{self.keeper.pid}/ns/net")
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{process}/ns/net") == there:
                    os.kill(int(process), 9)
            except OSError:
                pass
        self.keeper.wait()


def clock(pid):
    """Seconds of processor time of a process, without its children's: clock_getcpuclockid(3)."""
    return time.clock_gettime((~pid << 3) | 2)


class Server:
    """A program on the servers' side. It runs below time(1): a process that was started from here
    would count this one's memory as its own."""

    def __init__(self, wire, words, env, folder, counts_start=False, **streams):
        self.peak = f"{folder}/peak-server"
        words = ["time", "-q", "-f", "%M", "-o", self.peak, *wire.inside, *words]
        self.outer = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, text=True, **streams)
        children = f"/proc/{self.outer.pid}/task/{self.outer.pid}/children"
        while not (found := open(children).read().split()):
            time.sleep(0.001)
        self.pid, self.before = int(found[0]), 0
        self.counts_start = counts_start

    def settle(self):
        """Waits until it has nothing to do, and begins to count there."""
        last, end = -1, time.monotonic() + 5
        while (now := clock(self.pid)) - last > 0.001 and time.monotonic() < end:
            last = now
            time.sleep(0.1)
        self.before = 0 if self.counts_start else now

    def end(self):
        """Ends it; returns seconds of processor time, its children's too, and the peak MiB of the
        largest of its processes."""
        children = f"/proc/{self.pid}/task/{self.pid}/children"
        try:
            while open(children).read().split():
                time.sleep(0.002)
            os.kill(self.pid, 15)
        except (FileNotFoundError, ProcessLookupError):
            pass  # It ended by itself.
        _, _, usage = os.wait4(self.outer.pid, 0)
        self.outer.returncode = 0
        with open(self.peak) as file:
            peak = int(file.read().split()[-1])
        return usage.ru_utime + usage.ru_stime - self.before, peak / 1024


def run(words, env, folder, peak=None, check=True):
    """Runs a program to its end: seconds, and seconds of processor time, its children's too; with a
    file for `peak`, below time(1), and the peak MiB of its largest process as the third."""
    if peak:
        words = ["time", "-q", "-f", "%M", "-o", peak, *words]
    # Not Popen, which costs more than some of what is measured.
    program = words[0] if "/" in words[0] else shutil.which(words[0])
    start = time.perf_counter()
    child = os.posix_spawn(program, words, env, file_actions=[
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, f"{folder}/errors", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)])
    _, status, usage = os.wait4(child, 0)
    took = time.perf_counter() - start
    if check and status != 0:
        with open(f"{folder}/errors") as file:
            raise SystemExit(f"bench: status {os.waitstatus_to_exitcode(status)}: {' '.join(words)}\n"
                             f"{file.read()}")
    largest = int(open(peak).read().split()[-1]) / 1024 if peak else 0
    return took, usage.ru_utime + usage.ru_stime, largest


def environment(home):
    """Of a device: folders of its own, nobody's settings."""
    for name in ("data", "config", "run"):
        os.makedirs(f"{home}/{name}", mode=0o700, exist_ok=True)
    names = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
             for what, value in (("NAME", "bench"), ("EMAIL", "bench@example.org"))}
    return {"PATH": os.environ["PATH"], "HOME": home, "XDG_DATA_HOME": f"{home}/data",
            "XDG_CONFIG_HOME": f"{home}/config", "XDG_RUNTIME_DIR": f"{home}/run", "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "STNOUPGRADE": "1",
            "STNODEFAULTFOLDER": "1", **names}


def rest():
    """Waits until the kernel is done with what many new files left it to do, 3 s at most: others may work here."""
    def idle():
        ticks = [int(field) for field in open("/proc/stat").readline().split()[1:9]]
        return sum(ticks), ticks[3]
    os.sync()
    for _ in range(3):
        total, spare = idle()
        time.sleep(1)
        after, unused = idle()
        if unused - spare > 0.95 * (after - total):
            break


def note_path(number):
    return f"folder {number % 100:02}/note {number:06}.txt"


def write_history(out, notes, versions, changes=0, changed=0, size=2000):
    """A stream for git-fast-import: `notes` notes of about `size` bytes in a first version, edits of one
    note each up to `versions` on main; then on the branch later as many `changes`, which change
    `changed` notes together. The same in every run."""
    draw = random.Random(notes)
    words = ["".join(draw.choices("aeiounrstlmdgkp", k=draw.randint(2, 9))) for _ in range(3000)]
    texts, count, clock_ = {}, 0, 1_600_000_000

    def line():
        return " ".join(draw.choices(words, k=12)) + "\n"

    def commit(branch, numbers):
        nonlocal count, clock_
        count, clock_ = count + 1, clock_ + draw.randint(20, 4000)
        sign = b"bench <bench@example.org> %d +0000\n" % clock_
        out.write(b"commit refs/heads/%s\nmark :%d\nauthor %scommitter %sdata 4\nedit\n"
                  % (branch, count, sign, sign))
        if count > 1:
            out.write(b"from :%d\n" % (count - 1))
        for number in numbers:
            text = "".join(texts[number]).encode()
            out.write(b'M 100644 inline "%s"\ndata %d\n%s\n'
                      % (note_path(number).encode(), len(text), text))

    def edit(number):
        texts[number][draw.randrange(len(texts[number]))] = line()
        return number

    for number in range(notes):
        texts[number] = []
        while sum(map(len, texts[number])) < size:
            texts[number].append(line())
    commit(b"main", range(notes))
    for _ in range(versions - 1):
        commit(b"main", [edit(draw.randrange(notes))])
    if not changes:
        return
    chosen = [draw.randrange(notes) for _ in range(changed)] if notes < changed else \
        draw.sample(range(notes), changed)
    share = changed // changes
    for turn in range(changes):
        commit(b"later", sorted({edit(number) for number in chosen[turn * share:(turn + 1) * share]}))


def import_history(folder, env, *counts, **options):
    """Makes a packed repository of such a history at `folder`, without a folder of files."""
    subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True, env=env)
    importing = subprocess.Popen(["git", "-C", folder, "fast-import", "--quiet"], stdin=subprocess.PIPE,
                                 env=env)
    write_history(importing.stdin, *counts, **options)
    importing.stdin.close()
    if importing.wait() != 0:
        raise SystemExit("bench: git fast-import failed")
    subprocess.run(["git", "-C", folder, "gc", "-q"], check=True, env=env)


def surroundings(binary):
    """Date, machine and versions, for whoever reads the figures later."""
    def first(*words):
        if not shutil.which(words[0]):
            return None
        done = subprocess.run(words, capture_output=True, text=True)
        return (done.stdout or done.stderr).split("\n")[0].strip()
    with open("/proc/cpuinfo") as file:
        processor = re.search(r"model name\s*: (.*)", file.read())
    with open("/proc/meminfo") as file:
        memory = int(re.search(r"MemTotal:\s+(\d+)", file.read()).group(1)) // 1024
    return {
        "date": datetime.date.today().isoformat(),
        "machine": {"processor": processor.group(1) if processor else platform.machine(),
                    "cores": os.cpu_count(), "memory_mib": memory, "kernel": platform.release()},
        "versions": {"notes": first(binary, "--version"), "git": first("git", "--version"),
                     "ssh": first("ssh", "-V"), "syncthing": first("syncthing", "--version"),
                     "unison": first("unison", "-version")}}
