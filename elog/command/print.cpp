// SPDX-License-Identifier: MIT
//
// elog print: an .elog file as text.
#include <unistd.h>

#include <memory>

#include "commands.hpp"
#include "file_damage.hpp"
#include "file_reader.hpp"
#include "stop_signal.hpp"
#include "text_writer.hpp"
#include "wanted_records.hpp"

namespace elog {
namespace {

struct print_arguments {
    record_choice choice;
    bool follow = false;
};

void run_print(const print_arguments& arguments) {
    file_reader file(arguments.choice.path, arguments.choice.range());
    text_writer writer(STDOUT_FILENO);
    wanted_records output(arguments.choice, file, writer, arguments.follow);
    const auto write = [&](const merged_record& record) { output.write(record); };
    if (arguments.follow) {
        catch_stop_signals();
        file.follow(
            write, [&] { output.flush(); }, [] { return stop_requested().count != 0; });
    } else {
        file.read(write);
    }
    output.finish();
    complain_about_damage(file, arguments.choice.path);
    output.check_names();
}

}  // namespace

void add_print(command_line& line) {
    subcommand command = line.add_subcommand("print", "Print a recording as text");
    const auto arguments = std::make_shared<print_arguments>();
    const time_options times = add_choice(command, arguments->choice, "--to,--until");
    command.add_flag("--follow", arguments->follow, "Go on as long as the file is being written")
        .excludes(times.from)
        .excludes(times.to);
    command.footer("Examples:\n"
                   "  elog print run.elog | grep order=17\n"
                   "  elog print run.elog --where 'items > 2 && customer ~ \"a*\"'\n"
                   "  elog print run.elog --from 14:03:00 --to 14:04:30\n"
                   "  elog print run.elog --follow");
    command.action([arguments] { run_print(*arguments); });
}

}  // namespace elog
