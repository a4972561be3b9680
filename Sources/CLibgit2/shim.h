#pragma once
#include "versions.h"
#include <dlfcn.h>
#include <git2.h>
#include <git2/sys/repository.h>
#include <stddef.h>

/// The functions of libgit2 that Git uses.
#define NOTES_LIBGIT2(F) \
  F(git_libgit2_init) \
  F(git_libgit2_opts) \
  F(git_libgit2_version) \
  F(git_error_last) \
  F(git_repository_open_ext) \
  F(git_repository_free) \
  F(git_repository_odb) \
  F(git_repository_index) \
  F(git_repository_set_workdir) \
  F(git_repository_config_snapshot) \
  F(git_repository_config) \
  F(git_repository_set_config) \
  F(git_config_new) \
  F(git_config_add_file_ondisk) \
  F(git_config_free) \
  F(git_config_get_string) \
  F(git_config_set_string) \
  F(git_config_delete_entry) \
  F(git_odb_free) \
  F(git_odb_exists) \
  F(git_odb_read) \
  F(git_odb_read_header) \
  F(git_odb_hash) \
  F(git_odb_exists_prefix) \
  F(git_odb_object_free) \
  F(git_odb_object_data) \
  F(git_odb_object_size) \
  F(git_odb_object_type) \
  F(git_index_free) \
  F(git_index_read) \
  F(git_index_entrycount) \
  F(git_index_get_byindex) \
  F(git_ignore_path_is_ignored) \
  F(git_attr_get_many) \
  F(git_attr_value) \
  F(git_index_new) \
  F(git_repository_set_index)

/// The table of functions; it does not change once filled, so threads may share it.
struct __attribute__((swift_attr("@Sendable"))) libgit2 {
#define F(name) __typeof__(name) *_Nonnull name;
  NOTES_LIBGIT2(F)
#undef F
};

/// The file names of the libraries to try, in this order; NULL after the last.
static inline const char *_Nullable libgit2_file_name(int position) {
#define F(version) "libgit2.so." version,
  static const char *const names[] = {NOTES_LIBGIT2_VERSIONS(F) 0};
#undef F
  return position < (int)(sizeof names / sizeof *names) ? names[position] : 0;
}

/// Fills `api` from the shared library with that file name; returns NULL, or a message about what is missing.
static inline const char *_Nullable libgit2_load(
    struct libgit2 *_Nonnull api, const char *_Nonnull file_name) {
  void *library = dlopen(file_name, RTLD_NOW | RTLD_LOCAL);
  if (!library) return dlerror();
#define F(name) \
  if (!(*(void **)&api->name = dlsym(library, #name))) return dlerror();
  NOTES_LIBGIT2(F)
#undef F
  return 0;
}

// git_libgit2_opts is variadic, which Swift does not import.

/// Whether objects, packs, refs and reflogs are synced to the disk when written.
static inline int libgit2_set_fsync(const struct libgit2 *_Nonnull api, int enabled) {
  return api->git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, enabled);
}

/// The names below "extensions." with which a repository is accepted.
static inline int libgit2_set_extensions(
    const struct libgit2 *_Nonnull api, const char *_Nullable *_Nonnull names, size_t count) {
  return api->git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, names, count);
}

/// The folders in which configuration files of `level` are searched.
static inline int libgit2_set_search_path(
    const struct libgit2 *_Nonnull api, int level, const char *_Nonnull path) {
  return api->git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, path);
}

/// Whether a repository of another user is refused.
static inline int libgit2_set_owner_validation(const struct libgit2 *_Nonnull api, int enabled) {
  return api->git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, enabled);
}

/// Whether the objects named by a new tree or index entry must exist.
static inline int libgit2_set_strict_object_creation(
    const struct libgit2 *_Nonnull api, int enabled) {
  return api->git_libgit2_opts(GIT_OPT_ENABLE_STRICT_OBJECT_CREATION, enabled);
}

// A program built with the headers of one version may call the library of another. It relies on these
// layouts and numbers, which are equal in libgit2 1.5 to 1.9; a version whose header has others must not
// be in the list in versions.h.

_Static_assert(sizeof(git_oid) == 20 && offsetof(git_oid, id) == 0, "git_oid");
_Static_assert(offsetof(git_error, message) == 0, "git_error");
_Static_assert(
    offsetof(git_index_entry, ctime) == 0 && offsetof(git_index_entry, mtime) == 8 &&
        sizeof(git_index_time) == 8 && offsetof(git_index_entry, dev) == 16 &&
        offsetof(git_index_entry, mode) == 24 && offsetof(git_index_entry, file_size) == 36 &&
        offsetof(git_index_entry, id) == 40 && offsetof(git_index_entry, flags) == 60 &&
        offsetof(git_index_entry, path) == 64,
    "git_index_entry");
_Static_assert(
    GIT_OPT_SET_SEARCH_PATH == 5 && GIT_OPT_ENABLE_STRICT_OBJECT_CREATION == 14 &&
        GIT_OPT_ENABLE_FSYNC_GITDIR == 19 && GIT_OPT_SET_OWNER_VALIDATION == 36,
    "git_libgit2_opt_t");
_Static_assert(
    GIT_CONFIG_LEVEL_PROGRAMDATA == 1 && GIT_CONFIG_LEVEL_SYSTEM == 2 &&
        GIT_CONFIG_LEVEL_XDG == 3 && GIT_CONFIG_LEVEL_GLOBAL == 4,
    "git_config_level_t");
_Static_assert(
    GIT_ENOTFOUND == -3 && GIT_EAMBIGUOUS == -5,
    "git_error_code");
_Static_assert(
    GIT_OBJECT_INVALID == -1 && GIT_OBJECT_COMMIT == 1 && GIT_OBJECT_TREE == 2 &&
        GIT_OBJECT_BLOB == 3 && GIT_OBJECT_TAG == 4,
    "git_object_t");
_Static_assert(
    GIT_REPOSITORY_OPEN_NO_SEARCH == 1,
    "flags");
