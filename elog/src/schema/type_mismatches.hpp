// SPDX-License-Identifier: MIT
//
// Collects events that an expression cannot be applied to because of their fields' types: the
// reasons, and the number of skipped records.
//
// A recording may have several versions of a provider: one that fits is enough, and the others are
// reported. A hostile schema may have any number of events: each costs one look-up, and only the
// first kept_max cost memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/user_error.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

class type_mismatches {
  public:
    /// Limit of distinguished pairs of event and reason. Records of further ones are counted
    /// together.
    static constexpr std::size_t kept_max = 1000;

    /// Begins a new provider with that number and forgets the events of an earlier one.
    void begin_provider(std::uint32_t provider);
    /// The expression can be applied to this version of the event.
    void note_compatible(const provider_schema& provider, const event_schema& event);
    /// The expression cannot be applied to this version of the event.
    void note(const provider_instance& provider, std::size_t event, const user_error& reason);

    /// Throws user_error if a kept event has no compatible version.
    void check() const;

    /// Counts skipped records of an event, if it was noted.
    void count(std::uint32_t provider, std::uint16_t event, std::uint64_t records = 1) noexcept;
    [[nodiscard]] std::uint64_t counted() const noexcept;

    /// A sentence for each kept pair of event and reason, and one for all others. Without
    /// `with_none`, only for those with skipped records.
    [[nodiscard]] std::vector<std::string> sentences(bool with_none = false) const;

  private:
    struct found {
        std::string event;  // with its provider
        std::string reason;
        std::uint64_t records = 0;
    };

    static std::string name_of_event(const provider_schema& provider, const event_schema& event);

    [[nodiscard]] std::size_t index_of(std::string name, std::string reason);

    std::vector<found> found_;  // at most kept_max
    // By event and reason: index in found_.
    std::map<std::pair<std::string, std::string>, std::size_t> known_;
    bool has_others_ = false;      // a pair did not fit into found_
    std::uint64_t of_others_ = 0;  // records
    // By provider and event: index in found_ plus 1, kept_max + 1 for others; 0: not noted.
    std::vector<std::vector<std::size_t>> indexes_;
    std::set<std::string> compatible_;
};

}  // namespace elog
