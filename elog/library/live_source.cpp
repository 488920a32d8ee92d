// SPDX-License-Identifier: MIT
#include "live_source.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "record/ring_records.hpp"
#include "ring/clock.hpp"
#include "schema/sampling.hpp"

namespace elog::library {
namespace {

wanted_events::options wanted_of(const open_options& options) {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return {options.where, options.fields,
            std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
}

void set_buffers(subscription_options& wanted, const open_options& options) {
    if (options.buffer_size != 0) {
        if (!is_buffer_size(options.buffer_size)) {
            throw user_error("A buffer cannot have {} bytes: ask for a power of two from {} to {}.",
                             options.buffer_size, EVENTLOG_BUFFER_SIZE_MIN,
                             EVENTLOG_BUFFER_SIZE_MAX);
        }
        wanted.buffer_size = options.buffer_size;
    }
    if (options.buffers != 0) {
        if (!is_buffer_count(options.buffers)) {
            throw user_error("A CPU cannot have {} buffers: ask for a power of two from 2 to {}.",
                             options.buffers, EVENTLOG_BUFFERS_MAX);
        }
        wanted.buffers_per_cpu = options.buffers;
    }
}

subscription_options subscription_of(const open_options& options) {
    if (options.events.empty()) {
        throw user_error(
            "Nothing is asked for. Name events: PROVIDER:EVENT, or * for all of them.");
    }
    subscription_options wanted;
    for (const std::string& pattern : options.events) {
        const sampled_pattern sampled = parse_sampled_pattern(pattern);
        wanted.patterns.add(sampled.pattern);
        wanted.sampling.every.push_back(sampled.every);
    }
    if (options.max_rate > max_rate_max) {
        throw user_error("A rate cannot be {} events per second: ask for 1 to {}, or 0 for any.",
                         options.max_rate, max_rate_max);
    }
    wanted.sampling.max_rate = options.max_rate;
    wanted.exclude_self = options.exclude_self;
    for (const std::uint64_t session : options.sessions) {
        wanted.patterns.add_session(session);
    }
    for (const std::uint32_t pid : options.pids) {
        wanted.patterns.add_process(pid);
    }
    for (const std::string& name : options.process_names) {
        wanted.patterns.add_process(name);
    }
    set_buffers(wanted, options);
    return wanted;
}

capture_request request_of(const open_options& options, const subscription_options& wanted) {
    capture_request request{.subscription = wanted,
                            .pids = options.pids,
                            .process_names = options.process_names,
                            .reference_time = wanted_of(options).reference_time};
    if (!options.where.empty()) {
        request.where.emplace("where", options.where);
    }
    return request;
}

}  // namespace

void live_feed::start(const region_view& source) {
    clock_ = clock_converter(source.header.clock);
    ring_count_ = source.geometry.ring_count;
    clock_start_ = source.header.clock_start.clock;
    merger_ = time_merger(source.geometry.ring_count);
}

void live_feed::take_provider(const provider_instance& provider) {
    const auto [added, is_new] = providers_.try_emplace(provider.id, provider);
    if (is_new) {
        take_(added->second);
    }
}

void live_feed::take_run(const record_run& run) {
    merger_.add(run);
}

void live_feed::advance(std::uint64_t time, std::uint64_t present) {
    watermark_ = time;
    present_ = present;
    has_advanced_ = true;
}

void live_feed::calibrate_clock() {
    if (clock_.pairs().size() == 1) {
        clock_.add(eventlog::core::read_clock_sample(clock_.clock()));
    }
}

std::optional<merged_record> live_feed::next() {
    if (has_advanced_) {
        merger_.begin(watermark_, present_);
        has_advanced_ = false;
    }
    return merger_.next();
}

live_source::live_source(recording_route route, open_options options)
    : single_source(wanted_of(options), std::move(options.on_loss)),
      interval_(recording::poll_interval_of(options.latency)),
      backlog_(options.backlog),
      excludes_self_(options.exclude_self),
      wanted_(subscription_of(options)),
      feed_([this](const provider_instance& provider) { take_new_provider(provider); }),
      capture_(open_capture(route, request_of(options, wanted_))) {
    capture_->begin(feed_);
    place.clock = &feed_.clock();
    place.providers = &feed_.providers();
    place.shared_ring = feed_.ring_count() - 1;
    if (wanted_.sampling.omits_any()) {
        sampler.emplace(wanted_.patterns, wanted_.sampling);
        sampler->start(feed_.ring_count(), feed_.clock_start());
    }
}

/// A capture may complain again and again.
void live_source::keep_diagnostics() {
    constexpr std::size_t diagnostics_max = 100;
    for (std::string& sentence : capture_->take_diagnostics()) {
        if (diagnostics_.size() < diagnostics_max) {
            diagnostics_.push_back(std::move(sentence));
        }
    }
}

std::vector<std::string> live_source::complaints() const {
    std::vector<std::string> all = single_source::complaints();
    all.insert(all.end(), diagnostics_.begin(), diagnostics_.end());
    return all;
}

void live_source::take_new_provider(const provider_instance& provider) {
    static_cast<void>(add_provider(provider));
    if (sampler) {
        sampler->add(provider);
    }
    if (excludes_self_ && is_own(provider)) {
        known_events.exclude(provider.id);
    }
}

/// A process in another pid namespace may have the same number, but hardly the same start time.
bool live_source::is_own(const provider_instance& provider) const noexcept {
    const bool may_be = provider.start_time == 0 || self_.start_time == 0 ||
                        provider.start_time == self_.start_time;
    return provider.pid == self_.pid && may_be;
}

std::optional<record> live_source::next() {
    std::optional<record> found = take_pending();
    if (!found) {
        found = next_due();
    }
    if (found || is_over_) {
        return found;
    }
    poll_if_due();
    found = next_due();
    if (!found && has_ended_) {
        finish();
        found = take_pending();
        is_over_ = true;
    }
    return found;
}

void live_source::poll_if_due() {
    if (has_ended_) {
        return;
    }
    if (stop_requested_) {
        has_ended_ = true;
        static_cast<void>(capture_->end());
        keep_diagnostics();
    } else if (steady_clock::now() >= next_poll_) {
        capture_->poll();
        keep_diagnostics();
        next_poll_ = steady_clock::now() + interval_;
    }
}

std::chrono::nanoseconds live_source::prefetch() {
    // If it holds too much already, records stay in the buffers, whose size is bounded.
    const bool has_room = feed_.held() < backlog_;
    if (has_room || stop_requested_) {
        poll_if_due();
    }
    if (has_ended_ || !has_room) {
        return std::chrono::nanoseconds::max();
    }
    return std::max<std::chrono::nanoseconds>(next_poll_ - steady_clock::now(), {});
}

std::optional<record> live_source::next_due() {
    if (sampler) {
        feed_.calibrate_clock();
    }
    while (const std::optional<merged_record> merged = feed_.next()) {
        if (std::optional<record> found = select_record(*merged)) {
            return found;
        }
    }
    return std::nullopt;
}

std::chrono::steady_clock::time_point live_source::due() {
    return stop_requested_ || has_ended_ ? steady_clock::time_point{} : next_poll_;
}

timestamp live_source::watermark() const noexcept {
    return feed_.watermark() == UINT64_MAX
               ? timestamp::max()
               : timestamp(std::chrono::nanoseconds(feed_.clock().realtime(feed_.watermark())));
}

/// The source is over when on_loss has returned for all of the last losses.
void live_source::finish() {
    if (std::exchange(has_finished_, true)) {
        return;
    }
    for (const loss_report& block : feed_.losses()) {
        take_loss(block);
    }
}

void live_source::wait(std::chrono::nanoseconds at_most) {
    const steady_clock::time_point now = steady_clock::now();
    if (stop_requested_ || now >= next_poll_) {
        return;
    }
    if (capture_->wait(std::min<std::chrono::nanoseconds>(next_poll_ - now, at_most))) {
        next_poll_ = steady_clock::now();  // a full buffer waits to be read
    }
}

}  // namespace elog::library
