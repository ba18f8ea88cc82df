# Rejects an #include that runs against the plan of the house (lib/README.md has the picture).
#
#   cmake -D ROOT=<source tree> -P check_includes.cmake
#
# Each rule names a folder or file and the kinds of header that may be included there; the first rule whose path is a
# prefix of the file's path decides. The kinds:
#   std       the C++ standard library, but for what `impure` names
#   impure    its clocks, threads, random numbers and floating-point functions, which a pure floor must not see
#   system    the C library, POSIX, Linux and the compiler's intrinsics
#   value     the public headers that need nothing but the standard library
#   public    all public headers
#   base ring swim wire net cluster    the headers of that floor of lib/
#   asio protobuf spdlog sodium md xxhash    the libraries from outside
#   support sim catch benchmark        what only tests may see
#   local     the file's own folder, where that isn't a floor
cmake_minimum_required(VERSION 3.25)

set(rules
  "include/lifering/cluster.hpp  : std impure value asio"
  "include/lifering/lifering.hpp : std public"
  "include/lifering/ring.hpp     : std impure value"
  "include                       : std value"
  "lib/base                      : std impure system value base spdlog"
  "lib/ring/compat/md5.cpp       : std system ring md"
  "lib/ring/compat/xxhash.cpp    : ring xxhash"
  "lib/ring                      : std impure system value base ring"
  "lib/swim                      : std value base swim"
  "lib/wire                      : std value base swim wire protobuf sodium"
  "lib/net                       : std impure system value base swim wire net asio"
  "lib/cluster                   : std impure system public base ring swim wire net cluster asio"
  "examples                      : std impure system public asio local"
  "tests/package                 : std impure public asio"
  "tests/support                 : std impure system local support catch"
  "tests/base                    : std impure system value base local support catch"
  "tests/ring                    : std impure system value base ring local support catch"
  "tests/stress                  : std impure system value base ring local support catch"
  "tests/model                   : std impure system value base ring local support catch"
  "tests/swim                    : std impure system value base swim local support catch"
  "tests/wire                    : std impure system value base swim wire local support catch protobuf sodium"
  "tests/net                     : std impure system value base swim wire net local support catch asio"
  "tests/sim                     : std impure system value base ring swim wire sim local support catch"
  "tests/fuzz                    : std impure system value base ring swim wire net sim local support catch"
  "tests/cluster                 : std impure system public base ring swim wire net cluster local support catch asio"
  "tests/hosts                   : std impure system public base swim wire cluster local support catch"
  "tests/bench/bench_cluster.cpp : std impure system public asio"
  "tests/bench/bench_blocking.cpp : std impure system public base ring swim wire net asio"
  "tests/bench                   : std impure system public base ring swim wire sim local support benchmark")

set(value_headers compat config endpoint error event hash keyring member options placement ring transport weight)
set(impure_headers
  atomic barrier cmath condition_variable ctime future latch mutex random semaphore shared_mutex stop_token thread)

# kind_of(<include as written, with its brackets or quotes> <folder of the file that has it> <out>)
function(kind_of include own_folder out)
  string(REGEX REPLACE "^[<\"](.*)[>\"]$" "\\1" path "${include}")
  cmake_path(GET path PARENT_PATH folder)
  cmake_path(GET path STEM name)
  if(path MATCHES "\\.\\.")
    set(kind "relative")
  elseif(path MATCHES "\\.pb\\.h$" OR path MATCHES "^google/protobuf/")
    set(kind "protobuf")
  elseif(path MATCHES "^lifering/")
    set(kind "public")
    if(name IN_LIST value_headers)
      set(kind "value")
    endif()
  elseif(path MATCHES "^(asio|spdlog|sodium|benchmark)[./]")
    set(kind ${CMAKE_MATCH_1})
  elseif(path MATCHES "^(md|xxhash)[0-9]*\\.h$")
    set(kind ${CMAKE_MATCH_1})
  elseif(path MATCHES "^catch2/" OR path STREQUAL "support/catch.hpp")
    set(kind "catch")
  elseif(include MATCHES "^\"(base|ring|swim|wire|net|cluster|support|sim)/")
    set(kind ${CMAKE_MATCH_1})
  elseif(include MATCHES "^\"" AND folder MATCHES "^(${own_folder})?$")
    set(kind "local")
  elseif(include MATCHES "^\"")
    set(kind "foreign")
  elseif(path IN_LIST impure_headers)
    set(kind "impure")
  elseif(path MATCHES "^[a-z_]+$")
    set(kind "std")
  else()
    set(kind "system")
  endif()
  set(${out} ${kind} PARENT_SCOPE)
endfunction()

# kinds_allowed_in(<file> <out>): empty when no rule is about the file
function(kinds_allowed_in file out)
  set(${out} "" PARENT_SCOPE)
  foreach(rule IN LISTS rules)
    string(REGEX MATCH "^([^ ]+) *: (.*)$" _ "${rule}")
    set(prefix ${CMAKE_MATCH_1})
    string(REPLACE " " ";" kinds "${CMAKE_MATCH_2}")
    cmake_path(IS_PREFIX prefix ${file} is_about)
    if(is_about)
      if("public" IN_LIST kinds)
        list(APPEND kinds value)
      endif()
      set(${out} ${kinds} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE ${ROOT}
  ${ROOT}/include/*.hpp ${ROOT}/lib/*.[hc]pp ${ROOT}/examples/*.[hc]pp ${ROOT}/tests/*.[hc]pp)
list(SORT files)
list(LENGTH files file_count)
if(file_count EQUAL 0)
  message(FATAL_ERROR "No source found under ${ROOT}")
endif()

set(complaints "")
foreach(file IN LISTS files)
  kinds_allowed_in(${file} allowed)
  if(NOT allowed)
    string(APPEND complaints "  ${file}: no rule says what this file may include\n")
    continue()
  endif()
  cmake_path(GET file PARENT_PATH own_folder)
  cmake_path(GET own_folder FILENAME own_folder)
  file(STRINGS ${ROOT}/${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "[<\"][^>\"]*[>\"]" include "${line}")
    kind_of("${include}" ${own_folder} kind)
    if(NOT kind IN_LIST allowed)
      string(APPEND complaints "  ${file}: must not include ${include} (${kind})\n")
    endif()
  endforeach()
endforeach()

if(complaints)
  message(FATAL_ERROR "Includes against the plan of the house:\n${complaints}")
endif()
message(STATUS "${file_count} files include only what they may")
