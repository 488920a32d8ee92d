// SPDX-License-Identifier: MIT
#include "import/file_merge.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/nanoseconds.hpp"
#include "base/user_error.hpp"
#include "file/file_reader.hpp"
#include "import/input_recording.hpp"
#include "import/repeated_contents.hpp"
#include "record/clock_converter.hpp"
#include "record/clock_offset_table.hpp"
#include "record/merged_timeline.hpp"
#include "record/recording_mark.hpp"

namespace elog {
namespace {

// CLOCK_REALTIME minus CLOCK_MONOTONIC is the machine's boot time. It changes only when the clock
// is set or the machine sleeps.
constexpr std::int64_t boot_time_tolerance = one_second;

// Tolerated difference between the clocks of one machine: a process may be interrupted between two
// readings, and rates vary slightly.
constexpr double reading_tolerance = 1e7;  // nanoseconds
constexpr double rate_tolerance = 1e-3;

/// What must be known of a file before anything is written.
struct merge_input {
    std::string path;  // as named by the user
    std::shared_ptr<const input_recording> recording;
    merged_timeline timeline;
    recording_host host;
    clock_converter clock;
    std::int64_t boot_time_min = INT64_MAX;  // of the machine, from the clock readings
    std::int64_t boot_time_max = INT64_MIN;
    std::uint64_t earliest = UINT64_MAX;
    bool has_losses = false;
};

void note_boot_time(merge_input& found) {
    for (const eventlog_clock_sample& reading : found.clock.pairs()) {
        const auto start = static_cast<std::int64_t>(reading.realtime - reading.monotonic);
        found.boot_time_min = std::min(found.boot_time_min, start);
        found.boot_time_max = std::max(found.boot_time_max, start);
    }
}

/// The clock of a file that perf or trace-cmd recorded; nullptr for a file of elog.
const recorded_clock* imported_clock(const merge_input& file) {
    const std::optional<import_result>& details = file.recording->import_details();
    return details ? &details->clock : nullptr;
}

bool is_imported(const merge_input& file) {
    return imported_clock(file) != nullptr;
}

/// Whether its times are already CLOCK_MONOTONIC, by an import.
bool is_monotonic_import(const merge_input& file) {
    return is_imported(file) && imported_clock(file)->is == recorded_clock::kind::monotonic;
}

/// Whether the time of day of its records is unknown.
bool lacks_realtime(const merge_input& file) {
    return is_imported(file) && !imported_clock(file)->realtime;
}

/// `schemas`: those of the files before; the file's own schemas are added.
merge_input inspect_input(seekable_input source, recorder by,
                          std::vector<provider_schema>& schemas) {
    merge_input found;
    found.path = source.name();
    found.recording = std::make_shared<const input_recording>(std::move(source), by,
                                                              [&schemas] { return schemas; });
    file_reader file(found.recording->path());
    if (!is_imported(found)) {
        for (const auto& [id, provider] : file.providers()) {
            add_unique(schemas, provider.schema);
        }
    }
    found.host = file.host();
    found.clock = file.clock();
    note_boot_time(found);
    found.earliest = file.earliest().value_or(UINT64_MAX);
    found.has_losses = !file.losses().empty();
    return found;
}

/// Whether the readings of both files may belong to one clock.
bool has_same_clock(const merge_input& one, const merge_input& other) {
    if (one.clock.pairs().size() < 2 || other.clock.empty()) {
        return true;
    }
    const eventlog_clock_sample& first = one.clock.pairs().front();
    const eventlog_clock_sample& last = one.clock.pairs().back();
    const eventlog_clock_sample& reading = other.clock.pairs().front();
    const auto expected = static_cast<double>(one.clock.monotonic(reading.clock));
    const auto found = static_cast<double>(reading.monotonic);
    // A short recording determines the rate only roughly.
    const double length =
        std::max(static_cast<double>(last.monotonic) - static_cast<double>(first.monotonic), 1.0);
    const double rate = rate_tolerance + reading_tolerance / length;
    const double distance = std::abs(found - static_cast<double>(first.monotonic));
    return std::abs(found - expected) <= reading_tolerance + distance * rate;
}

bool has_same_boot(const merge_input& one, const merge_input& other) {
    if (one.host.recording != 0 && one.host.recording == other.host.recording) {
        return true;
    }
    // In double, so that values of a damaged file cannot overflow.
    const double apart =
        std::max(static_cast<double>(one.boot_time_min) - static_cast<double>(other.boot_time_max),
                 static_cast<double>(other.boot_time_min) - static_cast<double>(one.boot_time_max));
    return !one.clock.empty() && !other.clock.empty() &&
           apart <= static_cast<double>(boot_time_tolerance) && has_same_clock(one, other);
}

void check_host(const merge_input& one, const merge_input& other) {
    if (one.host.host_name != other.host.host_name) {
        throw user_error(
            "{} is of the host '{}' and {} of '{}', and a recording has the CPUs, the "
            "processes and the clock of one host. Merge those of each host, and compare "
            "them with: elog print FILE --utc",
            one.path, one.host.host_name, other.path, other.host.host_name);
    }
    // Imported files do not know all CPUs and have clocks of their own.
    const bool is_of_other = is_imported(one) || is_imported(other);
    const bool has_same_rings =
        one.host.clock == other.host.clock && one.host.ring_count == other.host.ring_count;
    const bool is_same = (is_of_other || has_same_rings) && one.host.kernel == other.host.kernel &&
                         one.host.machine == other.host.machine;
    if (!is_same) {
        throw user_error("{} and {} were recorded with different clocks, CPUs or kernels, and a "
                         "recording has one of each. Compare them with: elog print FILE --utc",
                         one.path, other.path);
    }
}

/// A file without records, losses and clock readings fits anywhere.
bool is_empty(const merge_input& file) {
    return file.clock.empty() && file.earliest == UINT64_MAX && !file.has_losses;
}

/// Each file must match one before it, not the first: the clock may have been set in between.
void check_same_boot(const std::vector<merge_input>& files) {
    for (std::size_t i = 1; i < files.size(); ++i) {
        check_host(files.front(), files[i]);
        const auto here = files.begin() + static_cast<std::ptrdiff_t>(i);
        const bool belongs = is_empty(files[i]) || lacks_realtime(files[i]) ||
                             std::all_of(files.begin(), here, lacks_realtime) ||
                             std::any_of(files.begin(), here, [&](const merge_input& file) {
                                 return has_same_boot(file, files[i]);
                             });
        if (!belongs) {
            throw user_error(
                "Between {} and {} the machine was started anew, slept, or had its clock "
                "set, so that their events cannot be put into one order. Compare them "
                "with: elog print FILE --utc",
                files[i - 1].path, files[i].path);
        }
    }
}

/// Boot time according to the first file that has one.
std::optional<std::int64_t> find_boot_time(const std::vector<merge_input>& files) {
    for (const merge_input& file : files) {
        const bool is_monotonic = !is_imported(file) || is_monotonic_import(file);
        if (is_monotonic && !lacks_realtime(file) && !file.clock.empty()) {
            return file.boot_time_min;
        }
    }
    return std::nullopt;
}

/// Converts a file to CLOCK_MONOTONIC of a machine with that boot time.
void convert_to_monotonic(merge_input& file, std::optional<std::int64_t> start,
                          std::uint32_t rings) {
    const std::uint32_t own = file.host.ring_count;
    if (!is_imported(file)) {
        file.timeline = merged_timeline(file.clock, own, rings);
    } else if (is_monotonic_import(file)) {
        file.timeline = merged_timeline(std::int64_t{0}, own, rings);
    } else {
        const recorded_clock& clock = *imported_clock(file);
        if (!clock.realtime || !start) {
            throw user_error(
                "{} has times by {}, and no relation to the clocks of the other files, "
                "so that their events cannot be put into one order. Record it with {}",
                file.path, clock.name, clock.advice);
        }
        std::int64_t later = 0;
        if (__builtin_sub_overflow(*clock.realtime, *start, &later)) {
            throw user_error("{} says that its clock began centuries away from the machine. It is "
                             "damaged: record it again.",
                             file.path);
        }
        file.timeline = merged_timeline(later, own, rings);
    }
    file.clock = lacks_realtime(file) ? clock_converter(EVENTLOG_CLOCK_MONOTONIC)
                                      : file.timeline.readings(file.clock);
    file.earliest = file.earliest == UINT64_MAX ? UINT64_MAX : file.timeline.time(file.earliest);
    file.boot_time_min = INT64_MAX;
    file.boot_time_max = INT64_MIN;
    note_boot_time(file);
}

/// Converts all files to CLOCK_MONOTONIC if one of several is imported.
void convert_to_monotonic(std::vector<merge_input>& files) {
    if (files.size() == 1 || std::none_of(files.begin(), files.end(), is_imported)) {
        return;
    }
    std::uint32_t rings = 0;
    for (const merge_input& file : files) {
        rings = std::max(rings, file.host.ring_count);
    }
    const std::optional<std::int64_t> start = find_boot_time(files);
    for (merge_input& file : files) {
        convert_to_monotonic(file, start, rings);
        file.host.clock = EVENTLOG_CLOCK_MONOTONIC;
        file.host.ring_count = rings;
    }
}

/// All files may overlap in time, and shells often limit open files to a thousand. A limit that
/// cannot be raised is reported when a file cannot be opened.
void allow_open_files(std::size_t count) noexcept {
    constexpr rlim_t others = 32;  // the new file, standard output, inherited files
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < count + others) {
        limit.rlim_cur = std::min<rlim_t>(count + others, limit.rlim_max);
        static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
    }
}

/// Throws user_error if a file is named twice or is also the output.
void check_names(const std::vector<std::string>& paths, const std::string& to) {
    std::set<std::pair<dev_t, ino_t>> known;
    struct stat status {};
    for (const std::string& path : paths) {
        const bool is_there =
            path == "-" ? ::fstat(STDIN_FILENO, &status) == 0 : ::stat(path.c_str(), &status) == 0;
        if (is_there && !known.emplace(status.st_dev, status.st_ino).second) {
            throw user_error("{} is named twice. Leave one away.", path);
        }
        check_not_same_file(path, to);
    }
}

/// The values that `of` returns for the files' clocks, sorted by their times on the clock.
template <class Of>
auto gather(const std::vector<merge_input>& files, const Of& of) {
    std::remove_cvref_t<decltype(of(files.front().clock))> all;
    for (const merge_input& file : files) {
        const auto& some = of(file.clock);
        all.insert(all.end(), some.begin(), some.end());
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& one, const auto& other) { return one.clock < other.clock; });
    return all;
}

/// The readings of all files, which are of the same clock. If two that are close to each other
/// contradict, the later one is left out.
std::vector<eventlog_clock_sample> join_readings(const std::vector<merge_input>& files) {
    const auto pairs = [](const clock_converter& clock) -> auto& {
        return clock.pairs();
    };
    clock_converter joined(files.front().host.clock);
    for (const eventlog_clock_sample& reading : gather(files, pairs)) {
        joined.add(reading);
    }
    return joined.pairs();
}

/// The offsets of all files, without consecutive equal ones.
std::vector<clock_offsets> join_offsets(const std::vector<merge_input>& files) {
    const auto offsets = [](const clock_converter& clock) -> auto& {
        return clock.offsets();
    };
    std::vector<clock_offsets> joined;
    for (const clock_offsets& each : gather(files, offsets)) {
        if (joined.empty() || offsets_changed(joined.back(), each)) {
            joined.push_back(each);
        }
    }
    return joined;
}

class file_merger {
  public:
    file_merger(std::vector<merge_input> files, const copy_options& to)
        : files_(std::move(files)),
          ring_count_(files_.front().host.ring_count),
          copier_(to, files_.front().host, join_readings(files_)),
          merger_(0, [this](std::uint32_t ring) { return fetch(ring); }) {
        copier_.write_offsets(join_offsets(files_));
        for (const merge_input& file : files_) {
            repeated_.add_file(file.host.recording, file.host.part);
        }
    }

    merge_summary run();

  private:
    /// A file that is being read. Its rings are consecutive in the merger; another file reuses the
    /// slot when it has been read.
    struct open_file {
        std::uint32_t number = 0;
        std::unique_ptr<file_reader> reader;
        std::vector<bool> is_exhausted;  // by ring
        std::uint32_t exhausted_count = 0;
    };

    void open(std::uint32_t number);
    void close(open_file& file);
    void take_marks(const file_reader& reader, std::uint32_t number);
    [[nodiscard]] std::optional<owned_run> fetch(std::uint32_t ring);

    std::vector<merge_input> files_;
    std::uint32_t ring_count_;
    record_copier copier_;
    time_merger merger_;
    std::vector<open_file> open_;
    pending_marks marks_;
    repeated_contents repeated_;
    merge_summary summary_;
};

void file_merger::open(std::uint32_t number) {
    auto place = std::find_if(open_.begin(), open_.end(),
                              [](const open_file& file) { return file.reader == nullptr; });
    if (place == open_.end()) {
        place = open_.emplace(open_.end());
        merger_.add_rings(ring_count_);
    }
    place->number = number;
    place->reader = std::make_unique<file_reader>(files_[number].recording->path());
    if (place->reader->host().recording != files_[number].host.recording) {
        throw user_error("The file {} has changed while it was read. Try again.",
                         files_[number].path);
    }
    take_marks(*place->reader, number);
    repeated_.take_notes(number, place->reader->notes());
    place->reader->rewind();
    place->is_exhausted.assign(ring_count_, false);
    place->exhausted_count = 0;
}

void file_merger::take_marks(const file_reader& reader, std::uint32_t number) {
    for (const recording_mark& mark : reader.marks()) {
        if (std::optional<recording_mark> taken = repeated_.take_mark(number, mark)) {
            taken->time = files_[number].timeline.time(taken->time);
            marks_.add(*taken);
        }
    }
}

/// All records of the file have been read.
void file_merger::close(open_file& file) {
    file_reader& reader = *file.reader;
    const std::string& path = files_[file.number].path;
    for (loss_report loss : reader.losses()) {
        if (loss.scope == loss_scope::ring) {
            loss.index = files_[file.number].timeline.ring(loss.index);
            if (repeated_.take_end(file.number, loss)) {
                continue;
            }
        } else {
            repeated_.subtract_counted(file.number, loss);
        }
        copier_.write_loss(loss, file.number, reader.providers());
    }
    reader.compare_with_end_block();
    summary_.skipped += reader.skipped();
    std::vector<std::string> damages = reader.damages();
    if (const std::optional<import_result>& import_details =
            files_[file.number].recording->import_details()) {
        damages.insert(damages.end(), import_details->damages.begin(),
                       import_details->damages.end());
    }
    if (!damages.empty()) {
        summary_.damaged.push_back({path, std::move(damages)});
    }
    if (!reader.end()) {
        summary_.unfinished.push_back(path);
    }
    file.reader.reset();
}

std::optional<owned_run> file_merger::fetch(std::uint32_t ring) {
    open_file& file = open_[ring / ring_count_];
    const std::uint32_t own = ring % ring_count_;
    if (file.reader == nullptr) {
        return std::nullopt;
    }
    const merged_timeline& timeline = files_[file.number].timeline;
    const std::optional<std::uint32_t> there = timeline.ring_of_file(own);
    std::optional<owned_run> run = there ? file.reader->next_run(*there) : std::nullopt;
    if (run) {
        timeline.move(*run);
    }
    if (!run && !file.is_exhausted[own]) {
        file.is_exhausted[own] = true;
        if (++file.exhausted_count == ring_count_) {
            close(file);
        }
    }
    return run;
}

merge_summary file_merger::run() {
    const auto take_mark = [this](const recording_mark& mark) { copier_.write_mark(mark); };
    const auto take = [&](const merged_record& record) {
        const open_file& file = open_[record.ring / ring_count_];
        merged_record own = record;
        own.ring = record.ring % ring_count_;
        marks_.take_until(order_time_of(own), take_mark);
        repeated_.subtract_counted(file.number, own);
        copier_.write(own, file.number, file.reader->providers());
    };
    for (std::uint32_t number = 0; number < files_.size(); ++number) {
        if (number != 0) {
            merger_.merge(files_[number].earliest, UINT64_MAX, take);
        }
        open(number);
    }
    merger_.merge_rest(take);
    marks_.take_until(UINT64_MAX, take_mark);
    for (const loss_report& loss : repeated_.losses_at_end()) {
        copier_.write_loss(loss, 0, {});
    }
    copier_.write_notes(repeated_.notes());
    summary_.copied = copier_.finish();
    return std::move(summary_);
}

std::vector<merge_input> inspect_inputs(const std::vector<std::string>& paths,
                                        const kernel_trace_registry::read_published& published) {
    std::vector<std::pair<recorder, seekable_input>> all;
    for (const std::string& path : paths) {
        seekable_input source(path);
        const recorder by = detect_recorder(source.path());
        all.emplace_back(by, std::move(source));
    }
    // Files of elog first, because imports use their schemas.
    std::stable_partition(all.begin(), all.end(),
                          [](const auto& each) { return each.first == recorder::elog; });
    std::vector<provider_schema> schemas;
    if (published && !all.empty() && all.back().first != recorder::elog) {
        schemas = published();
    }
    std::vector<merge_input> files;
    for (auto& [by, source] : all) {
        files.push_back(inspect_input(std::move(source), by, schemas));
    }
    return files;
}

}  // namespace

merge_summary merge_files(const std::vector<std::string>& paths, const copy_options& to,
                          const kernel_trace_registry::read_published& published) {
    check_names(paths, to.path);
    allow_open_files(2 * paths.size());  // a pipe has a copy, which stays open
    std::vector<merge_input> files = inspect_inputs(paths, published);
    convert_to_monotonic(files);
    // By start time; files of one recording without events come last.
    std::stable_sort(files.begin(), files.end(),
                     [](const merge_input& one, const merge_input& other) {
                         return one.earliest < other.earliest;
                     });
    check_same_boot(files);
    return file_merger(std::move(files), to).run();
}

}  // namespace elog
