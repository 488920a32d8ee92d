// SPDX-License-Identifier: MIT
//
// The names of the reasons for which events are missing: one spelling for JSON, CSV, text and
// libelog, which is that of the members of struct eventlog_counters without "lost_".
#pragma once

namespace elog::loss_name {

// Lost events.
inline constexpr const char* full = "full";              // no room in the buffers
inline constexpr const char* too_large = "too_large";    // over the largest record
inline constexpr const char* busy = "busy";              // the shared ring was locked
inline constexpr const char* unattached = "unattached";  // not attached to the listener (yet)
inline constexpr const char* refused = "refused";        // rejected by the kernel
inline constexpr const char* damaged = "damaged";        // invalid records in a ring
inline constexpr const char* unwritten = "unwritten";    // no space in the file, or it was removed
// A part of `full`: the shared ring got no memory.
inline constexpr const char* no_memory = "no_memory";
// Not lost, and counted apart.
inline constexpr const char* overwritten = "overwritten";  // replaced by newer records
inline constexpr const char* unsupported = "unsupported";  // written by a newer version of eventlog

}  // namespace elog::loss_name
