// SPDX-License-Identifier: MIT
//
// elog merge: merges recordings in the order of time.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/unnamed_file.hpp"
#include "cli/complaints.hpp"
#include "cli/reading_progress.hpp"
#include "commands.hpp"
#include "import/file_merge.hpp"
#include "live/copying.hpp"
#include "live/part_copy.hpp"
#include "live/record_selection.hpp"
#include "memory/running_providers.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

struct merge_arguments {
    std::vector<std::string> paths;
    record_selection part;  // of all files together; its path is set when they have been merged
    copy_arguments copy;
};

std::vector<std::string> damages_of(const merge_summary& summary) {
    std::vector<std::string> damages;
    for (const merged_file& file : summary.damaged) {
        for (const std::string& damage : file.damages) {
            damages.push_back(fmt::format("{}: {}", file.path, damage));
        }
    }
    return damages;
}

/// The name of the files together, in messages.
std::string name_of(const std::vector<std::string>& paths) {
    if (paths.size() != 1) {
        return fmt::format("merged of {} files", paths.size());
    }
    return paths.front() == "-" ? "standard input" : paths.front();
}

/// The events that the new file gets are known only in the order of all files.
merge_summary merge_part(const merge_arguments& arguments, const copy_options& to) {
    const unnamed_file whole("To merge a part");
    merge_summary summary = merge_files(arguments.paths, {whole.path()}, read_published_schemas);
    record_selection part = arguments.part;
    part.path = whole.path();
    part.shown_name = name_of(arguments.paths);
    const part_copy copied(part, to);
    copied.records().complain("copied");
    const std::uint64_t left_out = summary.copied.left_out;
    summary.copied = copied.summary();
    summary.copied.left_out += left_out;  // fewer than the events of a file
    return summary;
}

merge_summary merge(const merge_arguments& arguments) {
    for (const std::string& path : arguments.paths) {
        check_not_same_file(path, arguments.copy.output.path);
    }
    output_file output(arguments.copy.output);
    const reading_progress progress(arguments.paths);
    const copy_options to = arguments.copy.options(output);
    merge_summary summary = arguments.part.is_part()
                                ? merge_part(arguments, to)
                                : merge_files(arguments.paths, to, read_published_schemas);
    output.finish();
    return summary;
}

void run_merge(const merge_arguments& arguments) {
    check_description(arguments.copy.output, arguments.copy.json);
    static_cast<void>(parse_clock(arguments.part.times));
    const merge_summary summary = merge(arguments);
    const std::vector<std::string> damages = damages_of(summary);
    print_copy_summary(summary.copied, arguments.copy, damages);
    for (const std::string& path : summary.unfinished) {
        print_diagnostic("elog: {} has no end. Everything in it has been copied.", path);
    }
    if (summary.skipped != 0) {
        print_diagnostic("elog: {} blocks of a newer version are left out. A newer elog copies "
                         "them.",
                         summary.skipped);
    }
    print_complaints(damages);
    if (!summary.damaged.empty()) {
        throw user_error("{} of {} files are damaged; everything else in them has been copied.",
                         summary.damaged.size(), arguments.paths.size());
    }
}

}  // namespace

void add_merge(command_line& line) {
    subcommand command = line.add_subcommand("merge", "Merge recordings in the order of time");
    const auto arguments = std::make_shared<merge_arguments>();
    command
        .add_option("FILE", arguments->paths,
                    "Recordings of one machine since its start, also of perf and trace-cmd")
        .required()
        .completes_as(value_kind::file);
    add_part_options(command, arguments->part);
    add_copy_options(command, arguments->copy);
    command.footer(
        "Examples:\n"
        "  elog merge run-*.elog -o run.elog\n"
        "  elog merge run-*.elog --where 'level <= warn' --since 14:00 -o warnings.elog\n"
        "  elog merge shop.elog perf.data -o - | elog print - --tail 20");
    command.action([arguments] { run_merge(*arguments); });
}

}  // namespace elog
