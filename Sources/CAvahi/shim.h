// The Avahi client library as a table of functions, filled on first use: a command that does not use the
// network does not load it, and on a machine without the library the program still starts.
#pragma once
#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-client/publish.h>
#include <avahi-common/address.h>
#include <avahi-common/alternative.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/simple-watch.h>
#include <avahi-common/strlst.h>
#include <dlfcn.h>

#define NOTES_LIBAVAHI_CLIENT(F)                                                                   \
  F(avahi_client_new)                                                                              \
  F(avahi_client_free)                                                                             \
  F(avahi_client_errno)                                                                            \
  F(avahi_client_get_version_string)                                                               \
  F(avahi_entry_group_new)                                                                         \
  F(avahi_entry_group_free)                                                                        \
  F(avahi_entry_group_add_service_strlst)                                                          \
  F(avahi_entry_group_commit)                                                                      \
  F(avahi_service_browser_new)                                                                     \
  F(avahi_service_resolver_new)                                                                    \
  F(avahi_service_resolver_free)

#define NOTES_LIBAVAHI_COMMON(F)                                                                   \
  F(avahi_address_snprint)                                                                         \
  F(avahi_alternative_service_name)                                                                \
  F(avahi_free)                                                                                    \
  F(avahi_simple_poll_new)                                                                         \
  F(avahi_simple_poll_free)                                                                        \
  F(avahi_simple_poll_get)                                                                         \
  F(avahi_simple_poll_iterate)                                                                     \
  F(avahi_simple_poll_set_func)                                                                    \
  F(avahi_simple_poll_wakeup)                                                                      \
  F(avahi_strerror)                                                                                \
  F(avahi_string_list_add_arbitrary)                                                               \
  F(avahi_string_list_free)                                                                        \
  F(avahi_string_list_get_next)                                                                    \
  F(avahi_string_list_get_size)                                                                    \
  F(avahi_string_list_get_text)

/// The functions of libavahi-client and libavahi-common that notes calls.
struct libavahi {
#define F(name) __typeof__(name) *_Nonnull name;
  NOTES_LIBAVAHI_CLIENT(F)
  NOTES_LIBAVAHI_COMMON(F)
#undef F
};

/// Fills `api` from the two shared libraries; returns NULL, or a message about what is missing.
static inline const char *_Nullable libavahi_load(
    struct libavahi *_Nonnull api, const char *_Nonnull client, const char *_Nonnull common) {
  void *library = dlopen(common, RTLD_NOW | RTLD_LOCAL);
  if (!library) return dlerror();
#define F(name)                                                                                    \
  if (!(*(void **)&api->name = dlsym(library, #name))) return dlerror();
  NOTES_LIBAVAHI_COMMON(F)
  library = dlopen(client, RTLD_NOW | RTLD_LOCAL);
  if (!library) return dlerror();
  NOTES_LIBAVAHI_CLIENT(F)
#undef F
  return 0;
}
