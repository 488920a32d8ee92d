// SPDX-License-Identifier: MIT
#include "perf/perf_records.hpp"

#include <algorithm>
#include <cstring>

#include "format/event_format.hpp"

namespace eventlog::tracefs {
namespace {

/// Removes numbers from the front; false if there are too few bytes.
template <class... Numbers>
bool take(std::span<const std::uint8_t>& bytes, Numbers&... numbers) noexcept {
    const auto take_one = [&bytes](auto& number) {
        if (bytes.size() < sizeof number) {
            return false;
        }
        std::memcpy(&number, bytes.data(), sizeof number);
        bytes = bytes.subspan(sizeof number);
        return true;
    };
    return (take_one(numbers) && ...);
}

/// A count, followed by that many addresses.
bool take_stack(std::span<const std::uint8_t>& bytes,
                std::span<const std::uint8_t>& stack) noexcept {
    std::uint64_t count = 0;
    if (!take(bytes, count) || count > bytes.size() / sizeof count) {
        return false;
    }
    stack = bytes.first(count * sizeof count);
    bytes = bytes.subspan(stack.size());
    return true;
}

/// In the order of the bits of perf_sample_type and perf_stack_type.
std::optional<perf_record> parse_sample(std::span<const std::uint8_t> bytes,
                                        bool has_stack) noexcept {
    perf_record found;
    found.kind = perf_kind::sample;
    std::uint32_t size = 0;
    const bool is_whole = take(bytes, found.process, found.thread, found.time) &&
                          (!has_stack || take_stack(bytes, found.stack)) && take(bytes, size) &&
                          size <= bytes.size();
    if (!is_whole) {
        return std::nullopt;
    }
    found.raw = bytes.first(size);
    return found;
}

/// The number of lost events, behind the id of some event of the ring.
std::optional<perf_record> parse_lost(std::span<const std::uint8_t> bytes,
                                      bool has_number) noexcept {
    perf_record found;
    found.kind = perf_kind::lost;
    std::uint64_t number = 0;
    if ((has_number && !take(bytes, number)) || !take(bytes, found.lost)) {
        return std::nullopt;
    }
    return found;
}

std::optional<perf_record> parse_fork(std::span<const std::uint8_t> bytes) noexcept {
    perf_record found;
    found.kind = perf_kind::forked;
    std::uint32_t parent_thread = 0;
    const bool is_whole =
        take(bytes, found.process, found.parent, found.thread, parent_thread, found.time);
    return is_whole ? std::optional(found) : std::nullopt;
}

std::string_view text_of(std::span<const std::uint8_t> bytes) noexcept {
    const auto end = std::find(bytes.begin(), bytes.end(), std::uint8_t{0});
    return {reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::size_t>(end - bytes.begin())};
}

/// The name ends at its NUL.
std::optional<perf_record> parse_comm(std::span<const std::uint8_t> bytes) noexcept {
    perf_record found;
    found.kind = perf_kind::renamed;
    if (!take(bytes, found.process, found.thread)) {
        return std::nullopt;
    }
    found.name = text_of(bytes);
    return found;
}

/// PERF_RECORD_MMAP2, with the time behind the name.
std::optional<perf_record> parse_mmap(std::uint16_t flags,
                                      std::span<const std::uint8_t> bytes) noexcept {
    perf_record found;
    found.kind = perf_kind::mapped;
    std::uint64_t device = 0;
    std::uint64_t generation = 0;
    std::uint64_t access = 0;
    const bool is_whole = take(bytes, found.process, found.thread, found.address, found.size,
                               found.offset, device, found.file, generation, access) &&
                          bytes.size() >= sizeof found.time;
    if (!is_whole) {
        return std::nullopt;
    }
    // With this flag a build ID is in the place of the inode.
    found.file = (flags & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0 ? 0 : found.file;
    found.name = text_of(bytes.first(bytes.size() - sizeof found.time));
    std::memcpy(&found.time, bytes.last(sizeof found.time).data(), sizeof found.time);
    return found;
}

/// With the time behind the name (perf_process_type).
std::optional<perf_record> parse_comm_and_time(std::span<const std::uint8_t> bytes) noexcept {
    constexpr std::size_t time_size = sizeof(perf_record::time);
    if (bytes.size() < time_size) {
        return std::nullopt;
    }
    std::optional<perf_record> found = parse_comm(bytes.first(bytes.size() - time_size));
    if (found) {
        std::memcpy(&found->time, bytes.last(time_size).data(), time_size);
    }
    return found;
}

}  // namespace

std::optional<perf_record> parse_perf_body(std::uint32_t type,
                                           std::span<const std::uint8_t> body) noexcept {
    switch (type) {
        case PERF_RECORD_LOST:
            return parse_lost(body, true);
        case PERF_RECORD_LOST_SAMPLES:
            return parse_lost(body, false);
        case PERF_RECORD_FORK:
            return parse_fork(body);
        case PERF_RECORD_COMM:
            return parse_comm(body);
        default:
            return perf_record{};
    }
}

std::optional<perf_record> parse_perf_record(std::span<const std::uint8_t> bytes,
                                             bool has_stacks) noexcept {
    std::span<const std::uint8_t> rest = bytes;
    perf_event_header header{};
    if (!take(rest, header) || header.size != bytes.size()) {
        return std::nullopt;
    }
    switch (header.type) {
        case PERF_RECORD_SAMPLE:
            return parse_sample(rest, has_stacks);
        case PERF_RECORD_MMAP2:
            return parse_mmap(header.misc, rest);
        case PERF_RECORD_COMM:
            return parse_comm_and_time(rest);
        default:
            return parse_perf_body(header.type, rest);
    }
}

perf_task task_of(perf_task said, std::span<const std::uint8_t> raw) noexcept {
    constexpr std::uint32_t unknown = UINT32_MAX;
    if (said.process == unknown) {
        said.process = 0;
    }
    if (const auto common = parse_common_fields(raw); common && said.thread == unknown) {
        said.thread = common->thread;
    }
    return said;
}

void perf_memory::copy(std::uint64_t position, std::span<std::uint8_t> out) const noexcept {
    const std::size_t begin = position & (bytes_.size() - 1);
    const std::size_t first = std::min(out.size(), bytes_.size() - begin);
    std::memcpy(out.data(), bytes_.data() + begin, first);
    std::memcpy(out.data() + first, bytes_.data(), out.size() - first);
}

std::span<const std::uint8_t> perf_memory::record_at(std::uint64_t position, std::uint64_t filled) {
    perf_event_header header{};
    const std::uint64_t available = std::min<std::uint64_t>(filled, bytes_.size());
    if (available < sizeof header) {
        return {};
    }
    std::uint8_t head[sizeof header];
    copy(position, head);
    std::memcpy(&header, head, sizeof header);
    if (header.size < sizeof header || header.size > available) {
        return {};
    }
    const std::size_t begin = position & (bytes_.size() - 1);
    if (header.size <= bytes_.size() - begin) {
        return bytes_.subspan(begin, header.size);
    }
    joined_.resize(header.size);
    copy(position, joined_);
    return joined_;
}

std::vector<std::uint64_t> backward_positions(perf_memory& memory, std::uint64_t head) {
    std::vector<std::uint64_t> positions;
    // `head` starts at 0 and decreases, so the distance to 0 has been written.
    std::uint64_t left = std::min<std::uint64_t>(0 - head, memory.size());
    while (true) {
        // The newest records may have overwritten the end of the oldest one.
        const std::span<const std::uint8_t> record = memory.record_at(head, left);
        if (record.empty()) {
            break;
        }
        positions.push_back(head);
        head += record.size();
        left -= record.size();
    }
    std::reverse(positions.begin(), positions.end());
    return positions;
}

}  // namespace eventlog::tracefs
