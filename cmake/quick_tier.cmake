# SPDX-License-Identifier: MIT
#
# The quick tier of ./dev test runs each test once, in the build that finds most defects with it. A
# preset names its part in EVENTLOG_QUICK_TIER: address, thread or optimized. Tests of that part get
# the label quick; tests with the label full run in the full tier only. tests/README.md has the
# table.

# Tests of machine code, packages and kernels, and tests that run no code of this build.
set(
    eventlog_optimized_tests
    "^(aarch64|bench|codegen|compile_fail|interleaving|model|packaging|runner|unsanitized|vm)\\."
)
# Tests that compile programs of their own or run one in a debugger, on which sanitizers have no
# effect, and those that sanitizers cannot run.
string(
    APPEND
    eventlog_optimized_tests
    "|^integration\\.test_(generated|generated_kernel|declared_lines|usdt)$"
    "|^integration\\.test_(emit_costs|forks_beside_threads|host_limits|small_stack|system_calls)$"
)
# Scripts that skip a test in each build with a sanitizer. They run in the optimized build, too, so
# that the quick tier leaves out no test.
set(eventlog_also_optimized_tests "^integration\\.test_(as_other_user|sandboxed)$")

# eventlog_is_quick(NAME LABELS RESULT): whether the test is in this build's part of the quick tier.
function(eventlog_is_quick name labels result)
    set(part address)
    if(name MATCHES "${eventlog_optimized_tests}")
        set(part optimized)
    endif()
    set(is_quick OFF)
    if(NOT "full" IN_LIST labels)
        if(EVENTLOG_QUICK_TIER STREQUAL part)
            set(is_quick ON)
        elseif(
            EVENTLOG_QUICK_TIER STREQUAL "optimized"
            AND name MATCHES "${eventlog_also_optimized_tests}"
        )
            set(is_quick ON)
        elseif(
            EVENTLOG_QUICK_TIER STREQUAL "thread"
            AND name MATCHES "^(unit|integration)\\."
            AND part STREQUAL "address"
            AND NOT "command" IN_LIST labels
        )
            set(is_quick ON)
        endif()
    endif()
    set(${result} ${is_quick} PARENT_SCOPE)
endfunction()

# eventlog_quick_label(NAME RESULT): the label as a property, for commands that add tests later.
function(eventlog_quick_label name result)
    eventlog_is_quick(${name} "" is_quick)
    set(label "")
    if(is_quick)
        set(label LABELS quick)
    endif()
    set(${result} "${label}" PARENT_SCOPE)
endfunction()

# Labels the tests of the current folder's CMakeLists.txt. Call it at the end of that file, because
# CMake sets properties of tests only in the folder that added them.
function(eventlog_label_quick_tests)
    get_property(tests DIRECTORY PROPERTY TESTS)
    foreach(test IN LISTS tests)
        get_property(labels TEST ${test} PROPERTY LABELS)
        eventlog_is_quick(${test} "${labels}" is_quick)
        if(is_quick)
            set_property(TEST ${test} APPEND PROPERTY LABELS quick)
        endif()
    endforeach()
endfunction()

# The target quick_tests: all programs of the tests with the label quick. The optimized part leaves
# out the unit and integration tests, which run with sanitizers, and those of the full tier.
function(eventlog_add_quick_target)
    set(folders ${PROJECT_SOURCE_DIR})
    set(targets "")
    while(folders)
        list(POP_FRONT folders folder)
        get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
        list(APPEND folders ${below})
        get_property(added DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
        list(APPEND targets ${added})
    endwhile()
    if(EVENTLOG_QUICK_TIER STREQUAL "optimized")
        list(REMOVE_ITEM targets unit_tests integration_tests reflection_tests)
    endif()
    add_custom_target(quick_tests DEPENDS ${targets})
endfunction()
