# SPDX-License-Identifier: MIT
#
# Reads and checks lists of sources, which both the CMake build and the Meson build (meson.build)
# use. A line of a list is empty, a comment that begins with #, or a path relative to the list.

# Sets the variable to the absolute paths of the files in the list. If the list changes, CMake runs
# again.
function(eventlog_read_list variable list)
    cmake_path(ABSOLUTE_PATH list NORMALIZE)
    cmake_path(GET list PARENT_PATH folder)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
    file(READ ${list} text)
    # CMake joins or splits the elements of a list at these characters. Valid paths do not contain
    # them.
    string(REGEX REPLACE "[][;\\\\]" "?" text "${text}")
    string(REPLACE "\n" ";" lines "${text}")
    set(number 0)
    set(files)
    foreach(line IN LISTS lines)
        math(EXPR number "${number} + 1")
        if(line MATCHES "^(#.*)?$")
            continue()
        endif()
        if(NOT line MATCHES "^[A-Za-z0-9_.+-]+(/[A-Za-z0-9_.+-]+)*$")
            message(
                FATAL_ERROR
                "${list}:${number}: \"${line}\" is not a path. Write one path on a line, without "
                "blanks, or a comment that begins with #."
            )
        endif()
        set(file ${folder}/${line})
        if(NOT EXISTS ${file} OR IS_DIRECTORY ${file})
            message(
                FATAL_ERROR
                "${list}:${number}: there is no file ${file}. Correct the path or remove the line."
            )
        endif()
        if(file IN_LIST files)
            message(FATAL_ERROR "${list}:${number}: ${line} is listed twice. Remove the line.")
        endif()
        list(APPEND files ${file})
    endforeach()
    set(${variable} ${files} PARENT_SCOPE)
endfunction()

# eventlog_check_lists(FOLDER FILE...): fails if a source or manual page below the folder is not
# among the files. If a file appears or disappears, CMake runs again.
function(eventlog_check_lists folder)
    cmake_path(ABSOLUTE_PATH folder NORMALIZE)
    string(REGEX REPLACE "/$" "" folder ${folder})
    file(
        GLOB_RECURSE unlisted
        CONFIGURE_DEPENDS
        ${folder}/*.c
        ${folder}/*.cpp
        ${folder}/*.[1-9]
    )
    # Temporary files of editors.
    list(FILTER unlisted EXCLUDE REGEX "/[.][^/]*$")
    list(REMOVE_ITEM unlisted ${ARGN})
    if(unlisted)
        list(JOIN unlisted "\n  " names)
        message(
            FATAL_ERROR
            "No list of sources names these files:\n  ${names}\n"
            "Add each to a list (*.txt) in ${folder}, or remove it."
        )
    endif()
endfunction()
