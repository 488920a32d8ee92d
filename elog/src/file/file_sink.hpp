// SPDX-License-Identifier: MIT
//
// Where `elog record -o` puts records: one .elog file, or one behind the other.
#pragma once

#include <bitset>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "file/file_writer.hpp"
#include "file/rotated_files.hpp"
#include "record/clock_converter.hpp"
#include "record/record_sink.hpp"
#include "record/run_coalescer.hpp"

namespace elog {

/// When to go on in a new file, and how many to keep. Without any, all goes into one.
struct rotation_options {
    static constexpr std::uint64_t size_min = std::uint64_t{1} << 20U;

    std::uint64_t size = 0;            // of one file at most; 0: any. Not below size_min
    std::chrono::nanoseconds time{0};  // that one file is written to at most; 0: any
    std::uint64_t keep = 0;            // files at most, with the one that is written; 0: any
    std::uint64_t total = 0;           // bytes of all at most; 0: any. Not below 4 * size_min

    [[nodiscard]] bool is_wanted() const noexcept {
        return size != 0 || time.count() != 0 || total != 0;
    }
};

struct file_sink_options {
    std::string path;
    int compression = 0;  // level; 0: none
    rotation_options rotation{};
    bool sync_on_close = false;  // a file is not finished before it is on the disk
};

/// In the order in which records are read; those of one ring may wait a moment for more.
class file_sink : public record_sink {
  public:
    explicit file_sink(file_sink_options options) : options_(std::move(options)) {}

    void start(const region_view& source) override;
    void take_clock(const eventlog_clock_sample& pair) override;
    void take_provider(const provider_instance& provider) override;
    void take_run(const record_run& run) override;
    void take_loss(const loss_block& loss) override;
    void advance(std::uint64_t time, std::uint64_t present) override;
    void finish() override;

  private:
    using clock = run_coalescer::clock;

    void begin_file();
    std::unique_ptr<file_writer> end_file();
    void rotate();
    void write_pending();
    void make_room(std::uint64_t payload);
    void write_run(const record_run& run);
    [[nodiscard]] std::vector<const provider_instance*> unwritten_providers(
        const record_run& run) const;
    void write_provider(const provider_instance& provider);
    void flush(clock::time_point kept_since);

    file_sink_options options_;
    std::uint32_t clock_ = 0;
    std::uint32_t ring_count_ = 0;
    std::uint64_t recording_ = 0;
    std::uint32_t part_ = 0;
    std::optional<rotated_files> parts_;  // if there may be several
    std::unique_ptr<file_writer> writer_;
    std::optional<run_coalescer> coalescer_;
    std::uint64_t watermark_ = 0;                  // no record that is still to be taken is earlier
    std::uint64_t written_watermark_ = 0;          // nor one that is still to be written
    std::vector<eventlog_clock_sample> readings_;  // that records to come may need
    std::optional<clock_offsets> offsets_;         // as they were written last
    provider_map providers_;
    std::bitset<EVENTLOG_PROVIDERS_MAX> written_;  // providers, into this file
    clock::time_point started_;                    // this file
    bool has_records_ = false;                     // this file
};

}  // namespace elog
