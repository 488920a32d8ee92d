// SPDX-License-Identifier: MIT
//
// Reading a subscription's region while applications write to it. They may be broken or hostile:
// everything is checked on a private copy before it is used, and nothing is read from a mapping
// that could be cut off, but for the words that need atomic access.
#pragma once

#include <linux/eventlog.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "provider_schema.hpp"
#include "records.hpp"
#include "region.hpp"
#include "unique_fd.hpp"

namespace elog {

/// What a ring has lost that no record follows, and what its readers could not make sense of.
struct ring_totals {
    std::uint64_t read = 0;  // records
    std::uint64_t bytes = 0;
    std::uint64_t lost = 0;     // found no room; told before a record, or at the end
    std::uint64_t damaged = 0;  // records that were there but made no sense
};

/// Losses that a provider's process counted.
struct provider_losses {
    std::uint64_t full = 0;  // included in ring_totals::lost
    std::uint64_t too_large = 0;
    std::uint64_t busy = 0;
    std::uint64_t cut = 0;  // not lost: written with shorter texts
};

class region_reader {
  public:
    region_reader(const eventlog::core::unique_fd& file,
                  const eventlog::core::region_geometry& geometry);
    ~region_reader();
    region_reader(const region_reader&) = delete;
    region_reader& operator=(const region_reader&) = delete;

    using take_run = std::function<void(const record_run&)>;
    using take_provider = std::function<void(provider_instance&&)>;

    /// Hands over all that has been recorded since the last call, ring by ring, and gives drained
    /// buffers back. The bytes are valid only during the call of `take`. Providers that records
    /// name must be asked for (read_new_providers) inside `take` or afterwards, not before.
    void poll(const take_run& take);

    /// Hands over the providers that have attached since the last call.
    void read_new_providers(const take_provider& take);

    /// Sleeps until a buffer has been switched or the time is over.
    void wait(std::chrono::nanoseconds at_most);

    /// After the subscription has ended and poll has been called: what each ring lost at its end,
    /// in no record_run. Adds it to the totals.
    [[nodiscard]] std::vector<std::uint64_t> finish();

    [[nodiscard]] const std::vector<ring_totals>& rings() const noexcept { return totals_; }
    [[nodiscard]] std::uint32_t providers_refused() const noexcept;
    [[nodiscard]] provider_losses losses_of(std::uint16_t provider) const noexcept;
    /// The last ring: shared by writers that have no CPU's ring.
    [[nodiscard]] std::uint32_t shared_ring() const noexcept { return geometry_.ring_count - 1; }

  private:
    struct position {
        std::uint64_t generation = 0;
        std::uint64_t offset = 0;     // in the buffer
        std::uint64_t records = 0;    // taken out of this buffer
        std::uint64_t lost_told = 0;  // part of the ring's `lost` that has been told
    };

    [[nodiscard]] eventlog_ring* ring_at(std::uint32_t ring) const noexcept;
    [[nodiscard]] eventlog_region* region() const noexcept;
    [[nodiscard]] eventlog_provider_entry& entry_at(std::uint32_t id) const noexcept;
    [[nodiscard]] bool something_to_read() const noexcept;
    void poll_ring(std::uint32_t ring, const take_run& take);
    void read_buffer(std::uint32_t ring, eventlog::core::control_word filled, const take_run& take);
    [[nodiscard]] std::optional<provider_instance> read_provider(std::uint16_t id) const;

    const eventlog::core::unique_fd& file_;
    eventlog::core::region_geometry geometry_;
    unsigned char* head_ = nullptr;
    std::vector<position> positions_;
    std::vector<ring_totals> totals_;
    std::vector<std::uint16_t> unfinished_providers_;
    std::uint32_t providers_seen_ = 0;
    std::vector<std::uint8_t> copy_;
};

}  // namespace elog
