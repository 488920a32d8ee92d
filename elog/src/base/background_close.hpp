// SPDX-License-Identifier: MIT
//
// Closes files in a background thread, so that a recorder does not wait for it.
//
// The last close of an unlinked file frees its memory or blocks, which takes the kernel 50 ms for
// 256 MiB of tmpfs. A recorder that waited would lose the events of that time.
#pragma once

#include <thread>

#include "platform/unique_fd.hpp"

namespace elog {

/// Closes one file at a time. For use by one thread.
class background_close {
  public:
    background_close() = default;
    ~background_close();
    background_close(const background_close&) = delete;
    background_close& operator=(const background_close&) = delete;

    /// Waits until the previous file is closed, which bounds the memory that is still to be freed.
    /// Closes the file at once if no thread can be started.
    void close(eventlog::core::unique_fd file);
    /// Waits until the space of the previous file is free. Whether there was such a file.
    bool wait();

  private:
    std::thread thread_;
};

}  // namespace elog
