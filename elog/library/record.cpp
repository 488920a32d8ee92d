// SPDX-License-Identifier: MIT
//
// Implements elog/record.hpp on the data of event_info.hpp.
#include <cstring>

#include <elog/record.hpp>

#include "copied_record.hpp"
#include "event_info.hpp"

namespace elog {

timestamp record::time() const noexcept {
    return timestamp(std::chrono::nanoseconds(parts_.event->from->clock->realtime(parts_.ticks)));
}

std::uint32_t record::pid() const noexcept {
    return parts_.event->provider->pid;
}

std::uint32_t record::uid() const noexcept {
    return parts_.event->provider->uid;
}

std::string_view record::process() const noexcept {
    return parts_.event->provider->process;
}

bool record::is_truncated() const noexcept {
    return (parts_.flags & EVENTLOG_RECORD_TRUNCATED) != 0;
}

value record::operator[](std::size_t index) const noexcept {
    const auto& fields = parts_.event->fields;
    return index < fields.size() ? value(&fields[index], parts_.payload) : value();
}

value record::operator[](std::string_view field) const noexcept {
    const std::optional<std::size_t> index = event().find(field);
    return index ? (*this)[*index] : value();
}

std::size_t record::copy_to(std::span<std::byte> buffer) const noexcept {
    library::copied_record copied;
    const std::size_t size = sizeof copied + parts_.payload.size();
    if (size > buffer.size()) {
        return size;
    }
    copied.lost_before = parts_.lost_before;
    copied.origin = parts_.event->from->number;
    copied.ring = parts_.ring;
    copied.payload_size = static_cast<std::uint32_t>(parts_.payload.size());
    copied.provider = parts_.event->provider->id;
    copied.event = parts_.event->id;
    copied.ticks = parts_.ticks;
    copied.thread = parts_.thread;
    copied.cpu = parts_.cpu;
    copied.flags = parts_.flags;
    std::memcpy(buffer.data(), &copied, sizeof copied);
    if (!parts_.payload.empty()) {
        std::memcpy(buffer.data() + sizeof copied, parts_.payload.data(), parts_.payload.size());
    }
    return size;
}

}  // namespace elog
