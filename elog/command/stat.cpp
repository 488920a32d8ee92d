// SPDX-License-Identifier: MIT
//
// elog stat: what is in an .elog file, counted.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>

#include "commands.hpp"
#include "file_damage.hpp"
#include "file_reader.hpp"
#include "output.hpp"

namespace elog {
namespace {

struct event_totals {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
};

struct file_totals {
    std::map<std::string, event_totals> events;  // by PROVIDER:EVENT
    event_totals all;
    std::uint64_t lost = 0;
    std::uint64_t skipped = 0;  // of a newer version
    std::int64_t first = 0;
    std::int64_t last = 0;
};

std::string name_of(const file_reader& file, const eventlog_record& header) {
    const auto found = file.providers().find(header.provider);
    if (found == file.providers().end() || header.event >= found->second.schema.events.size()) {
        return "<unknown>";
    }
    const provider_schema& schema = found->second.schema;
    return fmt::format("{}:{}", schema.name, schema.events[header.event].name);
}

file_totals count(file_reader& file) {
    file_totals totals;
    std::map<std::pair<std::uint16_t, std::uint16_t>, event_totals> by_id;
    std::map<std::pair<std::uint16_t, std::uint16_t>, std::string> names;
    file.read([&](const merged_record& record) {
        const eventlog_record& header = record.record.header;
        totals.lost += record.lost_before;
        if (!is_understood(header)) {
            ++totals.skipped;
            return;
        }
        const std::int64_t time = file.clock().realtime(header.time);
        totals.first = totals.all.count == 0 ? time : std::min(totals.first, time);
        totals.last = totals.all.count == 0 ? time : std::max(totals.last, time);
        const std::pair id{header.provider, header.event};
        for (event_totals* each : {&totals.all, &by_id[id]}) {
            each->count += 1;
            each->bytes += padded_size(header.size);
        }
        if (!names.contains(id)) {
            names[id] = name_of(file, header);
        }
    });
    for (const auto& [id, each] : by_id) {
        totals.events[names[id]].count += each.count;
        totals.events[names[id]].bytes += each.bytes;
    }
    for (const loss_block& loss : file.losses()) {
        const bool of_ring = static_cast<loss_scope>(loss.scope) == loss_scope::ring;
        totals.lost += of_ring ? loss.full + loss.damaged : loss.too_large + loss.busy;
    }
    return totals;
}

void append_row(fmt::memory_buffer& out, std::string_view name, const event_totals& totals,
                double seconds, std::size_t width) {
    const auto number = static_cast<double>(totals.count);
    fmt::format_to(std::back_inserter(out), "{:<{}} {:>12} {:>12} {:>14}\n", name, width,
                   totals.count, seconds > 0 ? fmt::format("{:.0f}", number / seconds) : "-",
                   totals.bytes);
}

void run_stat(const std::string& path) {
    file_reader file(path);
    const file_totals totals = count(file);
    // Each for itself: times from a damaged file may be further apart than their type can say.
    const double seconds =
        (static_cast<double>(totals.last) - static_cast<double>(totals.first)) / 1e9;
    std::size_t width = 5;
    for (const auto& [name, each] : totals.events) {
        width = std::max(width, name.size());
    }
    fmt::memory_buffer out;
    fmt::format_to(std::back_inserter(out), "{:<{}} {:>12} {:>12} {:>14}\n", "event", width,
                   "count", "per second", "bytes");
    for (const auto& [name, each] : totals.events) {
        append_row(out, name, each, seconds, width);
    }
    append_row(out, "all", totals.all, seconds, width);
    fmt::format_to(std::back_inserter(out), "{} events in {:.3f} s, {} lost\n", totals.all.count,
                   seconds, totals.lost);
    if (totals.skipped != 0) {
        fmt::format_to(std::back_inserter(out),
                       "{} events of a newer version of eventlog are left out\n", totals.skipped);
    }
    write_all(STDOUT_FILENO, {out.data(), out.size()});
    complain_about_damage(file, path);
}

}  // namespace

void add_stat(command_line& line) {
    subcommand command = line.add_subcommand("stat", "Count the events of a recording, by event");
    const auto path = std::make_shared<std::string>();
    command.add_option("FILE", *path, "Recording made by elog record -o").required();
    command.action([path] { run_stat(*path); });
}

}  // namespace elog
