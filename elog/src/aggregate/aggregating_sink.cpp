// SPDX-License-Identifier: MIT
#include "aggregate/aggregating_sink.hpp"

#include "text/wide_integer.hpp"

namespace elog {

std::int64_t interval_aggregator::interval_of(std::int64_t time) const noexcept {
    const std::int64_t rest = time % options_.length;
    const std::int64_t before = rest < 0 ? rest + options_.length : rest;
    // The first interval may begin before the smallest time.
    return time < INT64_MIN + options_.length ? INT64_MIN : time - before;
}

void interval_aggregator::begin_interval(const merged_record& record,
                                         const clock_converter& clock) {
    const record_view& decoded = record.record;
    const std::int64_t interval = interval_of(to_display_time(options_.clock, clock, decoded.time));
    if (current_ == interval) {
        return;
    }
    end_interval();
    current_ = interval;
    if (!has_custom_time(decoded)) {
        ends_ = wide_integer{interval} + options_.length;
    }
}

void interval_aggregator::take(const merged_record& record, const clock_converter& clock) {
    if (options_.length != 0 && !is_complete()) {
        begin_interval(record, clock);
    }
    if (is_complete()) {
        return;
    }
    computed_.note_missing(missing_before(record));
    const std::uint64_t before = computed_.taken();
    computed_.take(record.record, clock);
    events_ += computed_.taken() - before;
}

void interval_aggregator::advance(std::int64_t time) {
    if (options_.length == 0 || !current_) {
        return;
    }
    if (!ends_) {
        ends_ = wide_integer{time} + options_.length;
    }
    if (time >= *ends_) {
        end_interval();
    }
}

void interval_aggregator::end_interval() {
    if (computed_.has_results()) {
        deliver(current_);
        computed_.reset_values();
    }
    current_.reset();
    ends_.reset();
}

void interval_aggregator::deliver(std::optional<std::int64_t> begins) {
    ++results_;
    take_(begins);
}

void interval_aggregator::finish() {
    if (results_ == options_.results_max) {
        return;
    }
    if (options_.length == 0) {
        deliver(std::nullopt);
    } else {
        end_interval();  // without a begin time if only losses after the last record were received
    }
}

void aggregating_sink::start(const region_view& source) {
    clock_ = clock_converter(source.header.clock);
    merger_ = time_merger(source.geometry.ring_count);
}

void aggregating_sink::take_provider(const provider_instance& provider) {
    try {
        if (filter_ != nullptr) {
            filter_->add(provider);
        }
    } catch (const user_error& error) {
        mismatches_.add(error.what());
    }
    try {
        computed_.add(provider);
    } catch (const user_error& error) {
        mismatches_.add(error.what());
    }
}

void aggregating_sink::take_loss(const loss_report& loss) {
    merge(UINT64_MAX, UINT64_MAX);
    computed_.note_missing(missing_of(loss));
}

void aggregating_sink::merge(std::uint64_t time, std::uint64_t present) {
    merger_.merge(time, present,
                  [this](const merged_record& record) { intervals_.take(record, clock_); });
}

void aggregating_sink::advance(std::uint64_t time, std::uint64_t present) {
    merge(time, present);
    if (time != 0) {
        intervals_.advance(clock_.realtime(time));
    }
}

void aggregating_sink::finish() {
    merge(UINT64_MAX, UINT64_MAX);
    intervals_.finish();
}

}  // namespace elog
