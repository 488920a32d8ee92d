// SPDX-License-Identifier: MIT
//
// elog flight pause and elog flight resume: interrupt a flight recorder.
#include <unistd.h>

#include <memory>
#include <string>

#include "base/output.hpp"
#include "commands.hpp"
#include "memory/detached_subscription.hpp"
#include "terminal/diagnostics.hpp"
#include "text/json_object.hpp"

namespace elog {
namespace {

struct pause_arguments {
    std::string name;
    bool json = false;
};

void add_pause_options(subcommand& command, pause_arguments& arguments) {
    command.add_option("NAME", arguments.name, "Name of the flight recorder")
        .required()
        .completes_as(value_kind::subscription);
    command.add_flag("-j,--json", arguments.json, "Write a JSON object");
}

void print_state(const pause_arguments& arguments, bool is_paused) {
    if (arguments.json) {
        write_all(STDOUT_FILENO,
                  versioned_object().add("name", arguments.name).add("paused", is_paused).line());
    } else if (is_paused) {
        print_note("'{0}' is paused and keeps its events. Resume it with: elog flight resume {0}",
                   arguments.name);
    } else {
        print_note("'{0}' records again. Write its events with: elog flight snapshot {0} -o FILE",
                   arguments.name);
    }
}

}  // namespace

void add_flight_pause(command_group& flight) {
    subcommand command =
        flight.add_subcommand("pause", "Stop programs from writing to a flight recorder");
    const auto arguments = std::make_shared<pause_arguments>();
    add_pause_options(command, *arguments);
    command.footer("It keeps its events. Events of programs are neither recorded nor lost until "
                   "elog flight resume.\n"
                   "Examples:\n"
                   "  elog flight pause shop\n"
                   "  elog flight pause shop --json | jq .paused");
    command.action([arguments] {
        detached_subscription(arguments->name).pause();
        print_state(*arguments, true);
    });
}

void add_flight_resume(command_group& flight) {
    subcommand command = flight.add_subcommand("resume", "Continue a paused flight recorder");
    const auto arguments = std::make_shared<pause_arguments>();
    add_pause_options(command, *arguments);
    command.footer("Examples:\n"
                   "  elog flight resume shop\n"
                   "  elog flight resume shop --json | jq .paused");
    command.action([arguments] {
        detached_subscription(arguments->name).resume();
        print_state(*arguments, false);
    });
}

}  // namespace elog
