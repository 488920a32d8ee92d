// SPDX-License-Identifier: MIT
//
// The common part of the writers of formats: a buffer in front of a descriptor, the lookup of a
// record's provider, and the order of records and losses. One thread uses a writer.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/output_buffer.hpp"
#include "record/record_writer.hpp"

namespace elog {

class buffered_writer : public record_writer {
  public:
    void write(const merged_record& record, const provider_map& providers,
               const clock_converter& clock, std::uint32_t shared_ring) final;
    void write_gap(const merged_record& record, std::uint32_t shared_ring) final;
    void write_loss(const loss_report& loss, const provider_map& providers,
                    std::uint32_t shared_ring) final;
    void flush() final { write_out(descriptor_, buffer_, should_abort_); }

  protected:
    /// Writes to a descriptor that the caller owns. `should_abort`: see write_all.
    explicit buffered_writer(int descriptor, abort_check should_abort = {})
        : descriptor_(descriptor), should_abort_(std::move(should_abort)) {}

    /// `provider` is null if the provider or its event is unknown.
    virtual void append_record(const merged_record& record, const provider_instance* provider,
                               const clock_converter& clock) = 0;
    /// The reasons are those of loss_names.hpp. The shared ring belongs to no CPU.
    virtual void append_ring_loss(std::uint32_t ring, bool is_shared, std::uint64_t lost,
                                  std::string_view reason) = 0;
    /// `provider` is null if it is unknown.
    virtual void append_provider_loss(const provider_instance* provider, std::uint64_t lost,
                                      std::string_view reason) = 0;

    [[nodiscard]] fmt::memory_buffer& buffer() noexcept { return buffer_; }
    void append_decimal(std::uint64_t number) {
        const fmt::format_int text(number);
        buffer_.append(text.data(), text.data() + text.size());
    }
    /// Number of records that this version does not support. They are not written.
    [[nodiscard]] std::uint64_t skipped() const noexcept { return skipped_; }

  private:
    int descriptor_;
    abort_check should_abort_;
    fmt::memory_buffer buffer_;
    std::uint64_t skipped_ = 0;
};

}  // namespace elog
