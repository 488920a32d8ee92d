// SPDX-License-Identifier: MIT
#include "shm/process_file_room.hpp"

#include <fcntl.h>
#include <linux/eventlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "ring/gate_layout.hpp"
#include "shm/exact_io.hpp"

namespace eventlog::core {
namespace {

constexpr std::uint64_t gate_with_counters = EVENTLOG_GATE_SIZE + EVENTLOG_COUNTERS_SIZE;
constexpr std::uint64_t schema_bytes_ahead = 4096;  // of a provider

}  // namespace

std::uint64_t round_up_to(std::uint64_t number, std::uint64_t unit) noexcept {
    return (number + unit - 1) / unit * unit;
}

std::uint64_t page_size() noexcept {
    return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t gate_room() noexcept {
    return round_up_to(gate_with_counters, page_size());
}

bool reserve_room(const unique_fd& file, std::uint64_t offset, std::uint64_t size) noexcept {
    // Not posix_fallocate: where a file system or a sandbox has no such call, that writes to each
    // page.
    int result = 0;
    do {
        result = ::fallocate(file.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(size));
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

bool reserve_gate(const unique_fd& file, std::uint64_t offset) noexcept {
    return reserve_room(file, offset, gate_with_counters);
}

void free_gate(const unique_fd& file, std::uint64_t offset) noexcept {
    static_cast<void>(::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                  static_cast<off_t>(offset), static_cast<off_t>(gate_room())));
}

std::uint64_t process_file_room::take(const unique_fd& file, std::uint64_t size) noexcept {
    const std::uint64_t begin = round_up_to(end, page_size());
    const std::uint64_t behind = begin + round_up_to(size, page_size());
    if (!is_size_allowed(behind) || ::ftruncate(file.get(), static_cast<off_t>(behind)) != 0) {
        return 0;
    }
    end = behind;
    return begin;
}

std::uint64_t process_file_room::take_gate(const unique_fd& file, std::uint64_t ahead) noexcept {
    if (gates_next == gates_end) {
        const std::uint64_t area = gate_room() * ahead;
        const std::uint64_t begin = take(file, area);
        if (begin == 0) {
            return 0;
        }
        gates_next = begin;
        gates_end = begin + area;
    }
    const std::uint64_t offset = gates_next;
    gates_next += gate_room();
    return offset;
}

std::uint64_t process_file_room::take_schema(const unique_fd& file, std::uint64_t size,
                                             std::uint64_t ahead) noexcept {
    const std::uint64_t room = round_up_to(size, 8);
    if (schemas_end - schemas_next < room) {
        const std::uint64_t area =
            round_up_to(std::max(room, schema_bytes_ahead * ahead), page_size());
        const std::uint64_t begin = take(file, area);
        if (begin == 0) {
            return 0;
        }
        schemas_next = begin;
        schemas_reserved = begin;
        schemas_end = begin + area;
    }
    const std::uint64_t offset = schemas_next;
    const std::uint64_t behind = round_up_to(offset + room, page_size());
    if (behind > schemas_reserved) {
        if (!reserve_room(file, schemas_reserved, behind - schemas_reserved)) {
            return 0;
        }
        schemas_reserved = behind;
    }
    schemas_next += room;
    return offset;
}

}  // namespace eventlog::core
