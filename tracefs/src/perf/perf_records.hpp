// SPDX-License-Identifier: MIT
//
// Parses the records in a perf ring buffer (perf_event_open(2)). A record may wrap around the end
// of the memory.
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace eventlog::tracefs {

/// Parts of samples that are parsed here, for perf_event_attr::sample_type.
inline constexpr std::uint64_t perf_sample_type =
    PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;

/// Adds a stack to samples.
inline constexpr std::uint64_t perf_stack_type = PERF_SAMPLE_CALLCHAIN;

/// Parts of records of events with perf_event_attr::comm and task, with sample_id_all.
inline constexpr std::uint64_t perf_process_type = PERF_SAMPLE_TIME;

enum class perf_kind {
    sample,   // an event
    lost,     // events without room
    forked,   // a new process or thread
    renamed,  // of a thread; of the process if it is the first thread
    mapped,   // a file as code into a process
    other,    // any other record
};

struct perf_record {
    perf_kind kind = perf_kind::other;
    // For all kinds except lost.
    std::uint64_t time = 0;
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    std::span<const std::uint8_t> raw{};  // in the layout of the event's format, with padding
    std::uint64_t lost = 0;
    std::uint32_t parent = 0;  // the creating process, which may be the same
    std::string_view name{};   // the new name; of a mapping the file's path
    // For samples: addresses of 8 bytes each, innermost first. Values above perf_context_min mark
    // the context of the following ones.
    std::span<const std::uint8_t> stack{};
    // For mappings:
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::uint64_t offset = 0;  // in the file
    std::uint64_t file = 0;    // inode; 0: unknown
};

inline constexpr std::uint64_t perf_context_min = static_cast<std::uint64_t>(PERF_CONTEXT_MAX);
inline constexpr std::uint64_t perf_context_kernel =
    static_cast<std::uint64_t>(PERF_CONTEXT_KERNEL);

/// Parses a whole record, whose bytes must stay valid. Nothing if it is invalid.
[[nodiscard]] std::optional<perf_record> parse_perf_record(std::span<const std::uint8_t> bytes,
                                                           bool has_stacks = false) noexcept;

/// Parses a body without header and trailer, except of samples. The time is set only for forked.
[[nodiscard]] std::optional<perf_record> parse_perf_body(
    std::uint32_t type, std::span<const std::uint8_t> body) noexcept;

/// Process and thread of a sample.
struct perf_task {
    std::uint32_t process = 0;  // 0: unknown, or the idle process with its threads 0
    std::uint32_t thread = 0;
};

/// The kernel reports a thread that is exiting as 2^32 - 1 in front of the event's record; the
/// record contains the thread.
[[nodiscard]] perf_task task_of(perf_task said, std::span<const std::uint8_t> raw) noexcept;

/// The memory of a ring without its first page. Positions continue beyond its size.
class perf_memory {
  public:
    perf_memory() = default;
    /// The size must be a power of two; the memory must stay valid.
    explicit perf_memory(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

    /// The record at a position that is followed by `filled` bytes of data; valid until the next
    /// call. Empty if there is no whole record.
    [[nodiscard]] std::span<const std::uint8_t> record_at(std::uint64_t position,
                                                          std::uint64_t filled);

  private:
    void copy(std::uint64_t position, std::span<std::uint8_t> out) const noexcept;

    std::span<const std::uint8_t> bytes_;
    std::vector<std::uint8_t> joined_;  // copy of a record that wraps around
};

/// Positions of the whole records in a ring that is written backward, oldest first. `head` is the
/// position of the newest record.
[[nodiscard]] std::vector<std::uint64_t> backward_positions(perf_memory& memory,
                                                            std::uint64_t head);

}  // namespace eventlog::tracefs
