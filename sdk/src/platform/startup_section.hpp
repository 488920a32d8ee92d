// SPDX-License-Identifier: MIT
#pragma once

/// For variables that are written when the first provider is registered: in every process, whether
/// anybody listens or not. They stand together, in whatever file they are defined, because each
/// page of memory in which one of them stands is a page that every process has for itself. A
/// section that linkers do not know by name comes behind those of initialised data, next to the
/// descriptors of restartable sequences, which the dynamic linker writes to. Where a variable has a
/// declaration, that has it.
#define EVENTLOG_STARTUP_SECTION gnu::section("eventlog_at_start")
