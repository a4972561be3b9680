#pragma once
#include <dlfcn.h>
#include <zlib.h>

/// The functions of zlib that Git uses.
#define NOTES_ZLIB(F) \
  F(deflateInit_) \
  F(deflate) \
  F(deflateReset) \
  F(deflateEnd) \
  F(inflateInit_) \
  F(inflate) \
  F(inflateReset) \
  F(inflateEnd) \
  F(crc32)

/// The table of functions; it does not change once filled, so threads may share it.
struct __attribute__((swift_attr("@Sendable"))) notes_zlib {
#define F(name) __typeof__(name) *_Nonnull name;
  NOTES_ZLIB(F)
#undef F
};

/// Fills `api` from the shared library; returns NULL, or a message about what is missing.
static inline const char *_Nullable notes_zlib_load(struct notes_zlib *_Nonnull api) {
  void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return dlerror();
#define F(name) \
  if (!(*(void **)&api->name = dlsym(library, #name))) return dlerror();
  NOTES_ZLIB(F)
#undef F
  return 0;
}

/// The version of the shared library; NULL without it. Not in the table, as only `--version` needs it.
static inline const char *_Nullable notes_zlib_version(void) {
  void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
  __typeof__(zlibVersion) *version =
      library ? (__typeof__(zlibVersion) *)dlsym(library, "zlibVersion") : 0;
  return version ? version() : 0;
}
