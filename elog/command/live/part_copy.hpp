// SPDX-License-Identifier: MIT
//
// Copies the selected part of a recording to a new file.
#pragma once

#include <optional>

#include "file/record_copier.hpp"
#include "live/filtered_records.hpp"
#include "live/record_selection.hpp"
#include "record/record_writer.hpp"

namespace elog {

class part_writer final : public record_writer {
  public:
    /// `has_beginning`: the part includes the beginning of the recording.
    explicit part_writer(bool has_beginning) : has_beginning_(has_beginning) {}

    /// Creates the file. Precedes all writes.
    void begin(const copy_options& to, const file_reader& file);

    void write(const merged_record& record, const provider_map& providers,
               const clock_converter& clock, std::uint32_t shared_ring) override;
    void write_gap(const merged_record& record, std::uint32_t shared_ring) override;
    void write_loss(const loss_report& loss, const provider_map& providers,
                    std::uint32_t shared_ring) override;
    void write_mark(const recording_mark& mark, const clock_converter& clock) override;
    void flush() override {}
    void finish() override { summary_ = copier_->finish(); }
    /// Closes the file, which is complete.
    void close() { copier_.reset(); }

    [[nodiscard]] const copy_summary& summary() const noexcept { return summary_; }

  private:
    std::optional<record_copier> copier_;
    copy_summary summary_;
    bool has_beginning_;
};

class part_copy {
  public:
    /// Copies the part. Throws user_error or usage_error.
    part_copy(const record_selection& choice, const copy_options& to);
    part_copy(const part_copy&) = delete;
    part_copy& operator=(const part_copy&) = delete;
    ~part_copy() = default;

    [[nodiscard]] const copy_summary& summary() const noexcept { return writer_.summary(); }
    [[nodiscard]] const selected_records& records() const noexcept { return records_; }

  private:
    part_writer writer_;
    selected_records records_;
};

}  // namespace elog
