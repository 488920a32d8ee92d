// SPDX-License-Identifier: MIT
//
// elog merge: merges recordings in the order of time.
#include <memory>
#include <string>
#include <vector>

#include "base/atomic_file.hpp"
#include "cli/complaints.hpp"
#include "cli/reading_progress.hpp"
#include "commands.hpp"
#include "import/file_merge.hpp"
#include "live/copying.hpp"
#include "live/tracing.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

struct merge_arguments {
    std::vector<std::string> paths;
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

merge_summary merge(const merge_arguments& arguments) {
    for (const std::string& path : arguments.paths) {
        check_not_same_file(path, arguments.copy.output.path);
    }
    output_file output(arguments.copy.output);
    const reading_progress progress(arguments.paths);
    merge_summary summary =
        merge_files(arguments.paths, arguments.copy.options(output), read_published_schemas);
    output.finish();
    return summary;
}

void run_merge(const merge_arguments& arguments) {
    check_description(arguments.copy.output, arguments.copy.json);
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
    add_copy_options(command, arguments->copy);
    command.footer("Examples:\n"
                   "  elog merge run-*.elog -o run.elog\n"
                   "  elog merge shop.elog perf.data -o - | elog print - --tail 20");
    command.action([arguments] { run_merge(*arguments); });
}

}  // namespace elog
