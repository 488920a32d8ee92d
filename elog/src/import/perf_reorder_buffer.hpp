// SPDX-License-Identifier: MIT
//
// Sorts the records of perf.data by time.
//
// perf reads one buffer after the other and marks the end of each round. When a round ends, all
// records up to the latest time of the round before it are complete.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace elog {

/// A record that waits for its turn.
struct pending_record {
    std::uint64_t time = 0;
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    std::optional<std::uint32_t> cpu{};
    std::uint32_t type = 0;
    std::uint16_t misc = 0;
};

class perf_reorder_buffer {
  public:
    using take_record =
        std::function<void(const pending_record&, std::span<const std::uint8_t> body)>;

    /// A round holds at most the content of perf's buffers: half a megabyte per CPU by default.
    static constexpr std::size_t default_bytes_max = std::size_t{256} << 20U;

    explicit perf_reorder_buffer(take_record take, std::size_t bytes_max = default_bytes_max)
        : take_(std::move(take)), bytes_max_(bytes_max) {}

    /// Copies the body. If the bytes exceed the maximum, the older half is passed on early.
    void add(const pending_record& record, std::span<const std::uint8_t> body);
    /// Marks the end of a round.
    void finish_round();
    /// Passes on all records.
    void finish() { flush_until(UINT64_MAX); }

  private:
    struct buffered_record {
        pending_record record;
        std::span<const std::uint8_t> body;
    };

  public:
    /// Bytes that a waiting record counts in addition to its body.
    static constexpr std::size_t pending_record_size = sizeof(buffered_record);

  private:
    /// Time and position of arrival. Most records arrive in order.
    using sort_key = std::pair<std::uint64_t, std::size_t>;

    [[nodiscard]] std::span<const std::uint8_t> keep(std::span<const std::uint8_t> body);
    void build_sort_keys();
    void flush_until(std::uint64_t until);
    void recycle(std::vector<std::vector<std::uint8_t>>& blocks);

    take_record take_;
    std::size_t bytes_max_;  // of all waiting records
    std::vector<buffered_record> pending_;
    std::vector<sort_key> sort_keys_;  // of all waiting records, rebuilt for each flush
    std::size_t bytes_ = 0;            // of the bodies
    std::vector<std::vector<std::uint8_t>> blocks_;  // hold the bodies; never reallocated
    // Empty blocks for reuse, because each round needs about as much memory as the one before.
    std::vector<std::vector<std::uint8_t>> free_blocks_;
    std::vector<buffered_record> before_;
    std::uint64_t latest_ = 0;
    std::uint64_t watermark_ = 0;
};

}  // namespace elog
