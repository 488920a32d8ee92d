// SPDX-License-Identifier: MIT
#include "file_output.hpp"

#include <algorithm>

#include "base/cpus.hpp"
#include "base/user_error.hpp"
#include "base/zstd_frames.hpp"
#include "ring/clock.hpp"

namespace elog::library {
namespace {

// Each CPU has a ring; records of CPUs beyond that number go to the ring without a CPU.
constexpr std::uint32_t rings_min = 257;

// Beyond this distance from a clock reading, times are not converted exactly to the nanosecond.
constexpr std::uint64_t reading_interval = std::uint64_t{1} << 50U;

std::uint32_t ring_count() {
    return std::clamp<std::uint32_t>(read_cpus().possible + 1, rings_min, EVENTLOG_RINGS_MAX);
}

copy_options options_of(const atomic_file& file, const writing_options& options) {
    const bool is_level = options.compression >= compression_level_min &&
                          options.compression <= compression_level_max;
    if (options.compression != 0 && !is_level) {
        throw user_error(
            "{} is no level of compression: ask for {} to {}, or for 0, which is none.",
            options.compression, compression_level_min, compression_level_max);
    }
    return {file.temporary_path(), options.compression};
}

}  // namespace

file_output::file_output(const std::string& path, const writing_options& options)
    : path_(path),
      file_(path,
            options.replace ? atomic_file::if_exists::replace : atomic_file::if_exists::reject),
      shared_ring_(ring_count() - 1) {
    copier_.emplace(options_of(file_, options), EVENTLOG_CLOCK_MONOTONIC, shared_ring_ + 1);
}

record_copier& file_output::open_copier() {
    if (is_finished_) {
        throw user_error("The file {} has been finished. Write the rest to another one.", path_);
    }
    if (!is_complete_) {
        throw user_error("A part of the file {} could not be written, and it is given up.", path_);
    }
    return *copier_;
}

void file_output::read_clock(std::uint64_t time) {
    if (!last_reading_ || (time > *last_reading_ && time - *last_reading_ >= reading_interval)) {
        copier_->add_reading({time, time, time});
        last_reading_ = time;
    }
}

std::uint32_t file_output::ring_of(std::uint32_t ring, std::uint32_t shared_ring) const noexcept {
    return ring == shared_ring ? shared_ring_ : std::min(ring, shared_ring_);
}

void file_output::write(const merged_record& record, const provider_map& providers,
                        const clock_converter& clock, std::uint32_t shared_ring) {
    record_copier& copier = open_copier();
    merged_record own = record;
    own.ring = ring_of(record.ring, shared_ring);
    record_view& decoded = own.record;
    decoded.time =
        static_cast<std::uint64_t>(std::max<std::int64_t>(clock.realtime(decoded.time), 0));
    if (has_custom_time(decoded) && record.place != 0) {
        own.place =
            static_cast<std::uint64_t>(std::max<std::int64_t>(clock.realtime(record.place), 0));
    }
    is_complete_ = false;
    if (!has_custom_time(decoded) || own.place != 0) {
        read_clock(order_time_of(own));
    }
    copier.write(own, 0, providers);
    is_complete_ = true;
}

void file_output::write_gap(const merged_record& record, std::uint32_t shared_ring) {
    merged_record own = record;
    own.ring = ring_of(record.ring, shared_ring);
    open_copier().write_gap(own);
}

void file_output::write_loss(const loss_report& loss, const provider_map& providers,
                             std::uint32_t shared_ring) {
    record_copier& copier = open_copier();
    loss_report own = loss;
    if (loss.scope == loss_scope::ring) {
        own.index = ring_of(loss.index, shared_ring);
        copier.write_loss(own, 0, providers);
        return;
    }
    // A provider without a record has only a name.
    const auto found = providers.find(loss.index);
    const bool is_known = found != providers.end() && !found->second.schema.binary.empty();
    copier.write_loss(own, 0, is_known ? providers : provider_map());
}

void file_output::finish() {
    if (is_finished_) {
        return;
    }
    record_copier& copier = open_copier();
    is_complete_ = false;
    if (!last_reading_) {
        read_clock(eventlog::core::read_clock_sample(EVENTLOG_CLOCK_MONOTONIC).realtime);
    }
    copier.finish();
    copier_.reset();
    file_.finish();
    is_complete_ = true;
    is_finished_ = true;
}

}  // namespace elog::library
