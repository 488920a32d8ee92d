// SPDX-License-Identifier: MIT
#include "cli/line_output.hpp"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "cli/usage_error.hpp"
#include "output/json_lines_writer.hpp"
#include "output/text_sink.hpp"
#include "output/text_writer.hpp"
#include "terminal/terminal.hpp"

namespace elog {

text_options standard_output_options() {
    const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
    text_options options;
    options.today = now.count();
    options.has_colors = style_of(STDOUT_FILENO).has_colours;
    return options;
}

text_options make_text_options(const line_arguments& arguments) {
    text_options options = standard_output_options();
    options.delta = arguments.delta;
    options.elapsed = arguments.elapsed;
    options.number = arguments.number;
    if (arguments.date) {
        options.today = 0;  // no event is of that day
    }
    as_usage_error([&] {
        if (arguments.fields) {
            options.fields = parse_field_list(*arguments.fields);
        }
        if (arguments.line) {
            options.line.emplace(*arguments.line);
        }
    });
    return options;
}

std::vector<command_option> add_line_options(subcommand& command, line_arguments& arguments) {
    const command_option fields = command.add_option(
        "--fields LIST", arguments.fields, "Print only these fields, in this order: NAME,NAME,...");
    const command_option delta = command.add_flag(
        "-d,--delta", arguments.delta, "Print the time since the previous event as well");
    const command_option elapsed = command.add_flag("--elapsed", arguments.elapsed,
                                                    "Print the time since the first event as well");
    const command_option number =
        command.add_flag("--number", arguments.number, "Print the number of each line, from 1");
    const command_option date =
        command.add_flag("--date", arguments.date, "Print the date also of events of today");
    const command_option format =
        command
            .add_option("--format TEMPLATE", arguments.line,
                        "Template of a line: '{time} {event} {order}', see elog-print(1)")
            .excludes(delta)
            .excludes(elapsed)
            .excludes(number)
            .excludes(date);
    return {fields, delta, elapsed, number, date, format};
}

std::unique_ptr<record_sink> make_line_sink(bool json, text_options options,
                                            abort_check should_abort, line_name_check* names) {
    std::unique_ptr<record_writer> writer;
    if (json) {
        writer = std::make_unique<json_lines_writer>(STDOUT_FILENO, std::move(should_abort));
    } else {
        writer = std::make_unique<text_writer>(STDOUT_FILENO, std::move(options),
                                               std::move(should_abort));
    }
    return std::make_unique<text_sink>(std::move(writer), [names](const provider_schema& provider) {
        if (names != nullptr) {
            names->add(provider);
        }
    });
}

void check_names(const line_name_check& names) {
    as_usage_error([&] { names.check(); });
}

}  // namespace elog
