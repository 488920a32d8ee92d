# SPDX-License-Identifier: MIT
#
# Registers each test suite of a program that uses GoogleTest as one CTest entry, after the program was
# built. One process runs all cases of a suite, and GoogleTest's report has the outcome of each case;
# scripts/testing/junit.py counts them. A crash leaves no report.
#
# usage: cmake -D PROGRAM=... -D PREFIX=... -D REPORTS=FOLDER -D PROPERTIES=... -D OUTPUT=FILE
#            -P discover_suites.cmake
execute_process(
    COMMAND ${PROGRAM} --gtest_list_tests
    OUTPUT_VARIABLE list
    TIMEOUT 180
    COMMAND_ERROR_IS_FATAL ANY
)
# A suite is a line that ends in a dot; its cases are indented.
string(REGEX MATCHALL "(^|\n)[^ \n]+[.]" suites "${list}")
if(NOT suites)
    message(FATAL_ERROR "${PROGRAM} has no tests")
endif()
list(JOIN PROPERTIES " " properties)
set(script "file(MAKE_DIRECTORY [==[${REPORTS}]==])\n")
foreach(suite IN LISTS suites)
    string(REGEX REPLACE "^\n|[.]$" "" suite "${suite}")
    string(REPLACE "/" "." name ${suite})
    # A crash must not leave the report of an earlier run in place of its own.
    string(
        APPEND script
        "add_test([==[${PREFIX}${name}]==] /bin/sh -c [==[rm -f \"$1\" && exec \"$2\" "
        "\"--gtest_filter=$3.*\" \"--gtest_output=xml:$1\"]==] sh [==[${REPORTS}/${name}.xml]==] "
        "[==[${PROGRAM}]==] [==[${suite}]==])\n"
        "set_tests_properties([==[${PREFIX}${name}]==] PROPERTIES ${properties})\n"
    )
endforeach()
file(WRITE ${OUTPUT} "${script}")
