"""File systems of other kinds, each in a folder of its own for a while."""

import contextlib
import os
import subprocess

import device


@contextlib.contextmanager
def image(folder, megabytes, make, mount):
    """A file system in a file, made and mounted by these words."""
    path, place = folder + "/image", folder + "/place"
    os.makedirs(place, exist_ok=True)
    with open(path, "wb") as file:
        file.truncate(megabytes << 20)
    device.run(*make, path)
    loop = device.run("losetup", "--find", "--show", path).strip()
    try:
        device.run(*mount, loop, place)
        try:
            yield place
        finally:
            device.unmount(place)
    finally:
        subprocess.run(["losetup", "--detach", loop], capture_output=True)


@contextlib.contextmanager
def mounted(folder, *words):
    """What `mount` shows by these words."""
    place = folder + "/place"
    os.makedirs(place, exist_ok=True)
    device.run("mount", *words, place)
    try:
        yield place
    finally:
        device.unmount(place)


@contextlib.contextmanager
def overlay(folder):
    with mounted(folder, "-t", "tmpfs", "tmpfs") as below:
        for name in ["lower", "upper", "work", "all"]:
            os.makedirs(f"{below}/{name}")
        layers = f"lowerdir={below}/lower,upperdir={below}/upper,workdir={below}/work"
        device.run("mount", "-t", "overlay", "overlay", "-o", layers, below + "/all")
        try:
            yield below + "/all"
        finally:
            device.unmount(below + "/all")


@contextlib.contextmanager
def folded(folder):
    """ext4 with a folder that folds names."""
    make = ["mkfs.ext4", "-q", "-O", "casefold", "-E", "encoding=utf8"]
    with image(folder, 32, make, ["mount", "-t", "ext4"]) as place:
        os.makedirs(place + "/folded")
        device.run("chattr", "+F", place + "/folded")
        yield place + "/folded"


@contextlib.contextmanager
def fat(folder):
    """FAT by FUSE, which takes no loop device."""
    path, place = folder + "/image", folder + "/place"
    os.makedirs(place, exist_ok=True)
    with open(path, "wb") as file:
        file.truncate(64 << 20)
    device.run(*FAT, path)
    device.run("fusefat", "-o", "rw+", path, place)
    try:
        yield place
    finally:
        device.unmount(place)


NTFS = ["mkfs.ntfs", "-q", "-F", "-f"]
FAT = ["mkfs.vfat", "-F", "32"]

# By the name that the manual gives each.
KINDS = {
    "ext4": lambda folder: image(folder, 64, ["mkfs.ext4", "-q"], ["mount", "-t", "ext4"]),
    "ext4, folding case": folded,
    "xfs": lambda folder: image(folder, 320, ["mkfs.xfs", "-q", "-f"], ["mount", "-t", "xfs"]),
    "btrfs": lambda folder: image(folder, 128, ["mkfs.btrfs", "-q", "-f"], ["mount", "-t", "btrfs"]),
    "tmpfs": lambda folder: mounted(folder, "-t", "tmpfs", "tmpfs"),
    "overlay": overlay,
    "exFAT (exfat-fuse)": lambda folder: image(folder, 64, ["mkfs.exfat"], ["mount.exfat-fuse"]),
    "NTFS (ntfs-3g)": lambda folder: image(folder, 64, NTFS, ["ntfs-3g", "-o", "permissions"]),
    "NTFS (ntfs-3g, windows_names)": lambda folder: image(
        folder, 64, NTFS, ["ntfs-3g", "-o", "permissions,windows_names"]),
    "FAT (fusefat)": fat,
    "FAT (vfat)": lambda folder: image(folder, 64, FAT, ["mount", "-t", "vfat", "-o", "utf8"]),
}
