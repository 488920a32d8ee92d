/* SPDX-License-Identifier: MIT */
/*
 * The version of these headers. CMake and pkg-config have it from here.
 *
 * A program in C or C++ compares EVENTLOG_VERSION where it depends on a newer interface, as in
 * #if EVENTLOG_VERSION >= 200 for version 0.2.
 *
 * The C functions are compatible within a major version: structs of an older header are recognized
 * by their sizes, and functions have the symbol version in which they appeared.
 *
 * The C++ interface is templates and inline functions that are compiled into each program. Objects
 * that are built with different headers may be in one process, such as a program and its plugins.
 * So all names are in an inline namespace, eventlog::v0, whose number changes whenever the
 * definition of a name changes: then both objects keep their own, instead of sharing a weak symbol
 * that suits only one. Programs write eventlog:: and never name it.
 */
#ifndef EVENTLOG_VERSION_H
#define EVENTLOG_VERSION_H

#define EVENTLOG_VERSION_MAJOR 0
#define EVENTLOG_VERSION_MINOR 1
#define EVENTLOG_VERSION_PATCH 0

/* 10203 is version 1.2.3. */
#define EVENTLOG_VERSION \
    (EVENTLOG_VERSION_MAJOR * 10000 + EVENTLOG_VERSION_MINOR * 100 + EVENTLOG_VERSION_PATCH)

#endif /* EVENTLOG_VERSION_H */
