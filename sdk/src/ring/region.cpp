// SPDX-License-Identifier: MIT
#include "ring/region.hpp"

#include <bit>
#include <cstring>

#include "platform/process.hpp"

namespace eventlog::core {
namespace {

constexpr std::uint64_t page = 65536;  // the largest page size of all supported machines

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept {
    return (value + unit - 1) / unit * unit;
}

bool is_within_limits(const eventlog_region& header) noexcept {
    return header.ring_count >= 2 && header.ring_count <= EVENTLOG_RINGS_MAX &&
           std::has_single_bit(header.buffer_count) && header.buffer_count >= 2 &&
           header.buffer_count <= EVENTLOG_BUFFERS_MAX && std::has_single_bit(header.buffer_size) &&
           header.buffer_size >= EVENTLOG_BUFFER_SIZE_MIN &&
           header.buffer_size <= EVENTLOG_BUFFER_SIZE_MAX &&
           header.schemas_size <= std::uint64_t{1} << 40U &&
           header.filter_size <= EVENTLOG_FILTER_SIZE_MAX;
}

region_geometry geometry_in(const eventlog_region& header) noexcept {
    return {header.ring_count,     header.ring_stride,  header.buffer_count,
            header.buffer_size,    header.rings_offset, header.providers_offset,
            header.schemas_offset, header.schemas_size, header.buffers_offset,
            header.total_size};
}

/// A detached subscription must have a name. Others may have one: those that are not detached yet,
/// or not any more.
bool is_name_valid(const eventlog_region& header) noexcept {
    const std::size_t size = ::strnlen(header.name, sizeof header.name);
    if (size == sizeof header.name) {
        return false;
    }
    return is_subscription_name({header.name, size}) || (size == 0 && !is_detached(header));
}

}  // namespace

bool is_subscription_name(std::string_view name) noexcept {
    if (name.empty() || name.size() >= EVENTLOG_SUBSCRIPTION_NAME_SIZE || name.front() == '.' ||
        name.front() == '-') {
        return false;
    }
    for (const char c : name) {
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.') {
            return false;
        }
    }
    return true;
}

region_geometry plan_region(std::uint32_t cpu_count, std::uint32_t buffer_count,
                            std::uint32_t buffer_size, std::uint64_t schemas_size) noexcept {
    region_geometry plan;
    plan.ring_count = cpu_count + 1;
    plan.ring_stride = static_cast<std::uint32_t>(
        round_up(sizeof(eventlog_ring) + buffer_count * sizeof(eventlog_buffer), 64));
    plan.buffer_count = buffer_count;
    plan.buffer_size = buffer_size;
    plan.rings_offset = pause_log_offset + sizeof(eventlog_pause_log);
    plan.providers_offset =
        round_up(plan.rings_offset + std::uint64_t{plan.ring_count} * plan.ring_stride, 64);
    plan.schemas_offset = round_up(plan.providers_offset + std::uint64_t{EVENTLOG_PROVIDERS_MAX} *
                                                               sizeof(eventlog_provider_entry),
                                   page);
    plan.schemas_size = round_up(schemas_size, page);
    plan.buffers_offset = plan.schemas_offset + plan.schemas_size;
    plan.total_size =
        plan.buffers_offset + std::uint64_t{plan.ring_count} * plan.buffer_count * plan.buffer_size;
    return plan;
}

void begin_header(eventlog_region& header, const region_geometry& geometry,
                  const process_identity& owner) noexcept {
    header.magic = EVENTLOG_REGION_MAGIC;
    header.version = EVENTLOG_REGION_VERSION;
    header.ring_count = geometry.ring_count;
    header.ring_stride = geometry.ring_stride;
    header.buffer_count = geometry.buffer_count;
    header.buffer_size = geometry.buffer_size;
    header.rings_offset = geometry.rings_offset;
    header.providers_offset = geometry.providers_offset;
    header.schemas_offset = geometry.schemas_offset;
    header.schemas_size = geometry.schemas_size;
    header.buffers_offset = geometry.buffers_offset;
    header.total_size = geometry.total_size;
    header.owner_pid = owner.pid;
    header.owner_uid = owner.uid;
    header.owner_start_time = owner.start_time;
    header.owner_pid_namespace = owner.pid_namespace;
}

bool check_region(const eventlog_region& header, std::uint64_t file_size, region_geometry& geometry,
                  error_text& error) noexcept {
    if (header.magic != EVENTLOG_REGION_MAGIC || header.version != EVENTLOG_REGION_VERSION ||
        (header.features & ~EVENTLOG_FEATURES) != 0) {
        error.set("The subscription is of another version of eventlog. Use the same version in the "
                  "program and in elog.");
        return false;
    }
    // Ring sizes and counts determine the layout completely: any difference is damage.
    if (is_within_limits(header)) {
        geometry = plan_region(header.ring_count - 1, header.buffer_count, header.buffer_size,
                               header.schemas_size);
        if (geometry == geometry_in(header) && header.total_size <= file_size &&
            header.serial != 0 && header.serial != UINT64_MAX &&
            header.session_count <= EVENTLOG_SESSIONS_MAX && is_name_valid(header) &&
            (header.clock == EVENTLOG_CLOCK_TSC || header.clock == EVENTLOG_CLOCK_MONOTONIC)) {
            return true;
        }
    }
    error.set("The subscription is damaged: its header contradicts itself. End it and start a new "
              "one.");
    return false;
}

}  // namespace eventlog::core
