// SPDX-License-Identifier: MIT
//
// Reads the provider table of a region: the providers that have attached, and their losses.
//
// Applications may write anything there: an entry is used after its state is ready, from a copy,
// and its schema must lie in the area of schemas. One thread uses it.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "memory/region_accessor.hpp"
#include "record/recording_summary.hpp"
#include "ring/region.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

/// All functions throw user_error if the file of the region has been truncated.
class provider_table {
  public:
    using handler = std::function<void(provider_instance&&)>;

    /// Both must outlive it.
    provider_table(const region_accessor& words, const eventlog::core::region_geometry& geometry)
        : words_(words), geometry_(geometry) {}

    /// Passes on the providers that have attached since the last call.
    void read_new(const handler& take);
    /// For a provider that has been passed on.
    [[nodiscard]] provider_losses losses_of(std::uint32_t provider) const;
    /// Number of providers whose schemas found no room.
    [[nodiscard]] std::uint32_t refused() const;

  private:
    void read_entries(std::uint32_t first, std::span<eventlog_provider_entry> entries) const;
    [[nodiscard]] std::optional<provider_instance> read_provider(std::uint32_t id) const;

    const region_accessor& words_;
    const eventlog::core::region_geometry& geometry_;
    std::vector<std::uint32_t> unfinished_;  // numbers taken, entries not ready
    std::uint32_t seen_ = 0;
};

}  // namespace elog
