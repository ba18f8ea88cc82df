# What lifering's own developers build with, and nobody who uses it: warnings, sanitizers and the compiler cache. All of
# it sits on one interface target that no installed target links.

add_library(lifering_development INTERFACE)

if(LIFERING_SANITIZE)
  target_compile_options(lifering_development INTERFACE
    -fsanitize=${LIFERING_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(lifering_development INTERFACE -fsanitize=${LIFERING_SANITIZE})
  # ThreadSanitizer doesn't understand fences, and g++ warns of each. Asio has some beside its mutexes.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND LIFERING_SANITIZE MATCHES thread)
    target_compile_options(lifering_development INTERFACE -Wno-tsan)
  endif()
endif()

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

target_compile_options(lifering_development INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wcast-align -Wformat=2 -Wimplicit-fallthrough -Wundef
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op>
  $<$<BOOL:${LIFERING_WERROR}>:-Werror>)

# g++ 12 sees overlaps inside std::string that can't be (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(lifering_development INTERFACE -Wno-restrict)
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

# Paths below the source tree are cached as relative ones, so that a clone in another folder finds what is there.
find_program(LIFERING_CCACHE ccache)
mark_as_advanced(LIFERING_CCACHE)
if(LIFERING_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${LIFERING_CCACHE})
endif()

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
