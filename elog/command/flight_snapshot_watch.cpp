// SPDX-License-Identifier: MIT
#include "flight_snapshot_watch.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/created_file.hpp"
#include "base/user_error.hpp"
#include "cli/complaints.hpp"
#include "cli/quantities.hpp"
#include "cli/stop_signal.hpp"
#include "commands.hpp"
#include "file/rotated_files.hpp"
#include "live/where.hpp"
#include "memory/region_reader.hpp"
#include "memory/snapshot_requests.hpp"
#include "memory/trigger_watch.hpp"
#include "platform/unique_fd.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// Maximum delay until an event is found.
constexpr std::chrono::milliseconds poll_interval{10};
// Maximum sleep: a request ends the sleep, but a signal just before it does not.
constexpr std::chrono::milliseconds sleep_max{250};
// Interval between checks whether the flight recorder still exists.
constexpr std::chrono::seconds source_interval{1};

std::unique_ptr<record_filter> make_trigger(const std::optional<std::string>& when) {
    if (!when) {
        return nullptr;
    }
    return as_usage_error([&] {
        return std::make_unique<record_filter>(predicate("--when", *when), current_time());
    });
}

/// An unused name, and its unfinished file.
struct reserved_name {
    std::string path;
    eventlog::core::unique_fd unfinished;
};

/// Unanswered causes of a snapshot.
struct pending_triggers {
    std::uint32_t requests = 0;
    std::uint64_t events = 0;

    [[nodiscard]] bool any() const noexcept { return requests != 0 || events != 0; }
};

class snapshot_watch {
  public:
    snapshot_watch(const snapshot_arguments& snapshot, const watch_arguments& arguments);

    void run();

  private:
    void check_source();
    void collect_triggers();
    void sleep() const;
    void take();
    [[nodiscard]] snapshot_notes notes_of(const pending_triggers& answered) const;
    void print_triggers(const std::string& path, const pending_triggers& answered) const;
    void remove_old();
    [[nodiscard]] reserved_name reserve_path();
    void report_unknown_names() const;
    void print_totals();

    snapshot_arguments snapshot_;
    const watch_arguments& arguments_;
    nanoseconds after_{0};
    std::unique_ptr<record_filter> trigger_;
    rotated_files parts_;
    detached_subscription source_;
    snapshot_requests requests_;
    std::optional<trigger_watch> watch_;
    std::uint32_t wanted_ = 0;    // as last read
    std::uint32_t answered_ = 0;  // by this command, or before it
    pending_triggers pending_;
    std::optional<steady_clock::time_point> due_;  // time of the snapshot for these
    bool is_reported_ = true;                      // all summaries could be written
    std::uint64_t taken_ = 0;
    std::uint64_t requests_answered_ = 0;
    std::uint64_t events_answered_ = 0;
    steady_clock::time_point source_due_{};  // time of the next check whether it exists
};

snapshot_watch::snapshot_watch(const snapshot_arguments& snapshot, const watch_arguments& arguments)
    : snapshot_(snapshot),
      arguments_(arguments),
      after_(arguments.after ? parse_distance(*arguments.after) : nanoseconds{0}),
      trigger_(make_trigger(arguments.when)),
      parts_(snapshot.output.path),
      source_(snapshot.name),
      requests_(source_.region()),
      answered_(requests_.counts().answered) {
    if (!eventlog::core::overwrites(source_.region().header)) {
        throw user_error("'{}' keeps the first events, for which programs request no snapshots. "
                         "Start one with: elog flight start NAME -e PATTERN",
                         snapshot.name);
    }
    if (trigger_) {
        watch_.emplace(source_.region(), *trigger_, print_mismatch);
    }
}

/// Without this check, a removed or truncated file would be watched forever.
void snapshot_watch::check_source() {
    const steady_clock::time_point now = steady_clock::now();
    check_not_truncated(source_.region());
    if (now < source_due_) {
        return;
    }
    source_due_ = now + source_interval;
    // Order: elog flight stop clears accepts_requests() before it removes the file, so it is read
    // after still_exists().
    if (!source_.still_exists() && requests_.accepts_requests()) {
        throw user_error("'{}' does not exist any more: its file was removed. Start a new one.",
                         snapshot_.name);
    }
}

/// Collects causes, and sets the time of the snapshot for them.
void snapshot_watch::collect_triggers() {
    wanted_ = requests_.wanted();
    const std::uint32_t asked = wanted_ - answered_;
    // A count that has decreased has been overwritten by a program, and is ignored.
    pending_.requests = arguments_.on_request && asked <= INT32_MAX ? asked : 0;
    pending_.events += watch_ ? watch_->poll() : 0;
    if (pending_.any() && !due_) {
        due_ = steady_clock::now() + after_;
    }
}

void snapshot_watch::sleep() const {
    nanoseconds time = watch_ ? poll_interval : sleep_max;
    if (due_) {
        time = std::clamp<nanoseconds>(*due_ - steady_clock::now(), nanoseconds{0}, time);
    }
    if (due_ || !arguments_.on_request) {
        std::this_thread::sleep_for(time);  // further requests do not change the time
    } else {
        requests_.wait(wanted_, time);
    }
}

/// Reserves an unused name by creating its unfinished file exclusively. That file becomes the final
/// one by renaming, so that at any time one of the two exists.
reserved_name snapshot_watch::reserve_path() {
    while (true) {
        std::string path = parts_.next_path();
        const std::string unfinished = temporary_name(path);
        eventlog::core::unique_fd file = open_created_file(unfinished, existing_file::reject);
        struct stat existing {};
        if (file && ::lstat(path.c_str(), &existing) != 0) {
            return {std::move(path), std::move(file)};
        }
        if (file) {
            remove_own_file(file.get(), unfinished);
        } else if (errno != EEXIST) {
            throw user_error("The file {} cannot be made ({}). Give another name with -o.", path,
                             std::strerror(errno));
        }
    }
}

snapshot_notes snapshot_watch::notes_of(const pending_triggers& answered) const {
    snapshot_notes notes;
    notes.requests = answered.requests;
    if (answered.requests != 0) {
        notes.reason = requests_.reason();
    }
    if (watch_) {
        notes.met = answered.events;
    }
    return notes;
}

void snapshot_watch::print_triggers(const std::string& path,
                                    const pending_triggers& answered) const {
    if (answered.requests != 0) {
        print_requests(path, answered.requests, requests_.reason());
    }
    if (answered.events != 0) {
        print_note("{}: {} events for which --when is true", path, answered.events);
    }
}

/// Removes old files after the new one is complete.
void snapshot_watch::remove_old() {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(snapshot_.output.path, error);
    parts_.add(snapshot_.output.path, error ? 0 : size);
    while (arguments_.keep && parts_.count() > *arguments_.keep) {
        parts_.remove_oldest();
    }
}

/// The snapshot answers the causes before its start, and no later ones.
void snapshot_watch::take() {
    collect_triggers();
    const pending_triggers answered = pending_;
    const reserved_name reserved = reserve_path();
    snapshot_.output.path = reserved.path;
    snapshot_.output.reserved = reserved.unfinished.get();
    print_triggers(snapshot_.output.path, answered);
    try {
        is_reported_ &=
            snapshot_writer(snapshot_, source_, unknown_names::possible).take(notes_of(answered));
    } catch (...) {
        remove_own_file(reserved.unfinished.get(), temporary_name(reserved.path));
        throw;
    }
    if (arguments_.on_request) {
        answered_ = wanted_;
        requests_.answer(wanted_);
    }
    remove_old();
    pending_ = {};
    due_.reset();
    ++taken_;
    requests_answered_ += answered.requests;
    events_answered_ += answered.events;
}

void snapshot_watch::run() {
    print_note("'{}' is watched. Snapshots are written to {}. Stop with Ctrl-C.", snapshot_.name,
               rotation_glob(snapshot_.output.path));
    while (taken_ < arguments_.iterations.value_or(UINT64_MAX)) {
        // Read first: causes before the end are still answered, at once.
        const bool accepts_requests = requests_.accepts_requests();
        check_source();
        const bool is_last = !accepts_requests || stop_requested().count != 0;
        collect_triggers();
        if (due_ && (is_last || steady_clock::now() >= *due_)) {
            take();
        } else if (!is_last) {
            sleep();
        }
        if (is_last) {
            if (!accepts_requests) {
                print_note("'{}' has ended: there are no further requests.", snapshot_.name);
            }
            break;
        }
    }
    print_totals();
    if (!is_reported_) {
        throw failure_reported{};
    }
}

/// Programs with the names may not have run.
void snapshot_watch::report_unknown_names() const {
    try {
        check_names(trigger_.get(), nullptr);
    } catch (const user_error& error) {
        print_diagnostic("elog: {}", error.what());
    }
}

void snapshot_watch::print_totals() {
    print_note("{} snapshots, for {} requests and {} events", taken_, requests_answered_,
               events_answered_);
    if (watch_) {
        const std::uint64_t missed = watch_->missed();
        print_note("{} events were examined for --when", watch_->seen());
        print_type_mismatches(trigger_.get(), nullptr);
        report_unknown_names();
        if (missed != 0) {
            print_diagnostic("elog: {} events could not be examined: newer ones had overwritten "
                             "them. Start it with larger buffers, with --buffer-size.",
                             missed);
        }
    }
}

/// Unknown names are only reported, because a program with them may start later.
void warn_unknown_names(std::unique_ptr<record_filter> filter,
                        const detached_subscription& source) {
    try {
        check_names_received(std::move(filter), source);
    } catch (const user_error& error) {
        print_diagnostic("elog: {} A program that starts later may have it.", error.what());
    }
}

}  // namespace

void add_watch_options(subcommand& command, watch_arguments& arguments) {
    command.add_flag("--on-request", arguments.on_request,
                     "Write one to FILE-000001.elog ... for each request of a program");
    command.add_option("--when PREDICATE", arguments.when,
                       "Write one to FILE-000001.elog ... for each event that makes this true");
    command.add_option("--iterations NUMBER", arguments.iterations, "End after that many snapshots")
        .range(1, 1'000'000);
    command.add_option("--keep NUMBER", arguments.keep, "Keep that many files, the newest")
        .range(1, 1'000'000);
    command.add_option("--after TIME", arguments.after,
                       "Write it that long after its cause: 500ms, 2s");
}

void check_watch_options(const snapshot_arguments& snapshot, const watch_arguments& arguments) {
    if (!arguments.is_wanted() && (arguments.iterations || arguments.keep || arguments.after)) {
        throw usage_error(
            "--iterations, --keep and --after are for requested snapshots: add --on-request or "
            "--when.");
    }
    if (arguments.is_wanted() && (!snapshot.has_file() || snapshot.output.descriptor())) {
        throw usage_error("Requested snapshots are written to files: add -o FILE.");
    }
    if (arguments.is_wanted() && snapshot.output.force) {
        throw usage_error("Requested snapshots get unused names: leave --force out, and limit the "
                          "number of files with --keep.");
    }
    if (arguments.after) {
        static_cast<void>(parse_distance(*arguments.after));
    }
    static_cast<void>(make_trigger(arguments.when));
}

void run_watch(const snapshot_arguments& snapshot, const watch_arguments& arguments) {
    catch_stop_signals();
    snapshot_watch watch(snapshot, arguments);
    const detached_subscription source(snapshot.name);
    warn_unknown_names(make_filter(snapshot.where, current_time()), source);
    warn_unknown_names(make_trigger(arguments.when), source);
    watch.run();
}

}  // namespace elog
