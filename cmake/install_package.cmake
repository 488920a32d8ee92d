# SPDX-License-Identifier: MIT
#
# Installs a library, its headers and its package files. The Meson build uses the same templates, so
# that both builds install the same package; therefore there is no install(EXPORT).
include(CMakePackageConfigHelpers)

# eventlog_install_package(NAME FOLDER TARGET...): the targets as the package NAME, with the headers
# in FOLDER. The templates may use variables of the caller.
function(eventlog_install_package name folder)
    set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/${name})
    configure_package_config_file(
        ${PROJECT_SOURCE_DIR}/cmake/${name}Config.cmake.in
        ${PROJECT_BINARY_DIR}/${name}Config.cmake
        INSTALL_DESTINATION ${package_directory}
        PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR
        NO_SET_AND_CHECK_MACRO
        NO_CHECK_REQUIRED_COMPONENTS_MACRO
    )
    write_basic_package_version_file(
        ${PROJECT_BINARY_DIR}/${name}ConfigVersion.cmake
        COMPATIBILITY SameMinorVersion
    )

    # Relative, so that the installed folder can be moved, as `cmake --install --prefix` does.
    set(pkg_config_prefix ${CMAKE_INSTALL_PREFIX})
    if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
        file(
            RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix
        )
        string(REGEX REPLACE "/$" "" up "${up}")
        set(pkg_config_prefix "\${pcfiledir}/${up}")
    endif()
    cmake_path(APPEND pkg_config_includedir "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
    cmake_path(APPEND pkg_config_libdir "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
    configure_file(
        ${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY
    )

    install(
        TARGETS ${ARGN}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    )
    install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    install(
        FILES
            ${PROJECT_BINARY_DIR}/${name}Config.cmake
            ${PROJECT_BINARY_DIR}/${name}ConfigVersion.cmake
        DESTINATION ${package_directory}
    )
    install(
        FILES ${PROJECT_BINARY_DIR}/${name}.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    )
endfunction()
