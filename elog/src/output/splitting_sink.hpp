// SPDX-License-Identifier: MIT
//
// A record_sink that divides a recording by a value of its records: each value has a sink, as if a
// predicate had selected the records with that value.
//
// - Each sink gets all losses, also those before its first record: a lost record may have had any
//   value. It gets all clock readings that its records need, all marks, and its providers.
// - The number of values is limited. Records of further values, and those without the value, go to
//   the rest, which exists from the beginning.
// - One thread uses it.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "aggregate/key_table.hpp"
#include "base/user_error.hpp"
#include "predicate/predicate.hpp"
#include "predicate/value_location.hpp"
#include "record/clock_converter.hpp"
#include "record/record_sink.hpp"
#include "ring/region.hpp"

namespace elog {

/// Whether any event has a value by which a recording is divided.
class split_name_check {
  public:
    explicit split_name_check(std::string name) : name_(std::move(name)) {}

    void add(const event_schema& event);
    /// Throws user_error if there are events, but none with that name.
    void check() const;

  private:
    std::string name_;
    std::set<std::string, std::less<>> names_;
    bool has_events_ = false;
    bool has_session_ = false;
};

class splitting_sink : public record_sink {
  public:
    /// Makes and starts the sink of the value with that number, counted from 0; nothing: of the
    /// rest.
    using make_sink = std::function<std::unique_ptr<record_sink>(std::optional<std::string_view>,
                                                                 std::size_t, const region_view&)>;

    /// `name`: of a field, or one that every event has. `on_failure` is called once, if the sink of
    /// a value cannot be made: the recording should end. Until it does, the records of further
    /// values go to the rest.
    splitting_sink(std::string name, std::size_t values_max, make_sink make,
                   std::function<void()> on_failure = {})
        : name_{std::move(name)},
          values_max_(values_max),
          make_(std::move(make)),
          on_failure_(std::move(on_failure)),
          names_(name_.name) {}

    void start(const region_view& source) override;
    void take_clock(const eventlog_clock_sample& pair) override;
    void take_provider(const provider_instance& provider) override;
    void take_run(const record_run& run) override;
    void take_loss(const loss_report& loss) override;
    void note_loss(const loss_report& loss) override;
    void take_mark(const recording_mark& mark) override;
    void advance(std::uint64_t time, std::uint64_t present) override;
    void check() override;
    /// Finishes all sinks, then throws the first exception of them.
    void finish() override;

    /// Values that have a sink.
    [[nodiscard]] std::size_t values() const noexcept { return values_.size(); }
    /// Records of further values.
    [[nodiscard]] std::uint64_t beyond_limit() const noexcept { return beyond_limit_; }

    /// Why the sink of a value could not be made.
    [[nodiscard]] const std::optional<user_error>& failure() const noexcept { return failure_; }
    /// As split_name_check::check().
    void check_name() const { names_.check(); }

  private:
    /// One sink, and what it has been passed of each ring.
    struct part {
        struct ring_state {
            std::uint64_t reported = 0;  // of the losses of the ring
            std::uint64_t next = 0;      // number of the next record: passed and lost before it
        };
        std::unique_ptr<record_sink> sink;
        std::vector<ring_state> rings;
        std::unordered_set<std::uint32_t> providers{};
        std::vector<std::uint8_t> bytes{};  // of the run that is being divided
        std::uint64_t count = 0;            // of its records
        bool has_failed = false;
    };
    struct ring_losses {
        std::uint64_t all = 0;
        bool overwritten = false;  // the last ones
    };

    [[nodiscard]] part begin_part(std::optional<std::string_view> value);
    [[nodiscard]] std::size_t part_of(const record_view& record);
    [[nodiscard]] std::size_t part_of_value(const value_location& place, const record_view& record);
    [[nodiscard]] std::size_t part_of_text(std::string_view text);
    void pass_on(const record_run& run, part& to);
    [[nodiscard]] loss_report with_names(const loss_report& loss) const;
    template <class Call>
    void attempt(part& to, const Call& call);
    void end_if_failed();
    template <class Call>
    void for_each_part(const Call& call);

    field_reference name_;
    std::size_t values_max_;
    make_sink make_;
    std::function<void()> on_failure_;
    std::optional<user_error> failure_;
    split_name_check names_;
    eventlog_region header_{};
    eventlog::core::region_geometry geometry_{};
    clock_converter clock_;
    std::uint64_t watermark_ = 0;
    std::vector<eventlog_clock_sample> readings_;  // that records still to come may need
    std::vector<recording_mark> marks_;
    std::map<std::uint32_t, loss_report> noted_;  // the last report of each provider
    // Their locations refer to the schemas.
    std::unordered_map<std::uint32_t, provider_instance> providers_;
    struct event_value {
        std::optional<value_location> place{};
        std::string signature{};
    };
    std::unordered_map<std::uint32_t, std::vector<event_value>> events_;  // by provider
    std::vector<ring_losses> losses_;
    std::vector<part> parts_;             // the rest, then the values
    key_table values_;                    // texts; the number is that of the part, less 1
    key_table keys_;                      // bytes of values that have been shown before
    std::vector<std::size_t> key_parts_;  // by key
    std::vector<std::size_t> used_;       // parts of the run that is being divided
    std::string scratch_;
    std::uint64_t beyond_limit_ = 0;
    std::exception_ptr error_;  // the first one of a sink, which ends the recording
};

}  // namespace elog
