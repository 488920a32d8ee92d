// SPDX-License-Identifier: MIT
#include "kmod/relay_subscription.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/poll_for.hpp"
#include "base/user_error.hpp"
#include "kmod/stream_marker.hpp"

namespace elog {
namespace {

// Bytes of one read: many of the largest records.
constexpr std::size_t relay_read_size = std::size_t{1} << 20U;

void append_gap(std::vector<std::uint8_t>& bytes, std::uint32_t cpu, std::uint64_t lost) {
    eventlog_run run{};
    run.ring = cpu;
    run.lost = lost;
    const run_marker_bytes marker = make_run_marker(run);
    bytes.insert(bytes.end(), marker.begin(), marker.end());
}

}  // namespace

relay_subscription::relay_subscription(const subscription_options& options)
    : relay_channel_owner{relay_channel(options)},
      device_subscription(options, channel.control_fd()),
      cpu_count_(region().geometry.ring_count - 1),
      opened_(cpu_count_, false),
      bytes_(relay_read_size) {}

/// A CPU, and its buffer with it, may come online at any time.
void relay_subscription::open_new_buffers() {
    for (std::uint32_t cpu = 0; cpu < cpu_count_; ++cpu) {
        if (stats_.cpus[cpu].is_there && !opened_[cpu]) {
            buffers_.push_back(
                {cpu, channel.open_buffer(cpu), relay_parser(cpu, channel.subbuf_size())});
            opened_[cpu] = true;
        }
    }
}

void relay_subscription::begin_pass() {
    stats_ = channel.stats(cpu_count_);
    open_new_buffers();
    is_passing_ = true;
    next_ = 0;
}

/// read() interrupts the CPU of the buffer, so buffers without new data are not read.
bool relay_subscription::is_behind(const buffer& from) const {
    const relay_counts& counts = stats_.cpus[from.cpu];
    return from.has_full || counts.recorded > from.parser.recorded() ||
           counts.lost > from.parser.lost();
}

/// Bytes of a buffer in the form of the device. Room in front of them is for a marker, which they
/// need if they begin within a sub-buffer.
std::span<const std::uint8_t> relay_subscription::read_from(buffer& from) {
    constexpr std::size_t front = sizeof(run_marker_bytes);
    while (true) {
        const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(front);
        std::copy(from.rest.begin(), from.rest.end(), begin);
        const std::size_t kept = front + from.rest.size();
        const ssize_t got = ::read(from.file.get(), bytes_.data() + kept, bytes_.size() - kept);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            throw user_error("The relay channel's buffer of CPU {} cannot be read ({}). Start the "
                             "recording again.",
                             from.cpu, std::strerror(errno));
        }
        if (got == 0) {
            return {};
        }
        const std::span<std::uint8_t> all(bytes_.data(), kept + static_cast<std::size_t>(got));
        const std::span<std::uint8_t> added = all.subspan(front);
        eventlog_run run{};
        run.ring = from.cpu;
        const run_marker_bytes marker = make_run_marker(run, from.parser.context());
        const std::size_t whole = from.parser.rewrite(added);
        from.rest.assign(added.begin() + static_cast<std::ptrdiff_t>(whole), added.end());
        if (whole == 0) {
            continue;
        }
        if (peek_marker(added)) {
            return added.first(whole);
        }
        std::copy(marker.begin(), marker.end(), bytes_.begin());
        return all.first(front + whole);
    }
}

/// Reads up to where writers were when the pass began, or to the end when recording has ended.
std::span<const std::uint8_t> relay_subscription::read_next() {
    while (next_ < buffers_.size()) {
        buffer& from = buffers_[next_];
        if (is_over_ || is_behind(from)) {
            from.has_full = false;
            const std::span<const std::uint8_t> bytes = read_from(from);
            if (!bytes.empty()) {
                return bytes;
            }
        }
        ++next_;
    }
    return {};
}

/// Losses behind the last record of each buffer.
std::span<const std::uint8_t> relay_subscription::report_rest() {
    has_reported_rest_ = true;
    bytes_.clear();
    for (const buffer& each : buffers_) {
        const std::uint64_t lost = stats_.cpus[each.cpu].lost;
        if (lost > each.parser.lost()) {
            append_gap(bytes_, each.cpu, lost - each.parser.lost());
        }
    }
    return bytes_;
}

std::span<const std::uint8_t> relay_subscription::read() {
    if (has_reported_rest_) {
        return {};
    }
    if (!is_passing_) {
        begin_pass();
    }
    // Losses that the channel does not count.
    std::span<const std::uint8_t> bytes = device_subscription::read();
    if (bytes.empty()) {
        bytes = read_next();
    }
    if (bytes.empty()) {
        is_passing_ = false;
        return is_over_ ? report_rest() : bytes;
    }
    return bytes;
}

void relay_subscription::end() noexcept {
    device_subscription::end();
    is_over_ = true;
    is_passing_ = false;
}

std::vector<eventlog_statistics> relay_subscription::counts() const {
    std::vector<eventlog_statistics> counts = device_subscription::counts();
    const relay_stats stats = channel.stats(cpu_count_);
    for (std::size_t cpu = 0; cpu < counts.size() && cpu < stats.cpus.size(); ++cpu) {
        counts[cpu].recorded += stats.cpus[cpu].recorded;
        counts[cpu].lost += stats.cpus[cpu].lost;
    }
    return counts;
}

bool relay_subscription::wait(std::chrono::nanoseconds at_most) {
    std::vector<pollfd> wanted;
    wanted.reserve(buffers_.size());
    for (const buffer& each : buffers_) {
        wanted.push_back({each.file.get(), POLLIN, 0});
    }
    if (poll_for(wanted, at_most) <= 0) {
        return false;
    }
    bool any = false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        buffers_[i].has_full = (wanted[i].revents & POLLIN) != 0;
        any = any || buffers_[i].has_full;
    }
    return any;
}

}  // namespace elog
