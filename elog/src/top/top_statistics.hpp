// SPDX-License-Identifier: MIT
//
// Counts events, bytes and losses by provider and event, and their rates in intervals. The caller
// divides time into intervals with end_interval(). A copy is a snapshot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/records.hpp"
#include "schema/provider_schema.hpp"
#include "top/field_statistics.hpp"

namespace elog {

/// A count with its rate in past intervals.
class rate_counter {
  public:
    static constexpr std::size_t history_max = 600;

    void add(std::uint64_t amount) noexcept { current_ += amount; }
    void end_interval(double seconds);

    /// Since the beginning, including the current interval.
    [[nodiscard]] std::uint64_t total() const noexcept { return ended_ + current_; }
    /// In the last interval, per second.
    [[nodiscard]] double rate() const noexcept { return history_.empty() ? 0 : history_.back(); }
    /// Rates, the newest last.
    [[nodiscard]] const std::vector<double>& history() const noexcept { return history_; }

  private:
    std::uint64_t ended_ = 0;
    std::uint64_t current_ = 0;
    std::vector<double> history_;
};

struct top_event {
    std::string name;
    std::string description{};
    eventlog::level severity = eventlog::level::info;
    rate_counter events{};
    rate_counter bytes{};  // size of their records in a ring
    rate_counter lost{};   // always 0: losses are not known by event
};

struct top_provider {
    std::string name;
    std::size_t processes = 0;  // since the beginning
    rate_counter events{};
    rate_counter bytes{};
    rate_counter lost{};            // records do not contain the event
    std::vector<top_event> seen{};  // in the order of their first record
};

/// An event by names, which stay valid longer than numbers.
struct event_name {
    std::string provider;
    std::string event;

    friend bool operator==(const event_name&, const event_name&) = default;
};

class top_statistics {
  public:
    // Limit on examined records of the chosen event in an interval: a reader that falls behind
    // loses events.
    static constexpr std::uint64_t examined_max = 20'000;

    /// Must precede the provider's first record; a second provider with the same number replaces
    /// the first.
    void add(const provider_instance& provider);
    /// Records of unknown providers and events, and unsupported ones, count as unrecognized.
    void take(const record_view& record);
    /// `so_far` is the provider's total loss.
    void update_losses(std::uint32_t provider, std::uint64_t so_far);
    /// `so_far` is the total loss that belongs to no known provider.
    void update_unattributed_losses(std::uint64_t so_far);
    void end_interval(double seconds);

    /// From now on the fields of this event are examined, and no others. Discards the statistics of
    /// another event.
    void examine(const event_name& chosen) { set_examined(chosen); }
    void examine_nothing() { set_examined(std::nullopt); }

    [[nodiscard]] const std::vector<top_provider>& providers() const noexcept { return providers_; }
    [[nodiscard]] const rate_counter& events() const noexcept { return events_; }
    [[nodiscard]] const rate_counter& bytes() const noexcept { return bytes_; }
    [[nodiscard]] const rate_counter& lost() const noexcept { return lost_; }
    [[nodiscard]] std::uint64_t unrecognized() const noexcept { return unrecognized_; }
    /// Since the beginning, without the current interval.
    [[nodiscard]] double seconds() const noexcept { return seconds_; }

    [[nodiscard]] const top_provider* find(const std::string& provider) const noexcept;
    [[nodiscard]] const top_event* find(const event_name& event) const noexcept;

    /// Statistics of the examined event, in the order of its fields.
    [[nodiscard]] const std::vector<field_statistics>& fields() const noexcept { return fields_; }
    /// Events since examine(): all, and the examined ones.
    [[nodiscard]] std::uint64_t seen_count() const noexcept { return seen_count_; }
    [[nodiscard]] std::uint64_t examined() const noexcept { return examined_; }

  private:
    static constexpr std::size_t unseen = SIZE_MAX;

    struct source {
        provider_schema schema;
        std::size_t provider = 0;       // index in providers_
        std::vector<std::size_t> seen;  // by event: index in top_provider::seen
        std::vector<bool> is_examined;  // by event
        std::uint64_t lost = 0;
    };

    void set_examined(std::optional<event_name> chosen);
    void mark_examined(source& from) const;
    void examine_fields(const source& from, const record_view& record);
    [[nodiscard]] field_statistics& census_of(const provider_schema& provider,
                                              const field_schema& field, std::size_t place);

    std::vector<std::optional<source>> sources_;  // by provider number
    std::vector<top_provider> providers_;
    rate_counter events_;
    rate_counter bytes_;
    rate_counter lost_;
    std::uint64_t unrecognized_ = 0;
    std::uint64_t unattributed_lost_ = 0;
    double seconds_ = 0;

    std::optional<event_name> chosen_;
    std::vector<field_statistics> fields_;
    std::uint64_t seen_count_ = 0;
    std::uint64_t examined_ = 0;
    std::uint64_t examined_in_interval_ = 0;
};

}  // namespace elog
