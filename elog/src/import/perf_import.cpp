// SPDX-License-Identifier: MIT
//
// Imports perf.data: see kernel_imports.hpp.
#include <algorithm>
#include <ctime>
#include <map>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "file/read_observer.hpp"
#include "files/perf_file.hpp"
#include "files/perf_file_records.hpp"
#include "files/perf_sample.hpp"
#include "import/kernel_imports.hpp"
#include "import/perf_reorder_buffer.hpp"
#include "import/recorded_processes.hpp"
#include "kernel/error.hpp"
#include "perf/perf_records.hpp"
#include "tracing/kernel_trace_error.hpp"

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;

// Lost samples that a filter of perf removed. Not in the headers of Debian 12.
constexpr std::uint16_t misc_filtered = 1U << 15U;

const char* name_of_perf_clock(std::int32_t clock) noexcept {
    switch (clock) {
        case CLOCK_REALTIME:
            return "CLOCK_REALTIME";
        case CLOCK_MONOTONIC:
            return "CLOCK_MONOTONIC";
        case CLOCK_MONOTONIC_RAW:
            return "CLOCK_MONOTONIC_RAW";
        case CLOCK_BOOTTIME:
            return "CLOCK_BOOTTIME";
        case CLOCK_TAI:
            return "CLOCK_TAI";
        default:
            return "a clock that elog does not know";
    }
}

recorded_clock clock_of(const tracefs::perf_file& about) {
    recorded_clock clock;
    const std::optional<std::int32_t>& id = about.events().front().clock;
    if (!id) {
        clock.name = "perf's own clock";
        clock.advice = "perf record -k mono";
        return clock;
    }
    clock.name = name_of_perf_clock(*id);
    clock.advice = "perf record -k mono, of Linux 5.10 or later";
    const std::optional<tracefs::perf_clock_pair>& pair = about.clocks();
    if (*id == CLOCK_REALTIME) {
        clock.is = recorded_clock::kind::realtime;
        clock.realtime = 0;
    } else if (*id == CLOCK_MONOTONIC) {
        clock.is = recorded_clock::kind::monotonic;
    }
    if (!clock.realtime && pair && static_cast<std::int32_t>(pair->clock) == *id) {
        clock.realtime = static_cast<std::int64_t>(pair->realtime - pair->time);
    }
    return clock;
}

class perf_importer {
  public:
    perf_importer(const tracefs::recorded_file& from, const std::string& to,
                  kernel_trace_registry::read_published published)
        : from_(from),
          about_(from),
          layouts_(about_.events()),
          importer_(to, about_.machine(), clock_of(about_), about_.formats(), std::move(published)),
          order_([this](const auto& record, auto body) { take_in_order(record, body); }) {}

    import_result run();

  private:
    void read();
    void take(const tracefs::perf_file_record& record);
    void take_sample(const tracefs::perf_file_record& record);
    void wait(const tracefs::perf_sample_id& stamp, const tracefs::perf_file_record& record,
              std::span<const std::uint8_t> body);
    void take_in_order(const pending_record& record, std::span<const std::uint8_t> body);
    void take_event(const pending_record& record, std::span<const std::uint8_t> raw);
    void take_change(const pending_record& record, const tracefs::perf_record& parsed);
    void count_lost(const tracefs::perf_file_record& record);
    void report_rest();

    const tracefs::recorded_file& from_;
    tracefs::perf_file about_;
    tracefs::perf_sample_layouts layouts_;
    importer importer_;
    perf_reorder_buffer order_;
    recorded_processes processes_;
    std::map<std::uint32_t, std::uint64_t> lost_in_all_;  // by ring, as counted by perf at the end
    bool has_unplaced_ = false;                           // some of these are of an unknown CPU
    std::uint64_t other_samples_ = 0;  // samples of events other than tracepoints
    std::uint64_t timeless_ = 0;
    import_result result_;
};

/// Sorts by time; records without a time are first.
void perf_importer::wait(const tracefs::perf_sample_id& stamp,
                         const tracefs::perf_file_record& record,
                         std::span<const std::uint8_t> body) {
    order_.add(
        {stamp.time.value_or(0), stamp.pid, stamp.thread, stamp.cpu, record.type, record.misc},
        body);
}

/// Handles one record in the order of the file.
void perf_importer::take(const tracefs::perf_file_record& record) {
    switch (record.type) {
        case PERF_RECORD_SAMPLE:
            take_sample(record);
            break;
        case PERF_RECORD_COMM:
        case PERF_RECORD_FORK:
        case PERF_RECORD_LOST: {
            auto body = record.body;
            const tracefs::perf_sample_id stamp = layouts_.stamp(body);
            wait(stamp, record, body);
            break;
        }
        case PERF_RECORD_LOST_SAMPLES:
            count_lost(record);
            break;
        case tracefs::perf_id_index:
            layouts_.add_id_index(record);
            break;
        case tracefs::perf_finished_round:
            order_.finish_round();
            break;
        default:
            break;
    }
}

void perf_importer::take_sample(const tracefs::perf_file_record& record) {
    const std::optional<tracefs::perf_sample> sample = layouts_.sample(record);
    if (!sample) {
        importer_.count_damaged(importer_.ring_of(std::nullopt));
    } else if (!sample->is_tracepoint || sample->raw.empty()) {
        ++other_samples_;
    } else if (!sample->stamp.time) {
        ++timeless_;
    } else {
        wait(sample->stamp, record, sample->raw);
    }
}

/// A record for each event and CPU, written by perf since 6.1. Includes losses reported at their
/// place.
void perf_importer::count_lost(const tracefs::perf_file_record& record) {
    auto body = record.body;
    const tracefs::perf_sample_id stamp = layouts_.stamp(body);
    const std::optional<tracefs::perf_record> counted = tracefs::parse_perf_body(record.type, body);
    if ((record.misc & misc_filtered) != 0 || !counted) {
        return;
    }
    // The stamp has no CPU, because perf creates the record itself.
    const auto cpu = stamp.id ? layouts_.cpu_of(*stamp.id) : std::nullopt;
    lost_in_all_[importer_.ring_of(cpu)] += counted->lost;
    has_unplaced_ = has_unplaced_ || !cpu;
}

void perf_importer::take_change(const pending_record& record, const tracefs::perf_record& parsed) {
    if (parsed.kind == tracefs::perf_kind::forked) {
        // Records that perf creates at its start for existing processes have no time.
        if (record.time != 0) {
            processes_.fork(parsed.parent, parsed.process, record.time);
        }
    } else if ((record.misc & PERF_RECORD_MISC_COMM_EXEC) != 0 && parsed.process == parsed.thread) {
        processes_.become(parsed.process, parsed.name, record.time);
    } else {
        processes_.rename(parsed.process, parsed.thread, parsed.name);
    }
}

/// If the process is unknown, the thread is taken as its first thread.
void perf_importer::take_event(const pending_record& record, std::span<const std::uint8_t> raw) {
    const tracefs::perf_task task = tracefs::task_of({record.process, record.thread}, raw);
    importer_.take(
        importer_.ring_of(record.cpu),
        processes_.of(task.process != 0 ? task.process : task.thread),
        {record.time, task.thread, static_cast<std::uint16_t>(record.cpu.value_or(0)), raw});
}

void perf_importer::take_in_order(const pending_record& record,
                                  std::span<const std::uint8_t> body) {
    if (record.type == PERF_RECORD_SAMPLE) {
        take_event(record, body);
        return;
    }
    const std::uint32_t ring = importer_.ring_of(record.cpu);
    const std::optional<tracefs::perf_record> parsed = tracefs::parse_perf_body(record.type, body);
    if (!parsed) {
        importer_.count_damaged(ring);
    } else if (parsed->kind == tracefs::perf_kind::lost) {
        importer_.lose(ring, parsed->lost);
    } else {
        take_change(record, *parsed);
    }
}

void perf_importer::read() {
    tracefs::perf_file_records records(from_, about_);
    std::uint64_t noted = records.offset();
    try {
        while (const std::optional<tracefs::perf_file_record> record = records.next()) {
            take(*record);
            notify_read(records.offset() - std::exchange(noted, records.offset()));
        }
    } catch (const tracefs::error& mistake) {
        result_.damages.emplace_back(mistake.what());
    }
}

/// Losses that no record of the file reports count at its end.
void perf_importer::report_rest() {
    std::uint64_t all = 0;
    std::uint64_t reported = 0;
    for (std::uint32_t ring = 0; ring <= importer_.ring_of(std::nullopt); ++ring) {
        const std::uint64_t of_ring = has_unplaced_ ? 0 : lost_in_all_[ring];
        importer_.lose(ring, of_ring - std::min(of_ring, importer_.lost(ring)));
        all += lost_in_all_[ring];
        reported += importer_.lost(ring);
    }
    if (has_unplaced_) {
        importer_.lose(importer_.ring_of(std::nullopt), all - std::min(all, reported));
    }
    if (other_samples_ != 0) {
        result_.notes.push_back(fmt::format(
            "its {} samples of events that are no tracepoints are left out: see them with perf "
            "report.",
            other_samples_));
    }
    if (timeless_ != 0) {
        result_.damages.push_back(fmt::format(
            "{} samples have no time and are left out: record without --no-timestamp", timeless_));
    }
}

import_result perf_importer::run() {
    read();
    order_.finish();
    report_rest();
    importer_.finish(result_);
    return std::move(result_);
}

}  // namespace

import_result import_perf(const tracefs::recorded_file& from, const std::string& to,
                          kernel_trace_registry::read_published published) {
    return convert_tracefs_errors(
        [&] { return perf_importer(from, to, std::move(published)).run(); });
}

}  // namespace elog
