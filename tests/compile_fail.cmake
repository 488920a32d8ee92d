# SPDX-License-Identifier: MIT
#
# Code that must not compile, and the compiler's message.
set(case_includes "-I$<JOIN:$<TARGET_PROPERTY:eventlog,INTERFACE_INCLUDE_DIRECTORIES>,;-I>")
# eventlog_precompile_cases(NAME FLAG...): precompiles the headers of the cases with these flags, for
# `-include NAME.hpp`. Both compilers find the precompiled headers by the name before the last dot.
function(eventlog_precompile_cases name)
    set(headers ${CMAKE_CURRENT_BINARY_DIR}/${name}.hpp)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        set(precompiled ${headers}.pch)
        # A compiler cache may return the result for an equal file with another time.
        set(without_times -Xclang -fno-pch-timestamp)
    else()
        set(precompiled ${headers}.gch)
    endif()
    add_custom_command(
        OUTPUT ${precompiled}
        COMMAND
            ${CMAKE_CXX_COMPILER} -std=c++20 ${without_times} ${ARGN} "${case_includes}" -MD -MF
            ${headers}.d -MT ${precompiled} -x c++-header
            ${CMAKE_CURRENT_SOURCE_DIR}/precompiled/compile_fail_headers.hpp -o ${precompiled}
        DEPENDS precompiled/compile_fail_headers.hpp
        DEPFILE ${headers}.d
        COMMAND_EXPAND_LISTS
    )
    add_custom_target(${name} ALL DEPENDS ${precompiled})
endfunction()
eventlog_precompile_cases(compile_fail_headers)
set(case_headers ${CMAKE_CURRENT_BINARY_DIR}/compile_fail_headers.hpp)
file(GLOB_RECURSE cases CONFIGURE_DEPENDS compile_fail/*.cpp)
foreach(case IN LISTS cases)
    cmake_path(GET case STEM name)
    add_test(
        NAME compile_fail.${name}
        COMMAND
            /usr/bin/env python3 -B -S ${CMAKE_CURRENT_SOURCE_DIR}/compile_fail/run.py ${case} --
            ${CMAKE_CXX_COMPILER} -include ${case_headers} "${case_includes}"
            -I${PROJECT_SOURCE_DIR}/elog/include
        COMMAND_EXPAND_LISTS
    )
    set_tests_properties(compile_fail.${name} PROPERTIES LABELS compiler)
endforeach()
# Each static_assert message of the headers is expected by one of the cases.
add_test(
    NAME compile_fail.sentences
    COMMAND
        /usr/bin/env python3 -B ${CMAKE_CURRENT_SOURCE_DIR}/compile_fail/sentences.py
        ${PROJECT_SOURCE_DIR}/sdk/include ${PROJECT_SOURCE_DIR}/elog/include
)
set_tests_properties(compile_fail.sentences PROPERTIES LABELS once)
