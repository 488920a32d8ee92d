// SPDX-License-Identifier: MIT
//
// eventlog::testing::captured_events: the events that code under test emits. Works with any test
// framework; matchers.hpp has matchers for GoogleTest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <eventlog/collector.hpp>

namespace eventlog {
inline namespace v0 {
namespace testing {

/// Captures the events of this process that match a pattern, from its construction on:
///
///     eventlog::testing::captured_events mails("mailer:*");
///     send_mail("ann@example.org");
///     EXPECT_EQ(mails.count("mail_sent"), 1);
///
/// Needs no directory, so that tests can run in parallel and in a sandbox. Throws
/// std::runtime_error if the pattern is not one, with EVENTLOG=off in the environment, and whenever
/// an event was lost: a test that misses events proves nothing. One thread uses it; any thread may
/// emit.
class captured_events {
  public:
    explicit captured_events(std::string_view pattern) : captured_events({pattern}) {}
    /// The events that match any of the patterns.
    captured_events(std::initializer_list<std::string_view> patterns)
        : source_(patterns, std::uint64_t{1} << 20U) {
        if (source_.error() != EVENTLOG_ERROR_NONE) {
            throw std::runtime_error(std::string(source_.error_text()));
        }
    }

    /// All events so far, in the order in which they were emitted.
    [[nodiscard]] const std::vector<collected_event>& all() {
        while (auto event = source_.try_get()) {
            events_.push_back(*std::move(event));
        }
        const eventlog_collector_counts counts = source_.counts();
        if (const std::uint64_t lost = lost_in(counts) - forgotten_.lost; lost != 0) {
            throw std::runtime_error(std::to_string(lost) +
                                     " events were lost. Capture fewer of them, or read more "
                                     "often with all().");
        }
        if (counts.providers_refused != forgotten_.refused) {
            throw std::runtime_error(
                "There was no room for a provider's schema. Capture the events "
                "of fewer providers.");
        }
        return events_;
    }
    /// Those with that name.
    [[nodiscard]] std::vector<collected_event> named(std::string_view name) {
        std::vector<collected_event> found;
        for (const collected_event& event : all()) {
            if (event.name() == name) {
                found.push_back(event);
            }
        }
        return found;
    }
    [[nodiscard]] std::size_t count(std::string_view name) { return named(name).size(); }
    [[nodiscard]] std::size_t size() { return all().size(); }
    [[nodiscard]] bool empty() { return all().empty(); }

    /// Forgets the events and losses so far.
    void clear() {
        while (source_.try_get()) {
        }
        const eventlog_collector_counts counts = source_.counts();
        forgotten_ = {lost_in(counts), counts.providers_refused};
        events_.clear();
    }

  private:
    struct losses {
        std::uint64_t lost = 0;
        std::uint64_t refused = 0;
    };

    static std::uint64_t lost_in(const eventlog_collector_counts& counts) noexcept {
        return counts.lost_full + counts.lost_too_large + counts.lost_busy +
               counts.lost_unattached + counts.damaged;
    }

    losses forgotten_;
    collector source_;
    std::vector<collected_event> events_;
};

}  // namespace testing

/// How test frameworks show an event.
inline std::ostream& operator<<(std::ostream& stream, const collected_event& event) {
    return stream << event.provider() << ':' << event.name() << " (" << event.payload().size()
                  << " bytes)";
}

}  // namespace v0
}  // namespace eventlog
