// SPDX-License-Identifier: MIT
//
// What stands in a ring buffer of perf's (perf_event_open(2)), taken apart: records one behind the
// other, which may begin at the end of the memory and go on at its beginning.
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace eventlog::tracefs {

/// What the samples have that are taken apart here, for perf_event_attr::sample_type.
inline constexpr std::uint64_t perf_sample_type =
    PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;

/// With it, samples have a stack, too.
inline constexpr std::uint64_t perf_stack_type = PERF_SAMPLE_CALLCHAIN;

/// What those have of which perf_event_attr::comm and task are set, with sample_id_all.
inline constexpr std::uint64_t perf_process_type = PERF_SAMPLE_TIME;

enum class perf_kind {
    sample,   // an event
    lost,     // events that found no room
    forked,   // a process or a thread
    renamed,  // a thread, or with its first one a process
    mapped,   // code, from a file into a process
    other,    // nothing of these
};

struct perf_record {
    perf_kind kind = perf_kind::other;
    // Of all but what is lost.
    std::uint64_t time = 0;
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    std::span<const std::uint8_t> raw{};  // what the event's format describes, and some zeros
    std::uint64_t lost = 0;
    std::uint32_t parent = 0;  // the process that has begun it, which may be the same
    std::string_view name{};   // the new one; of what is mapped the file's
    // Of a sample: addresses of 8 bytes each, the innermost first; those above perf_context_min say
    // whose follow.
    std::span<const std::uint8_t> stack{};
    // Of what is mapped:
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::uint64_t offset = 0;  // in the file
    std::uint64_t file = 0;    // its number in its file system; 0: not told
};

inline constexpr std::uint64_t perf_context_min = static_cast<std::uint64_t>(PERF_CONTEXT_MAX);

/// Takes a whole record apart, whose bytes must stay. Nothing: it makes no sense.
[[nodiscard]] std::optional<perf_record> parse_perf_record(std::span<const std::uint8_t> bytes,
                                                           bool has_stacks = false) noexcept;

/// The same of what stands behind the header of a record that is no sample, without what
/// sample_id_all has behind it: the time is that of what has begun alone.
[[nodiscard]] std::optional<perf_record> parse_perf_body(
    std::uint32_t type, std::span<const std::uint8_t> body) noexcept;

/// Whose a sample is.
struct perf_task {
    std::uint32_t process = 0;  // 0: nobody can say, or the idle one, whose threads are 0
    std::uint32_t thread = 0;
};

/// What the kernel cannot say of a thread that is just ending is 2^32 - 1 in front of the event's
/// record. That names the thread in any case.
[[nodiscard]] perf_task task_of(perf_task said, std::span<const std::uint8_t> raw) noexcept;

/// A ring's memory, without the page in front of it. Positions go on beyond its size.
class perf_memory {
  public:
    perf_memory() = default;
    /// Its size must be a power of two, and it must stay.
    explicit perf_memory(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

    /// The bytes of the record at a position, behind which `filled` bytes of the ring are filled:
    /// valid until the next call. Nothing: no whole record is there.
    [[nodiscard]] std::span<const std::uint8_t> record_at(std::uint64_t position,
                                                          std::uint64_t filled);

  private:
    void copy(std::uint64_t position, std::span<std::uint8_t> out) const noexcept;

    std::span<const std::uint8_t> bytes_;
    std::vector<std::uint8_t> joined_;  // of a record that goes on at the beginning
};

/// Where the whole records begin that a ring holds which is written from its end to its beginning,
/// and whose newest record is at `head`: the oldest first.
[[nodiscard]] std::vector<std::uint64_t> backward_positions(perf_memory& memory,
                                                            std::uint64_t head);

}  // namespace eventlog::tracefs
