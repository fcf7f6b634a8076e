# cmake --install: the library with its headers, the programs, a package config and a pkg-config file, so that
# find_package(distlab) and `pkg-config distlab` both work from wherever the prefix is moved to.
include(CMakePackageConfigHelpers)

install(TARGETS dist EXPORT distlabTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT distlabTargets NAMESPACE distlab:: COMPONENT development
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/distlab)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/distlabConfig.cmake.in distlabConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/distlab)
write_basic_package_version_file(distlabConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/distlabConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/distlabConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/distlab COMPONENT development)

# pkg-config finds the prefix from where the file is.
file(RELATIVE_PATH DIST_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/distlab.pc.in distlab.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/distlab.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)
