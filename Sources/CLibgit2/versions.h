#pragma once
#include <git2.h>

/// The versions of libgit2's interface that notes works with, the one that it is built with first. What it
/// uses is alike in all of them: shim.h asserts it of the headers, and Tests/GitTests asks each library
/// that it finds.
#define NOTES_LIBGIT2_VERSIONS(F) F(LIBGIT2_SOVERSION) F("1.9") F("1.8") F("1.7") F("1.6") F("1.5")
