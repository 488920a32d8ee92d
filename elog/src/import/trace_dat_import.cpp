// SPDX-License-Identifier: MIT
//
// Imports trace.dat: see kernel_imports.hpp.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/user_error.hpp"
#include "file/read_observer.hpp"
#include "files/trace_file.hpp"
#include "files/trace_pages.hpp"
#include "format/event_format.hpp"
#include "format/page_events.hpp"
#include "import/kernel_imports.hpp"
#include "import/recorded_processes.hpp"
#include "kernel/error.hpp"
#include "tracing/kernel_trace_error.hpp"

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;

// Memory for the data of all CPUs. Each CPU holds a chunk of pages that were decompressed together,
// less than one earlier page, and the page being parsed.
constexpr std::uint64_t held_max = std::uint64_t{512} << 20U;

recorded_clock clock_of(const tracefs::trace_file& about, const std::string& name) {
    recorded_clock clock;
    clock.name = fmt::format("the kernel's clock {}", name.empty() ? "?" : name);
    clock.advice = "trace-cmd record -C mono --date";
    if (name == "mono") {
        clock.is = recorded_clock::kind::monotonic;
    }
    clock.realtime = about.realtime();
    return clock;
}

/// Rejects clocks of the kernel that do not count nanoseconds. Throws user_error.
void check_clock(const std::string& name, const std::string& path) {
    constexpr std::array<std::string_view, 4> others{"counter", "uptime", "x86-tsc", "ppc-tb"};
    if (std::find(others.begin(), others.end(), name) != others.end()) {
        throw user_error(
            "{} is by the kernel's clock {}, which counts no nanoseconds, so that its times "
            "are not known. Show it with trace-cmd report, or record it with "
            "trace-cmd record -C mono --date",
            path, name);
    }
}

/// The machine with all CPUs that have pages.
tracefs::recorded_machine machine_of(const tracefs::trace_file& about) {
    tracefs::recorded_machine machine = about.machine();
    for (const tracefs::trace_buffer& buffer : about.buffers()) {
        for (const tracefs::trace_cpu& each : buffer.cpus) {
            machine.cpus = std::max(machine.cpus, each.cpu + 1);
        }
    }
    return machine;
}

bool has_pages(const tracefs::trace_buffer& buffer) {
    return !buffer.cpus.empty();
}

/// Bytes of each CPU that may be decompressed at once. Throws user_error if less than a page
/// remains.
std::uint32_t chunk_size_max(const tracefs::trace_file& about, const std::string& path) {
    std::uint64_t cpus = 1;
    std::uint32_t page_size = 0;
    for (const tracefs::trace_buffer& buffer : about.buffers()) {
        cpus += buffer.cpus.size();
        page_size = std::max(page_size, buffer.page_size);
    }
    const std::uint64_t others = 2 * std::uint64_t{page_size};
    if (held_max / cpus < others + page_size) {
        throw user_error("{} has {} CPUs with pages of {} bytes, which is more than elog keeps in "
                         "memory. Show it with trace-cmd report.",
                         path, cpus - 1, page_size);
    }
    return static_cast<std::uint32_t>(held_max / cpus - others);
}

/// The clock of the first buffer with pages. One file has one clock.
std::string clock_name(const tracefs::trace_file& about) {
    const auto& all = about.buffers();
    const auto found = std::find_if(all.begin(), all.end(), has_pages);
    return found == all.end() ? std::string() : found->clock;
}

/// Iterates over the events of one CPU in one buffer.
class cpu_stream {
  public:
    cpu_stream(std::uint32_t cpu, tracefs::trace_pages pages)
        : cpu_(cpu), pages_(std::move(pages)) {}

    [[nodiscard]] std::uint32_t cpu() const noexcept { return cpu_; }
    [[nodiscard]] const tracefs::raw_event& event() const noexcept { return event_; }
    /// Returns the number of events missing in front of event() and resets it.
    [[nodiscard]] std::uint64_t take_missed() noexcept { return std::exchange(missed_, 0); }

    /// Returns false behind the last event. Throws tracefs::error; there may be more events after
    /// that.
    [[nodiscard]] bool advance() {
        while (true) {
            if (const std::optional<tracefs::raw_event> found = events_.next()) {
                event_ = *found;
                return true;
            }
            const std::optional<std::span<const std::uint8_t>> page = pages_.next();
            if (!page) {
                return false;
            }
            notify_read(page->size());
            // A page without room for the count is covered by the kernel's total at the end.
            missed_ += events_.load(*page).count.value_or(0);
        }
    }

  private:
    std::uint32_t cpu_;
    tracefs::trace_pages pages_;
    tracefs::page_events events_;
    tracefs::raw_event event_{};
    std::uint64_t missed_ = 0;
};

class trace_dat_importer {
  public:
    trace_dat_importer(const tracefs::recorded_file& from, const std::string& to,
                       kernel_trace_registry::read_published published)
        : from_(from),
          about_(from),
          clock_name_(clock_name(about_)),
          importer_(to, machine_of(about_), clock_of(about_, clock_name_), about_.formats(),
                    std::move(published)) {}

    import_result run();

  private:
    /// Time of the earliest event of a stream, and the stream's number.
    using head = std::tuple<std::uint64_t, std::size_t>;

    void add_diagnostic(std::string sentence);
    void open_streams();
    void advance(std::size_t number);
    void take(cpu_stream& stream);
    void report_rest();
    [[nodiscard]] const process_info& process_of(std::uint32_t thread);

    const tracefs::recorded_file& from_;
    tracefs::trace_file about_;
    std::string clock_name_;
    importer importer_;
    tracefs::zstd_stream decompressor_{held_max};  // shared by all streams
    std::vector<std::unique_ptr<cpu_stream>> streams_;
    std::priority_queue<head, std::vector<head>, std::greater<>> heads_;
    recorded_processes processes_;
    import_result result_;
};

void trace_dat_importer::add_diagnostic(std::string sentence) {
    constexpr std::size_t enough = 100;
    if (result_.damages.size() < enough) {
        result_.damages.push_back(std::move(sentence));
    } else if (result_.damages.size() == enough) {
        result_.damages.emplace_back("and so on: there is more of this kind");
    }
}

void trace_dat_importer::open_streams() {
    const std::uint32_t chunk_size = chunk_size_max(about_, from_.path());
    for (const tracefs::trace_buffer& buffer : about_.buffers()) {
        if (has_pages(buffer) && buffer.clock != clock_name_) {
            add_diagnostic(
                fmt::format("what the instance '{}' has recorded is by the clock {}, that of "
                            "others by {}, and is left out: record it alone",
                            buffer.name, buffer.clock, clock_name_));
            continue;
        }
        for (const tracefs::trace_cpu& cpu : buffer.cpus) {
            streams_.push_back(std::make_unique<cpu_stream>(
                cpu.cpu, tracefs::trace_pages(from_, buffer, cpu, decompressor_, chunk_size)));
        }
    }
    for (const std::string& name : about_.skipped_instances()) {
        add_diagnostic(fmt::format(
            "what the instance '{}' has recorded is left out: record with --file-version 7", name));
    }
}

void trace_dat_importer::advance(std::size_t number) {
    cpu_stream& stream = *streams_[number];
    while (true) {
        try {
            if (stream.advance()) {
                heads_.emplace(stream.event().time, number);
            } else {
                importer_.lose(importer_.ring_of(stream.cpu()), stream.take_missed());
                streams_[number].reset();  // frees its memory, which may be large
            }
            return;
        } catch (const tracefs::error& mistake) {
            importer_.count_damaged(importer_.ring_of(stream.cpu()));
            add_diagnostic(mistake.what());
        }
    }
}

/// The file names threads and does not state their processes.
const process_info& trace_dat_importer::process_of(std::uint32_t thread) {
    if (!processes_.knows(thread)) {
        const auto found = about_.names().find(thread);
        if (found != about_.names().end()) {
            processes_.rename(thread, thread, found->second);
        }
    }
    return processes_.of(thread);
}

void trace_dat_importer::take(cpu_stream& stream) {
    const std::uint32_t ring = importer_.ring_of(stream.cpu());
    importer_.lose(ring, stream.take_missed());
    const auto bytes = stream.event().record;
    const std::uint32_t thread =
        tracefs::parse_common_fields(bytes).value_or(tracefs::common_fields{}).thread;
    const std::uint64_t time =
        stream.event().time + static_cast<std::uint64_t>(about_.time_offset());
    importer_.take(ring, process_of(thread),
                   {time, thread, static_cast<std::uint16_t>(stream.cpu()), bytes});
}

/// Losses that the kernel counted and no page reported count at the end.
void trace_dat_importer::report_rest() {
    std::map<std::uint32_t, std::uint64_t> all;
    for (const tracefs::trace_buffer& buffer : about_.buffers()) {
        for (const auto& [cpu, lost] : buffer.lost) {
            all[importer_.ring_of(cpu)] += lost;
        }
    }
    for (const auto& [ring, lost] : all) {
        importer_.lose(ring, lost - std::min(lost, importer_.lost(ring)));
    }
}

import_result trace_dat_importer::run() {
    check_clock(clock_name_, from_.path());
    open_streams();
    for (std::size_t number = 0; number < streams_.size(); ++number) {
        advance(number);
    }
    while (!heads_.empty()) {
        const std::size_t number = std::get<1>(heads_.top());
        heads_.pop();
        take(*streams_[number]);
        advance(number);
    }
    report_rest();
    if (about_.has_host_clock()) {
        result_.notes.emplace_back(
            "it says how its clock differs from that of the host, which elog leaves out: its times "
            "are those of the guest.");
    }
    importer_.finish(result_);
    return std::move(result_);
}

}  // namespace

import_result import_trace_dat(const tracefs::recorded_file& from, const std::string& to,
                               kernel_trace_registry::read_published published) {
    return convert_tracefs_errors(
        [&] { return trace_dat_importer(from, to, std::move(published)).run(); });
}

}  // namespace elog
