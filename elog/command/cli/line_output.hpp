// SPDX-License-Identifier: MIT
//
// Events as lines on standard output, and the options for the contents of a line.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/output.hpp"
#include "cli/command_line.hpp"
#include "output/text_options.hpp"
#include "record/record_sink.hpp"

namespace elog {

struct line_arguments {
    std::optional<std::string> fields;
    std::optional<std::string> line;
    bool delta = false;
    bool elapsed = false;
    bool number = false;
    bool date = false;

    [[nodiscard]] bool has_any() const noexcept {
        return fields || line || delta || elapsed || number || date;
    }
};

/// Adds --fields, --format, --delta, --elapsed, --number and --date. Returns them.
std::vector<command_option> add_line_options(subcommand& command, line_arguments& arguments);

/// Options of text for standard output: dates if the events are not of today, colors on a terminal.
[[nodiscard]] text_options standard_output_options();

/// The same with those of the command line. A mistake in them is a usage error.
[[nodiscard]] text_options make_text_options(const line_arguments& arguments);

/// A sink that writes records to standard output, as lines of text or as JSON Lines.
/// `should_abort`: see write_all. It adds the providers of all records to `names`, which has to
/// outlive it; nullptr: the options name no fields.
[[nodiscard]] std::unique_ptr<record_sink> make_line_sink(bool json, text_options options,
                                                          abort_check should_abort,
                                                          line_name_check* names = nullptr);

/// Throws usage_error for a name in --fields or --format that no event has.
void check_names(const line_name_check& names);

}  // namespace elog
