# SPDX-License-Identifier: MIT
#
# The tests of structs again, with Boost.PFR as reflection (EVENTLOG_REFLECTION_PFR). They run in the
# full tier of the release preset.
if(NOT EVENTLOG_QUICK_TIER STREQUAL "optimized")
    return()
endif()

file(
    GLOB reflected
    CONFIGURE_DEPENDS
    unit/sdk/api/*_test.cpp
    unit/sdk/schema/*_test.cpp
    unit/sdk/collect/captured_events_test.cpp
)
# These compare the two.
list(FILTER reflected EXCLUDE REGEX "members_test")
add_executable(reflection_tests ${reflected})
target_compile_definitions(reflection_tests PRIVATE EVENTLOG_REFLECTION_PFR)
target_link_libraries(
    reflection_tests
    PRIVATE test_support elog::elog_static GTest::gmock GTest::gtest_main
)
eventlog_discover_suites(reflection_tests reflection TIMEOUT 600 LABELS full)

# A case that has another message with Boost.PFR states it by `expect-pfr`.
set(with_pfr -DEVENTLOG_REFLECTION_PFR "${case_includes}")
eventlog_precompile_cases(compile_fail_headers_pfr -DEVENTLOG_REFLECTION_PFR)
foreach(case IN LISTS cases)
    cmake_path(GET case STEM name)
    add_test(
        NAME reflection.compile_fail.${name}
        COMMAND
            /usr/bin/env python3 -B -S ${CMAKE_CURRENT_SOURCE_DIR}/compile_fail/run.py ${case} --
            ${CMAKE_CXX_COMPILER} -include ${CMAKE_CURRENT_BINARY_DIR}/compile_fail_headers_pfr.hpp
            "${with_pfr}" -I${PROJECT_SOURCE_DIR}/elog/include
        COMMAND_EXPAND_LISTS
    )
    set_tests_properties(reflection.compile_fail.${name} PROPERTIES LABELS full)
endforeach()

eventlog_add_codegen_tests(reflection.codegen full "${with_pfr}")
