// SPDX-License-Identifier: MIT
//
// Commands that consist of commands, and elog help.
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"

namespace elog {

void add_flight(command_line& line) {
    command_group flight =
        line.add_group("flight", "Run flight recorders, which keep events in memory");
    add_flight_start(flight);
    add_flight_status(flight);
    add_flight_snapshot(flight);
    add_flight_pause(flight);
    add_flight_resume(flight);
    add_flight_stop(flight);
    flight.footer("A flight recorder needs no process, and survives the end of programs.\n"
                  "Examples:\n"
                  "  elog flight start shop -e 'shop:*'\n"
                  "  elog flight snapshot shop -o what_happened.elog");
}

void add_kernel(command_line& line) {
    command_group kernel = line.add_group("kernel", "Control trace events of the kernel");
    add_kernel_list(kernel);
    add_kernel_enable(kernel);
    add_kernel_disable(kernel);
    add_kernel_register(kernel);
    add_kernel_unregister(kernel);
    kernel.footer("Examples:\n"
                  "  sudo elog kernel list 'shop:*' 'sched:*'\n"
                  "  sudo elog kernel enable shop:order_done --where 'items > 2'");
}

void add_schema(command_line& line) {
    command_group schema =
        line.add_group("schema", "Show schemas of providers; generate code from a schema");
    add_schema_show(schema);
    add_schema_gen(schema);
    add_schema_bpftrace(schema);
    schema.footer("Examples:\n"
                  "  elog schema show shop\n"
                  "  elog schema gen --lang c tcp.schema -o tcp_events.h");
}

/// The command line itself prints the help of other commands, so this is for the help of elog help
/// and for completion.
void add_help(command_line& line) {
    subcommand command = line.add_subcommand("help", "Print the options of a command");
    const auto names = std::make_shared<std::vector<std::string>>();
    command.add_option("COMMAND", *names, "Name of a command; without it: list all commands");
    command.footer("Examples:\n"
                   "  elog help record\n"
                   "  elog help flight start");
    command.action([names] {
        throw usage_error("elog help has names of commands only, as in: elog help record");
    });
}

}  // namespace elog
