/* Codes that cameras read, as libqrencode makes them: the functions that QRCodes calls, loaded at the first code. */
#pragma once
#include <dlfcn.h>
#include <qrencode.h>

/// The functions of libqrencode that are used.
struct __attribute__((swift_attr("@Sendable"))) libqrencode {
  __typeof__(QRcode_encodeString8bit) *_Nonnull encode;
  __typeof__(QRcode_free) *_Nonnull release;
};

/// Fills `api` from the shared library; returns NULL, or what is missing.
static inline const char *_Nullable libqrencode_load(struct libqrencode *_Nonnull api) {
  void *library = dlopen("libqrencode.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) return dlerror();
  if (!(*(void **)&api->encode = dlsym(library, "QRcode_encodeString8bit"))) return dlerror();
  if (!(*(void **)&api->release = dlsym(library, "QRcode_free"))) return dlerror();
  return 0;
}
