// SPDX-License-Identifier: MIT
//
// What a user asks for: PROVIDER[:EVENT][@LEVEL][/KEYWORD,...][#], and of whom; see filter.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schema/filter.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

class event_patterns {
  public:
    /// Adds a pattern; "tcp" stands for "tcp:*". Throws failure for what cannot match any event.
    void add(std::string_view pattern);

    /// Events that patterns with # want are wanted in these sessions only. If no pattern has a #,
    /// all get one, but only for events that belong to a session.
    void add_session(std::uint64_t session);

    /// Events are wanted of these processes only: of that one, or of all that are called like that,
    /// with * and ?. Throws failure for what no process can be.
    void add_process(std::uint32_t pid);
    void add_process(std::string_view name);

    /// Puts rules as operator[] gives them in the place of all patterns. False, and nothing is
    /// done, if they are too long together.
    [[nodiscard]] bool replace(std::vector<std::string> rules);

    [[nodiscard]] bool empty() const noexcept { return patterns_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return patterns_.size(); }
    [[nodiscard]] const std::string& operator[](std::size_t index) const noexcept {
        return patterns_[index];
    }
    [[nodiscard]] const std::vector<std::uint64_t>& sessions() const noexcept { return sessions_; }
    [[nodiscard]] bool names_processes() const noexcept { return !processes_.empty(); }

    /// Whether the pattern wants the event, in some session at least.
    [[nodiscard]] bool matches(std::size_t index, const provider_schema& provider,
                               const event_schema& event) const noexcept;
    [[nodiscard]] bool matches(const provider_schema& provider,
                               const event_schema& event) const noexcept;

    /// As a subscription keeps them: each ended by NUL.
    [[nodiscard]] std::string packed() const;

  private:
    void check_size() const;

    std::vector<std::string> patterns_;
    std::vector<std::string> processes_;  // "=4242", "~nginx*"
    std::vector<std::uint64_t> sessions_;
};

}  // namespace elog
