// SPDX-License-Identifier: MIT
//
// What is behind a source.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <elog/source.hpp>

#include "base/user_error.hpp"
#include "event_info.hpp"
#include "file/file_format.hpp"
#include "record/time_merger.hpp"
#include "wanted_events.hpp"

namespace elog::library {

class source_state {
  public:
    source_state() = default;
    source_state(const source_state&) = delete;
    source_state& operator=(const source_state&) = delete;
    virtual ~source_state() = default;

    /// The next record, if it is there now. Its bytes stay until the next call.
    [[nodiscard]] virtual std::optional<record> next() = 0;
    /// Sleeps until there may be one, or the time is over. May return early.
    virtual void wait(std::chrono::nanoseconds at_most) = 0;
    [[nodiscard]] virtual bool is_over() const noexcept = 0;
    /// From any thread, and from signal handlers.
    virtual void stop() noexcept = 0;

    /// Hears what there is to be heard, for who will not ask for the next record soon. What next()
    /// has given out stays. Returns for how long that is good.
    virtual std::chrono::nanoseconds prefetch() = 0;

    /// When next() has found nothing: no record that is still to come is earlier.
    [[nodiscard]] virtual timestamp watermark() const noexcept = 0;
    /// nullptr: not known.
    [[nodiscard]] virtual const event_info* find(std::uint64_t origin, std::uint16_t provider,
                                                 std::uint16_t event) const noexcept = 0;
    [[nodiscard]] virtual std::vector<event> events() const = 0;
    [[nodiscard]] virtual source_totals totals() const noexcept = 0;
    [[nodiscard]] virtual std::vector<std::string> complaints() const = 0;
};

/// One file or subscription: picks records, counts what is missing.
class single_source : public source_state {
  public:
    [[nodiscard]] const event_info* find(std::uint64_t origin, std::uint16_t provider,
                                         std::uint16_t event) const noexcept override;
    [[nodiscard]] std::vector<event> events() const override { return known_events.all(); }
    [[nodiscard]] source_totals totals() const noexcept override;
    [[nodiscard]] std::vector<std::string> complaints() const override;

  protected:
    /// Throws failure.
    single_source(wanted_events::options wanted, std::function<void(const loss&)> on_loss);

    /// The provider stays where it is. Events whose types do not allow what the predicate asks are
    /// left out, and complained about; returns the first thing that is wrong with them.
    std::optional<user_error> add_provider(const provider_instance& provider);

    /// The record, if it is wanted. What is missing in front of it is told in any case. If whoever
    /// is told throws, the record is kept, and so is what has not been told yet.
    [[nodiscard]] std::optional<record> select_record(const merged_record& merged);
    /// Notes what is missing, for take_pending to tell.
    void take_loss(const loss_block& block);
    /// Tells what has been noted, and gives out the record that was kept. To be called before
    /// anything else moves on.
    [[nodiscard]] std::optional<record> take_pending();

    origin place;
    wanted_events known_events;

  private:
    void note(loss missing);

    std::function<void(const loss&)> on_loss_;
    source_totals totals_;
    std::uint64_t lost_before_ = 0;       // the next record that is given out
    std::deque<loss> unreported_losses_;  // and not told yet
    std::optional<record> pending_;
};

}  // namespace elog::library
