// SPDX-License-Identifier: MIT
//
// A provider's entry in the table of a mapped region, with which it is attached.
//
// A forked child may never emit: a program that only starts others by fork and exec would fill the
// tables. So it takes its entries when it emits first, without the file, which it may not be able
// to open by then: it may have another user or another root.
//
// All functions require the registry lock, and that the attachment's slot has a mapping unless
// stated otherwise.
#pragma once

#include "emit/attach_looks.hpp"
#include "provider/registered_provider.hpp"
#include "shm/subscription_file.hpp"

namespace eventlog::core {

/// Takes an entry of the region's table, stores the schema if it is not there, and attaches the
/// provider. Returns no_match if there is no room or no memory, which counts as refused in the
/// region, and retry_later if other processes change the table all the time.
[[nodiscard]] attach_outcome take_new_entry(const eventlog_provider& provider, attachment& place,
                                            const subscription_file& subscription) noexcept;

/// Prepares the attachment for the provider's first emit. False if that could not take an entry:
/// while the region does not have the schema, and on kernels that allocate no memory through a
/// mapping.
[[nodiscard]] bool prepare_late_entry(const eventlog_provider& provider, attachment& place,
                                      const subscription_file& subscription) noexcept;

/// Takes the entry that was prepared, and attaches the provider. False if none was, for the
/// subscription that is mapped, or if it cannot be taken without the file. The slot may be empty.
[[nodiscard]] bool take_late_entry(const eventlog_provider& provider, attachment& place) noexcept;

/// Takes an entry in the region of a collector, which is private memory, and attaches the provider.
/// An earlier registration of the same schema has left one. Counts as take_new_entry.
[[nodiscard]] attach_outcome take_private_entry(const eventlog_provider& provider,
                                                attachment& place) noexcept;

}  // namespace eventlog::core
