// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace elog {

/// Is told how much this thread reads of recordings, while it lives: for who shows how far long
/// work is. One at a time in a thread.
class read_observer {
  public:
    read_observer() noexcept;
    read_observer(const read_observer&) = delete;
    read_observer& operator=(const read_observer&) = delete;
    virtual ~read_observer();

    /// So many bytes more have been asked for.
    virtual void note(std::uint64_t bytes) = 0;
};

/// To the one there is, if any.
void notify_read(std::uint64_t bytes);

}  // namespace elog
