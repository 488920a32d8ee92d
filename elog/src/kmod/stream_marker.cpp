// SPDX-License-Identifier: MIT
#include "kmod/stream_marker.hpp"

#include <cstring>

#include "record/ring_records.hpp"

namespace elog {

std::optional<stream_marker> peek_marker(std::span<const std::uint8_t> bytes) noexcept {
    if (bytes.size() < EVENTLOG_MARKER_HEADER_SIZE) {
        return std::nullopt;
    }
    const std::uint64_t head = ring_layout::word(bytes.data());
    const std::size_t payload = ring_layout::short_size_of(head);
    stream_marker found;
    found.type = static_cast<std::uint32_t>(head >> EVENTLOG_EVENT_SHIFT);
    found.size = ring_layout::padded_size(EVENTLOG_MARKER_HEADER_SIZE + payload);
    found.context = ring_layout::word(bytes.data(), 1);
    if (ring_layout::kind_of(head) != EVENTLOG_KIND_MARKER || found.size > bytes.size()) {
        return std::nullopt;
    }
    found.payload = bytes.subspan(EVENTLOG_MARKER_HEADER_SIZE, payload);
    return found;
}

std::optional<eventlog_run> run_of(const stream_marker& marker) noexcept {
    eventlog_run run{};
    if (marker.payload.size() < sizeof run) {
        return std::nullopt;
    }
    std::memcpy(&run, marker.payload.data(), sizeof run);
    return run;
}

run_marker_bytes make_run_marker(const eventlog_run& run, std::uint64_t context) noexcept {
    const std::uint64_t head = std::uint64_t{EVENTLOG_MARKER_RUN} << EVENTLOG_EVENT_SHIFT |
                               std::uint64_t{EVENTLOG_KIND_MARKER} << EVENTLOG_KIND_SHIFT |
                               std::uint64_t{sizeof run} << EVENTLOG_SHORT_SIZE_SHIFT |
                               static_cast<std::uint32_t>(run.time);
    run_marker_bytes bytes{};
    std::memcpy(bytes.data(), &head, sizeof head);
    std::memcpy(bytes.data() + sizeof head, &context, sizeof context);
    std::memcpy(bytes.data() + EVENTLOG_MARKER_HEADER_SIZE, &run, sizeof run);
    return bytes;
}

}  // namespace elog
