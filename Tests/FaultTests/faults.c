// Preloaded into a process to make one of its file-system-changing calls fail, or the last.
//
// Counted are the calls that change something below FAULT_ROOT, whoever makes them: the program, the
// C library's own callers, libgit2, and those that go through syscall(2). Environment:
//
//   FAULT_ROOT   only calls on files below this folder count
//   FAULT_LOG    append a line `KIND PATH` a counted call
//   FAULT_TIME   what time(2) says: versions get the same IDs in every run
//   FAULT_COUNTER  a file by which processes count together: the number is that of a call among those of a
//                  process and its children
//   FAULT_AT     the number of the call to act on, from 1
//   FAULT_MET    a file to make when that call is met
//   FAULT_MODE   kill   die just before the call
//                torn   a write carries out its first half, then dies; other calls as kill
//                power  as kill, and what no sync has reached is gone: files written since their
//                       last fsync(2) end up empty
//                once   that call fails with FAULT_ERRNO
//                stays  that call and all later ones of its sort fail with FAULT_ERRNO: with ENOSPC
//                       and EDQUOT those that need room, with others all but closing ones
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static const char *root, *mode, *met_path;
static size_t root_length;
static long target;
static int number, log_file = -1;
static atomic_long own, *counter = &own;

// Other libraries' constructors may call before ours has run.
typedef long system_call(long, ...);
static system_call *raw(void) {
  static system_call *found;
  if (!found) found = (system_call *)dlsym(RTLD_NEXT, "syscall");
  return found;
}
#define RAW raw()

__attribute__((constructor)) static void start(void) {
  root = getenv("FAULT_ROOT");
  root_length = root ? strlen(root) : 0;
  mode = getenv("FAULT_MODE") ? getenv("FAULT_MODE") : "";
  target = getenv("FAULT_AT") ? atol(getenv("FAULT_AT")) : 0;
  number = getenv("FAULT_ERRNO") ? atoi(getenv("FAULT_ERRNO")) : EIO;
  met_path = getenv("FAULT_MET");
  const char *shared = getenv("FAULT_COUNTER");
  if (shared) {
    int file = RAW(SYS_openat, AT_FDCWD, shared, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    RAW(SYS_ftruncate, file, sizeof own);
    void *bytes = (void *)RAW(SYS_mmap, NULL, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (bytes == MAP_FAILED) abort();
    counter = bytes;
    // Whoever locks the file waits for the end of all of them.
    RAW(SYS_flock, RAW(SYS_fcntl, file, F_DUPFD_CLOEXEC, 500), LOCK_SH);
    RAW(SYS_close, file);
  }
  const char *log = getenv("FAULT_LOG");
  if (log) log_file = RAW(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

time_t time(time_t *out) {
  const char *fixed = getenv("FAULT_TIME");
  struct timespec now;
  if (!fixed) clock_gettime(CLOCK_REALTIME, &now);
  time_t seconds = fixed ? atol(fixed) : now.tv_sec;
  if (out) *out = seconds;
  return seconds;
}

// What has been written and not synced: a descriptor of our own for each file. It is one that stands
// for the name only: a copy of the program's would hold its flock(2), and one open for writing would
// count as a program that has the file open.
static struct { dev_t device; ino_t inode; int file; } unsynced[4096];
static atomic_int unsynced_count;

static void wrote(int file) {
  if (!root || strcmp(mode, "power")) return;
  struct stat status;
  if (fstat(file, &status) || !S_ISREG(status.st_mode)) return;
  int count = unsynced_count;
  for (int i = 0; i < count; i++)
    if (unsynced[i].file >= 0 && unsynced[i].device == status.st_dev &&
        unsynced[i].inode == status.st_ino)
      return;
  if (count == 4096) abort();
  unsynced[count].device = status.st_dev;
  unsynced[count].inode = status.st_ino;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  int mark = RAW(SYS_openat, AT_FDCWD, link, O_PATH | O_CLOEXEC);
  unsynced[count].file = RAW(SYS_fcntl, mark, F_DUPFD_CLOEXEC, 500);
  RAW(SYS_close, mark);
  unsynced_count = count + 1;
}

static void synced(int file) {
  struct stat status;
  if (strcmp(mode, "power") || fstat(file, &status)) return;
  for (int i = 0; i < unsynced_count; i++)
    if (unsynced[i].file >= 0 && unsynced[i].device == status.st_dev &&
        unsynced[i].inode == status.st_ino) {
      RAW(SYS_close, unsynced[i].file);
      unsynced[i].file = -1;
    }
}

static void synced_all(void) {
  for (int i = 0; i < unsynced_count; i++)
    if (unsynced[i].file >= 0) RAW(SYS_close, unsynced[i].file);
  unsynced_count = 0;
}

// Says that there was a call to act on: with several threads, how many there are varies.
static void note_met(void) {
  if (!met_path) return;
  int file = RAW(SYS_openat, AT_FDCWD, met_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file >= 0) RAW(SYS_close, file);
}

static void die(void) {
  if (!strcmp(mode, "power"))
    for (int i = 0; i < unsynced_count; i++)
      if (unsynced[i].file >= 0) {
        struct stat status;
        fstat(unsynced[i].file, &status);
        struct timespec times[2] = {status.st_atim, status.st_mtim};
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", unsynced[i].file);
        int file = RAW(SYS_openat, AT_FDCWD, link, O_WRONLY | O_TRUNC);
        RAW(SYS_utimensat, file, NULL, times, 0);
      }
  RAW(SYS_kill, RAW(SYS_getpid), SIGKILL);
  for (;;) RAW(SYS_pause);
}

static int below(const char *path) {
  return root && !strncmp(path, root, root_length) &&
         (path[root_length] == '/' || path[root_length] == 0);
}

static void path_of(int file, char *path, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  long length = RAW(SYS_readlinkat, AT_FDCWD, link, path, size - 1);
  path[length > 0 ? length : 0] = 0;
}

static void full_path(int folder, const char *name, char *path, size_t size) {
  if (name[0] == '/') {
    snprintf(path, size, "%s", name);
    return;
  }
  path[0] = 0;
  if (folder == AT_FDCWD) RAW(SYS_getcwd, path, size);
  else path_of(folder, path, size);
  size_t length = strlen(path);
  snprintf(path + length, size - length, "/%s", name);
}

enum { NEEDS_ROOM = 1, WRITES = 2 };

// Counts a call; returns -1 with errno when it is to fail, 1 for half a write, else 0.
static int met(const char *kind, const char *path, int traits) {
  if (!below(path)) return 0;
  long at = ++*counter;
  if (log_file >= 0) {
    char line[4400];
    int length = snprintf(line, sizeof line, "%s %s\n", kind, path + root_length);
    RAW(SYS_write, log_file, line, length);
  }
  if (!target || at < target) return 0;
  if (!strcmp(mode, "stays")) {
    int room = number == ENOSPC || number == EDQUOT;
    if (room && !(traits & NEEDS_ROOM)) return 0;
    note_met();
    errno = number;
    return -1;
  }
  if (at > target) return 0;
  note_met();
  if (!strcmp(mode, "once")) {
    errno = number;
    return -1;
  }
  if (!strcmp(mode, "torn") && traits & WRITES) return 1;
  if (!strcmp(mode, "kill") || !strcmp(mode, "torn") || !strcmp(mode, "power")) die();
  return 0;
}

static int met_file(const char *kind, int file, int traits) {
  if (!root) return 0;
  char path[4200];
  path_of(file, path, sizeof path);
  return met(kind, path, traits);
}

static int met_name(const char *kind, int folder, const char *name, int traits) {
  if (!root || !name) return 0;
  char path[8400];
  full_path(folder, name, path, sizeof path);
  return met(kind, path, traits);
}

static int open_file(int folder, const char *name, int flags, int permissions) {
  int writes = (flags & O_ACCMODE) != O_RDONLY;
  int changes = flags & (O_CREAT | O_TRUNC) || (flags & O_TMPFILE) == O_TMPFILE;
  if (changes && met_name(flags & O_CREAT ? "create" : "open-truncate", folder, name, NEEDS_ROOM))
    return -1;
  int file = RAW(SYS_openat, folder, name, flags, permissions);
  if (file >= 0 && writes && flags & O_TRUNC) wrote(file);
  return file;
}

#define OPEN(name)                                          \
  int name(const char *path, int flags, ...) {              \
    va_list list;                                           \
    va_start(list, flags);                                  \
    int permissions = va_arg(list, int);                    \
    va_end(list);                                           \
    return open_file(AT_FDCWD, path, flags, permissions);   \
  }
OPEN(open)
OPEN(open64)
#define OPENAT(name)                                            \
  int name(int folder, const char *path, int flags, ...) {      \
    va_list list;                                               \
    va_start(list, flags);                                      \
    int permissions = va_arg(list, int);                        \
    va_end(list);                                               \
    return open_file(folder, path, flags, permissions);         \
  }
OPENAT(openat)
OPENAT(openat64)
int creat(const char *path, mode_t permissions) {
  return open_file(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, permissions);
}
int creat64(const char *path, mode_t permissions) { return creat(path, permissions); }

// mkstemp(3) and mkdtemp(3) make their names inside the C library.
static int make_temporary(char *template, int folder) {
  char *end = strstr(template, "XXXXXX");
  if (!end) return errno = EINVAL, -1;
  for (unsigned try = 0; try < 1000; try++) {
    unsigned long long bits = 0;
    RAW(SYS_getrandom, &bits, sizeof bits, 0);
    for (int i = 0; i < 6; i++, bits >>= 5)
      end[i] = "abcdefghijklmnopqrstuvwxyz234567"[bits & 31];
    int status = folder ? mkdir(template, 0700)
                        : open_file(AT_FDCWD, template, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (status >= 0 || errno != EEXIST) return status;
  }
  return -1;
}
int mkstemp(char *template) { return make_temporary(template, 0); }
int mkstemp64(char *template) { return make_temporary(template, 0); }
char *mkdtemp(char *template) { return make_temporary(template, 1) ? NULL : template; }

ssize_t write(int file, const void *bytes, size_t count) {
  int verdict = met_file("write", file, NEEDS_ROOM | WRITES);
  if (verdict < 0) return -1;
  if (root && !strcmp(mode, "power")) wrote(file);
  if (verdict > 0) {
    RAW(SYS_write, file, bytes, count / 2);
    die();
  }
  return RAW(SYS_write, file, bytes, count);
}

#define PWRITE(name)                                                          \
  ssize_t name(int file, const void *bytes, size_t count, off_t offset) {     \
    int verdict = met_file("pwrite", file, NEEDS_ROOM | WRITES);              \
    if (verdict < 0) return -1;                                               \
    wrote(file);                                                              \
    if (verdict > 0) {                                                        \
      RAW(SYS_pwrite64, file, bytes, count / 2, offset);                      \
      die();                                                                  \
    }                                                                         \
    return RAW(SYS_pwrite64, file, bytes, count, offset);                     \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t writev(int file, const struct iovec *parts, int count) {
  if (met_file("writev", file, NEEDS_ROOM)) return -1;
  wrote(file);
  return RAW(SYS_writev, file, parts, count);
}

int fsync(int file) {
  if (met_file("fsync", file, NEEDS_ROOM)) return -1;
  int status = RAW(SYS_fsync, file);
  if (!status) synced(file);
  return status;
}
int fdatasync(int file) {
  if (met_file("fsync", file, NEEDS_ROOM)) return -1;
  int status = RAW(SYS_fdatasync, file);
  if (!status) synced(file);
  return status;
}
int syncfs(int file) {
  if (met_file("syncfs", file, NEEDS_ROOM)) return -1;
  int status = RAW(SYS_syncfs, file);
  if (!status) synced_all();
  return status;
}

#define FTRUNCATE(name)                                            \
  int name(int file, off_t size) {                                 \
    if (met_file("ftruncate", file, NEEDS_ROOM)) return -1;        \
    wrote(file);                                                   \
    return RAW(SYS_ftruncate, file, size);                         \
  }
FTRUNCATE(ftruncate)
FTRUNCATE(ftruncate64)
int truncate(const char *path, off_t size) {
  if (met_name("truncate", AT_FDCWD, path, NEEDS_ROOM)) return -1;
  return RAW(SYS_truncate, path, size);
}
int fallocate(int file, int how, off_t offset, off_t size) {
  if (met_file("fallocate", file, NEEDS_ROOM)) return -1;
  return RAW(SYS_fallocate, file, how, offset, size);
}

// A writable shared mapping changes its file without a call for each change.
#define MMAP(name)                                                                            \
  void *name(void *at, size_t size, int access, int flags, int file, off_t offset) {          \
    if (file >= 0 && flags & MAP_SHARED && access & PROT_WRITE) {                             \
      if (met_file("mmap", file, NEEDS_ROOM)) return MAP_FAILED;                              \
      wrote(file);                                                                            \
    }                                                                                         \
    return (void *)RAW(SYS_mmap, at, size, access, flags, file, offset);                      \
  }
MMAP(mmap)
MMAP(mmap64)

static int rename_file(int old_folder, const char *old, int folder, const char *new, unsigned flags) {
  const char *kind = flags == 2 ? "rename-exchange" : flags == 1 ? "rename-noreplace" : "rename";
  if (met_name(kind, folder, new, NEEDS_ROOM)) return -1;
  return RAW(SYS_renameat2, old_folder, old, folder, new, flags);
}
int rename(const char *old, const char *new) { return rename_file(AT_FDCWD, old, AT_FDCWD, new, 0); }
int renameat(int old_folder, const char *old, int folder, const char *new) {
  return rename_file(old_folder, old, folder, new, 0);
}
int renameat2(int old_folder, const char *old, int folder, const char *new, unsigned flags) {
  return rename_file(old_folder, old, folder, new, flags);
}
int linkat(int old_folder, const char *old, int folder, const char *new, int flags) {
  if (met_name("link", folder, new, NEEDS_ROOM)) return -1;
  return RAW(SYS_linkat, old_folder, old, folder, new, flags);
}
int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }
int symlinkat(const char *text, int folder, const char *name) {
  if (met_name("symlink", folder, name, NEEDS_ROOM)) return -1;
  return RAW(SYS_symlinkat, text, folder, name);
}
int symlink(const char *text, const char *name) { return symlinkat(text, AT_FDCWD, name); }
int mkdirat(int folder, const char *name, mode_t permissions) {
  if (met_name("mkdir", folder, name, NEEDS_ROOM)) return -1;
  return RAW(SYS_mkdirat, folder, name, permissions);
}
int mkdir(const char *name, mode_t permissions) { return mkdirat(AT_FDCWD, name, permissions); }
int unlinkat(int folder, const char *name, int flags) {
  if (met_name(flags & AT_REMOVEDIR ? "rmdir" : "unlink", folder, name, 0)) return -1;
  return RAW(SYS_unlinkat, folder, name, flags);
}
int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }
int remove(const char *name) { return unlink(name) && errno == EISDIR ? rmdir(name) : 0; }

int fchmodat(int folder, const char *name, mode_t permissions, int flags) {
  if (met_name("chmod", folder, name, 0)) return -1;
  if (flags) return errno = ENOTSUP, -1;
  return RAW(SYS_fchmodat, folder, name, permissions);
}
int chmod(const char *name, mode_t permissions) { return fchmodat(AT_FDCWD, name, permissions, 0); }
int fchmod(int file, mode_t permissions) {
  if (met_file("chmod", file, 0)) return -1;
  return RAW(SYS_fchmod, file, permissions);
}
int utimensat(int folder, const char *name, const struct timespec times[2], int flags) {
  if (met_name("utimes", folder, name, 0)) return -1;
  return RAW(SYS_utimensat, folder, name, times, flags);
}
int futimens(int file, const struct timespec times[2]) {
  if (met_file("utimes", file, 0)) return -1;
  return RAW(SYS_utimensat, file, NULL, times, 0);
}

int utimes(const char *name, const struct timeval times[2]) {
  if (met_name("utimes", AT_FDCWD, name, 0)) return -1;
  return RAW(SYS_utimes, name, times);
}
// Only begins what a sync ends: nothing depends on it.
int sync_file_range(int file, off64_t offset, off64_t size, unsigned flags) {
  if (met_file("sync-range", file, 0)) return -1;
  return RAW(SYS_sync_file_range, file, offset, size, flags);
}

// The calls that have no function of their own in the program.
long syscall(long call, ...) {
  va_list list;
  va_start(list, call);
  long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long);
  long d = va_arg(list, long), e = va_arg(list, long), f = va_arg(list, long);
  va_end(list);
  switch (call) {
    case SYS_renameat2: return rename_file(a, (const char *)b, c, (const char *)d, e);
    case SYS_renameat: return rename_file(a, (const char *)b, c, (const char *)d, 0);
    case SYS_syncfs: return syncfs(a);
    case SYS_sync_file_range: return sync_file_range(a, b, c, d);
    case SYS_openat: return open_file(a, (const char *)b, c, d);
    case SYS_linkat: return linkat(a, (const char *)b, c, (const char *)d, e);
    case SYS_unlinkat: return unlinkat(a, (const char *)b, c);
    case SYS_mkdirat: return mkdirat(a, (const char *)b, c);
    default: return RAW(call, a, b, c, d, e, f);
  }
}
