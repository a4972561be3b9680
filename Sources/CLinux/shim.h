#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

// Linux calls that Swift's Glibc module lacks, because they need _GNU_SOURCE.

/// renameat2(2): refuses to replace an existing file.
#define NOTES_RENAME_NOREPLACE 1u
/// renameat2(2): swaps two files in one step.
#define NOTES_RENAME_EXCHANGE 2u

/// mallopt(3) M_MMAP_THRESHOLD: blocks of this size and larger are returned to the system when they are
/// freed. Without this call the limit grows with every large block, up to 32 MiB, and freed blocks stay.
static inline void notes_return_blocks_from(int bytes) { mallopt(M_MMAP_THRESHOLD, bytes); }

/// renameat2(2); returns 0, or -1 with errno set.
static inline int notes_renameat2(
    int old_folder, const char *_Nonnull old_path, int new_folder, const char *_Nonnull new_path,
    unsigned flags) {
  return (int)syscall(SYS_renameat2, old_folder, old_path, new_folder, new_path, flags);
}

/// statx(2): a file must not be changed, replaced or removed (chattr +i), or can only be appended to (+a); or
/// another file system is mounted on it.
#define NOTES_ATTRIBUTE_IMMUTABLE 0x10u
#define NOTES_ATTRIBUTE_APPEND 0x20u
#define NOTES_ATTRIBUTE_MOUNT_ROOT 0x2000u

/// statx(2): the attributes of a file, or of the folder itself if `path` is empty; 0 if the system does not
/// report any.
static inline unsigned long notes_file_attributes(int folder, const char *_Nonnull path) {
  unsigned long long buffer[32];  // struct statx: its second word has the attributes
  for (int i = 0; i < 32; i++) buffer[i] = 0;
  // AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, and no other field is wanted.
  long result = syscall(SYS_statx, folder, path, 0x100 | 0x1000, 0u, buffer);
  return result == 0 ? (unsigned long)buffer[1] : 0;
}

/// syncfs(2) for the whole file system of `descriptor`; returns 0, or -1 with errno set.
static inline int notes_syncfs(int descriptor) { return (int)syscall(SYS_syncfs, descriptor); }

/// sync_file_range(2): starts writing a file's content to the disk without waiting. Only a hint: fsync(2)
/// must follow. Returns 0, or -1 with errno set.
static inline int notes_start_writing(int descriptor) {
  return (int)syscall(SYS_sync_file_range, descriptor, 0L, 0L, 2u /* SYNC_FILE_RANGE_WRITE */);
}

/// fcntl(2) F_SETLEASE with F_RDLCK: succeeds only if no program has the file open for writing.
/// Returns 0, or -1 with errno set (EAGAIN: a program has). A program that then opens it for writing
/// waits until `descriptor` is closed, and this process gets a SIGURG, which it ignores.
static inline int notes_take_read_lease(int descriptor) {
  // Not with <fcntl.h>: it includes `struct stat`, which Swift would then find in two modules.
  // The default signal is SIGIO, which would end the process; SIGURG (23 on Linux, except on some old
  // architectures) is ignored by default.
  if (syscall(SYS_fcntl, descriptor, 10 /* F_SETSIG */, 23 /* SIGURG */) != 0) return -1;
  return (int)syscall(SYS_fcntl, descriptor, 1024 /* F_SETLEASE */, 0 /* F_RDLCK */);
}

/// SO_PEERCRED (unix(7)): the user on the other side of a socket of this machine; -1 if unknown.
static inline long notes_peer_user(int descriptor) {
  unsigned credentials[3];  // struct ucred: pid, uid, gid
  unsigned length = sizeof(credentials);
  // SOL_SOCKET and SO_PEERCRED have these numbers except on some old architectures.
  if (syscall(SYS_getsockopt, descriptor, 1, 17, credentials, &length) != 0) return -1;
  return length == sizeof(credentials) ? (long)credentials[1] : -1;
}

/// timerfd_create(2): a timer that is readable at this interval in seconds, including time that the machine
/// sleeps; -1 with errno set if that fails.
static inline int notes_sleepless_timer(long seconds) {
  int descriptor = (int)syscall(
      SYS_timerfd_create, 7 /* CLOCK_BOOTTIME */, 02000000 | 04000 /* close on exec, no waiting */);
  if (descriptor < 0) return -1;
  long times[4] = {seconds, 0, seconds, 0};  // struct itimerspec: interval, first
  if (syscall(SYS_timerfd_settime, descriptor, 0, times, (void *)0) == 0) return descriptor;
  close(descriptor);
  return -1;
}

/// pthread_attr_setaffinity_np(3): starts a thread on another processor than this one, on which its maker
/// is busy. Some kernels would choose the same processor, to let the others sleep, and the thread would
/// start only when its maker waits. Does nothing if there is no other processor.
static inline void notes_begin_elsewhere(pthread_attr_t *_Nonnull attributes) {
  cpu_set_t processors;
  int here = sched_getcpu();
  if (here < 0 || sched_getaffinity(0, sizeof(processors), &processors) != 0) return;
  CPU_CLR(here, &processors);
  if (CPU_COUNT(&processors) > 0)
    pthread_attr_setaffinity_np(attributes, sizeof(processors), &processors);
}

/// sched_setaffinity(2): lets this thread run on every processor that the main thread may use.
static inline void notes_run_anywhere(void) {
  cpu_set_t processors;
  if (sched_getaffinity(getpid(), sizeof(processors), &processors) == 0)
    sched_setaffinity(0, sizeof(processors), &processors);
}

/// statfs(2): the type of a path's file system; -1 if it cannot be read.
static inline long notes_file_system(const char *_Nonnull path) {
  struct statfs status;
  return statfs(path, &status) == 0 ? (long)(unsigned)status.f_type : -1;
}

/// eventfd(2), close-on-exec and non-blocking; -1 with errno set if that fails.
static inline int notes_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/// Whether a path's file system keeps access times: it is one of those on which this was tested, and not
/// mounted with noatime; 0 if it does not, or if that is unknown.
static inline int notes_keeps_access_times(const char *_Nonnull path) {
  struct statfs status;
  if (statfs(path, &status) != 0 || (status.f_flags & 0x0401 /* noatime, or read only */) != 0) return 0;
  switch ((unsigned)status.f_type) {
    case 0xef53:      // ext4
    case 0x58465342:  // xfs
    case 0x9123683e:  // btrfs
    case 0x01021994:  // tmpfs
    case 0xf2f52010:  // f2fs
      return 1;
    default: return 0;
  }
}

/// statx(2): when a file was made, in nanoseconds since 1970; -1 if there is no file, or if the time is
/// unknown. `follows`: whether to follow a symbolic link.
static inline long long notes_birth_time(const char *_Nonnull path, int follows) {
  // struct statx: stx_mask at 0, stx_btime at 80, seconds and then nanoseconds; 256 bytes in all. Not
  // with <sys/stat.h>: it includes `struct stat`, which Swift would then find in two modules.
  union {
    unsigned words[64];
    long long numbers[32];
  } status;
  const unsigned birth = 0x800u;  // STATX_BTIME
  if (syscall(SYS_statx, -100 /* AT_FDCWD */, path, follows ? 0 : 0x100 /* AT_SYMLINK_NOFOLLOW */, birth, &status) != 0)
    return -1;
  if ((status.words[0] & birth) == 0) return -1;
  return status.numbers[10] * 1000000000LL + status.words[22];
}

// flistxattr(2), fgetxattr(2) and fsetxattr(2), with sizes in bytes; -1 with errno set where they fail. Not
// through <sys/xattr.h>: it brings <sys/types.h> along, whose types Swift would then find in two modules.
static inline long notes_list_attributes(int file, char *_Nullable names, unsigned long size) {
  return syscall(SYS_flistxattr, file, names, size);
}
static inline long notes_get_attribute(
    int file, const char *_Nonnull name, void *_Nullable value, unsigned long size) {
  return syscall(SYS_fgetxattr, file, name, value, size);
}
static inline long notes_set_attribute(
    int file, const char *_Nonnull name, const void *_Nonnull value, unsigned long size) {
  return syscall(SYS_fsetxattr, file, name, value, size, 0);
}

/// What scripts/release says of a build, `name value` a line; it links contrib/build-record.c. No other
/// build has it.
extern const char notes_build_record_text[] __attribute__((weak));

/// The record of this build, or NULL.
static inline const char *_Nullable notes_build_record(void) { return notes_build_record_text; }
