// SPDX-License-Identifier: MIT
//
// elog cut: copies a part of a recording to a new one.
#include <memory>

#include "base/atomic_file.hpp"
#include "commands.hpp"
#include "live/copying.hpp"
#include "live/part_copy.hpp"
#include "live/record_selection.hpp"

namespace elog {
namespace {

struct cut_arguments {
    record_selection choice;
    copy_arguments copy;
};

void run_cut(const cut_arguments& arguments) {
    const record_selection& choice = arguments.choice;
    check_description(arguments.copy.output, arguments.copy.json);
    check_not_same_file(choice.path, arguments.copy.output.path);
    output_file output(arguments.copy.output);
    const part_copy part(choice, arguments.copy.options(output));
    output.finish();
    print_copy_summary(part.summary(), arguments.copy, part.records().file().damages());
    part.records().complain("copied");
}

}  // namespace

void add_cut(command_line& line) {
    subcommand command = line.add_subcommand("cut", "Copy a part of a recording");
    const auto arguments = std::make_shared<cut_arguments>();
    add_selection_options(command, arguments->choice);
    add_copy_options(command, arguments->copy);
    command.footer("Examples:\n"
                   "  elog cut run.elog --since 14:03:00 --until 14:04:30 -o minute.elog\n"
                   "  elog cut run.elog --where 'level <= warn' -o - | ssh host elog stat -");
    command.action([arguments] { run_cut(*arguments); });
}

}  // namespace elog
