// SPDX-License-Identifier: MIT
//
// elog print: an .elog file as text.
#include <unistd.h>

#include <memory>
#include <optional>

#include "commands.hpp"
#include "file_damage.hpp"
#include "file_reader.hpp"
#include "stop_signal.hpp"
#include "text_writer.hpp"
#include "time_points.hpp"

namespace elog {
namespace {

struct print_arguments {
    std::string path;
    std::optional<std::string> from;
    std::optional<std::string> to;
    bool follow = false;
};

time_range range_of(const print_arguments& arguments) {
    time_range range;
    if (!arguments.from && !arguments.to) {
        return range;
    }
    const std::int64_t start = recording_start(arguments.path);
    if (arguments.from) {
        range.from = parse_time_point(*arguments.from, start);
    }
    if (arguments.to) {
        range.to = parse_time_point(*arguments.to, start);
    }
    return range;
}

void run_print(const print_arguments& arguments) {
    const time_range range = range_of(arguments);
    file_reader file(arguments.path, range);
    text_writer writer(STDOUT_FILENO);
    const auto write = [&](const merged_record& record) {
        writer.write(record, file.providers(), file.clock(), file.shared_ring());
    };
    if (arguments.follow) {
        catch_stop_signals();
        file.follow(
            write, [&] { writer.flush(); }, [] { return stop_requested().count != 0; });
    } else {
        file.read(write);
    }
    // What no record follows was lost at the end.
    if (range.to == INT64_MAX) {
        for (const loss_block& loss : file.losses()) {
            writer.write_loss(loss, file.providers(), file.shared_ring());
        }
    }
    writer.write_skipped();
    writer.flush();
    complain_about_damage(file, arguments.path);
}

}  // namespace

void add_print(CLI::App& application) {
    CLI::App* command = application.add_subcommand("print", "Print a recording as text");
    const auto arguments = std::make_shared<print_arguments>();
    command->add_option("FILE", arguments->path, "Recording made by elog record -o")->required();
    CLI::Option* from =
        command->add_option("--from", arguments->from,
                            "Only events at that time or later: 14:03:07.5, "
                            "2026-11-21T14:03:07, @SECONDS since 1970, +10s from the beginning");
    CLI::Option* to = command->add_option("--to", arguments->to, "Only events before that time");
    command->add_flag("--follow", arguments->follow, "Go on as long as the file is being written")
        ->excludes(from)
        ->excludes(to);
    command->footer("Examples:\n"
                    "  elog print run.elog | grep order=17\n"
                    "  elog print run.elog --from 14:03:00 --to 14:04:30\n"
                    "  elog print run.elog --follow");
    command->callback([arguments] { run_print(*arguments); });
}

}  // namespace elog
