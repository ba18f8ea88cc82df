// The version of lifering, and the mark that exports a symbol from its shared library.
//
// The three numbers below are the only place where the version is written: the build reads them
// from here. Until 1.0, a new minor version may change the interface and the binary layout, and the
// soname follows it.
#pragma once

#define LIFERING_VERSION_MAJOR 0
#define LIFERING_VERSION_MINOR 1
#define LIFERING_VERSION_PATCH 0

// Everything in the library is hidden unless it is marked. The build defines LIFERING_SHARED for
// whoever compiles or uses the shared library; in the static one the mark is empty, so that a
// program's own shared objects which absorb lifering don't export it by accident.
#if defined(LIFERING_SHARED)
#define LIFERING_API __attribute__((visibility("default")))
#else
#define LIFERING_API
#endif
