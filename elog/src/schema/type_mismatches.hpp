// SPDX-License-Identifier: MIT
//
// Events that what was asked does not suit, because of the types of their fields: why, and how many
// of their records have been left out. Several versions of a provider may come in one recording: it
// is enough that what was asked suits one of them, and the others are told of. A hostile schema may
// have as many as it likes: of each this costs one look-up, and memory for the first ones only.
#pragma once

#include <linux/eventlog.h>

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
    /// So many events and reasons are told apart. The records of others are counted as one.
    static constexpr std::size_t kept_max = 1000;

    /// A provider with that number begins; what was said of an earlier one is of no use for it.
    void begin_provider(std::uint16_t provider);
    /// What was asked suits that version of the event, and can be true for it.
    void note_compatible(const provider_schema& provider, const event_schema& event);
    /// It does not, for that reason.
    void note(const provider_instance& provider, std::size_t event, const user_error& reason);

    /// Throws failure: there is an event of which no version is suited, among those that are kept.
    void check() const;

    /// Counts records like this one that nobody takes, if its event is one of these.
    void count(const eventlog_record& left_out, std::uint64_t records = 1) noexcept;
    [[nodiscard]] std::uint64_t counted() const noexcept;

    /// A sentence for each event and reason that is kept, and one for all others; `with_none`: also
    /// where no record has come.
    [[nodiscard]] std::vector<std::string> sentences(bool with_none = false) const;

  private:
    struct found {
        std::string event;  // with its provider
        std::string reason;
        std::uint64_t records = 0;
    };

    static std::string name_of_event(const provider_schema& provider, const event_schema& event);

    [[nodiscard]] std::size_t place_of(std::string name, std::string reason);

    std::vector<found> found_;  // at most kept_max
    std::map<std::pair<std::string, std::string>, std::size_t>
        known_;                    // by event and reason: the place in found_
    bool has_others_ = false;      // there is one that found_ has no room for
    std::uint64_t of_others_ = 0;  // records
    std::vector<std::vector<std::size_t>>
        places_;  // by provider and event: behind the one in found_, or behind all for others
    std::set<std::string> compatible_;
};

}  // namespace elog
