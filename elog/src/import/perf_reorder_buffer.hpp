// SPDX-License-Identifier: MIT
//
// The records of perf.data in the order of time. perf writes what it finds in one buffer after the
// other, and tells when it has been through all of them: what is not later than the latest before
// the last round but one is complete then.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace elog {

/// One that waits for its time.
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

    /// A round is what perf's buffers hold, half a megabyte for each CPU, unless somebody asks for
    /// more.
    static constexpr std::size_t default_bytes_max = std::size_t{256} << 20U;

    explicit perf_reorder_buffer(take_record take, std::size_t bytes_max = default_bytes_max)
        : take_(std::move(take)), bytes_max_(bytes_max) {}

    /// Copies the body. Where more waits than any round has, the older half is let go.
    void add(const pending_record& record, std::span<const std::uint8_t> body);
    /// Another round is over.
    void finish_round();
    /// All that waits is complete.
    void finish() { flush_until(UINT64_MAX); }

  private:
    struct buffered_record {
        pending_record record;
        std::span<const std::uint8_t> body;
    };

  public:
    /// What one counts for that waits, but for its body.
    static constexpr std::size_t pending_record_size = sizeof(buffered_record);

  private:
    /// Where in time, and as the how many-th: many are sorted, and most stand right already.
    using sort_key = std::pair<std::uint64_t, std::size_t>;

    [[nodiscard]] std::span<const std::uint8_t> keep(std::span<const std::uint8_t> body);
    void build_sort_keys();
    void flush_until(std::uint64_t until);
    void recycle(std::vector<std::vector<std::uint8_t>>& blocks);

    take_record take_;
    std::size_t bytes_max_;  // of all that waits
    std::vector<buffered_record> pending_;
    std::vector<sort_key> sort_keys_;                // of all that wait, when they are looked for
    std::size_t bytes_ = 0;                          // of their bodies
    std::vector<std::vector<std::uint8_t>> blocks_;  // where these stand; none is made larger
    // Each round needs as much memory as the one before: it is taken once. Empty ones.
    std::vector<std::vector<std::uint8_t>> free_blocks_;
    std::vector<buffered_record> before_;
    std::uint64_t latest_ = 0;
    std::uint64_t watermark_ = 0;
};

}  // namespace elog
