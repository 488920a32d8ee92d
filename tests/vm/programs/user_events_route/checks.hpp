// SPDX-License-Identifier: MIT
#pragma once

// The checks of the program. A step that fails ends the program.

namespace route_steps {

// events.cpp

void check_fields();
void check_many();
void check_end_of_listening();
void check_sizes();
void check_fork();

// names.cpp

/// Tests a second version of the provider in the same process, whose event has other fields.
void check_versions();
/// Tests the longest names, and two providers whose events have the same name in tracefs.
void check_names();

// retries.cpp

/// Tests the route while the kernel has its maximum number of events.
void check_limit();
void check_permission();

// descriptors.cpp

/// Tests a daemon that closes all descriptors and then opens its own files.
void check_lost_descriptor();
/// The first provider to reopen its file receives the number of the other provider's file.
void check_lost_descriptors_of_two();

}  // namespace route_steps
