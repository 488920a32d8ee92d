# SPDX-License-Identifier: MIT
#
# Installs libelog, as install_library.cmake installs libeventlog.
include(CMakePackageConfigHelpers)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/elog)
configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/elogConfig.cmake.in
    ${PROJECT_BINARY_DIR}/elogConfig.cmake
    INSTALL_DESTINATION ${package_directory}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR
    NO_SET_AND_CHECK_MACRO
    NO_CHECK_REQUIRED_COMPONENTS_MACRO
)
write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/elogConfigVersion.cmake
    COMPATIBILITY SameMinorVersion
)

cmake_path(APPEND pkg_config_includedir "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
cmake_path(APPEND pkg_config_libdir "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
configure_file(${PROJECT_SOURCE_DIR}/cmake/elog.pc.in ${PROJECT_BINARY_DIR}/elog.pc @ONLY)

install(
    TARGETS elog_library elog_library_static
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
)
install(
    DIRECTORY ${PROJECT_SOURCE_DIR}/elog/include/elog
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
)
install(
    FILES
        ${PROJECT_BINARY_DIR}/elogConfig.cmake
        ${PROJECT_BINARY_DIR}/elogConfigVersion.cmake
    DESTINATION ${package_directory}
)
install(
    FILES ${PROJECT_BINARY_DIR}/elog.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
)
