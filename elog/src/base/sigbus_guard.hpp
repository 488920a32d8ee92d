// SPDX-License-Identifier: MIT
//
// Mapped files belong to others too, and a page that somebody cuts off kills whoever touches it.
// Who reads a region or sets gates touches none (region_accessor.hpp, futex_atomic.hpp). What is
// left is the count of snapshots that are asked for (snapshot_requests.hpp), which the elog command
// alone maps, and survives: a handler puts an empty page there and remembers that it did.
#pragma once

namespace elog {

/// For the whole process; call once, in main. A library has no business doing this.
void install_sigbus_guard();

/// Whether any mapping has been found cut off since the last call.
[[nodiscard]] bool mapping_was_truncated() noexcept;

}  // namespace elog
