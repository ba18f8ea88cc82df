# What `cmake --install` copies: the library, its headers, a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lifering)

install(TARGETS lifering EXPORT liferingTargets FILE_SET HEADERS)
install(EXPORT liferingTargets NAMESPACE lifering:: DESTINATION ${package_dir})

configure_package_config_file(cmake/liferingConfig.cmake.in liferingConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(liferingConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/liferingConfig.cmake
  ${PROJECT_BINARY_DIR}/liferingConfigVersion.cmake
  cmake/FindAsio.cmake
  DESTINATION ${package_dir})
