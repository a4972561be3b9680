"""A disk whose every write and flush is recorded, and what a power cut may leave of it.

The disk is a file that FUSE shows; a loop device stands on it and passes flushes down as fsync(2). What
came before a flush that ended is on the disk. Of what came after it, a cut leaves anything: nothing, all of
it, or some of its sectors.
"""

import contextlib
import errno
import os
import stat
import struct
import subprocess
import time

SECTOR = 512
WRITE, FLUSH = 0, 1
HEADER = struct.Struct("<BQI")


class Unmountable(RuntimeError):
    """What a cut left is no file system any more, by its own kernel module."""


def run(*words, **options):
    """The output of a command that must succeed."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def serve(image, log, mountpoint):
    """Shows the image as `mountpoint`/disk until that is unmounted; runs in a process of its own."""
    import fusepy as fuse

    class Disk(fuse.Operations):
        def __init__(self):
            self.image = os.open(image, os.O_RDWR)
            self.log = os.open(log, os.O_WRONLY | os.O_APPEND)
            self.size = os.fstat(self.image).st_size

        def getattr(self, path, handle=None):
            if path == "/":
                return {"st_mode": stat.S_IFDIR | 0o700, "st_nlink": 2}
            if path != "/disk":
                raise fuse.FuseOSError(errno.ENOENT)
            return {"st_mode": stat.S_IFREG | 0o600, "st_nlink": 1, "st_size": self.size}

        def readdir(self, path, handle):
            return [".", "..", "disk"]

        def read(self, path, size, offset, handle):
            return os.pread(self.image, size, offset)

        def write(self, path, data, offset, handle):
            os.pwrite(self.image, data, offset)
            os.write(self.log, HEADER.pack(WRITE, offset, len(data)) + data)
            return len(data)

        def fsync(self, path, datasync, handle):
            os.write(self.log, HEADER.pack(FLUSH, 0, 0))
            return 0

        def flush(self, path, handle):  # close(2), which promises nothing
            return 0

    fuse.FUSE(
        Disk(), mountpoint, foreground=True, nothreads=True, direct_io=True, big_writes=True,
        max_write=1 << 17)


def unmount(place):
    """Unmounts, where something that is just ending may still have a file open."""
    for _ in range(200):
        if subprocess.run(["umount", place], capture_output=True).returncode == 0:
            return
        time.sleep(0.05)
    run("umount", "--lazy", place)


class FileSystem:
    """How a file system is made and mounted, and what it needs to be small and lively."""

    kinds = {
        "ext4": (64, ["mkfs.ext4", "-q", "-E", "lazy_itable_init=0", "-J", "size=8"], "commit=1"),
        "xfs": (320, ["mkfs.xfs", "-q", "-f"], "defaults"),
        "btrfs": (128, ["mkfs.btrfs", "-q", "-f", "--mixed"], "commit=1"),
    }

    def __init__(self, kind):
        self.kind = kind
        self.megabytes, self.make, self.options = self.kinds[kind]

    def problem(self, folder):
        """Why this machine does not have it; None where it does."""
        image = f"{folder}/try-{self.kind}"
        try:
            self.create(image)
            os.makedirs(image + ".there", exist_ok=True)
            with self.mounted(image, image + ".there"):
                return None
        except (OSError, RuntimeError) as error:
            return str(error).strip().replace("\n", " ")

    def create(self, image):
        with open(image, "wb") as file:
            file.truncate(self.megabytes << 20)
        run(*self.make, image)

    @contextlib.contextmanager
    def mounted(self, image, place, direct=False):
        """The image, mounted; writes go straight down where `direct` is set."""
        device = run("losetup", "--find", "--show", *(["--direct-io=on"] if direct else []), image).strip()
        try:
            try:
                run("mount", "-t", self.kind, "-o", self.options, device, place)
            except RuntimeError as error:
                raise Unmountable(str(error)) from error
            try:
                yield place
            finally:
                unmount(place)
        finally:
            run("losetup", "--detach", device)


class RecordedDisk:
    """A file system on a disk that is recorded, mounted while the `with` block runs."""

    def __init__(self, folder, file_system):
        self.file_system = file_system
        self.image, self.base = f"{folder}/image", f"{folder}/base"
        self.log, self.fuse, self.place = f"{folder}/log", f"{folder}/fuse", f"{folder}/disk"

    def __enter__(self):
        self.file_system.create(self.image)
        run("cp", "--sparse=always", self.image, self.base)
        for folder in [self.fuse, self.place]:
            os.makedirs(folder)
        open(self.log, "wb").close()
        self.server = os.fork()
        if self.server == 0:
            try:
                serve(self.image, self.log, self.fuse)
            finally:
                os._exit(0)
        deadline = time.monotonic() + 20
        while not os.path.exists(self.fuse + "/disk"):
            if time.monotonic() > deadline:
                raise RuntimeError("FUSE shows no disk")
            time.sleep(0.01)
        self.mounted = self.file_system.mounted(self.fuse + "/disk", self.place, direct=True)
        self.mounted.__enter__()
        return self

    def __exit__(self, *error):
        try:
            self.mounted.__exit__(*error)
        finally:
            unmount(self.fuse)
            os.waitpid(self.server, 0)

    def position(self):
        """How much was recorded up to now."""
        return os.stat(self.log).st_size


class Recording:
    """What was recorded, and what a cut at a point of it leaves."""

    def __init__(self, disk):
        self.base = disk.base
        self.records = []  # (end in the log, offset or None for a flush, data's place and length)
        with open(disk.log, "rb") as file:
            self.data = file.read()
        at = 0
        while at < len(self.data):
            kind, offset, length = HEADER.unpack_from(self.data, at)
            start = at + HEADER.size
            at = start + length
            self.records.append((at, offset if kind == WRITE else None, start, length))

    def points(self, after):
        """Where a cut may fall: after each record that ends after that position."""
        return [index for index, record in enumerate(self.records) if record[0] > after]

    def position(self, index):
        return self.records[index][0]

    def write(self, image, index, way, chance):
        """Writes the disk as a cut after record `index` leaves it; returns how many writes it had not flushed."""
        run("cp", "--sparse=always", self.base, image)
        records = self.records[: index + 1]
        flushed = max((at for at, record in enumerate(records) if record[1] is None), default=-1)
        with open(image, "r+b") as file:
            for at, (_, offset, start, length) in enumerate(records):
                if offset is None:
                    continue
                pieces = [(0, length)]
                if at > flushed:
                    if way == "dropped":
                        continue
                    if way == "mixed":
                        pieces = [
                            (piece, SECTOR) for piece in range(0, length, SECTOR)
                        ] if chance.random() < 0.3 else pieces
                        pieces = [piece for piece in pieces if chance.random() < 0.5]
                for piece, size in pieces:
                    file.seek(offset + piece)
                    file.write(self.data[start + piece : start + min(piece + size, length)])
        return sum(1 for record in records[flushed + 1 :] if record[1] is not None)


if __name__ == "__main__":
    # A look by hand at whether this machine can record: what a sync(1) of each file system comes to.
    import sys
    import tempfile

    for kind in sys.argv[1:] or FileSystem.kinds:
        with tempfile.TemporaryDirectory() as folder:
            with RecordedDisk(folder, FileSystem(kind)) as disk:
                with open(disk.place + "/file", "w") as file:
                    file.write("text")
                    file.flush()
                    os.fsync(file.fileno())
            records = Recording(disk).records
            flushes = sum(1 for record in records if record[1] is None)
            print(kind, len(records) - flushes, "writes", flushes, "flushes")
