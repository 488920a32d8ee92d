// SPDX-License-Identifier: MIT
//
// The implementation of a sink: a writer of elog, which refers to providers by number, and the
// numbers for providers of all sources.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <elog/record.hpp>
#include <elog/source.hpp>

#include "event_info.hpp"
#include "record/record_writer.hpp"

namespace elog::library {

class sink_state {
  public:
    explicit sink_state(std::unique_ptr<record_writer> writer) : writer_(std::move(writer)) {}

    void put(const record_parts& parts);
    void put(const loss& missing);
    void flush() { writer_->flush(); }
    void finish() { writer_->finish(); }

    /// The provider of an event, with its number for the writer. Throws user_error if there are too
    /// many.
    [[nodiscard]] const provider_instance& provider_of(const event_info& event);

  private:
    [[nodiscard]] std::uint64_t unreported(const record_parts& parts);
    [[nodiscard]] const provider_instance& add_provider(provider_instance added);
    [[nodiscard]] std::uint32_t id_of(std::string_view provider);
    void put_gap(const loss& missing, std::uint32_t ring);

    std::unique_ptr<record_writer> writer_;
    provider_map providers_;
    std::unordered_map<const provider_instance*, std::uint32_t> numbers_;
    std::unordered_map<std::string_view, std::uint32_t>
        names_;  // of the first provider with that name
    // Losses that have been put before the next record of a source, by its number; 0 is for losses
    // of an unknown source.
    std::unordered_map<std::uint64_t, std::uint64_t> reported_;
};

}  // namespace elog::library
