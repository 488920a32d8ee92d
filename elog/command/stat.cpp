// SPDX-License-Identifier: MIT
//
// elog stat: counts the events of a recording.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/output.hpp"
#include "cli/json_document.hpp"
#include "commands.hpp"
#include "live/filtered_records.hpp"
#include "output/record_counts.hpp"
#include "record/display_clock.hpp"
#include "record/loss_names.hpp"
#include "recorder/omitted_events.hpp"
#include "text/append_format.hpp"
#include "text/escaped_text.hpp"
#include "text/json_object.hpp"

namespace elog {
namespace {

// Keeps the order of members.
using nlohmann::ordered_json;

struct stat_arguments {
    record_selection choice;
    bool json = false;
};

struct row {
    std::string name;
    event_counts counts;
};

/// Sorted by number of events, the most frequent first.
template <class Counts, class Name>
std::vector<row> rows_of(const Counts& counts, const Name& name) {
    std::vector<row> rows;
    for (const auto& [key, each] : counts) {
        rows.push_back({name(key), each});
    }
    std::stable_sort(rows.begin(), rows.end(), [](const row& one, const row& other) {
        return one.counts.events > other.counts.events;
    });
    return rows;
}

std::string visible(std::string_view text) {
    fmt::memory_buffer out;
    append_visible(out, text);
    return {out.data(), out.size()};
}

std::vector<row> rows_by_event(const record_counts& found) {
    return rows_of(found.by_event(), [](const std::string& name) { return name; });
}

std::vector<row> rows_by_process(const record_counts& found) {
    return rows_of(found.by_process(), [](const process_name& process) {
        return fmt::format("{}-{}", visible(process.first), process.second);
    });
}

/// Widths of the columns, and whether there is a column of losses.
struct table_form {
    std::size_t names = 0;
    double seconds = 0;
    bool has_losses = false;
};

void append_row(fmt::memory_buffer& out, const row& shown, const table_form& form) {
    const auto number = static_cast<double>(shown.counts.events);
    const std::uint64_t each =
        shown.counts.events == 0 ? 0 : shown.counts.bytes / shown.counts.events;
    append_format(out, "{:<{}}  {:>9}  {:>10}  {:>12}  {:>10}", shown.name, form.names,
                  shown.counts.events,
                  form.seconds > 0 ? fmt::format("{:.0f}", number / form.seconds) : "-",
                  shown.counts.bytes, each);
    if (form.has_losses) {
        append_format(out, "  {:>8}", shown.counts.lost);
    }
    out.push_back('\n');
}

void append_count_table(fmt::memory_buffer& out, const char* what, const std::vector<row>& rows,
                        const table_form& form) {
    append_format(out, "{:<{}}  {:>9}  {:>10}  {:>12}  {:>10}", what, form.names, "count",
                  "per second", "bytes", "bytes each");
    append_format(out, "{}\n", form.has_losses ? "      lost" : "");
    for (const row& shown : rows) {
        append_row(out, shown, form);
    }
}

void append_losses(fmt::memory_buffer& out, const loss_counts& lost) {
    const auto append_one = [&](std::uint64_t number, const char* reason, const char* meaning) {
        if (number != 0) {
            append_format(out, "  {} lost: {} ({})\n", number, reason, meaning);
        }
    };
    append_one(lost.full, loss_name::full, "the buffers had no room");
    append_one(lost.no_memory, loss_name::no_memory, "of these, for the shared ring");
    append_one(lost.too_large, loss_name::too_large, "over the largest record");
    append_one(lost.busy, loss_name::busy, "the shared ring was locked by another writer");
    append_one(lost.unattached, loss_name::unattached, "their process was not attached (yet)");
    append_one(lost.refused, loss_name::refused, "by the kernel");
    append_one(lost.damaged, loss_name::damaged, "a program has overwritten the buffers");
    append_one(lost.unwritten, loss_name::unwritten, "the disk was full, or a file removed");
}

/// Nothing for a time that is not in the file.
struct recording_pause {
    std::optional<std::uint64_t> begin;
    std::optional<std::uint64_t> end;
};

std::vector<recording_pause> pauses_of(const record_counts& counted) {
    std::map<std::uint64_t, recording_pause> pauses;  // by number, in the order of time
    for (const recording_mark& mark : counted.marks()) {
        recording_pause& pause = pauses[mark.number];
        (mark.kind == mark_kind::pause ? pause.begin : pause.end) = mark.time;
    }
    std::vector<recording_pause> found;
    for (const auto& [number, pause] : pauses) {
        found.push_back(pause);
    }
    return found;
}

/// "paused 3 times, for 12.345 s in all". A pause that goes on has no end.
std::string pauses_text(const record_counts& counted, const clock_converter& clock) {
    const std::vector<recording_pause> pauses = pauses_of(counted);
    if (pauses.empty()) {
        return {};
    }
    double nanoseconds = 0;
    bool is_open = false;
    for (const recording_pause& pause : pauses) {
        if (pause.begin && pause.end) {
            nanoseconds += static_cast<double>(clock.monotonic(*pause.end)) -
                           static_cast<double>(clock.monotonic(*pause.begin));
        }
        is_open = is_open || !pause.end;
    }
    return fmt::format("paused {} time{}, for {:.3f} s in all{}\n", pauses.size(),
                       pauses.size() == 1 ? "" : "s", nanoseconds / 1e9,
                       is_open ? ", and at its end" : "");
}

/// The text of a time on the host's clock.
using time_format = std::function<std::string(std::uint64_t)>;

/// The counted part of a recording.
struct counted_part {
    bool is_whole = true;  // of a part, losses of processes are unknown
    std::string first;     // earliest and latest time of an event, as text; empty without events
    std::string last;
};

void print_text(const record_counts& found, const counted_part& part, const file_reader& file) {
    const std::vector<row> events = rows_by_event(found);
    const std::vector<row> processes = rows_by_process(found);
    table_form form{std::string_view("process").size(), found.seconds(), false};
    for (const std::vector<row>* rows : {&events, &processes}) {
        for (const row& shown : *rows) {
            form.names = std::max(form.names, shown.name.size());
        }
    }
    fmt::memory_buffer out;
    append_count_table(out, "event", events, form);
    append_row(out, {"all", found.all()}, form);
    if (!processes.empty()) {
        out.push_back('\n');
        form.has_losses = part.is_whole;
        append_count_table(out, "process", processes, form);
    }
    append_format(out, "\n{} events in {:.3f} s, {} lost\n", found.all().events, found.seconds(),
                  found.lost().all());
    if (!part.first.empty()) {
        append_format(out, "from {} to {}\n", part.first, part.last);
    }
    append_losses(out, found.lost());
    if (found.overwritten() != 0) {
        append_format(out, "{} more were overwritten by newer ones in the buffers\n",
                      found.overwritten());
    }
    if (found.not_understood() != 0) {
        append_format(out, "{} events of a newer version of eventlog are left out\n",
                      found.not_understood());
    }
    append(out, pauses_text(found, file.clock()));
    for (const std::string& line : note_lines(file.notes())) {
        append_format(out, "{}\n", line);
    }
    write_all(STDOUT_FILENO, {out.data(), out.size()});
}

ordered_json json_of(const event_counts& counts) {
    return {{"events", counts.events}, {"bytes", counts.bytes}};
}

ordered_json losses_as_json(const record_counts& found) {
    ordered_json shown = ordered_json::array();
    for (const auto& [name, lost] : found.lost_by_provider()) {
        const auto& [provider, process] = name;
        shown.push_back({{"provider", provider},
                         {"comm", process.first},
                         {"pid", process.second},
                         {"lost", lost.all()},
                         {"lost_by_reason",
                          {{loss_name::full, lost.full},
                           {loss_name::too_large, lost.too_large},
                           {loss_name::busy, lost.busy},
                           {loss_name::unattached, lost.unattached}}}});
        if (lost.refused != 0) {
            shown.back()["lost_by_reason"][loss_name::refused] = lost.refused;
        }
        if (lost.no_memory != 0) {
            shown.back()["lost_no_memory"] = lost.no_memory;
        }
    }
    return shown;
}

/// Names of PROVIDER:EVENT. The name of a provider contains no colon; an unknown event has none.
ordered_json names_of(std::string_view event) {
    const std::size_t colon = event.find(':');
    if (colon == std::string_view::npos) {
        return {{"provider", nullptr}, {"event", nullptr}};
    }
    return {{"provider", event.substr(0, colon)}, {"event", event.substr(colon + 1)}};
}

ordered_json time_as_json(const std::string& text) {
    return text.empty() ? ordered_json() : ordered_json(text);
}

/// The members are those of the summary of elog record.
void add_notes(ordered_json& result, const recording_notes& notes) {
    if (notes.omitted) {
        json_object omitted;
        add_omitted(omitted, *notes.omitted);
        result.update(ordered_json::parse(omitted.line()));
    }
    if (notes.scope) {
        result["command"] = {{"events_outside", notes.scope->outside},
                             {"events_undecided", notes.scope->undecided},
                             {"processes_undecided", notes.scope->undecided_processes}};
    }
}

/// The members of a pause are those of elog flight status.
void add_pauses(ordered_json& result, const record_counts& found, const time_format& text_of) {
    const auto time = [&](const std::optional<std::uint64_t>& of) {
        return of ? ordered_json(text_of(*of)) : ordered_json();
    };
    ordered_json shown = ordered_json::array();
    for (const recording_pause& pause : pauses_of(found)) {
        shown.push_back({{"start_time", time(pause.begin)}, {"end_time", time(pause.end)}});
    }
    if (!shown.empty()) {
        result["pauses"] = std::move(shown);
    }
}

void print_json(const record_counts& found, const counted_part& part, const file_reader& file,
                const time_format& text_of) {
    ordered_json result = {{"version", json_version}};
    result.update(json_of(found.all()));
    result["first_time"] = time_as_json(part.first);
    result["last_time"] = time_as_json(part.last);
    result["lost"] = found.lost().all();
    result["lost_by_reason"] = {{loss_name::full, found.lost().full},
                                {loss_name::too_large, found.lost().too_large},
                                {loss_name::busy, found.lost().busy},
                                {loss_name::unattached, found.lost().unattached},
                                {loss_name::damaged, found.lost().damaged}};
    if (found.lost().unwritten != 0) {
        result["lost_by_reason"][loss_name::unwritten] = found.lost().unwritten;
    }
    if (found.lost().refused != 0) {
        result["lost_by_reason"][loss_name::refused] = found.lost().refused;
    }
    result["lost_no_memory"] =
        part.is_whole ? ordered_json(found.lost().no_memory) : ordered_json();
    result["lost_by_provider"] = part.is_whole ? losses_as_json(found) : ordered_json();
    result[loss_name::overwritten] = found.overwritten();
    result[loss_name::unsupported] = found.not_understood();
    result["unknown_block_count"] = file.skipped();
    ordered_json& by_event = result["by_event"] = ordered_json::array();
    for (const row& shown : rows_by_event(found)) {
        by_event.push_back(names_of(shown.name));
        by_event.back().update(json_of(shown.counts));
    }
    ordered_json& by_process = result["by_process"] = ordered_json::array();
    for (const auto& [process, counts] : found.by_process()) {
        ordered_json& added =
            by_process.emplace_back(ordered_json{{"comm", process.first}, {"pid", process.second}});
        added.update(json_of(counts));
        added["lost"] = part.is_whole ? ordered_json(counts.lost) : ordered_json();
    }
    add_pauses(result, found, text_of);
    add_notes(result, file.notes());
    write_all(STDOUT_FILENO, document_text(result) + '\n');
}

/// JSON has times for programs.
std::string time_text(const stat_arguments& arguments, const clock_converter& clock,
                      std::uint64_t time) {
    if (!arguments.json) {
        return format_time_point(arguments.choice.times, clock, time);
    }
    fmt::memory_buffer out;
    display_time(parse_clock(arguments.choice.times)).append_to(out, clock, time);
    return fmt::to_string(out);
}

counted_part counted_part_of(const stat_arguments& arguments, const filtered_records& counted,
                             const time_format& text_of) {
    const record_selection& choice = arguments.choice;
    counted_part part;
    part.is_whole = !choice.times.has_range() && !choice.limit && !choice.tail;
    if (counted.passed() != 0) {
        part.first = text_of(counted.first_time());
        part.last = text_of(counted.last_time());
    }
    return part;
}

void run_stat(const stat_arguments& arguments) {
    static_cast<void>(parse_clock(arguments.choice.times));
    record_counts found;
    selected_records records(arguments.choice, found);
    records.read();
    const time_format text_of = [&](std::uint64_t time) {
        return time_text(arguments, records.file().clock(), time);
    };
    const counted_part part = counted_part_of(arguments, records.filtered(), text_of);
    if (arguments.json) {
        print_json(found, part, records.file(), text_of);
    } else {
        print_text(found, part, records.file());
    }
    records.complain();
}

}  // namespace

void add_stat(command_line& line) {
    subcommand command =
        line.add_subcommand("stat", "Count the events of a recording, by event and by process");
    const auto arguments = std::make_shared<stat_arguments>();
    add_selection_options(command, arguments->choice);
    command.add_flag("-j,--json", arguments->json, "Write a JSON object");
    command.footer("Examples:\n"
                   "  elog stat run.elog\n"
                   "  elog stat run.elog --since +10s --where 'level <= warn'\n"
                   "  elog stat run.elog --json | jq '.lost'");
    command.action([arguments] { run_stat(*arguments); });
}

}  // namespace elog
