// SPDX-License-Identifier: MIT
//
// Patterns of wanted events, PROVIDER[:EVENT][@LEVEL][/KEYWORD,...][#], and their sessions and
// processes; see filter.hpp of the sdk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <eventlog/schema_format.hpp>

#include "schema/filter.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

/// The level of a word in patterns and predicates: a level of schemas, or debug for verbose.
[[nodiscard]] std::optional<eventlog::level> find_wanted_level(std::string_view word) noexcept;

class event_patterns {
  public:
    /// Adds a pattern; "tcp" means "tcp:*", and @debug means @verbose. Throws user_error for one
    /// that cannot match any event.
    void add(std::string_view pattern);

    /// Limits patterns with # to the added sessions. If no pattern has a #, all of them are
    /// limited, for events that belong to a session.
    void add_session(std::uint64_t session);

    /// Limits all patterns to the added processes: one process, or all whose name matches a pattern
    /// with * and ?. Throws user_error for one that no process can match.
    void add_process(std::uint32_t pid);
    void add_process(std::string_view name);

    /// Replaces all patterns by rules in the form of operator[]. Returns false, and changes
    /// nothing, if they are too long together.
    [[nodiscard]] bool replace(std::vector<std::string> rules);

    [[nodiscard]] bool empty() const noexcept { return patterns_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return patterns_.size(); }
    [[nodiscard]] const std::string& operator[](std::size_t index) const noexcept {
        return patterns_[index];
    }
    [[nodiscard]] const std::vector<std::uint64_t>& sessions() const noexcept { return sessions_; }
    [[nodiscard]] bool names_processes() const noexcept { return !processes_.empty(); }

    /// Whether a pattern matches the event, at least in some session.
    [[nodiscard]] bool matches(std::size_t index, const provider_schema& provider,
                               const event_schema& event) const noexcept;
    [[nodiscard]] bool matches(const provider_schema& provider,
                               const event_schema& event) const noexcept;

    /// The rules as a subscription stores them, each ended by NUL.
    [[nodiscard]] std::string packed() const;

  private:
    void check_size() const;

    std::vector<std::string> patterns_;
    std::vector<std::string> processes_;  // "=4242", "~nginx*"
    std::vector<std::uint64_t> sessions_;
};

}  // namespace elog
