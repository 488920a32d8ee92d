// SPDX-License-Identifier: MIT
//
// The use of the process file of this process: room is taken at its end and never given back. Room
// gets memory when it is reserved, so that a full tmpfs is an error and not a SIGBUS.
#pragma once

#include <cstdint>

#include "platform/unique_fd.hpp"

namespace eventlog::core {

[[nodiscard]] std::uint64_t round_up_to(std::uint64_t number, std::uint64_t unit) noexcept;
[[nodiscard]] std::uint64_t page_size() noexcept;

/// The size of a gate with its counters, in whole pages.
[[nodiscard]] std::uint64_t gate_room() noexcept;

/// Reserves memory for a part of the file. False, with errno set, where the file system or a
/// sandbox has no such call.
[[nodiscard]] bool reserve_room(const unique_fd& file, std::uint64_t offset,
                                std::uint64_t size) noexcept;
[[nodiscard]] bool reserve_gate(const unique_fd& file, std::uint64_t offset) noexcept;

/// Frees the memory of a gate, which reads as zero afterwards.
void free_gate(const unique_fd& file, std::uint64_t offset) noexcept;

/// Takes room for gates and schemas for `ahead` providers at once. All functions return 0 if the
/// file cannot grow.
struct process_file_room {
    /// Whole pages, without memory.
    [[nodiscard]] std::uint64_t take(const unique_fd& file, std::uint64_t size) noexcept;
    /// A gate, without memory.
    [[nodiscard]] std::uint64_t take_gate(const unique_fd& file, std::uint64_t ahead) noexcept;
    /// A schema, with memory; schemas share pages.
    [[nodiscard]] std::uint64_t take_schema(const unique_fd& file, std::uint64_t size,
                                            std::uint64_t ahead) noexcept;

    std::uint64_t end = 0;         // what is used
    std::uint64_t gates_next = 0;  // the rest of the area for gates
    std::uint64_t gates_end = 0;
    std::uint64_t schemas_next = 0;  // the rest of the area for schemas
    std::uint64_t schemas_reserved = 0;
    std::uint64_t schemas_end = 0;
};

}  // namespace eventlog::core
