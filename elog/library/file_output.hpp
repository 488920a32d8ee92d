// SPDX-License-Identifier: MIT
//
// A new .elog file of records from any sources.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <optional>
#include <string>

#include <elog/sink.hpp>

#include "base/atomic_file.hpp"
#include "file/record_copier.hpp"
#include "record/record_writer.hpp"

namespace elog::library {

/// Each source has clocks of its own, so times are written as CLOCK_REALTIME, under the name of
/// CLOCK_MONOTONIC, whose ticks are nanoseconds.
class file_output final : public record_writer {
  public:
    /// All functions throw user_error.
    file_output(const std::string& path, const writing_options& options);

    void write(const merged_record& record, const provider_map& providers,
               const clock_converter& clock, std::uint32_t shared_ring) override;
    void write_gap(const merged_record& record, std::uint32_t shared_ring) override;
    void write_loss(const loss_report& loss, const provider_map& providers,
                    std::uint32_t shared_ring) override;
    void flush() override {}
    /// Gives the file its name. Nothing can be written afterwards.
    void finish() override;

  private:
    /// Throws user_error after finish(), or if a part of the file is missing.
    [[nodiscard]] record_copier& open_copier();
    void read_clock(std::uint64_t time);
    [[nodiscard]] std::uint32_t ring_of(std::uint32_t ring,
                                        std::uint32_t shared_ring) const noexcept;

    std::string path_;
    atomic_file file_;
    std::uint32_t shared_ring_;
    std::optional<record_copier> copier_;
    std::optional<std::uint64_t> last_reading_;
    bool is_complete_ = true;  // so far
    bool is_finished_ = false;
};

}  // namespace elog::library
