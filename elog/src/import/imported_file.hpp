// SPDX-License-Identifier: MIT
//
// Writes the .elog file that an import makes of another program's recording.
#pragma once

#include <cstdint>
#include <string>

#include "file/file_writer.hpp"
#include "files/tracing_data.hpp"
#include "record/record_sink.hpp"
#include "record/run_coalescer.hpp"

namespace elog {

/// Number of rings of the .elog file: one per CPU, and one for records without a CPU.
[[nodiscard]] std::uint32_t ring_count_of(
    const eventlog::tracefs::recorded_machine& machine) noexcept;

class imported_file final : public record_sink {
  public:
    /// Creates or replaces the file. Throws user_error, as all functions here.
    imported_file(const std::string& path, const eventlog::tracefs::recorded_machine& machine);

    void start(const region_view& /*source*/) override {}
    /// In the order of time.
    void take_clock(const eventlog_clock_sample& pair) override { writer_.write_clock(pair); }
    void take_provider(const provider_instance& provider) override {
        writer_.write_provider(provider);
    }
    void take_run(const record_run& run) override;
    void take_loss(const loss_report& loss) override;
    void advance(std::uint64_t /*time*/, std::uint64_t /*present*/) override {}
    void finish() override;

  private:
    void flush();

    file_writer writer_;
    run_coalescer coalescer_;
};

}  // namespace elog
