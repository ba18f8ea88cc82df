# What `cmake --install` copies: the library, its headers, a CMake package and a pkg-config file. The installed tree may
# be moved as a whole.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lifering)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS lifering EXPORT liferingTargets FILE_SET HEADERS)
install(EXPORT liferingTargets NAMESPACE lifering:: DESTINATION ${package_dir})

configure_package_config_file(cmake/liferingConfig.cmake.in liferingConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(liferingConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/liferingConfig.cmake
  ${PROJECT_BINARY_DIR}/liferingConfigVersion.cmake
  cmake/FindAsio.cmake
  cmake/Findmd.cmake
  cmake/Findsodium.cmake
  DESTINATION ${package_dir})

# The pkg-config file finds its prefix from its own place. The folders in it are relative to that, unless the builder
# gave absolute ones, which cmake_path(APPEND) then leaves as they are. A static library passes on what it uses inside.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
  BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE LIFERING_PC_PREFIX)
cmake_path(APPEND LIFERING_PC_LIBDIR "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
cmake_path(APPEND LIFERING_PC_INCLUDEDIR "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
if(BUILD_SHARED_LIBS)
  set(LIFERING_PC_CFLAGS " -DLIFERING_SHARED")
else()
  set(LIFERING_PC_REQUIRES "libsodium protobuf-lite spdlog")
  if(LIFERING_COMPAT)
    string(APPEND LIFERING_PC_REQUIRES " libmd")
  endif()
endif()
if(LIFERING_COMPAT)
  string(APPEND LIFERING_PC_CFLAGS " -DLIFERING_COMPAT")
endif()
configure_file(cmake/lifering.pc.in lifering.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lifering.pc DESTINATION ${pkgconfig_dir})
