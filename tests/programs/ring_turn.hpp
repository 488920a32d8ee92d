// SPDX-License-Identifier: MIT
//
// Lets the threads of a program take turns on a shared ring (EVENTLOG_RSEQ=off). Otherwise a thread
// that is preempted with the ring's lock would make other threads lose events.
// integration.conservation counts such losses; tests with this program require that there are none.
#pragma once

#include <cstdlib>
#include <mutex>
#include <string_view>

/// While it exists, no other thread has one. It does nothing on a ring for each CPU.
class ring_turn {
  public:
    ring_turn() : lock_(mutex, std::defer_lock) {
        if (has_shared_ring) {
            lock_.lock();
        }
    }

  private:
    static bool is_ring_shared() {
        const char* const sequences = std::getenv("EVENTLOG_RSEQ");
        return sequences != nullptr && std::string_view(sequences) == "off";
    }

    static inline std::mutex mutex;
    static inline const bool has_shared_ring = is_ring_shared();

    std::unique_lock<std::mutex> lock_;
};
