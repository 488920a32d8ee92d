// SPDX-License-Identifier: MIT
//
// Closing a file that has no name any more gives back its memory or blocks, which takes the kernel
// 50 ms for 256 MiB of tmpfs. A recorder that waited for that would lose what comes meanwhile.
#pragma once

#include <thread>

#include "platform/unique_fd.hpp"

namespace elog {

/// Closes files in a thread, one after the other. Used by one thread.
class background_close {
  public:
    background_close() = default;
    ~background_close();
    background_close(const background_close&) = delete;
    background_close& operator=(const background_close&) = delete;

    /// Waits until the file before is closed: what is to be given back does not pile up. Where
    /// there can be no thread, closes the file at once.
    void close(eventlog::core::unique_fd file);

  private:
    void wait();

    std::thread thread_;
};

}  // namespace elog
