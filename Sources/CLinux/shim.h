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

// Calls of Linux that Swift's Glibc module does not show, because they need _GNU_SOURCE.

/// renameat2(2): refuses to replace an existing file.
#define NOTES_RENAME_NOREPLACE 1u
/// renameat2(2): swaps two files in one step.
#define NOTES_RENAME_EXCHANGE 2u

/// mallopt(3) M_MMAP_THRESHOLD: blocks of this size and larger go back to the system when they are
/// freed. Without it the limit grows with every large block, up to 32 MiB, and what is freed stays.
static inline void notes_return_blocks_from(int bytes) { mallopt(M_MMAP_THRESHOLD, bytes); }

/// renameat2(2); returns 0, or -1 with errno set.
static inline int notes_renameat2(
    int old_folder, const char *_Nonnull old_path, int new_folder, const char *_Nonnull new_path,
    unsigned flags) {
  return (int)syscall(SYS_renameat2, old_folder, old_path, new_folder, new_path, flags);
}

/// statx(2): a file may not be changed, replaced or removed (chattr +i), or only appended to (+a); another
/// file system is mounted on it.
#define NOTES_ATTRIBUTE_IMMUTABLE 0x10u
#define NOTES_ATTRIBUTE_APPEND 0x20u
#define NOTES_ATTRIBUTE_MOUNT_ROOT 0x2000u

/// statx(2): the attributes of a file, or of the folder itself if `path` is empty; 0 where the system tells
/// none.
static inline unsigned long notes_file_attributes(int folder, const char *_Nonnull path) {
  unsigned long long buffer[32];  // struct statx: its second word holds the attributes
  for (int i = 0; i < 32; i++) buffer[i] = 0;
  // AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, and no other field is wanted.
  long result = syscall(SYS_statx, folder, path, 0x100 | 0x1000, 0u, buffer);
  return result == 0 ? (unsigned long)buffer[1] : 0;
}

/// syncfs(2): all of the file system that `descriptor` is on; returns 0, or -1 with errno set.
static inline int notes_syncfs(int descriptor) { return (int)syscall(SYS_syncfs, descriptor); }

/// sync_file_range(2): begins to write a file's content to the disk and does not wait for it. A hint:
/// fsync(2) is still to follow. Returns 0, or -1 with errno set.
static inline int notes_start_writing(int descriptor) {
  return (int)syscall(SYS_sync_file_range, descriptor, 0L, 0L, 2u /* SYNC_FILE_RANGE_WRITE */);
}

/// fcntl(2) F_SETLEASE with F_RDLCK: succeeds only while nobody has the file open for writing.
/// Returns 0, or -1 with errno set (EAGAIN: somebody has). A program that opens it for writing
/// before `descriptor` is closed waits for that, and this process is sent SIGURG, which it does not notice.
static inline int notes_take_read_lease(int descriptor) {
  // Not through <fcntl.h>: it brings `struct stat` along, which Swift would then find in two modules.
  // SIGIO would come otherwise, and end the process; SIGURG (23 on Linux, but on old machines of other
  // makes) is ignored by default.
  if (syscall(SYS_fcntl, descriptor, 10 /* F_SETSIG */, 23 /* SIGURG */) != 0) return -1;
  return (int)syscall(SYS_fcntl, descriptor, 1024 /* F_SETLEASE */, 0 /* F_RDLCK */);
}

/// SO_PEERCRED (unix(7)): the user at the other end of a socket of this machine; -1 when it is not
/// known.
static inline long notes_peer_user(int descriptor) {
  unsigned credentials[3];  // struct ucred: pid, uid, gid
  unsigned length = sizeof(credentials);
  // SOL_SOCKET and SO_PEERCRED have these numbers on all machines but old ones of other makes.
  if (syscall(SYS_getsockopt, descriptor, 1, 17, credentials, &length) != 0) return -1;
  return length == sizeof(credentials) ? (long)credentials[1] : -1;
}

/// timerfd_create(2): becomes readable every so many seconds, counting those that the machine sleeps;
/// -1 with errno set when there is none to be had.
static inline int notes_sleepless_timer(long seconds) {
  int descriptor = (int)syscall(
      SYS_timerfd_create, 7 /* CLOCK_BOOTTIME */, 02000000 | 04000 /* close on exec, no waiting */);
  if (descriptor < 0) return -1;
  long times[4] = {seconds, 0, seconds, 0};  // struct itimerspec: interval, first
  if (syscall(SYS_timerfd_settime, descriptor, 0, times, (void *)0) == 0) return descriptor;
  close(descriptor);
  return -1;
}

/// pthread_attr_setaffinity_np(3): has a thread begin on another processor than this one, which its
/// maker is busy on. Some kernels put it there too, to let the other processors sleep, and then it
/// begins when its maker waits. Does nothing where there is no other processor.
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

/// statfs(2): the number of the file system that a path is on; -1 where that can't be asked.
static inline long notes_file_system(const char *_Nonnull path) {
  struct statfs status;
  return statfs(path, &status) == 0 ? (long)(unsigned)status.f_type : -1;
}

/// eventfd(2), close on exec and not waiting; -1 with errno set when there is none to be had.
static inline int notes_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/// Whether the file system that a path is on keeps access times: one of those on which it was tried, and
/// not mounted with noatime; 0 where it does not, or that can't be asked.
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

/// statx(2): when a file was made, in nanoseconds since 1970; -1 if there is none, or that is not known. `follows`:
/// that of the file that a symbolic link leads to.
static inline long long notes_birth_time(const char *_Nonnull path, int follows) {
  // struct statx: stx_mask at 0, stx_btime at 80, seconds and then nanoseconds; 256 bytes in all. Not
  // through <sys/stat.h>: it brings `struct stat` along, which Swift would then find in two modules.
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
