// SPDX-License-Identifier: MIT
//
// A record_sink that passes records to a writer in the order of time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "record/clock_converter.hpp"
#include "record/record_sink.hpp"
#include "record/record_writer.hpp"
#include "record/time_merger.hpp"

namespace elog {

/// The writer determines the form of the lines.
class text_sink : public record_sink {
  public:
    using provider_observer = std::function<void(const provider_schema&)>;

    /// `on_provider` is called for each provider before its first record.
    explicit text_sink(std::unique_ptr<record_writer> writer, provider_observer on_provider = {})
        : writer_(std::move(writer)), on_provider_(std::move(on_provider)) {}

    void start(const region_view& source) override;
    void take_clock(const eventlog_clock_sample& pair) override { clock_.add(pair); }
    void take_provider(const provider_instance& provider) override {
        if (on_provider_) {
            on_provider_(provider.schema);
        }
        providers_.insert_or_assign(provider.id, provider);
    }
    void take_run(const record_run& run) override { merger_.add(run); }
    void take_loss(const loss_report& loss) override;
    void take_mark(const recording_mark& mark) override { marks_.add(mark); }
    void advance(std::uint64_t time, std::uint64_t present) override;
    void finish() override;

  private:
    void write(const merged_record& record);
    void write_marks(std::uint64_t time);

    std::unique_ptr<record_writer> writer_;
    provider_observer on_provider_;
    time_merger merger_{0};
    pending_marks marks_;
    clock_converter clock_;
    provider_map providers_;
    std::uint32_t shared_ring_ = 0;
};

}  // namespace elog
