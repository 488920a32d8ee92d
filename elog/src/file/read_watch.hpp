// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace elog {

/// Is told how much this thread reads of recordings, while it lives: for who shows how far long
/// work is. One at a time in a thread.
class read_watch {
  public:
    read_watch() noexcept;
    read_watch(const read_watch&) = delete;
    read_watch& operator=(const read_watch&) = delete;
    virtual ~read_watch();

    /// So many bytes more have been asked for.
    virtual void note(std::uint64_t bytes) = 0;
};

/// To the one there is, if any.
void note_read(std::uint64_t bytes);

}  // namespace elog
