// Which libraries notes loads while it runs, for packagers: the note of the ELF file that
// https://uapi-group.org/specifications/specs/elf_dlopen_metadata/ describes. scripts/release links it,
// scripts/package and dh_dlopenlibdeps(1) read it.
#include "../Sources/CLibgit2/versions.h"
#include <openssl/opensslv.h>

#define TEXT(x) #x
#define NUMBER(x) TEXT(x)
#define ANOTHER(version) "\",\"libgit2.so." version
// Any of the versions will do; the first stands there twice.
#define LIBGIT2 "libgit2.so." LIBGIT2_SOVERSION NOTES_LIBGIT2_VERSIONS(ANOTHER)
#define LIBRARY(soname, feature, description, priority)                                 \
  "{\"soname\":[\"" soname "\"],\"feature\":\"" feature "\",\"description\":\"" description \
  "\",\"priority\":\"" priority "\"}"
#define LIBRARIES                                                                           \
  "[" LIBRARY(LIBGIT2, "history", "Versions of notes", "required") "," \
  LIBRARY("libcrypto.so." NUMBER(OPENSSL_SHLIB_VERSION), "keys", "Keys and certificates",   \
          "required") ","                                                                   \
  LIBRARY("libssl.so." NUMBER(OPENSSL_SHLIB_VERSION), "tls", "Connections between devices", \
          "required") ","                                                                   \
  LIBRARY("libz.so.1", "compression", "Objects and packs", "required") ","                  \
  LIBRARY("libavahi-common.so.3", "discovery", "Devices nearby", "recommended") ","         \
  LIBRARY("libavahi-client.so.3", "discovery", "Devices nearby", "recommended") "," \
  LIBRARY("libqrencode.so.4", "codes", "Codes that cameras read", "recommended") "]"

__attribute__((section(".note.dlopen"), used, aligned(4))) static const struct {
  unsigned name_size, text_size, type;
  char name[4];
  char text[(sizeof LIBRARIES + 3) & ~3ul];
} note = {4, sizeof LIBRARIES, 0x407c0c0a, "FDO", LIBRARIES};
