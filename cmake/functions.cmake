# The three kinds of target that lifering is made of. Each folder's CMakeLists.txt says with them what it builds.

# What every floor is compiled with: the public headers and lib/ on the include path, and all that isn't marked hidden.
add_library(lifering_usage INTERFACE)
target_compile_features(lifering_usage INTERFACE cxx_std_20)
target_include_directories(lifering_usage INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/lib)
target_compile_definitions(lifering_usage INTERFACE $<$<BOOL:${BUILD_SHARED_LIBS}>:LIFERING_SHARED>)

# lifering_floor(<name> SOURCES <file>... [USES <floor>...] [LINKS <target>...])
#
# One folder of lib/ as the OBJECT library lifering_<name>. USES names the floors whose headers it includes; LINKS the
# libraries from outside. The floors are merged into the one library that users link, see lib/CMakeLists.txt.
function(lifering_floor name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES;LINKS")
  set(target lifering_${name})
  add_library(${target} OBJECT ${arg_SOURCES})
  list(TRANSFORM arg_USES PREPEND lifering_)
  target_link_libraries(${target} PUBLIC lifering_usage ${arg_USES} ${arg_LINKS} PRIVATE lifering_development)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  # Generated sources aren't ours to tidy.
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${source} NORMALIZE is_generated)
    if(is_generated)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -w)
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY LIFERING_FLOORS ${target})
  set_property(GLOBAL APPEND PROPERTY LIFERING_FLOOR_LINKS ${arg_LINKS})
endfunction()

# lifering_program(<name> SOURCES <file>... [LINKS <target>...])
#
# A program on the public interface alone, in <build>/bin.
function(lifering_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE lifering::lifering ${arg_LINKS} lifering_development)
  set_target_properties(${name} PROPERTIES
    CXX_EXTENSIONS OFF
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

# lifering_test(<name> SOURCES <file>... [FLOORS <floor>...] [LINKS <target>...] [LABELS <label>...])
#
# The Catch2 program <name>_test and its ctest entry. OBJECT libraries don't pass their objects on, so FLOORS names each
# floor that the test needs, also those that it needs through another; a test of the whole library says
# LINKS lifering::lifering instead. The label is `unit` unless said otherwise.
function(lifering_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;FLOORS;LINKS;LABELS")
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  set(target ${name}_test)
  list(TRANSFORM arg_FLOORS PREPEND lifering_)
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE
    ${arg_FLOORS} ${arg_LINKS} lifering_test_support lifering_development)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  lifering_add_test(${name} COMMAND ${target} LABELS ${arg_LABELS})
endfunction()

# lifering_add_test(<name> COMMAND <word>... [LABELS <label>...] [TIMEOUT <s>] [PROPERTIES <name> <value>...])
#
# A ctest entry, which may take 300 s unless said otherwise. In a tree with sanitizers its name and its labels say so, since one ctest run may cover several trees.
function(lifering_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "COMMAND;LABELS;PROPERTIES")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(LIFERING_SANITIZE MATCHES "^(address|thread)")
    string(SUBSTRING ${LIFERING_SANITIZE} 0 1 letter)
    string(PREPEND name "${letter}san.")
    list(APPEND arg_LABELS "${letter}san")
  endif()
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} ${arg_PROPERTIES})
endfunction()
