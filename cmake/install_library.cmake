# SPDX-License-Identifier: MIT
#
# Installs libeventlog, its headers and its package files. The Meson build uses the same templates,
# so that both builds install the same package; therefore there is no install(EXPORT).
include(CMakePackageConfigHelpers)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/eventlog)
configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/eventlogConfig.cmake.in
    ${PROJECT_BINARY_DIR}/eventlogConfig.cmake
    INSTALL_DESTINATION ${package_directory}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR
    NO_SET_AND_CHECK_MACRO
    NO_CHECK_REQUIRED_COMPONENTS_MACRO
)
write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/eventlogConfigVersion.cmake
    COMPATIBILITY SameMinorVersion
)

cmake_path(APPEND pkg_config_includedir "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
cmake_path(APPEND pkg_config_libdir "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
configure_file(
    ${PROJECT_SOURCE_DIR}/cmake/eventlog.pc.in ${PROJECT_BINARY_DIR}/eventlog.pc @ONLY
)

install(
    TARGETS eventlog eventlog_static
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
)
install(
    DIRECTORY ${PROJECT_SOURCE_DIR}/sdk/include/eventlog
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
)
install(
    FILES
        ${PROJECT_BINARY_DIR}/eventlogConfig.cmake
        ${PROJECT_BINARY_DIR}/eventlogConfigVersion.cmake
    DESTINATION ${package_directory}
)
install(
    FILES ${PROJECT_BINARY_DIR}/eventlog.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
)
