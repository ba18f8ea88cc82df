# Finds libmd, which has MD5 and comes without a CMake package.
#
# Defines the target md::md. Set md_ROOT to look elsewhere first.

find_path(md_INCLUDE_DIR md5.h)
find_library(md_LIBRARY md)
mark_as_advanced(md_INCLUDE_DIR md_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(md REQUIRED_VARS md_LIBRARY md_INCLUDE_DIR)

if(md_FOUND AND NOT TARGET md::md)
  add_library(md::md UNKNOWN IMPORTED)
  set_target_properties(md::md PROPERTIES
    IMPORTED_LOCATION ${md_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${md_INCLUDE_DIR})
endif()
