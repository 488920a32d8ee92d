// SPDX-License-Identifier: MIT
//
// A listener: elog record, as a user would run it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace bench {

struct listener_options {
    std::string elog;
    std::string pattern;              // pattern of events
    std::string buffer_size;          // empty: elog's default
    std::filesystem::path directory;  // for its files
    std::string name;                 // of its files
};

/// The totals that elog prints at its end.
struct listener_summary {
    std::uint64_t events = 0;
    std::uint64_t lost = 0;
};

class listener {
  public:
    /// Returns when the gate is open. Throws failure.
    listener(const listener_options& options, const std::function<bool()>& gate_is_open);
    ~listener();
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;

    /// Stops the process, so that its buffers fill up.
    void suspend();

    /// Ends the process. Throws failure if it failed.
    [[nodiscard]] listener_summary stop();

  private:
    [[noreturn]] void run(const listener_options& options) const;
    bool has_ended();
    [[nodiscard]] std::string last_words() const;

    std::filesystem::path recording_;
    std::filesystem::path messages_;
    pid_t process_ = 0;
    bool running_ = false;
    int status_ = 0;
};

}  // namespace bench
