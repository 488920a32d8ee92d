// SPDX-License-Identifier: MIT
//
// elog flight snapshot: prints or writes the contents of a flight recorder while it continues.
#include "flight_snapshot.hpp"

#include <unistd.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "cli/complaints.hpp"
#include "cli/line_output.hpp"
#include "cli/output_file.hpp"
#include "commands.hpp"
#include "file/file_sink.hpp"
#include "flight_snapshot_watch.hpp"
#include "live/copying.hpp"
#include "live/sampling.hpp"
#include "live/where.hpp"
#include "memory/snapshot_requests.hpp"
#include "recorder/summary.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {

command_option add_snapshot_options(subcommand& command, snapshot_arguments& arguments,
                                    const snapshot_help& help) {
    command.add_option("NAME", arguments.name, "Name of the flight recorder")
        .required()
        .completes_as(value_kind::subscription);
    const command_option output = add_output_options(command, arguments.output, help.output);
    add_mode_option(command, arguments.output.mode);
    add_compress_option(command, arguments.compression);
    command.add_option("--where PREDICATE", arguments.where, where_help);
    command.add_flag("-j,--json", arguments.json, help.json);
    return output;
}

void check_snapshot_options(const snapshot_arguments& arguments) {
    const bool has_option =
        arguments.compression != 0 || arguments.output.force || arguments.output.mode;
    if (has_option && !arguments.has_file()) {
        throw usage_error("--compress, --force and --mode are for files: add -o FILE.");
    }
    static_cast<void>(mode_or(arguments.output.mode, private_mode));
    check_description(arguments.output, arguments.json);
}

void check_names_received(std::unique_ptr<record_filter> filter,
                          const detached_subscription& source) {
    if (filter == nullptr) {
        return;
    }
    region_reader reader(source.region(), producer_policy::never_wait);
    reader.read_new_providers([&](provider_instance&& provider) {
        try {
            filter->add(provider);
        } catch (const user_error&) {  // only that event; reported when the snapshot is taken
        }
    });
    check_names(filter.get(), nullptr);
}

snapshot_writer::snapshot_writer(const snapshot_arguments& arguments,
                                 const detached_subscription& source, unknown_names unknown)
    : arguments_(arguments),
      source_(source),
      unknown_(unknown),
      filter_(make_filter(arguments.where, current_time())),
      sampler_(make_sampler(source.region().header)) {
    if (unknown_ == unknown_names::refused) {
        // Only attached programs are checked, because only their events can be in the buffers.
        check_names_received(make_filter(arguments.where, current_time()), source);
    }
    if (arguments.has_file()) {
        file_.emplace(arguments.output);
        file_sink_options options{file_->path(), arguments.compression, {}, true};
        options.notes = [this] { return recording_notes{omitted(), std::nullopt}; };
        sink_ = std::make_unique<file_sink>(std::move(options));
    } else {
        sink_ = make_line_sink(arguments.json, standard_output_options(), abort_check{});
    }
    if (filter_ || sampler_) {
        passing_.emplace(filter_.get(), *sink_, UINT64_MAX, print_mismatch);
        passing_->sample_with(sampler_.get());
    }
    process_.emplace(source.region(), passing_ ? static_cast<record_sink&>(*passing_) : *sink_,
                     source.unattached());
}

bool snapshot_writer::take(const snapshot_notes& notes) {
    const recording_summary summary = process_->snapshot();
    // elog flight stop releases the memory while it is read here; then the rest reads as empty.
    if (!source_.still_exists()) {
        throw subscription_ended(arguments_.name);
    }
    if (file_) {
        file_->finish();
    }
    const bool is_reported = print_recording_summary(summary, notes);
    print_type_mismatches(filter_.get(), nullptr);
    if (unknown_ == unknown_names::refused) {
        check_names(filter_.get(), nullptr);
    }
    return is_reported;
}

std::optional<sampling_report> snapshot_writer::omitted() const {
    return sampler_ ? std::optional(sampler_->report()) : std::nullopt;
}

bool snapshot_writer::print_recording_summary(const recording_summary& summary,
                                              const snapshot_notes& notes) const {
    const summary_notes of_file{file_ ? std::optional(file_->name()) : std::nullopt,
                                filter_ ? std::optional(passing_->wanted()) : std::nullopt,
                                std::nullopt, omitted()};
    if (arguments_.json && file_) {
        json_object object;
        object.add("name", arguments_.name)
            .add("requests", notes.requests)
            .add("reason", notes.reason)
            .add("when_matched", notes.met);
        return print_summary_as_json(object, summary, of_file);
    }
    print_summary(summary, of_file);
    return true;
}

void print_requests(const std::string& path, std::uint32_t count,
                    const std::optional<std::string>& reason) {
    print_note("{}: {} requests of programs{}", path, count,
               !reason           ? ", of several at once"
               : reason->empty() ? ""
                                 : fmt::format(", the last for: {}", *reason));
}

namespace {

void run_snapshot(const snapshot_arguments& arguments) {
    const detached_subscription source(arguments.name);
    snapshot_requests requests(source.region());
    // Read before the snapshot starts: it then has all events before these requests. Text and
    // output with --where are no answer.
    const request_counts asked = requests.counts();
    const std::optional<std::string> reason = requests.reason();
    const bool is_answer = asked.open() != 0 && arguments.has_file() && !arguments.where;
    snapshot_notes notes;
    if (is_answer) {
        notes.requests = asked.open();
        notes.reason = reason;
    }
    const bool is_reported = snapshot_writer(arguments, source).take(notes);
    if (is_answer) {
        requests.answer(asked.wanted);
        print_requests(arguments.output.is_standard_output() ? "standard output"
                                                             : arguments.output.path,
                       asked.open(), reason);
    }
    if (!is_reported) {
        throw failure_reported{};
    }
}

}  // namespace

void add_flight_snapshot(command_group& flight) {
    subcommand command =
        flight.add_subcommand("snapshot", "Print or write the contents of a flight recorder");
    const auto arguments = std::make_shared<snapshot_arguments>();
    const auto watched = std::make_shared<watch_arguments>();
    add_snapshot_options(command, *arguments,
                         {"Write an .elog file instead of text; - is standard output",
                          "Print events as JSON Lines; with -o, write the summary as JSON"});
    add_watch_options(command, *watched);
    command.footer("The flight recorder continues unchanged.\n"
                   "Examples:\n"
                   "  elog flight snapshot shop -o what_happened.elog\n"
                   "  elog flight snapshot shop -o - | elog stat -\n"
                   "  elog flight snapshot shop --on-request -o requested.elog\n"
                   "  elog flight snapshot shop --when 'took > 2s' --after 1s -o slow.elog");
    command.action([arguments, watched] {
        check_snapshot_options(*arguments);
        check_watch_options(*arguments, *watched);
        if (watched->is_wanted()) {
            run_watch(*arguments, *watched);
        } else {
            run_snapshot(*arguments);
        }
    });
}

}  // namespace elog
