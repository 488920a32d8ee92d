// SPDX-License-Identifier: MIT
//
// The linker section of variables that are written at the first registration.
#pragma once

/// Section for variables that are written at the first registration, in every process, with or
/// without listeners. Each page that holds one of them becomes private memory of every process, so
/// all of them share one section, whatever file defines them. Linkers place a section with an
/// unknown name behind the initialized data, next to the rseq descriptors, which the dynamic linker
/// writes to anyway. If a variable has a declaration, the attribute belongs to the declaration.
#define EVENTLOG_STARTUP_SECTION gnu::section("eventlog_at_start")
