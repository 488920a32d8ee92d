# SPDX-License-Identifier: MIT
#
# Precompiled headers for builds with clang.
#
# A precompiled header contains its own path and those of the files that it includes. So it includes
# headers of other projects only, and is stored in the user's cache folder: all clones of the
# project compile with the same file, and a compiler cache that knows the objects of one clone
# serves the remaining ones.
#
# Not for g++, whose precompiled headers differ from run to run.

# The flags that a precompiled header and its users must have in common.
function(eventlog_flags_of target flags)
    string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
    separate_arguments(all UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
    list(APPEND all -std=c++20)
    get_target_property(is_pic ${target} POSITION_INDEPENDENT_CODE)
    if(is_pic)
        list(APPEND all -fPIC)
    endif()
    get_target_property(visibility ${target} CXX_VISIBILITY_PRESET)
    if(visibility)
        list(APPEND all -fvisibility=${visibility})
    endif()
    get_target_property(hides_inlines ${target} VISIBILITY_INLINES_HIDDEN)
    if(hides_inlines)
        list(APPEND all -fvisibility-inlines-hidden)
    endif()
    get_target_property(options ${target} COMPILE_OPTIONS)
    string(REGEX REPLACE "\\$<\\$<CONFIG:${CMAKE_BUILD_TYPE}>:([^<>]*)>" "\\1" options "${options}")
    list(FILTER options EXCLUDE REGEX "\\$<")
    list(APPEND all ${options})
    foreach(library IN ITEMS fmt::fmt GTest::gtest)
        if(TARGET ${library})
            get_target_property(definitions ${library} INTERFACE_COMPILE_DEFINITIONS)
            if(definitions)
                list(TRANSFORM definitions PREPEND -D)
                list(APPEND all ${definitions})
            endif()
            get_target_property(library_options ${library} INTERFACE_COMPILE_OPTIONS)
            if(library_options)
                list(APPEND all ${library_options})
            endif()
        endif()
    endforeach()
    set(${flags} "${all}" PARENT_SCOPE)
endfunction()

# Precompiles folder/precompiled/headers.hpp for the target. Call it after all options of the target
# are set.
function(eventlog_precompile target folder)
    if(NOT PROJECT_IS_TOP_LEVEL OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        return()
    endif()
    set(headers ${PROJECT_SOURCE_DIR}/${folder}/precompiled/headers.hpp)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
    eventlog_flags_of(${target} flags)
    # The hash covers the preprocessed text, because a header of the system may change, too.
    execute_process(
        COMMAND ${CMAKE_CXX_COMPILER} ${flags} -E -P -x c++-header ${headers}
        OUTPUT_VARIABLE content
        RESULT_VARIABLE result
        ERROR_QUIET
    )
    if(NOT result EQUAL 0)
        message(STATUS "${target}: no precompiled headers, ${headers} does not compile by itself")
        return()
    endif()
    string(SHA256 hash "${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_VERSION} ${flags} ${content}")
    if(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
        set(cache $ENV{XDG_CACHE_HOME})
    elseif(DEFINED ENV{HOME})
        set(cache $ENV{HOME}/.cache)
    else()
        set(cache ${PROJECT_BINARY_DIR})
    endif()
    set(precompiled ${cache}/eventlog/pch/${hash}/headers.pch)
    if(NOT EXISTS ${precompiled})
        eventlog_make_precompiled(${headers} ${precompiled} "${flags}" result)
        if(NOT result EQUAL 0)
            message(STATUS "${target}: no precompiled headers, ${precompiled} cannot be made")
            return()
        endif()
    endif()
    target_compile_options(${target} PRIVATE "SHELL:-include-pch ${precompiled}")
endfunction()

# Other clones may do the same concurrently, so the file appears when it is complete.
function(eventlog_make_precompiled headers precompiled flags result)
    cmake_path(GET precompiled PARENT_PATH place)
    string(RANDOM name)
    execute_process(COMMAND ${CMAKE_COMMAND} -E make_directory ${place} ERROR_QUIET)
    execute_process(
        COMMAND ${CMAKE_COMMAND} -E copy_if_different ${headers} ${place}/headers.hpp ERROR_QUIET
    )
    # Without times, the same headers yield the same file, which compiler caches compare by content.
    execute_process(
        COMMAND
            ${CMAKE_CXX_COMPILER} ${flags} -Xclang -fno-pch-timestamp -x c++-header
            ${place}/headers.hpp -o ${place}/${name}
        WORKING_DIRECTORY ${place}
        RESULT_VARIABLE made
        ERROR_QUIET
    )
    if(made EQUAL 0)
        file(RENAME ${place}/${name} ${precompiled})
    endif()
    set(${result} "${made}" PARENT_SCOPE)
endfunction()
