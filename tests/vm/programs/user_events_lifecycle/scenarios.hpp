// SPDX-License-Identifier: MIT
#pragma once

// The scenarios of the program; main.cpp has their names. A step that fails ends the program.

namespace lifecycle {

// gates.cpp

/// A caller of the C functions passes memory that cannot be read: the kernel rejects the event, and
/// the program continues.
void run_fault();
/// The kernel must fault the page of a gate in before it can set the bit.
void run_absent_page();
/// A plugin is unloaded while its event stays: the kernel writes nothing to the gate's old address.
void run_unloading(const char* plugin);
/// The last listener stops after the emitting thread has read the gate. The test sets the gate's
/// bit itself.
void run_stale_gate();

// listeners.cpp

/// ftrace and perf enable and disable an event in every order.
void run_listeners();
/// A listener starts and stops while a thread emits continuously.
void run_toggling();
/// Two versions of a provider on a kernel that has one format for each name: see
/// user_events_single.cpp.
void run_single_format();
/// The program starts before tracefs is mounted.
void run_late_mount();

// processes.cpp

/// Children that share the memory share the registered words, which stay when the children end.
void run_spawning();
void run_shared_memory();
/// After exec, no registration of the previous image is left for the kernel to write to.
[[noreturn]] void run_exec(bool again);
void run_multitude();

}  // namespace lifecycle
