// SPDX-License-Identifier: MIT
//
// The implementations of a source: an interface, and the common part of files and subscriptions.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <elog/source.hpp>

#include "base/user_error.hpp"
#include "event_info.hpp"
#include "ready_timer.hpp"
#include "record/loss.hpp"
#include "record/record_sampler.hpp"
#include "record/time_merger.hpp"
#include "wanted_events.hpp"

namespace elog::library {

class source_state {
  public:
    source_state() = default;
    source_state(const source_state&) = delete;
    source_state& operator=(const source_state&) = delete;
    virtual ~source_state() = default;

    /// The next record if there is one now. Its bytes are valid until the next call.
    [[nodiscard]] virtual std::optional<record> next() = 0;
    /// Sleeps until there may be a record, or the time is over. May return early.
    virtual void wait(std::chrono::nanoseconds at_most) = 0;
    [[nodiscard]] virtual bool is_over() const noexcept = 0;
    /// May be called from any thread and from signal handlers.
    virtual void stop() noexcept = 0;

    /// Reads buffers ahead, for a caller that will not call next() soon. The record returned by
    /// next() stays valid. Returns the time until the next call is due.
    virtual std::chrono::nanoseconds prefetch() = 0;

    /// After next() has returned nothing: the time at which it may return something, or the source
    /// be over.
    [[nodiscard]] virtual std::chrono::steady_clock::time_point due() = 0;
    /// After next() has returned nothing: a lower limit for the times of all further records.
    [[nodiscard]] virtual timestamp watermark() const noexcept = 0;
    /// nullptr: not known.
    [[nodiscard]] virtual const event_info* find(std::uint64_t origin, std::uint32_t provider,
                                                 std::uint16_t event) const noexcept = 0;
    [[nodiscard]] virtual std::vector<event> events() const = 0;
    [[nodiscard]] virtual source_totals totals() const noexcept = 0;
    [[nodiscard]] virtual std::vector<std::string> complaints() const = 0;

    /// The descriptor of source::descriptor().
    ready_timer ready;

  private:
    friend class elog::source;

    [[nodiscard]] int open_descriptor();
    /// Calls next(), and sets the descriptor.
    [[nodiscard]] std::optional<record> next_and_note();
    void note_ready() noexcept;
    void note_not_ready();

    bool is_noted_ready_ = false;  // the descriptor is readable until next() returns nothing
};

/// One file or subscription: selects records and counts losses.
class single_source : public source_state {
  public:
    [[nodiscard]] const event_info* find(std::uint64_t origin, std::uint32_t provider,
                                         std::uint16_t event) const noexcept override;
    [[nodiscard]] std::vector<event> events() const override { return known_events.all(); }
    [[nodiscard]] source_totals totals() const noexcept override;
    [[nodiscard]] std::vector<std::string> complaints() const override;

  protected:
    /// Throws user_error.
    single_source(wanted_events::options wanted, std::function<void(const loss&)> on_loss);

    /// The provider has to keep its address. Events with types that do not fit the predicate are
    /// left out and reported in complaints(); returns the first such error.
    std::optional<user_error> add_provider(const provider_instance& provider);

    /// Returns the record if it is selected. Losses before it are reported in any case. If on_loss
    /// throws, the record and the unreported losses are kept.
    [[nodiscard]] std::optional<record> select_record(const merged_record& merged);
    /// Stores losses for take_pending().
    void take_loss(const loss_report& block);
    /// Reports stored losses and returns the stored record. Has to be called before anything else
    /// advances the source.
    [[nodiscard]] std::optional<record> take_pending();

    origin place;
    wanted_events known_events;
    std::optional<record_sampler> sampler;  // of the selected records; nothing: all are kept

  private:
    void note(loss missing);

    std::function<void(const loss&)> on_loss_;
    source_totals totals_;
    std::uint64_t lost_before_ = 0;       // before the next returned record
    std::set<std::string> names_;         // of providers of which only losses are known
    std::deque<loss> unreported_losses_;  // stored until on_loss is called
    std::optional<record> pending_;
};

}  // namespace elog::library
