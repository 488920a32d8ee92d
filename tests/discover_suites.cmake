# SPDX-License-Identifier: MIT
#
# Registers each test suite of a program that uses GoogleTest as one CTest entry, after the program was
# built. One process runs all cases of a suite, and GoogleTest's report has the outcome of each case;
# scripts/testing/junit.py counts them. A crash leaves no report; the runner removes old ones.
#
# usage: cmake -D PROGRAM=... -D PREFIX=... -D REPORTS=FOLDER -D PROPERTIES=... -D EXCLUDED=CASE:CASE...
#            -D OUTPUT=FILE -P discover_suites.cmake
execute_process(
    COMMAND ${PROGRAM} --gtest_list_tests --gtest_filter=-${EXCLUDED}
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
set(script "")
foreach(suite IN LISTS suites)
    string(REGEX REPLACE "^\n|[.]$" "" suite "${suite}")
    string(REPLACE "/" "." name ${suite})
    string(
        APPEND script
        "add_test([==[${PREFIX}${name}]==] [==[${PROGRAM}]==] [==[--gtest_filter=${suite}.*-${EXCLUDED}]==] "
        "[==[--gtest_output=xml:${REPORTS}/${name}.xml]==])\n"
        "set_tests_properties([==[${PREFIX}${name}]==] PROPERTIES ${properties})\n"
    )
    # In the full tier, four of the six cases of repair_trial took 557 s beside other work.
    if(suite MATCHES "_trial$")
        string(APPEND script "set_tests_properties([==[${PREFIX}${name}]==] PROPERTIES TIMEOUT 3600)\n")
    endif()
endforeach()
file(WRITE ${OUTPUT} "${script}")
