#pragma once
#include <git2.h>

/// The supported versions of libgit2's interface, beginning with the one of the build. The parts that notes
/// uses are equal in all of them: shim.h asserts this for the headers, and Tests/GitTests tests each library
/// that it finds.
#define NOTES_LIBGIT2_VERSIONS(F) F(LIBGIT2_SOVERSION) F("1.9") F("1.8") F("1.7") F("1.6") F("1.5")
