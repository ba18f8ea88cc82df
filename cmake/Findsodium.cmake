# Finds libsodium, which comes without a CMake package on most systems.
#
# Defines the target sodium::sodium. Set sodium_ROOT to look elsewhere first.

find_path(sodium_INCLUDE_DIR sodium.h)
find_library(sodium_LIBRARY sodium)
mark_as_advanced(sodium_INCLUDE_DIR sodium_LIBRARY)

if(sodium_INCLUDE_DIR)
  # sodium/version.h: #define SODIUM_VERSION_STRING "1.0.18"
  file(STRINGS ${sodium_INCLUDE_DIR}/sodium/version.h sodium_VERSION REGEX "#define SODIUM_VERSION_STRING ")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" sodium_VERSION "${sodium_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(sodium
  REQUIRED_VARS sodium_LIBRARY sodium_INCLUDE_DIR VERSION_VAR sodium_VERSION)

if(sodium_FOUND AND NOT TARGET sodium::sodium)
  add_library(sodium::sodium UNKNOWN IMPORTED)
  set_target_properties(sodium::sodium PROPERTIES
    IMPORTED_LOCATION ${sodium_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${sodium_INCLUDE_DIR})
endif()
