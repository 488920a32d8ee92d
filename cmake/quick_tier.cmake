# SPDX-License-Identifier: MIT
#
# The quick tier of ./dev test runs each test once, in the build that finds most defects with it for
# the time that it takes. A preset names its part in EVENTLOG_QUICK_TIER: address, thread or
# optimized. Tests of that part get the label quick; tests with the label full run in the full tier
# only. tests/README.md has the table.

# Tests of machine code, packages and kernels, and tests that run no code of this build.
set(
    eventlog_optimized_tests
    "^(aarch64|bench|codegen|compile_fail|interleaving|model|packaging|runner|unsanitized|vm)\\."
)
# Scripts that compile programs of their own or run one in a debugger, on which sanitizers have no
# effect; that skip a test with sanitizers; and those that sanitizers cannot run.
list(
    APPEND
    eventlog_optimized_tests
    "^integration\\.test_(as_other_user|declared_lines|emit_costs|forks_beside_threads|generated)$"
    "^integration\\.test_(generated_kernel|host_limits|sandboxed|small_stack|system_calls|usdt)$"
)
# Scripts that run elog hundreds of times. With AddressSanitizer elog takes eight times as long to
# start, and these scripts took two thirds of the time of that build. The sanitizers check the
# parsers, readers and writers in the suites of unit and the fuzzers, and the commands in the other
# scripts; the full tier runs all scripts with them.
set(many_commands
    aggregation
    bad_input
    completion
    custom_clock
    cut_and_merge
    damaged_files
    file_commands
    file_format
    flight_pause
    list
    losses
    many_providers
    output_files
    reader_options
    record_command
    record_pause
    schema_command
    schema_evolution
    short_options
    time_namespaces
    time_ranges
)
list(JOIN many_commands "|" many_commands)
list(APPEND eventlog_optimized_tests "^integration\\.test_(${many_commands})$")
list(JOIN eventlog_optimized_tests "|" eventlog_optimized_tests)

# The programs of unit and integration, whose tests get their label by their prefix, and the scripts
# in which programs have threads that unload plugins, end, share loggers or change their CPU. elog
# itself has one thread, and another one that closes files.
string(
    CONCAT
    eventlog_threaded_tests
    "^(unit|integration)\\.$|^integration\\.test_(c_api|cpus|defining_plugins|detached)$"
    "|^integration\\.test_(examples|host_signals|plugins|short_lived|without_sequences)$"
)

# eventlog_is_quick(NAME LABELS RESULT): whether the test is in this build's part of the quick tier.
function(eventlog_is_quick name labels result)
    set(is_quick OFF)
    if("full" IN_LIST labels)
        # Tests of the full tier belong to no part.
    elseif(EVENTLOG_QUICK_TIER STREQUAL "optimized" AND name MATCHES "${eventlog_optimized_tests}")
        set(is_quick ON)
    elseif(
        EVENTLOG_QUICK_TIER STREQUAL "address"
        AND NOT name MATCHES "${eventlog_optimized_tests}"
    )
        set(is_quick ON)
    elseif(EVENTLOG_QUICK_TIER STREQUAL "thread" AND name MATCHES "${eventlog_threaded_tests}")
        set(is_quick ON)
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
