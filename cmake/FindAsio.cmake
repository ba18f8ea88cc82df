# Finds standalone Asio, which comes as headers alone and without a CMake package.
#
# Defines the target Asio::asio, with ASIO_STANDALONE on it, and with ASIO_DISABLE_STD_ALIGNED_ALLOC: otherwise Asio
# 1.22 allocates in one way or the other by whether a header of the standard library came before it, and memory of one
# source file would be freed wrongly by another. Set Asio_ROOT to look elsewhere first. Asio's version is
# part of the binary interface of a lifering that shares an io_context with its program: both must see the same one.

find_path(Asio_INCLUDE_DIR asio.hpp)
mark_as_advanced(Asio_INCLUDE_DIR)

if(Asio_INCLUDE_DIR)
  # asio/version.hpp: "#define ASIO_VERSION 102201 // 1.22.1"
  file(STRINGS ${Asio_INCLUDE_DIR}/asio/version.hpp Asio_VERSION REGEX "#define ASIO_VERSION ")
  string(REGEX REPLACE ".*// *" "" Asio_VERSION "${Asio_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Asio REQUIRED_VARS Asio_INCLUDE_DIR VERSION_VAR Asio_VERSION)

if(Asio_FOUND AND NOT TARGET Asio::asio)
  find_package(Threads REQUIRED)
  add_library(Asio::asio INTERFACE IMPORTED)
  set_target_properties(Asio::asio PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${Asio_INCLUDE_DIR}
    INTERFACE_COMPILE_DEFINITIONS "ASIO_STANDALONE;ASIO_DISABLE_STD_ALIGNED_ALLOC"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
