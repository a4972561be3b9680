/* libqrencode, which makes QR codes: the functions that QRCodes calls, loaded on first use. */
#pragma once
#include <dlfcn.h>
#include <qrencode.h>

/// The functions of libqrencode that notes calls.
struct __attribute__((swift_attr("@Sendable"))) libqrencode {
  __typeof__(QRcode_encodeString8bit) *_Nonnull encode;
  __typeof__(QRcode_free) *_Nonnull release;
};

/// Fills `api` from the shared library; returns NULL, or a message about what is missing.
static inline const char *_Nullable libqrencode_load(struct libqrencode *_Nonnull api) {
  void *library = dlopen("libqrencode.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) return dlerror();
  if (!(*(void **)&api->encode = dlsym(library, "QRcode_encodeString8bit"))) return dlerror();
  if (!(*(void **)&api->release = dlsym(library, "QRcode_free"))) return dlerror();
  return 0;
}
