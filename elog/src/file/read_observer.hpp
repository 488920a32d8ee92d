// SPDX-License-Identifier: MIT
//
// Progress of reading recordings.
#pragma once

#include <cstdint>

namespace elog {

/// Receives the number of bytes that this thread reads from recordings while it exists, for
/// displays of progress. At most one in each thread.
class read_observer {
  public:
    read_observer() noexcept;
    read_observer(const read_observer&) = delete;
    read_observer& operator=(const read_observer&) = delete;
    virtual ~read_observer();

    /// Called when `bytes` more bytes have been requested.
    virtual void note(std::uint64_t bytes) = 0;
};

/// Notifies the observer of this thread, if there is one.
void notify_read(std::uint64_t bytes);

}  // namespace elog
